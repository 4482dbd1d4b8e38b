//! What this broker cannot honour. It says so instead of ignoring it.

use crate::log::Durability;

/// Why a topic cannot have this setting, if it cannot. The value is one that
/// Kafka would take; what asks for nothing else than what is done anyway is
/// taken here too.
pub(crate) fn refusal(name: &str, value: &str, durability: Durability) -> Option<String> {
    let value = value.trim();
    let is = |wanted: &str| value.eq_ignore_ascii_case(wanted);
    let reason = match name {
        "compression.type" if !is("producer") => {
            "batches are stored as producers send them, and never compressed anew; leave it at producer"
        }
        "errors.deadletterqueue.group.enable" if is("true") => {
            "there are no share groups, so nothing writes dead letters"
        }
        "file.delete.delay.ms" if !is("60000") && !is("0") => {
            "deleted segments' files go at once; leave it at its default"
        }
        "flush.messages" | "flush.ms"
            if durability != Durability::Disk && !is("9223372036854775807") =>
        {
            "this broker was started with a durability that never syncs; start it with \
             `--durability disk`, where everything is synced as soon as it can be"
        }
        "remote.log.copy.disable" | "remote.log.delete.on.disable" | "remote.storage.enable"
            if is("true") =>
        {
            "there is no remote storage"
        }
        "segment.jitter.ms" if !is("0") => "segments end without jitter; leave it at 0",
        _ => return None,
    };
    Some(format!("{name}={value} cannot be honoured: {reason}"))
}
