//! The queue, on every database as in `store.rs`: what a submission leaves, who gets which job, and what becomes of jobs
//! whose workers are lost. `queue/states.rs` drives random sequences against a model.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod budget;
mod endings;
mod listing;
mod lost;
mod model;
mod order;
mod requests;
mod size;
mod states;
mod waits;

use crate::store::{A, B, MINUTE, Place, at, at_work, checkpoint, completed, id, on_both, phase, untouched};
use overnight::store::{
    ClaimedJob, ControlSignal, Enqueued, HeldLease, NewBatch, QueueEntry, QueuedJob, Store, StoreError, Swept,
};
use overnight_core::job::{
    digest::sha256,
    id::JobId,
    record::{Checkpoint, HoldReason, JobStatus, JobSummary},
};
use uuid::Uuid;

pub(crate) fn batch_id(number: u32) -> Uuid {
    format!("{number:08}-0000-7000-9000-0123456789ab").parse().unwrap()
}

pub(crate) fn batch(number: u32) -> NewBatch {
    NewBatch {
        id: batch_id(number),
        created: at(&format!("2026-11-21T22:{:02}:00.000Z", number % 60)),
        name: Some(format!("night {number}")),
        instructions: "extract-requirements".to_owned(),
        instructions_text: "---\nname: extract-requirements\n---\nFind – “all” of them\0.\n".to_owned(),
        instructions_sha256: sha256(b"instructions"),
        model: "offline".to_owned(),
        settings: serde_json::json!({"max_turns": 400, "nul": "\0", "list": [1.5, null, true]}),
        budget_usd: Some(12.25),
        time_window: Some("22:00-06:00 Europe/Berlin".to_owned()),
    }
}

pub(crate) fn queued(number: u32) -> QueuedJob {
    QueuedJob {
        id: id(number),
        label: format!("contract {number}.pdf"),
        sources: vec![format!("in/contract {number}.pdf"), "in/“notes” 'ä'.md".to_owned()],
        documents: 2,
        documents_sha256: Some(sha256(format!("document {number}").as_bytes())),
        priority: 0,
        run_after: None,
        group: None,
        max_attempts: 3,
        is_held: false,
    }
}

/// What the manifest says of a job that nobody has touched yet.
fn entry(job: QueuedJob) -> QueueEntry {
    QueueEntry {
        status: if job.is_held { JobStatus::Held } else { JobStatus::Queued },
        hold_reason: job.is_held.then_some(HoldReason::Paused),
        job,
        batch: batch_id(1),
        reason: None,
        attempts: 0,
        lease: 0,
        worker: None,
        wants: None,
        host: None,
        workspace: String::new(),
        same_as: None,
    }
}

fn running(job: QueuedJob, lease: u64, worker: Uuid) -> QueueEntry {
    QueueEntry { status: JobStatus::Running, lease, worker: Some(worker), ..entry(job) }
}

fn ids(claimed: &[ClaimedJob]) -> Vec<JobId> {
    claimed.iter().map(|job| job.id).collect()
}

async fn one(store: &dyn Store, number: u32) -> QueueEntry {
    let manifest = store.batch_entries(batch_id(1)).await.unwrap();
    manifest.into_iter().find(|entry| entry.job.id == id(number)).unwrap()
}

const PAST: &str = "2020-01-01T00:00:00.000Z";
const FUTURE: &str = "2099-01-01T00:00:00.000Z";

/// The lease of a job runs out.
async fn expire(place: &Place, number: u32) {
    place.sql(format!("update jobs set lease_until = '{PAST}' where id = '{}'", id(number))).await;
}

/// The time of all that waits comes.
async fn wait_over(place: &Place) {
    place.sql(format!("update jobs set run_after = '{PAST}' where run_after is not null")).await;
}

