//! What a schema says, once read.

/// All schema files together.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// Requests with their responses, by API key.
    pub apis: Vec<Api>,
    /// Messages that travel inside others' byte fields.
    pub messages: Vec<Message>,
}

/// A request and its response.
#[derive(Clone, Debug)]
pub struct Api {
    /// The number in request headers.
    pub key: i16,
    /// Kafka's name for it, such as `ListOffsets`.
    pub name: String,
    /// One line for the documentation.
    pub doc: String,
    /// The range a broker lists, where that is not the range it can read.
    pub advertise: Option<Versions>,
    /// What the client sends.
    pub request: Message,
    /// What it gets back.
    pub response: Message,
    /// Structs of both, in order of appearance; a name means one layout only.
    pub structs: Vec<Struct>,
}

/// One message body.
#[derive(Clone, Debug)]
pub struct Message {
    /// Name of the Rust type, such as `ListOffsetsRequest`.
    pub name: String,
    /// One line for the documentation.
    pub doc: String,
    /// Versions that can be written and read.
    pub versions: Versions,
    /// First version with compact lengths and tagged fields.
    pub flexible: Option<i16>,
    /// In wire order, tagged ones wherever they stand.
    pub fields: Vec<Field>,
    /// Structs of a message without API; empty for requests and responses.
    pub structs: Vec<Struct>,
}

/// A group of fields that is an array's element or stands alone.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Name of the Rust type.
    pub name: String,
    /// Versions in which anything holds it.
    pub versions: Versions,
    /// In wire order.
    pub fields: Vec<Field>,
}

/// One field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Snake case, as in Kafka's documentation.
    pub name: String,
    /// Of the field, or of its elements if it is an array.
    pub ty: Type,
    /// Whether there are many.
    pub array: bool,
    /// Versions that may carry null instead of a value.
    pub nullable: Option<Versions>,
    /// Versions that carry the field.
    pub versions: Versions,
    /// What absence means, where that is not zero, empty or false.
    pub default: Option<String>,
    /// Number among the tagged fields.
    pub tag: Option<u32>,
    /// Whether a version without the field may drop its value silently.
    pub ignorable: bool,
}

/// A field's type on the wire.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Type {
    Bool,
    Int8,
    Int16,
    Uint16,
    Int32,
    Int64,
    Float64,
    Uuid,
    String,
    Bytes,
    /// Record batches. Null is read as empty and never written.
    Records,
    /// An `int16` that is one of Kafka's error codes.
    Error,
    Struct(String),
}

/// An inclusive range of versions; `high` is `i16::MAX` if it has no end yet.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct Versions {
    pub low: i16,
    pub high: i16,
}

impl Versions {
    /// From zero, without end.
    pub const ALL: Self = Self {
        low: 0,
        high: i16::MAX,
    };

    /// Whether `version` is inside.
    pub fn contains(&self, version: i16) -> bool {
        (self.low..=self.high).contains(&version)
    }

    /// Whether every version of `other` is inside.
    pub fn covers(&self, other: &Self) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The versions in both; empty (`low > high`) if there are none.
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
        }
    }

    /// The smallest range that has both.
    pub fn span(&self, other: &Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// All versions, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = i16> + use<> {
        self.low..=self.high
    }
}

impl std::fmt::Display for Versions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.low, self.high) {
            (low, i16::MAX) => write!(f, "{low}+"),
            (low, high) if low == high => write!(f, "{low}"),
            (low, high) => write!(f, "{low}-{high}"),
        }
    }
}

impl Message {
    /// Whether `version` has compact lengths and tagged fields.
    pub fn is_flexible(&self, version: i16) -> bool {
        self.flexible.is_some_and(|first| version >= first)
    }
}

impl Field {
    /// Whether null may stand for the field in some version.
    pub fn is_nullable(&self) -> bool {
        self.nullable.is_some()
    }

    /// Fewest bytes the field takes in `version`; zero where it is absent or tagged.
    pub fn min_size(&self, version: i16, flexible: bool, structs: &[Struct]) -> usize {
        if self.tag.is_some() || !self.versions.contains(version) {
            return 0;
        }
        let length = |fixed| if flexible { 1 } else { fixed };
        if self.array {
            return length(4);
        }
        match &self.ty {
            Type::Bool | Type::Int8 => 1,
            Type::Int16 | Type::Uint16 | Type::Error => 2,
            Type::Int32 => 4,
            Type::Int64 | Type::Float64 => 8,
            Type::Uuid => 16,
            Type::String => length(2),
            Type::Bytes | Type::Records => length(4),
            Type::Struct(_) if self.is_nullable() => 1,
            Type::Struct(name) => find(structs, name).min_size(version, flexible, structs),
        }
    }
}

impl Struct {
    /// Fewest bytes one takes in `version`.
    pub fn min_size(&self, version: i16, flexible: bool, structs: &[Struct]) -> usize {
        let fields: usize = self
            .fields
            .iter()
            .map(|field| field.min_size(version, flexible, structs))
            .sum();
        fields + usize::from(flexible)
    }
}

/// The struct called `name`; the parser made sure that there is one.
pub fn find<'a>(structs: &'a [Struct], name: &str) -> &'a Struct {
    structs
        .iter()
        .find(|s| s.name == name)
        .unwrap_or_else(|| panic!("no struct {name}"))
}
