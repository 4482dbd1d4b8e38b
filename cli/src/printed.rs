//! Printing a report that is made before anything is written.

use std::io::{self, BufWriter, IsTerminal, Write};

use copart_audit::Error;

/// Writes to standard output; `write` is told whether in colour.
///
/// A reader that has seen enough does not change the answer.
pub(crate) fn print(
    write: impl FnOnce(bool, &mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let stdout = io::stdout();
    let color = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut out = BufWriter::new(stdout.lock());
    match write(color, &mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
