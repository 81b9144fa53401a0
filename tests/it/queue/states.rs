//! Random sequences of all that can happen to a queue, done to an in-memory model, to SQLite and to PostgreSQL: each answer,
//! and all that is known of each job after each step, must be the same. Time passes by setting deadlines back.

use super::{FUTURE, PAST, Place, at, at_work, batch, batch_id, checkpoint, id, model::Model, queued};
use crate::{store::listed, support::cases};
use overnight::store::{
    ControlSignal, Enqueued, Grant, Group, HeldLease, JobFilter, JobTarget, NewBatch, QueueEntry, QueuedJob, Store,
    StoreError, Swept,
};
use overnight_core::job::{
    digest::sha256,
    id::JobId,
    record::{Checkpoint, HoldReason, JobStatus, JobSummary},
    time::Timestamp,
};
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
    test_runner::{Config, TestCaseError, TestRunner},
};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Longer than any test takes.
pub(super) const HOUR: u64 = 3_600_000;

#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) priority: i32,
    pub(super) group: Option<(u8, u32)>,
    pub(super) document: u8,
    pub(super) run_after: Option<bool>,
    pub(super) max_attempts: u32,
    pub(super) is_held: bool,
}

/// Jobs are picked by an index into those that there are.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Submit {
        jobs: Vec<Wanted>,
        link_done: bool,
    },
    Claim {
        worker: u128,
        host: u8,
        most: u32,
    },
    ClaimByName {
        job: Index,
        worker: u128,
    },
    Beat {
        worker: u128,
    },
    Renew {
        job: Index,
        lease: Named,
    },
    Place {
        job: Index,
        lease: Named,
        host: Option<u8>,
    },
    WakeAt {
        job: Index,
        lease: Named,
        is_past: bool,
    },
    Checkpoint {
        job: Index,
        lease: Named,
        status: JobStatus,
        hold: HoldReason,
        quarters: u8,
    },
    GiveBack {
        job: Index,
        lease: Named,
        at_once: bool,
        is_failed: bool,
    },
    Want {
        job: Index,
        signal: ControlSignal,
    },
    Wanted {
        job: Index,
        lease: Named,
    },
    LeaseRunsOut {
        job: Index,
    },
    TimeComes {
        job: Index,
    },
    Sweep,
    Hold {
        job: Index,
        whole: bool,
        reason: HoldReason,
        until: Option<bool>,
    },
    Resume {
        job: Index,
        whole: bool,
    },
    Retry {
        job: Index,
        whole: bool,
    },
    Cancel {
        job: Index,
        whole: bool,
    },
    Wishes {
        worker: u128,
    },
    /// Of all jobs.
    KeepHeld,
    /// In quarters of a dollar.
    Reserve {
        job: Index,
        lease: Named,
        quarters: u8,
    },
    SetBudget {
        job: Index,
        quarters: Option<u8>,
    },
    EndBatches,
    MarkEnded {
        job: Index,
    },
}

/// Under which lease somebody writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    Present,
    /// A zombie's.
    Before,
}

