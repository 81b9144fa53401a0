//! What people ask for: hold, resume, retry, and to see how it stands.

use super::{
    A, FUTURE, MINUTE, Place, QueueEntry, at, at_work, batch, batch_id, checkpoint, completed, entry, expire, id, ids,
    on_both, one, phase, queued, wait_over,
};
use crate::store::listed;
use overnight::store::{
    BatchTotals, ControlSignal, Group, JobFilter, JobTarget, NewBatch, QueueInfo, QueuedJob, StoreError, Swept,
};
use overnight_core::job::record::{Checkpoint, HoldReason, JobStatus, JobSummary, NewJob};

async fn a_batch_is_held_and_resumed(place: Place) {
    let store = place.store().await;
    let trial = QueuedJob { is_held: true, ..queued(3) };
    store.submit(&batch(1), &[queued(1), queued(2), trial, queued(4)], false).await.unwrap();
    store.submit(&batch(2), &[queued(5)], false).await.unwrap();
    store.claim_next(A, "here", 1, MINUTE).await.unwrap();
    let whole = JobTarget::Batch(batch_id(1));
    assert_eq!(store.hold(JobTarget::Job(id(4)), HoldReason::Budget, Some(at(FUTURE))).await, Ok(1));
    assert_eq!(store.hold(whole, HoldReason::Paused, None).await, Ok(2));
    assert_eq!(store.hold(whole, HoldReason::Paused, None).await, Ok(0));
    let held = |number, hold_reason, run_after| QueueEntry {
        hold_reason: Some(hold_reason),
        ..entry(QueuedJob { is_held: true, run_after, ..queued(number) })
    };
    assert_eq!(one(&*store, 1).await.wants, Some(ControlSignal::Pause));
    assert_eq!(one(&*store, 2).await, held(2, HoldReason::Paused, None));
    assert_eq!(one(&*store, 3).await, held(3, HoldReason::Paused, None));
    assert_eq!(one(&*store, 4).await, held(4, HoldReason::Budget, Some(at(FUTURE))));
    assert_eq!(ids(&store.claim_next(A, "here", 9, MINUTE).await.unwrap()), [id(5)]);

    assert_eq!(store.resume(JobTarget::Job(id(4))).await, Ok(1));
    assert_eq!(one(&*store, 4).await, entry(queued(4)));
    assert_eq!(store.resume(whole).await, Ok(3));
    assert_eq!(store.resume(whole).await, Ok(0));
    assert_eq!(one(&*store, 1).await.wants, None);
    assert_eq!(ids(&store.claim_next(A, "here", 9, MINUTE).await.unwrap()), [2, 3, 4].map(id));

    // For a review, somebody has to say more than that it goes on; and only a pause is asked of those at work.
    let review = JobSummary { status: JobStatus::Held, hold_reason: Some(HoldReason::Review), ..at_work() };
    store.checkpoint(id(2), 1, &checkpoint(review)).await.unwrap();
    assert_eq!(store.resume(whole).await, Ok(0));
    assert_eq!(store.hold(whole, HoldReason::Window, Some(at(FUTURE))).await, Ok(0));
    store.send_signal(id(3), ControlSignal::Cancel).await.unwrap();
    assert_eq!(store.hold(whole, HoldReason::Paused, None).await, Ok(2));
    assert_eq!(one(&*store, 3).await.wants, Some(ControlSignal::Cancel));
}

async fn a_pause_outlives_the_worker_that_was_asked(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[queued(1), queued(2)], false).await.unwrap();
    store.claim_next(A, "here", 2, MINUTE).await.unwrap();
    store.hold(JobTarget::Batch(batch_id(1)), HoldReason::Paused, None).await.unwrap();
    assert_eq!(store.give_back(id(2), 1, 60_000, None).await, Ok(JobStatus::Held));
    expire(&place, 1).await;
    assert_eq!(store.sweep().await, Ok(Swept { paused: vec![id(1)], ..Swept::default() }));
    let held = |number, lease, attempts| QueueEntry {
        lease,
        attempts,
        ..entry(QueuedJob { is_held: true, ..queued(number) })
    };
    assert_eq!(store.batch_entries(batch_id(1)).await.unwrap(), [held(1, 2, 1), held(2, 1, 0)]);
    // A wish to cancel goes on to the next.
    store.resume(JobTarget::Batch(batch_id(1))).await.unwrap();
    store.send_signal(id(1), ControlSignal::Cancel).await.unwrap();
    assert_eq!(store.claim_next(A, "here", 1, MINUTE).await.unwrap()[0].wants, Some(ControlSignal::Cancel));
}

