//! Groups in which everything goes wrong for a while: requests and answers are late or get lost, members are killed,
//! stuck, stopped and started, the coordinator moves, partitions are added, programs hold on to what they have.
//!
//! - [`World`](world::World): members, the network between them and the coordinator, and what goes wrong.
//!   `world::invariants` is what has to hold all the same.
//! - `classic_coordinator`, `epochs_coordinator`: the coordinators, as Kafka's are, one for each protocol.
//!
//! `COPART_SEEDS` is how many worlds there are; `COPART_SEED` is the only one.

mod classic_coordinator;
mod epochs_coordinator;
mod world;

use std::ops::Range;

use copart_protocol::ErrorCode;
use copart_protocol::messages::consumer_group_heartbeat::ConsumerGroupHeartbeatResponse;
use copart_protocol::messages::heartbeat::HeartbeatResponse;
use copart_protocol::messages::join_group::JoinGroupResponse;
use copart_protocol::messages::leave_group::LeaveGroupResponse;
use copart_protocol::messages::sync_group::SyncGroupResponse;
use tokio::time::Instant;

use self::world::World;
use super::{Answer, GroupRequest, Protocol, TOPIC};
use crate::consumer::group::Identity;

/// Whom an answer goes to.
type Caller = u64;

/// The broker's side of one group.
trait Coordinator {
    fn ask(&mut self, caller: Caller, request: &GroupRequest, now: Instant);

    /// Timers.
    fn tick(&mut self, now: Instant);

    /// Another broker takes over with what was stored, and is ready then.
    fn restart(&mut self, ready: Instant);

    /// The topic has that many partitions from now on.
    fn set_partitions(&mut self, count: usize);

    /// What was answered since the last call.
    fn answers(&mut self) -> Vec<(Caller, Answer)>;

    /// Whether the group goes by what this member has. It does not if the member is out and has not learnt of it yet:
    /// what it commits is refused then.
    fn counts_on(&self, member: &Identity) -> bool;

    /// Whether a member that it counts on may have this partition.
    fn grants(&self, member: &Identity, partition: i32) -> bool;

    /// Whether the member is in the group.
    fn has(&self, member_id: &str) -> bool;

    /// Whether it may fence a member for its epoch although only one answer to it was lost.
    fn may_fence(&self, member: &Identity) -> bool;

    /// The generation, or the group's epoch.
    fn generation(&self) -> i32;

    /// Whether everybody has what it is to have, as far as the coordinator knows.
    fn is_stable(&self) -> bool;
}

/// An answer that says only what is wrong.
fn refusal(request: &GroupRequest, error_code: ErrorCode) -> Answer {
    match request {
        GroupRequest::Join(join) => Answer::Join(JoinGroupResponse {
            error_code,
            member_id: join.member_id.clone(),
            ..JoinGroupResponse::default()
        }),
        GroupRequest::Sync(_) => Answer::Sync(SyncGroupResponse {
            error_code,
            ..SyncGroupResponse::default()
        }),
        GroupRequest::Heartbeat(_) => Answer::Heartbeat(HeartbeatResponse {
            error_code,
            ..HeartbeatResponse::default()
        }),
        GroupRequest::Leave(_) => Answer::Leave(LeaveGroupResponse {
            error_code,
            ..LeaveGroupResponse::default()
        }),
        GroupRequest::ConsumerHeartbeat(_) => {
            Answer::ConsumerHeartbeat(ConsumerGroupHeartbeatResponse {
                error_code,
                ..ConsumerGroupHeartbeatResponse::default()
            })
        }
    }
}

fn seeds(usual: u64) -> Range<u64> {
    let given = |name| {
        let text = std::env::var(name).ok()?;
        Some(text.parse().expect("a number"))
    };
    match (given("COPART_SEED"), given("COPART_SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, count) => 0..count.unwrap_or(usual),
    }
}

#[test]
fn classic_groups_get_over_everything() {
    for seed in seeds(60) {
        World::new(seed, Protocol::Classic).run();
    }
}

#[test]
fn groups_of_the_consumer_protocol_get_over_everything() {
    for seed in seeds(110) {
        World::new(seed, Protocol::Consumer).run();
    }
}
