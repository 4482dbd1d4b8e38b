//! Where reading begins, in words.

use std::str::FromStr;
use std::time::Duration;

use copart::Start;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct From(pub(crate) Start);

impl FromStr for From {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let start = match text {
            "earliest" | "beginning" => Some(Start::Earliest),
            "latest" | "end" => Some(Start::Latest),
            _ => offset(text).or_else(|| ago(text)).or_else(|| time(text)),
        };
        start.map(Self).ok_or_else(|| {
            "it is earliest, latest, an offset, a time such as 2026-11-30T06:00:00Z or @1764482400000, or a \
             duration back from now such as -15m"
                .to_owned()
        })
    }
}

fn offset(text: &str) -> Option<Start> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits
        .then(|| text.parse().ok().map(Start::Offset))
        .flatten()
}

fn ago(text: &str) -> Option<Start> {
    let text = text.strip_prefix('-')?;
    let at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(at);
    let number: u64 = number.parse().ok()?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let back = Duration::from_millis(number.checked_mul(millis)?);
    Some(Start::Ago(back))
}

fn time(text: &str) -> Option<Start> {
    if let Some(milliseconds) = text.strip_prefix('@') {
        let milliseconds: u64 = milliseconds.parse().ok()?;
        return Some(Start::Timestamp(i64::try_from(milliseconds).ok()?));
    }
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let days = days(date)?;
    let seconds = time.map_or(Some(0), seconds)?;
    let milliseconds = (days * 86_400 + seconds) * 1000;
    (milliseconds >= 0).then_some(Start::Timestamp(milliseconds))
}

/// Days since 1970 of a date in the Gregorian calendar.
fn days(date: &str) -> Option<i64> {
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [
        31,
        if is_leap { 29 } else { 28 },
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let index = usize::try_from(month - 1).ok()?;
    let length = *lengths.get(index)?;
    if !(1970..=9999).contains(&year) || !(1..=length).contains(&day) {
        return None;
    }
    let before = year - 1;
    let leap_days = |years: i64| years / 4 - years / 100 + years / 400;
    let whole_years = (year - 1970) * 365 + leap_days(before) - leap_days(1969);
    Some(whole_years + lengths[..index].iter().sum::<i64>() + day - 1)
}

/// Seconds of a time of day, with `Z` or an offset from it.
fn seconds(time: &str) -> Option<i64> {
    let (clock, zone) = match time.find(['Z', 'z', '+', '-']) {
        // Without a zone nobody can tell which time is meant.
        None => return None,
        Some(at) => time.split_at(at),
    };
    let hours_and_minutes = |text: &str| {
        let (hours, minutes) = text.split_once(':')?;
        let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
        ((0..24).contains(&hours) && (0..60).contains(&minutes))
            .then_some(hours * 3600 + minutes * 60)
    };
    let (clock, seconds) = match clock.matches(':').count() {
        2 => clock
            .rsplit_once(':')
            .map(|(clock, s)| (clock, s.parse::<i64>().ok()))?,
        _ => (clock, Some(0)),
    };
    let seconds = seconds.filter(|s| (0..60).contains(s))?;
    let offset = match zone.split_at(1) {
        ("Z" | "z", "") => 0,
        ("+", offset) => hours_and_minutes(offset)?,
        ("-", offset) => -hours_and_minutes(offset)?,
        _ => return None,
    };
    Some(hours_and_minutes(clock)? + seconds - offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_offsets_times_and_durations() {
        for (text, start) in [
            ("earliest", Start::Earliest),
            ("end", Start::Latest),
            ("0", Start::Offset(0)),
            ("42", Start::Offset(42)),
            ("@42", Start::Timestamp(42)),
            ("-90s", Start::Ago(Duration::from_secs(90))),
            ("-2d", Start::Ago(Duration::from_secs(172_800))),
            ("-250ms", Start::Ago(Duration::from_millis(250))),
            ("1970-01-01", Start::Timestamp(0)),
            ("2000-02-29T00:00:00Z", Start::Timestamp(951_782_400_000)),
            ("2026-11-30T06:00:00Z", Start::Timestamp(1_796_018_400_000)),
            (
                "2026-11-30T06:00+02:00",
                Start::Timestamp(1_796_011_200_000),
            ),
        ] {
            assert_eq!(text.parse(), Ok(From(start)), "{text}");
        }
        for text in [
            "",
            "-",
            "-5",
            "-5x",
            "soon",
            "@",
            "@-1",
            "2026-13-01",
            "2026-02-29",
            "2026-11-30T06:00:00",
            "2026-11-30T24:00Z",
            "2026-11-30T06:60Z",
            "1969-12-31",
            "99999999999999999999",
        ] {
            assert!(text.parse::<From>().is_err(), "{text}");
        }
    }
}
