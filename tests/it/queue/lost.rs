//! What is asked about jobs that this machine can't have: those of others, and one whose workspace is gone.

use super::{
    A, FUTURE, MINUTE, Place, at, at_work, batch, batch_id, checkpoint, entry, id, ids, on_both, one, phase, queued,
};
use overnight::store::{JobTarget, NewBatch};
use overnight_core::job::record::{Checkpoint, HoldReason, JobStatus, JobSummary};

async fn jobs_of_other_machines_are_counted(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[1, 2, 3, 4, 5].map(queued), false).await.unwrap();
    store.claim_next(A, "here", 5, MINUTE).await.unwrap();
    for (number, host) in [(1, Some("b")), (2, Some("b")), (3, Some("a")), (4, Some("here")), (5, None)] {
        store.set_workspace(id(number), 1, "/x", host).await.unwrap();
    }
    // What runs waits for nobody.
    assert_eq!(store.elsewhere("here").await, Ok(vec![]));
    for number in 1..=5 {
        store.give_back(id(number), 1, 0, None).await.unwrap();
    }
    let pairs = |pairs: &[(&str, u64)]| Ok(pairs.iter().map(|(host, jobs)| ((*host).to_owned(), *jobs)).collect());
    assert_eq!(store.elsewhere("here").await, pairs(&[("a", 1), ("b", 2)]));
    assert_eq!(store.elsewhere("b").await, pairs(&[("a", 1), ("here", 1)]));
    // Held until its time, it goes on without a person; paused, it doesn't.
    store.hold(JobTarget::Job(id(3)), HoldReason::Window, Some(at(FUTURE))).await.unwrap();
    store.hold(JobTarget::Job(id(1)), HoldReason::Paused, None).await.unwrap();
    assert_eq!(store.elsewhere("here").await, pairs(&[("a", 1), ("b", 1)]));
}

async fn batches_of_one_name_are_counted(place: Place) {
    let store = place.store().await;
    for number in 1..=3 {
        let name = Some(if number == 3 { "other" } else { "nightly" }.to_owned());
        store.submit(&NewBatch { name, ..batch(number) }, &[], false).await.unwrap();
    }
    assert_eq!(store.count_batches_named("nightly").await, Ok(2));
    assert_eq!(store.count_batches_named("other").await, Ok(1));
    assert_eq!(store.count_batches_named("none").await, Ok(0));
}

async fn a_job_is_begun_anew(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[1, 2].map(queued), false).await.unwrap();
    store.claim_next(A, "here", 2, MINUTE).await.unwrap();
    for number in [1, 2] {
        store.set_workspace(id(number), 1, "/x", Some("here")).await.unwrap();
        let told = Checkpoint { phases: vec![phase(1, 1)], ..checkpoint(at_work()) };
        store.checkpoint(id(number), 1, &told).await.unwrap();
    }
    // One that runs, and what is no job.
    assert_eq!(store.restart_from_nothing(id(1)).await, Ok(false));
    assert_eq!(store.restart_from_nothing(id(9)).await, Ok(false));
    let held = JobSummary { status: JobStatus::Held, hold_reason: Some(HoldReason::Paused), ..at_work() };
    for number in [1, 2] {
        store.checkpoint(id(number), 1, &checkpoint(held.clone())).await.unwrap();
    }
    assert_eq!(store.restart_from_nothing(id(1)).await, Ok(true));
    assert_eq!(store.restart_from_nothing(id(1)).await, Ok(false));
    assert_eq!(one(&*store, 1).await, super::QueueEntry { lease: 1, ..entry(queued(1)) });
    assert_eq!(store.phases(id(1)).await.unwrap(), vec![]);
    let row = store.job(id(1)).await.unwrap().unwrap();
    let spent = row.state.cost_usd;
    assert_eq!(row.state, JobSummary { cost_usd: spent, ..crate::store::untouched() });
    assert_eq!(ids(&store.claim_next(A, "there", 9, MINUTE).await.unwrap()), [id(1)]);
    // The other one is as it was; one in a workspace store is never begun anew.
    assert_eq!(store.phases(id(2)).await.unwrap().len(), 1);
    store.resume(JobTarget::Batch(batch_id(1))).await.unwrap();
    let again = store.claim_next(A, "here", 9, MINUTE).await.unwrap();
    store.set_manifest(id(2), again[0].lease, "a manifest").await.unwrap();
    store.checkpoint(id(2), again[0].lease, &checkpoint(held)).await.unwrap();
    assert_eq!(store.restart_from_nothing(id(2)).await, Ok(false));
}

on_both! {
    jobs_of_other_machines_are_counted
    batches_of_one_name_are_counted
    a_job_is_begun_anew
}
