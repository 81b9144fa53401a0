//! People's reviews of a result: approvals of the whole and of single records, and corrections of fields. They are
//! among the findings (`findings.jsonl`), each settled by its author; a file beside the model's has them all.

use super::time::Timestamp;
use std::collections::BTreeSet;

/// A person accepted the whole result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// The person's name; `None` in journals that have no names.
    pub by: Option<String>,
    /// The time of the approval.
    pub at: Timestamp,
    /// The person's comment.
    pub comment: Option<String>,
}

impl Approval {
    /// The person's name, or words in its place.
    pub fn name(&self) -> String {
        self.by.clone().unwrap_or_else(|| "a person".to_owned())
    }
}

/// A person accepted one record as it is, corrections included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordApproval {
    /// The deliverable.
    pub file: String,
    /// The record's place: `$.requirements[3]`.
    pub record: String,
    /// The person's name.
    pub by: String,
    /// The time of the approval.
    pub at: Timestamp,
    /// The person's comment.
    pub comment: Option<String>,
}

/// People's reviews of the present result. Feedback begins a new one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reviewed {
    /// Approvals of the whole, oldest first.
    pub approvals: Vec<Approval>,
    /// Approvals of records, oldest first.
    pub records: Vec<RecordApproval>,
    /// A file with corrections that is not known to be on the disk.
    pub unwritten: Option<String>,
    /// The number of corrections so far, including those of earlier results.
    pub corrections: u32,
    /// Documents that were added after the job was made.
    pub documents_added: usize,
    /// People who have corrected something or sent a result back, including earlier results.
    pub objectors: BTreeSet<String>,
}

impl Reviewed {
    /// The last approval of the record.
    pub fn record(&self, file: &str, record: &str) -> Option<&RecordApproval> {
        self.records.iter().rev().find(|approval| approval.file == file && approval.record == record)
    }
}

/// The path of the deliverable with all corrections: `output/a.json` → `output/a.corrected.json`.
pub fn corrected_path(file: &str) -> String {
    let folder = file.rfind('/').map_or(0, |slash| slash + 1);
    match file[folder..].rfind('.').filter(|dot| *dot > 0) {
        Some(dot) => format!("{}.corrected{}", &file[..folder + dot], &file[folder + dot..]),
        None => format!("{file}.corrected"),
    }
}

#[cfg(test)]
mod tests {
    use super::corrected_path;

    #[test]
    fn the_corrected_file_lies_beside_the_models() {
        let paths = ["output/a.json", "output/.hidden", "output/v1.2/list"].map(corrected_path);
        assert_eq!(paths, ["output/a.corrected.json", "output/.hidden.corrected", "output/v1.2/list.corrected"]);
    }
}
