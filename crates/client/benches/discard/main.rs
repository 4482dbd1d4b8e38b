//! What the producer costs by itself: against a sink in another process that acknowledges and forgets.
//!
//! `cargo bench -p copart --bench discard -- [RECORDS] [VALUE_BYTES] [PARTITIONS] [CODEC] [BATCH_BYTES]`
//!
//! Prints records per second, and the CPU seconds of this process alone per million records.

#![allow(unreachable_pub, reason = "modules of one program")]

mod sink;

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use copart::{Client, Codec, Delivery, Partitioning, ProducerRecord};

/// As in the comparison with other clients: so many records may be without an outcome.
const UNRESOLVED: usize = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    if let [word, partitions] = arguments.as_slice()
        && word == "sink"
    {
        return sink::run(partitions.parse()?);
    }
    let number = |at: usize, usual: usize| {
        arguments
            .get(at)
            .map_or(Ok(usual), |text| text.parse::<usize>())
    };
    let (records, bytes, partitions) = (number(0, 1_000_000)?, number(1, 100)?, number(2, 12)?);
    let codec: Codec = arguments
        .get(3)
        .map_or(Ok(Codec::None), |text| text.parse())?;
    let batch = number(4, 256 << 10)?;

    let mut child = Command::new(std::env::current_exe()?)
        .args(["sink", &partitions.to_string()])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut address = String::new();
    let output = child.stdout.take().ok_or("the sink has no output")?;
    BufReader::new(output).read_line(&mut address)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let result = runtime.block_on(produce(address.trim(), records, bytes, codec, batch));
    child.kill()?;
    child.wait()?;
    let (wall, cpu) = result?;
    let millions = records as f64 / 1e6;
    println!(
        "{records} records of {bytes} B, {partitions} partitions, {codec}, batches of {batch}: \
         {:.0} krec/s, {:.3} CPU s per million",
        records as f64 / wall.as_secs_f64() / 1e3,
        cpu / millions,
    );
    Ok(())
}

async fn produce(
    address: &str,
    records: usize,
    bytes: usize,
    codec: Codec,
    batch: usize,
) -> Result<(Duration, f64), Box<dyn std::error::Error>> {
    let client = Client::builder(address).connect().await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::like("java")?)
        .compression(codec)
        .batch_size(batch)
        .build()?;
    producer.prepare("bench").await?;
    // Text-like, so that compression has something to do, and not the same each time.
    let mut random = fastrand::Rng::with_seed(1);
    let values: Vec<Vec<u8>> = (0..4096)
        .map(|_| {
            (0..bytes)
                .map(|_| b"etaoin shrdlu0123"[random.usize(..17)])
                .collect()
        })
        .collect();
    let task = tokio::spawn(async move {
        let (start, before) = (Instant::now(), cpu_seconds());
        let mut pending: VecDeque<Delivery> = VecDeque::with_capacity(UNRESOLVED + 1);
        for number in 0..records {
            let key = (number as u64)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .to_be_bytes();
            let mut wide = [0; 16];
            wide[..8].copy_from_slice(&key);
            wide[8..].copy_from_slice(&key);
            let value = &values[number % values.len()];
            let record = ProducerRecord::to("bench").key(wide).value(value);
            pending.push_back(producer.enqueue(record).await?);
            if pending.len() > UNRESOLVED
                && let Some(oldest) = pending.pop_front()
            {
                oldest.await?;
            }
        }
        producer.flush().await?;
        for delivery in pending {
            delivery.await?;
        }
        Ok::<_, copart::Error>((start.elapsed(), cpu_seconds() - before))
    });
    Ok(task.await??)
}

/// Of this process, user and system. In ticks of 10 ms, so let it run for a while.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0u64)
    };
    (ticks(11) + ticks(12)) as f64 / 100.0
}
