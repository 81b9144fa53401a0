//! The result of an earlier job over the same documents, if only some of its fields are requested again: its
//! deliverables lie in `output/` from the beginning, and everything else in them must stay as it is.

use super::id::JobId;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt::Write as _};

/// The deliverables of an earlier job from which a job begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierResult {
    /// The earlier job.
    pub job: JobId,
    /// The only fields that are asked for, by their keys.
    pub only: Vec<String>,
    /// Its deliverables with people's corrections, and the hashes of their copies: see [`EarlierResult::copy_of`].
    pub files: BTreeMap<String, String>,
}

impl EarlierResult {
    /// The path of a deliverable's copy: `assets/earlier/output/contracts.json`.
    pub fn copy_of(deliverable: &str) -> String {
        format!("assets/earlier/{deliverable}")
    }

    /// Whether the job begins with this deliverable.
    pub fn has(&self, deliverable: &str) -> bool {
        self.files.contains_key(deliverable)
    }

    /// The requested fields: `currency and term`.
    pub fn asked_for(&self) -> String {
        match &self.only[..] {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            only => only.join(", "),
        }
    }

    /// Adds a section about it to the task, after the others.
    pub(super) fn add_to(&self, task: &mut String) {
        let fields = self.asked_for();
        let _ = write!(
            task,
            "\n## Only {fields}\n\nAn earlier job has read these documents, and people may have corrected its result. "
        );
        task.push_str("The result lies where this one is to be:\n\n");
        for file in self.files.keys() {
            let _ = writeln!(task, "- `{file}`");
        }
        let _ = write!(
            task,
            "\nOnly {fields} {} asked for now, with the quotes that belong to them: put them into the records that are there, by \
             `list_records` and `edit_records`. No record is added or removed, and every other field stays as it is; a program compares \
             both.\n",
            if self.only.len() == 1 { "is" } else { "are" }
        );
    }
}
