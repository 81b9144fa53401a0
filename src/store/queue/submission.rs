//! A submission as it goes over to the database: all jobs as one JSON text, so that they are one statement however many they
//! are.

use super::QueuedJob;
use crate::store::{
    NewBatch,
    value::{count, text},
};
use serde_json::json;

/// What a step of priority is worth in milliseconds of waiting: an hour.
const STEP_MS: i64 = 3_600_000;

pub(in crate::store) fn jobs_json(batch: &NewBatch, jobs: &[QueuedJob]) -> String {
    let submitted = batch.created.utc().timestamp_millis();
    let row = |job: &QueuedJob| {
        let group = job.group.as_ref().filter(|group| !group.key.is_empty());
        json!({
            "id": job.id, "label": text(&job.label), "documents": count(job.documents),
            // JSON within JSON: the column is text.
            "sources": json!(job.sources).to_string(),
            "documents_sha256": job.documents_sha256.as_deref().map(text),
            "priority": job.priority, "place_in_line": submitted - i64::from(job.priority) * STEP_MS,
            "run_after": job.run_after, "group_key": group.map(|group| text(&group.key)),
            "at_once": group.map(|group| group.at_once.max(1)), "max_attempts": job.max_attempts.max(1),
            "is_held": job.is_held,
        })
    };
    json!(jobs.iter().map(row).collect::<Vec<_>>()).to_string()
}
