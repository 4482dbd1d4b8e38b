use copart::{Client, End, Start};
use copart_audit::Error;

use super::measured::{Measured, Stopwatch};
use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::plain::Form;

/// Read a topic from its beginning to its end, without a group
///
/// Each record is looked at: its key's and its value's bytes are counted.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Topic to read
    #[arg(value_name = "TOPIC")]
    topic: String,

    /// Stop after so many records [default: all that are there]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    records: Option<u64>,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: Form,

    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let properties = args.cluster.properties()?;
    let measured = args.cluster.run(async |client: Client| {
        let mut builder = client.reader();
        if let Some(properties) = &properties {
            builder = properties.configure_reader(builder);
        }
        let builder = builder.topic(args.topic.as_str()).start(Start::Earliest);
        let watch = Stopwatch::start();
        let mut reader = builder.until(End::Latest).build().await?;
        let (mut records, mut bytes) = (0, 0);
        let wanted = args.records.unwrap_or(u64::MAX);
        while records < wanted
            && let Some(batch) = reader.recv().await
        {
            for record in batch?.records() {
                records += 1;
                bytes +=
                    record.key().map_or(0, <[u8]>::len) + record.value().map_or(0, <[u8]>::len);
            }
        }
        let counts = [records, 0, bytes as u64];
        Ok(Measured::new(
            "consume",
            &args.topic,
            counts,
            watch.stop(),
            None,
        ))
    })?;
    measured.print(args.output)
}
