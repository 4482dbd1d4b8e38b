//! What a producer takes from properties.

use std::time::Duration;

use copart_protocol::records::{Codec, Compression};

use super::values::Values;
use crate::{Acks, Partitioning, ProducerBuilder};

/// Checked settings.
#[derive(Clone, Default)]
pub(super) struct ProducerSettings {
    pub(super) partitioning: Option<Partitioning>,
    acks: Option<Acks>,
    idempotence: Option<bool>,
    batch_size: Option<usize>,
    linger: Option<Duration>,
    compression: Option<Compression>,
    buffer_memory: Option<usize>,
    max_block: Option<Duration>,
    delivery_timeout: Option<Duration>,
    max_request_size: Option<usize>,
    max_in_flight: Option<usize>,
}

pub(super) fn read(values: &mut Values<'_>) -> ProducerSettings {
    let partitioning = partitioning(values);
    let acks = values.choice(
        &["acks", "request.required.acks"],
        &[
            ("all", Acks::All),
            ("-1", Acks::All),
            ("1", Acks::Leader),
            ("0", Acks::None),
        ],
    );
    let max_in_flight = values.bytes(&["max.in.flight.requests.per.connection", "max.in.flight"]);
    let idempotence = values.flag(&["enable.idempotence"]);
    let retries = values.number(&["retries", "message.send.max.retries"]);
    if retries == Some(0) {
        values.refuse(
            "retries",
            "0 is not taken: a lost answer would be a failure each time; delivery.timeout.ms bounds retries",
        );
    }
    // As Java does: what goes against idempotence turns it off, unless it is asked for by name.
    let against =
        acks.is_some_and(|acks| acks != Acks::All) || max_in_flight.is_some_and(|n| n > 5);
    let kib = values.bytes(&["queue.buffering.max.kbytes"]);
    let buffer_memory = values.bytes(&["buffer.memory"]);
    if kib.is_some() && buffer_memory.is_some() {
        values.refuse(
            "queue.buffering.max.kbytes",
            "buffer.memory gives the same thing; keep one",
        );
    }
    ProducerSettings {
        partitioning,
        acks,
        idempotence: idempotence.or(against.then_some(false)),
        batch_size: values.bytes(&["batch.size"]),
        linger: values.milliseconds(&["linger.ms", "queue.buffering.max.ms"]),
        compression: compression(values),
        buffer_memory: buffer_memory.or(kib.map(|kib| kib.saturating_mul(1024))),
        max_block: values.milliseconds(&["max.block.ms"]),
        delivery_timeout: values.milliseconds(&["delivery.timeout.ms", "message.timeout.ms"]),
        max_request_size: values.bytes(&["max.request.size", "message.max.bytes"]),
        max_in_flight,
    }
}

fn compression(values: &mut Values<'_>) -> Option<Compression> {
    let codec = values.choice(
        &["compression.type", "compression.codec"],
        &[
            ("none", Codec::None),
            ("gzip", Codec::Gzip),
            ("snappy", Codec::Snappy),
            ("lz4", Codec::Lz4),
            ("zstd", Codec::Zstd),
        ],
    );
    let of_codec = [
        ("compression.gzip.level", Codec::Gzip),
        ("compression.lz4.level", Codec::Lz4),
        ("compression.zstd.level", Codec::Zstd),
    ];
    let mut levels = Vec::new();
    for (name, of) in of_codec {
        // Java's names say for which codec: the others do not matter.
        if let Some(level) = values.number(&[name])
            && codec == Some(of)
        {
            levels.push((name, level));
        }
    }
    // librdkafka's -1 is the codec's default.
    let general = values
        .number(&["compression.level"])
        .filter(|&level| level != -1);
    levels.extend(general.map(|level| ("compression.level", level)));
    let compression = Compression::new(codec?);
    let Some(&(name, level)) = levels.first() else {
        return Some(compression);
    };
    let level = i32::try_from(level).ok();
    match level.and_then(|level| compression.with_level(level).ok()) {
        Some(compression) => Some(compression),
        None => {
            values.refuse(name, "is not a level of the codec");
            None
        }
    }
}