async fn a_submission_is_there_whole_and_once(place: Place) {
    let store = place.store().await;
    let jobs = vec![
        queued(1),
        QueuedJob { is_held: true, run_after: Some(at(FUTURE)), label: "nul \0".to_owned(), ..queued(2) },
        QueuedJob { documents_sha256: None, priority: -7, sources: vec![], ..queued(3) },
    ];
    let submitted = Ok(Enqueued { jobs: 3, linked: 0 });
    assert_eq!(store.submit(&batch(1), &jobs, true).await, submitted);
    let expected: Vec<QueueEntry> =
        [jobs[0].clone(), QueuedJob { label: "nul \u{fffd}".to_owned(), ..jobs[1].clone() }, jobs[2].clone()]
            .map(entry)
            .to_vec();
    assert_eq!(store.batch_entries(batch_id(1)).await.unwrap(), expected);
    let row = store.batch("night 1").await.unwrap();
    let shown = NewBatch { instructions_text: batch(1).instructions_text.replace('\0', "\u{fffd}"), ..batch(1) };
    assert_eq!((row.batch, row.spent_usd), (shown, 0.0));
    assert_eq!((row.totals.queued, row.totals.held, row.totals.all(), row.totals.ended()), (2, 1, 3, 0));

    // Whoever didn't hear of it may send it again, also when work has begun.
    assert_eq!(ids(&store.claim_next(A, "here", 1, MINUTE).await.unwrap()), [id(1)]);
    let before = store.batch_entries(batch_id(1)).await.unwrap();
    assert_eq!(store.submit(&batch(1), &jobs, true).await, submitted);
    assert_eq!(store.batch_entries(batch_id(1)).await.unwrap(), before);

    // A job that the database refuses takes its batch with it.
    place.sql("create unique index refused on jobs (label) where priority = 9").await;
    let refused =
        [queued(10), QueuedJob { priority: 9, ..queued(11) }, QueuedJob { id: id(12), priority: 9, ..queued(11) }];
    let error = store.submit(&batch(2), &refused, false).await.unwrap_err();
    assert!(matches!(error, StoreError::Sql { .. }), "{error:?}");
    assert_eq!(store.batch("night 2").await, Err(StoreError::NoBatch { name: "night 2".to_owned(), many: false }));
    assert_eq!(store.job(id(10)).await, Ok(None));
}

