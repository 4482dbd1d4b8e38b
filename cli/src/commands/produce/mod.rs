mod format;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use copart::{
    Acks, Client, Codec, Delivery, Header, Partitioning, Producer, ProducerRecord, Properties,
    Receipt,
};
use copart_audit::Error;
use copart_audit::input::KeyEncoding;
use copart_audit::input::outgoing::{
    BadOutgoing, Outgoing, OutgoingFormat, OutgoingOptions, OutgoingRecord,
};
use copart_serializers::Part;
use format::{Encoder, FormatArgs};
use indicatif::ProgressBar;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::plain::{self, Form};
use crate::progress;

/// Write records to a topic: lines, CSV or JSON lines
///
/// Clients of Kafka disagree on where a key goes, so --partitioner has to be there: whose rule is
/// to hold? It is not needed if every record names its partition, or the properties file has one.
///
/// A record that cannot be read or is not delivered is reported with its line; the others are
/// written all the same. Exits with 0 when all were written, with 3 when some could not be read,
/// with 5 when some were not delivered, with 4 when there were none.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Topic to write to
    #[arg(value_name = "TOPIC")]
    topic: String,

    /// File of records, or - for standard input; gzip and zstd are read as they are
    #[arg(value_name = "RECORDS", default_value = "-")]
    path: PathBuf,

    /// Whose rule places keys: java, ruby-kafka, librdkafka, murmur2_random, … (`copart clients`);
    /// or uniform, sticky, round-robin, random: keys are ignored
    #[arg(long, value_name = "CLIENT", value_parser = partitioning)]
    partitioner: Option<Named>,

    /// How records are laid out: lines, csv, tsv or jsonl [default: by the file's name, else lines]
    ///
    /// lines: a value a line, or key and value with --delimiter between. csv, tsv: columns key,
    /// value, partition, timestamp and header:NAME. jsonl: objects with key, value (or payload),
    /// partition, timestamp (or ts) and headers, as `kcat -J` prints them.
    #[arg(long, value_name = "FORMAT", help_heading = "Input")]
    format: Option<OutgoingFormat>,

    /// What stands between key and value in lines; \t is a tab
    #[arg(long, value_name = "TEXT", help_heading = "Input")]
    delimiter: Option<String>,

    /// The text that stands for null in lines, csv and tsv
    #[arg(long, value_name = "TEXT", help_heading = "Input")]
    null_marker: Option<String>,

    /// How a key's text becomes its bytes: utf8, hex, base64, int32, int64, uuid-bytes, …
    #[arg(long, value_name = "ENCODING", default_value_t, help_heading = "Input")]
    key_encoding: KeyEncoding,

    /// How a value's text becomes its bytes
    #[arg(long, value_name = "ENCODING", default_value_t, help_heading = "Input")]
    value_encoding: KeyEncoding,

    /// Leave the partitions that records name to the partitioner
    #[arg(long, requires = "partitioner", help_heading = "Input")]
    ignore_partitions: bool,

    /// A header for every record; can be given more than once
    #[arg(long, value_name = "NAME=VALUE", value_parser = header)]
    header: Vec<(String, String)>,

    /// How batches are compressed: none, gzip, snappy, lz4 or zstd [default: none]
    #[arg(long, value_name = "CODEC", value_parser = codec)]
    compression: Option<Codec>,

    /// How many replicas must have a record: all, 1 or 0 [default: all]
    #[arg(long, value_name = "ACKS", value_parser = acks)]
    acks: Option<Acks>,

    /// How long a record may take to be delivered, with all tries [default: 120]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    delivery_timeout: Option<u32>,

    /// Form of the answer: a line on standard error, or a document on standard output
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: Form,

    /// Show no progress line, even on a terminal
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    formats: FormatArgs,

    #[command(flatten)]
    cluster: ClusterArgs,
}

const EXAMPLES: &str = "\
Examples:
  echo 'customer-1:{\"item\":7}' | copart produce orders --delimiter : --partitioner java --bootstrap HOST:9092
  copart produce orders orders.csv --partitioner ruby-kafka --compression zstd --bootstrap HOST:9092
  copart produce orders orders.jsonl --properties client.properties
  copart produce orders orders.txt --value-format avro --registry http://HOST:8081 --partitioner java --bootstrap HOST:9092
  kcat -b OLD -C -t orders -e -J | copart produce orders --format jsonl --bootstrap NEW:9092";

/// A partitioner, in a form that clap can keep.
#[derive(Clone)]
pub(crate) struct Named(pub(crate) Partitioning);

pub(crate) fn partitioning(text: &str) -> Result<Named, String> {
    Ok(Named(match text {
        "uniform" => Partitioning::uniform(),
        "sticky" => Partitioning::sticky(),
        "round-robin" => Partitioning::round_robin(),
        "random" => Partitioning::random(),
        name => Partitioning::like(name).map_err(|error| error.reason().to_owned())?,
    }))
}

