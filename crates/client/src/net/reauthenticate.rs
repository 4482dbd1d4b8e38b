//! Authentication again, on the same connection, before a session's lifetime ends (KIP-368).

use std::time::Duration;

use super::connection::{Connection, WeakConnection};
use super::handshake::authenticate;
use super::sasl::Sasl;
use crate::{Error, ErrorKind};

/// Starts the task that keeps the session alive. It ends with the connection.
pub(super) fn schedule(connection: &Connection, sasl: Sasl, lifetime: Duration, timeout: Duration) {
    let weak = connection.downgrade();
    tokio::spawn(run(weak, sasl, lifetime, timeout));
}

async fn run(connection: WeakConnection, sasl: Sasl, mut lifetime: Duration, timeout: Duration) {
    loop {
        // Java's clients come at 85 to 95 percent too. Chance keeps a fleet from coming at once.
        let wait = lifetime.mul_f64(0.85 + 0.1 * fastrand::f64());
        tokio::time::sleep(wait).await;
        let Some(connection) = connection.upgrade() else {
            return;
        };
        // What is on its way may be answered in between; nothing new may be asked.
        connection.set_gate(false);
        match authenticate(&connection, &sasl, timeout).await {
            Ok(Some(next)) => {
                lifetime = next;
                connection.set_gate(true);
                tracing::debug!(broker = %connection.broker(), ?lifetime, "authenticated again");
            }
            Ok(None) => {
                connection.set_gate(true);
                return;
            }
            Err(error) => {
                return connection.poison(
                    Error::new(
                        ErrorKind::Authentication,
                        format!("the session could not be renewed: {}", error.reason()),
                    )
                    .caused_by(error),
                );
            }
        }
    }
}