async fn what_was_done_before_is_linked_and_not_done_again(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[queued(1), queued(2)], true).await.unwrap();
    store.claim_next(A, "here", 2, MINUTE).await.unwrap();
    store.set_workspace(id(1), 1, "workspaces/one", Some("here")).await.unwrap();
    store.checkpoint(id(1), 1, &checkpoint(completed())).await.unwrap();
    let partial = JobSummary { status: JobStatus::Partial, ..completed() };
    store.checkpoint(id(2), 1, &checkpoint(partial)).await.unwrap();

    let again = |number, done| QueuedJob { documents_sha256: queued(done).documents_sha256, ..queued(number) };
    let jobs = [again(3, 1), again(4, 2), QueuedJob { documents_sha256: None, ..queued(5) }, again(6, 1)];
    let other = NewBatch { instructions_sha256: sha256(b"other"), ..batch(3) };
    assert_eq!(store.submit(&batch(2), &jobs, true).await, Ok(Enqueued { jobs: 4, linked: 2 }));
    assert_eq!(store.submit(&other, &[again(7, 1)], true).await, Ok(Enqueued { jobs: 1, linked: 0 }));
    assert_eq!(store.submit(&batch(4), &[again(8, 1)], false).await, Ok(Enqueued { jobs: 1, linked: 0 }));
    let by_another = NewBatch { model: "another".to_owned(), ..batch(6) };
    assert_eq!(store.submit(&by_another, &[again(10, 1)], true).await, Ok(Enqueued { jobs: 1, linked: 0 }));
    // Of a linked job the one that did the work is found, not the link.
    assert_eq!(store.submit(&batch(5), &[again(9, 1)], true).await, Ok(Enqueued { jobs: 1, linked: 1 }));
    assert_eq!(store.batch_entries(batch_id(5)).await.unwrap()[0].same_as, Some(id(1)));

    let manifest = store.batch_entries(batch_id(2)).await.unwrap();
    let linked = |job| QueueEntry {
        batch: batch_id(2),
        status: JobStatus::Completed,
        reason: Some(format!("done before by job {}", id(1))),
        workspace: "workspaces/one".to_owned(),
        host: Some("here".to_owned()),
        same_as: Some(id(1)),
        ..entry(job)
    };
    let waits = |job| QueueEntry { batch: batch_id(2), ..entry(job) };
    let [third, fourth, fifth, sixth] = jobs;
    assert_eq!(manifest, [linked(third), waits(fourth), waits(fifth), linked(sixth)]);
    let totals = store.totals(batch_id(2)).await.unwrap();
    assert_eq!((totals.completed, totals.linked, totals.queued, totals.all()), (2, 2, 2, 4));
    // It shows what was delivered, and no work of its own.
    let state = store.job(id(3)).await.unwrap().unwrap().state;
    let shown = JobSummary {
        status: JobStatus::Completed,
        reason: Some(format!("done before by job {}", id(1))),
        coverage: 1.0,
        summary: completed().summary,
        confidence: completed().confidence,
        notes: completed().notes,
        deliverables: completed().deliverables,
        completed_at: Some(batch(2).created),
        ..untouched()
    };
    assert_eq!(state, shown);

    // What people say of it later is said of all that are linked to it, until the result is sent back.
    let said = async || {
        let rows = store.jobs(&[id(3), id(6), id(9), id(7)]).await.unwrap();
        rows.into_iter().map(|row| (row.state.approved_by, row.state.corrections)).collect::<Vec<_>>()
    };
    let none = || (None, 0);
    assert_eq!(said().await, [none(), none(), none(), none()]);
    let lease = store.claim_for_review(id(1), A, MINUTE).await.unwrap();
    let head = sha256(b"line 78");
    let reviewed = JobSummary {
        approved_by: Some("anna".to_owned()),
        corrections: 2,
        journal_seq: 78,
        journal_head: head,
        ..completed()
    };
    store.checkpoint(id(1), lease, &checkpoint(reviewed)).await.unwrap();
    let by_anna = || (Some("anna".to_owned()), 2);
    let mut carried = said().await;
    carried.sort();
    assert_eq!(carried, [none(), by_anna(), by_anna(), by_anna()]);
    let lease = store.claim_for_review(id(1), A, MINUTE).await.unwrap();
    store.reopen(id(1), lease, 1).await.unwrap();
    assert_eq!(said().await, [none(), none(), none(), none()]);
}

/// Who has the lease says what the workspace store has; from then on the job is bound to no machine.
async fn any_machine_goes_on_with_what_is_in_the_workspace_store(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[queued(1), queued(2)], false).await.unwrap();
    store.claim_next(A, "here", 1, MINUTE).await.unwrap();
    store.set_workspace(id(1), 1, "workspaces/one", Some("here")).await.unwrap();
    let lost = Err(StoreError::LeaseLost { id: id(1) });
    assert_eq!(store.set_manifest(id(1), 2, "manifests/other").await, lost);
    let mut pointers = store.manifests().await.unwrap();
    pointers.sort();
    assert_eq!(pointers, [(id(1), None), (id(2), None)]);
    assert_eq!(store.set_manifest(id(1), 1, "manifests/one").await, Ok(()));
    assert_eq!(store.set_manifest(id(1), 1, "manifests/two").await, Ok(()));
    expire(&place, 1).await;
    store.sweep().await.unwrap();
    // The worker was lost, and comes back.
    assert_eq!(store.set_manifest(id(1), 1, "manifests/three").await, lost);
    assert_eq!(store.set_manifest(id(1), 2, "manifests/three").await, lost);
    let row = store.job(id(1)).await.unwrap().unwrap();
    let queue = row.queue.unwrap();
    assert_eq!((queue.host, queue.manifest.as_deref()), (None, Some("manifests/two")));
    store.register_worker(B, "there", 2, true).await.unwrap();
    let claimed = store.claim_next(B, "there", 1, MINUTE).await.unwrap();
    assert_eq!((claimed[0].id, claimed[0].lease, claimed[0].host.clone()), (id(1), 3, None));
    assert_eq!(claimed[0].manifest.as_deref(), Some("manifests/two"));
    let mut pointers = store.manifests().await.unwrap();
    pointers.sort();
    assert_eq!(pointers, [(id(1), Some("manifests/two".to_owned())), (id(2), None)]);
}

