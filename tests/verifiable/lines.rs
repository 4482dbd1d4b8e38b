//! Lines of JSON on standard output, each with a time and the name of what happened.

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.map_or(0, |elapsed| elapsed.as_millis() as u64)
}

/// Writes one line. Whoever reads it decides by it at once, so nothing stays in a buffer.
pub(crate) fn say(name: &str, facts: Value) -> io::Result<()> {
    let mut line = Map::new();
    line.insert("timestamp".into(), json!(now()));
    line.insert("name".into(), json!(name));
    if let Value::Object(facts) = facts {
        line.extend(facts);
    }
    let mut output = io::stdout().lock();
    writeln!(output, "{}", Value::Object(line))?;
    output.flush()
}

/// Resolves when the program is asked to end, by SIGTERM or Ctrl-C.
pub(crate) async fn asked_to_end() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            pressed = tokio::signal::ctrl_c() => pressed,
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
