use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use copart::{Client, ClientBuilder};
use copart_audit::check::{Cluster, Contract, InitOptions, Written, check, init};
use copart_audit::input::records::RecordSource;
use copart_audit::live::{self, LiveOptions, LiveTopic};
use copart_audit::output::Output;
use copart_audit::{Error, Run};
use copart_partitioners::PartitionCount;

use super::print;
use crate::args::partition_count;
use crate::exit::Exit;
use crate::records::RecordArgs;

/// Does this repository keep its partition contract?
///
/// The contract, copart.toml, says which topics the repository writes, with how many partitions and
/// by which rule, and names sample keys. Each producer's client and release are read from its lock
/// file, so that an upgrade that moves keys is found before it runs. If the contract names a cluster,
/// the topics are looked up there and a sample of their records is read; nothing is written. If it
/// names dumps of records, those are read too. Everything that is wrong is said at once, with file
/// and line.
///
/// Lock files: package-lock.json, yarn.lock, pnpm-lock.yaml, Gemfile.lock, go.mod, requirements.txt,
/// Pipfile.lock, poetry.lock, uv.lock, pom.xml, gradle.lockfile, Cargo.lock, mix.lock, composer.lock
/// and packages.lock.json. The format of the contract is in the book: docs/src/cli/check.md.
///
/// Exits with 0 when the contract is kept, 1 when something is not as it says, 2 when the contract
/// makes no sense, 3 when a file that it names can't be read, 4 when something could not be told,
/// 5 when the cluster can't be asked.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The contract
    #[arg(value_name = "CONTRACT", default_value = "copart.toml")]
    contract: PathBuf,

    /// Write a contract from a topic's records, or from a dump of them, in place of checking one
    #[arg(long)]
    init: bool,

    /// The topic to check, if not all; with --init, the topic that the contract is for
    #[arg(long, value_name = "TOPIC", value_delimiter = ',')]
    topic: Vec<String>,

    /// With --init: file of records, or - for standard input; gzip and zstd are read as they are
    #[arg(long, value_name = "DUMP", requires = "init")]
    input: Option<PathBuf>,

    /// With --init and --input: the topic's partition count [default: one that fits the records]
    #[arg(short, long, value_name = "N", requires = "init", value_parser = partition_count)]
    partitions: Option<PartitionCount>,

    /// With --init: how many sample keys to take
    #[arg(long, value_name = "N", default_value = "20", requires = "init")]
    keys: NonZero<u16>,

    /// Brokers of the cluster to compare with, in place of those that the contract names
    #[arg(long, value_name = "HOST:PORT,…", help_heading = "Cluster")]
    bootstrap: Option<String>,

    /// Leave the cluster out, whatever the contract says
    #[arg(long, conflicts_with_all = ["bootstrap", "init"], help_heading = "Cluster")]
    offline: bool,

    /// How long to wait for the cluster: for a connection, and for each answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Cluster")]
    timeout: u32,

    /// Form of the report: table, json, jsonl, csv, markdown, junit, sarif, github or html
    #[arg(short, long, value_name = "FORM", default_value_t = Output::Table)]
    output: Output,

    #[command(flatten)]
    dump: RecordArgs,
}

