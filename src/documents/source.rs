//! A document under a name of its own. What waits in a queue names its documents in one text each; a worker, hours later
//! and maybe elsewhere, gives these texts to [`super::gather`] as they are.

use std::path::Path;

/// Between name and path. No path and no name has it in it, so that no file's own path is ever taken for both.
const MARK: char = '\0';

/// The text that means the file at `path`, called `name` among the documents. Where it would be called so anyway, it is the
/// path alone.
pub fn source(name: &str, path: &str) -> String {
    let own = Path::new(path).file_name().and_then(|own| own.to_str());
    if own == Some(name) { path.to_owned() } else { format!("{name}{MARK}{path}") }
}

/// The name that was given, and the path.
pub(super) fn parts(source: &Path) -> (Option<&str>, &Path) {
    match source.to_str().and_then(|text| text.split_once(MARK)) {
        Some((name, path)) => (Some(name), Path::new(path)),
        None => (None, source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_goes_with_its_path() {
        assert_eq!(source("a.md", "/in/a.md"), "/in/a.md");
        let other = source("x/a.md", "/in/x/a.md");
        assert_eq!(parts(Path::new(&other)), (Some("x/a.md"), Path::new("/in/x/a.md")));
        assert_eq!(parts(Path::new("x:/in/a.md")), (None, Path::new("x:/in/a.md")));
    }
}
