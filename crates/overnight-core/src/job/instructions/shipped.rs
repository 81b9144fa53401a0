//! The instructions that come with the program, so that `overnight run extract-requirements` works in any folder. A
//! file of the same name in the instructions folder has priority: the caller looks there first.

use super::{Instructions, InstructionsError, UnreadFile, parse};

macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../../../instructions/", $path)))
    };
}

const FILES: [(&str, &str); 13] = [
    file!("extract-requirements.md"),
    file!("summarize-documents.md"),
    file!("audit-policy.md"),
    file!("extract-invoices.md"),
    file!("extract-contracts.md"),
    file!("rubrics/requirements.md"),
    file!("rubrics/invoices.md"),
    file!("rubrics/contracts.md"),
    file!("schemas/requirements.schema.json"),
    file!("schemas/key-points.schema.json"),
    file!("schemas/findings.schema.json"),
    file!("schemas/invoices.schema.json"),
    file!("schemas/contracts.schema.json"),
];

/// Names of the shipped instructions, in the order in which a person meets them.
pub const NAMES: [&str; 5] =
    ["extract-requirements", "summarize-documents", "audit-policy", "extract-invoices", "extract-contracts"];

/// The text of the shipped instructions of that name (without `.md`).
pub fn shipped(name: &str) -> Option<&'static str> {
    let name = NAMES.iter().find(|known| **known == name)?;
    FILES.iter().find(|(path, _)| path.strip_suffix(".md") == Some(name)).map(|(_, text)| *text)
}

/// A file beside the shipped instructions, for `parse`'s `read_beside`.
pub fn shipped_beside(path: &str) -> Result<String, UnreadFile> {
    FILES
        .iter()
        .find(|(known, _)| *known == path)
        .map(|(_, text)| (*text).to_owned())
        .ok_or_else(|| UnreadFile("no such file comes with the program".to_owned()))
}

/// Shipped instructions, read.
pub fn parse_shipped(name: &str) -> Option<Result<Instructions, InstructionsError>> {
    let text = shipped(name)?;
    Some(parse(&format!("instructions/{name}.md"), text, &shipped_beside))
}
