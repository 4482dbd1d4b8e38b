//! A setting as DescribeConfigs shows it, and how one is changed.

/// A setting with its value and where that comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigEntry {
    pub(crate) name: &'static str,
    /// `None` if there is none, and for secrets.
    pub(crate) value: Option<String>,
    pub(crate) source: ConfigSource,
    pub(crate) read_only: bool,
    pub(crate) sensitive: bool,
    pub(crate) config_type: ConfigType,
    pub(crate) documentation: &'static str,
    /// Where the value was looked for and found, most specific first.
    pub(crate) synonyms: Vec<ConfigSynonym>,
}

/// A value that a setting has in one of the places that it may come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigSynonym {
    pub(crate) name: &'static str,
    pub(crate) value: Option<String>,
    pub(crate) source: ConfigSource,
}

/// Where a value comes from; the numbers are the protocol's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i8)]
pub(crate) enum ConfigSource {
    DynamicTopic = 1,
    DynamicBroker = 2,
    DynamicDefaultBroker = 3,
    StaticBroker = 4,
    Default = 5,
    DynamicGroup = 8,
}

/// A setting's type; the numbers are the protocol's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub(crate) enum ConfigType {
    Boolean = 1,
    String = 2,
    Int = 3,
    Short = 4,
    Long = 5,
    Double = 6,
    List = 7,
    Password = 9,
}

/// One change of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConfigOp {
    Set(String),
    /// Back to the default.
    Delete,
    /// Adds to a list.
    Append(String),
    /// Takes from a list.
    Subtract(String),
}
