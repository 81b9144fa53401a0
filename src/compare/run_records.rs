//! The records of a run by its documents. Each job is read once, and its records go to a temporary file, so a run may
//! have any number of them.

use crate::{
    export::{AcceptedFields, CorrectedRecord, TableJob, read_lists},
    runner::{LoadedJob, load},
    workspace::Workspace,
};
use overnight_core::job::{digest::sha256, spec::DocumentEntry, state::Job};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::Path,
};

/// The reason why no comparison can be made.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error("what is written aside can't be written or read: {0}")]
    Aside(#[from] io::Error),
    #[error("what is written aside can't be written or read: {0}")]
    Record(#[from] serde_json::Error),
}

/// The instructions of some jobs of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RunInstructions {
    pub name: String,
    pub sha256: String,
}

/// A job that can't be compared, or not completely, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunJob {
    pub job: String,
    /// A fragment of a sentence.
    pub why: String,
}

/// A record, as it is stored in the temporary file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunRecord {
    /// Index of its list among those of the run.
    pub(super) list: usize,
    pub(super) place: String,
    pub(super) record: serde_json::Value,
    pub(super) quote: Option<String>,
    pub(super) span: Option<(u64, u64)>,
    pub(super) accepted: AcceptedFields,
}

/// A document of a job, or the job's records that belong to no document in particular.
#[derive(Clone, Debug)]
pub(super) struct RunDocument {
    /// The document's name in the job.
    pub(super) name: String,
    /// The hash of the content; for records of no document, the hash of all the job's documents.
    pub(super) content: String,
    pub(super) is_document: bool,
    pub(super) job: String,
    /// Its job has written a readable list.
    pub(super) has_result: bool,
    /// Offset and length in bytes of its records in the temporary file.
    at: (u64, usize),
}

/// The records of all jobs of a run.
#[derive(Debug)]
pub struct RunRecords {
    pub jobs: u64,
    /// Jobs that have not ended: their records so far are compared.
    pub unfinished: u64,
    /// By name and hash, with the number of jobs.
    pub instructions: BTreeMap<RunInstructions, u64>,
    pub left_out: Vec<RunJob>,
    pub(super) lists: Vec<String>,
    pub(super) documents: Vec<RunDocument>,
    aside: File,
}

impl RunRecords {
    /// Reads the jobs; the records go to an unnamed temporary file in the folder `aside`.
    pub fn read(jobs: &[TableJob], aside: &Path) -> Result<Self, CompareError> {
        let mut run = Self {
            jobs: jobs.len() as u64,
            unfinished: 0,
            instructions: BTreeMap::new(),
            left_out: Vec::new(),
            lists: Vec::new(),
            documents: Vec::new(),
            aside: tempfile::tempfile_in(aside)?,
        };
        let mut out = BufWriter::new(run.aside.try_clone()?);
        for wanted in jobs {
            let read = match &wanted.workspace {
                Ok(path) => load(path).map_err(|error| error.to_string()).and_then(|LoadedJob { job, .. }| {
                    Workspace::open(path).map(|workspace| (job, workspace)).map_err(|error| error.to_string())
                }),
                Err(why) => Err(why.clone()),
            };
            match read {
                Ok((job, workspace)) => run.take(&wanted.id, &job, &workspace, &mut out)?,
                Err(why) => run.left_out.push(RunJob { job: wanted.id.clone(), why }),
            }
        }
        out.flush()?;
        drop(out);
        Ok(run)
    }

    /// Adds the records of one job, by its documents.
    fn take(
        &mut self,
        id: &str,
        job: &Job,
        workspace: &Workspace,
        out: &mut (impl Write + Seek),
    ) -> Result<(), CompareError> {
        let spec = &job.spec;
        let instructions =
            RunInstructions { name: spec.instructions.name.clone(), sha256: spec.instructions_sha256.clone() };
        *self.instructions.entry(instructions).or_default() += 1;
        self.unfinished += u64::from(!job.has_result() && !job.job_status().0.is_end());
        // By index among the job's documents; the index after the last is for records of no document.
        let mut records: BTreeMap<usize, Vec<RunRecord>> = BTreeMap::new();
        let mut has_result = false;
        let lists = read_lists(job, workspace);
        if lists.is_empty() {
            let why = "its instructions have no list of records".to_owned();
            self.left_out.push(RunJob { job: id.to_owned(), why });
        }
        for (list, read) in lists {
            let read = match read {
                Ok(read) => read,
                Err(error) => {
                    self.left_out.push(RunJob { job: id.to_owned(), why: error.to_string() });
                    continue;
                }
            };
            has_result = true;
            let list = self.list(list);
            for CorrectedRecord { place, record, document, quote, span, accepted } in read {
                let named = document.and_then(|name| spec.named(&name)).map(|document| &document.name);
                let of = spec.documents.iter().position(|document| Some(&document.name) == named);
                let record = RunRecord { list, place, record, quote, span, accepted };
                records.entry(of.unwrap_or(spec.documents.len())).or_default().push(record);
            }
        }
        for (place, document) in spec.documents.iter().map(Some).chain([None]).enumerate() {
            let of_document = records.remove(&place).unwrap_or_default();
            if document.is_none() && of_document.is_empty() {
                continue;
            }
            let from = out.stream_position()?;
            let text = serde_json::to_vec(&of_document)?;
            out.write_all(&text)?;
            self.documents.push(RunDocument {
                name: document.map_or_else(|| name_of_all(&spec.documents), |document| document.name.clone()),
                content: document.map_or_else(|| content_of_all(&spec.documents), |document| document.sha256.clone()),
                is_document: document.is_some(),
                job: spec.id.to_string(),
                has_result,
                at: (from, text.len()),
            });
        }
        Ok(())
    }

    /// The place of a list among those of the run.
    fn list(&mut self, name: String) -> usize {
        self.lists.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.lists.push(name);
            self.lists.len() - 1
        })
    }

    /// The records of a document.
    pub(super) fn records(&self, document: &RunDocument) -> Result<Vec<RunRecord>, CompareError> {
        let (from, length) = document.at;
        let mut text = vec![0; length];
        let mut aside = &self.aside;
        aside.seek(SeekFrom::Start(from))?;
        aside.read_exact(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }
}

/// `a.md and 2 more`.
fn name_of_all(documents: &[DocumentEntry]) -> String {
    match documents {
        [] => String::new(),
        [one] => one.name.clone(),
        [first, others @ ..] => format!("{} and {} more", first.name, others.len()),
    }
}

/// The same for the same documents, in whatever order.
fn content_of_all(documents: &[DocumentEntry]) -> String {
    let mut contents: Vec<&str> = documents.iter().map(|document| document.sha256.as_str()).collect();
    contents.sort_unstable();
    sha256(contents.concat().as_bytes())
}
