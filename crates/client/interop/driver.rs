//! Does with this client what each line of the input asks for: client-driver BOOTSTRAP. The requests are those of
//! `tests/interop/clients/README.md`, as far as `tests/interop/places` and `tests/interop/mixed` need them.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::time::Duration;

use copart::{Client, Commit, Consumer, Header, Partitioning, ProducerRecord};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let bootstrap = std::env::args().nth(1);
    let bootstrap = bootstrap.ok_or("usage: client-driver BOOTSTRAP")?;
    let client = Client::builder(bootstrap).connect().await?;
    let mut members = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let answer = match act(&client, &mut members, &request).await {
            Ok(result) => json!({ "ok": result }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        let mut output = std::io::stdout().lock();
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

async fn act(
    client: &Client,
    members: &mut HashMap<String, Consumer>,
    request: &Value,
) -> Result<Value, Failure> {
    match text(&request["op"])? {
        "hello" => Ok(json!({ "version": env!("CARGO_PKG_VERSION"), "lacks": {} })),
        "produce" => produce(client, request).await,
        "enter" => enter(client, members, request),
        "poll" => poll(member(members, request)?, request).await,
        "commit" => {
            member(members, request)?.commit().await?;
            Ok(Value::Null)
        }
        "exit" => {
            let member = members.remove(text(&request["member"])?);
            let member = member.ok_or("no such member")?;
            member.close(Duration::from_secs(10)).await?;
            Ok(Value::Null)
        }
        other => Err(format!("no operation {other}").into()),
    }
}

async fn produce(client: &Client, request: &Value) -> Result<Value, Failure> {
    let topic = text(&request["topic"])?;
    let producer = client
        .producer()
        .partitioner(Partitioning::like(text(&request["partitioner"])?)?)
        .build()?;
    let records = request["records"].as_array().ok_or("no records")?;
    let mut deliveries = Vec::new();
    for record in records {
        let headers = record["headers"].as_array().ok_or("no headers")?;
        let headers: Vec<_> = headers
            .iter()
            .map(|header| Ok((text(&header[0])?, bytes(&header[1])?)))
            .collect::<Result<_, Failure>>()?;
        let headers = headers.iter().map(|(name, value)| Header {
            key: name.as_bytes(),
            value: value.as_deref(),
        });
        let mut sent = ProducerRecord::to(topic)
            .key(bytes(&record["key"])?)
            .value(bytes(&record["value"])?)
            .headers(headers);
        if let Some(timestamp) = record["timestamp"].as_i64() {
            sent = sent.timestamp(timestamp);
        }
        if let Some(partition) = record["partition"].as_i64() {
            sent = sent.partition(partition.try_into()?);
        }
        deliveries.push(producer.enqueue(sent).await?);
    }
    producer.flush().await?;
    let mut placed = Vec::new();
    for delivery in deliveries {
        let receipt = delivery.await?;
        placed.push(json!({ "partition": receipt.partition, "offset": receipt.offset }));
    }
    producer.close(Duration::from_secs(10)).await;
    Ok(Value::Array(placed))
}

fn enter(
    client: &Client,
    members: &mut HashMap<String, Consumer>,
    request: &Value,
) -> Result<Value, Failure> {
    let protocol = match text(&request["protocol"])? {
        "consumer" => copart::GroupProtocol::Consumer,
        _ => copart::GroupProtocol::Classic,
    };
    let mut builder = client
        .consumer(text(&request["group"])?)
        .topic(text(&request["topic"])?)
        .protocol(protocol)
        .commit(Commit::Manual);
    if let Some(instance) = request["instance"].as_str() {
        builder = builder.instance_id(instance);
    }
    members.insert(text(&request["member"])?.to_owned(), builder.build()?);
    Ok(Value::Null)
}

fn member<'a>(
    members: &'a mut HashMap<String, Consumer>,
    request: &Value,
) -> Result<&'a mut Consumer, Failure> {
    let member = members.get_mut(text(&request["member"])?);
    member.ok_or_else(|| "no such member".into())
}

/// What comes within so many seconds.
async fn poll(consumer: &mut Consumer, request: &Value) -> Result<Value, Failure> {
    let seconds = request["seconds"].as_u64().ok_or("no seconds")?;
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut records = Vec::new();
    while let Ok(received) = timeout_at(until, consumer.recv()).await {
        let batch = received.ok_or("the consumer has ended")??;
        for record in batch.records() {
            records.push(json!([record.partition(), record.offset()]));
        }
        batch.done();
    }
    let assigned = consumer.assignment();
    let assigned: Vec<_> = assigned.iter().map(|one| one.partition).collect();
    Ok(json!({ "records": records, "assigned": assigned }))
}

fn text(value: &Value) -> Result<&str, Failure> {
    value
        .as_str()
        .ok_or_else(|| format!("{value} is no text").into())
}

/// Hexadecimal, or null.
fn bytes(value: &Value) -> Result<Option<Vec<u8>>, Failure> {
    if value.is_null() {
        return Ok(None);
    }
    Ok(Some(
        data_encoding::HEXLOWER_PERMISSIVE.decode(text(value)?.as_bytes())?,
    ))
}
