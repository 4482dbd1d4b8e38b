//! A line on standard error that says how far a long run has come, and Ctrl-C.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use copart_audit::input::{Progress, Source};
use indicatif::{ProgressBar, ProgressStyle};

/// Set by the first Ctrl-C; a second one ends the process.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

const EVERY: Duration = Duration::from_millis(200);

/// Makes Ctrl-C and SIGTERM end the run with what was read so far.
pub(crate) fn interruptible() -> &'static AtomicBool {
    // Without a handler the signal ends the process at once, which is right as well.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    &INTERRUPTED
}

/// Until Ctrl-C, or a request to end.
pub(crate) async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// Runs `work` while a progress line is shown, if standard error is a terminal and it takes long.
pub(crate) fn shown<T>(source: &Source, quiet: bool, work: impl FnOnce() -> T) -> T {
    shown_over(vec![(source.progress(), source.size())], quiet, work)
}

/// The same over several inputs, each with its size if that is known.
pub(crate) fn shown_over<T>(
    inputs: Vec<(Progress, Option<u64>)>,
    quiet: bool,
    work: impl FnOnce() -> T,
) -> T {
    if quiet || !std::io::stderr().is_terminal() {
        return work();
    }
    let size = inputs.iter().map(|(_, size)| *size).sum();
    let (done, wait) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut bar: Option<ProgressBar> = None;
            while wait.recv_timeout(EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
                let bytes = inputs.iter().map(|(progress, _)| progress.bytes()).sum();
                bar.get_or_insert_with(|| new_bar(size)).set_position(bytes);
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

pub(crate) fn new_bar(size: Option<u64>) -> ProgressBar {
    let (bar, template) = match size {
        Some(size) => (
            ProgressBar::new(size),
            "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        ),
        None => (
            ProgressBar::no_length(),
            "{spinner} {bytes} read, {bytes_per_sec}",
        ),
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