/// Whose rule places keys, in Java's words or in librdkafka's.
fn partitioning(values: &mut Values<'_>) -> Option<Partitioning> {
    let class = values.filled(&["partitioner.class"]);
    let name = values.filled(&["partitioner"]);
    let ignores_keys = values.flag(&["partitioner.ignore.keys"]).unwrap_or(false);
    let adaptive = values.flag(&["partitioner.adaptive.partitioning.enable"]);
    let rack_aware = values.flag(&["partitioner.rack.aware"]);
    let availability = values.milliseconds(&["partitioner.availability.timeout.ms"]);
    if let (Some((class, _)), Some(_)) = (class, name) {
        values.refuse(
            "partitioner",
            format_args!("{class} gives the same thing; keep one"),
        );
    }
    let mut partitioning = match (class, name) {
        (Some((key, class)), _) => of_class(values, key, class.trim())?,
        (None, Some((key, name))) => match Partitioning::like(name.trim()) {
            Ok(partitioning) => partitioning,
            Err(error) => {
                values.refuse(key, error.reason());
                return None;
            }
        },
        // Without a class, Java's own partitioner ignores keys.
        (None, None) if ignores_keys => Partitioning::uniform(),
        (None, None) => return None,
    };
    if let Some(adaptive) = adaptive {
        partitioning = partitioning.adaptive(adaptive);
    }
    if let Some(rack_aware) = rack_aware {
        partitioning = partitioning.rack_aware(rack_aware);
    }
    if let Some(timeout) = availability.filter(|timeout| !timeout.is_zero()) {
        partitioning = partitioning.availability_timeout(timeout);
    }
    Some(partitioning)
}

fn of_class(values: &mut Values<'_>, key: &str, class: &str) -> Option<Partitioning> {
    let (package, name) = class.rsplit_once('.').unwrap_or(("", class));
    match (package, name) {
        ("" | "org.apache.kafka.clients.producer.internals", "DefaultPartitioner") => {
            Partitioning::like("java").ok()
        }
        ("" | "org.apache.kafka.clients.producer", "RoundRobinPartitioner") => {
            Some(Partitioning::round_robin())
        }
        ("" | "org.apache.kafka.clients.producer", "UniformStickyPartitioner") => {
            Some(Partitioning::sticky())
        }
        _ => {
            values.refuse(
                key,
                format_args!(
                    "the class {class} cannot run here: write what it does as a copart::Partitioner, leave \
                     {key} out, and name that in code"
                ),
            );
            None
        }
    }
}

impl ProducerSettings {
    pub(super) fn configure<P>(&self, mut builder: ProducerBuilder<P>) -> ProducerBuilder<P> {
        if let Some(acks) = self.acks {
            builder = builder.acks(acks);
        }
        if let Some(idempotence) = self.idempotence {
            builder = builder.idempotence(idempotence);
        }
        // In Java, a batch larger than a request is no contradiction: requests are split.
        let largest = self.max_request_size.unwrap_or(1 << 20);
        if let Some(bytes) = self.batch_size {
            // In Java 0 turns batching off; a batch of one record is as near as it gets.
            builder = builder.batch_size(bytes.clamp(512, largest.max(512)));
        } else if largest < 256 << 10 {
            builder = builder.batch_size(largest);
        }
        if let Some(linger) = self.linger {
            builder = builder.linger(linger);
        }
        if let Some(compression) = self.compression {
            builder = builder.compression(compression);
        }
        if let Some(bytes) = self.buffer_memory {
            builder = builder.buffer_memory(bytes);
        }
        if let Some(timeout) = self.max_block {
            builder = builder.max_block(timeout);
        }
        if let Some(timeout) = self.delivery_timeout {
            builder = builder.delivery_timeout(timeout);
        }
        if let Some(bytes) = self.max_request_size {
            builder = builder.max_request_size(bytes);
        }
        if let Some(requests) = self.max_in_flight {
            builder = builder.max_in_flight(requests);
        }
        builder
    }
}
