use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use copart_broker::{Broker, Builder, DirectoryRepair, Durability, Error, ErrorKind};
use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Exit;

/// A Kafka broker for tests and laptops, with nothing else installed.
///
/// When it takes connections it prints one line on standard output, `ready` and the bootstrap
/// addresses (with --registry, `registry` and its URL behind them), and then runs until SIGTERM or
/// Ctrl-C. Its log goes to standard error.
///
/// Several nodes act as one cluster, each on a port of its own: leaders, replicas and epochs move
/// as Kafka moves them. Replication is simulated: there is one copy of the data.
#[derive(clap::Args)]
#[command(after_help = EXIT_HELP)]
pub(crate) struct Args {
    /// Where the first node listens; the others take the next ports; port 0 takes free ones
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9092")]
    listen: String,

    /// What clients are told to connect to, if they reach the broker under another address
    #[arg(long, value_name = "HOST:PORT")]
    advertise: Option<HostPort>,

    /// Keep everything in this directory, which is created if it is not there
    #[arg(long, value_name = "DIR", conflicts_with = "in_memory")]
    data: Option<PathBuf>,

    /// Keep everything in memory, and forget it at the end [default without --data]
    #[arg(long)]
    in_memory: bool,

    /// When a record is acknowledged with acks=all: memory: at once; process: when it is written,
    /// so that it survives the process; disk: when it is synced, so that it survives the machine
    /// [default: disk with --data, else memory]
    #[arg(long, value_enum, value_name = "MODE")]
    durability: Option<Mode>,

    /// How many nodes, with the ids 1, 2 and so on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    nodes: u16,

    /// The racks of the nodes, one for each; consumers with client.rack are sent to theirs
    #[arg(
        long,
        value_name = "RACK,…",
        value_delimiter = ',',
        conflicts_with = "nodes"
    )]
    racks: Vec<String>,

    /// A topic to create, if it is not there
    #[arg(long = "topic", value_name = "NAME:PARTITIONS[:REPLICATION]")]
    topics: Vec<Topic>,

    /// A setting of the broker under Kafka's name, such as auto.create.topics.enable=false
    #[arg(long = "config", value_name = "NAME=VALUE")]
    configs: Vec<Setting>,

    /// Have a Schema Registry too, which speaks HTTP as Confluent's does; port 0 takes a free one
    #[arg(
        long,
        value_name = "HOST:PORT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "127.0.0.1:8081"
    )]
    registry: Option<String>,

    /// The cluster's id, 22 characters of base64 [default: a random one]
    #[arg(long, value_name = "ID")]
    cluster_id: Option<String>,

    /// Look for damage in the data directory, say what a repair would drop, and end
    #[arg(long, requires = "data")]
    repair: bool,

    /// With --repair: repair it, after saying what is dropped; the damaged files are kept beside
    #[arg(long, requires = "repair")]
    execute: bool,

    /// How much to log
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "info")]
    log_level: Level,
}

const EXIT_HELP: &str = "\
Exit codes:
  0    stopped by a signal, and everything is stored; with --repair: no damage, or it is repaired
  1    with --repair: there is damage
  2    the command line makes no sense
  3    a port, the data directory or a file cannot be used";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    Memory,
    Process,
    Disk,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    Error,
    Warn,
    Info,
    Debug,
}

impl From<Level> for tracing::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::ERROR,
            Level::Warn => Self::WARN,
            Level::Info => Self::INFO,
            Level::Debug => Self::DEBUG,
        }
    }
}

#[derive(Clone, Debug)]
struct HostPort {
    host: String,
    port: u16,
}

impl FromStr for HostPort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (host, port) = text
            .rsplit_once(':')
            .ok_or("a host and a port are wanted, such as kafka.test:9092")?;
        let host = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        if host.is_empty() {
            return Err("the host is missing".to_owned());
        }
        Ok(Self {
            host: host.to_owned(),
            port: port
                .parse()
                .map_err(|_| format!("{port:?} is no port: 0 to 65535 is wanted"))?,
        })
    }
}

#[derive(Clone, Debug)]
struct Topic {
    name: String,
    partitions: i32,
    replication: i16,
}

impl FromStr for Topic {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let partitions = parts
            .next()
            .ok_or("the number of partitions is missing: NAME:PARTITIONS is wanted")?;
        let replication = parts.next();
        if parts.next().is_some() {
            return Err("too many colons: NAME:PARTITIONS:REPLICATION is wanted".to_owned());
        }
        Ok(Self {
            name: name.to_owned(),
            partitions: partitions
                .parse()
                .ok()
                .filter(|&count| count > 0)
                .ok_or_else(|| format!("{partitions:?} is no number of partitions"))?,
            replication: match replication {
                None => -1,
                Some(text) => text
                    .parse()
                    .ok()
                    .filter(|&factor| factor > 0)
                    .ok_or_else(|| format!("{text:?} is no replication factor"))?,
            },
        })
    }
}

