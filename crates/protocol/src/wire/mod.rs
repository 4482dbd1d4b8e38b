//! How values look on the wire: the layer under the generated messages.
//!
//! A [`Writer`] and a [`Reader`] know the version of the message they are in and whether it is *flexible*
//! (compact lengths and tagged fields), so that a field is one call whatever the version.

mod reader;
mod types;
mod writer;

pub use reader::Reader;
pub use writer::{TagWriter, Writer};

use crate::Result;

/// The longest string that Kafka's own readers take, in bytes.
pub const MAX_STRING: usize = i16::MAX as usize;

/// A value with one layout for a given version.
pub trait Wire: Sized {
    /// Fewest bytes that a value takes in any version; never zero for what can be an array's element, so that
    /// the bytes that are left bound the count.
    const MIN_SIZE: usize;

    /// Appends the value.
    fn write(&self, w: &mut Writer) -> Result<()>;

    /// Takes a value off the front.
    fn read(r: &mut Reader) -> Result<Self>;

    /// Appends a value or null. A struct has a byte before it that tells the two apart.
    fn write_nullable(value: Option<&Self>, w: &mut Writer) -> Result<()> {
        match value {
            None => w.put(&-1i8),
            Some(value) => {
                w.put(&1i8)?;
                value.write(w)
            }
        }
    }

    /// Appends a value or null of a tagged field. For a struct, the byte that tells the two apart is another one
    /// there: Kafka's generated classes write 0 and 1.
    fn write_nullable_tagged(value: Option<&Self>, w: &mut Writer) -> Result<()> {
        match value {
            None => w.put(&0i8),
            Some(value) => {
                w.put(&1i8)?;
                value.write(w)
            }
        }
    }

    /// Takes a value or null of a tagged field off the front.
    fn read_nullable_tagged(r: &mut Reader) -> Result<Option<Self>> {
        if r.get::<i8>()? == 0 {
            return Ok(None);
        }
        Self::read(r).map(Some)
    }

    /// Takes a value or null off the front.
    fn read_nullable(r: &mut Reader) -> Result<Option<Self>> {
        if r.get::<i8>()? < 0 {
            return Ok(None);
        }
        Self::read(r).map(Some)
    }
}

/// A struct whose fields are all there in every version that has the struct, in this order.
macro_rules! plain {
    ($name:ident, min $min:literal, $($field:ident),+) => {
        impl Wire for $name {
            const MIN_SIZE: usize = $min;

            fn write(&self, w: &mut Writer) -> Result<()> {
                $(w.put(&self.$field)?;)+
                w.no_tags();
                Ok(())
            }

            fn read(r: &mut Reader) -> Result<Self> {
                let value = Self {
                    $($field: r.get()?,)+
                };
                r.skip_tags()?;
                Ok(value)
            }
        }
    };
}

pub(crate) use plain;
