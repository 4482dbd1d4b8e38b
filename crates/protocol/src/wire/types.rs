//! The protocol's own types.

use bytes::Bytes;

use super::{MAX_STRING, Reader, Wire, Writer};
use crate::{ErrorCode, ErrorKind, Result, Uuid};

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl Wire for $number {
            const MIN_SIZE: usize = size_of::<$number>();

            #[inline]
            fn write(&self, w: &mut Writer) -> Result<()> {
                w.put_slice(&self.to_be_bytes());
                Ok(())
            }

            #[inline]
            fn read(r: &mut Reader) -> Result<Self> {
                r.array().map(Self::from_be_bytes)
            }
        }
    )+};
}

numbers!(i8, i16, u16, i32, i64, f64);

impl Wire for bool {
    const MIN_SIZE: usize = 1;

    #[inline]
    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&i8::from(*self))
    }

    /// Anything but zero is true, to Kafka too.
    #[inline]
    fn read(r: &mut Reader) -> Result<Self> {
        Ok(r.get::<i8>()? != 0)
    }
}

impl Wire for ErrorCode {
    const MIN_SIZE: usize = 2;

    #[inline]
    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.0)
    }

    #[inline]
    fn read(r: &mut Reader) -> Result<Self> {
        r.get().map(Self)
    }
}

impl Wire for Uuid {
    const MIN_SIZE: usize = 16;

    #[inline]
    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_slice(&self.0);
        Ok(())
    }

    #[inline]
    fn read(r: &mut Reader) -> Result<Self> {
        r.array().map(Self)
    }
}

impl Wire for String {
    const MIN_SIZE: usize = 1;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_length(self.len(), false)?;
        w.put_slice(self.as_bytes());
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        not_null(r, Self::read_nullable)
    }

    fn write_nullable(value: Option<&Self>, w: &mut Writer) -> Result<()> {
        match value {
            Some(value) => value.write(w),
            None => {
                w.put_null_length(false);
                Ok(())
            }
        }
    }

    fn read_nullable(r: &mut Reader) -> Result<Option<Self>> {
        let Some(length) = r.length(false)? else {
            return Ok(None);
        };
        if length > MAX_STRING {
            return Err(r.malformed(format!(
                "a string of {length} bytes is more than the protocol's {MAX_STRING}"
            )));
        }
        match std::str::from_utf8(r.slice(length)?) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(error) => {
                let start = r.position() - length;
                Err(crate::Error::at(
                    ErrorKind::Malformed,
                    start + error.valid_up_to(),
                    "a string is not UTF-8",
                ))
            }
        }
    }
}

impl Wire for Bytes {
    const MIN_SIZE: usize = 1;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_length(self.len(), true)?;
        w.append(self);
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        not_null(r, Self::read_nullable)
    }

    fn write_nullable(value: Option<&Self>, w: &mut Writer) -> Result<()> {
        match value {
            Some(value) => value.write(w),
            None => {
                w.put_null_length(true);
                Ok(())
            }
        }
    }

    fn read_nullable(r: &mut Reader) -> Result<Option<Self>> {
        match r.length(true)? {
            Some(length) => r.bytes(length).map(Some),
            None => Ok(None),
        }
    }
}

impl<T: Wire> Wire for Vec<T> {
    const MIN_SIZE: usize = 1;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_length(self.len(), true)?;
        self.iter().try_for_each(|element| element.write(w))
    }

    fn read(r: &mut Reader) -> Result<Self> {
        not_null(r, Self::read_nullable)
    }

    fn write_nullable(value: Option<&Self>, w: &mut Writer) -> Result<()> {
        match value {
            Some(value) => value.write(w),
            None => {
                w.put_null_length(true);
                Ok(())
            }
        }
    }

    fn read_nullable(r: &mut Reader) -> Result<Option<Self>> {
        match r.length(true)? {
            Some(count) => r.elements(count).map(Some),
            None => Ok(None),
        }
    }
}

impl<T: Wire> Wire for Option<T> {
    const MIN_SIZE: usize = 1;

    #[inline]
    fn write(&self, w: &mut Writer) -> Result<()> {
        T::write_nullable(self.as_ref(), w)
    }

    #[inline]
    fn read(r: &mut Reader) -> Result<Self> {
        T::read_nullable(r)
    }
}

#[inline]
fn not_null<T>(r: &mut Reader, read: impl Fn(&mut Reader) -> Result<Option<T>>) -> Result<T> {
    let start = r.position();
    match read(r)? {
        Some(value) => Ok(value),
        None => Err(crate::Error::at(
            ErrorKind::Malformed,
            start,
            "null where a value must be",
        )),
    }
}