const EXAMPLES: &str = "\
Examples:
  copart check
  copart check services/orders/copart.toml --output github
  copart check --offline --output junit >copart.xml
  copart check --init --bootstrap HOST:9092 --topic orders
  copart check --init --input orders.jsonl --topic orders -p 12";

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    if args.init {
        return write(args);
    }
    let mut contract = Contract::read(&args.contract)?;
    if !args.topic.is_empty() {
        contract.keep_topics(&args.topic)?;
    }
    let bootstrap = args.bootstrap.as_deref().or(contract.bootstrap());
    let mut live = bootstrap.filter(|_| !args.offline).map(|bootstrap| Live {
        bootstrap: bootstrap.to_owned(),
        timeout: Duration::from_secs(args.timeout.into()),
    });
    let run = args.dump.running();
    let cluster = live
        .as_mut()
        .map(|live| live as &mut (dyn Cluster + 'static));
    let report = check(&contract, cluster, &run);
    print(args.output, &report, report.partial)?;
    Ok(Exit::of(report.exit_code()))
}

/// Writes a contract; one that is there already is not touched.
fn write(args: &Args) -> Result<Exit, Error> {
    let run = args.dump.running();
    let [topic] = args.topic.as_slice() else {
        return Err(Error::usage(
            "--init needs --topic: the one topic that the contract is for",
        ));
    };
    let options = InitOptions {
        topic: topic.clone(),
        partitions: args.partitions,
        bootstrap: args.bootstrap.clone(),
        keys: args.keys.get().into(),
    };
    if args.contract.exists() {
        return Err(Error::usage(format!(
            "{} is there already; name another file, or remove it",
            args.contract.display()
        )));
    }
    let written = match (&args.input, &args.bootstrap) {
        (Some(_), Some(_)) => {
            return Err(Error::usage(
                "--init reads --input or, with --bootstrap, the topic; not both",
            ));
        }
        (Some(input), None) => {
            let mut dump = args.dump.open(input)?;
            args.dump.run(&mut [&mut dump], |dumps, run| {
                begin(dumps[0], &options, args, run)
            })?
        }
        (None, Some(bootstrap)) => {
            let mut live = Live {
                bootstrap: bootstrap.clone(),
                timeout: Duration::from_secs(args.timeout.into()),
            };
            let mut source = live.open(topic, LiveOptions::default().records)?;
            begin(&mut source, &options, args, &run)?
        }
        (None, None) => {
            return Err(Error::usage(
                "--init needs --bootstrap or --input: where the records are",
            ));
        }
    };
    match written {
        Written::Contract(text) => {
            save(&args.contract, &text)?;
            println!("{}", args.contract.display());
            Ok(Exit::AGREE)
        }
        // What infer says is why there is no contract.
        Written::Undecided(report) => {
            print(args.output, &*report, report.partial)?;
            errorln!(
                "copart: no contract was written: it would have to name the one rule that places the keys"
            );
            Ok(match report.exit_code() {
                0 => Exit::INCONCLUSIVE,
                code => Exit::of(code),
            })
        }
    }
}

fn begin(
    source: &mut dyn RecordSource,
    options: &InitOptions,
    args: &Args,
    run: &Run<'_>,
) -> Result<Written, Error> {
    let folder = args
        .contract
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    init(source, options, folder.unwrap_or(Path::new(".")), run)
}

/// Never over a file that came to be there in between.
fn save(path: &Path, text: &str) -> Result<(), Error> {
    let named = |e: std::io::Error| match e.kind() {
        ErrorKind::AlreadyExists => Error::usage(format!("{} is there already", path.display())),
        _ => Error::from(std::io::Error::new(
            e.kind(),
            format!("{}: {e}", path.display()),
        )),
    };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(named)?;
    file.write_all(text.as_bytes()).map_err(named)
}

/// The cluster, a connection for each question.
struct Live {
    bootstrap: String,
    timeout: Duration,
}

impl Live {
    fn client(&self) -> ClientBuilder {
        Client::builder(&self.bootstrap)
            .client_id("copart-audit")
            .connect_timeout(self.timeout)
            .request_timeout(self.timeout)
    }

    fn open(&mut self, topic: &str, records: u64) -> Result<LiveTopic, Error> {
        let how = LiveOptions {
            records,
            timeout: self.timeout,
            ..LiveOptions::default()
        };
        LiveTopic::open(self.client(), topic, &how)
    }
}

impl Cluster for Live {
    fn name(&self) -> &str {
        &self.bootstrap
    }

    fn partition_count(&mut self, topic: &str) -> Result<PartitionCount, Error> {
        live::partition_count(self.client(), topic, self.timeout)
    }

    fn records(&mut self, topic: &str, records: u64) -> Result<Box<dyn RecordSource>, Error> {
        Ok(Box::new(self.open(topic, records)?))
    }
}
