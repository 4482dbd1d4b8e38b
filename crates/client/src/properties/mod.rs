//! Configuration as other clients have it: the keys of Java's clients and of librdkafka.
//!
//! - `syntax`: the text of a file.
//! - `table`: every key, and what becomes of it.
//! - `values`: reading values and collecting complaints.
//! - `client`, `tls`, `sasl` (with `jaas` and `unsecured`), `producer`, `reader`, `consumer`: what each takes.

mod client;
mod consumer;
mod jaas;
mod producer;
mod reader;
mod sasl;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod tls;
mod unsecured;
mod values;

use std::collections::BTreeMap;
use std::fmt;

pub use table::{PropertyClients, PropertyKey, Treatment};

use crate::client::config_error;
use crate::{ClientBuilder, ConsumerBuilder, Partitioning, ProducerBuilder, ReaderBuilder, Result};

/// Configuration with the keys of Java's clients or of librdkafka, checked as a whole.
///
/// A key that is not known is an error that names the nearest one. So is one whose meaning cannot be had here,
/// such as a JKS store; the error says what to do instead. What has no meaning here, and does no harm by that,
/// is listed by [`without_effect`](Self::without_effect). Keys that are left out have the defaults of this
/// client, not those of Java or librdkafka. Values that are secret are never printed.
///
/// ```no_run
/// # async fn run() -> copart::Result<()> {
/// use copart::{Partitioning, Properties};
///
/// let properties = Properties::parse(
///     "bootstrap.servers=b1:9092,b2:9092
///      security.protocol=SASL_SSL
///      sasl.mechanism=SCRAM-SHA-512
///      sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
///          username=\"ann\" password=\"secret\";
///      compression.type=zstd",
/// )?;
/// let client = properties.client().connect().await?;
/// let producer = properties
///     .configure(client.producer())
///     .partitioner(Partitioning::like("java")?)
///     .build()?;
/// # Ok(()) }
/// ```
///
/// A file that names a partitioner (librdkafka's `partitioner`, Java's `partitioner.class`) has it in
/// [`partitioning`](Self::partitioning). One that does not leaves it to the code to name one: the defaults of
/// Java and librdkafka differ, and nothing in a file says which of them it was written for.
#[derive(Clone)]
pub struct Properties {
    keys: Vec<&'static PropertyKey>,
    client: client::ClientSettings,
    producer: producer::ProducerSettings,
    reader: reader::ReaderSettings,
    consumer: consumer::ConsumerSettings,
}

impl Properties {
    /// Reads the text of a properties file.
    ///
    /// # Errors
    /// Everything that is wrong with it, at once.
    pub fn parse(text: &str) -> Result<Self> {
        let mut violations = Vec::new();
        let mut values = BTreeMap::new();
        for (line, key, value) in syntax::parse(text, &mut violations) {
            // Java lets the last one stand. That it stands twice is a slip all the same.
            if values.insert(key.clone(), value).is_some() {
                violations.push(format!("{key}: line {line} gives it a second time"));
            }
        }
        Self::new(&values, violations)
    }

    /// The pairs of a properties file in their order, escapes undone, whatever their keys are: for
    /// settings of something else that come in this form, such as a schema registry's.
    ///
    /// # Errors
    /// What is wrong with its syntax, and keys that stand twice.
    pub fn pairs(text: &str) -> Result<Vec<(String, String)>> {
        let mut violations = Vec::new();
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (line, key, value) in syntax::parse(text, &mut violations) {
            if pairs.iter().any(|(known, _)| *known == key) {
                violations.push(format!("{key}: line {line} gives it a second time"));
            } else {
                pairs.push((key, value));
            }
        }
        if violations.is_empty() {
            Ok(pairs)
        } else {
            Err(config_error(&violations))
        }
    }

