//! May somebody set this? Errors are sentences for whoever asked.

use super::broker::{BROKER, Update, broker};
use super::definition::{Definition, list};
use super::group::GROUP;
use super::honour::refusal;
use super::settings::{BrokerSettings, Values};
use super::topic::{SYNONYMS, TOPIC};
use super::{ConfigOp, ConfigType, TopicConfig};
use crate::log::Durability;

/// The longest value, in bytes: what a string of the protocol can hold.
const MAX_VALUE: usize = i16::MAX as usize;

/// Can a topic have these settings? All of them, together.
pub(crate) fn check_topic(
    overrides: &Values,
    broker: BrokerSettings<'_>,
    durability: Durability,
) -> Result<TopicConfig, String> {
    for (name, value) in overrides {
        known(ResourceKind::Topic, name)?.validate(value)?;
        if let Some(reason) = refusal(name, value, durability) {
            return Err(reason);
        }
    }
    TopicConfig::resolve(overrides, broker)
}

/// Can clients set this for a broker, or for all of them?
pub(crate) fn check_broker(name: &str, value: &str, durability: Durability) -> Result<(), String> {
    let definition = known(ResourceKind::Broker, name)?;
    match broker(name).map(|row| row.update) {
        Some(Update::Dynamic) => {}
        Some(Update::Static) => {
            return Err(format!(
                "{name} cannot be changed while the broker runs; set it when it is started"
            ));
        }
        _ => return Err(format!("{name} says how the broker is, and cannot be set")),
    }
    definition.validate(value)?;
    check_honoured(name, value, durability)
}

/// Can a broker be started with this?
pub(crate) fn check_started(name: &str, value: &str, durability: Durability) -> Result<(), String> {
    let definition = known(ResourceKind::Broker, name)?;
    if broker(name).is_none_or(|row| row.update == Update::Fact) {
        return Err(format!("{name} says how the broker is, and cannot be set"));
    }
    definition.validate(value)?;
    check_honoured(name, value, durability)
}

/// Is this something that the broker says of a node?
pub(crate) fn is_fact(name: &str) -> bool {
    broker(name).is_some_and(|row| row.update == Update::Fact)
}

/// A broker's setting that is a topic's default must be one that topics may
/// have.
fn check_honoured(name: &str, value: &str, durability: Durability) -> Result<(), String> {
    for (topic, synonyms) in SYNONYMS {
        let Some(synonym) = synonyms.iter().find(|synonym| synonym.name == name) else {
            continue;
        };
        let value = synonym.convert(value);
        if let Some(definition) = TOPIC.iter().find(|definition| definition.name == *topic) {
            definition.validate(&value)?;
        }
        if let Some(reason) = refusal(topic, &value, durability) {
            return Err(format!("{name}: {reason}"));
        }
    }
    Ok(())
}

/// Is this setting of brokers a topic's default?
pub(crate) fn is_topic_default(name: &str) -> bool {
    let mut synonyms = SYNONYMS.iter().flat_map(|(_, synonyms)| synonyms.iter());
    name == "producer.id.expiration.ms" || synonyms.any(|synonym| synonym.name == name)
}

