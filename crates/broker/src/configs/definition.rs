//! What a setting is: its type, its default, and which values it takes.

use super::ConfigType;

/// A setting that Kafka has.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    pub(crate) config_type: ConfigType,
    /// `None` if there is no value unless one is given.
    pub(crate) default: Option<&'static str>,
    pub(super) check: Check,
    pub(crate) documentation: &'static str,
}

/// Which values a setting takes, beyond its type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    Any,
    AtLeast(i64),
    Between(i64, i64),
    /// A fraction from 0 to 1.
    Fraction,
    /// -1 for the codec's default, or 1 to 9.
    GzipLevel,
    OneOf(&'static [&'static str]),
    /// A list of these, none twice.
    ListOf(&'static [&'static str]),
    /// `PARTITION:BROKER,…`, or `*`.
    ThrottledReplicas,
    /// `latest`, `earliest` or `by_duration:PT…`.
    ShareOffsetReset,
}

/// Shorthand for the tables.
pub(super) const fn define(
    name: &'static str,
    config_type: ConfigType,
    default: &'static str,
    check: Check,
    documentation: &'static str,
) -> Definition {
    Definition {
        name,
        config_type,
        default: Some(default),
        check,
        documentation,
    }
}

/// The same, for a setting without a default.
pub(super) const fn define_null(
    name: &'static str,
    config_type: ConfigType,
    check: Check,
    documentation: &'static str,
) -> Definition {
    Definition {
        name,
        config_type,
        default: None,
        check,
        documentation,
    }
}

impl Definition {
    /// Is this a value that the setting takes? The error says which ones it
    /// does.
    pub(crate) fn validate(&self, value: &str) -> Result<(), String> {
        self.fault(value).map_or(Ok(()), |wanted| {
            Err(format!("{} cannot be {value:?}: {wanted}", self.name))
        })
    }

    /// What the value should have been, if it is none.
    fn fault(&self, value: &str) -> Option<String> {
        let text = value.trim();
        let number = match self.config_type {
            ConfigType::Boolean => {
                let known = text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false");
                return (!known).then(|| "it is true or false".to_owned());
            }
            ConfigType::Int => text.parse::<i32>().map(i64::from).ok(),
            ConfigType::Short => text.parse::<i16>().map(i64::from).ok(),
            ConfigType::Long => text.parse::<i64>().ok(),
            ConfigType::Double => {
                return match text.parse::<f64>() {
                    Ok(number) if self.check.takes_fraction(number) => None,
                    _ => Some("it is a number from 0 to 1".to_owned()),
                };
            }
            ConfigType::List => return self.check.list_fault(text),
            ConfigType::String | ConfigType::Password => {
                return self.check.text_fault(text);
            }
        };
        let Some(number) = number else {
            let (name, low, high) = match self.config_type {
                ConfigType::Short => ("a short", i64::from(i16::MIN), i64::from(i16::MAX)),
                ConfigType::Int => ("an int", i64::from(i32::MIN), i64::from(i32::MAX)),
                _ => ("a long", i64::MIN, i64::MAX),
            };
            return Some(format!("it is {name}, a whole number from {low} to {high}"));
        };
        self.check.number_fault(number)
    }
}

impl Check {
    fn takes_fraction(self, number: f64) -> bool {
        match self {
            Self::Fraction => (0.0..=1.0).contains(&number),
            _ => !number.is_nan(),
        }
    }

    fn number_fault(self, number: i64) -> Option<String> {
        match self {
            Self::AtLeast(low) if number < low => Some(format!("it is at least {low}")),
            Self::Between(low, high) if !(low..=high).contains(&number) => {
                Some(format!("it is {low} to {high}"))
            }
            Self::GzipLevel if number != -1 && !(1..=9).contains(&number) => {
                Some("it is 1 to 9, or -1".to_owned())
            }
            _ => None,
        }
    }

    fn text_fault(self, text: &str) -> Option<String> {
        match self {
            Self::OneOf(names) if !names.contains(&text) => {
                Some(format!("it is one of {}", names.join(", ")))
            }
            Self::ShareOffsetReset
                if text != "latest" && text != "earliest" && !text.starts_with("by_duration:P") =>
            {
                Some("it is latest, earliest or by_duration: with an ISO 8601 duration".to_owned())
            }
            _ => None,
        }
    }

    fn list_fault(self, text: &str) -> Option<String> {
        let items = list(text);
        match self {
            Self::ListOf(names) => {
                let twice = items
                    .iter()
                    .enumerate()
                    .any(|(index, item)| items[..index].contains(item));
                let unknown = items.iter().any(|item| !names.contains(item));
                (twice || unknown)
                    .then(|| format!("it is a list of {}, none of them twice", names.join(", ")))
            }
            Self::ThrottledReplicas => {
                let pair = |item: &&str| {
                    item.split_once(':').is_some_and(|(partition, broker)| {
                        let digits = |text: &str| {
                            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
                        };
                        digits(partition) && digits(broker)
                    })
                };
                (text != "*" && !items.iter().all(pair))
                    .then(|| "it is *, or a list of PARTITION:BROKER".to_owned())
            }
            _ => None,
        }
    }
}

/// The items of a list as Kafka writes one: commas between them, blanks around
/// them ignored, nothing for an empty list.
pub(crate) fn list(text: &str) -> Vec<&str> {
    match text.trim() {
        "" => Vec::new(),
        text => text.split(',').map(str::trim).collect(),
    }
}
