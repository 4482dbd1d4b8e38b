//! The list of APIs, and what goes for every message.

use bytes::Bytes;

use crate::wire::{Reader, Wire, Writer};
use crate::{ApiKey, Error, ErrorKind, Result, VersionRange};

/// A whole message, without header and frame.
pub trait Body: Wire {
    /// Name of the message, such as `FetchRequest`.
    const NAME: &'static str;
    /// Versions that can be written and read.
    const VERSIONS: VersionRange;
    /// First version with compact lengths and tagged fields; `i16::MAX` if none has them.
    const FLEXIBLE_FROM: i16;

    /// Appends the message in its layout for `version`.
    fn encode_to(&self, version: i16, w: &mut Writer) -> Result<()> {
        check_version::<Self>(version)?;
        w.switch(version, version >= Self::FLEXIBLE_FROM);
        self.write(w).map_err(|error| named::<Self>(error, version))
    }

    /// The message in its layout for `version`, in one piece.
    fn encode(&self, version: i16) -> Result<Bytes> {
        let mut w = Writer::new(version, false);
        self.encode_to(version, &mut w)?;
        Ok(w.into_bytes())
    }

    /// Reads a message that must fill what is left. Byte fields of the result are parts of the reader's
    /// input: they keep all of it in memory.
    fn decode_from(version: i16, r: &mut Reader) -> Result<Self> {
        check_version::<Self>(version)?;
        r.switch(version, version >= Self::FLEXIBLE_FROM);
        let read = Self::read(r).and_then(|value| r.finish().map(|()| value));
        read.map_err(|error| named::<Self>(error, version))
    }

    /// Reads a message that must fill `body`, as [`Body::decode_from`] does.
    fn decode(version: i16, body: Bytes) -> Result<Self> {
        Self::decode_from(version, &mut Reader::new(body, version, false))
    }
}

/// A message that a client sends and a broker answers.
pub trait Request: Body {
    /// What the request header calls it.
    const API: ApiKey;
    /// The answer, in the same version.
    type Response: Body;
}

fn check_version<B: Body>(version: i16) -> Result<()> {
    if B::VERSIONS.contains(version) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Unsupported,
        format!("{} has versions {}, not {version}", B::NAME, B::VERSIONS),
    ))
}

#[cold]
fn named<B: Body>(error: Error, version: i16) -> Error {
    error.within(format!("{} v{version}", B::NAME))
}

/// Declares what can be said of all APIs at once from the generated list of them.
macro_rules! apis {
    ($(
        #[doc = $doc:literal]
        $name:ident = $key:literal, $module:ident::{$request:ident, $response:ident},
        $min:literal..=$max:literal, flexible $flexible:expr, listed $low:literal..=$high:literal;
    )+) => {
        /// Which API a request is for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(i16)]
        pub enum ApiKey {
            $(#[doc = $doc] $name = $key,)+
        }

        impl ApiKey {
            /// All APIs, in the order of their keys.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The API with this key, if this crate has its messages.
            pub fn from_key(key: i16) -> Option<Self> {
                match key {
                    $($key => Some(Self::$name),)+
                    _ => None,
                }
            }

            /// Kafka's name for it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            /// Versions whose messages can be written and read.
            pub const fn versions(self) -> $crate::VersionRange {
                match self {
                    $(Self::$name => $crate::VersionRange::new($min, $max),)+
                }
            }

            /// Versions to list in an answer to ApiVersions. It may begin below [`ApiKey::versions`], where
            /// clients judge a broker by it; such requests are to be refused as an unsupported version. It may
            /// end below, where Kafka does not call a version stable.
            pub const fn listed(self) -> $crate::VersionRange {
                match self {
                    $(Self::$name => $crate::VersionRange::new($low, $high),)+
                }
            }

            /// First version with compact lengths and tagged fields; `i16::MAX` if none has them.
            pub const fn flexible_from(self) -> i16 {
                match self {
                    $(Self::$name => $flexible,)+
                }
            }
        }

        $(
            impl $crate::Body for $module::$request {
                const NAME: &'static str = stringify!($request);
                const VERSIONS: $crate::VersionRange = $crate::VersionRange::new($min, $max);
                const FLEXIBLE_FROM: i16 = $flexible;
            }

            impl $crate::Request for $module::$request {
                const API: ApiKey = ApiKey::$name;
                type Response = $module::$response;
            }

            impl $crate::Body for $module::$response {
                const NAME: &'static str = stringify!($response);
                const VERSIONS: $crate::VersionRange = $crate::VersionRange::new($min, $max);
                const FLEXIBLE_FROM: i16 = $flexible;
            }
        )+

        $crate::api::any!(
            /// The request of any API.
            AnyRequest { $($name($module::$request)),+ }
        );
        $crate::api::any!(
            /// The response of any API.
            AnyResponse { $($name($module::$response)),+ }
        );
    };
}

/// One enum over the messages of all APIs.
macro_rules! any {
    ($(#[$doc:meta])+ $any:ident { $($name:ident($body:ty)),+ }) => {
        $(#[$doc])+
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant, reason = "moved once, from decoding to where it is matched")]
        pub enum $any {
            $($name($body),)+
        }

        impl $any {
            /// Which API it belongs to.
            pub fn api(&self) -> ApiKey {
                match self {
                    $(Self::$name(_) => ApiKey::$name,)+
                }
            }

            /// Reads a message that must fill what is left.
            pub fn decode_from(
                api: ApiKey,
                version: i16,
                r: &mut $crate::wire::Reader,
            ) -> $crate::Result<Self> {
                match api {
                    $(ApiKey::$name => $crate::Body::decode_from(version, r).map(Self::$name),)+
                }
            }

            /// Appends the message in its layout for `version`.
            pub fn encode_to(
                &self,
                version: i16,
                w: &mut $crate::wire::Writer,
            ) -> $crate::Result<()> {
                match self {
                    $(Self::$name(body) => $crate::Body::encode_to(body, version, w),)+
                }
            }
        }

        $(
            impl From<$body> for $any {
                fn from(body: $body) -> Self {
                    Self::$name(body)
                }
            }
        )+
    };
}

pub(crate) use {any, apis};

impl std::fmt::Display for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl ApiKey {
    /// Layout of the request header: 2 with tagged fields, 1 without.
    pub const fn request_header_version(self, version: i16) -> i16 {
        if version >= self.flexible_from() {
            2
        } else {
            1
        }
    }

    /// Layout of the response header: 1 with tagged fields, 0 without. ApiVersions keeps 0: a client that
    /// reads its answer does not know yet what the broker can do.
    pub const fn response_header_version(self, version: i16) -> i16 {
        match self {
            Self::ApiVersions => 0,
            _ if version >= self.flexible_from() => 1,
            _ => 0,
        }
    }
}
