//! What is asked of new versions, and whether there may be any.

use std::fmt;

/// Which earlier versions a new one must fit to, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Anything may follow.
    None,
    /// The new one reads the data of the newest one. The default.
    Backward,
    /// The new one reads the data of all.
    BackwardTransitive,
    /// The newest one reads the data of the new one.
    Forward,
    /// All read the data of the new one.
    ForwardTransitive,
    /// Both, of the newest one.
    Full,
    /// Both, of all.
    FullTransitive,
}

impl Level {
    const ALL: [(Self, &'static str); 7] = [
        (Self::None, "NONE"),
        (Self::Backward, "BACKWARD"),
        (Self::BackwardTransitive, "BACKWARD_TRANSITIVE"),
        (Self::Forward, "FORWARD"),
        (Self::ForwardTransitive, "FORWARD_TRANSITIVE"),
        (Self::Full, "FULL"),
        (Self::FullTransitive, "FULL_TRANSITIVE"),
    ];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|(_, known)| known.eq_ignore_ascii_case(name))
            .map(|(level, _)| level)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Backward => "BACKWARD",
            Self::BackwardTransitive => "BACKWARD_TRANSITIVE",
            Self::Forward => "FORWARD",
            Self::ForwardTransitive => "FORWARD_TRANSITIVE",
            Self::Full => "FULL",
            Self::FullTransitive => "FULL_TRANSITIVE",
        }
    }

    /// The new one reads old data.
    pub(crate) fn is_backward(self) -> bool {
        matches!(
            self,
            Self::Backward | Self::BackwardTransitive | Self::Full | Self::FullTransitive
        )
    }

    /// Old ones read new data.
    pub(crate) fn is_forward(self) -> bool {
        matches!(
            self,
            Self::Forward | Self::ForwardTransitive | Self::Full | Self::FullTransitive
        )
    }

    /// All earlier versions count.
    pub(crate) fn is_transitive(self) -> bool {
        matches!(
            self,
            Self::BackwardTransitive | Self::ForwardTransitive | Self::FullTransitive
        )
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What may be done to subjects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All. The default.
    ReadWrite,
    /// Nothing may be changed.
    ReadOnly,
    /// As `READONLY`, and a subject's own mode does not matter. Of all subjects only.
    ReadOnlyOverride,
    /// Schemas come with their ids and versions, and are not checked.
    Import,
}

impl Mode {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "READWRITE" => Self::ReadWrite,
            "READONLY" => Self::ReadOnly,
            "READONLY_OVERRIDE" => Self::ReadOnlyOverride,
            "IMPORT" => Self::Import,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ReadWrite => "READWRITE",
            Self::ReadOnly => "READONLY",
            Self::ReadOnlyOverride => "READONLY_OVERRIDE",
            Self::Import => "IMPORT",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        for (level, name) in Level::ALL {
            assert_eq!(level.name(), name);
            assert_eq!(Level::from_name(&name.to_lowercase()), Some(level));
        }
        assert_eq!(Level::from_name("BACKWARDS"), None);
        for mode in ["READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT"] {
            assert_eq!(Mode::from_name(mode).map(Mode::name), Some(mode));
        }
    }
}
