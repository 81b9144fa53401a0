//! Whether two readings of a document are the same: in every field of their JSON deliverables, by the rules of evaluations.

use crate::{gold::is_json, workspace::Workspace};
use overnight_core::job::instructions::{Deliverable, Instructions, Quotes};
use overnight_evals::{agreement::agreement, plan::ComparisonPlan};
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};

/// Bytes of a deliverable, at most.
const MOST_BYTES: u64 = 64 << 20;

/// The deliverables that can be compared.
pub fn compared(instructions: &Instructions) -> impl Iterator<Item = &Deliverable> {
    instructions.deliverables.iter().filter(|deliverable| is_json(&deliverable.path))
}

/// Where two readings differ, or why they can't be compared; `None`: they are the same.
pub(super) fn difference(instructions: &Instructions, first: &Path, strong: &Path) -> Option<String> {
    let open = |path: &Path| Workspace::open(path).map_err(|error| error.to_string());
    let (first, strong) = match (open(first), open(strong)) {
        (Ok(first), Ok(strong)) => (first, strong),
        (Err(why), _) | (_, Err(why)) => return Some(format!("it can't be compared here: {why}")),
    };
    differing(instructions, &first, |path, _| read(&strong, path))
}

/// Where the deliverables in `files` differ from the other reading; `None`: nowhere. `other` gets path and content.
pub(super) fn differing(
    instructions: &Instructions,
    files: &Workspace,
    other: impl Fn(&str, &Value) -> Option<Value>,
) -> Option<String> {
    for deliverable in compared(instructions) {
        let path = &deliverable.path;
        let cheap = read(files, path);
        let Some((cheap, strong)) = cheap.and_then(|cheap| other(path, &cheap).map(|strong| (cheap, strong))) else {
            return Some(format!("{path} is missing, or no JSON"));
        };
        let proof = deliverable.quotes.iter().flat_map(Quotes::proof_fields);
        let plan = ComparisonPlan::new(deliverable.schema.clone(), BTreeMap::new(), proof);
        let score = agreement(&[Some(&cheap), Some(&strong)], &plan);
        if score.right < score.total {
            let different = score.total - score.right;
            return Some(format!("{path}: {different:.1} of {:.1} values differ", score.total));
        }
    }
    None
}

fn read(files: &Workspace, path: &str) -> Option<Value> {
    serde_json::from_slice(&files.read_at_most(path, MOST_BYTES).ok()?).ok()
}
