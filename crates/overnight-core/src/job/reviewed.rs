//! What people said of a result: approvals of the whole and of single records, and corrections of fields. Corrections stand among
//! the findings (`findings.jsonl`), each settled by who made it; the deliverable with all of them is a file beside the model's.

use super::time::Timestamp;
use std::collections::BTreeSet;

/// A person accepted the whole result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// A name; none in journals that know none.
    pub by: Option<String>,
    /// When.
    pub at: Timestamp,
    /// In that person's words.
    pub comment: Option<String>,
}

impl Approval {
    /// Who it was, in words.
    pub fn name(&self) -> String {
        self.by.clone().unwrap_or_else(|| "a person".to_owned())
    }
}

/// A person accepted one record as it is, corrections included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordApproval {
    /// The deliverable.
    pub file: String,
    /// `$.requirements[3]`.
    pub record: String,
    /// A name.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// In that person's words.
    pub comment: Option<String>,
}

/// What people said of the present result. Feedback begins it anew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reviewed {
    /// Of the whole, oldest first.
    pub approvals: Vec<Approval>,
    /// Of records, oldest first.
    pub records: Vec<RecordApproval>,
    /// A file with corrections that is not known to be on the disk.
    pub unwritten: Option<String>,
    /// Corrections so far, those of earlier results included.
    pub corrections: u32,
    /// Documents that were added after the job was made.
    pub documents_added: usize,
    /// Who has corrected something or sent a result back, earlier results included.
    pub objectors: BTreeSet<String>,
}

impl Reviewed {
    /// Who accepted the record last.
    pub fn record(&self, file: &str, record: &str) -> Option<&RecordApproval> {
        self.records.iter().rev().find(|approval| approval.file == file && approval.record == record)
    }
}

/// Where the deliverable with all corrections is: `output/a.json` → `output/a.corrected.json`.
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
