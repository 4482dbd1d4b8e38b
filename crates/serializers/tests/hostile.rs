//! Bytes that nobody meant well with, read by every format: no panic, no memory beyond what the bytes account for, no
//! nesting that ends the process. One test, because the allocator counts for the whole process.
#![cfg(all(
    feature = "avro",
    feature = "protobuf-dynamic",
    feature = "json-schema"
))]

use std::alloc::System;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use copart_serializers::schema::{Frame, IndexForm, MessageIndex, ReadEvolved, Schema, SchemaType};
use copart_serializers::{
    Avro, AvroValue, Context, Deserialize, Error, ErrorKind, Json, JsonSchema, List, Optional,
    Payload, Protobuf, ProtobufDynamic, Serialize, Utf8,
};
use prost::Message;
use prost_reflect::{DescriptorPool, ReflectMessage};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Recursive, with a collection of each kind. `next` is the place to nest in.
const TREE: &str = r#"{"type":"record","name":"Tree","fields":[
    {"name":"id","type":"long"},
    {"name":"name","type":"string"},
    {"name":"next","type":["null","Tree"]},
    {"name":"children","type":{"type":"array","items":"Tree"}},
    {"name":"labels","type":{"type":"map","values":"string"}},
    {"name":"kind","type":{"type":"enum","name":"Kind","symbols":["A","B"]}},
    {"name":"hash","type":{"type":"fixed","name":"Hash","size":4}},
    {"name":"blob","type":"bytes"},
    {"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}}]}"#;

/// What another version reads of it: a field fewer, one more, one with another name.
const OTHER_TREE: &str = r#"{"type":"record","name":"Tree","fields":[
    {"name":"id","type":"double"},
    {"name":"title","type":"string","aliases":["name"]},
    {"name":"next","type":["null","Tree"]},
    {"name":"children","type":{"type":"array","items":"Tree"}},
    {"name":"labels","type":{"type":"map","values":"string"}},
    {"name":"rating","type":"int","default":7}]}"#;

#[derive(serde::Serialize, serde::Deserialize)]
struct Tree {
    id: i64,
    name: String,
    next: Option<Box<Tree>>,
    children: Vec<Tree>,
    labels: BTreeMap<String, String>,
    #[serde(default)]
    note: Option<String>,
}

/// As the schema has it, so that it is read without a value in between.
#[derive(serde::Deserialize)]
#[serde(rename = "Tree")]
#[expect(dead_code, reason = "it is only built")]
struct WholeTree {
    id: i64,
    name: String,
    next: Option<Box<WholeTree>>,
    children: Vec<WholeTree>,
    labels: BTreeMap<String, String>,
    kind: Kind,
}

#[derive(serde::Deserialize)]
enum Kind {
    A,
    B,
}

#[derive(serde::Deserialize)]
#[expect(dead_code, reason = "it is only built")]
struct OtherTree {
    id: f64,
    title: String,
    next: Option<Box<OtherTree>>,
    children: Vec<OtherTree>,
    labels: BTreeMap<String, String>,
    rating: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Node {
    #[prost(int64, tag = "1")]
    id: i64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(message, optional, boxed, tag = "3")]
    next: Option<Box<Node>>,
    #[prost(message, repeated, tag = "4")]
    children: Vec<Node>,
    #[prost(btree_map = "string, string", tag = "5")]
    labels: BTreeMap<String, String>,
    #[prost(int64, repeated, packed = "true", tag = "6")]
    numbers: Vec<i64>,
    #[prost(bytes = "vec", tag = "7")]
    blob: Vec<u8>,
}

/// How much memory reading some bytes may ask for, all in all: this much at any rate, and so much for each byte.
struct Bound {
    at_least: usize,
    per_byte: usize,
}

type Read = Box<dyn Fn(&[u8]) -> Result<(), Error>>;

