//! What the jobs of a batch may cost together.

use super::{
    A, B, FUTURE, MINUTE, Place, QueueEntry, at, at_work, batch, batch_id, checkpoint, completed, entry, id, ids,
    on_both, one, queued,
};
use overnight::store::{Grant, JobTarget, NewBatch, QueuedJob, Store, StoreError};
use overnight_core::job::record::{HoldReason, JobStatus, JobSummary};
use std::sync::Arc;

/// Batch 1 with a budget and so many jobs, all claimed under lease 1.
async fn begun(store: &dyn Store, budget_usd: Option<f64>, jobs: u32) {
    let jobs: Vec<QueuedJob> = (1..=jobs).map(queued).collect();
    store.submit(&NewBatch { budget_usd, ..batch(1) }, &jobs, false).await.unwrap();
    store.claim_next(A, "here", 100, MINUTE).await.unwrap();
}

fn cost(usd: f64, state: JobSummary) -> JobSummary {
    JobSummary { cost_usd: Some(usd), ..state }
}

async fn running_jobs_count_with_what_they_may_cost_and_others_with_what_they_did(place: Place) {
    let store = place.store().await;
    begun(&*store, Some(10.0), 4).await;
    assert_eq!(store.reserve(id(1), 1, 4.0).await, Ok(Grant::Granted));
    assert_eq!(store.reserve(id(2), 1, 4.0).await, Ok(Grant::Granted));
    assert_eq!(store.reserve(id(3), 1, 2.5).await, Ok(Grant::Later));
    // Nothing was taken by that, and who asks again asks for less or more in all, not on top.
    assert_eq!(store.reserve(id(3), 1, 2.0).await, Ok(Grant::Granted));
    assert_eq!(store.reserve(id(1), 1, 3.0).await, Ok(Grant::Granted));
    assert_eq!(store.reserve(id(4), 1, 1.0).await, Ok(Grant::Granted));
    assert_eq!(store.reserve(id(4), 1, 1.01).await, Ok(Grant::Later));
    // The end of a job frees what it has not used, as do its hold and its loss.
    store.checkpoint(id(1), 1, &checkpoint(cost(0.5, completed()))).await.unwrap();
    assert_eq!(store.reserve(id(4), 1, 3.5).await, Ok(Grant::Granted));
    let held = JobSummary { status: JobStatus::Held, hold_reason: Some(HoldReason::Budget), ..at_work() };
    store.checkpoint(id(2), 1, &checkpoint(cost(1.0, held))).await.unwrap();
    assert_eq!(store.reserve(id(4), 1, 6.51).await, Ok(Grant::Later));
    assert_eq!(store.reserve(id(4), 1, 6.5).await, Ok(Grant::Granted));
    store.give_back(id(3), 1, 0, None).await.unwrap();
    assert_eq!(store.reserve(id(4), 1, 8.5).await, Ok(Grant::Granted));
    // Who costs more than was said counts with what it has cost; who comes anew has reserved nothing yet.
    store.checkpoint(id(4), 1, &checkpoint(cost(8.75, at_work()))).await.unwrap();
    assert_eq!(ids(&store.claim_next(B, "here", 9, MINUTE).await.unwrap()), [id(3)]);
    assert_eq!(store.reserve(id(3), 2, 0.01).await, Ok(Grant::Spent));
    let row = store.batch("night 1").await.unwrap();
    assert_eq!((row.spent_usd, row.batch.budget_usd), (10.25, Some(10.0)));

    store.set_budget(batch_id(1), Some(11.0)).await.unwrap();
    assert_eq!(store.reserve(id(3), 2, 0.75).await, Ok(Grant::Granted));
    for too_much in [0.76, f64::INFINITY, f64::NAN, f64::MAX] {
        assert_eq!(store.reserve(id(3), 2, too_much).await, Ok(Grant::Spent), "{too_much}");
    }
    // Raising it queues nothing: that is for somebody to say.
    assert_eq!(one(&*store, 2).await.status, JobStatus::Held);
    assert_eq!(store.resume(JobTarget::Batch(batch_id(1))).await, Ok(1));
    store.set_budget(batch_id(1), None).await.unwrap();
    assert_eq!(store.reserve(id(3), 2, 1e9).await, Ok(Grant::Granted));
    assert_eq!(store.batch("night 1").await.unwrap().batch.budget_usd, None);
    let missing = StoreError::NoBatch { name: batch_id(9).to_string(), many: false };
    assert_eq!(store.set_budget(batch_id(9), Some(1.0)).await, Err(missing));
}

