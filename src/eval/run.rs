//! A run of a case.

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
    /// The workspace with its documents' texts; `None`: it is not on this machine.
    pub workspace: Option<PathBuf>,
    pub result: RunResult,
    /// The cost of the job; `None` if prices are not known.
    pub cost_usd: Option<f64>,
    pub turns: u64,
    pub worked_ms: u64,
    /// The number of quotes, and of those that were found.
    pub quotes: (u64, u64),
}

/// The result of a run.
#[derive(Clone, Debug)]
pub enum RunResult {
    /// The delivered files, in the order of the case's expected ones, with their records' places. `None`: missing.
    Delivered(Vec<Option<FoundFile>>),
    /// The run ended without a result: it counts as completely wrong.
    Failed(String),
    /// The run has not ended: it is left out of all numbers, and named.
    Missing(String),
}

/// A file that was delivered.
pub(super) type FoundFile = (Value, BTreeMap<String, RecordPlace>);

/// Reads the deliverables in a job's workspace, as the model wrote them.
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

/// The places of a file's records.
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