struct Target {
    name: &'static str,
    bound: Bound,
    read: Read,
    /// Bytes that it reads.
    seeds: Vec<Vec<u8>>,
}

fn value() -> Context<'static> {
    Context::value("orders")
}

fn target<D: Deserialize + 'static>(
    name: &'static str,
    per_byte: usize,
    format: D,
    seeds: Vec<Vec<u8>>,
) -> Target {
    let bound = Bound {
        // An error with its text, a tree's root, a validator's scratch.
        at_least: 16 << 10,
        per_byte,
    };
    let read = move |bytes: &[u8]| {
        let read = format.read(&value(), Some(Payload::new(bytes)));
        read.map(drop)
    };
    Target {
        name,
        bound,
        read: Box::new(read),
        seeds,
    }
}

/// Reads what was written with another schema.
struct Evolved<F: ReadEvolved> {
    format: F,
    writer: F::Writer,
}

impl<F: ReadEvolved> copart_serializers::Format for Evolved<F> {}

impl<F: ReadEvolved> Deserialize for Evolved<F> {
    type Value = F::Value;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<F::Value, Error> {
        let index = MessageIndex::none();
        self.format
            .read_evolved(context, &self.writer, &index, payload)
    }
}

/// Takes the schema's id and the message's place off.
struct Framed(Option<IndexForm>);

impl copart_serializers::Format for Framed {}

impl Deserialize for Framed {
    type Value = usize;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<usize, Error> {
        Frame::read(context, payload, self.0).map(|frame| frame.payload.len())
    }
}

fn tree(depth: usize) -> Tree {
    Tree {
        id: depth as i64 * 1_000_003,
        name: "tree ".repeat(depth),
        next: (depth > 0).then(|| Box::new(tree(depth - 1))),
        children: (0..depth % 3).map(|_| tree(depth / 2)).collect(),
        labels: BTreeMap::from([("where".to_owned(), "forest".to_owned())]),
        note: None,
    }
}

fn node(depth: usize) -> Node {
    Node {
        id: depth as i64 * 1_000_003,
        name: "node ".repeat(depth),
        next: (depth > 0).then(|| Box::new(node(depth - 1))),
        children: (0..depth % 3).map(|_| node(depth / 2)).collect(),
        labels: BTreeMap::from([("where".to_owned(), "forest".to_owned())]),
        numbers: (0..depth as i64).collect(),
        blob: vec![7; depth],
    }
}

/// Zig-zag, as Avro has numbers.
fn long(number: i64, out: &mut Vec<u8>) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn avro_tree(tree: &Tree, out: &mut Vec<u8>) {
    let text = |text: &str, out: &mut Vec<u8>| {
        long(text.len() as i64, out);
        out.extend(text.as_bytes());
    };
    long(tree.id, out);
    text(&tree.name, out);
    long(i64::from(tree.next.is_some()), out);
    if let Some(next) = &tree.next {
        avro_tree(next, out);
    }
    if !tree.children.is_empty() {
        long(tree.children.len() as i64, out);
        tree.children.iter().for_each(|child| avro_tree(child, out));
    }
    long(0, out);
    long(tree.labels.len() as i64, out);
    for (key, label) in &tree.labels {
        text(key, out);
        text(label, out);
    }
    long(0, out);
    long(1, out);
    out.extend([1, 2, 3, 4]);
    text("blob", out);
    text("\x01\x02", out);
}

fn dynamic() -> ProtobufDynamic {
    // The descriptors of a message that is any JSON: recursive, with maps and lists.
    let pool = DescriptorPool::global();
    let any = prost_types_value(&pool);
    ProtobufDynamic::new(any)
}

fn prost_types_value(pool: &DescriptorPool) -> prost_reflect::MessageDescriptor {
    let found = pool.get_message_by_name("google.protobuf.Struct");
    found.expect("the pool knows Google's types")
}

