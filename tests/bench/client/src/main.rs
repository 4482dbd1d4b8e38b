//! The clients of the client bench: the same work by each of them, and a sink to do it against.
//!
//! `copart-client-bench produce|consume CLIENT --bootstrap HOST:PORT …` prints one JSON object.
//! `copart-client-bench sink …` prints where it listens, and serves until it is killed.

mod copart_client;
mod krafka_client;
mod rdkafka_client;
mod report;
mod rskafka_client;
mod sink;
mod workload;

use clap::{Parser, Subcommand, ValueEnum};

use crate::workload::Workload;

pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Writes records to a topic that is there
    Produce {
        client: Client,
        #[command(flatten)]
        workload: Workload,
    },
    /// Reads so many records of all partitions from their start
    Consume {
        client: Client,
        #[command(flatten)]
        workload: Workload,
    },
    /// Acknowledges what is produced and forgets it; gives consumers the same batches again and again
    Sink {
        #[command(flatten)]
        workload: Workload,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Client {
    Copart,
    /// rdkafka's BaseProducer and BaseConsumer, its cheapest
    Rdkafka,
    /// rdkafka's FutureProducer and StreamConsumer
    RdkafkaFuture,
    Krafka,
    Rskafka,
}

fn main() -> Outcome<()> {
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
    };
    let report = match Arguments::parse().action {
        Action::Sink { workload } => return sink::run(&workload),
        Action::Produce { client, workload } => match client {
            Client::Copart => runtime()?.block_on(copart_client::produce(workload))?,
            Client::Rdkafka => rdkafka_client::produce(&workload)?,
            Client::RdkafkaFuture => {
                runtime()?.block_on(rdkafka_client::produce_async(workload))?
            }
            Client::Krafka => runtime()?.block_on(krafka_client::produce(workload))?,
            Client::Rskafka => runtime()?.block_on(rskafka_client::produce(workload))?,
        },
        Action::Consume { client, workload } => match client {
            Client::Copart => runtime()?.block_on(copart_client::consume(workload))?,
            Client::Rdkafka => rdkafka_client::consume(&workload)?,
            Client::RdkafkaFuture => {
                runtime()?.block_on(rdkafka_client::consume_async(workload))?
            }
            Client::Krafka => runtime()?.block_on(krafka_client::consume(workload))?,
            Client::Rskafka => runtime()?.block_on(rskafka_client::consume(workload))?,
        },
    };
    println!("{report}");
    Ok(())
}
