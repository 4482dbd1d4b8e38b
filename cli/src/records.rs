//! Arguments of commands that read records with their partitions.

use std::num::NonZero;
use std::path::Path;
use std::thread;

use copart_audit::input::KeyEncoding;
use copart_audit::input::records::{Dump, DumpFormat, DumpOptions, KcatFormat};
use copart_audit::{Error, Run};

use crate::progress;

/// How to read dumps of topics, and how to run.
#[derive(clap::Args)]
pub(crate) struct RecordArgs {
    /// What printed the records: kcat, jsonl (kcat -J too), console, csv or tsv [default: by the
    /// file's name, or kcat if --kcat-format is there]
    ///
    /// kcat: `kcat -C -f FORMAT`, with that string in --kcat-format. jsonl: `kcat -C -J`, or any
    /// object a line. console: kafka-console-consumer with print.partition=true and
    /// print.key=true, better print.offset and print.timestamp too. csv, tsv: with a column for the
    /// partition.
    #[arg(long, value_name = "FORMAT", help_heading = "Input")]
    format: Option<DumpFormat>,

    /// The string that kcat was given with -f, such as '%p %o %T %K %k\n'; %K tells null keys from
    /// empty ones and lets keys hold anything
    #[arg(long, value_name = "STRING", help_heading = "Input")]
    kcat_format: Option<KcatFormat>,

    /// Where the key is: a column or a JSON pointer [default: key, /key]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    field: Option<String>,

    /// Where the partition is [default: partition, /partition]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    partition_field: Option<String>,

    /// Where the offset is [default: offset, /offset, if there is one]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    offset_field: Option<String>,

    /// Where the timestamp in milliseconds is [default: timestamp or ts, if there is one]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    timestamp_field: Option<String>,

    /// Where the producer's name is, whatever says who wrote the record [default: client_id,
    /// producer_id or producer, if there is one]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    producer_field: Option<String>,

    /// How a key's text becomes its bytes: utf8 (as it stands), hex, base64, int32, int32-le,
    /// int64, int64-le, uuid-text, uuid-upper, uuid-plain, uuid-bytes, uuid-dotnet
    #[arg(long, value_name = "ENCODING", default_value_t, help_heading = "Input")]
    key_encoding: KeyEncoding,

    /// The text that stands for a null key [default: null for console; none for the others]
    #[arg(long, value_name = "TEXT", help_heading = "Input")]
    null_value: Option<String>,

    /// What stands between the console consumer's fields (key.separator) [default: a tab]
    #[arg(long, value_name = "TEXT", help_heading = "Input")]
    separator: Option<String>,

    /// The console consumer printed headers (print.headers=true)
    #[arg(long, help_heading = "Input")]
    headers: bool,

    /// Worker threads [default: one for each core]
    #[arg(long, value_name = "N", help_heading = "Running")]
    threads: Option<NonZero<usize>>,

    /// Show no progress line, even on a terminal
    #[arg(short, long, help_heading = "Running")]
    quiet: bool,
}

impl RecordArgs {
    pub(crate) fn open(&self, path: &Path) -> Result<Dump, Error> {
        let options = DumpOptions {
            format: self.format,
            kcat_format: self.kcat_format.clone(),
            key_field: self.field.clone(),
            partition_field: self.partition_field.clone(),
            offset_field: self.offset_field.clone(),
            timestamp_field: self.timestamp_field.clone(),
            producer_field: self.producer_field.clone(),
            encoding: self.key_encoding,
            null_value: self.null_value.clone(),
            separator: self.separator.clone(),
            console_headers: self.headers,
        };
        Dump::open(path, &options)
    }

    /// How to run; Ctrl-C ends it early.
    pub(crate) fn running(&self) -> Run<'static> {
        Run {
            threads: self
                .threads
                .or(thread::available_parallelism().ok())
                .map_or(1, NonZero::get),
            interrupted: progress::interruptible(),
        }
    }

    /// Runs `work` with a progress line over these dumps; Ctrl-C ends it early.
    pub(crate) fn run<T>(
        &self,
        dumps: &mut [&mut Dump],
        work: impl FnOnce(&mut [&mut Dump], &Run<'_>) -> T,
    ) -> T {
        let run = self.running();
        let inputs: Vec<_> = dumps
            .iter()
            .map(|dump| (dump.progress(), dump.size()))
            .collect();
        progress::shown_over(inputs, self.quiet, || work(dumps, &run))
    }
}
