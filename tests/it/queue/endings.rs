//! How jobs and batches end before or after their time: cancelled in the queue, marked once, opened again.

use super::{
    A, B, FUTURE, MINUTE, Place, QueueEntry, at, at_work, batch, batch_id, checkpoint, completed, entry, expire, id,
    ids, on_both, one, queued, running, wait_over,
};
use overnight::store::{ControlSignal, HeldLease, JobTarget, NewBatch, QueuedJob, StoreError, Swept};
use overnight_core::job::record::{HoldReason, JobStatus, JobSummary};
use std::sync::Arc;
use uuid::Uuid;

async fn what_was_never_begun_is_cancelled_at_once_and_the_rest_by_its_worker(place: Place) {
    let store = place.store().await;
    let mut jobs: Vec<QueuedJob> = (1..=8).map(queued).collect();
    jobs[6].is_held = true;
    jobs[7].run_after = Some(at(FUTURE));
    store.submit(&batch(1), &jobs, false).await.unwrap();
    store.submit(&batch(2), &[queued(9)], false).await.unwrap();
    store.claim_next(A, "here", 6, MINUTE).await.unwrap();
    // Job 1 is at work, 2 has ended, 3 and 4 are held with a journal, 5 has a folder, 6 was given back as it came.
    store.checkpoint(id(2), 1, &checkpoint(completed())).await.unwrap();
    let held = |hold_reason| JobSummary { status: JobStatus::Held, hold_reason: Some(hold_reason), ..at_work() };
    store.wake_at(id(3), 1, at(FUTURE)).await.unwrap();
    store.checkpoint(id(3), 1, &checkpoint(held(HoldReason::Outage))).await.unwrap();
    store.checkpoint(id(4), 1, &checkpoint(held(HoldReason::Review))).await.unwrap();
    store.set_workspace(id(5), 1, "workspaces/five", None).await.unwrap();
    store.give_back(id(5), 1, 3_600_000, None).await.unwrap();
    store.give_back(id(6), 1, 0, None).await.unwrap();

    assert_eq!(store.cancel(JobTarget::Job(id(6))).await, Ok(1));
    assert_eq!(store.cancel(JobTarget::Batch(batch_id(1))).await, Ok(6));
    assert_eq!(store.cancel(JobTarget::Batch(batch_id(1))).await, Ok(0));
    assert_eq!(store.cancel(JobTarget::Job(id(2))).await, Ok(0));
    assert_eq!(store.cancel(JobTarget::Job(id(99))).await, Ok(0));
    let gone = |job, lease| QueueEntry {
        status: JobStatus::Cancelled,
        reason: Some("cancelled before it was begun".to_owned()),
        lease,
        ..entry(job)
    };
    let wished = |job, lease| QueueEntry { wants: Some(ControlSignal::Cancel), lease, ..entry(job) };
    let expected = [
        QueueEntry { wants: Some(ControlSignal::Cancel), ..running(queued(1), 1, A) },
        QueueEntry {
            status: JobStatus::Completed,
            reason: Some("all checks met".to_owned()),
            lease: 1,
            ..entry(queued(2))
        },
        wished(queued(3), 1),
        wished(queued(4), 1),
        QueueEntry { workspace: "workspaces/five".to_owned(), ..wished(queued(5), 1) },
        gone(queued(6), 1),
        gone(queued(7), 0),
        gone(queued(8), 0),
    ];
    assert_eq!(store.batch_entries(batch_id(1)).await.unwrap(), expected);
    assert!(store.job(id(7)).await.unwrap().unwrap().state.completed_at.is_some());
    // They come before what has not been cancelled only by their place in line; each worker is told why.
    let claimed = store.claim_next(B, "here", 9, MINUTE).await.unwrap();
    let told: Vec<_> = claimed.iter().map(|job| (job.id, job.wants)).collect();
    let cancel = Some(ControlSignal::Cancel);
    assert_eq!(told, [(id(3), cancel), (id(4), cancel), (id(5), cancel), (id(9), None)]);
    // A pause is no answer to it, and neither a job without a batch nor a batch that is none is meant.
    assert_eq!(store.hold(JobTarget::Batch(batch_id(1)), HoldReason::Paused, None).await, Ok(0));
    assert_eq!(store.cancel(JobTarget::Batch(batch_id(7))).await, Ok(0));
}