    /// Takes keys with their values.
    ///
    /// # Errors
    /// Everything that is wrong with them, at once.
    pub fn from_pairs<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Result<Self>
    where
        K: Into<String>,
        V: Into<String>,
    {
        let mut violations = Vec::new();
        let mut values = BTreeMap::new();
        for (key, value) in pairs {
            let key = key.into();
            if values.insert(key.clone(), value.into()).is_some() {
                violations.push(format!("{key}: is given a second time"));
            }
        }
        Self::new(&values, violations)
    }

    fn new(values: &BTreeMap<String, String>, mut violations: Vec<String>) -> Result<Self> {
        let mut keys = Vec::new();
        for name in values.keys() {
            match table::find(name) {
                Some(key) if key.treatment == Treatment::Refused && !values[name].is_empty() => {
                    violations.push(format!("{name}: {}", key.note));
                }
                Some(key) => keys.push(key),
                None => violations.push(match table::nearest(name) {
                    Some(nearest) => format!("{name}: there is no such key; {nearest} is near"),
                    None => format!(
                        "{name}: there is no such key in Java's clients or librdkafka, as far as is known"
                    ),
                }),
            }
        }
        let mut reading = values::Values::new(values);
        let client = client::read(&mut reading);
        let producer = producer::read(&mut reading);
        let reader = reader::read(&mut reading);
        let consumer = consumer::read(&mut reading);
        violations.extend(reading.violations);
        if !violations.is_empty() {
            return Err(config_error(&violations));
        }
        Ok(Self {
            keys,
            client,
            producer,
            reader,
            consumer,
        })
    }

    /// A client with these settings, which code can still change.
    pub fn client(&self) -> ClientBuilder {
        self.client.builder()
    }

    /// Gives a producer's builder these settings.
    pub fn configure<P>(&self, builder: ProducerBuilder<P>) -> ProducerBuilder<P> {
        let builder = match self.client.retry_backoff() {
            Some(backoff) => builder.retry_backoff(backoff),
            None => builder,
        };
        self.producer.configure(builder)
    }

    /// Gives a reader's builder these settings. Where reading begins is for the code to say:
    /// `auto.offset.reset` is what happens when an offset is gone.
    pub fn configure_reader(&self, builder: ReaderBuilder) -> ReaderBuilder {
        let mut builder = match self.client.retry_backoff() {
            Some(backoff) => builder.retry_backoff(backoff),
            None => builder,
        };
        builder.change(|settings| self.reader.change(settings));
        builder
    }

    /// The group (`group.id`), if the file names one.
    pub fn group(&self) -> Option<&str> {
        self.consumer.group.as_deref()
    }

    /// Gives a consumer's builder these settings. The group is what the builder was made with.
    ///
    /// ```no_run
    /// # async fn run(properties: copart::Properties, client: copart::Client) -> copart::Result<()> {
    /// let group = properties.group().unwrap_or("billing");
    /// let consumer = client.consumer(group).topic("orders");
    /// let mut consumer = properties.configure_consumer(consumer).build()?;
    /// # Ok(()) }
    /// ```
    pub fn configure_consumer(&self, mut builder: ConsumerBuilder) -> ConsumerBuilder {
        if let Some(backoff) = self.client.retry_backoff() {
            builder = builder.retry_backoff(backoff);
        }
        builder.change_reader(|settings| self.reader.change(settings));
        self.consumer.configure(builder)
    }

    /// Whose rule places keys, if the file says so.
    pub fn partitioning(&self) -> Option<Partitioning> {
        self.producer.partitioning.clone()
    }

    /// The keys that are given and have no effect. Each says why.
    pub fn without_effect(&self) -> impl Iterator<Item = &'static PropertyKey> {
        let keys = self.keys.iter().copied();
        keys.filter(|key| key.treatment == Treatment::WithoutEffect)
    }

    /// All keys that are known, in parts with headings.
    pub fn known_keys() -> impl Iterator<Item = (&'static str, &'static [PropertyKey])> {
        table::PARTS.into_iter()
    }
}

/// The keys that are given. Values are left out: some are secret.
impl fmt::Debug for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.keys.iter().map(|key| key.name).collect();
        f.debug_struct("Properties")
            .field("keys", &keys)
            .finish_non_exhaustive()
    }
}
