use std::process::ExitCode;

use copart_audit::verify::{Verdict, VerifyReport};
use copart_audit::{Error, ErrorKind};

/// How the command ended, as scripts and CI systems see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit(u8);

impl Exit {
    /// Agreement, or done.
    pub(crate) const AGREE: Self = Self(Verdict::Agree.exit_code());
    /// Disagreement, or more than a limit allows.
    pub(crate) const DISAGREE: Self = Self(Verdict::Disagree.exit_code());
    /// The command line makes no sense.
    pub(crate) const USAGE: Self = Self(2);
    /// The input can't be read, or the output can't be written.
    pub(crate) const INPUT: Self = Self(3);
    /// No answer: no keys, or none that could tell.
    pub(crate) const INCONCLUSIVE: Self = Self(Verdict::Inconclusive.exit_code());
    /// The cluster can't be reached, does not answer, or refuses access.
    pub(crate) const CLUSTER: Self = Self(5);
    /// Stopped by Ctrl-C or SIGTERM; what was printed is partial.
    pub(crate) const INTERRUPTED: Self = Self(VerifyReport::INTERRUPTED);

    /// The code that a report itself names to whoever reads it.
    pub(crate) const fn of(code: u8) -> Self {
        Self(code)
    }
}

pub(crate) const HELP: &str = "\
Exit codes:
  0    the clients agree, or the command did what it was asked
  1    they disagree: other partitions, several writers, no join, problems in keys; or a limit that
       was given is exceeded
  2    the command line makes no sense
  3    the input can't be read or the output can't be written
  4    inconclusive: no keys, too few, or none that could tell
  5    the cluster can't be reached, does not answer, or refuses access
  130  interrupted; what was printed is partial";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.0)
    }
}

/// Says on standard error what went wrong; a reader that went away is not told.
pub(crate) fn report(error: &Error) -> Exit {
    if error.is_closed_pipe() {
        return Exit::AGREE;
    }
    errorln!("copart: {error}");
    match error.kind() {
        ErrorKind::Usage => Exit::USAGE,
        ErrorKind::Cluster => Exit::CLUSTER,
        _ => Exit::INPUT,
    }
}
