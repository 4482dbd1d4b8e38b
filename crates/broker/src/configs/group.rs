//! The settings of groups, all that Kafka 4.4 knows.

use ConfigType::{Boolean, Int, List, Long, String};

use super::ConfigType;
use super::definition::{Check, Definition, define, define_null};

const ANY: Check = Check::Any;
const POSITIVE: Check = Check::AtLeast(1);
const NOT_NEGATIVE: Check = Check::AtLeast(0);
const ISOLATION: Check = Check::OneOf(&["read_committed", "read_uncommitted"]);

/// In the order of their names.
#[rustfmt::skip]
pub(crate) static GROUP: &[Definition] = &[
    define("consumer.assignment.interval.ms", Int, "1000", NOT_NEGATIVE, "How often a consumer group's assignment is made anew at most."),
    define("consumer.assignor.offload.enable", Boolean, "true", ANY, "Is the assignment made beside the coordinator's own work?"),
    define("consumer.heartbeat.interval.ms", Int, "5000", POSITIVE, "How often members of a consumer group send heartbeats."),
    define("consumer.session.timeout.ms", Int, "45000", POSITIVE, "After how many milliseconds without a heartbeat a consumer is gone."),
    define("errors.deadletterqueue.copy.record.enable", Boolean, "false", ANY, "Do a share group's dead letters hold the record itself?"),
    define("errors.deadletterqueue.topic.name", String, "", ANY, "Where a share group's dead letters go."),
    define("share.assignment.interval.ms", Int, "1000", NOT_NEGATIVE, "How often a share group's assignment is made anew at most."),
    define("share.assignor.offload.enable", Boolean, "true", ANY, "Is the assignment made beside the coordinator's own work?"),
    define("share.auto.offset.reset", String, "latest", Check::ShareOffsetReset, "Where a share group begins."),
    define("share.delivery.count.limit", Int, "5", Check::AtLeast(2), "How often a share group delivers a record at most."),
    define("share.heartbeat.interval.ms", Int, "5000", POSITIVE, "How often members of a share group send heartbeats."),
    define("share.isolation.level", String, "read_uncommitted", ISOLATION, "Does a share group see records of open transactions?"),
    define("share.partition.max.record.locks", Int, "2000", Check::AtLeast(100), "How many records of a partition a share group may hold."),
    define("share.record.lock.duration.ms", Int, "30000", Check::AtLeast(1000), "How long a share group's member may hold a record."),
    define("share.renew.acknowledge.enable", Boolean, "true", ANY, "May a share group's member hold a record longer?"),
    define("share.session.timeout.ms", Int, "45000", POSITIVE, "After how many milliseconds without a heartbeat a member of a share group is gone."),
    define("streams.acceptable.recovery.lag", Long, "10000", NOT_NEGATIVE, "How far a task's state may lag to count as caught up."),
    define("streams.assignment.interval.ms", Int, "1000", NOT_NEGATIVE, "How often a streams group's assignment is made anew at most."),
    define_null("streams.assignor.name", String, ANY, "How a streams group's tasks are assigned."),
    define("streams.assignor.offload.enable", Boolean, "true", ANY, "Is the assignment made beside the coordinator's own work?"),
    define("streams.heartbeat.interval.ms", Int, "5000", POSITIVE, "How often members of a streams group send heartbeats."),
    define("streams.initial.rebalance.delay.ms", Int, "3000", NOT_NEGATIVE, "How long the first member of a streams group waits for more."),
    define("streams.num.standby.replicas", Int, "0", NOT_NEGATIVE, "How many standby copies a task has."),
    define("streams.num.warmup.replicas", Int, "2", NOT_NEGATIVE, "How many tasks may warm up elsewhere at once."),
    define("streams.rack.aware.assignment.tags", List, "", ANY, "Which tags standby copies are spread over."),
    define("streams.session.timeout.ms", Int, "45000", POSITIVE, "After how many milliseconds without a heartbeat a member of a streams group is gone."),
    define("streams.task.offset.interval.ms", Int, "60000", POSITIVE, "How often members of a streams group report how far their state is."),
];

/// The broker's setting that is a group setting's default, if there is one and
/// this broker has it.
pub(crate) fn synonym(name: &str) -> Option<&'static str> {
    match name {
        "consumer.heartbeat.interval.ms" => Some("group.consumer.heartbeat.interval.ms"),
        "consumer.session.timeout.ms" => Some("group.consumer.session.timeout.ms"),
        _ => None,
    }
}
