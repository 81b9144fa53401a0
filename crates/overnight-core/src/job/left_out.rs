//! Files that were found where documents were looked for, and are no documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Files that were left out. They are part of records that are read often, so only a bounded number is named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The number of files, including unnamed ones.
    pub files: u64,
    /// The named files, in the order in which they were found.
    pub first: Vec<LeftOutFile>,
}

/// A file that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOutFile {
    /// The path as found; within its archive if it was in one.
    pub path: String,
    /// The reason, a phrase.
    pub why: String,
}

/// Files that are kept by name.
const MOST_FILES: usize = 5_000;
/// Bytes of their names and reasons.
const MOST_BYTES: usize = 1024 * 1024;

impl LeftOut {
    /// Names as many files as the bounds allow.
    pub fn of(files: &[(PathBuf, String)]) -> Self {
        let mut bytes = 0;
        let named = files
            .iter()
            .take(MOST_FILES)
            .map(|(path, why)| LeftOutFile { path: path.display().to_string(), why: why.clone() });
        let named = named.take_while(|file| {
            bytes += file.path.len() + file.why.len();
            bytes <= MOST_BYTES
        });
        Self { files: files.len() as u64, first: named.collect() }
    }

    /// Whether everything was taken.
    pub fn is_empty(&self) -> bool {
        self.files == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_kept_by_name_up_to_a_bound() {
        let kept = |count: usize, why: &str| {
            let files: Vec<(PathBuf, String)> =
                (0..count).map(|number| (PathBuf::from(format!("{number:05}.pdf")), why.to_owned())).collect();
            let kept = LeftOut::of(&files);
            (kept.files, kept.first.len(), kept.first.last().map(|file| file.path.clone()))
        };
        assert_eq!(kept(152, "damaged"), (152, 152, Some("00151.pdf".to_owned())));
        assert_eq!(kept(6_000, "damaged"), (6_000, 5_000, Some("04999.pdf".to_owned())));
        // 9 bytes of name and 1015 of reason
        assert_eq!(kept(2_000, &"x".repeat(1_015)), (2_000, 1_024, Some("01023.pdf".to_owned())));
    }
}
