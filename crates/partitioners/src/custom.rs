use core::fmt;

use crate::{Hash, KeyView, KeyedRule, KeylessRule, Profile, Reduction, Spread};

impl Profile {
    /// Reads a user-defined profile: `hash=…,reduce=…[,view=…][,null=…][,empty=…]`.
    ///
    /// - `hash`: a [`Hash::name`]: `murmur2`, `crc32`, `fnv1a` …
    /// - `reduce`: a [`Reduction::name`]: `mask`, `unsigned`, `signed-abs` …
    /// - `view`: `bytes` (the default) or `characters`
    /// - `null` (default `random`) and `empty` (default `hash`): `hash`, a partition number,
    ///   `random`, `round-robin`, `sticky` or `reject`
    ///
    /// # Errors
    ///
    /// The error names the part that could not be read and what may stand there.
    ///
    /// ```
    /// use copart_partitioners::{Profile, catalogue};
    ///
    /// let own = Profile::parse("hash=fnv1a,reduce=signed-abs")?;
    /// assert_eq!(own, catalogue::find("sarama").unwrap().profile);
    /// # Ok::<(), copart_partitioners::ParseProfileError<'static>>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, ParseProfileError<'_>> {
        let (mut hash, mut reduction) = (None, None);
        let mut view = KeyView::AllBytes;
        let mut null = KeylessRule::Unpinned(Spread::Random);
        let mut empty = KeylessRule::Hashed;
        for part in text.split(',') {
            let error = |problem| ParseProfileError { part, problem };
            let Some((name, value)) = part.split_once('=') else {
                return Err(error(Problem::Part));
            };
            match name.trim() {
                "hash" => {
                    hash = Some(named(Hash::ALL, Hash::name, value).ok_or(error(Problem::Hash))?)
                }
                "reduce" => {
                    reduction = Some(
                        named(Reduction::ALL, Reduction::name, value)
                            .ok_or(error(Problem::Reduce))?,
                    );
                }
                "view" => {
                    let views = &[KeyView::AllBytes, KeyView::CharacterCount];
                    view = named(views, KeyView::name, value).ok_or(error(Problem::View))?;
                }
                "null" => null = keyless(value).ok_or(error(Problem::Keyless))?,
                "empty" => empty = keyless(value).ok_or(error(Problem::Keyless))?,
                _ => return Err(error(Problem::Part)),
            }
        }
        let whole = |problem| ParseProfileError {
            part: text,
            problem,
        };
        let hash = hash.ok_or(whole(Problem::NoHash))?;
        let reduction = reduction.ok_or(whole(Problem::NoReduce))?;
        if hash.is_wide() && reduction != Reduction::Unsigned {
            return Err(whole(Problem::WideHash));
        }
        Ok(Self {
            keyed: KeyedRule::Hashed {
                view,
                hash,
                reduction,
            },
            empty,
            null,
        })
    }
}

fn named<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str, value: &str) -> Option<T> {
    all.iter().copied().find(|&item| name(item) == value.trim())
}

fn keyless(value: &str) -> Option<KeylessRule> {
    Some(match value.trim() {
        "hash" => KeylessRule::Hashed,
        "random" => KeylessRule::Unpinned(Spread::Random),
        "round-robin" => KeylessRule::Unpinned(Spread::RoundRobin),
        "sticky" => KeylessRule::Unpinned(Spread::Sticky),
        "reject" => KeylessRule::Rejected,
        number => KeylessRule::Fixed(number.parse().ok().filter(|partition| *partition >= 0)?),
    })
}

/// Why a user-defined profile could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseProfileError<'a> {
    part: &'a str,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Part,
    Hash,
    Reduce,
    View,
    Keyless,
    NoHash,
    NoReduce,
    WideHash,
}

impl fmt::Display for ParseProfileError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` in a user-defined profile: ", self.part)?;
        match self.problem {
            Problem::Part => {
                f.write_str("expected hash=…, reduce=…, view=…, null=… or empty=…, separated by commas")
            }
            Problem::Hash => list(f, "the hash is one of ", Hash::ALL.iter().map(|h| h.name())),
            Problem::Reduce => {
                list(f, "the reduction is one of ", Reduction::ALL.iter().map(|r| r.name()))
            }
            Problem::View => f.write_str("the view is `bytes` or `characters`"),
            Problem::Keyless => f.write_str(
                "null and empty are `hash`, a partition number, `random`, `round-robin`, `sticky` or `reject`",
            ),
            Problem::NoHash => f.write_str("hash=… is missing"),
            Problem::NoReduce => f.write_str("reduce=… is missing"),
            Problem::WideHash => f.write_str("a hash of 160 bits takes reduce=unsigned only"),
        }
    }
}

fn list(
    f: &mut fmt::Formatter<'_>,
    lead: &str,
    names: impl Iterator<Item = &'static str>,
) -> fmt::Result {
    f.write_str(lead)?;
    for (i, name) in names.enumerate() {
        write!(f, "{}{name}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}

impl core::error::Error for ParseProfileError<'_> {}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn every_part_is_read() {
        let profile =
            Profile::parse("hash=crc32, reduce=unsigned, view=characters, null=3, empty=reject")
                .unwrap();
        assert_eq!(
            profile,
            Profile {
                keyed: KeyedRule::Hashed {
                    view: KeyView::CharacterCount,
                    hash: Hash::Crc32,
                    reduction: Reduction::Unsigned,
                },
                null: KeylessRule::Fixed(3),
                empty: KeylessRule::Rejected,
            }
        );
    }

    #[test]
    fn errors_name_the_part_and_the_choices() {
        for (text, part, hint) in [
            ("hash=md5,reduce=mask", "`hash=md5`", "murmur2, "),
            ("hash=crc32,reduce=modulo", "`reduce=modulo`", "signed-abs"),
            (
                "hash=crc32,reduce=mask,null=-1",
                "`null=-1`",
                "partition number",
            ),
            ("hash=crc32", "`hash=crc32`", "reduce=… is missing"),
            ("reduce=mask", "`reduce=mask`", "hash=… is missing"),
            ("hash=sha1,reduce=mask", "160 bits", "unsigned"),
            (
                "hash=crc32,reduce=mask,salt=1",
                "`salt=1`",
                "expected hash=…",
            ),
            ("crc32", "`crc32`", "expected hash=…"),
        ] {
            let error = Profile::parse(text).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains(hint), "{error}");
        }
    }
}