/// Where a call cost more than was expected, who has no need of its reservation can give it back all the same.
async fn what_is_not_needed_is_given_back_also_beyond_the_budget(place: Place) {
    let store = place.store().await;
    begun(&*store, Some(10.0), 3).await;
    for number in 1..=3 {
        assert_eq!(store.reserve(id(number), 1, 3.0).await, Ok(Grant::Granted));
    }
    store.checkpoint(id(1), 1, &checkpoint(cost(5.5, at_work()))).await.unwrap();
    assert_eq!(store.reserve(id(1), 1, 6.0).await, Ok(Grant::Later));
    assert_eq!(store.reserve(id(2), 1, 2.0).await, Ok(Grant::Granted));
    assert_eq!(store.reserve(id(3), 1, 2.0).await, Ok(Grant::Granted));
    assert_eq!(store.reserve(id(1), 1, 6.0).await, Ok(Grant::Granted));
}

async fn only_who_has_the_job_reserves_for_it(place: Place) {
    let store = place.store().await;
    for budget in [None, Some(1e6)] {
        begun(&*store, budget, 2).await;
        if budget.is_some() {
            store.set_budget(batch_id(1), budget).await.unwrap();
        }
        let lost = |number| Err(StoreError::LeaseLost { id: id(number) });
        assert_eq!(store.reserve(id(1), 0, 0.0).await, lost(1));
        assert_eq!(store.reserve(id(1), 2, 0.0).await, lost(1));
        assert_eq!(store.reserve(id(7), 1, 0.0).await, lost(7));
        assert_eq!(store.reserve(id(1), 1, 0.0).await, Ok(Grant::Granted));
    }
    store.checkpoint(id(1), 1, &checkpoint(completed())).await.unwrap();
    assert_eq!(store.reserve(id(1), 1, 0.0).await, Err(StoreError::LeaseLost { id: id(1) }));
}

async fn sums_of_tenths_come_out_even(place: Place) {
    let store = place.store().await;
    begun(&*store, Some(0.3), 4).await;
    for number in 1..=3 {
        assert_eq!(store.reserve(id(number), 1, 0.1).await, Ok(Grant::Granted));
    }
    assert_eq!(store.reserve(id(4), 1, 0.000_001).await, Ok(Grant::Later));
}

async fn two_can_not_both_take_the_last_dollar(place: Place) {
    let store = place.store().await;
    begun(&*store, Some(7.0), 40).await;
    let stores = [store, place.store().await, place.store().await];
    let mut tasks = tokio::task::JoinSet::new();
    for number in 1..=40 {
        let store = Arc::clone(&stores[number as usize % 3]);
        tasks.spawn(async move { store.reserve(id(number), 1, 1.0).await.unwrap() });
    }
    let granted = tasks.join_all().await.into_iter().filter(|grant| *grant == Grant::Granted).count();
    assert_eq!(granted, 7);
}

async fn who_waits_in_memory_keeps_its_jobs_held(place: Place) {
    let store = place.store().await;
    begun(&*store, None, 4).await;
    let held = |hold_reason| JobSummary { status: JobStatus::Held, hold_reason: Some(hold_reason), ..at_work() };
    for (number, reason) in [(1, HoldReason::Outage), (2, HoldReason::Outage), (3, HoldReason::Window)] {
        store.wake_at(id(number), 1, at(FUTURE)).await.unwrap();
        store.checkpoint(id(number), 1, &checkpoint(held(reason))).await.unwrap();
    }
    let all = [4, 3, 2, 1, 99].map(id);
    assert_eq!(store.keep_held(&[], MINUTE).await, Ok(vec![]));
    assert_eq!(store.keep_held(&all, MINUTE).await, Ok(vec![id(1), id(2)]));
    let waits = async |number| one(&*store, number).await.job.run_after.map(|until| until < at(FUTURE));
    assert_eq!(
        (waits(1).await, waits(2).await, waits(3).await, waits(4).await),
        (Some(true), Some(true), Some(false), None)
    );
    // A person is faster; the other is queued when the worker has died.
    assert_eq!(store.resume(JobTarget::Job(id(1))).await, Ok(1));
    assert_eq!(store.keep_held(&all, 0).await, Ok(vec![id(2)]));
    assert_eq!(store.sweep().await.unwrap().woken, [id(2)]);
    assert_eq!(one(&*store, 2).await, QueueEntry { lease: 1, ..entry(queued(2)) });
    assert_eq!(store.keep_held(&all, MINUTE).await, Ok(vec![]));
}

on_both! {
    what_is_not_needed_is_given_back_also_beyond_the_budget
    running_jobs_count_with_what_they_may_cost_and_others_with_what_they_did
    only_who_has_the_job_reserves_for_it
    sums_of_tenths_come_out_even
    two_can_not_both_take_the_last_dollar
    who_waits_in_memory_keeps_its_jobs_held
}
