//! Paths as a model writes them: refused here because of their spelling, each with a sentence that names the rule and
//! the alternative. [`super::known_path`] judges the target of an accepted path on disk.

use super::files::TEMPORARY;
use overnight_documents::{is_device, is_invisible};
use std::fmt;

/// Bytes of one name: the limit of file systems.
const NAME_BYTES: usize = 255;
/// Bytes of a whole path: under every system's own limit, wherever the workspace lies.
const PATH_BYTES: usize = 1024;
/// Bytes of a refused path that an error repeats.
const SHOWN: usize = 80;

/// The reason why a path of a model is refused. Each is reported to the model unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path {0} is absolute: give it relative to the workspace, such as output/report.md")]
    Absolute(ShownPath),
    #[error("the path {0} goes up with '..': only paths inside the workspace are possible, such as output/report.md")]
    Up(ShownPath),
    #[error("the path {0} has a backslash: put '/' between folders")]
    Backslash(ShownPath),
    #[error("the path {0} has a colon, which means a drive or a stream on some systems: leave it out")]
    Colon(ShownPath),
    #[error("the path {0} has a NUL, a control character or an invisible one: leave it out")]
    Control(ShownPath),
    #[error(
        "the path {0} has a name that some systems reserve for a device or the runner for itself: choose another name"
    )]
    Reserved(ShownPath),
    #[error("the path {0} has a name that ends with a dot or a blank, or begins with a blank: leave it out")]
    Edge(ShownPath),
    #[error("the path {0} has a name of more than {NAME_BYTES} bytes: choose a shorter one")]
    LongName(ShownPath),
    #[error("the path {0} has more than {PATH_BYTES} bytes: choose a shorter one")]
    LongPath(ShownPath),
    #[error("the path {0} is a symbolic link, or leads over one, out of the workspace: use the files in the workspace")]
    LeadsOut(ShownPath),
    #[error("the path {0} leads over a symbolic link: write to a plain path, such as output/report.md")]
    Link(ShownPath),
    #[error("{path} can't be written: {why}")]
    ReadOnly { path: ShownPath, why: &'static str },
    #[error("{0} is the runner's own and can't be read")]
    Unreadable(ShownPath),
}

/// A refused path as an error shows it: quoted, control characters escaped, and cut where it is long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPath(String);

impl ShownPath {
    pub(crate) fn new(path: &str) -> Self {
        let cut = path.floor_char_boundary(SHOWN);
        let more = if cut < path.len() { "…" } else { "" };
        Self(format!("'{}{more}'", path[..cut].escape_debug()))
    }
}

impl fmt::Display for ShownPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A path of a model that is well-formed: relative, with `/` between names, without `.`, `..` and empty names. `.` and
/// the empty path are the workspace itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPath(String);

impl ModelPath {
    /// Takes `path` as a model wrote it. `./`, doubled and trailing slashes are forgiven.
    pub fn parse(path: &str) -> Result<Self, PathError> {
        let refuse = |rule: fn(ShownPath) -> PathError| Err(rule(ShownPath::new(path)));
        if path.len() > PATH_BYTES {
            return refuse(PathError::LongPath);
        }
        // Two names that look the same must be the same.
        if path.chars().any(|letter| letter.is_control() || is_invisible(letter)) {
            return refuse(PathError::Control);
        }
        if path.contains('\\') {
            return refuse(PathError::Backslash);
        }
        if path.contains(':') {
            return refuse(PathError::Colon);
        }
        if path.starts_with('/') || path == "~" || path.starts_with("~/") {
            return refuse(PathError::Absolute);
        }
        let mut clean = String::with_capacity(path.len());
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            if name == ".." {
                return refuse(PathError::Up);
            }
            if name.len() > NAME_BYTES {
                return refuse(PathError::LongName);
            }
            if name.ends_with('.') || name.starts_with(char::is_whitespace) || name.ends_with(char::is_whitespace) {
                return refuse(PathError::Edge);
            }
            // Unfinished files are swept after a crash.
            if is_device(name) || fold_case(name).starts_with(TEMPORARY) {
                return refuse(PathError::Reserved);
            }
            if !clean.is_empty() {
                clean.push('/');
            }
            clean.push_str(name);
        }
        Ok(Self(clean))
    }

    /// The path; empty for the workspace itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn shown(&self) -> ShownPath {
        ShownPath::new(&self.0)
    }
}

/// The name in a case-insensitive form: converted twice, because some letters have only one of the cases (`ſ` and `s`).
pub(crate) fn fold_case(name: &str) -> String {
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(path: &str) -> String {
        ModelPath::parse(path).map_or_else(|error| error.to_string(), |path| path.as_str().to_owned())
    }

    #[test]
    fn good_paths_are_tidied() {
        for (path, expected) in [
            ("output/report.md", "output/report.md"),
            ("./output//a b/ü.md", "output/a b/ü.md"),
            ("output/", "output"),
            (".", ""),
            ("", ""),
            ("...a/.hidden", "...a/.hidden"),
            ("console/com10/auxiliary.txt", "console/com10/auxiliary.txt"),
        ] {
            assert_eq!(said(path), expected);
        }
    }

    #[test]
    fn each_refusal_names_the_rule() {
        let long = "n".repeat(256);
        for (path, rule) in [
            ("/etc/passwd", "is absolute"),
            ("~/x", "is absolute"),
            ("a/../../b", "goes up with '..'"),
            ("..", "goes up with '..'"),
            (r"a\b", "has a backslash"),
            (r"\\server\share", "has a backslash"),
            ("C:x", "has a colon"),
            ("a:b", "has a colon"),
            ("a\0b", "has a NUL"),
            ("a\nb", "has a NUL"),
            ("todos\u{200d}.md", "has a NUL"),
            ("output/NUL", "reserve"),
            ("con.txt", "reserve"),
            ("Lpt1.tar.gz", "reserve"),
            ("COM¹", "reserve"),
            ("output/.Overnight-tmp-1", "reserve"),
            ("a./b", "ends with a dot"),
            ("a /b", "ends with a dot"),
            (" a", "begins with a blank"),
            (&long, "more than 255 bytes"),
            (&"ab/".repeat(500), "more than 1024 bytes"),
        ] {
            let said = said(path);
            assert!(said.contains(rule), "{path}: {said}");
            assert!(said.len() < 300 && !said.contains('\0') && !said.contains('\n'), "{said:?}");
        }
        assert_eq!(
            said("/etc/passwd"),
            "the path '/etc/passwd' is absolute: give it relative to the workspace, such as output/report.md"
        );
    }

    proptest! {
        #[test]
        fn what_passes_stays_inside_and_passes_again(path in "([a.~: /\\\\\0]|\\PC){0,40}") {
            if let Ok(parsed) = ModelPath::parse(&path) {
                let names: Vec<&str> = parsed.as_str().split('/').collect();
                prop_assert!(parsed.is_root() || names.iter().all(|name| !matches!(*name, "" | "." | "..")));
                prop_assert!(std::path::Path::new(parsed.as_str()).is_relative());
                prop_assert_eq!(ModelPath::parse(parsed.as_str()), Ok(parsed));
            }
        }
    }
}