fn targets() -> Vec<Target> {
    let mut avro = Vec::new();
    for depth in [0, 1, 4] {
        let mut bytes = Vec::new();
        avro_tree(&tree(depth), &mut bytes);
        avro.push(bytes);
    }
    let json: Vec<_> = [0, 1, 4]
        .map(|depth| serde_json::to_vec(&tree(depth)).expect("JSON"))
        .into();
    let protobuf: Vec<_> = [0, 1, 4].map(|depth| node(depth).encode_to_vec()).into();
    let dynamic = dynamic();
    let descriptor = dynamic.descriptor().clone();
    let mut structure = prost_reflect::DynamicMessage::new(descriptor);
    structure
        .merge(&b"\x0a\x08\x0a\x01k\x12\x03\x1a\x01v\x0a\x0d\x0a\x01l\x12\x08\x32\x06\x0a\x04\x1a\x02vw"[..])
        .expect("a struct");
    assert_eq!(structure.descriptor().full_name(), "google.protobuf.Struct");
    let structure = structure.encode_to_vec();
    let frames: Vec<Vec<u8>> = vec![
        b"\0\0\0\0\x07payload".to_vec(),
        [&b"\x01"[..], &[7; 16], b"payload"].concat(),
        b"\0\0\0\0\x07\x04\x02\x00payload".to_vec(),
        b"\0\0\0\0\x07\0payload".to_vec(),
    ];
    let evolved = AvroValue::new(OTHER_TREE).expect("a schema");
    let written = Schema::new(SchemaType::Avro, TREE);
    let writer = evolved.writer(&written, &[]).expect("it leads there");
    let evolved = Evolved {
        format: evolved,
        writer,
    };
    let typed = Avro::<OtherTree>::new(OTHER_TREE).expect("a schema");
    let writer = typed.writer(&written, &[]).expect("it leads there");
    let typed = Evolved {
        format: typed,
        writer,
    };
    let schema = r##"{"type":"object","required":["id"],"properties":{
        "id":{"type":"integer"},"name":{"type":"string","maxLength":1000},
        "next":{"anyOf":[{"type":"null"},{"$ref":"#"}]},
        "children":{"type":"array","items":{"$ref":"#"},"maxItems":1000}}}"##;
    vec![
        target(
            "AvroValue",
            PER_BYTE,
            AvroValue::new(TREE).expect("a schema"),
            avro.clone(),
        ),
        target(
            "Avro",
            PER_BYTE,
            Avro::<WholeTree>::new(TREE).expect("a schema"),
            avro.clone(),
        ),
        target("AvroValue, evolved", EVOLVED, evolved, avro.clone()),
        target("Avro, evolved", EVOLVED, typed, avro),
        target("Protobuf", OF_MESSAGES, Protobuf::<Node>::new(), protobuf),
        target("ProtobufDynamic", PER_BYTE, dynamic, vec![structure]),
        target(
            "Json of any value",
            PER_BYTE,
            Json::<serde_json::Value>::new(),
            json.clone(),
        ),
        target(
            "Json of a type",
            PER_BYTE,
            Json::<Tree>::new(),
            json.clone(),
        ),
        target(
            "JsonSchema",
            PER_BYTE,
            JsonSchema::<Tree>::new(schema).expect("a schema"),
            json,
        ),
        target(
            "List",
            PER_BYTE,
            List(Optional(Utf8)),
            vec![
                List(Optional(Utf8))
                    .to_vec(&value(), &[Some("a"), None, Some("b")])
                    .expect("a list")
                    .expect("bytes"),
            ],
        ),
        target("frame", PER_BYTE, Framed(None), frames.clone()),
        target(
            "frame, Java's indexes",
            PER_BYTE,
            Framed(Some(IndexForm::ZigZag)),
            frames.clone(),
        ),
        target(
            "frame, old indexes",
            PER_BYTE,
            Framed(Some(IndexForm::Plain)),
            frames,
        ),
    ]
}

