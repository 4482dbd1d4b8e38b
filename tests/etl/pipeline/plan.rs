//! What is to be run.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use copart::{Assignor, Client, ConsumerBuilder, GroupProtocol};

/// How many stages there are: each is a group that reads one topic and writes the next one.
pub const STAGES: usize = 3;
/// The partitions of the topics, of which the first one is filled.
const PARTITIONS: [i32; STAGES + 1] = [6, 8, 5, 7];

#[derive(Clone, Debug)]
pub struct Plan {
    pub bootstrap: String,
    /// Names of topics and groups begin with it.
    pub name: String,
    pub records: u64,
    pub keys: u64,
    /// The first topic is filled evenly in this time, so that there is something to read all along.
    pub filled_in: Duration,
    pub membership: Membership,
    /// How long the group has peace before the next member comes, goes, dies or is cut off.
    pub peace: Range<Duration>,
    /// Without progress for so long it has failed.
    pub patience: Duration,
    pub seed: u64,
}

/// How members are in their groups.
#[derive(Clone, Debug)]
pub struct Membership {
    pub protocol: GroupProtocol,
    /// In the classic protocol.
    pub assignors: Vec<Assignor>,
    /// In the consumer protocol.
    pub server_assignor: Option<String>,
    /// A member that died comes back under the same name.
    pub is_static: bool,
}

impl Plan {
    /// Topic 0 is the first stage's input, topic 1 its output, and so on.
    pub fn topic(&self, number: usize) -> String {
        format!("{}-{number}", self.name)
    }

    pub fn partitions(&self, number: usize) -> i32 {
        PARTITIONS[number]
    }

    pub fn group(&self, stage: usize) -> String {
        format!("{}-stage-{}", self.name, stage + 1)
    }

    /// A consumer of the stage.
    pub fn consumer(&self, client: &Client, stage: usize, place: usize) -> ConsumerBuilder {
        let membership = &self.membership;
        let mut builder = client
            .consumer(self.group(stage))
            .topic(self.topic(stage))
            .protocol(membership.protocol)
            .commit(copart::Commit::Processed {
                every: Duration::from_millis(500),
            })
            .session_timeout(Duration::from_secs(2))
            .heartbeat_interval(Duration::from_millis(200))
            .rebalance_timeout(Duration::from_secs(15));
        if !membership.assignors.is_empty() {
            builder = builder.assignors(membership.assignors.iter().copied());
        }
        if let Some(assignor) = &membership.server_assignor {
            builder = builder.server_assignor(assignor.as_str());
        }
        if membership.is_static {
            builder = builder.instance_id(format!("{}-{stage}-{place}", self.name));
        }
        builder
    }
}

impl fmt::Display for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.protocol)?;
        if self.protocol == GroupProtocol::Consumer {
            write!(
                f,
                " {}",
                self.server_assignor.as_deref().unwrap_or("broker's choice")
            )?;
        } else {
            write!(f, " {:?}", self.assignors)?;
        }
        f.write_str(if self.is_static { " static" } else { "" })
    }
}