async fn a_worker_gets_what_it_needs_and_loses_it_only_by_silence(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[queued(1), queued(2)], false).await.unwrap();
    store.register_worker(A, "here", 77, false).await.unwrap();
    store.register_worker(A, "here", 77, false).await.unwrap();
    assert_eq!(store.claim_next(A, "here", 0, MINUTE).await, Ok(vec![]));
    let claimed = store.claim_next(A, "here", 5, MINUTE).await.unwrap();
    let job = queued(1);
    let first = ClaimedJob {
        id: id(1),
        lease: 1,
        batch: batch_id(1),
        created: batch(1).created,
        label: job.label,
        sources: job.sources,
        documents: 2,
        documents_sha256: job.documents_sha256,
        workspace: String::new(),
        host: None,
        attempts: 0,
        max_attempts: 3,
        wants: None,
        manifest: None,
    };
    assert_eq!((claimed.len(), &claimed[0]), (2, &first));
    assert_eq!(one(&*store, 1).await, running(queued(1), 1, A));
    assert_eq!(store.claim_next(B, "here", 5, MINUTE).await, Ok(vec![]));

    store.send_signal(id(2), ControlSignal::Cancel).await.unwrap();
    let has = |number, wants| HeldLease { id: id(number), lease: 1, wants };
    place.sql(format!("update workers set seen = '{PAST}'")).await;
    assert_eq!(store.heartbeat(A, MINUTE).await, Ok(vec![has(1, None), has(2, Some(ControlSignal::Cancel))]));
    assert_eq!(place.value(format!("select cast(count(*) as text) from workers where seen > '{PAST}'")).await, "1");
    assert_eq!(store.heartbeat(B, MINUTE).await, Ok(vec![]));
    assert_eq!(store.sweep().await, Ok(Swept::default()));

    // A heartbeat moves each deadline, and a sweep takes only what has passed it.
    expire(&place, 1).await;
    expire(&place, 2).await;
    assert_eq!(store.heartbeat(A, MINUTE).await.unwrap().len(), 2);
    expire(&place, 1).await;
    assert_eq!(store.sweep().await, Ok(Swept { requeued: vec![id(1)], ..Swept::default() }));
    assert_eq!(store.heartbeat(A, MINUTE).await, Ok(vec![has(2, Some(ControlSignal::Cancel))]));
    assert_eq!(one(&*store, 1).await, QueueEntry { attempts: 1, lease: 2, ..entry(queued(1)) });
    let lost = Err(StoreError::LeaseLost { id: id(1) });
    assert_eq!(store.checkpoint(id(1), 1, &checkpoint(completed())).await, lost);
    assert_eq!(store.control_signal(id(1), 1).await.unwrap_err(), StoreError::LeaseLost { id: id(1) });
    assert_eq!(store.set_workspace(id(1), 1, "elsewhere", None).await, lost);
    assert_eq!(store.wake_at(id(1), 1, at(FUTURE)).await, lost);
    assert_eq!(store.give_back(id(1), 1, 0, None).await, Err(StoreError::LeaseLost { id: id(1) }));
    // After the first lost attempt it goes on at once.
    assert_eq!(store.claim_next(B, "there", 5, MINUTE).await.unwrap()[0].lease, 3);
    assert_eq!(one(&*store, 1).await, QueueEntry { attempts: 1, ..running(queued(1), 3, B) });

    store.forget_worker(A).await.unwrap();
    place
        .sql(format!("insert into workers (id, host, pid, started, seen) values ('{B}', '', 1, '{PAST}', '{PAST}')"))
        .await;
    store.sweep().await.unwrap();
    assert_eq!(place.value("select cast(count(*) as text) from workers").await, "0");
}

