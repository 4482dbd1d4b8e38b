//! Paths as URI references (RFC 3986), for reports that name files so.

use std::path::{Component, Path};

/// A relative path as a relative reference, so that it holds in another checkout; an absolute one,
/// or one with `..`, as a `file` URI.
pub(super) fn of_path(path: &Path) -> String {
    // Where `..` leads, links considered, only the file system knows; SARIF wants it resolved.
    let upward = path.components().any(|c| c == Component::ParentDir);
    let resolved = upward.then(|| path.canonicalize().ok()).flatten();
    let path = resolved.as_deref().unwrap_or(path);
    let mut segments = Vec::new();
    let mut absolute = false;
    for component in path.components() {
        match component {
            Component::Prefix(drive) => {
                segments.push(encoded(drive.as_os_str().as_encoded_bytes(), b":"));
            }
            Component::RootDir => absolute = true,
            Component::CurDir => {}
            Component::ParentDir => segments.push("..".into()),
            Component::Normal(name) => segments.push(encoded(name.as_encoded_bytes(), b"")),
        }
    }
    let path = segments.join("/");
    if absolute {
        format!("file:///{path}")
    } else {
        path
    }
}

/// Everything but unreserved characters, and those `kept`, as percent and two digits. A colon in
/// the first segment would read as the end of a scheme.
fn encoded(bytes: &[u8], kept: &[u8]) -> String {
    let mut segment = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.contains(&byte) {
            segment.push(char::from(byte));
        } else {
            segment.push_str(&format!("%{byte:02X}"));
        }
    }
    segment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_as_references() {
        for (path, uri) in [
            ("keys.txt", "keys.txt"),
            ("./data/keys.txt", "data/keys.txt"),
            ("data//keys.txt", "data/keys.txt"),
            ("a b%41#?.txt", "a%20b%2541%23%3F.txt"),
            ("c:x/y:z", "c%3Ax/y%3Az"),
            ("München", "M%C3%BCnchen"),
            ("a\"<>\n\\", "a%22%3C%3E%0A%5C"),
            ("/tmp/keys 1.txt", "file:///tmp/keys%201.txt"),
            ("../there/is-no-such-file", "../there/is-no-such-file"),
        ] {
            assert_eq!(of_path(Path::new(path)), uri);
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_no_text_and_ways_upward() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(of_path(Path::new(OsStr::from_bytes(b"\xff\x00"))), "%FF%00");

        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        std::fs::create_dir(dir.join("real")).unwrap();
        std::fs::create_dir(dir.join("other")).unwrap();
        std::fs::write(dir.join("real/keys"), "").unwrap();
        std::os::unix::fs::symlink(dir.join("real"), dir.join("other/link")).unwrap();
        // `other/link/..` is not `other`.
        let upward = dir.join("other/link/../real/keys");
        assert_eq!(of_path(&upward), of_path(&dir.join("real/keys")));
    }
}
