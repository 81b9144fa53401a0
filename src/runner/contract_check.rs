//! The contract's checks on the files as they lie in the workspace.

use super::{RunError, quote_positions::QuoteCheck};
use crate::workspace::{ModelPath, Workspace};
use overnight_core::job::{
    contract::{Check, check_deliverable},
    ending::Completion,
    record::{Delivered, QuotePositions},
    state::Job,
};
use std::sync::{Mutex, PoisonError};

/// Bytes of the largest deliverable that is checked whole.
const MOST_BYTES: u64 = 64 << 20;

/// A deliverable of so many bytes, or documents of so many tokens, take many times their size while they are checked.
const LARGE_BYTES: u64 = 4 << 20;
const LARGE_TOKENS: u64 = 2 << 20;

/// Large checks of this process are made one after the other, whoever's they are: memory is shared by all its jobs.
static LARGE: Mutex<()> = Mutex::new(());

/// What was checked.
#[derive(Debug)]
pub(super) struct ContractResult {
    pub(super) checks: Vec<Check>,
    pub(super) deliverables: Vec<Delivered>,
    pub(super) quotes: Option<QuotePositions>,
}

/// Every check of every deliverable, the files that are there, and where the quotes stand.
pub(super) fn check(
    job: &Job,
    workspace: &Workspace,
    completion: Option<&Completion>,
) -> Result<ContractResult, RunError> {
    let tokens: u64 = job.spec.documents.iter().map(|document| document.tokens).sum();
    let size = |path: &str| std::fs::metadata(workspace.path().join(path)).map_or(0, |known| known.len());
    let bytes: u64 = job.spec.instructions.deliverables.iter().map(|deliverable| size(&deliverable.path)).sum();
    let is_large = tokens > LARGE_TOKENS || bytes > LARGE_BYTES;
    let _turn = is_large.then(|| LARGE.lock().unwrap_or_else(PoisonError::into_inner));
    let mut quotes = QuoteCheck::new(job, workspace);
    let mut checks = Vec::new();
    let mut delivered = Vec::new();
    for deliverable in &job.spec.instructions.deliverables {
        let content = match workspace.read_at_most(&deliverable.path, MOST_BYTES) {
            Ok(content) => Some(content),
            Err(error) if error.is_not_found() => None,
            Err(error) => {
                let name = format!("{}: readable", deliverable.path);
                checks.push(Check { name, passed: false, detail: error.to_string() });
                continue;
            }
        };
        checks.extend(check_deliverable(deliverable, content.as_deref(), &mut |asked| quotes.find(asked)));
        if content.is_some() {
            delivered.push(row(workspace, &deliverable.path)?);
        }
    }
    for path in completion.iter().flat_map(|completion| &completion.deliverables) {
        let named = ModelPath::parse(path).ok().filter(|path| path.as_str().starts_with("output/"));
        // A folder, a link that leads out, a pipe: nothing of that is a file, whoever put it there.
        let found = match &named {
            Some(path) if delivered.iter().any(|row: &Delivered| row.path == path.as_str()) => continue,
            Some(path) => row(workspace, path.as_str()).ok(),
            None => None,
        };
        match found {
            Some(found) => delivered.push(found),
            None => checks.push(Check {
                name: format!("{path}: named as a deliverable"),
                passed: false,
                detail: "there is no such file under output/; write it, or leave it out of the list".to_owned(),
            }),
        }
    }
    Ok(ContractResult { checks, deliverables: delivered, quotes: quotes.write()? })
}

fn row(workspace: &Workspace, path: &str) -> Result<Delivered, RunError> {
    let hash = workspace.hash(path)?;
    Ok(Delivered { path: path.to_owned(), sha256: hash.sha256, bytes: hash.bytes })
}