#[derive(Clone, Debug)]
struct Setting {
    name: String,
    value: String,
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("NAME=VALUE is wanted")?;
        Ok(Self {
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }
}

pub(crate) fn run(args: &Args) -> Exit {
    tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_max_level(tracing::Level::from(args.log_level))
        .with_target(false)
        .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
        .init();
    let result = match &args.data {
        Some(directory) if args.repair => repair(directory, args.execute),
        _ => serve(args),
    };
    match result {
        Ok(exit) => exit,
        Err(error) => {
            errorln!("copart: {error}");
            match error.kind() {
                ErrorKind::InvalidConfig => Exit::USAGE,
                _ => Exit::INPUT,
            }
        }
    }
}

fn repair(directory: &std::path::Path, execute: bool) -> Result<Exit, Error> {
    let found = DirectoryRepair::new(directory)?;
    let damaged = found.plans.len();
    println!("{} logs, {damaged} damaged", found.logs);
    for plan in found.plans {
        print!("{plan}");
        if execute {
            let repaired = plan.carry_out()?;
            println!(
                "  repaired: {} segments written anew, {} offsets dropped",
                repaired.segments, repaired.dropped_offsets
            );
            for kept in &repaired.kept {
                println!("  kept as it was: {}", kept.display());
            }
        }
    }
    if damaged > 0 && !execute {
        println!("nothing was changed; --execute does it");
        return Ok(Exit::DISAGREE);
    }
    Ok(Exit::AGREE)
}

fn serve(args: &Args) -> Result<Exit, Error> {
    allow_many_connections();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::starting("the runtime", error))?;
    let result = runtime.block_on(run_until_stopped(args));
    // What still waits for a client is not worth waiting for.
    runtime.shutdown_background();
    result.map(|()| Exit::AGREE)
}

async fn run_until_stopped(args: &Args) -> Result<(), Error> {
    // Before the ready line: who reads it may send the signal at once.
    let listening = |kind| signal(kind).map_err(|error| Error::starting("signal handling", error));
    let mut terminated = listening(SignalKind::terminate())?;
    let mut interrupted = listening(SignalKind::interrupt())?;
    let broker = builder(args)?.start().await?;
    say_ready(&broker).map_err(|error| Error::starting("standard output", error))?;
    tokio::select! {
        _ = terminated.recv() => {}
        _ = interrupted.recv() => {}
    }
    tracing::info!("stopping; a second signal ends at once");
    tokio::select! {
        result = broker.stop() => result,
        _ = terminated.recv() => std::process::exit(130),
        _ = interrupted.recv() => std::process::exit(130),
    }
}

fn say_ready(broker: &Broker) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match broker.registry() {
        None => writeln!(out, "ready {}", broker.bootstrap())?,
        Some(url) => writeln!(out, "ready {} registry {url}", broker.bootstrap())?,
    }
    out.flush()
}

fn builder(args: &Args) -> Result<Builder, Error> {
    let mut builder = Broker::builder().listen(resolve("--listen", &args.listen)?);
    if let Some(HostPort { host, port }) = &args.advertise {
        builder = builder.advertise(host, *port);
    }
    builder = match &args.data {
        Some(directory) => builder.data(directory),
        None => builder.in_memory(),
    };
    if let Some(mode) = args.durability {
        builder = builder.durability(match mode {
            Mode::Memory => Durability::Memory,
            Mode::Process => Durability::Process,
            Mode::Disk => Durability::Disk,
        });
    }
    builder = if args.racks.is_empty() {
        builder.nodes(args.nodes.into())
    } else {
        builder.racks(&args.racks)
    };
    for topic in &args.topics {
        builder = builder.replicated_topic(&topic.name, topic.partitions, topic.replication);
    }
    for setting in &args.configs {
        builder = builder.config(&setting.name, &setting.value);
    }
    if let Some(address) = &args.registry {
        builder = builder.registry(resolve("--registry", address)?);
    }
    if let Some(id) = &args.cluster_id {
        builder = builder.cluster_id(id);
    }
    Ok(builder)
}

fn resolve(option: &str, address: &str) -> Result<SocketAddr, Error> {
    let resolved = address
        .to_socket_addrs()
        .map_err(|error| Error::invalid(format!("{option} {address}: {error}")))?
        .next();
    resolved.ok_or_else(|| Error::invalid(format!("{option} {address} has no address")))
}

/// Each connection takes a file descriptor, and so does each log.
fn allow_many_connections() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Without it the broker takes fewer connections, which is logged then.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            ..limit
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_topics_and_addresses() {
        let topic: Topic = "page-views:8:3".parse().expect("valid");
        let read = (topic.name.as_str(), topic.partitions, topic.replication);
        assert_eq!(read, ("page-views", 8, 3));
        assert_eq!("a:1".parse::<Topic>().expect("valid").replication, -1);
        for wrong in ["a", "a:", "a:0", "a:-1", "a:x", "a:1:0", "a:1:1:1"] {
            wrong.parse::<Topic>().expect_err(wrong);
        }
        let address: HostPort = "[::1]:9092".parse().expect("valid");
        assert_eq!((address.host.as_str(), address.port), ("::1", 9092));
        for wrong in ["9092", ":9092", "host:", "host:70000"] {
            wrong.parse::<HostPort>().expect_err(wrong);
        }
    }
}
