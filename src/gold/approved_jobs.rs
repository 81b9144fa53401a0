//! A case from a job that a person approved: its documents, and its deliverables with people's corrections.

use super::{
    gold_file::{CaseOrigin, GoldDeliverable, is_json},
    golden_set::{GoldError, NewCase},
};
use crate::{
    export::{CorrectedRecord, read_lists},
    runner::load,
    workspace::{Workspace, WorkspaceError},
};
use overnight_core::job::{instructions::Deliverable, state::Job};
use overnight_evals::comparison::{RecordPlace, RecordPlaces};
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};

/// Bytes of a deliverable, or of a document, at most.
const MOST_BYTES: u64 = 256 << 20;

/// The case of the job in a workspace. `label` is its name in its batch. The error is a clause on why it makes no case.
pub fn approved_case(workspace: &Path, label: &str) -> Result<NewCase, GoldError> {
    let unfit = |why: &str| GoldError::Invalid(why.to_owned());
    let job = load(workspace).map_err(|error| GoldError::Invalid(error.to_string()))?.job;
    let approval = job.reviewed.approvals.last().ok_or_else(|| unfit("nobody has approved it"))?;
    let approved = CaseOrigin { job: job.spec.id.to_string(), by: approval.name(), at: approval.at };
    let files = Workspace::open(workspace).map_err(unreadable)?;
    let mut case = NewCase { approved: Some(approved), ..NewCase::default() };
    for deliverable in job.spec.instructions.deliverables.iter().filter(|one| is_json(&one.path)) {
        let content = match files.read_at_most(&deliverable.path, MOST_BYTES) {
            Ok(content) => content,
            Err(error) if error.is_not_found() => continue,
            Err(error) => return Err(unreadable(error)),
        };
        let mut content: Value = serde_json::from_slice(&content)
            .map_err(|error| GoldError::Invalid(format!("{} is no JSON: {error}", deliverable.path)))?;
        let deleted = job.correct_whole(&deliverable.path, &mut content);
        deleted.remove_from(&mut content);
        case.schemas.push(deliverable.schema.clone());
        let places = places(&job, &files, deliverable);
        case.expected.push((known(deliverable), content, RecordPlaces { expected: places, ..RecordPlaces::default() }));
    }
    if case.expected.is_empty() {
        return Err(unfit("it has delivered no JSON file"));
    }
    for document in &job.spec.documents {
        let content = files.read_at_most(&format!("documents/{}", document.name), MOST_BYTES).map_err(unreadable)?;
        case.documents.push((document.name.clone(), content));
    }
    let named = if label.is_empty() { case.documents.first().map_or("job", |(name, _)| name) } else { label };
    case.name = named.rsplit_once('.').map_or(named, |(name, _)| name).to_owned();
    Ok(case)
}

#[expect(clippy::needless_pass_by_value, reason = "map_err hands it over")]
fn unreadable(error: WorkspaceError) -> GoldError {
    GoldError::Invalid(error.to_string())
}

fn known(Deliverable { path, quotes, checks, .. }: &Deliverable) -> GoldDeliverable {
    GoldDeliverable { path: Some(path.clone()), schema: None, quotes: quotes.clone(), checks: checks.clone() }
}

/// The places of a deliverable's records, by their paths once the records that people deleted are removed.
fn places(job: &Job, files: &Workspace, deliverable: &Deliverable) -> BTreeMap<String, RecordPlace> {
    let lists = read_lists(job, files).into_iter();
    let of_file = lists.filter(|(name, _)| name.split('#').next() == Some(&deliverable.path));
    let mut places = BTreeMap::new();
    for records in of_file.filter_map(|(_, records)| records.ok()) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for CorrectedRecord { place, document, span, .. } in records {
            let list = place.rfind('[').map_or(place.as_str(), |at| &place[..at]);
            let count = counts.entry(list.to_owned()).or_default();
            let now = if list == place { place.clone() } else { format!("{list}[{count}]") };
            *count += 1;
            if let (Some(document), Some((start, end))) = (document, span) {
                places.insert(now, RecordPlace { document, start, end });
            }
        }
    }
    places
}