async fn a_worker_hears_what_is_wished_of_its_jobs(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &(1..=5).map(queued).collect::<Vec<_>>(), false).await.unwrap();
    assert_eq!(ids(&store.claim_next(A, "here", 3, MINUTE).await.unwrap()), [1, 2, 3].map(id));
    assert_eq!(ids(&store.claim_next(B, "here", 1, MINUTE).await.unwrap()), [id(4)]);
    assert_eq!(store.control_signals(A).await, Ok(vec![]));
    for (number, signal) in
        [(3, ControlSignal::Pause), (1, ControlSignal::Cancel), (4, ControlSignal::Cancel), (5, ControlSignal::Pause)]
    {
        store.send_signal(id(number), signal).await.unwrap();
    }
    let has = |number, signal| HeldLease { id: id(number), lease: 1, wants: Some(signal) };
    assert_eq!(store.control_signals(A).await, Ok(vec![has(1, ControlSignal::Cancel), has(3, ControlSignal::Pause)]));
    // What it has no more isn't its own to hear of.
    store.checkpoint(id(1), 1, &checkpoint(completed())).await.unwrap();
    expire(&place, 3).await;
    store.sweep().await.unwrap();
    assert_eq!(store.control_signals(A).await, Ok(vec![]));
    assert_eq!(store.control_signals(Uuid::nil()).await, Ok(vec![]));
}

async fn a_batch_ends_once(place: Place) {
    let store = place.store().await;
    let named = |number| NewBatch { name: None, ..batch(number) };
    for (number, jobs) in [(1, 1..3), (2, 3..5), (3, 5..6), (4, 6..6)] {
        store.submit(&named(number), &jobs.map(queued).collect::<Vec<_>>(), false).await.unwrap();
    }
    let ended = async || store.batches_to_end().await.unwrap().into_iter().map(|row| row.batch.id).collect::<Vec<_>>();
    // Where nothing was to be done, all is done.
    assert_eq!(ended().await, [batch_id(4)]);
    store.claim_next(A, "here", 3, MINUTE).await.unwrap();
    for number in [1, 2] {
        assert_eq!(ended().await, [batch_id(4)]);
        store.checkpoint(id(number), 1, &checkpoint(completed())).await.unwrap();
    }
    assert_eq!(store.cancel(JobTarget::Batch(batch_id(3))).await, Ok(1));
    let told = store.batches_to_end().await.unwrap();
    assert_eq!(told.iter().map(|row| row.batch.id).collect::<Vec<_>>(), [1, 3, 4].map(batch_id));
    assert_eq!(told[0], store.batch(&batch_id(1).to_string()).await.unwrap());
    assert_eq!((told[0].totals.completed, told[0].spent_usd, told[0].ended), (2, 0.25, None));

    // Of many who see it, one ends it.
    let stores = [Arc::clone(&store), place.store().await];
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..16 {
        let store = Arc::clone(&stores[number % 2]);
        tasks.spawn(async move { store.mark_ended(batch_id(1)).await.unwrap() });
    }
    assert_eq!(tasks.join_all().await.into_iter().filter(|is_mine| *is_mine).count(), 1);
    assert_eq!(store.mark_ended(batch_id(2)).await, Ok(false));
    assert_eq!(store.mark_ended(batch_id(99)).await, Ok(false));
    assert_eq!(ended().await, [3, 4].map(batch_id));
    assert!(store.batch(&batch_id(1).to_string()).await.unwrap().ended.is_some());
    assert_eq!(store.batch(&batch_id(2).to_string()).await.unwrap().ended, None);
}