/// A value is some 30 to 200 bytes large, and can be said in a few; a list of them grows by doubling.
const PER_BYTE: usize = 256;

/// An empty message is two bytes, and as large as any other.
const OF_MESSAGES: usize = 1024;

/// Values of another schema are copied field by field.
const EVOLVED: usize = 1024;

/// Reads, and says how much memory was asked for.
fn read(target: &Target, bytes: &[u8]) -> (Result<(), Error>, usize) {
    let region = Region::new(ALLOCATOR);
    let outcome = (target.read)(bytes);
    let change = region.change();
    let grown = usize::try_from(change.bytes_reallocated).unwrap_or(0);
    (outcome, change.bytes_allocated + grown)
}

fn check(target: &Target, bytes: &[u8]) -> bool {
    let (outcome, asked) = read(target, bytes);
    let bound = target.bound.at_least + target.bound.per_byte * bytes.len();
    let shown = &bytes[..bytes.len().min(200)];
    assert!(
        asked <= bound,
        "{}: {} bytes made it ask for {asked}, {outcome:?}: {shown:02x?}",
        target.name,
        bytes.len()
    );
    match outcome {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(
                error.kind(),
                ErrorKind::Malformed,
                "{}: {error}",
                target.name
            );
            assert!(
                error.to_string().len() < 4096,
                "{}: a long reason",
                target.name
            );
            false
        }
    }
}

fn deep() -> Vec<Vec<u8>> {
    const DEEP: usize = 1 << 20;
    let within = |open: &[u8], middle: &[u8]| {
        let mut bytes = open.repeat(DEEP / open.len());
        bytes.extend(middle);
        bytes
    };
    // Protobuf: messages in messages, each with its true length, and groups that nobody knows.
    let mut messages: Vec<u8> = Vec::new();
    for _ in 0..5_000 {
        let mut length = Vec::new();
        prost::encoding::encode_varint(messages.len() as u64, &mut length);
        let tag = 3 << 3 | 2;
        messages.splice(0..0, [vec![tag], length].concat());
    }
    // Avro: as deep as it may be, and whole.
    let mut whole = [0, 0, 2].repeat(95);
    whole.extend([0, 0, 0]);
    whole.extend([0, 0, 2, 1, 2, 3, 4, 0, 2, 0].repeat(96));
    vec![
        whole,
        // Avro: an id, an empty name, and another tree.
        within(&[0, 0, 2], &[]),
        // Avro: an id, a name, no next, and one child.
        within(&[0, 0, 0, 2], &[]),
        within(b"[", b""),
        within(br#"{"id":1,"next":"#, b"null"),
        within(br#"{"id":1,"children":["#, b""),
        within(b"[[],", b""),
        within(b"\"", b""),
        messages,
        within(&[99 << 1 | 1, 3], &[]),
        within(&[0x0b], &[]),
        // Google's Struct: a field whose value is a Struct, with lengths that are not true.
        within(&[0x0a, 0x7f, 0x12, 0x7f, 0x2a, 0x7f], &[]),
    ]
}

/// Much of what costs the writer least.
fn floods() -> Vec<Vec<u8>> {
    const MANY: usize = 1 << 16;
    let list = |element: &[u8]| [b"[", &element.repeat(MANY)[..], b"0]"].concat();
    vec![
        // Protobuf: children without fields, and labels without a key.
        [4 << 3 | 2, 0].repeat(MANY),
        [5 << 3 | 2, 0].repeat(MANY),
        // Numbers in one byte each, behind their length of 65,536.
        [&[6 << 3 | 2, 0x80, 0x80, 4][..], &[1].repeat(MANY)].concat(),
        // Google's Struct: fields without a name.
        [0x0a, 0].repeat(MANY),
        list(b"[],"),
        list(b"{},"),
        list(b"0,"),
        [
            &br#"{"id":1,"children":["#[..],
            &br#"{"id":1},"#.repeat(MANY),
            b"0]}",
        ]
        .concat(),
        // A list of Java's: no element is null, and each is empty.
        [&[0, 0, 0, 0, 0, 0, 1, 0, 0][..], &[0; 4 * MANY]].concat(),
    ]
}

/// Lengths that are not true.
fn lying() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for claimed in [
        1i64 << 62,
        i64::MIN,
        -1,
        i64::from(u32::MAX),
        1 << 29,
        1 << 20,
    ] {
        let mut number = Vec::new();
        long(claimed, &mut number);
        let mut plain = Vec::new();
        prost::encoding::encode_varint(claimed as u64, &mut plain);
        for before in [
            &[][..],
            &[0],
            &[0, 0],
            &[0, 0, 0],
            &[0, 0, 0, 0],
            // Protobuf: fields 2, 3, 4, 5, 6 and 7, with a length.
            &[0x12],
            &[0x1a],
            &[0x22],
            &[0x2a],
            &[0x32],
            &[0x3a],
            &[0x0a],
            // A frame.
            &[0, 0, 0, 0, 7],
        ] {
            for length in [&number, &plain] {
                for behind in [0, 50] {
                    let mut bytes = before.to_vec();
                    bytes.extend(length);
                    bytes.resize(bytes.len() + behind, b'x');
                    all.push(bytes);
                }
            }
        }
    }
    all
}

/// Small generator of numbers, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(6) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, self.below(256) as u8),
                2 => {
                    let end = (at + self.below(8)).min(bytes.len());
                    bytes.drain(at..end);
                }
                3 => {
                    let part = bytes[at..(at + self.below(40)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, part);
                }
                _ if bytes.is_empty() => {}
                4 => {
                    let at = at % bytes.len();
                    bytes[at] ^= 1 << self.below(8);
                }
                _ => {
                    let at = at % bytes.len();
                    bytes[at] = [0, 1, 2, 0x7f, 0x80, 0xff, b'"', b'[', b'{'][self.below(9)];
                }
            }
        }
    }
}