async fn only_the_failed_are_tried_again(place: Place) {
    let store = place.store().await;
    let jobs: Vec<QueuedJob> = (1..=4).map(|number| QueuedJob { max_attempts: 1, ..queued(number) }).collect();
    store.submit(&batch(1), &jobs, false).await.unwrap();
    store.claim_next(A, "here", 4, MINUTE).await.unwrap();
    store.checkpoint(id(1), 1, &checkpoint(completed())).await.unwrap();
    store.checkpoint(id(2), 1, &checkpoint(JobSummary { status: JobStatus::Failed, ..completed() })).await.unwrap();
    store.checkpoint(id(3), 1, &checkpoint(JobSummary { status: JobStatus::Partial, ..completed() })).await.unwrap();
    expire(&place, 4).await;
    assert_eq!(store.sweep().await.unwrap().dead, [id(4)]);
    let whole = JobTarget::Batch(batch_id(1));
    assert_eq!(store.retry(JobTarget::Job(id(1))).await, Ok(0));
    assert_eq!(store.retry(whole).await, Ok(2));
    assert_eq!(store.retry(whole).await, Ok(0));
    let again = |number: u32, lease| QueueEntry { lease, ..entry(jobs[number as usize - 1].clone()) };
    assert_eq!((one(&*store, 2).await, one(&*store, 4).await), (again(2, 1), again(4, 2)));
    assert_eq!(store.job(id(2)).await.unwrap().unwrap().state.completed_at, None);
    // The lease that ended it is worth nothing any more.
    let late = checkpoint(JobSummary { status: JobStatus::Failed, ..completed() });
    assert_eq!(store.checkpoint(id(2), 1, &late).await, Err(StoreError::LeaseLost { id: id(2) }));
    assert_eq!(ids(&store.claim_next(A, "here", 9, MINUTE).await.unwrap()), [2, 4].map(id));
}

