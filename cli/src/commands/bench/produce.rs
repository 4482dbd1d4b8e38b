use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use copart::{Acks, Codec, Delivery, Partitioning, Producer, ProducerRecord};
use copart_audit::Error;
use tokio::sync::mpsc;

use super::measured::{Latencies, Measured, Stopwatch};
use crate::cluster::ClusterArgs;
use crate::commands::produce::{acks, codec};
use crate::exit::Exit;
use crate::plain::Form;
use crate::progress;

/// Write records without keys, spread over all partitions, as fast as they are taken
///
/// Values are letters at random, which compress to about six tenths. The latency is from when a
/// record is handed over to when it is acknowledged: under full load it is mostly the time in the
/// producer's buffer.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Topic to write to; the records stay in it
    #[arg(value_name = "TOPIC")]
    topic: String,

    /// How many records to write
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    records: u64,

    /// Bytes of each value
    #[arg(long, value_name = "BYTES", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    size: u32,

    /// How batches are compressed: none, gzip, snappy, lz4 or zstd
    #[arg(long, value_name = "CODEC", value_parser = codec)]
    compression: Option<Codec>,

    /// How many replicas must have a record: all, 1 or 0 [default: all]
    #[arg(long, value_name = "ACKS", value_parser = acks)]
    acks: Option<Acks>,

    /// How long a batch waits for more records [default: 5]
    #[arg(long, value_name = "MILLISECONDS")]
    linger: Option<u32>,

    /// Bytes after which a batch is closed [default: 262144]
    #[arg(long, value_name = "BYTES")]
    batch_size: Option<usize>,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: Form,

    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let properties = args.cluster.properties()?;
    let measured = args.cluster.run(async |client| {
        let mut builder = client.producer();
        if let Some(properties) = &properties {
            builder = properties.configure(builder);
        }
        if let Some(codec) = args.compression {
            builder = builder.compression(codec);
        }
        if let Some(acks) = args.acks {
            builder = builder.acks(acks).idempotence(acks == Acks::All);
        }
        if let Some(linger) = args.linger {
            builder = builder.linger(Duration::from_millis(linger.into()));
        }
        if let Some(bytes) = args.batch_size {
            builder = builder.batch_size(bytes);
        }
        let producer = builder.partitioner(Partitioning::uniform()).build()?;
        measure(&producer, args).await
    })?;
    measured.print(args.output)
}

async fn measure(producer: &Producer, args: &Args) -> Result<Measured, Error> {
    producer.prepare(&args.topic).await?;
    let interrupted = progress::interruptible();
    let values = values(args.size as usize);
    let (waiting, deliveries) = mpsc::channel(200_000);
    let told = tokio::spawn(wait(deliveries, args.records));
    let watch = Stopwatch::start();
    for value in values.iter().cycle().take(args.records as usize) {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let record = ProducerRecord::to(&args.topic).value(value);
        let delivery = (Instant::now(), producer.enqueue(record).await?);
        if waiting.send(delivery).await.is_err() {
            break;
        }
    }
    drop(waiting);
    let _ = producer.flush().await;
    let (records, failed, latencies) = told.await.map_err(std::io::Error::other)?;
    let took = watch.stop();
    let counts = [records, failed, records * u64::from(args.size)];
    let latency = latencies.percentiles();
    Ok(Measured::new("produce", &args.topic, counts, took, latency))
}

/// Some values, so that a batch does not repeat itself.
fn values(size: usize) -> Vec<Vec<u8>> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut letter = || {
        // xorshift: no more than different letters are asked of it.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        b'a' + (state % 26) as u8
    };
    let count = (1_000_000 / size).clamp(4, 1000);
    (0..count)
        .map(|_| (0..size).map(|_| letter()).collect())
        .collect()
}

async fn wait(
    mut deliveries: mpsc::Receiver<(Instant, Delivery)>,
    records: u64,
) -> (u64, u64, Latencies) {
    let (mut written, mut failed) = (0, 0);
    let mut latencies = Latencies::of(records);
    while let Some((sent, delivery)) = deliveries.recv().await {
        match delivery.await {
            Ok(_) => {
                written += 1;
                latencies.add(sent.elapsed());
            }
            Err(error) => {
                if failed == 0 {
                    errorln!("copart: the first failure: {error}");
                }
                failed += 1;
            }
        }
    }
    (written, failed, latencies)
}
