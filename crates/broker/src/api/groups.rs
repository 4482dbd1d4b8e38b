//! What the APIs of groups have in common: asking the coordinator, and what it is asked about.

use copart_protocol::ErrorCode;

use super::Call;
use crate::groups::{Caller, Coordinator, Input, Reply, Token};
use crate::server::Answer;

/// Without ACLs everybody may do everything that can be done to a group, as bits by operation: read, delete, describe,
/// and describe and alter its settings.
pub(super) const GROUP_OPERATIONS: i32 = 0b1101_0100_1000;

impl Call {
    /// Where the client is, as Kafka prints it.
    pub(super) fn host(&self) -> String {
        format!("/{}", self.peer)
    }

    /// Has the group's coordinator, which this node must be, do something.
    pub(super) async fn coordinate<T>(
        &self,
        group: &str,
        act: impl FnOnce(&mut Coordinator, Input<'_>) -> T,
    ) -> Result<T, ErrorCode> {
        let groups = &self.broker.groups;
        groups.with(&self.broker, self.node.id, group, act).await
    }

    /// The same for what is answered later.
    pub(super) async fn ask_coordinator(
        &self,
        group: &str,
        act: impl FnOnce(&mut Coordinator, Input<'_>, Caller<'_>, Token),
    ) -> Result<Reply, ErrorCode> {
        let host = self.host();
        let caller = Caller {
            client_id: &self.client_id,
            host: &host,
            version: self.version,
        };
        let groups = &self.broker.groups;
        groups
            .ask(
                &self.broker,
                self.node.id,
                group,
                |coordinator, input, token| {
                    act(coordinator, input, caller, token);
                },
            )
            .await
    }
}

/// An answer that takes time.
pub(super) fn later(answer: impl Future<Output = Answer> + Send + 'static) -> Answer {
    Answer::Later(Box::pin(answer))
}
