//! A document as one text. A program that has to remember documents stores one text for each, and passes these texts on
//! to [`super::discover`] later, maybe in another process. It gets the same documents: each text means one document,
//! even if its file contains others.

use chrono::NaiveDate;
use std::path::Path;

/// Separates name, path, and the names inside the file. None of them can contain it, so that a file's own path is never
/// taken for such a text.
const MARK: char = '\0';

/// The text for the document called `name`, which is the file at `path` or lies `inside` it. It may carry the day of
/// the document, before an empty name's mark: no document has an empty name.
pub fn source(name: &str, path: &str, inside: &[String], dated: Option<NaiveDate>) -> String {
    let dated = dated.map(|day| format!("{MARK}{day}{MARK}")).unwrap_or_default();
    inside.iter().fold(format!("{dated}{name}{MARK}{path}"), |text, part| format!("{text}{MARK}{part}"))
}

/// A path with the data that it carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceParts<'a> {
    /// None: a path as users write it.
    pub(super) name: Option<&'a str>,
    pub(super) path: &'a Path,
    pub(super) inside: Vec<&'a str>,
    pub(super) dated: Option<NaiveDate>,
}

pub(super) fn parts(source: &Path) -> SourceParts<'_> {
    let text = source.to_str().unwrap_or_default();
    let (dated, text) = match text.strip_prefix(MARK).and_then(|text| text.split_once(MARK)) {
        Some((day, text)) => (day.parse().ok(), text),
        None => (None, text),
    };
    match text.split_once(MARK) {
        Some((name, place)) => {
            let mut parts = place.split(MARK);
            let path = Path::new(parts.next().unwrap_or(place));
            SourceParts { name: Some(name), path, inside: parts.collect(), dated }
        }
        None => SourceParts { name: None, path: source, inside: Vec::new(), dated: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_found_again_by_its_text() {
        let text = source("x/a.zip/b/c.md", "/in/a.zip", &["b.zip".to_owned(), "c.md".to_owned()], None);
        let (path, inside) = (Path::new("/in/a.zip"), vec!["b.zip", "c.md"]);
        let expected = SourceParts { name: Some("x/a.zip/b/c.md"), path, inside, dated: None };
        assert_eq!(parts(Path::new(&text)), expected);
        let dated = NaiveDate::from_ymd_opt(2026, 3, 1);
        let text = source("a.md", "/in/a.md", &[], dated);
        let expected = SourceParts { name: Some("a.md"), path: Path::new("/in/a.md"), inside: Vec::new(), dated };
        assert_eq!(parts(Path::new(&text)), expected);
        let path = Path::new("x:/in/a.md");
        assert_eq!(parts(path), SourceParts { name: None, path, inside: Vec::new(), dated: None });
    }
}
