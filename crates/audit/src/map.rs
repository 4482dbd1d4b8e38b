//! Every key with the partition each client gives it.

use std::io::{self, Write};

use copart_partitioners::PartitionCount;
use data_encoding::HEXLOWER;

use crate::clients::Client;
use crate::input::{KeyBlock, Source};
use crate::pipeline::{self, Ended, Run};
use crate::plan::{Plan, REJECTED, UNPINNED, code};
use crate::{Error, text};

/// What to list.
#[derive(Clone, Debug)]
pub struct MapOptions {
    /// The clients, in the order of the output.
    pub clients: Vec<Client>,
    /// The partition counts, in the order of the output.
    pub counts: Vec<PartitionCount>,
    /// The form of the output.
    pub format: MapFormat,
}

/// How a mapping is written. Keys come in the order of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapFormat {
    /// A column for each client and count, for people.
    Table,
    /// An object a key: `{"key_hex":"…"|null,"partitions":{"12":{"java":3,"librdkafka":null}}}`.
    /// Clients are named as the user typed them. `null` is an unpinned placement and the string
    /// `"rejected"` says that the client raises.
    Jsonl,
    /// A row for each key, count and client: `key_hex,partitions,client,partition`. A null key and
    /// an unpinned placement are `null`; an empty key's `key_hex` is empty.
    Csv,
}

/// What was mapped.
#[derive(Clone, Copy, Debug)]
pub struct Mapped {
    /// Keys, null keys included.
    pub keys: u64,
    /// The run was interrupted before the end of the input.
    pub partial: bool,
}

/// Writes every key of `source` with its partitions to `out`.
///
/// # Errors
///
/// When a record can't be read (what came before it was written) or `out` fails.
pub fn map(
    source: &Source,
    options: &MapOptions,
    run: &Run<'_>,
    out: &mut dyn Write,
) -> Result<Mapped, Error> {
    let writer = Writer::new(options);
    let mut keys = 0;
    let mut headed = false;
    let ended = pipeline::run(
        source,
        run,
        |scratch: &mut Scratch, block| {
            let mut text = Vec::new();
            writer.block(scratch, block, &mut text);
            (block.len() as u64, text)
        },
        |(count, text), _| {
            if !headed && count > 0 {
                headed = true;
                out.write_all(&writer.header())?;
            }
            keys += count;
            Ok(out.write_all(&text)?)
        },
    )?;
    out.flush()?;
    Ok(Mapped {
        keys,
        partial: ended == Ended::Interrupted,
    })
}

#[derive(Default)]
struct Scratch {
    hashes: Vec<Vec<u32>>,
    /// For each count, for each rule: the codes of the keyed keys of a batch.
    placed: Vec<Vec<Vec<u32>>>,
}

/// Keys placed at a time.
const BATCH: usize = 512;

/// The least width of a table's first column, and how much of a key it shows.
const KEY_WIDTH: usize = 36;

struct Writer<'o> {
    options: &'o MapOptions,
    plan: Plan,
    /// Each client's codes of the empty and the null key, by count.
    empty: Vec<Vec<u32>>,
    null: Vec<Vec<u32>>,
    /// Each client's name, quoted for the format.
    names: Vec<String>,
}

impl<'o> Writer<'o> {
    fn new(options: &'o MapOptions) -> Self {
        let keyless = |key: Option<&[u8]>| {
            let place = |count| {
                options
                    .clients
                    .iter()
                    .map(|c| code(c.profile().place(key, count)))
                    .collect()
            };
            options.counts.iter().map(|&count| place(count)).collect()
        };
        let quoted = |client: &Client| match options.format {
            MapFormat::Jsonl => serde_json::Value::from(client.name()).to_string(),
            MapFormat::Csv if client.name().contains(['"', ',', '\n']) => {
                format!("\"{}\"", client.name().replace('"', "\"\""))
            }
            MapFormat::Csv | MapFormat::Table => client.name().to_owned(),
        };
        Self {
            options,
            plan: Plan::new(&options.clients),
            empty: keyless(Some(&[])),
            null: keyless(None),
            names: options.clients.iter().map(quoted).collect(),
        }
    }

