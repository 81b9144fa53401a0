//! A submission as it goes over to the database: many jobs as one JSON text, so that they are one statement. A large batch is
//! several of them in one transaction, so that neither side ever holds more than a part of it in more than one form.

use super::QueuedJob;
use crate::store::{
    NewBatch,
    value::{count, text},
};
use overnight_core::job::{id::JobId, time::Timestamp};
use serde::Serialize;
use std::{borrow::Cow, collections::BTreeMap};

/// The worth of a step of priority in milliseconds of waiting: an hour.
const STEP_MS: i64 = 3_600_000;

/// The most jobs in one statement.
pub(in crate::store) const MOST_PER_STATEMENT: usize = 1_000;

#[derive(Serialize)]
struct SubmittedJob<'j> {
    id: JobId,
    label: Cow<'j, str>,
    documents: i64,
    /// JSON within JSON: the column is text.
    sources: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    documents_sha256: Option<Cow<'j, str>>,
    priority: i32,
    place_in_line: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_after: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group_key: Option<Cow<'j, str>>,
    max_attempts: u32,
    is_held: bool,
}

#[derive(Serialize)]
struct SubmittedGroup<'j> {
    group_key: Cow<'j, str>,
    at_once: u32,
}

pub(in crate::store) fn jobs_json(batch: &NewBatch, jobs: &[QueuedJob]) -> Result<String, serde_json::Error> {
    let submitted = batch.created.utc().timestamp_millis();
    let rows: Result<Vec<SubmittedJob<'_>>, serde_json::Error> =
        jobs.iter().map(|job| SubmittedJob::of(job, submitted)).collect();
    serde_json::to_string(&rows?)
}

impl<'j> SubmittedJob<'j> {
    /// `submitted` in milliseconds since 1970.
    fn of(job: &'j QueuedJob, submitted: i64) -> Result<Self, serde_json::Error> {
        Ok(Self {
            id: job.id,
            label: text(&job.label),
            documents: count(job.documents),
            sources: serde_json::to_string(&job.sources)?,
            documents_sha256: job.documents_sha256.as_deref().map(text),
            priority: job.priority,
            place_in_line: submitted - i64::from(job.priority) * STEP_MS,
            run_after: job.run_after,
            group_key: group_of(job).map(|(key, _)| text(key)),
            max_attempts: job.max_attempts.max(1),
            is_held: job.is_held,
        })
    }
}

/// The groups of these jobs, each once; none if there are none.
pub(in crate::store) fn groups_json(jobs: &[QueuedJob]) -> Result<Option<String>, serde_json::Error> {
    let mut groups: BTreeMap<&str, u32> = BTreeMap::new();
    for (key, at_once) in jobs.iter().filter_map(group_of) {
        let known = groups.entry(key).or_insert(at_once);
        *known = at_once.min(*known);
    }
    let groups = groups.into_iter().map(|(key, at_once)| SubmittedGroup { group_key: text(key), at_once });
    let groups: Vec<_> = groups.collect();
    (!groups.is_empty()).then(|| serde_json::to_string(&groups)).transpose()
}

/// Key and limit.
fn group_of(job: &QueuedJob) -> Option<(&str, u32)> {
    let group = job.group.as_ref().filter(|group| !group.key.is_empty())?;
    Some((&group.key, group.at_once.max(1)))
}
