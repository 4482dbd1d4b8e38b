//! Rates and times as people write them.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// So much in a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// How much; finite and above 0.
    pub per_second: f64,
    /// Of what.
    pub unit: Unit,
}

/// What a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Records.
    Records,
}

const PREFIXES: [(&str, f64); 9] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("k", 1e3),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
];

/// A number with a decimal prefix: `1.5M`, `64Ki`.
fn scaled(text: &str) -> Option<f64> {
    let with = PREFIXES
        .iter()
        .find_map(|(prefix, factor)| Some((text.strip_suffix(prefix)?, *factor)));
    let (number, factor) = with.unwrap_or((text, 1.0));
    let value = number.trim().parse::<f64>().ok()? * factor;
    (value.is_finite() && value > 0.0).then_some(value)
}

impl FromStr for Rate {
    type Err = String;

    /// Reads `100MB`, `100 MiB/s` (bytes), `50k`, `50k/s` (records).
    fn from_str(text: &str) -> Result<Self, String> {
        let amount = text.trim();
        let amount = amount.strip_suffix("/s").unwrap_or(amount).trim_end();
        let (amount, unit) = match amount.strip_suffix('B') {
            Some(bytes) => (bytes, Unit::Bytes),
            None => (amount, Unit::Records),
        };
        scaled(amount)
            .map(|per_second| Self { per_second, unit })
            .ok_or_else(|| {
                format!("`{text}` is no rate: write 100MB/s for bytes or 50k/s for records")
            })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (factor, prefix) = match self.per_second {
            r if r >= 1e12 => (1e12, "T"),
            r if r >= 1e9 => (1e9, "G"),
            r if r >= 1e6 => (1e6, "M"),
            r if r >= 1e3 => (1e3, "k"),
            _ => (1.0, ""),
        };
        let amount = (self.per_second / factor * 100.0).round() / 100.0;
        match self.unit {
            Unit::Bytes => write!(f, "{amount} {prefix}B/s"),
            Unit::Records => write!(f, "{amount}{prefix} records/s"),
        }
    }
}

/// Reads a size in bytes: `200`, `1kB`, `1KiB`.
///
/// # Errors
///
/// When it is none.
pub fn parse_bytes(text: &str) -> Result<f64, String> {
    let amount = text.trim();
    scaled(amount.strip_suffix('B').unwrap_or(amount))
        .ok_or_else(|| format!("`{text}` is no size: write 200B or 1kB"))
}

/// Reads a time in seconds: `5ms`, `200us`, `1.5s`.
///
/// # Errors
///
/// When it is none.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let time = text.trim();
    let units = [
        ("ms", 1e-3),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ns", 1e-9),
        ("s", 1.0),
    ];
    units
        .iter()
        .find_map(|(unit, factor)| {
            Some(time.strip_suffix(unit)?.trim().parse::<f64>().ok()? * factor)
        })
        .filter(|seconds| seconds.is_finite() && *seconds > 0.0)
        .ok_or_else(|| format!("`{text}` is no time: write 5ms, 200us or 1s"))
}

/// Reads a factor of growth: `2`, `1.5`, `50%` (the same as `1.5`).
///
/// # Errors
///
/// When it is none, or would shrink.
pub fn parse_growth(text: &str) -> Result<f64, String> {
    let growth = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|p| 1.0 + p / 100.0),
        None => text.trim().parse::<f64>(),
    };
    growth
        .ok()
        .filter(|growth| growth.is_finite() && *growth >= 1.0)
        .ok_or_else(|| format!("`{text}` is no growth: write 2 for twice as much, or 50%"))
}

/// Reads a share: `20%`, `0.2`; at least 0 and below 1.
///
/// # Errors
///
/// When it is none.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|p| p / 100.0),
        None => text.trim().parse::<f64>(),
    };
    share
        .ok()
        .filter(|share| (0.0..1.0).contains(share))
        .ok_or_else(|| format!("`{text}` is no share: write 20% or 0.2; it is below 100%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        for (text, per_second, unit, shown) in [
            ("100MB/s", 1e8, Unit::Bytes, "100 MB/s"),
            ("1.5 GiB", 1.5 * 1_073_741_824.0, Unit::Bytes, "1.61 GB/s"),
            ("50k", 5e4, Unit::Records, "50k records/s"),
            ("800/s", 800.0, Unit::Records, "800 records/s"),
            ("20KB", 2e4, Unit::Bytes, "20 kB/s"),
        ] {
            let rate: Rate = text.parse().unwrap();
            assert!((rate.per_second / per_second - 1.0).abs() < 1e-12, "{text}");
            assert_eq!((rate.unit, rate.to_string()), (unit, shown.to_owned()));
        }
        for text in ["", "B", "-1MB", "0", "inf", "NaN", "12 apples", "1e400MB"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn times_sizes_shares_and_growth() {
        assert_eq!(parse_seconds("5ms"), Ok(0.005));
        assert_eq!(parse_seconds("1.5s"), Ok(1.5));
        assert!(parse_seconds("5").is_err() && parse_seconds("-1s").is_err());
        assert_eq!(parse_bytes("1KiB"), Ok(1024.0));
        assert_eq!(parse_growth("50%"), Ok(1.5));
        assert_eq!(parse_growth("3"), Ok(3.0));
        assert!(parse_growth("0.5").is_err());
        assert_eq!(parse_share("20%"), Ok(0.2));
        assert!(parse_share("100%").is_err() && parse_share("-0.1").is_err());
    }
}
