//! Arguments that several commands share.

use std::num::NonZero;
use std::path::PathBuf;
use std::thread;

use clap::ValueEnum;
use copart_audit::input::{Format, InputOptions, KeyEncoding, KeyFrame, KeySerializer, Source};
use copart_audit::verify::UnpinnedPolicy;
use copart_audit::{Client, EXACT_KEYS, Error, MAX_EXACT_KEYS, Run};
use copart_partitioners::PartitionCount;
use copart_serializers::Part;

use crate::cluster::{ClusterArgs, needs_topic};
use crate::progress;
use crate::typed::Typed;

/// The keys and how to read them.
#[derive(clap::Args)]
pub(crate) struct KeyArgs {
    /// File of keys, or - for standard input; gzip and zstd are read as they are
    #[arg(value_name = "KEYS")]
    path: PathBuf,

    /// How keys are laid out: lines, nul, csv, tsv or jsonl [default: by the file's name, else
    /// lines]
    ///
    /// lines: a key a line, byte for byte; an empty line is an empty key. nul: keys end with a NUL
    /// byte. csv, tsv: a column of each row. jsonl: a string, whole number or null of each line.
    #[arg(long, value_name = "FORMAT", help_heading = "Input")]
    format: Option<Format>,

    /// Where the key is: a column's name or its number from 1 (csv, tsv), or a JSON pointer such
    /// as /user/id (jsonl) [default: the only column; the value itself or its member "key"]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    field: Option<String>,

    /// How a key's text becomes the bytes that are hashed: utf8 (as it stands), hex, base64,
    /// int32, int32-le, int64, int64-le, uuid-text, uuid-upper, uuid-plain, uuid-bytes,
    /// uuid-dotnet
    ///
    /// int32 and int64 are big-endian, as Java's serializers write them.
    #[arg(long, value_name = "ENCODING", default_value_t, help_heading = "Input")]
    key_encoding: KeyEncoding,

    /// Schema of the keys, whose text is JSON then: a file of Avro, or with --key-message a Protobuf
    /// descriptor set
    ///
    /// A key is what a producer's serializer makes of the value: Avro's binary form, of text in
    /// Avro's JSON encoding; or the Protobuf message, of text in Protobuf's JSON mapping. Put a
    /// schema registry's frame in front with --key-frame add-id=N.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "key_encoding",
        help_heading = "Input"
    )]
    key_schema: Option<PathBuf>,

    /// Full name of the keys' message in the descriptor set: package.Message
    #[arg(
        long,
        value_name = "NAME",
        requires = "key_schema",
        help_heading = "Input"
    )]
    key_message: Option<String>,

    /// What happens to the schema registry's frame in front of each key, which is hashed with it:
    /// keep, strip-confluent, strip-apicurio, strip-glue, replace-id=N or add-id=N
    ///
    /// strip-confluent takes off 00 and the schema's id in 4 bytes, strip-apicurio 00 and an id in 8
    /// bytes, strip-glue 03, the compression and a UUID, 18 bytes, and decompresses. replace-id puts
    /// another id into Confluent's frame, add-id puts that frame in front of keys that have none. A
    /// key that has no such frame stops the run.
    #[arg(long, value_name = "FRAME", default_value_t, help_heading = "Input")]
    key_frame: KeyFrame,

    /// The text that stands for a null key in lines, nul, csv and tsv; a null key is not an empty
    /// one
    #[arg(long, value_name = "TEXT", help_heading = "Input")]
    null_value: Option<String>,

    /// The first row of csv or tsv is data, not column names
    #[arg(long, help_heading = "Input")]
    no_header: bool,

    /// What a jsonl record without the field is
    #[arg(
        long,
        value_enum,
        default_value = "error",
        value_name = "WHAT",
        help_heading = "Input"
    )]
    missing: Missing,

    /// Worker threads [default: one for each core]
    #[arg(long, value_name = "N", help_heading = "Running")]
    threads: Option<NonZero<usize>>,

    /// Show no progress line, even on a terminal
    #[arg(short, long, help_heading = "Running")]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Missing {
    /// Stop: the field's name may be wrong
    Error,
    /// A null key
    Null,
}

impl KeyArgs {
    pub(crate) fn open(&self) -> Result<Source, Error> {
        self.open_counted(None)
    }

    /// Opens the input, where `count_field` says how many records a key stands for.
    pub(crate) fn open_counted(&self, count_field: Option<&str>) -> Result<Source, Error> {
        let options = InputOptions {
            format: self.format,
            field: self.field.clone(),
            count_field: count_field.map(str::to_owned),
            encoding: self.key_encoding,
            serializer: self.serializer()?,
            frame: self.key_frame,
            null_value: self.null_value.clone(),
            no_header: self.no_header,
            missing_is_null: self.missing == Missing::Null,
        };
        Source::open(&self.path, &options)
    }

