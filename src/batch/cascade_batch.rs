//! The settings that make a batch a stage of a cascade, and the ids of a stage's batch and jobs.

use super::derived_id::{derived_id, millis_of};
use overnight_core::job::id::JobId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A stage in which the strong model of a cascade reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CascadeBatch {
    /// The batch with which the cascade was begun.
    pub first: Uuid,
    /// From 1.
    pub stage: usize,
}

/// The id of a stage's batch, and a function that gives the id of its job for each job of the first batch.
pub fn stage_ids(first: Uuid, stage: usize) -> (Uuid, impl Fn(JobId) -> JobId) {
    let millis = millis_of(first);
    let batch = derived_id(millis, &format!("{first} cascade {stage}"));
    (batch, move |job: JobId| JobId(derived_id(millis_of(job.0), &format!("{batch} {job}"))))
}
