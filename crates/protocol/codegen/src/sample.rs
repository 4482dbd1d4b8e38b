//! Random messages, written as bytes from the schema alone.
//!
//! This shares no code with the generated codecs, and everything it writes is canonical (no tagged field at
//! its default, no null records), so decoding and encoding must give the same bytes again.

use crate::schema::{Field, Message, Struct, Type, find};

/// A small generator of random numbers (splitmix64), the same on every machine for a seed.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Starts a sequence.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.number() % limit as u64) as usize
    }
}

/// A random message body in its layout for `version`.
pub fn body(message: &Message, structs: &[Struct], version: i16, rng: &mut Rng) -> Vec<u8> {
    let mut sampler = Sampler {
        structs,
        version,
        flexible: message.is_flexible(version),
        rng: Some(rng),
        bulk: None,
    };
    let mut out = Vec::new();
    sampler.fields(&message.fields, &mut out);
    out
}

/// A message with everything at its default but arrays: `count` elements in those that are `depth` arrays
/// deep, one in those around them. The most values for the fewest bytes.
pub fn bulk(
    message: &Message,
    structs: &[Struct],
    version: i16,
    depth: usize,
    count: usize,
) -> Vec<u8> {
    let mut sampler = Sampler {
        structs,
        version,
        flexible: message.is_flexible(version),
        rng: None,
        bulk: Some((depth, count)),
    };
    let mut out = Vec::new();
    sampler.fields(&message.fields, &mut out);
    out
}

struct Sampler<'a> {
    structs: &'a [Struct],
    version: i16,
    flexible: bool,
    /// Without it, everything is at its default.
    rng: Option<&'a mut Rng>,
    /// How deep the arrays are that have elements all the same, and how many.
    bulk: Option<(usize, usize)>,
}

impl Sampler<'_> {
    fn fields(&mut self, fields: &[Field], out: &mut Vec<u8>) {
        let version = self.version;
        let present = |field: &&Field| field.versions.contains(version);
        for field in fields.iter().filter(present).filter(|f| f.tag.is_none()) {
            self.field(field, out);
        }
        if !self.flexible {
            return;
        }
        let mut tagged: Vec<(u32, Vec<u8>)> = Vec::new();
        for field in fields.iter().filter(present) {
            let Some(tag) = field.tag else { continue };
            let mut value = Vec::new();
            self.field(field, &mut value);
            let mut default = Vec::new();
            self.without_rng().field(field, &mut default);
            if value != default {
                tagged.push((tag, value));
            }
        }
        tagged.sort();
        varint(tagged.len(), out);
        for (tag, value) in tagged {
            varint(tag as usize, out);
            varint(value.len(), out);
            out.extend(value);
        }
    }

    fn field(&mut self, field: &Field, out: &mut Vec<u8>) {
        let nullable = field.nullable.is_some_and(|n| n.contains(self.version));
        let null_by_default = field.default.as_deref() == Some("null");
        let null = match &mut self.rng {
            Some(rng) => nullable && rng.below(4) == 0,
            None => null_by_default && !(field.array && self.bulk.is_some()),
        };
        let is_struct = matches!(field.ty, Type::Struct(_)) && !field.array;
        if is_struct && nullable {
            let for_null = if field.tag.is_some() { 0 } else { 0xff };
            out.push(if null { for_null } else { 1 });
        }
        if null {
            match (field.array, &field.ty) {
                (true, _) | (_, Type::Bytes) => self.length(None, true, out),
                (_, Type::String) => self.length(None, false, out),
                _ => {}
            }
        } else if field.array {
            let around = self.bulk;
            let count = match (&mut self.rng, around) {
                (Some(rng), _) => rng.below(4),
                (None, Some((0, count))) => count,
                (None, Some(_)) => 1,
                (None, None) => 0,
            };
            self.bulk = around.and_then(|(depth, count)| Some((depth.checked_sub(1)?, count)));
            self.length(Some(count), true, out);
            for _ in 0..count {
                self.value(field, true, out);
            }
            self.bulk = around;
        } else {
            self.value(field, false, out);
        }
    }

    fn value(&mut self, field: &Field, element: bool, out: &mut Vec<u8>) {
        let number = match &mut self.rng {
            Some(rng) => number(rng),
            None => default_number(field),
        };
        match &field.ty {
            Type::Bool => out.push((number & 1) as u8),
            Type::Int8 => out.push(number as u8),
            Type::Int16 | Type::Uint16 | Type::Error => out.extend((number as i16).to_be_bytes()),
            Type::Int32 => out.extend((number as i32).to_be_bytes()),
            Type::Int64 => out.extend(number.to_be_bytes()),
            Type::Float64 => out.extend((number as f64 / 8.0).to_be_bytes()),
            Type::Uuid => {
                let high = self.rng.as_mut().map_or(0, |rng| number_of(rng));
                out.extend(high.to_be_bytes());
                let low = if high == 0 { 0 } else { number };
                out.extend(low.to_be_bytes());
            }
            Type::String => {
                let text = self.rng.as_mut().map_or_else(String::new, |rng| text(rng));
                self.length(Some(text.len()), false, out);
                out.extend(text.as_bytes());
            }
            Type::Bytes | Type::Records => {
                let bytes = self.rng.as_mut().map_or_else(Vec::new, |rng| bytes(rng));
                self.length(Some(bytes.len()), true, out);
                out.extend(bytes);
            }
            Type::Struct(name) => {
                let fields = &find(self.structs, name).fields;
                if element || self.rng.is_some() || self.bulk.is_some() {
                    self.fields(fields, out);
                } else {
                    self.without_rng().fields(fields, out);
                }
            }
        }
    }

    fn without_rng(&self) -> Sampler<'_> {
        Sampler {
            structs: self.structs,
            version: self.version,
            flexible: self.flexible,
            rng: None,
            bulk: None,
        }
    }

    fn length(&self, length: Option<usize>, wide: bool, out: &mut Vec<u8>) {
        match (length, self.flexible, wide) {
            (Some(length), true, _) => varint(length + 1, out),
            (None, true, _) => out.push(0),
            (length, false, true) => out.extend(length.map_or(-1, |l| l as i32).to_be_bytes()),
            (length, false, false) => out.extend(length.map_or(-1, |l| l as i16).to_be_bytes()),
        }
    }
}

fn number_of(rng: &mut Rng) -> i64 {
    match rng.below(3) {
        0 => 0,
        _ => rng.number() as i64,
    }
}

/// Often one that means something: a default, an extreme, or a small one.
fn number(rng: &mut Rng) -> i64 {
    match rng.below(8) {
        0 => 0,
        1 => -1,
        2 => i64::MAX,
        3 => i64::MIN,
        4 => i64::from(i32::MIN),
        5 => rng.below(100) as i64,
        _ => rng.number() as i64,
    }
}

fn default_number(field: &Field) -> i64 {
    match field.default.as_deref() {
        Some("true") => 1,
        Some(value) => value.parse().unwrap_or(0),
        None => 0,
    }
}

fn text(rng: &mut Rng) -> String {
    const LETTERS: [char; 8] = ['a', 'Z', '0', '-', '\u{0}', 'é', '字', '🦀'];
    let length = match rng.below(20) {
        0 => 200,
        _ => rng.below(9),
    };
    (0..length).map(|_| LETTERS[rng.below(8)]).collect()
}

fn bytes(rng: &mut Rng) -> Vec<u8> {
    let length = match rng.below(20) {
        0 => 3000,
        _ => rng.below(40),
    };
    (0..length).map(|_| rng.number() as u8).collect()
}

fn varint(mut value: usize, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
