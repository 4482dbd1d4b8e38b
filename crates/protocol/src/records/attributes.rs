//! The attribute bits of a batch.

use super::Codec;

/// What a record's timestamp means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimestampType {
    /// When the producer created the record.
    CreateTime,
    /// When the broker appended it. All records of a batch then have one
    /// timestamp: the batch's `max_timestamp`.
    LogAppendTime,
}

/// The attributes of a batch: codec, timestamp type and flags.
///
/// Bits that no version of the format has defined are kept as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attributes(i16);

impl Attributes {
    const CODEC: i16 = 0b111;
    const LOG_APPEND_TIME: i16 = 1 << 3;
    const TRANSACTIONAL: i16 = 1 << 4;
    const CONTROL: i16 = 1 << 5;
    const DELETE_HORIZON: i16 = 1 << 6;

    /// The attributes with these bits.
    pub const fn from_bits(bits: i16) -> Self {
        Self(bits)
    }

    /// The bits, as a batch carries them.
    pub const fn bits(self) -> i16 {
        self.0
    }

    /// The codec, or `None` for a number that no codec has.
    pub const fn codec(self) -> Option<Codec> {
        Codec::from_id((self.0 & Self::CODEC) as u8)
    }

    /// What the timestamps mean.
    pub const fn timestamp_type(self) -> TimestampType {
        if self.0 & Self::LOG_APPEND_TIME == 0 {
            TimestampType::CreateTime
        } else {
            TimestampType::LogAppendTime
        }
    }

    /// Is the batch part of a transaction?
    pub const fn is_transactional(self) -> bool {
        self.0 & Self::TRANSACTIONAL != 0
    }

    /// Does the batch hold control records, which applications never see?
    pub const fn is_control(self) -> bool {
        self.0 & Self::CONTROL != 0
    }

    /// Is the base timestamp the time from which the batch's tombstones and
    /// markers may be removed (set by the log cleaner)?
    pub const fn has_delete_horizon(self) -> bool {
        self.0 & Self::DELETE_HORIZON != 0
    }

    /// The same with this codec.
    #[must_use]
    pub const fn with_codec(self, codec: Codec) -> Self {
        Self(self.0 & !Self::CODEC | codec.id() as i16)
    }

    /// The same with this timestamp type.
    #[must_use]
    pub const fn with_timestamp_type(self, timestamp_type: TimestampType) -> Self {
        self.with(
            Self::LOG_APPEND_TIME,
            matches!(timestamp_type, TimestampType::LogAppendTime),
        )
    }

    /// The same, part of a transaction or not.
    #[must_use]
    pub const fn with_transactional(self, yes: bool) -> Self {
        self.with(Self::TRANSACTIONAL, yes)
    }

    /// The same, with control records or without.
    #[must_use]
    pub const fn with_control(self, yes: bool) -> Self {
        self.with(Self::CONTROL, yes)
    }

    /// The same, with a delete horizon or without.
    #[must_use]
    pub const fn with_delete_horizon(self, yes: bool) -> Self {
        self.with(Self::DELETE_HORIZON, yes)
    }

    const fn with(self, bit: i16, yes: bool) -> Self {
        Self(if yes { self.0 | bit } else { self.0 & !bit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_where_the_format_has_them() {
        let all = Attributes::default()
            .with_codec(Codec::Zstd)
            .with_timestamp_type(TimestampType::LogAppendTime)
            .with_transactional(true)
            .with_control(true)
            .with_delete_horizon(true);
        assert_eq!(all.bits(), 0b111_1100);
        assert_eq!(all.codec(), Some(Codec::Zstd));
        assert_eq!(all.timestamp_type(), TimestampType::LogAppendTime);
        assert!(all.is_transactional() && all.is_control() && all.has_delete_horizon());

        let none = all
            .with_codec(Codec::None)
            .with_timestamp_type(TimestampType::CreateTime)
            .with_transactional(false)
            .with_control(false)
            .with_delete_horizon(false);
        assert_eq!(none, Attributes::default());
    }

    #[test]
    fn unknown_codecs_and_bits_are_seen_and_kept() {
        assert_eq!(Attributes::from_bits(5).codec(), None);
        let unknown = Attributes::from_bits(1 << 9).with_control(true);
        assert_eq!(unknown.bits(), 1 << 9 | 1 << 5);
    }
}