async fn a_job_that_kills_its_workers_is_given_up(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[queued(1), QueuedJob { max_attempts: 0, ..queued(2) }], false).await.unwrap();
    for attempt in 1..=3 {
        wait_over(&place).await;
        let claimed = store.claim_next(A, "here", 2, MINUTE).await.unwrap();
        assert_eq!(claimed[0].attempts, attempt - 1);
        assert_eq!(claimed.len(), if attempt == 1 { 2 } else { 1 });
        expire(&place, 1).await;
        expire(&place, 2).await;
        let dead = match attempt {
            // To be tried not even once makes no sense.
            1 => vec![id(2)],
            3 => vec![id(1)],
            _ => vec![],
        };
        let requeued = if attempt < 3 { vec![id(1)] } else { vec![] };
        assert_eq!(store.sweep().await, Ok(Swept { requeued, dead, ..Swept::default() }));
        // The pause grows: none, then some.
        let waits = one(&*store, 1).await.job.run_after.is_some();
        assert_eq!(waits, attempt == 2);
        if waits {
            assert_eq!(store.claim_next(A, "here", 2, MINUTE).await, Ok(vec![]));
        }
    }
    let reason =
        "given up: each time, the worker that had it died or stopped answering; `overnight retry` queues it again";
    let dead = QueueEntry {
        status: JobStatus::Failed,
        reason: Some(reason.to_owned()),
        attempts: 3,
        lease: 6,
        ..entry(queued(1))
    };
    assert_eq!(one(&*store, 1).await, dead);
    assert!(store.job(id(1)).await.unwrap().unwrap().state.completed_at.is_some());
    assert_eq!(store.sweep().await, Ok(Swept::default()));
    assert_eq!(store.claim_next(A, "here", 2, MINUTE).await, Ok(vec![]));
    let ended = Err(StoreError::Ended { id: id(1), status: JobStatus::Failed });
    assert_eq!(store.claim(id(1), A, MINUTE).await, ended);
}

/// On a night in which workers die all the time, a job that goes on a little each time comes to its end.
async fn an_attempt_that_gets_further_begins_the_count_anew(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[QueuedJob { max_attempts: 2, ..queued(1) }], false).await.unwrap();
    let mut attempts = Vec::new();
    for turns in [1, 2, 3, 4, 4, 4] {
        wait_over(&place).await;
        let claimed = store.claim_next(A, "here", 1, MINUTE).await.unwrap();
        let (id, lease) = (claimed[0].id, claimed[0].lease);
        store.checkpoint(id, lease, &checkpoint(JobSummary { turns, ..at_work() })).await.unwrap();
        expire(&place, 1).await;
        let swept = store.sweep().await.unwrap();
        let entry = one(&*store, 1).await;
        attempts.push((entry.attempts, swept.dead.len()));
        if !swept.dead.is_empty() {
            break;
        }
    }
    assert_eq!(attempts, [(1, 0), (1, 0), (1, 0), (1, 0), (2, 1)]);
}

