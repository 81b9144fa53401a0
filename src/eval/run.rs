//! What came of a case in one run.

use crate::{
    export::{CorrectedRecord, read_lists_as_written},
    gold::{GoldenCase, is_json},
    runner::load,
    workspace::Workspace,
};
use overnight_core::job::{
    digest::sha256,
    record::JobStatus,
    state::{Job, Status},
};
use overnight_evals::comparison::RecordPlace;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Bytes of a deliverable, at most.
const MOST_BYTES: u64 = 256 << 20;

/// A run of a case.
#[derive(Clone, Debug)]
pub struct EvalRun {
    pub case: String,
    /// From 1.
    pub repeat: u32,
    pub job: String,
    /// Where its documents' texts are; none: not here.
    pub workspace: Option<PathBuf>,
    pub result: RunResult,
    /// What the job cost; none where prices are not known.
    pub cost_usd: Option<f64>,
    pub turns: u64,
    pub worked_ms: u64,
    /// Quotes that are to be found, and those that were.
    pub quotes: (u64, u64),
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum RunResult {
    /// What is compared, by the places of the case's expected files, with where its records stand. None: that file is missing.
    Delivered(Vec<Option<FoundFile>>),
    /// It ended without a result: all of it is wrong.
    Failed(String),
    /// It has not ended: it counts nowhere, and is named.
    Missing(String),
}

/// A file that was delivered.
pub(super) type FoundFile = (Value, BTreeMap<String, RecordPlace>);

/// Reads what the job in a workspace delivered, as the model wrote it.
pub fn read_run(workspace: &Path, case: &GoldenCase, status: JobStatus) -> (RunResult, (u64, u64)) {
    let missing = |why: String| (RunResult::Missing(why), (0, 0));
    let job = match load(workspace) {
        Ok(loaded) => loaded.job,
        Err(error) => return missing(error.to_string()),
    };
    let files = match Workspace::open(workspace) {
        Ok(files) => files,
        Err(error) => return missing(error.to_string()),
    };
    let delivered = match &job.status {
        Status::Ended(ending) => &ending.deliverables[..],
        Status::Running | Status::Held { .. } => &[],
    };
    let mut found = Vec::with_capacity(case.expected.len());
    for expected in &case.expected {
        let path = expected.deliverable.clone().or_else(|| first_json(&job));
        let file = path.and_then(|path| Some((files.read_at_most(&path, MOST_BYTES).ok()?, path)));
        if let Some((content, path)) = &file
            && delivered.iter().any(|known| known.path == *path && known.sha256 != sha256(content))
        {
            return missing(format!("{path} is not as the job left it"));
        }
        let value = file.and_then(|(content, path)| Some((serde_json::from_slice(&content).ok()?, path)));
        found.push(value.map(|(value, path)| (value, places(&job, &files, &path))));
    }
    let quotes = match &job.status {
        Status::Ended(ending) => ending.quotes.as_ref().map_or((0, 0), |quotes| (quotes.quotes, quotes.found)),
        Status::Running | Status::Held { .. } => (0, 0),
    };
    if found.iter().all(Option::is_none) {
        return (RunResult::Failed(format!("it is {status} and has delivered no JSON file")), (0, 0));
    }
    (RunResult::Delivered(found), quotes)
}

fn first_json(job: &Job) -> Option<String> {
    let deliverables = job.spec.instructions.deliverables.iter();
    deliverables.map(|deliverable| &deliverable.path).find(|path| is_json(path)).cloned()
}

/// Where the records of a file stand.
fn places(job: &Job, files: &Workspace, path: &str) -> BTreeMap<String, RecordPlace> {
    let of_file =
        read_lists_as_written(job, files).into_iter().filter(|(name, _)| name.split('#').next() == Some(path));
    let records = of_file.filter_map(|(_, records)| records.ok()).flatten();
    records
        .filter_map(|CorrectedRecord { place, document, span, .. }| {
            let (start, end) = span?;
            Some((place, RecordPlace { document: document?, start, end }))
        })
        .collect()
}
