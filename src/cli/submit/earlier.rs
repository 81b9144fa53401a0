//! `--only-fields`: the results of an earlier run for the documents of a submission.

use super::super::{AppContext, CliError, export::table_jobs, out};
use crate::{
    batch::{Document, EarlierJob, OnlyFields, hash_of},
    blocking::run_blocking,
    export::TableJob,
    runner::{LoadedJob, load},
    workspace::Workspace,
};
use overnight_core::amount::counted;
use overnight_core::job::{
    contract::records::record_lists,
    instructions::{Deliverable, Instructions},
    json_path::JsonPath,
    schema::schema_fields,
    state::Job,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum bytes of a batch's earlier results, which are in its row.
const MOST_BYTES: usize = 32 << 20;

/// The results of the job or batch `from` for the documents of `jobs`.
pub(super) async fn read(
    app: &AppContext,
    (from, fields): (&str, &[String]),
    instructions: &Instructions,
    jobs: &[Vec<Document>],
) -> Result<OnlyFields, CliError> {
    check_known(fields, instructions)?;
    let found = table_jobs(app, &[from.to_owned()]).await?;
    let earlier = run_blocking(|| collect(&found, instructions, jobs));
    let bytes: usize = earlier.values().flat_map(|job| job.files.values()).map(|file| file.to_string().len()).sum();
    if earlier.is_empty() {
        return Err(CliError::usage(format!(
            "--from {from} has no result of any of these documents: leave --only-fields and --from out to have them read anew"
        )));
    }
    if bytes > MOST_BYTES {
        return Err(CliError::usage(format!(
            "the results of {from} have {} MiB, and a batch holds {} MiB of them: submit the documents in several batches",
            bytes >> 20,
            MOST_BYTES >> 20
        )));
    }
    let whole = jobs.len() - earlier.len();
    let whole = if whole > 0 {
        format!("; {} without one are worked whole", counted(whole as u64, "job"))
    } else {
        String::new()
    };
    out::note(&format!(
        "{} of {} with a result of {from}, and only {} may change in it{whole}",
        if earlier.len() == 1 { "1 job begins".to_owned() } else { format!("{} jobs begin", earlier.len()) },
        jobs.len(),
        fields.join(", ")
    ));
    Ok(OnlyFields { fields: fields.to_vec(), earlier })
}

/// Refuses a field that no record of the instructions contains.
fn check_known(fields: &[String], instructions: &Instructions) -> Result<(), CliError> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for deliverable in &instructions.deliverables {
        let lists = record_lists(deliverable).into_iter().chain(["$".to_owned()]);
        for (schema, each) in lists.filter_map(|each| Some((deliverable.schema.as_ref()?, each))) {
            known.extend(JsonPath::parse(&each).ok().and_then(|each| schema_fields(schema, &each)).unwrap_or_default());
        }
    }
    match fields.iter().find(|field| !known.contains(*field)) {
        None => Ok(()),
        Some(field) => {
            let known: Vec<String> = known.into_iter().collect();
            Err(CliError::usage(format!(
                "--only-fields: no record of {} has a field '{field}'; they have {}",
                instructions.name,
                known.join(", ")
            )))
        }
    }
}

/// The results by the hash of the new jobs' documents. Of several jobs over the same documents the last one counts.
fn collect(found: &[TableJob], instructions: &Instructions, jobs: &[Vec<Document>]) -> BTreeMap<String, EarlierJob> {
    let contents = |documents: &mut dyn Iterator<Item = String>| {
        let mut contents: Vec<String> = documents.collect();
        contents.sort_unstable();
        contents
    };
    let wanted: HashMap<Vec<String>, String> = jobs
        .iter()
        .filter_map(|documents| {
            let hash = hash_of(documents.iter().map(|document| (document.name.as_str(), document.sha256.as_str())))?;
            Some((contents(&mut documents.iter().map(|document| document.sha256.clone())), hash))
        })
        .collect();
    let mut earlier = BTreeMap::new();
    for path in found.iter().filter_map(|job| job.workspace.as_ref().ok()) {
        let (Ok(LoadedJob { job, .. }), Ok(workspace)) = (load(path), Workspace::open(path)) else { continue };
        let of = contents(&mut job.spec.documents.iter().map(|document| document.sha256.clone()));
        let Some(hash) = wanted.get(&of).filter(|_| job.has_result()) else { continue };
        let delivered = instructions.deliverables.iter().filter(|deliverable| deliverable.schema.is_some());
        let files: BTreeMap<String, Value> = delivered
            .filter_map(|deliverable| Some((deliverable.path.clone(), corrected(&job, &workspace, deliverable)?)))
            .collect();
        if !files.is_empty() {
            earlier.insert(hash.clone(), EarlierJob { job: job.spec.id, files });
        }
    }
    earlier
}

/// A deliverable of an earlier job, with people's corrections.
fn corrected(job: &Job, workspace: &Workspace, deliverable: &Deliverable) -> Option<Value> {
    let mut content = serde_json::from_slice(&workspace.read(&deliverable.path).ok()?).ok()?;
    job.correct_whole(&deliverable.path, &mut content);
    Some(content)
}
