use std::process::ExitCode;

use copart_audit::{Error, ErrorKind};

/// How the command ended, as scripts and CI systems see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Agreement, or done.
    Agree = 0,
    /// Disagreement.
    Disagree = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// The input can't be read, or the output can't be written.
    Input = 3,
    /// No answer: no keys, or none that could tell.
    Inconclusive = 4,
    /// Stopped by Ctrl-C or SIGTERM; what was printed is partial.
    Interrupted = 130,
}

pub(crate) const HELP: &str = "\
Exit codes:
  0    the clients agree, or the command did what it was asked
  1    they disagree
  2    the command line makes no sense
  3    the input can't be read or the output can't be written
  4    inconclusive: no keys, or none on which the clients could differ
  130  interrupted; what was printed is partial";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Says on standard error what went wrong; a reader that went away is not told.
pub(crate) fn report(error: &Error) -> Exit {
    if error.is_closed_pipe() {
        return Exit::Agree;
    }
    eprintln!("copart: {error}");
    match error.kind() {
        ErrorKind::Usage => Exit::Usage,
        _ => Exit::Input,
    }
}