/// Can a group have these settings? All of them, together.
pub(crate) fn check_group(overrides: &Values, broker: BrokerSettings<'_>) -> Result<(), String> {
    for (name, value) in overrides {
        known(ResourceKind::Group, name)?.validate(value)?;
        // A group's setting must lie between the broker's own limits.
        let within = |low: &'static str, high: &'static str| {
            let limit = |name| {
                broker
                    .value(name)
                    .and_then(|value| value.parse::<i64>().ok())
            };
            let number = value.trim().parse::<i64>().unwrap_or_default();
            let (low_value, high_value) = (limit(low), limit(high));
            match (low_value, high_value) {
                (Some(least), _) if number < least => {
                    Err(format!("{name}={number} is less than {low}={least}"))
                }
                (_, Some(most)) if number > most => {
                    Err(format!("{name}={number} is more than {high}={most}"))
                }
                _ => Ok(()),
            }
        };
        match name.as_str() {
            "consumer.session.timeout.ms" => within(
                "group.consumer.min.session.timeout.ms",
                "group.consumer.max.session.timeout.ms",
            )?,
            "consumer.heartbeat.interval.ms" => within(
                "group.consumer.min.heartbeat.interval.ms",
                "group.consumer.max.heartbeat.interval.ms",
            )?,
            _ => {}
        }
    }
    let number = |name: &str, synonym| {
        let value = overrides
            .get(name)
            .cloned()
            .or_else(|| broker.value(synonym));
        value.and_then(|value| value.trim().parse::<i64>().ok())
    };
    let session = number(
        "consumer.session.timeout.ms",
        "group.consumer.session.timeout.ms",
    );
    let heartbeat = number(
        "consumer.heartbeat.interval.ms",
        "group.consumer.heartbeat.interval.ms",
    );
    match (session, heartbeat) {
        (Some(session), Some(heartbeat)) if session <= heartbeat => Err(format!(
            "consumer.session.timeout.ms={session} is not more than \
             consumer.heartbeat.interval.ms={heartbeat}"
        )),
        _ => Ok(()),
    }
}

/// What a value is after a change. `before` is the value that the resource
/// itself has, or, for lists, the effective one.
pub(crate) fn alter(
    resource: ResourceKind,
    name: &str,
    op: &ConfigOp,
    before: Option<&str>,
) -> Result<Option<String>, String> {
    let is_list = || match known(resource, name)? {
        definition if definition.config_type == ConfigType::List => Ok(()),
        _ => Err(format!(
            "{name} is no list: nothing can be added to it or taken from it"
        )),
    };
    let changed = match op {
        ConfigOp::Set(value) => value.clone(),
        ConfigOp::Delete => return Ok(None),
        ConfigOp::Append(value) => {
            is_list()?;
            let mut items = list(before.unwrap_or_default());
            for item in list(value) {
                if !items.contains(&item) {
                    items.push(item);
                }
            }
            items.join(",")
        }
        ConfigOp::Subtract(value) => {
            is_list()?;
            let gone = list(value);
            let mut items = list(before.unwrap_or_default());
            items.retain(|item| !gone.contains(item));
            items.join(",")
        }
    };
    if changed.len() > MAX_VALUE {
        return Err(format!(
            "{name}: a value of {} bytes; {MAX_VALUE} is the most",
            changed.len()
        ));
    }
    Ok(Some(changed))
}

/// What settings are for, as far as their names matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceKind {
    Topic,
    Broker,
    Group,
}

impl ResourceKind {
    fn definition(self, name: &str) -> Option<&'static Definition> {
        match self {
            Self::Topic => TOPIC.iter().find(|definition| definition.name == name),
            Self::Broker => broker(name).map(|row| &row.definition),
            Self::Group => GROUP.iter().find(|definition| definition.name == name),
        }
    }

    fn names(self) -> (&'static str, Vec<&'static str>) {
        match self {
            Self::Topic => ("topics", TOPIC.iter().map(|it| it.name).collect()),
            Self::Broker => (
                "brokers",
                BROKER.iter().map(|it| it.definition.name).collect(),
            ),
            Self::Group => ("groups", GROUP.iter().map(|it| it.name).collect()),
        }
    }
}

fn known(resource: ResourceKind, name: &str) -> Result<&'static Definition, String> {
    resource
        .definition(name)
        .ok_or_else(|| unknown(resource, name))
}

fn unknown(resource: ResourceKind, name: &str) -> String {
    let (of, names) = resource.names();
    // What a client sends may be long, and comparing takes its square.
    let near = names
        .into_iter()
        .filter(|known| name.len() <= 2 * known.len())
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .filter(|(distance, known)| *distance <= known.len() / 4 + 1)
        .min();
    match near {
        Some((_, near)) => format!("{of} have no setting {name:?}; is {near} meant?"),
        None => format!("{of} have no setting {name:?}"),
    }
}
