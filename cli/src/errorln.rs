//! Messages on standard error.

/// As `eprintln!`, which panics when nobody reads standard error any more (`copart … 2>&1 | head -1`).
macro_rules! errorln {
    ($($message:tt)*) => {{
        use std::io::Write as _;
        // There is nobody to tell.
        let _ = writeln!(std::io::stderr().lock(), $($message)*);
    }};
}
