//! Serializing and producing an order of ten fields: copart's Avro and Protobuf serializers with a registry's framing
//! beside apache-avro and prost used by hand with the same framing, through the same producer and to the same broker,
//! in alternation.
//!
//! `cargo bench -p copart-tests --bench serializers [-- ROUNDS=15 RECORDS=100000]`
//!
//! Prints the time of a record, medians and minima, and how they compare. It passes no judgement: noise is for a
//! person to judge.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use apache_avro::writer::datum::GenericDatumWriter;
use copart::serializers::registry::{FramedSerializer, Registry};
use copart::serializers::{Avro, Context, Format, Protobuf, Serialize, Utf8};
use copart::{Client, Partitioning, Producer, ProducerRecord, TypedProducer};
use copart_broker::Broker;
use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const TOPIC: &str = "orders";
/// What the registry calls every schema.
const ID: u32 = 7;

const SCHEMA: &str = r#"{"type":"record","name":"Order","fields":[
    {"name":"id","type":"long"},
    {"name":"customer","type":"string"},
    {"name":"item","type":"int"},
    {"name":"quantity","type":"int"},
    {"name":"price","type":"double"},
    {"name":"paid","type":"boolean"},
    {"name":"currency","type":"string"},
    {"name":"note","type":["null","string"]},
    {"name":"tags","type":{"type":"array","items":"string"}},
    {"name":"time","type":"long"}]}"#;

const PROTO: &str = r#"syntax = "proto3";
message Order {
  int64 id = 1; string customer = 2; int32 item = 3; int32 quantity = 4; double price = 5;
  bool paid = 6; string currency = 7; optional string note = 8; repeated string tags = 9; int64 time = 10;
}"#;

#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
struct Order {
    #[prost(int64, tag = "1")]
    id: i64,
    #[prost(string, tag = "2")]
    customer: String,
    #[prost(int32, tag = "3")]
    item: i32,
    #[prost(int32, tag = "4")]
    quantity: i32,
    #[prost(double, tag = "5")]
    price: f64,
    #[prost(bool, tag = "6")]
    paid: bool,
    #[prost(string, tag = "7")]
    currency: String,
    #[prost(string, optional, tag = "8")]
    note: Option<String>,
    #[prost(string, repeated, tag = "9")]
    tags: Vec<String>,
    #[prost(int64, tag = "10")]
    time: i64,
}

fn orders(count: usize) -> Vec<Order> {
    let order = |number: usize| Order {
        id: number as i64 * 7919,
        customer: format!("customer-{}", number % 977),
        item: (number % 5000) as i32,
        quantity: (number % 9) as i32 + 1,
        price: number as f64 * 0.25,
        paid: number.is_multiple_of(3),
        currency: "EUR".to_owned(),
        note: number
            .is_multiple_of(4)
            .then(|| "leave at the door".to_owned()),
        tags: (0..number % 3).map(|tag| format!("tag-{tag}")).collect(),
        time: 1_764_000_000_000 + number as i64,
    };
    (0..count).map(order).collect()
}

/// A registry that has every schema, under one id.
async fn registry() -> Outcome<Registry> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = [0; 1 << 16];
                while stream.read(&mut request).await.is_ok_and(|read| read > 0) {
                    let body = format!(r#"{{"id":{ID}}}"#);
                    let answer = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                        body.len()
                    );
                    let _ = stream.write_all(answer.as_bytes()).await;
                    let _ = stream.shutdown().await;
                }
            });
        }
    });
    Ok(Registry::builder(&format!("http://{address}")).build()?)
}

/// How one of the programs writes a value.
trait ByHand {
    fn write(&self, order: &Order, out: &mut Vec<u8>);
}

