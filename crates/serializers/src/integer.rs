//! Integers as Java lays them out.

use std::borrow::Borrow;

use crate::{Context, Deserialize, Error, Format, Payload, Result, Serialize, Sink};

macro_rules! integer {
    ($(#[$doc:meta])* $name:ident, $type:ty) => {
        $(#[$doc])*
        ///
        /// Little-endian has no serializer here: none of the clients has one.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl Format for $name {
            fn fixed_len(&self) -> Option<usize> {
                Some(size_of::<$type>())
            }
        }

        impl<B: Borrow<$type> + ?Sized> Serialize<B> for $name {
            #[inline]
            fn serialize(&self, _: &Context<'_>, value: &B, out: &mut Sink<'_>) -> Result<()> {
                out.put(&value.borrow().to_be_bytes());
                Ok(())
            }
        }

        impl Deserialize for $name {
            type Value = $type;

            #[inline]
            fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<$type> {
                match payload.array() {
                    Some(bytes) => Ok(<$type>::from_be_bytes(bytes)),
                    None => {
                        let (name, expected) = (stringify!($name), size_of::<$type>());
                        Err(Error::wrong_length(context, name, expected, payload.len()))
                    }
                }
            }
        }
    };
}

integer!(
    /// 16 bits, big-endian, two's complement. Java's `ShortSerializer`.
    #[doc(alias = "ShortSerializer")]
    Int16,
    i16
);
integer!(
    /// 32 bits, big-endian, two's complement. Java's `IntegerSerializer`.
    #[doc(alias = "IntegerSerializer")]
    Int32,
    i32
);
integer!(
    /// 64 bits, big-endian, two's complement. Java's `LongSerializer`.
    #[doc(alias = "LongSerializer")]
    Int64,
    i64
);