impl Named {
    pub(super) fn number(self, present: u64) -> u64 {
        match self {
            Self::Present => present,
            Self::Before => present.saturating_sub(1),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    Nothing,
    Enqueued(Enqueued),
    Claimed(Vec<(JobId, u64, u32, Option<ControlSignal>)>),
    Lease(Result<u64, StoreError>),
    HeldLease(Vec<HeldLease>),
    Done(Result<(), StoreError>),
    ControlSignal(Result<Option<ControlSignal>, StoreError>),
    Status(Result<JobStatus, StoreError>),
    Swept(Swept),
    Count(u64),
    Granted(Result<Grant, StoreError>),
    Jobs(Vec<JobId>),
    Batches(Vec<Uuid>),
    Marked(bool),
}

/// What is known of a batch: what it has cost, what it may, and whether its end is marked.
pub(super) type Stand = (f64, Option<f64>, bool);

pub(super) fn time(is_past: bool) -> Timestamp {
    at(if is_past { PAST } else { FUTURE })
}

pub(super) fn host(number: u8) -> String {
    format!("host {number}")
}

/// The batch and the jobs of a submission, the `number`th, whose jobs are numbered from `first`.
pub(super) fn submission(number: u32, first: u32, jobs: &[Wanted]) -> (NewBatch, Vec<QueuedJob>) {
    let jobs = (first..)
        .zip(jobs)
        .map(|(number, job)| QueuedJob {
            documents_sha256: Some(sha256(&[job.document])),
            priority: job.priority,
            run_after: job.run_after.map(time),
            group: job.group.map(|(key, at_once)| Group { key: format!("group {key}"), at_once }),
            max_attempts: job.max_attempts,
            is_held: job.is_held,
            ..queued(number)
        })
        .collect();
    let budget_usd = (!number.is_multiple_of(3)).then_some(2.0);
    (NewBatch { budget_usd, ..batch(number) }, jobs)
}

pub(super) fn usd(quarters: u8) -> f64 {
    f64::from(quarters) / 4.0
}

pub(super) fn state(status: JobStatus, hold: HoldReason, quarters: u8, step: usize) -> JobSummary {
    JobSummary {
        status,
        hold_reason: (status == JobStatus::Held).then_some(hold),
        // Who works has no reason to give.
        reason: (status != JobStatus::Running).then(|| format!("step {step}")),
        turns: step as u64,
        cost_usd: (quarters > 0).then(|| usd(quarters)),
        journal_head: sha256(step.to_string().as_bytes()),
        ..at_work()
    }
}

pub(super) fn which(job: u32, whole: Option<u32>) -> JobTarget {
    whole.map_or(JobTarget::Job(id(job)), |number| JobTarget::Batch(batch_id(number)))
}

fn any_step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    let lease = || prop_oneof![5 => Just(Named::Present), 1 => Just(Named::Before)];
    let hold = || select(vec![HoldReason::Paused, HoldReason::Window, HoldReason::Review, HoldReason::Outage]);
    let wanted = (
        -2..3_i32,
        prop::option::weighted(0.5, (0..2_u8, 1..3_u32)),
        0..4_u8,
        prop::option::weighted(0.3, any::<bool>()),
        1..4_u32,
        prop::bool::weighted(0.2),
    )
        .prop_map(|(priority, group, document, run_after, max_attempts, is_held)| Wanted {
            priority,
            group,
            document,
            run_after,
            max_attempts,
            is_held,
        });
    let status = select(vec![
        JobStatus::Running,
        JobStatus::Running,
        JobStatus::Held,
        JobStatus::Completed,
        JobStatus::Completed,
        JobStatus::Partial,
        JobStatus::Failed,
        JobStatus::Cancelled,
    ]);
    prop_oneof![
        2 => (vec(wanted, 1..8), any::<bool>()).prop_map(|(jobs, link_done)| Step::Submit { jobs, link_done }),
        9 => (1..4_u128, 0..2_u8, 0..4_u32).prop_map(|(worker, host, most)| Step::Claim { worker, host, most }),
        1 => (index(), 1..4_u128).prop_map(|(job, worker)| Step::ClaimByName { job, worker }),
        2 => (1..4_u128).prop_map(|worker| Step::Beat { worker }),
        1 => (index(), lease()).prop_map(|(job, lease)| Step::Renew { job, lease }),
        1 => (index(), lease(), prop::option::of(0..2_u8)).prop_map(|(job, lease, host)| Step::Place { job, lease, host }),
        1 => (index(), lease(), any::<bool>()).prop_map(|(job, lease, is_past)| Step::WakeAt { job, lease, is_past }),
        5 => (index(), lease(), status, hold(), 0..4_u8)
            .prop_map(|(job, lease, status, hold, quarters)| Step::Checkpoint { job, lease, status, hold, quarters }),
        2 => (index(), lease(), any::<bool>(), any::<bool>())
            .prop_map(|(job, lease, at_once, is_failed)| Step::GiveBack { job, lease, at_once, is_failed }),
        2 => (index(), select(vec![ControlSignal::Cancel, ControlSignal::Pause])).prop_map(|(job, signal)| Step::Want { job, signal }),
        1 => (index(), lease()).prop_map(|(job, lease)| Step::Wanted { job, lease }),
        3 => index().prop_map(|job| Step::LeaseRunsOut { job }),
        2 => index().prop_map(|job| Step::TimeComes { job }),
        3 => Just(Step::Sweep),
        1 => (index(), any::<bool>(), hold(), prop::option::of(any::<bool>()))
            .prop_map(|(job, whole, reason, until)| Step::Hold { job, whole, reason, until }),
        1 => (index(), any::<bool>()).prop_map(|(job, whole)| Step::Resume { job, whole }),
        1 => (index(), any::<bool>()).prop_map(|(job, whole)| Step::Retry { job, whole }),
        1 => (index(), any::<bool>()).prop_map(|(job, whole)| Step::Cancel { job, whole }),
        1 => (1..4_u128).prop_map(|worker| Step::Wishes { worker }),
        1 => Just(Step::KeepHeld),
        3 => (index(), lease(), 0..6_u8).prop_map(|(job, lease, quarters)| Step::Reserve { job, lease, quarters }),
        1 => (index(), prop::option::weighted(0.8, 0..12_u8))
            .prop_map(|(job, quarters)| Step::SetBudget { job, quarters }),
        2 => Just(Step::EndBatches),
        2 => index().prop_map(|job| Step::MarkEnded { job }),
    ]
}

/// Does a step to a database. `model` has not done it yet: it knows what is picked.
async fn done(place: &Place, store: &dyn Store, model: &Model, number: usize, step: &Step) -> Told {
    let pick = |index: &Index| model.pick(*index);
    match step {
        Step::Submit { jobs, link_done } => {
            let (batch, jobs) = submission(model.batches(), model.jobs(), jobs);
            Told::Enqueued(store.submit(&batch, &jobs, *link_done).await.unwrap())
        }
        Step::Claim { worker, host: on, most } => {
            let claimed = store.claim_next(Uuid::from_u128(*worker), &host(*on), *most, HOUR).await.unwrap();
            Told::Claimed(claimed.into_iter().map(|job| (job.id, job.lease, job.attempts, job.wants)).collect())
        }
        Step::ClaimByName { job, worker } => {
            Told::Lease(store.claim(id(pick(job).0), Uuid::from_u128(*worker), HOUR).await)
        }
        Step::Beat { worker } => Told::HeldLease(store.heartbeat(Uuid::from_u128(*worker), HOUR).await.unwrap()),
        Step::Renew { job, lease } => {
            let (job, present) = model.pick_for(*job, *lease);
            Told::Done(store.renew(id(job), lease.number(present), HOUR).await)
        }
        Step::Place { job, lease, host: on } => {
            let (job, present) = model.pick_for(*job, *lease);
            let on = on.map(host);
            Told::Done(
                store.set_workspace(id(job), lease.number(present), &format!("at {number}"), on.as_deref()).await,
            )
        }
        Step::WakeAt { job, lease, is_past } => {
            let (job, present) = model.pick_for(*job, *lease);
            Told::Done(store.wake_at(id(job), lease.number(present), time(*is_past)).await)
        }
        Step::Checkpoint { job, lease, status, hold, quarters } => {
            let (job, present) = model.pick_for(*job, *lease);
            let told: Checkpoint = checkpoint(state(*status, *hold, *quarters, number));
            Told::Done(store.checkpoint(id(job), lease.number(present), &told).await)
        }
        Step::GiveBack { job, lease, at_once, is_failed } => {
            let (job, present) = model.pick_for(*job, *lease);
            let after = if *at_once { 0 } else { HOUR };
            Told::Status(store.give_back(id(job), lease.number(present), after, is_failed.then_some("it broke")).await)
        }
        Step::Want { job, signal } => Told::Done(store.send_signal(id(pick(job).0), *signal).await),
        Step::Wanted { job, lease } => {
            let (job, present) = model.pick_for(*job, *lease);
            Told::ControlSignal(store.control_signal(id(job), lease.number(present)).await)
        }
        Step::LeaseRunsOut { job } => {
            let job = id(model.pick_for(*job, Named::Present).0);
            let sql = format!("update jobs set lease_until = '{PAST}' where id = '{job}' and lease_until is not null");
            place.sql(sql).await;
            Told::Nothing
        }
        Step::TimeComes { job } => {
            let job = id(pick(job).0);
            let sql = format!("update jobs set run_after = '{PAST}' where id = '{job}' and run_after is not null");
            place.sql(sql).await;
            Told::Nothing
        }
        Step::Sweep => {
            let swept = store.sweep().await.unwrap();
            // A pause of seconds may be over before the next step on a busy machine.
            place.sql(format!("update jobs set run_after = '{FUTURE}' where run_after > '{PAST}'")).await;
            Told::Swept(swept)
        }
        Step::Hold { job, whole, reason, until } => {
            let job = pick(job).0;
            let which = which(job, whole.then(|| model.batch_of(job)));
            Told::Count(store.hold(which, *reason, until.map(time)).await.unwrap())
        }
        Step::Resume { job, whole } => {
            let job = pick(job).0;
            Told::Count(store.resume(which(job, whole.then(|| model.batch_of(job)))).await.unwrap())
        }
        Step::Retry { job, whole } => {
            let job = pick(job).0;
            Told::Count(store.retry(which(job, whole.then(|| model.batch_of(job)))).await.unwrap())
        }
        Step::Cancel { job, whole } => {
            let job = pick(job).0;
            Told::Count(store.cancel(which(job, whole.then(|| model.batch_of(job)))).await.unwrap())
        }
        Step::Wishes { worker } => Told::HeldLease(store.control_signals(Uuid::from_u128(*worker)).await.unwrap()),
        Step::KeepHeld => {
            let all: Vec<JobId> = (0..model.jobs()).rev().map(id).collect();
            Told::Jobs(store.keep_held(&all, HOUR).await.unwrap())
        }
        Step::Reserve { job, lease, quarters } => {
            let (job, present) = model.pick_for(*job, *lease);
            Told::Granted(store.reserve(id(job), lease.number(present), usd(*quarters)).await)
        }
        Step::SetBudget { job, quarters } => {
            let batch = batch_id(model.batch_of(pick(job).0));
            Told::Done(store.set_budget(batch, quarters.map(usd)).await)
        }
        Step::EndBatches => {
            Told::Batches(store.batches_to_end().await.unwrap().into_iter().map(|row| row.batch.id).collect())
        }
        Step::MarkEnded { job } => Told::Marked(store.mark_ended(batch_id(model.batch_of(pick(job).0))).await.unwrap()),
    }
}

/// All that is known of all jobs, and the turns of each, which tell the last checkpoint. A time is only past or to come.
async fn known(store: &dyn Store, batches: u32) -> (Vec<QueueEntry>, BTreeMap<JobId, u64>, BTreeMap<Uuid, Stand>) {
    let mut all = Vec::new();
    for number in 0..batches {
        all.extend(store.batch_entries(batch_id(number)).await.unwrap());
    }
    for entry in &mut all {
        entry.job.run_after = entry.job.run_after.map(|moment| time(moment <= at(PAST)));
    }
    let rows = listed(store, &JobFilter::default()).await;
    let turns = rows.into_iter().map(|row| (row.job.id, row.state.turns)).collect();
    let stands = store.batches(batches).await.unwrap().into_iter();
    let stands = stands.map(|row| (row.batch.id, (row.spent_usd, row.batch.budget_usd, row.ended.is_some()))).collect();
    (all, turns, stands)
}

async fn play(places: &[(Place, std::sync::Arc<dyn Store>)], steps: &[Step]) -> Result<(), TestCaseError> {
    for (place, _) in places {
        place.sql("delete from jobs; delete from batches; delete from job_groups").await;
    }
    let mut model = Model::default();
    for (number, step) in steps.iter().enumerate() {
        // Where there is no job yet, nothing can happen to one.
        if model.jobs() == 0
            && !matches!(step, Step::Submit { .. } | Step::Sweep | Step::Beat { .. } | Step::EndBatches)
        {
            continue;
        }
        let before = model.clone();
        let expected = (model.apply(number, step), model.known());
        for (place, store) in places {
            let told = done(place, &**store, &before, number, step).await;
            let now = (told, known(&**store, model.batches()).await);
            prop_assert_eq!(&now, &expected, "{:?}: step {} {:?}", store, number, step);
        }
    }
    Ok(())
}

#[test]
fn both_databases_do_as_the_model_says() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let places: Vec<_> = runtime.block_on(async {
        let mut places = Vec::new();
        for place in [Place::sqlite(), Place::postgres().await] {
            let store = place.store().await;
            places.push((place, store));
        }
        places
    });
    let config = Config { cases: cases(60), failure_persistence: None, ..Config::default() };
    let result =
        TestRunner::new(config).run(&vec(any_step(), 10..100), |steps| runtime.block_on(play(&places, &steps)));
    assert!(result.is_ok(), "{}", result.unwrap_err());
}