async fn jobs_of_the_queue_are_listed_with_what_it_knows_of_them(place: Place) {
    let store = place.store().await;
    let jobs = [
        QueuedJob { priority: 3, group: Some(Group { key: "a".to_owned(), at_once: 1 }), ..queued(1) },
        queued(2),
        QueuedJob { run_after: Some(at(FUTURE)), max_attempts: 7, label: String::new(), ..queued(3) },
    ];
    store.submit(&batch(1), &jobs, false).await.unwrap();
    store.submit(&batch(2), &[queued(4)], false).await.unwrap();
    store.create(&NewJob { id: id(5), ..store.job(id(1)).await.unwrap().unwrap().job }).await.unwrap();
    store.claim_next(A, "here", 2, MINUTE).await.unwrap();
    store.set_workspace(id(1), 1, "workspaces/one", Some("here")).await.unwrap();
    let review = JobSummary { status: JobStatus::Held, hold_reason: Some(HoldReason::Review), ..at_work() };
    store.checkpoint(id(2), 1, &checkpoint(review)).await.unwrap();
    store.hold(JobTarget::Job(id(4)), HoldReason::Paused, None).await.unwrap();
    place.sql(format!("update jobs set attempts = 2, same_as = '{}' where id = '{}'", id(1), id(4))).await;
    place.sql(format!("update jobs set updated = '2020-01-01T00:00:00.000Z' where id <> '{}'", id(3))).await;

    let facts = |number: u32, batch| QueueInfo {
        batch: batch_id(batch),
        label: format!("contract {number}.pdf"),
        priority: 0,
        group: None,
        host: None,
        attempts: 0,
        max_attempts: 3,
        run_after: None,
        same_as: None,
        manifest: None,
    };
    let first = QueueInfo { priority: 3, group: Some("a".to_owned()), host: Some("here".to_owned()), ..facts(1, 1) };
    let third = QueueInfo { label: String::new(), max_attempts: 7, run_after: Some(at(FUTURE)), ..facts(3, 1) };
    let fourth = QueueInfo { attempts: 2, same_as: Some(id(1)), ..facts(4, 2) };
    let all = JobFilter::default();
    for (filter, expected) in [
        (
            all,
            vec![
                (4, Some(fourth.clone())),
                (5, None),
                (3, Some(third.clone())),
                (2, Some(facts(2, 1))),
                (1, Some(first.clone())),
            ],
        ),
        (JobFilter { batch: Some(batch_id(2)), ..all }, vec![(4, Some(fourth))]),
        (JobFilter { batch: Some(batch_id(1)), limit: Some(1), ..all }, vec![(3, Some(third.clone()))]),
        (JobFilter { batch: Some(batch_id(9)), ..all }, vec![]),
        (JobFilter { needs_review: true, ..all }, vec![(2, Some(facts(2, 1)))]),
        (JobFilter { needs_review: true, batch: Some(batch_id(2)), ..all }, vec![]),
        (JobFilter { worker: Some(A), ..all }, vec![(1, Some(first))]),
    ] {
        let found = listed(store.as_ref(), &filter).await.into_iter().map(|row| (row.job.id, row.queue));
        let expected: Vec<_> = expected.into_iter().map(|(number, facts)| (id(number), facts)).collect();
        assert_eq!(found.collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

async fn batches_are_found_by_what_a_person_types(place: Place) {
    let store = place.store().await;
    let missing = |name: &str| StoreError::NoBatch { name: name.to_owned(), many: false };
    assert_eq!(store.batch("last").await.unwrap_err().to_string(), "there is no batch yet");
    assert_eq!(store.batches(9).await, Ok(vec![]));
    for (number, name) in [(12, Some("nightly")), (31, Some("nightly")), (11, None), (40, Some("x"))] {
        store.submit(&NewBatch { name: name.map(str::to_owned), ..batch(number) }, &[], false).await.unwrap();
    }
    let whole = batch_id(12).to_string();
    for (name, expected) in
        [("nightly", 31), (" x ", 40), ("last", 40), ("00000011", 11), ("0000003", 31), (whole.as_str(), 12)]
    {
        assert_eq!(store.batch(name).await.unwrap().batch.id, batch_id(expected), "{name}");
    }
    assert_eq!(
        store.batch("0000001").await.unwrap_err().to_string(),
        "the ids of more than one batch begin with '0000001'; give more of the id"
    );
    for name in ["", "night", "%", "x' or '1'='1", "ffff", "\0"] {
        assert_eq!(store.batch(name).await, Err(missing(name)));
    }
    assert_eq!(missing("y").to_string(), "no batch has the name 'y', or an id that is it or begins so");
    let newest: Vec<_> = store.batches(3).await.unwrap().into_iter().map(|row| row.batch.id).collect();
    assert_eq!(newest, [40, 31, 12].map(batch_id));
    assert_eq!(store.totals(batch_id(99)).await, Ok(BatchTotals::default()));
    assert_eq!(store.batch_entries(batch_id(99)).await, Ok(vec![]));
    assert_eq!(store.retry(JobTarget::Job(id(99))).await, Ok(0));
}

async fn people_read_views(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &(1..=3).map(queued).collect::<Vec<_>>(), false).await.unwrap();
    store.register_worker(A, "here", 1, false).await.unwrap();
    store.claim_next(A, "here", 2, MINUTE).await.unwrap();
    let ended = super::QueueEntry { ..one(&*store, 1).await };
    let rewound = overnight_core::job::record::PhaseRow {
        outcome: "rewound".to_owned(),
        issue: Some("tables".to_owned()),
        ended: Some(at("2026-11-21T03:20:00.500Z")),
        ..phase(1, 1)
    };
    let told = Checkpoint { phases: vec![rewound, phase(1, 2)], ..checkpoint(completed()) };
    store.checkpoint(id(1), ended.lease, &told).await.unwrap();
    let jobs = "select label || '|' || batch || '|' || status || '|' || coalesce(worked_on, '-') || '|' ||
        cast(worked_seconds as text) || '|' || cast(attempts as text) from job_overview order by id";
    assert_eq!(
        place.values(jobs).await,
        [
            "contract 1.pdf|night 1|completed|-|61|0",
            "contract 2.pdf|night 1|running|here|0|0",
            "contract 3.pdf|night 1|queued|-|0|0",
        ]
    );
    let batches = "select name || '|' || cast(jobs as text) || '|' || cast(queued as text) || cast(running as text) ||
        cast(completed as text) || cast(failed as text) || '|' || cast(turns as text) || '|' || cast(cost_usd as text)
        from batch_overview";
    assert_eq!(place.values(batches).await, ["night 1|3|1110|12|0.125"]);
    let phases = "select label || '|' || cast(number as text) || '.' || cast(attempt as text) || '|' || outcome || '|' ||
        coalesce(issue, '-') || '|' || coalesce(cast(seconds as text), '-') from phase_history order by number, attempt";
    let expected = ["contract 1.pdf|1.1|rewound|tables|300.5", "contract 1.pdf|1.2|running|-|-"];
    assert_eq!(place.values(phases).await, expected);
    wait_over(&place).await;
}

on_both! {
    a_batch_is_held_and_resumed
    a_pause_outlives_the_worker_that_was_asked
    only_the_failed_are_tried_again
    jobs_of_the_queue_are_listed_with_what_it_knows_of_them
    batches_are_found_by_what_a_person_types
    people_read_views
}
