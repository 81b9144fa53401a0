//! The content of one job's review page.

use super::{GrowingList, ReviewedRecord, SourceDocument, reviewed_record::told};
use overnight_core::{
    amount::grouped,
    job::{finding::Finding, id::JobId, record::JobStatus, refused_records::RefusedRecord, reviewed::Approval},
};
use std::{collections::BTreeMap, path::PathBuf};

/// One job for its review: its records with their sources, the most doubtful first.
#[derive(Clone, Debug)]
pub struct JobReview {
    /// Where its workspace lies.
    pub workspace: PathBuf,
    pub id: JobId,
    /// The name of its instructions.
    pub instructions: String,
    pub status: JobStatus,
    /// The reason for its status, a sentence.
    pub reason: Option<String>,
    /// A person has to accept or reject the result.
    pub waits_for_review: bool,
    /// There is a result that can be reviewed.
    pub has_result: bool,
    /// Who accepted the result, the oldest first.
    pub approvals: Vec<Approval>,
    /// The texts with which the job was sent back, the oldest first.
    pub feedback: Vec<String>,
    /// The number of corrections by people, including those in earlier results.
    pub corrections: u32,
    /// Each person's verdict: whether the result was right as it was.
    pub judgements: BTreeMap<String, bool>,
    /// Names of its documents.
    pub documents: Vec<String>,
    /// The models that answered.
    pub models: String,
    /// The model's confidence in the whole result, 0 to 1.
    pub confidence: Option<f64>,
    /// The records of this page: the most doubtful first, else in the order of the deliverables.
    pub records: Vec<ReviewedRecord>,
    /// Which page it is, from 1.
    pub page: usize,
    /// The number of all records, of which `records` may have only a part.
    pub record_count: u64,
    /// The number of records that a person has deleted.
    pub deleted: u64,
    /// The number of records with a doubt.
    pub doubtful: u64,
    /// Open findings that belong to no record of a deliverable.
    pub findings: Vec<JobFinding>,
    /// Records that were refused when they were added, and are in no deliverable.
    pub refused: Vec<RefusedRecord>,
    /// Documents with text, if the job has several, that no record quotes.
    pub unquoted: Vec<String>,
    /// The lists to which a person can add a record.
    pub lists: Vec<GrowingList>,
    /// The parts of the job that could not be read, a sentence each.
    pub notes: Vec<String>,
    /// The documents that are quoted, or named in findings.
    pub sources: Vec<SourceDocument>,
}

/// An open finding that belongs to no record: the second reader has a further record, or the verifier found a fault.
#[derive(Clone, Debug)]
pub struct JobFinding {
    pub finding: Finding,
    pub mark: Option<usize>,
    pub target: Option<String>,
}

impl JobReview {
    /// `a.md`, `a.md and 4 more`; the name of its instructions where it has no document.
    pub fn title(&self) -> String {
        match self.documents.as_slice() {
            [] => self.instructions.clone(),
            [document] => document.clone(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
        }
    }

    /// A sentence on how many of its records are doubtful.
    pub fn counted(&self) -> String {
        let counted = match self.present() {
            0 => "It has no records.".to_owned(),
            count => format!("{} of {} records are doubtful.", grouped(self.doubtful), grouped(count)),
        };
        let deleted = match self.deleted {
            0 => String::new(),
            1 => " One was deleted.".to_owned(),
            number => format!(" {} were deleted.", grouped(number)),
        };
        counted + &deleted + &refused_told(self.refused.len() as u64)
    }

    /// The number of records in the result.
    pub(super) fn present(&self) -> u64 {
        self.record_count - self.deleted
    }

    /// The people who accepted the result: a sentence's beginning each.
    pub fn approved(&self) -> Vec<String> {
        self.approvals.iter().map(|of| told("approved", of.by.as_deref(), of.at, of.comment.as_deref())).collect()
    }

    /// The refused records on this page: they are on the first one.
    pub(super) fn refused_here(&self) -> &[RefusedRecord] {
        if self.page == 1 { &self.refused } else { &[] }
    }

    /// The documents that no record quotes, on the page on which they stand: the first.
    pub(super) fn unquoted_here(&self) -> &[String] {
        if self.page == 1 { &self.unquoted } else { &[] }
    }

    /// Its records are of more than one deliverable.
    pub fn has_several_files(&self) -> bool {
        self.records.iter().any(|record| record.file != self.records[0].file)
    }

    /// The file of page `page` among the pages of a review.
    pub fn file(&self, page: usize) -> String {
        page_file(self.id, page)
    }
}

/// The number of records that are in no result, if there are any: a sentence that follows another.
pub(super) fn refused_told(number: u64) -> String {
    match number {
        0 => String::new(),
        1 => " One more was refused, and is not in the result.".to_owned(),
        number => format!(" {} more were refused, and are not in the result.", grouped(number)),
    }
}

/// `0193….html` of the first page, `0193…-2.html` of the second.
pub(super) fn page_file(job: JobId, page: usize) -> String {
    if page == 1 { format!("{job}.html") } else { format!("{job}-{page}.html") }
}

impl JobFinding {
    /// The text of the finding.
    pub fn told(&self) -> String {
        self.finding.told()
    }
}