    fn header(&self) -> Vec<u8> {
        match self.options.format {
            MapFormat::Jsonl => Vec::new(),
            MapFormat::Csv => b"key_hex,partitions,client,partition\n".to_vec(),
            MapFormat::Table => {
                let mut header = format!("{:KEY_WIDTH$}", "key");
                for count in &self.options.counts {
                    for name in &self.names {
                        let title = self.title(name, *count);
                        header.push_str("  ");
                        header.push_str(&title);
                    }
                }
                header.push('\n');
                header.into_bytes()
            }
        }
    }

    fn title(&self, name: &str, count: PartitionCount) -> String {
        let several = self.options.counts.len() > 1;
        let title = if several {
            format!("{name}@{count}")
        } else {
            name.to_owned()
        };
        format!("{title:>8}")
    }

    fn block(&self, scratch: &mut Scratch, block: &KeyBlock, out: &mut Vec<u8>) {
        let mut keys: Vec<&[u8]> = Vec::with_capacity(BATCH);
        let mut all = block.keys();
        loop {
            let batch = all.clone().take(BATCH);
            keys.clear();
            keys.extend(batch.clone().flatten().filter(|key| !key.is_empty()));
            self.place(scratch, &keys);
            let mut keyed = 0;
            let before = all.len();
            for key in batch {
                // Writing to a Vec cannot fail.
                let _ = self.key(key, &scratch.placed, keyed, out);
                keyed += usize::from(key.is_some_and(|key| !key.is_empty()));
            }
            if before <= BATCH {
                return;
            }
            all.nth(BATCH - 1);
        }
    }

    fn place(&self, scratch: &mut Scratch, keys: &[&[u8]]) {
        self.plan.hash(keys, &mut scratch.hashes);
        scratch
            .placed
            .resize_with(self.options.counts.len(), Vec::new);
        for (&count, by_rule) in self.options.counts.iter().zip(&mut scratch.placed) {
            by_rule.resize_with(self.plan.rules.len(), Vec::new);
            for (rule, out) in self.plan.rules.iter().zip(by_rule) {
                self.plan.place(*rule, keys, &scratch.hashes, count, out);
            }
        }
    }

    /// Writes one key; a keyed one is number `keyed` of the placed batch.
    fn key(
        &self,
        key: Option<&[u8]>,
        placed: &[Vec<Vec<u32>>],
        keyed: usize,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let code_of = |at_count: usize, client: usize| match key {
            None => self.null[at_count][client],
            Some([]) => self.empty[at_count][client],
            Some(_) => placed[at_count][self.plan.rule_of[client]][keyed],
        };
        match self.options.format {
            MapFormat::Jsonl => self.jsonl(key, code_of, out),
            MapFormat::Csv => self.csv(key, code_of, out),
            MapFormat::Table => self.table(key, code_of, out),
        }
    }

    fn jsonl(
        &self,
        key: Option<&[u8]>,
        code_of: impl Fn(usize, usize) -> u32,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        match key {
            None => out.write_all(b"{\"key_hex\":null,\"partitions\":{")?,
            Some(bytes) => {
                write!(
                    out,
                    "{{\"key_hex\":\"{}\",\"partitions\":{{",
                    HEXLOWER.encode(bytes)
                )?;
            }
        }
        for (i, count) in self.options.counts.iter().enumerate() {
            write!(out, "{}\"{count}\":{{", if i == 0 { "" } else { "," })?;
            for (j, name) in self.names.iter().enumerate() {
                write!(out, "{}{name}:", if j == 0 { "" } else { "," })?;
                match code_of(i, j) {
                    UNPINNED => out.write_all(b"null")?,
                    REJECTED => out.write_all(b"\"rejected\"")?,
                    partition => write!(out, "{partition}")?,
                }
            }
            out.push(b'}');
        }
        out.write_all(b"}}\n")
    }

    fn csv(
        &self,
        key: Option<&[u8]>,
        code_of: impl Fn(usize, usize) -> u32,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let hex = key.map_or("null".to_owned(), |bytes| HEXLOWER.encode(bytes));
        for (i, count) in self.options.counts.iter().enumerate() {
            for (j, name) in self.names.iter().enumerate() {
                writeln!(out, "{hex},{count},{name},{}", shown(code_of(i, j), "null"))?;
            }
        }
        Ok(())
    }

