//! Enums whose variants have names on the command line, listed once in their `ALL`.

/// The variant of a name; the error lists all.
pub(crate) fn find<T: Copy>(
    all: &[(T, &'static str)],
    name: &str,
    what: &str,
) -> Result<T, String> {
    let found = all.iter().find(|(_, known)| *known == name);
    found.map(|(value, _)| *value).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|(_, name)| *name).collect();
        format!("`{name}` is no {what}; there are {}", names.join(", "))
    })
}

/// The name of a variant.
pub(crate) fn name<T: PartialEq>(all: &[(T, &'static str)], value: &T) -> &'static str {
    let found = all.iter().find(|(known, _)| known == value);
    found.map_or("", |(_, name)| name)
}

/// Reads and prints an enum by the names in its `ALL`; further names may be read, too.
macro_rules! named {
    ($type:ty, $what:literal $(, $($alias:literal)|+ => $name:literal)*) => {
        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let name = match text {
                    $($($alias)|+ => $name,)*
                    other => other,
                };
                crate::named::find(Self::ALL, name, $what)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(crate::named::name(Self::ALL, self))
            }
        }
    };
}

pub(crate) use named;
