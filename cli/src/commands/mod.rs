//! One file for each command: its arguments and what it prints.

pub(crate) mod bench;
pub(crate) mod broker;
pub(crate) mod check;
pub(crate) mod clients;
pub(crate) mod config;
pub(crate) mod consume;
pub(crate) mod copartition;
pub(crate) mod demo;
pub(crate) mod groups;
pub(crate) mod infer;
pub(crate) mod lint;
pub(crate) mod map;
pub(crate) mod metadata;
pub(crate) mod movement;
pub(crate) mod produce;
pub(crate) mod read;
pub(crate) mod schema;
pub(crate) mod size;
pub(crate) mod skew;
pub(crate) mod topics;
pub(crate) mod vectors;
pub(crate) mod verify;

use std::io::{self, BufWriter, IsTerminal, Write};

use copart_audit::Error;
use copart_audit::output::{Output, Report};

/// Prints a report on standard output.
fn print<'r>(output: Output, report: impl Into<Report<'r>>, partial: bool) -> Result<(), Error> {
    let stdout = io::stdout();
    let color = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut out = BufWriter::new(stdout.lock());
    let written = output
        .write(report, color, &mut out)
        .and_then(|()| out.flush());
    match written {
        // A reader that has seen enough does not turn a bad answer into a good one.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    if partial {
        errorln!("copart: interrupted; the report covers the beginning of the input only");
    }
    Ok(())
}
