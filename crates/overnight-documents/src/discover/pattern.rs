//! Paths with `*`, `?`, `[` or `{` that no file has: they mean all documents that match.

use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobSet};

use super::super::error::DocumentError;

/// The wildcards that make a path a pattern.
const SIGNS: [char; 4] = ['*', '?', '[', '{'];

/// A pattern, relative to the longest leading part of its path without wildcards.
#[derive(Debug)]
pub(super) struct GlobPattern {
    /// The folder that is searched; names are relative to it.
    pub(super) folder: PathBuf,
    /// A set, because a single glob panics if its regular expression grows too large.
    names: GlobSet,
    /// The depth in folders below which nothing can match; none: no limit.
    deepest: Option<usize>,
}

impl GlobPattern {
    /// `path` as a pattern; `None`: it has no wildcard.
    pub(super) fn of(path: &Path) -> Option<Result<Self, DocumentError>> {
        let has_sign = |part: &Component<'_>| part.as_os_str().to_str().is_some_and(|part| part.contains(SIGNS));
        let parts: Vec<Component<'_>> = path.components().collect();
        let fixed = parts.iter().position(has_sign)?;
        let folder: PathBuf = parts[..fixed].iter().collect();
        let names: Option<Vec<&str>> = parts[fixed..].iter().map(|part| part.as_os_str().to_str()).collect();
        let no_match = |why: String| DocumentError::NoMatch { pattern: path.to_owned(), why };
        let Some(names) = names else { return Some(Err(no_match("it isn't valid UTF-8".to_owned()))) };
        let names = names.join("/");
        let deepest = (!names.contains("**")).then(|| names.split('/').count());
        let glob = GlobBuilder::new(&names).literal_separator(true).build();
        let glob = glob.and_then(|glob| GlobSet::builder().add(glob).build());
        Some(match glob {
            Ok(glob) => Ok(Self {
                folder: if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder },
                names: glob,
                deepest,
            }),
            Err(error) => Err(no_match(format!("it can't be read as a pattern ({})", error.kind()))),
        })
    }

    /// Whether it matches the document with this name, relative to the folder.
    pub(super) fn fits(&self, name: impl AsRef<Path>) -> bool {
        self.names.is_match(name)
    }

    /// How deep below the folder its documents can lie; none: at any depth.
    pub(super) fn deepest(&self) -> Option<usize> {
        self.deepest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_begins_below_its_longest_fixed_folder() {
        let folder = |path: &str| GlobPattern::of(Path::new(path)).map(|pattern| pattern.unwrap().folder);
        assert_eq!(folder("in/deep/**/*.pdf"), Some("in/deep".into()));
        assert_eq!(folder("/in/{a,b}/c"), Some("/in".into()));
        assert_eq!(folder("*.md"), Some(".".into()));
        assert_eq!(folder("in/a.md"), None);
        let error = GlobPattern::of(Path::new("in/[a")).unwrap().unwrap_err().to_string();
        assert!(error.starts_with("in/[a matches no document: it can't be read as a pattern (unclosed"), "{error}");
    }
}
