//! The contract's checks on the files as they lie in the workspace.

use super::{RunError, earlier_check::check_earlier, quote_positions::QuoteCheck, second_lists};
use crate::{
    table_query::DocumentReader,
    workspace::{ModelPath, Workspace},
};
use overnight_core::job::{
    call::FileChange,
    comparison::Lists,
    contract::{
        Check, CheckedDeliverable, DeliverableState, RuleMemory, Sources, check_deliverable, each_broken_rule,
        quotes_changed_at,
    },
    ending::Completion,
    event::ToolResult,
    finding::CorrectedQuote,
    instructions::{CheckLevel, Deliverable},
    record::{Delivered, QuotePositions},
    state::Job,
};
use serde_json::Value;
use std::{
    sync::{Mutex, PoisonError, TryLockError},
    time::{Duration, Instant},
};

/// Bytes of the largest deliverable that is checked whole.
const MOST_BYTES: u64 = 64 << 20;

/// A deliverable of this size, or documents of this many tokens, takes many times its size while it is checked.
const LARGE_BYTES: u64 = 4 << 20;
const LARGE_TOKENS: u64 = 2 << 20;

/// Large checks of this process run one after the other, for all jobs: they share the process's memory.
static LARGE: Mutex<()> = Mutex::new(());

/// The result of a check.
#[derive(Debug)]
pub(super) struct ContractResult {
    pub(super) checks: Vec<Check>,
    pub(super) states: Vec<DeliverableState>,
    pub(super) deliverables: Vec<Delivered>,
    pub(super) quotes: Option<QuotePositions>,
    pub(super) lists: Option<Lists>,
}

/// Every check of every deliverable, the files that exist, and the places of the quotes. Writes nothing unless the job
/// was completed.
pub(super) fn check(
    job: &Job,
    workspace: &Workspace,
    completion: Option<&Completion>,
    (rules, reader): (&mut RuleMemory, Option<&dyn DocumentReader>),
) -> Result<ContractResult, RunError> {
    let paths = job.spec.instructions.deliverables.iter().map(|deliverable| deliverable.path.as_str());
    let _turn = is_large(job, workspace, paths).then(|| LARGE.lock().unwrap_or_else(PoisonError::into_inner));
    let mut quotes = QuoteCheck::new(job, workspace);
    let mut checks = Vec::new();
    let mut states = Vec::new();
    let mut delivered = Vec::new();
    for deliverable in &job.spec.instructions.deliverables {
        let content = match workspace.read_at_most(&deliverable.path, MOST_BYTES) {
            Ok(content) => Some(content),
            Err(error) if error.is_not_found() => None,
            Err(error) => {
                let name = format!("{}: readable", deliverable.path);
                checks.push(Check::new(name, false, error.to_string()));
                continue;
            }
        };
        let mut checked = check_deliverable(deliverable, content.as_deref(), &mut quotes, rules);
        checked
            .checks
            .extend(content.as_deref().and_then(|content| check_earlier(job, workspace, deliverable, content)));
        states.push(checked.state());
        checks.extend(checked.checks);
        if content.is_some() {
            delivered.push(row(workspace, &deliverable.path)?);
        }
    }
    let Some(completion) = completion else {
        return Ok(ContractResult { checks, states, deliverables: delivered, quotes: None, lists: None });
    };
    for path in &completion.deliverables {
        let named = ModelPath::parse(path).ok().filter(|path| path.as_str().starts_with("output/"));
        // A folder, a link that leads outside or a pipe does not count as a file.
        let found = match &named {
            Some(path) if delivered.iter().any(|row: &Delivered| row.path == path.as_str()) => continue,
            Some(path) => row(workspace, path.as_str()).ok(),
            None => None,
        };
        match found {
            Some(found) => delivered.push(found),
            None => checks.push(Check::new(
                format!("{path}: named as a deliverable"),
                false,
                "there is no such file under output/; write it, or leave it out of the list".to_owned(),
            )),
        }
    }
    let (quotes, lists) = (quotes.write(reader)?, second_lists::read(job, workspace)?);
    Ok(ContractResult { checks, states, deliverables: delivered, quotes, lists })
}