    fn serializer(&self) -> Result<Option<KeySerializer>, Error> {
        let Some(path) = &self.key_schema else {
            return Ok(None);
        };
        let typed = Typed::open(path, self.key_message.as_deref(), Part::Key)?;
        typed.key_order()?;
        Ok(Some(KeySerializer::new(move |text, out| {
            typed.serialize(text, out)
        })))
    }

    /// Runs `work` on all cores with a progress line; Ctrl-C ends it early.
    pub(crate) fn run<T>(&self, source: &Source, work: impl FnOnce(&Run<'_>) -> T) -> T {
        let run = Run {
            threads: self
                .threads
                .or(thread::available_parallelism().ok())
                .map_or(1, NonZero::get),
            interrupted: progress::interruptible(),
        };
        progress::shown(source, self.quiet, || work(&run))
    }
}

/// How keys are weighed.
#[derive(clap::Args)]
pub(crate) struct WeightArgs {
    /// Where the number of records is that a key stands for: a column (csv, tsv) or a JSON pointer
    /// (jsonl) [default: each key is one record]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub(crate) count_field: Option<String>,

    /// Distinct keys to count exactly; of more, a uniform sample is counted
    ///
    /// Records are counted exactly in any case. A million distinct keys take about 80 MiB.
    #[arg(long, value_name = "N", default_value_t = EXACT_KEYS, value_parser = exact_keys, help_heading = "Running")]
    pub(crate) exact_keys: usize,
}

fn exact_keys(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|keys| (1..=MAX_EXACT_KEYS).contains(keys))
        .ok_or_else(|| format!("it is a number from 1 to {MAX_EXACT_KEYS}"))
}

/// The partition counts.
#[derive(clap::Args)]
pub(crate) struct CountArgs {
    /// Partition count of the topic; several, separated by commas, are answered one by one
    #[arg(short, long, value_name = "N", required_unless_present = "topic", value_delimiter = ',', value_parser = partition_count)]
    partitions: Vec<PartitionCount>,

    /// Topic whose partition count is taken from the cluster; counts of -p come after it
    #[arg(long, value_name = "TOPIC", help_heading = "Cluster")]
    topic: Option<String>,

    #[command(flatten)]
    cluster: ClusterArgs,
}

impl CountArgs {
    /// The counts, each once. Asks the cluster, if a topic is named.
    pub(crate) fn counts(&self) -> Result<Vec<PartitionCount>, Error> {
        let live = self.topic.as_deref();
        needs_topic(&self.cluster, live)?;
        let live = live
            .map(|topic| self.cluster.partition_count(topic))
            .transpose()?;
        let mut counts = Vec::new();
        for count in live.into_iter().chain(self.partitions.iter().copied()) {
            if !counts.contains(&count) {
                counts.push(count);
            }
        }
        Ok(counts)
    }
}

/// The clients and partition counts.
#[derive(clap::Args)]
pub(crate) struct ClientArgs {
    #[command(flatten)]
    counts: CountArgs,

    /// Clients separated by commas; the first is the reference
    ///
    /// A bare name is what the client does with nothing configured; client/partitioner names a
    /// partitioner and @version a release: kafkajs@1.16, librdkafka/murmur2_random. A profile of
    /// your own: hash=murmur2,reduce=mask,null=random,empty=hash. `copart clients` lists all.
    #[arg(
        long,
        value_name = "CLIENT,…",
        default_value = "java,ruby-kafka,librdkafka"
    )]
    clients: String,
}

impl ClientArgs {
    pub(crate) fn clients(&self) -> Result<Vec<Client>, Error> {
        Client::parse_list(&self.clients)
    }

    /// The counts, each once. Asks the cluster, if a topic is named.
    pub(crate) fn counts(&self) -> Result<Vec<PartitionCount>, Error> {
        self.counts.counts()
    }
}

/// What keys count as that nobody pins.
pub(crate) fn unpinned_policy(text: &str) -> Result<UnpinnedPolicy, String> {
    match text {
        "report" => Ok(UnpinnedPolicy::Report),
        "fail" => Ok(UnpinnedPolicy::Fail),
        "skip" => Ok(UnpinnedPolicy::Skip),
        _ => Err("it is report, fail or skip".into()),
    }
}

pub(crate) fn partition_count(text: &str) -> Result<PartitionCount, String> {
    text.trim()
        .parse()
        .ok()
        .and_then(PartitionCount::new)
        .ok_or_else(|| format!("a topic has 1 to {} partitions", i32::MAX))
}
