//! What was set when a batch was submitted: all that a worker needs to make its workspaces, on whatever machine. It lies as
//! JSON in the batch's row. Secrets are not in it: keys and headers come from each worker's own surroundings.

use crate::job::instructions::Instructions;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// All of the batch's settings. What is missing has its default, so that a row of an older version can be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchSettings {
    /// As they were read, with what stood beside their file, and with the limits that the submission set.
    pub instructions: Instructions,
    /// Where the model's server is; none: where its provider's own is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key; none: the provider's usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Text of the user's table of models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<String>,
    /// The job over all deliverables that is submitted when the batch has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<Box<Closing>>,
    /// What the submission found and left out, for who reads the report.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
}

/// Files that a submission left out. A batch's row is read often, so there is a bound to those that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    pub files: u64,
    pub first: Vec<LeftOutFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOutFile {
    pub path: String,
    /// A fragment.
    pub why: String,
}

/// Files that are kept by name.
const MOST_LEFT_OUT: usize = 5_000;
/// Bytes of their names and reasons.
const MOST_LEFT_OUT_BYTES: usize = 1024 * 1024;

impl LeftOut {
    /// Of a batch's settings as the database has them; nothing of settings of another version, which are a worker's affair.
    pub fn kept(settings: &serde_json::Value) -> Self {
        BatchSettings::deserialize(settings).map(|settings| settings.left_out).unwrap_or_default()
    }

    pub fn of(files: &[(PathBuf, String)]) -> Self {
        let mut bytes = 0;
        let named = files
            .iter()
            .take(MOST_LEFT_OUT)
            .map(|(path, why)| LeftOutFile { path: path.display().to_string(), why: why.clone() });
        let named = named.take_while(|file| {
            bytes += file.path.len() + file.why.len();
            bytes <= MOST_LEFT_OUT_BYTES
        });
        Self { files: files.len() as u64, first: named.collect() }
    }

    fn is_empty(&self) -> bool {
        self.files == 0
    }
}

/// What the closing job is asked to do. The table of models is the batch's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closing {
    /// As those of the batch.
    pub instructions: Instructions,
    /// Their file's whole text.
    pub text: String,
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
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
