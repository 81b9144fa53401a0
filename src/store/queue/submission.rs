//! A submission as it goes over to the database: all jobs as one JSON text, so that they are one statement however many they
//! are.

use super::{Group, NewBatch, QueuedJob};
use crate::store::value::{count, text};
use overnight_core::job::time::Timestamp;
use serde::Serialize;
use std::borrow::Cow;
use uuid::Uuid;

/// What a step of priority is worth in milliseconds of waiting: an hour.
const STEP_MS: i64 = 3_600_000;

#[derive(Serialize)]
struct SubmittedJob<'a> {
    id: Uuid,
    label: Cow<'a, str>,
    /// JSON within JSON: the column is text.
    sources: String,
    documents: i64,
    documents_sha256: Option<Cow<'a, str>>,
    priority: i32,
    place_in_line: i64,
    run_after: Option<Timestamp>,
    group_key: Option<Cow<'a, str>>,
    at_once: Option<u32>,
    max_attempts: u32,
    is_held: bool,
}

impl<'a> SubmittedJob<'a> {
    fn of(batch: &NewBatch, job: &'a QueuedJob) -> Self {
        let group = job.group.as_ref().filter(|group| !group.key.is_empty());
        Self {
            id: job.id.0,
            label: text(&job.label),
            sources: serde_json::Value::from(job.sources.as_slice()).to_string(),
            documents: count(job.documents),
            documents_sha256: job.documents_sha256.as_deref().map(text),
            priority: job.priority,
            place_in_line: batch.created.utc().timestamp_millis() - i64::from(job.priority) * STEP_MS,
            run_after: job.run_after,
            group_key: group.map(|group| text(&group.key)),
            at_once: group.map(|Group { at_once, .. }| (*at_once).max(1)),
            max_attempts: job.max_attempts.max(1),
            is_held: job.is_held,
        }
    }
}

pub(in crate::store) fn jobs_json(batch: &NewBatch, jobs: &[QueuedJob]) -> Result<String, serde_json::Error> {
    serde_json::to_string(&jobs.iter().map(|job| SubmittedJob::of(batch, job)).collect::<Vec<_>>())
}

/// NUL is written as an escape in it, which both databases keep in a column of text.
pub(in crate::store) fn settings_json(batch: &NewBatch) -> String {
    batch.settings.to_string()
}
