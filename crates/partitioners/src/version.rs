use core::fmt;

/// A release number: up to four dot-separated numbers, compared from left to right.
///
/// What follows the numbers (`-rc1`, `+10`, `.dev0`) is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version([u32; 4]);

impl Version {
    /// Reads a version; a leading `v` is allowed. `None` when it does not start with a number.
    #[must_use]
    pub const fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut parts = [0u32; 4];
        let mut part = 0;
        let mut at = if !bytes.is_empty() && bytes[0] == b'v' {
            1
        } else {
            0
        };
        let mut digits = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            if byte.is_ascii_digit() {
                let Some(tens) = parts[part].checked_mul(10) else {
                    return None;
                };
                let Some(sum) = tens.checked_add((byte - b'0') as u32) else {
                    return None;
                };
                parts[part] = sum;
                digits += 1;
            } else if byte == b'.' && digits > 0 && part < 3 {
                part += 1;
                digits = 0;
            } else {
                break;
            }
            at += 1;
        }
        if part == 0 && digits == 0 {
            None
        } else {
            Some(Self(parts))
        }
    }

    const fn constant(text: &str) -> Self {
        match Self::parse(text) {
            Some(version) => version,
            None => panic!("a version starts with a number"),
        }
    }
}

/// The releases that something holds for: from one on, and before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRange {
    from: Option<(Version, &'static str)>,
    before: Option<(Version, &'static str)>,
}

impl VersionRange {
    /// Every release.
    pub const ALL: Self = Self {
        from: None,
        before: None,
    };

    /// `from` and later.
    #[must_use]
    pub const fn since(from: &'static str) -> Self {
        Self {
            from: Some((Version::constant(from), from)),
            before: None,
        }
    }

    /// Earlier than `before`.
    #[must_use]
    pub const fn before(before: &'static str) -> Self {
        Self {
            from: None,
            before: Some((Version::constant(before), before)),
        }
    }

    /// `from` and later, but earlier than `before`.
    #[must_use]
    pub const fn between(from: &'static str, before: &'static str) -> Self {
        Self {
            before: Self::before(before).before,
            ..Self::since(from)
        }
    }

    /// Whether `version` lies in the range.
    #[must_use]
    pub fn contains(&self, version: Version) -> bool {
        self.from.is_none_or(|(from, _)| from <= version)
            && self.before.is_none_or(|(before, _)| version < before)
    }

    /// Whether the range begins or ends with `version`: a pre-release of it may lie on either side.
    #[must_use]
    pub fn has_bound(&self, version: Version) -> bool {
        let is = |bound: Option<(Version, &str)>| bound.is_some_and(|(bound, _)| bound == version);
        is(self.from) || is(self.before)
    }

    /// Whether the range has no upper end: it holds for the newest release known here.
    #[must_use]
    pub const fn is_current(&self) -> bool {
        self.before.is_none()
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.before) {
            (None, None) => f.write_str("all"),
            (Some((_, from)), None) => write!(f, "{from} and later"),
            (None, Some((_, before))) => write!(f, "before {before}"),
            (Some((_, from)), Some((_, before))) => write!(f, "{from} to before {before}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        let v = |text| Version::parse(text).unwrap();
        assert!(v("0.10.2.2") < v("2.3") && v("2.3") < v("2.10.0"));
        assert_eq!(v("v1.16"), v("1.16.0"));
        assert_eq!(v("1.5.0+10"), v("1.5"));
        assert_eq!(v("4.0.0-rc1"), v("4"));
        for bad in ["", "v", "x1", ".1", "99999999999"] {
            assert_eq!(Version::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn ranges() {
        let v = |text| Version::parse(text).unwrap();
        let range = VersionRange::between("0.10", "2.4");
        assert!(range.contains(v("0.10.0")) && range.contains(v("2.3.1")));
        assert!(!range.contains(v("2.4.0")) && !range.contains(v("0.9")));
        assert!(VersionRange::since("3.3").is_current() && !range.is_current());
        assert!(range.has_bound(v("0.10.0")) && range.has_bound(v("2.4")));
        assert!(!range.has_bound(v("2.3")) && !VersionRange::ALL.has_bound(v("0")));
    }
}