/// Nulls take no bytes, so that any number of them can be said in ten.
fn nulls_are_counted() {
    let nulls = AvroValue::new(r#"{"type":"array","items":"null"}"#).expect("a schema");
    let mut largest = 0;
    for count in (0..62).map(|shift| 1i64 << shift) {
        let mut bytes = Vec::new();
        long(count, &mut bytes);
        bytes.push(0);
        let region = Region::new(ALLOCATOR);
        let outcome = nulls.read(&value(), Some(Payload::new(&bytes)));
        drop(outcome);
        largest = largest.max(region.change().bytes_allocated);
    }
    assert!(largest < 1 << 19, "{largest}");
}

/// For two seconds, or for `COPART_FUZZ_SECONDS`.
#[test]
fn hostile_bytes_are_refused_at_little_cost() {
    let targets = targets();
    let shared: Vec<_> = deep().into_iter().chain(floods()).chain(lying()).collect();
    for target in &targets {
        for seed in &target.seeds {
            if !target.name.starts_with("frame") {
                assert!(check(target, seed), "{} reads its own", target.name);
            }
        }
        for bytes in &shared {
            check(target, bytes);
        }
        if matches!(target.name, "Avro" | "AvroValue") {
            assert!(
                check(target, &shared[0]),
                "{}: it is as deep as it may be",
                target.name
            );
        }
    }
    nulls_are_counted();
    let seconds = std::env::var("COPART_FUZZ_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(2);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut runs, mut read) = (0u64, 0u64);
    while Instant::now() < end {
        for target in &targets {
            let mut bytes = target.seeds[random.below(target.seeds.len())].clone();
            random.mutate(&mut bytes);
            runs += 1;
            read += u64::from(check(target, &bytes));
        }
    }
    // Both ends of the reader are reached.
    assert!(read > 0 && read < runs, "{read} of {runs} were read");
    println!("{runs} inputs, of which {read} could be read");
}