/// The checks of the file that a call has written, where it is a deliverable. Quotes for which there is no time are named.
pub(super) fn check_written(
    job: &Job,
    workspace: &Workspace,
    written: &ToolResult,
    rules: &mut RuleMemory,
) -> Option<CheckedDeliverable> {
    let changed = written.changed.as_ref()?;
    let deliverable = job.spec.instructions.deliverables.iter().find(|known| known.path == changed.path)?;
    let turn = is_large(job, workspace, [changed.path.as_str()].into_iter()).then(|| LARGE.try_lock());
    let is_busy = matches!(turn, Some(Err(TryLockError::WouldBlock)));
    let time = if is_busy { Duration::ZERO } else { Duration::from_millis(job.limits.tool_call_ms / 2) };
    let mut quotes = QuoteCheck::new(job, workspace).until(Instant::now() + time);
    // The file may have been removed again; the contract's check will report that.
    let Ok(content) = workspace.read_at_most(&changed.path, MOST_BYTES) else { return None };
    let mut checked = check_deliverable(deliverable, Some(&content), &mut quotes, rules);
    checked.checks.extend(check_earlier(job, workspace, deliverable, &content));
    Some(checked)
}

/// Runs a step that may search for quotes of records. It is bounded by the number of records and not in time, so that a
/// call repeated after a crash has the same result.
pub(super) fn with_quotes<T>(
    job: &Job,
    workspace: &Workspace,
    change: &FileChange,
    work: impl FnOnce(&mut dyn Sources) -> T,
) -> T {
    let _turn = match change {
        FileChange::Records(_) | FileChange::EditRecords(_)
            if is_large(job, workspace, [change.path()].into_iter()) =>
        {
            Some(LARGE.lock().unwrap_or_else(PoisonError::into_inner))
        }
        FileChange::Records(_)
        | FileChange::EditRecords(_)
        | FileChange::Whole(_)
        | FileChange::Append(_)
        | FileChange::Edit(_) => None,
    };
    work(&mut QuoteCheck::new(job, workspace))
}

/// Calls `visit` for each record of a deliverable's content for which a rule does not hold: see [`each_broken_rule`].
pub fn each_rule_broken(
    job: &Job,
    workspace: &Workspace,
    deliverable: &Deliverable,
    content: &Value,
    visit: &mut dyn FnMut(&str, CheckLevel, String),
) {
    each_broken_rule(deliverable, content, &mut QuoteCheck::new(job, workspace), visit);
}

/// Searches for quotes again, and shows the nearest passage to those not found. Documents are indexed only once.
#[derive(Debug)]
pub struct QuoteExplainer<'j>(QuoteCheck<'j>);

impl<'j> QuoteExplainer<'j> {
    /// Creates one for the quotes of a job.
    pub fn new(job: &'j Job, workspace: &'j Workspace) -> Self {
        Self(QuoteCheck::new(job, workspace))
    }

    /// Those of an object in a deliverable's content.
    pub fn explain(&mut self, deliverable: &Deliverable, (object, content): (&str, &Value)) -> Vec<CorrectedQuote> {
        quotes_changed_at(deliverable, object, (&Value::Null, content), &mut self.0, &mut |_| None)
    }
}

fn is_large<'p>(job: &Job, workspace: &Workspace, paths: impl Iterator<Item = &'p str>) -> bool {
    let size = |path: &str| std::fs::metadata(workspace.path().join(path)).map_or(0, |known| known.len());
    job.spec.document_tokens() > LARGE_TOKENS || paths.map(size).sum::<u64>() > LARGE_BYTES
}

/// Whether the documents are few enough to search all of them for one quote.
pub(super) fn are_documents_few(job: &Job) -> bool {
    job.spec.document_tokens() <= LARGE_TOKENS
}

fn row(workspace: &Workspace, path: &str) -> Result<Delivered, RunError> {
    let hash = workspace.hash(path)?;
    Ok(Delivered { path: path.to_owned(), sha256: hash.sha256, bytes: hash.bytes })
}
