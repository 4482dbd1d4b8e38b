//! Variable-length integers: seven bits a byte, least significant first, the
//! top bit set on every byte but the last. Records use the zigzag forms,
//! flexible messages the unsigned one.

use crate::{Error, ErrorKind, Result};

/// The most bytes that a 32-bit varint takes.
pub const MAX_VARINT: usize = 5;
/// The most bytes that a 64-bit varint takes.
pub const MAX_VARLONG: usize = 10;

/// Maps small negative numbers to small unsigned ones.
#[inline]
pub const fn zigzag32(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)) as u32
}

/// Undoes [`zigzag32`].
#[inline]
pub const fn unzigzag32(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}

/// Maps small negative numbers to small unsigned ones.
#[inline]
pub const fn zigzag64(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Undoes [`zigzag64`].
#[inline]
pub const fn unzigzag64(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// How many bytes `value` takes as an unsigned varint.
#[inline]
pub const fn size_u32(value: u32) -> usize {
    // 1 to 5: ceil(bits / 7), with zero counted as one bit.
    ((31 - (value | 1).leading_zeros()) / 7 + 1) as usize
}

/// How many bytes `value` takes as an unsigned varlong.
#[inline]
pub const fn size_u64(value: u64) -> usize {
    ((63 - (value | 1).leading_zeros()) / 7 + 1) as usize
}

/// How many bytes `value` takes as a zigzag varint.
#[inline]
pub const fn size_i32(value: i32) -> usize {
    size_u32(zigzag32(value))
}

/// How many bytes `value` takes as a zigzag varlong.
#[inline]
pub const fn size_i64(value: i64) -> usize {
    size_u64(zigzag64(value))
}

/// Reads an unsigned varint at `*position` and moves the position behind it.
///
/// On an error the position is where it was.
#[inline]
pub fn read_u32(input: &[u8], position: &mut usize) -> Result<u32> {
    // One or two bytes (up to 16,383, in zigzag 8,191) are what lengths and
    // deltas mostly take.
    match input.get(*position..) {
        Some(&[low, ..]) if low < 0x80 => {
            *position += 1;
            Ok(u32::from(low))
        }
        Some(&[low, high, ..]) if high < 0x80 => {
            *position += 2;
            Ok(u32::from(low & 0x7f) | u32::from(high) << 7)
        }
        _ => read_long(input, position, 32).map(|value| value as u32),
    }
}

/// Reads an unsigned varlong at `*position` and moves the position behind it.
///
/// On an error the position is where it was.
#[inline]
pub fn read_u64(input: &[u8], position: &mut usize) -> Result<u64> {
    match input.get(*position..) {
        Some(&[low, ..]) if low < 0x80 => {
            *position += 1;
            Ok(u64::from(low))
        }
        Some(&[low, high, ..]) if high < 0x80 => {
            *position += 2;
            Ok(u64::from(low & 0x7f) | u64::from(high) << 7)
        }
        _ => read_long(input, position, 64),
    }
}

/// Reads a number of `bits` bits that takes more than two bytes, or is none.
#[cold]
fn read_long(input: &[u8], position: &mut usize, bits: u32) -> Result<u64> {
    let mut value = 0u64;
    let mut shift = 0;
    let rest = input.get(*position..).unwrap_or_default();
    for (index, &byte) in rest.iter().enumerate() {
        let part = u64::from(byte & 0x7f);
        // The last byte holds the bits that are left, and has no successor.
        if shift + 7 > bits && (part >> (bits - shift) != 0 || byte >= 0x80) {
            return Err(Error::at(
                ErrorKind::Malformed,
                *position,
                format!("a varint holds more than {bits} bits"),
            ));
        }
        value |= part << shift;
        if byte < 0x80 {
            *position += index + 1;
            return Ok(value);
        }
        shift += 7;
    }
    Err(Error::at(
        ErrorKind::Truncated,
        *position,
        "the input ends inside a varint",
    ))
}

/// Reads a zigzag varint at `*position` and moves the position behind it.
#[inline]
pub fn read_i32(input: &[u8], position: &mut usize) -> Result<i32> {
    read_u32(input, position).map(unzigzag32)
}

/// Reads a zigzag varlong at `*position` and moves the position behind it.
#[inline]
pub fn read_i64(input: &[u8], position: &mut usize) -> Result<i64> {
    read_u64(input, position).map(unzigzag64)
}

/// Writes `value` as an unsigned varint at the start of `out` and says how
/// many bytes it took.
///
/// # Panics
/// When `out` is shorter than [`size_u32`] says.
#[inline]
pub fn write_u32(mut value: u32, out: &mut [u8]) -> usize {
    let mut index = 0;
    while value >= 0x80 {
        out[index] = value as u8 | 0x80;
        value >>= 7;
        index += 1;
    }
    out[index] = value as u8;
    index + 1
}

/// Writes `value` as an unsigned varlong at the start of `out` and says how
/// many bytes it took.
///
/// # Panics
/// When `out` is shorter than [`size_u64`] says.
#[inline]
pub fn write_u64(mut value: u64, out: &mut [u8]) -> usize {
    let mut index = 0;
    while value >= 0x80 {
        out[index] = value as u8 | 0x80;
        value >>= 7;
        index += 1;
    }
    out[index] = value as u8;
    index + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_u32(value: u32, out: &mut Vec<u8>) {
        let mut bytes = [0; MAX_VARINT];
        let size = write_u32(value, &mut bytes);
        out.extend_from_slice(&bytes[..size]);
    }

    fn put_i32(value: i32, out: &mut Vec<u8>) {
        put_u32(zigzag32(value), out);
    }

    fn put_i64(value: i64, out: &mut Vec<u8>) {
        let mut bytes = [0; MAX_VARLONG];
        let size = write_u64(zigzag64(value), &mut bytes);
        out.extend_from_slice(&bytes[..size]);
    }

    const EDGES_32: [u32; 12] = [
        0,
        1,
        127,
        128,
        16_383,
        16_384,
        (1 << 21) - 1,
        1 << 21,
        (1 << 28) - 1,
        1 << 28,
        u32::MAX - 1,
        u32::MAX,
    ];

    #[test]
    fn round_trips_at_every_width() {
        for value in EDGES_32 {
            let mut bytes = Vec::new();
            put_u32(value, &mut bytes);
            assert_eq!(bytes.len(), size_u32(value), "{value}");
            let mut position = 0;
            assert_eq!(read_u32(&bytes, &mut position).unwrap(), value);
            assert_eq!(position, bytes.len());
        }
        for shift in 0..64 {
            for value in [1u64 << shift, (1u64 << shift) - 1, u64::MAX >> shift] {
                let mut bytes = [0; MAX_VARLONG];
                let size = write_u64(value, &mut bytes);
                assert_eq!(size, size_u64(value), "{value}");
                let mut position = 0;
                assert_eq!(read_u64(&bytes[..size], &mut position).unwrap(), value);
                assert_eq!(position, size);
            }
        }
    }

    #[test]
    fn zigzag_keeps_signs() {
        // From the protocol's definition: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
        for (value, mapped) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (2, 4)] {
            assert_eq!(zigzag32(value), mapped);
            assert_eq!(unzigzag32(mapped), value);
        }
        for value in [i64::MIN, i64::MAX, -1, 0, 1] {
            assert_eq!(unzigzag64(zigzag64(value)), value);
            let mut bytes = Vec::new();
            put_i64(value, &mut bytes);
            assert_eq!(bytes.len(), size_i64(value));
            assert_eq!(read_i64(&bytes, &mut 0).unwrap(), value);
        }
        for value in [i32::MIN, i32::MAX, -64, 63, 64, -65] {
            assert_eq!(unzigzag32(zigzag32(value)), value);
            let mut bytes = Vec::new();
            put_i32(value, &mut bytes);
            assert_eq!(bytes.len(), size_i32(value));
            assert_eq!(read_i32(&bytes, &mut 0).unwrap(), value);
        }
    }

    #[test]
    fn refuses_what_does_not_fit_or_ends_early() {
        for (bytes, kind) in [
            (&[][..], ErrorKind::Truncated),
            (&[0x80], ErrorKind::Truncated),
            (&[0xff, 0xff, 0xff, 0xff], ErrorKind::Truncated),
            (&[0xff, 0xff, 0xff, 0xff, 0x10], ErrorKind::Malformed),
            (&[0x80, 0x80, 0x80, 0x80, 0x80, 0x00], ErrorKind::Malformed),
        ] {
            let mut position = 0;
            let error = read_u32(bytes, &mut position).unwrap_err();
            assert_eq!((error.kind(), position), (kind, 0), "{bytes:?}");
        }
        let mut long = [0xff; 10];
        long[9] = 0x02;
        let error = read_u64(&long, &mut 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed);
        long[9] = 0x01;
        assert_eq!(read_u64(&long, &mut 0).unwrap(), u64::MAX);
        let error = read_u64(&long[..9], &mut 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated);
    }

    #[test]
    fn longer_than_needed_is_read() {
        // A padded zero: Kafka reads it too.
        let mut position = 0;
        assert_eq!(read_u32(&[0x80, 0x80, 0x00], &mut position).unwrap(), 0);
        assert_eq!(position, 3);
    }
}
