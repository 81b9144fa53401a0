//! The contract's checks on the files as they lie in the workspace.

use super::RunError;
use crate::{
    documents::QuoteIndex,
    job::{
        contract::{Check, QuoteResult, check_deliverable},
        event::Completion,
        record::Delivered,
        state::Job,
    },
    tool::Library,
    workspace::{ModelPath, Workspace},
};
use std::collections::BTreeMap;

/// Bytes of the largest deliverable that is checked whole.
const MOST_BYTES: u64 = 64 << 20;

/// Every check of every deliverable, and the files that are there.
pub(super) fn check(
    job: &Job,
    workspace: &Workspace,
    completion: &Completion,
) -> Result<(Vec<Check>, Vec<Delivered>), RunError> {
    let mut indexes: BTreeMap<String, QuoteIndex> = BTreeMap::new();
    let mut find = |document: &str, quote: &str, page: Option<u64>| {
        find_quote(job, workspace, &mut indexes, document, quote, page)
    };
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
        checks.extend(check_deliverable(deliverable, content.as_deref(), &mut find));
        if content.is_some() {
            delivered.push(row(workspace, &deliverable.path)?);
        }
    }
    for path in &completion.deliverables {
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
    Ok((checks, delivered))
}

fn row(workspace: &Workspace, path: &str) -> Result<Delivered, RunError> {
    let hash = workspace.hash(path)?;
    Ok(Delivered { path: path.to_owned(), sha256: hash.sha256, bytes: hash.bytes })
}

fn find_quote(
    job: &Job,
    workspace: &Workspace,
    indexes: &mut BTreeMap<String, QuoteIndex>,
    name: &str,
    quote: &str,
    page: Option<u64>,
) -> QuoteResult {
    let Some(document) = job.spec.document(name.strip_prefix("documents/").unwrap_or(name)) else {
        return QuoteResult::NoSuchDocument;
    };
    if !indexes.contains_key(&document.name) {
        match Library::quotes(workspace, document) {
            Ok(index) => indexes.insert(document.name.clone(), index),
            Err(_) => return QuoteResult::NoSuchDocument,
        };
    }
    let Some(index) = indexes.get(&document.name) else {
        return QuoteResult::NoSuchDocument;
    };
    // A page can only be wrong where there are pages.
    let page = page.filter(|_| document.paged);
    match (index.find(quote, page), page) {
        (Some(_), _) => QuoteResult::Found,
        (None, Some(_)) => match index.find(quote, None) {
            Some(place) => QuoteResult::NotOnPage { found_on: place.unit_number },
            None => QuoteResult::NotFound,
        },
        (None, None) => QuoteResult::NotFound,
    }
}
