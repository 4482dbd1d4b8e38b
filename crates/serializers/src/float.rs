//! Floating-point numbers as Java lays them out.

use std::borrow::Borrow;

use crate::{Context, Deserialize, Error, Format, Payload, Result, Serialize, Sink};

macro_rules! float {
    ($(#[$doc:meta])* $name:ident, $type:ty, $to_bits:expr) => {
        $(#[$doc])*
        ///
        /// As a key: 0.0 and -0.0 are equal as numbers, and two keys as bytes.
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
                out.put(&$to_bits(*value.borrow()).to_be_bytes());
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

float!(
    /// 32 bits, big-endian. Java's `FloatSerializer`, which writes every NaN as
    /// it is (`Float.floatToRawIntBits`).
    #[doc(alias = "FloatSerializer")]
    Float32,
    f32,
    f32::to_bits
);
float!(
    /// 64 bits, big-endian, one NaN for all. Java's `DoubleSerializer`, which
    /// unlike that of floats writes all NaNs as `7ff8000000000000`
    /// (`Double.doubleToLongBits`). For their own bits there is
    /// [`Float64Raw`].
    ///
    /// Reading keeps the bits that are there, as Java's `DoubleDeserializer`.
    #[doc(alias = "DoubleSerializer")]
    Float64,
    f64,
    java_double_bits
);
float!(
    /// 64 bits, big-endian, every NaN as it is: what clients write that copy
    /// the bits. Differs from [`Float64`] in NaNs only.
    Float64Raw,
    f64,
    f64::to_bits
);

/// Java's `Double.doubleToLongBits`.
#[inline]
fn java_double_bits(value: f64) -> u64 {
    if value.is_nan() {
        0x7ff8_0000_0000_0000
    } else {
        value.to_bits()
    }
}