async fn who_tries_a_job_again_opens_its_batch(place: Place) {
    let store = place.store().await;
    for number in [1, 2] {
        store.submit(&batch(number), &[queued(number)], false).await.unwrap();
        store.claim_next(A, "here", 9, MINUTE).await.unwrap();
        let failed = JobSummary { status: JobStatus::Failed, ..completed() };
        store.checkpoint(id(number), 1, &checkpoint(failed)).await.unwrap();
        assert_eq!(store.mark_ended(batch_id(number)).await, Ok(true));
    }
    let ended = async || store.batches(9).await.unwrap().iter().map(|row| row.ended.is_some()).collect::<Vec<_>>();
    assert_eq!(ended().await, [true, true]);
    assert_eq!(store.retry(JobTarget::Job(id(2))).await, Ok(1));
    assert_eq!(ended().await, [false, true]);
    assert_eq!(store.mark_ended(batch_id(2)).await, Ok(false));
    store.claim_next(A, "here", 9, MINUTE).await.unwrap();
    store.checkpoint(id(2), 2, &checkpoint(completed())).await.unwrap();
    assert_eq!(store.mark_ended(batch_id(2)).await, Ok(true));
    // What has ended well is not tried again, and a workspace that tells of an end changes nothing.
    assert_eq!(store.retry(JobTarget::Batch(batch_id(2))).await, Ok(0));
    let job = store.job(id(2)).await.unwrap().unwrap().job;
    store.restore(&job, &checkpoint(completed()), 2).await.unwrap();
    assert_eq!(ended().await, [true, true]);
    // One that tells of work does.
    store.restore(&job, &checkpoint(JobSummary { status: JobStatus::Queued, ..at_work() }), 2).await.unwrap();
    assert_eq!(ended().await, [false, true]);
    assert_eq!(store.retry(JobTarget::Batch(batch_id(1))).await, Ok(1));
    assert_eq!(ended().await, [false, false]);
}

async fn a_person_who_takes_a_job_of_a_batch_keeps_it(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[queued(1), queued(2)], false).await.unwrap();
    store.claim_next(A, "here", 2, MINUTE).await.unwrap();
    // By its workspace's lock, whoever had it.
    assert_eq!(store.claim(id(1), B, MINUTE).await, Ok(2));
    let lost = Err(StoreError::LeaseLost { id: id(1) });
    assert_eq!(store.checkpoint(id(1), 1, &checkpoint(completed())).await, lost);
    assert_eq!(store.renew(id(1), 1, MINUTE).await, lost);
    assert_eq!(store.heartbeat(A, MINUTE).await, Ok(vec![HeldLease { id: id(2), lease: 1, wants: None }]));
    assert_eq!(store.reserve(id(1), 1, 0.0).await, Err(StoreError::LeaseLost { id: id(1) }));
    // As long as it is renewed, no sweep and no claim takes it, though that process is no worker.
    for _ in 0..3 {
        expire(&place, 1).await;
        store.renew(id(1), 2, MINUTE).await.unwrap();
        store.checkpoint(id(1), 2, &checkpoint(at_work())).await.unwrap();
        assert_eq!(store.sweep().await, Ok(Swept::default()));
        assert_eq!(store.claim_next(A, "here", 9, MINUTE).await, Ok(vec![]));
    }
    assert_eq!(one(&*store, 1).await, running(queued(1), 2, B));
    // When the person's process is gone, a worker gets it.
    expire(&place, 1).await;
    assert_eq!(store.sweep().await.unwrap().requeued, [id(1)]);
    wait_over(&place).await;
    assert_eq!(ids(&store.claim_next(A, "here", 9, MINUTE).await.unwrap()), [id(1)]);
    assert_eq!(store.renew(id(1), 2, MINUTE).await, lost);
}

on_both! {
    what_was_never_begun_is_cancelled_at_once_and_the_rest_by_its_worker
    a_worker_hears_what_is_wished_of_its_jobs
    a_batch_ends_once
    who_tries_a_job_again_opens_its_batch
    a_person_who_takes_a_job_of_a_batch_keeps_it
}