pub(crate) fn codec(text: &str) -> Result<Codec, String> {
    match text {
        "none" => Ok(Codec::None),
        "gzip" => Ok(Codec::Gzip),
        "snappy" => Ok(Codec::Snappy),
        "lz4" => Ok(Codec::Lz4),
        "zstd" => Ok(Codec::Zstd),
        _ => Err("it is none, gzip, snappy, lz4 or zstd".into()),
    }
}

pub(crate) fn acks(text: &str) -> Result<Acks, String> {
    match text {
        "all" | "-1" => Ok(Acks::All),
        "1" => Ok(Acks::Leader),
        "0" => Ok(Acks::None),
        _ => Err("it is all, 1 or 0".into()),
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it is NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let properties = args.cluster.properties()?;
    let options = OutgoingOptions {
        format: args.format,
        delimiter: args
            .delimiter
            .as_deref()
            .map(|text| text.replace("\\t", "\t")),
        null: args.null_marker.clone(),
        key_encoding: args.key_encoding,
        value_encoding: args.value_encoding,
    };
    for (part, encoding) in [
        (Part::Key, args.key_encoding),
        (Part::Value, args.value_encoding),
    ] {
        if args.formats.is_text(part) && encoding != KeyEncoding::default() {
            return Err(Error::usage(format!(
                "--{part}-encoding is for --{part}-format bytes"
            )));
        }
    }
    // Before the cluster is asked: what is wrong here is quicker to find.
    let mut encoder = args.formats.encoder(&args.topic)?;
    let input = Outgoing::open(&args.path, &options)?;
    let started = Instant::now();
    let report = args.cluster.run(async |client| {
        let producer = producer(&client, args, properties.as_ref())?;
        encoder.prepare().await?;
        write(&producer, args, &encoder, input).await
    })?;
    report.print(args, started.elapsed())?;
    Ok(report.exit())
}

fn producer(
    client: &Client,
    args: &Args,
    properties: Option<&Properties>,
) -> Result<Producer, Error> {
    let mut builder = client.producer();
    let mut partitioning = args.partitioner.clone().map(|named| named.0);
    if let Some(properties) = properties {
        builder = properties.configure(builder);
        partitioning = partitioning.or_else(|| properties.partitioning());
    }
    if let Some(codec) = args.compression {
        builder = builder.compression(codec);
    }
    if let Some(acks) = args.acks {
        builder = builder.acks(acks).idempotence(acks == Acks::All);
    }
    if let Some(seconds) = args.delivery_timeout {
        builder = builder.delivery_timeout(Duration::from_secs(seconds.into()));
    }
    // Without one, a record that names no partition is refused, and the error says why.
    let partitioning = partitioning.unwrap_or_else(Partitioning::manual);
    Ok(builder.partitioner(partitioning).build()?)
}

/// What became of the records.
#[derive(Default)]
struct Report {
    partitions: BTreeMap<i32, Written>,
    /// Lines that could not be read.
    unread: u64,
    /// Records that were not written, or may not have been.
    undelivered: u64,
    /// Records that were refused before they were sent: no partition, too large.
    refused: u64,
    interrupted: bool,
}

struct Written {
    records: u64,
    first: Option<i64>,
    last: Option<i64>,
}

impl Report {
    fn written(&mut self, receipt: &Receipt) {
        let partition = self.partitions.entry(receipt.partition);
        let partition = partition.or_insert(Written {
            records: 0,
            first: receipt.offset,
            last: None,
        });
        partition.records += 1;
        partition.last = receipt.offset.max(partition.last);
    }

    fn records(&self) -> u64 {
        self.partitions
            .values()
            .map(|partition| partition.records)
            .sum()
    }

    fn exit(&self) -> Exit {
        if self.interrupted {
            Exit::INTERRUPTED
        } else if self.undelivered > 0 {
            Exit::CLUSTER
        } else if self.unread + self.refused > 0 {
            Exit::INPUT
        } else if self.partitions.is_empty() {
            Exit::INCONCLUSIVE
        } else {
            Exit::AGREE
        }
    }

    fn print(&self, args: &Args, took: Duration) -> Result<(), Error> {
        let failed = self.unread + self.refused + self.undelivered;
        if args.output == Form::Json {
            return plain::json(&Document {
                schema: "copart.produce/1",
                topic: &args.topic,
                records: self.records(),
                failed,
                partial: self.interrupted,
                seconds: took.as_secs_f64(),
                partitions: self
                    .partitions
                    .iter()
                    .map(|(&partition, written)| DocumentPartition {
                        partition,
                        records: written.records,
                        first_offset: written.first,
                        last_offset: written.last,
                    })
                    .collect(),
            });
        }
        let records = self.records();
        errorln!(
            "copart: {records} records written to {} partitions of {}, {failed} failed, in {:.1} s ({:.0} a second){}",
            self.partitions.len(),
            args.topic,
            took.as_secs_f64(),
            records as f64 / took.as_secs_f64().max(1e-6),
            if self.interrupted {
                "; interrupted"
            } else {
                ""
            }
        );
        Ok(())
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    topic: &'a str,
    records: u64,
    failed: u64,
    partial: bool,
    seconds: f64,
    partitions: Vec<DocumentPartition>,
}

#[derive(Serialize)]
struct DocumentPartition {
    partition: i32,
    records: u64,
    first_offset: Option<i64>,
    last_offset: Option<i64>,
}

/// Deliveries that are waited for. More are in the producer's memory only if records are tiny.
const WAITING: usize = 100_000;

async fn write(
    producer: &Producer,
    args: &Args,
    encoder: &Encoder,
    input: Outgoing,
) -> Result<Report, Error> {
    producer.prepare(&args.topic).await?;
    let bar = bar(args, input.size());
    let progress = input.progress();
    let mut records = reading(input);
    let (waiting, deliveries) = mpsc::channel(WAITING);
    let told = tokio::spawn(tell(deliveries));
    let mut unread = 0;
    let mut refused = 0;
    let mut fatal = None;
    let mut interrupted = false;
    let stop = progress::stopped();
    tokio::pin!(stop);
    loop {
        let next = tokio::select! {
            next = records.recv() => next,
            () = &mut stop => {
                interrupted = true;
                break;
            }
        };
        let record = match next {
            None => break,
            Some(Ok(Ok(mut record))) => match encoder.encode(&mut record) {
                Ok(()) => record,
                Err(what) => {
                    unread += 1;
                    errorln!("copart: line {}: {what}", record.line);
                    continue;
                }
            },
            Some(Ok(Err(bad))) => {
                unread += 1;
                errorln!("copart: line {}: {}", bad.line, bad.what);
                continue;
            }
            Some(Err(error)) => {
                fatal = Some(error);
                break;
            }
        };
        if let Some(bar) = &bar {
            bar.set_position(progress.bytes());
        }
        match enqueue(producer, args, &record).await {
            Ok(delivery) => {
                if waiting.send((record.line, delivery)).await.is_err() {
                    break;
                }
            }
            Err(error) if error.is_fatal() => {
                fatal = Some(error.into());
                break;
            }
            Err(error) => {
                refused += 1;
                errorln!(
                    "copart: line {}: {}",
                    record.line,
                    explained(&error, &record, args)
                );
            }
        }
    }
    // What was taken is delivered, whatever ended the reading.
    drop(waiting);
    let _ = producer.flush().await;
    let mut report = told.await.unwrap_or_default();
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    report.unread = unread;
    report.refused = refused;
    report.interrupted = interrupted;
    match fatal {
        Some(error) => Err(error),
        None => Ok(report),
    }
}

type Read = Result<Result<OutgoingRecord, BadOutgoing>, Error>;

/// Reads on a thread of its own: standard input may take its time, and Ctrl-C must not wait for it.
fn reading(mut input: Outgoing) -> mpsc::Receiver<Read> {
    let (sender, records) = mpsc::channel(1000);
    std::thread::spawn(move || {
        while let Some(read) = input.next_record().transpose() {
            let ends = read.is_err();
            if sender.blocking_send(read).is_err() || ends {
                break;
            }
        }
    });
    records
}

/// Waits for deliveries, in order, and says which failed.
async fn tell(mut deliveries: mpsc::Receiver<(u64, Delivery)>) -> Report {
    let mut report = Report::default();
    while let Some((line, delivery)) = deliveries.recv().await {
        match delivery.await {
            Ok(receipt) => report.written(&receipt),
            Err(error) => {
                report.undelivered += 1;
                errorln!("copart: line {line}: {error}");
            }
        }
    }
    report
}

async fn enqueue(
    producer: &Producer,
    args: &Args,
    record: &OutgoingRecord,
) -> copart::Result<Delivery> {
    let own = record.headers.iter().map(|(name, value)| Header {
        key: name.as_bytes(),
        value: value.as_deref(),
    });
    let common = args
        .header
        .iter()
        .map(|(name, value)| Header::new(name, value.as_bytes()));
    let mut outgoing = ProducerRecord::to(&args.topic)
        .key(record.key.as_deref())
        .value(record.value.as_deref())
        .headers(own.chain(common));
    if let Some(partition) = record.partition.filter(|_| !args.ignore_partitions) {
        outgoing = outgoing.partition(partition);
    }
    if let Some(timestamp) = record.timestamp {
        outgoing = outgoing.timestamp(timestamp);
    }
    producer.enqueue(outgoing).await
}

fn explained(error: &copart::Error, record: &OutgoingRecord, args: &Args) -> String {
    let is_unplaced = error.kind() == copart::ErrorKind::Partitioning && record.partition.is_none();
    if is_unplaced && args.partitioner.is_none() {
        return format!(
            "{}: --partitioner says whose rule places keys, such as --partitioner java",
            error.reason()
        );
    }
    error.to_string()
}

fn bar(args: &Args, size: Option<u64>) -> Option<ProgressBar> {
    let shown = !args.quiet && std::io::stderr().is_terminal();
    shown.then(|| progress::new_bar(size))
}