    fn table(
        &self,
        key: Option<&[u8]>,
        code_of: impl Fn(usize, usize) -> u32,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        write!(out, "{:KEY_WIDTH$}", text::key(key, KEY_WIDTH))?;
        for (i, &count) in self.options.counts.iter().enumerate() {
            for (j, name) in self.names.iter().enumerate() {
                let width = self.title(name, count).chars().count();
                write!(out, "  {:>width$}", shown(code_of(i, j), "-"))?;
            }
        }
        out.push(b'\n');
        Ok(())
    }
}

fn shown(code: u32, unpinned: &str) -> String {
    match code {
        UNPINNED => unpinned.to_owned(),
        REJECTED => "rejected".to_owned(),
        partition => partition.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::input::{Format, InputOptions};

    fn mapped(input: &str, format: MapFormat) -> String {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(input.as_bytes()).unwrap();
        let options = InputOptions {
            format: Some(Format::Jsonl),
            ..InputOptions::default()
        };
        let source = Source::open(file.path(), &options).unwrap();
        let options = MapOptions {
            clients: Client::parse_list("java,pykafka/hashing,librdkafka").unwrap(),
            counts: [12, 30]
                .iter()
                .filter_map(|&n| PartitionCount::new(n))
                .collect(),
            format,
        };
        let mut out = Vec::new();
        let run = Run {
            threads: 2,
            interrupted: &AtomicBool::new(false),
        };
        map(&source, &options, &run, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_lines_have_the_documented_form() {
        assert_eq!(
            mapped("null\n\"\"\n\"100:48069\"", MapFormat::Jsonl),
            concat!(
                r#"{"key_hex":null,"partitions":{"12":{"java":null,"pykafka/hashing":"rejected","librdkafka":null},"30":{"java":null,"pykafka/hashing":"rejected","librdkafka":null}}}"#,
                "\n",
                r#"{"key_hex":"","partitions":{"12":{"java":9,"pykafka/hashing":1,"librdkafka":null},"30":{"java":21,"pykafka/hashing":25,"librdkafka":null}}}"#,
                "\n",
                r#"{"key_hex":"3130303a3438303639","partitions":{"12":{"java":9,"pykafka/hashing":10,"librdkafka":6},"30":{"java":27,"pykafka/hashing":28,"librdkafka":24}}}"#,
                "\n",
            )
        );
    }

    #[test]
    fn csv_has_a_row_for_each_placement() {
        let csv = mapped("null\n\"a\"", MapFormat::Csv);
        let rows: Vec<_> = csv.lines().collect();
        assert_eq!(rows.len(), 1 + 2 * 2 * 3);
        assert_eq!(rows[0], "key_hex,partitions,client,partition");
        assert_eq!(rows[2], "null,12,pykafka/hashing,rejected");
        assert!(rows[7].starts_with("61,12,java,"));
    }

    #[test]
    fn long_inputs_keep_their_order() {
        let keys: Vec<String> = (0..50_000).map(|i| format!("\"key-{i}\"")).collect();
        let out = mapped(&keys.join("\n"), MapFormat::Jsonl);
        assert_eq!(out.lines().count(), keys.len());
        for (line, i) in out.lines().zip(0..) {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let key = format!("key-{i}");
            assert_eq!(value["key_hex"], HEXLOWER.encode(key.as_bytes()));
            for client in Client::parse_list("java,librdkafka").unwrap() {
                let n = PartitionCount::new(30).unwrap();
                let want = client.profile().place(Some(key.as_bytes()), n).partition();
                assert_eq!(
                    value["partitions"]["30"][client.name()].as_i64(),
                    want.map(i64::from)
                );
            }
        }
    }

    #[test]
    fn no_keys_write_nothing() {
        for format in [MapFormat::Csv, MapFormat::Table, MapFormat::Jsonl] {
            assert_eq!(mapped("", format), "");
        }
    }
}
