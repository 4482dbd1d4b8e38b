//! The lines of JSON that the driver reads and writes.

use std::collections::BTreeMap;
use std::error::Error;

use serde::{Deserialize, Serialize};

/// What a client can fail with.
pub type Failure = Box<dyn Error + Send + Sync>;
pub type Outcome<T> = Result<T, Failure>;

/// The client has no such call; says which.
#[derive(Debug)]
pub struct NotOffered(pub &'static str);

impl std::fmt::Display for NotOffered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for NotOffered {}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    Hello,
    Create {
        topic: String,
        partitions: i32,
        configs: BTreeMap<String, String>,
    },
    Produce(Produce),
    Read {
        topic: String,
        #[serde(deserialize_with = "numbered")]
        ends: BTreeMap<i32, i64>,
    },
    Offset {
        topic: String,
        partition: i32,
        at: At,
    },
    Describe {
        topic: String,
    },
    Configs {
        topic: String,
    },
    Alter {
        topic: String,
        name: String,
        value: String,
    },
    Grow {
        topic: String,
        partitions: i32,
    },
    DeleteRecords {
        topic: String,
        partition: i32,
        before: i64,
    },
    Delete {
        topic: String,
    },
}

#[derive(Deserialize)]
pub struct Produce {
    pub topic: String,
    pub acks: i16,
    pub compression: String,
    pub idempotent: bool,
    pub records: Vec<Record>,
}

#[derive(Deserialize, Clone)]
pub struct Record {
    pub partition: Option<i32>,
    pub key: Option<Hex>,
    pub value: Option<Hex>,
    pub headers: Vec<(String, Option<Hex>)>,
    /// Milliseconds since 1970.
    pub timestamp: i64,
}

/// "earliest", "latest", "max", or milliseconds since 1970.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum At {
    Time(i64),
    Named(String),
}

#[derive(Serialize)]
pub struct Seen {
    pub partition: i32,
    pub offset: i64,
    pub timestamp: i64,
    pub key: Option<Hex>,
    pub value: Option<Hex>,
    pub headers: Vec<(String, Option<Hex>)>,
}

#[derive(Serialize)]
pub struct Placed {
    pub partition: i32,
    pub offset: i64,
}

#[derive(Serialize)]
pub struct Found {
    pub offset: i64,
    pub timestamp: Option<i64>,
}

#[derive(Serialize)]
pub struct Partition {
    pub partition: i32,
    pub leader: Option<i32>,
    pub replicas: Option<Vec<i32>>,
    pub isr: Option<Vec<i32>>,
}

/// Bytes, written as hexadecimal.
#[derive(Clone)]
pub struct Hex(pub Vec<u8>);

impl Serialize for Hex {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        hex::decode(&text)
            .map(Hex)
            .map_err(serde::de::Error::custom)
    }
}

pub fn hexed(data: Option<&[u8]>) -> Option<Hex> {
    data.map(|data| Hex(data.to_vec()))
}

/// JSON's names are strings, which serde does not take for numbers inside of a tagged enum.
fn numbered<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<i32, i64>, D::Error> {
    let named = BTreeMap::<String, i64>::deserialize(deserializer)?;
    let numbered = named
        .into_iter()
        .map(|(name, value)| Ok((name.parse()?, value)));
    numbered
        .collect::<Result<_, std::num::ParseIntError>>()
        .map_err(serde::de::Error::custom)
}