async fn a_job_is_given_back_with_or_without_an_attempt(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[QueuedJob { max_attempts: 2, ..queued(1) }], false).await.unwrap();
    let claim = async || {
        wait_over(&place).await;
        store.claim_next(A, "here", 1, MINUTE).await.unwrap()[0].lease
    };
    assert_eq!(claim().await, 1);
    assert_eq!(store.give_back(id(1), 1, 0, None).await, Ok(JobStatus::Queued));
    let job = || QueuedJob { max_attempts: 2, ..queued(1) };
    assert_eq!(one(&*store, 1).await, QueueEntry { lease: 1, ..entry(job()) });
    // Who repeats it has nothing to give back.
    assert_eq!(store.give_back(id(1), 1, 0, None).await, Err(StoreError::LeaseLost { id: id(1) }));

    // For a while.
    assert_eq!(claim().await, 2);
    assert_eq!(store.give_back(id(1), 2, 3_600_000, None).await, Ok(JobStatus::Queued));
    assert_eq!(store.claim_next(A, "here", 1, MINUTE).await, Ok(vec![]));

    assert_eq!(claim().await, 3);
    assert_eq!(store.give_back(id(1), 3, 0, Some("no room")).await, Ok(JobStatus::Queued));
    let failed_once = QueueEntry { attempts: 1, lease: 3, reason: Some("no room".to_owned()), ..entry(job()) };
    assert_eq!(one(&*store, 1).await, failed_once);
    assert_eq!(claim().await, 4);
    assert_eq!(one(&*store, 1).await.reason, None);
    assert_eq!(store.give_back(id(1), 4, 60_000, Some("still no room")).await, Ok(JobStatus::Failed));
    let reason = Some("given up after attempt 2: still no room".to_owned());
    let dead = QueueEntry { status: JobStatus::Failed, attempts: 2, lease: 4, reason, ..entry(job()) };
    assert_eq!(one(&*store, 1).await, dead);
}

async fn held_jobs_wake_by_themselves(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[queued(1), queued(2)], false).await.unwrap();
    store.claim_next(A, "here", 2, MINUTE).await.unwrap();
    let held = JobSummary { status: JobStatus::Held, hold_reason: Some(HoldReason::Window), ..at_work() };
    store.wake_at(id(1), 1, at(FUTURE)).await.unwrap();
    for number in [1, 2] {
        let told = Checkpoint { phases: vec![phase(0, 1)], ..checkpoint(held.clone()) };
        store.checkpoint(id(number), 1, &told).await.unwrap();
    }
    assert_eq!(store.sweep().await, Ok(Swept::default()));
    let waits = |run_after| QueueEntry {
        status: JobStatus::Held,
        hold_reason: Some(HoldReason::Window),
        lease: 1,
        ..entry(QueuedJob { is_held: true, run_after, ..queued(1) })
    };
    assert_eq!(one(&*store, 1).await, waits(Some(at(FUTURE))));
    wait_over(&place).await;
    assert_eq!(store.sweep().await, Ok(Swept { woken: vec![id(1)], ..Swept::default() }));
    assert_eq!(store.claim_next(B, "here", 2, MINUTE).await.unwrap()[0].lease, 2);
    // What it had done is still known.
    assert_eq!(store.job(id(1)).await.unwrap().unwrap().state, at_work());

    // A person may be faster than the time.
    store.wake_at(id(1), 2, at(FUTURE)).await.unwrap();
    store.checkpoint(id(1), 2, &checkpoint(held)).await.unwrap();
    assert_eq!(store.claim(id(1), A, MINUTE).await, Ok(3));
    assert_eq!(one(&*store, 1).await, running(queued(1), 3, A));
}

on_both! {
    any_machine_goes_on_with_what_is_in_the_workspace_store
    a_submission_is_there_whole_and_once
    what_was_done_before_is_linked_and_not_done_again
    a_worker_gets_what_it_needs_and_loses_it_only_by_silence
    a_job_that_kills_its_workers_is_given_up
    an_attempt_that_gets_further_begins_the_count_anew
    a_job_is_given_back_with_or_without_an_attempt
    held_jobs_wake_by_themselves
}
