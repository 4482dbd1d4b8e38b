//! copart's typed producer and consumer, as one of the programs that `run` sets beside each other.
//!
//! `serializers-peer produce|consume BOOTSTRAP REGISTRY avro|protobuf|json TOPIC COUNT [no-index]`
//!
//! `produce` writes orders of the first version of the schema. `consume` reads them as orders of the second, and prints
//! each as a line of JSON. `no-index`: the writer leaves Protobuf's message indexes out.

use std::error::Error;

use copart::serializers::registry::Registry;
use copart::serializers::schema::IndexForm;
use copart::serializers::{Avro, Deserialize, Int64, JsonSchema, Protobuf, Serialize};
use copart::{Client, Partitioning, ProducerRecord};
use serde_json::json;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const AVRO_1: &str = include_str!("schemas/order-1.avsc");
const AVRO_2: &str = include_str!("schemas/order-2.avsc");
const PROTO_1: &str = include_str!("schemas/order-1.proto");
const JSON_1: &str = include_str!("schemas/order-1.json");
const JSON_2: &str = include_str!("schemas/order-2.json");

#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
struct Order1 {
    #[prost(int64, tag = "1")]
    id: i64,
    #[prost(string, tag = "2")]
    customer: String,
    #[prost(string, optional, tag = "3")]
    note: Option<String>,
    #[prost(double, tag = "5")]
    price: f64,
    #[prost(string, repeated, tag = "6")]
    tags: Vec<String>,
}

/// A field has another name, and one is new.
#[derive(serde::Deserialize)]
struct Order2 {
    id: i64,
    #[serde(alias = "customer")]
    buyer: String,
    note: Option<String>,
    price: f64,
    tags: Vec<String>,
    #[serde(default = "seven")]
    rating: i32,
}

fn seven() -> i32 {
    7
}

#[derive(Clone, PartialEq, prost::Message)]
struct Message2 {
    #[prost(int64, tag = "1")]
    id: i64,
    #[prost(string, tag = "2")]
    buyer: String,
    #[prost(string, optional, tag = "3")]
    note: Option<String>,
    #[prost(int32, tag = "4")]
    rating: i32,
    #[prost(double, tag = "5")]
    price: f64,
    #[prost(string, repeated, tag = "6")]
    tags: Vec<String>,
}

impl From<Message2> for Order2 {
    fn from(message: Message2) -> Self {
        let Message2 {
            id,
            buyer,
            note,
            rating,
            price,
            tags,
        } = message;
        Self {
            id,
            buyer,
            note,
            price,
            tags,
            rating,
        }
    }
}

fn order(number: i64) -> Order1 {
    Order1 {
        id: number * 1_000_003 - 5,
        customer: format!("Żaneta {number}"),
        note: (number % 2 == 1).then(|| format!("note {number}")),
        price: number as f64 * 0.25,
        tags: (0..number % 3).map(|tag| format!("tag-{tag}")).collect(),
    }
}

struct Peer {
    client: Client,
    topic: String,
    count: i64,
}

impl Peer {
    async fn produce(&self, value: impl for<'a> Serialize<&'a Order1>) -> Outcome {
        let producer = self
            .client
            .producer()
            .partitioner(Partitioning::like("java")?);
        let producer = producer.build()?.typed(Int64, value);
        for number in 0..self.count {
            let order = order(number);
            let record = ProducerRecord::to(&self.topic).key(number).value(&order);
            producer.send(record).await?;
        }
        Ok(())
    }

    async fn consume<V>(&self, value: V) -> Outcome
    where
        V: Deserialize + 'static,
        V::Value: Into<Order2>,
    {
        let group = format!("copart-{}", self.topic);
        let consumer = self
            .client
            .consumer(group)
            .topic(self.topic.as_str())
            .build()?;
        let mut consumer = consumer.typed(Int64, value);
        let mut seen = 0;
        while seen < self.count {
            let Some(batch) = consumer.recv().await else {
                break;
            };
            for record in batch? {
                let (key, order, raw) = record.into_parts();
                let Order2 {
                    id,
                    buyer,
                    note,
                    price,
                    tags,
                    rating,
                } = order.into();
                let line = json!({
                    "key": key, "id": id, "buyer": buyer, "note": note, "price": price, "tags": tags, "rating": rating,
                });
                println!("{line}");
                raw.done();
                seen += 1;
            }
        }
        consumer.close(std::time::Duration::from_secs(10)).await?;
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, bootstrap, registry, format, topic, count, rest @ ..] = arguments.as_slice() else {
        return Err("usage: serializers-peer produce|consume BOOTSTRAP REGISTRY FORMAT TOPIC COUNT [no-index]".into());
    };
    let registry = Registry::builder(registry).build()?;
    let indexes = if rest.iter().any(|word| word == "no-index") {
        IndexForm::Absent
    } else {
        IndexForm::ZigZag
    };
    let peer = Peer {
        client: Client::builder(bootstrap).connect().await?,
        topic: topic.clone(),
        count: count.parse()?,
    };
    match (mode.as_str(), format.as_str()) {
        ("produce", "avro") => {
            let avro = registry.serializer(Avro::<Order1>::new(AVRO_1)?);
            peer.produce(avro.register_schemas()).await
        }
        ("produce", "protobuf") => {
            let protobuf = Protobuf::<Order1>::described(PROTO_1, "shop.Order", [0]);
            peer.produce(registry.serializer(protobuf).register_schemas())
                .await
        }
        ("produce", "json") => {
            let json = registry.serializer(JsonSchema::<Order1>::new(JSON_1)?);
            peer.produce(json.register_schemas()).await
        }
        ("consume", "avro") => {
            peer.consume(registry.deserializer(Avro::<Order2>::new(AVRO_2)?))
                .await
        }
        ("consume", "protobuf") => {
            let protobuf = registry.deserializer(Protobuf::<Message2>::new());
            peer.consume(protobuf.message_indexes(indexes)).await
        }
        ("consume", "json") => {
            peer.consume(registry.deserializer(JsonSchema::<Order2>::new(JSON_2)?))
                .await
        }
        _ => Err("produce or consume; avro, protobuf or json".into()),
    }
}
