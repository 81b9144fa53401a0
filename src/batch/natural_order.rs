//! The order in which the documents of a family are read: as a person sorts names, where `amendment-2` comes before
//! `amendment-10`, with the document that the others belong to first.

use super::Document;
use std::path::Path;

/// A part of a document's sort key. A file comes before folders, a name without a number before others, and a mail
/// before its attachments.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PlacePart {
    is_folder: bool,
    has_number: bool,
    name: Vec<NamePart>,
}

/// A part of a name: digits, or what is between them.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NamePart {
    /// The number of digits without leading zeros, and the digits: more digits are a larger number.
    Number(usize, String),
    Text(String),
}

/// Sorts the documents of one family.
pub(super) fn in_order(documents: &mut [Document]) {
    documents.sort_by_cached_key(|document| {
        let names = std::iter::once(&document.path).chain(&document.inside);
        names.flat_map(|name| place(name)).collect::<Vec<_>>()
    });
}

fn place(name: &str) -> Vec<PlacePart> {
    let mut folders: Vec<&str> = Path::new(name).iter().filter_map(|part| part.to_str()).collect();
    let file = folders.pop().unwrap_or(name);
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or(file);
    let folders = folders.into_iter().map(|name| PlacePart { is_folder: true, has_number: false, name: parts(name) });
    let has_number = stem.contains(|letter: char| letter.is_ascii_digit());
    folders.chain([PlacePart { is_folder: false, has_number, name: parts(stem) }]).collect()
}

fn parts(name: &str) -> Vec<NamePart> {
    let letters: Vec<char> = name.to_lowercase().chars().collect();
    let part = |part: &[char]| {
        let text: String = part.iter().collect();
        if part.iter().all(char::is_ascii_digit) {
            let digits = text.trim_start_matches('0');
            return NamePart::Number(digits.len(), digits.to_owned());
        }
        NamePart::Text(text)
    };
    letters.chunk_by(|one, next| one.is_ascii_digit() == next.is_ascii_digit()).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(names: &[&str]) -> Vec<String> {
        let document = |name: &&str| {
            let mut parts = name.split(" in ").collect::<Vec<_>>();
            let path = parts.pop().unwrap();
            Document {
                name: (*name).to_owned(),
                path: format!("/in/{path}"),
                inside: parts.into_iter().rev().map(str::to_owned).collect(),
                bytes: 1,
                sha256: String::new(),
                tokens: 1,
                scans: 0,
                is_transcribed: false,
                dated: None,
            }
        };
        let mut documents: Vec<Document> = names.iter().map(document).collect();
        in_order(&mut documents);
        documents.into_iter().map(|document| document.name).collect()
    }

    #[test]
    fn the_base_comes_first_and_numbers_count() {
        for expected in [
            &["contract.md", "contract-amendment-2.md", "contract-amendment-10.md"][..],
            &["contract-2019.md", "contract-2019-amendment.md", "contract-2019-amendment-2.md"],
            &["Lease.md", "amendment 1.md", "Amendment 02.md", "amendment 3.md"],
            &["2024-05 offer.eml", "terms.md in 2024-05 offer.eml", "2.md in 2024-05 offer.eml"],
            &["z.md in pack.zip", "a/a.md in pack.zip", "b/1.md in pack.zip"],
            &["deal.md", "annexes 2/map.md", "annexes 10/map.md"],
        ] {
            let mut sorted = expected.to_vec();
            sorted.sort_unstable();
            assert_eq!(ordered(&sorted), expected);
        }
    }
}
