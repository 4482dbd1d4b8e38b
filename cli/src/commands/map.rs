use std::io::{self, BufWriter};

use clap::ValueEnum;
use copart_audit::{Error, MapFormat, MapOptions, map};

use crate::args::{ClientArgs, KeyArgs};
use crate::exit::Exit;

/// List every key with the partition each client gives it.
///
/// Keys come in the order of the input. jsonl has an object a key:
/// {"key_hex":"…"|null,"partitions":{"12":{"java":3,"librdkafka":null}}}, clients named as you
/// typed them, null for a placement that is not fixed (random, sticky, round-robin) and "rejected"
/// where the client raises. csv has the columns key_hex,partitions,client,partition, with null for
/// a null key and for a placement that is not fixed.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    clients: ClientArgs,

    /// Form of the listing
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: Form,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    Table,
    Jsonl,
    Csv,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let options = MapOptions {
        clients: args.clients.clients()?,
        counts: args.clients.counts()?,
        format: match args.output {
            Form::Table => MapFormat::Table,
            Form::Jsonl => MapFormat::Jsonl,
            Form::Csv => MapFormat::Csv,
        },
    };
    let source = args.keys.open()?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mapped = args
        .keys
        .run(&source, |run| map(&source, &options, run, &mut out))?;
    if mapped.partial {
        errorln!("copart: interrupted; the listing covers the beginning of the input only");
        return Ok(Exit::INTERRUPTED);
    }
    if mapped.keys == 0 {
        errorln!("copart: {}: there are no keys", source.name());
        return Ok(Exit::INCONCLUSIVE);
    }
    Ok(Exit::AGREE)
}