struct ApacheAvro(GenericDatumWriter<'static>);

impl ByHand for ApacheAvro {
    fn write(&self, order: &Order, out: &mut Vec<u8>) {
        self.0.write_ser(out, order).expect("writes");
    }
}

struct Prost;

impl ByHand for Prost {
    fn write(&self, order: &Order, out: &mut Vec<u8>) {
        // The place of the first message of a file, as Java writes it.
        out.push(0);
        order.encode(out).expect("a Vec takes any length");
    }
}

fn frame(by_hand: &impl ByHand, order: &Order, out: &mut Vec<u8>) {
    out.clear();
    out.push(0);
    out.extend(ID.to_be_bytes());
    by_hand.write(order, out);
}

async fn produce_by_hand(
    producer: &Producer,
    by_hand: &impl ByHand,
    orders: &[Order],
) -> Outcome<Duration> {
    let mut value = Vec::new();
    let start = Instant::now();
    for order in orders {
        frame(by_hand, order, &mut value);
        let record = ProducerRecord::to(TOPIC).key(&order.customer).value(&value);
        drop(producer.enqueue(record).await?);
    }
    producer.flush().await?;
    Ok(start.elapsed())
}

async fn produce_typed<F>(
    producer: &TypedProducer<Utf8, FramedSerializer<F>>,
    orders: &[Order],
) -> Outcome<Duration>
where
    FramedSerializer<F>: Format + for<'a> Serialize<&'a Order>,
{
    let start = Instant::now();
    for order in orders {
        let record = ProducerRecord::to(TOPIC).key(&order.customer).value(order);
        drop(producer.enqueue(record).await?);
    }
    producer.flush().await?;
    Ok(start.elapsed())
}

/// Times without a producer.
fn write_by_hand(by_hand: &impl ByHand, orders: &[Order]) -> Duration {
    let mut value = Vec::new();
    let start = Instant::now();
    for order in orders {
        frame(by_hand, order, &mut value);
        black_box(&value);
    }
    start.elapsed()
}

fn write_typed(format: &impl Serialize<Order>, orders: &[Order]) -> Duration {
    let (mut value, context) = (Vec::new(), Context::value(TOPIC));
    let start = Instant::now();
    for order in orders {
        value.clear();
        format.append(&context, order, &mut value).expect("writes");
        black_box(&value);
    }
    start.elapsed()
}

/// Medians and minima of one way, in nanoseconds for a record.
struct Times(Vec<f64>);

impl Times {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn add(&mut self, time: Duration, records: usize) {
        self.0.push(time.as_nanos() as f64 / records as f64);
    }

    fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn minimum(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

fn print(what: &str, by_hand: &Times, ours: &Times) {
    let (hand, copart) = (
        (by_hand.median(), by_hand.minimum()),
        (ours.median(), ours.minimum()),
    );
    println!(
        "| {what} | {:.0} ({:.0}) | {:.0} ({:.0}) | {:.2} ({:.2}) |",
        hand.0,
        hand.1,
        copart.0,
        copart.1,
        copart.0 / hand.0,
        copart.1 / hand.1,
    );
}

async fn compare<F>(
    name: &str,
    by_hand: impl ByHand,
    typed: FramedSerializer<F>,
    (client, orders, rounds): (&Client, &[Order], usize),
) -> Outcome
where
    FramedSerializer<F>: Format + Serialize<Order> + for<'a> Serialize<&'a Order>,
{
    let producer = || {
        let producer = client.producer().partitioner(Partitioning::like("java")?);
        producer.build()
    };
    let context = Context::value(TOPIC);
    if let Some(preparation) = typed.prepare(&context, None) {
        preparation.await?;
    }
    // The same bytes, or the comparison is none.
    let mut expected = Vec::new();
    for order in orders.iter().take(100) {
        frame(&by_hand, order, &mut expected);
        let written = typed.to_vec(&context, order)?;
        assert_eq!(written.as_deref(), Some(&expected[..]), "{name}");
    }
    let (mut alone, mut ours_alone) = (Times::new(), Times::new());
    for _ in 0..rounds {
        alone.add(write_by_hand(&by_hand, orders), orders.len());
        ours_alone.add(write_typed(&typed, orders), orders.len());
    }
    print(&format!("{name}, serialize"), &alone, &ours_alone);
    let plain = producer()?;
    let typed = producer()?.typed(Utf8, typed);
    plain.prepare(TOPIC).await?;
    typed.prepare(TOPIC).await?;
    let (mut hand, mut ours) = (Times::new(), Times::new());
    for round in 0..rounds {
        // Whoever comes second finds the caches warm.
        for first in [round % 2 == 0, round % 2 == 1] {
            if first {
                hand.add(
                    produce_by_hand(&plain, &by_hand, orders).await?,
                    orders.len(),
                );
            } else {
                ours.add(produce_typed(&typed, orders).await?, orders.len());
            }
        }
    }
    print(&format!("{name}, serialize and produce"), &hand, &ours);
    Ok(())
}

#[tokio::main]
async fn main() -> Outcome {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse().ok());
    let rounds = numbers.next().unwrap_or(15);
    let orders = orders(numbers.next().unwrap_or(100_000));
    let registry = registry().await?;
    // Kept in memory, and not for long.
    let broker = Broker::builder()
        .config("log.retention.bytes", "104857600")
        .topic(TOPIC, 6)
        .start()
        .await?;
    let client = Client::builder(broker.bootstrap()).connect().await?;
    let with = (&client, &orders[..], rounds);
    println!(
        "ns for each of {} records, median (minimum) of {rounds} rounds",
        orders.len()
    );
    println!();
    println!("| what | by hand | copart | ratio |");
    println!("|---|---|---|---|");

    // For as long as the program runs, as a program that cares about time has it.
    let schema: &'static apache_avro::Schema =
        Box::leak(Box::new(apache_avro::Schema::parse_str(SCHEMA)?));
    let by_hand = ApacheAvro(GenericDatumWriter::builder(schema).build()?);
    let ours = registry
        .serializer(Avro::<Order>::new(SCHEMA)?)
        .register_schemas();
    compare("Avro", by_hand, ours, with).await?;

    let described = Protobuf::<Order>::described(PROTO, "Order", [0]);
    let ours = registry.serializer(described).register_schemas();
    compare("Protobuf", Prost, ours, with).await?;
    Ok(())
}
