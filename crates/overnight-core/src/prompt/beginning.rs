//! The instructions at the job's beginning: what the model's first reply must do, and what may follow the plan in it.

use super::{bounds, compact, measure};
use crate::{
    amount::grouped,
    answer,
    job::{spec::JobSpec, state::Job},
};

/// Percent of the room that the first opening usually fills.
const OPENING_PERCENT: u64 = 10;

/// The description of the work, for the job's beginning.
pub(super) fn begun(job: &Job) -> String {
    let bounds = job.spec.instructions.phase;
    let steps = if compact::fits(&job.spec) {
        answer!("begin.one_phase")
    } else {
        answer!("begin.phases", min = bounds.min_todos, max = bounds.max_todos)
    };
    if let Some(readers) = &job.spec.instructions.readers {
        return include_str!("../../../../instructions/runner/bootstrap_readers.md")
            .trim()
            .replace("{{deliverable}}", &readers.deliverable)
            .replace("{{steps}}", &steps);
    }
    if compact::are_given(&job.spec) {
        return include_str!("../../../../instructions/runner/bootstrap_given.md").trim().replace("{{steps}}", &steps);
    }
    let room = measure::room(&job.spec);
    include_str!("../../../../instructions/runner/bootstrap.md")
        .trim()
        .replace("{{steps}}", &steps)
        .replace("{{read}}", &grouped(bounds::document_tokens(room)))
        .replace("{{reply}}", &grouped(bounds::reply_tokens(room, room * OPENING_PERCENT / 100)))
}

/// The calls that may follow the plan in the first reply.
pub(super) fn behind_plan(spec: &JobSpec) -> String {
    match (&spec.instructions.readers, compact::are_given(spec)) {
        (Some(_), _) => answer!("begin.then_readers"),
        (None, true) => answer!("begin.then_all_work"),
        (None, false) => answer!("begin.then_reads"),
    }
}
