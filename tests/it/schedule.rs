//! Schedules, on every database as in `store.rs`: which runs are submitted when, by how many, and what a schedule says of
//! those that are not. Time is given, but for the deadline of a run that somebody has begun, which is the database's own.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod commands;

use crate::store::{A, MINUTE, Place, at, checkpoint, completed, on_both};
use async_trait::async_trait;
use overnight::{
    batch::schedule::{Cron, FiredRun, NotSubmitted, RunOutcome, Submit, batch_of, fire_due, fire_now},
    store::{CommandLine, Enqueued, NewBatch, NewSchedule, QueuedJob, ScheduleRow, Store, StoreError},
};
use overnight_core::job::time::Timestamp;
use std::sync::{Arc, Mutex};
use uuid::Uuid;

const HOUR: u64 = 60 * MINUTE;
const ONE: u128 = 0x0193_5b7c_0000_7000_8000_0000_0000_0001;

fn command(document: &str) -> CommandLine {
    let words = ["extract-requirements", "--documents", document, "--each", "“quoted” 'ä'"];
    CommandLine { words: words.map(str::to_owned).to_vec(), folder: "/home/somebody/my work".to_owned() }
}

/// Weekdays at 22:00 in Berlin.
fn schedule(number: u128, name: &str) -> NewSchedule {
    NewSchedule {
        id: Uuid::from_u128(ONE + number),
        name: name.to_owned(),
        created: at("2026-11-19T12:00:00.000Z"),
        cron: "0 22 * * 1-5".to_owned(),
        timezone: "Europe/Berlin".to_owned(),
        command: command("contracts"),
        make_up_ms: 12 * HOUR,
        may_overlap: false,
    }
}

/// Thursday, Friday and Monday night.
const THURSDAY: &str = "2026-11-19T21:00:00.000Z";
const FRIDAY: &str = "2026-11-20T21:00:00.000Z";
const MONDAY: &str = "2026-11-23T21:00:00.000Z";

/// As a schedule stands of which nothing was run yet.
fn row(schedule: NewSchedule, next_run: &str) -> ScheduleRow {
    ScheduleRow {
        schedule,
        enabled: true,
        next_run: Some(at(next_run)),
        run: None,
        last_run: None,
        last_batch: None,
        note: None,
    }
}

async fn one(store: &dyn Store) -> ScheduleRow {
    store.schedules().await.unwrap().remove(0)
}

/// Puts a batch of two jobs into the queue, and counts.
struct Clerk {
    store: Arc<dyn Store>,
    asked: Mutex<Vec<(String, Uuid)>>,
    /// What is answered instead.
    refuses: fn(&CommandLine) -> Result<(), NotSubmitted>,
}

impl Clerk {
    fn new(store: &Arc<dyn Store>) -> Self {
        Self { store: store.clone(), asked: Mutex::default(), refuses: |_| Ok(()) }
    }

    fn asked(&self) -> Vec<(String, Uuid)> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

#[async_trait]
impl Submit for Clerk {
    async fn submit(&self, command: &CommandLine, batch: Uuid) -> Result<(), NotSubmitted> {
        self.asked.lock().unwrap().push((command.words[2].clone(), batch));
        (self.refuses)(command)?;
        let jobs = [1, 2].map(|place| job(batch, place));
        assert_eq!(self.store.submit(&new_batch(batch), &jobs, false).await?, Enqueued { jobs: 2, linked: 0 });
        Ok(())
    }
}

fn new_batch(id: Uuid) -> NewBatch {
    NewBatch {
        id,
        created: at(THURSDAY),
        name: Some("nightly".to_owned()),
        instructions: "extract-requirements".to_owned(),
        instructions_text: "text".to_owned(),
        instructions_sha256: "0".repeat(64),
        model: "offline".to_owned(),
        settings: serde_json::json!({}),
        budget_usd: None,
        time_window: None,
    }
}

fn job(batch: Uuid, place: u128) -> QueuedJob {
    QueuedJob {
        id: overnight_core::job::id::JobId(Uuid::from_u128(batch.as_u128() ^ (place << 1))),
        label: "a.md".to_owned(),
        sources: vec!["a.md".to_owned()],
        documents: 1,
        documents_sha256: None,
        priority: 0,
        run_after: None,
        group: None,
        max_attempts: 3,
        is_held: false,
    }
}

/// Whoever has all the jobs ends them.
async fn work(store: &dyn Store) {
    for job in store.claim_next(A, "here", 100, MINUTE).await.unwrap() {
        store.checkpoint(job.id, job.lease, &checkpoint(completed())).await.unwrap();
    }
}

fn fired(run: &str, outcome: RunOutcome) -> Vec<FiredRun> {
    vec![FiredRun { schedule: "nightly".to_owned(), run: at(run), outcome }]
}

fn submitted(run: &str) -> RunOutcome {
    RunOutcome::Submitted(batch_of(Uuid::from_u128(ONE), at(run)))
}

/// Nobody keeps the run that was begun.
async fn lose(place: &Place) {
    place.sql("update schedules set run_until = '2020-01-01T00:00:00.000Z'").await;
}

async fn a_schedule_is_kept_as_it_was_made(place: Place) {
    let store = place.store().await;
    let nightly = schedule(0, "nightly");
    let other = NewSchedule { make_up_ms: 0, may_overlap: true, ..schedule(1, "Änderungen") };
    assert_eq!(store.add_schedule(&nightly, at(FRIDAY)).await, Ok(true));
    assert_eq!(store.add_schedule(&other, at(MONDAY)).await, Ok(true));
    // Whoever didn't hear of it may say it again; another can't have the name.
    assert_eq!(store.add_schedule(&nightly, at(MONDAY)).await, Ok(true));
    assert_eq!(store.add_schedule(&schedule(2, "nightly"), at(MONDAY)).await, Ok(false));
    let all = [row(nightly.clone(), FRIDAY), row(other, MONDAY)];
    assert_eq!(store.schedules().await, Ok(all.to_vec()));
    assert_eq!(place.store().await.schedules().await, Ok(all.to_vec()));

    assert_eq!(store.remove_schedule(Uuid::from_u128(ONE + 1)).await, Ok(true));
    assert_eq!(store.remove_schedule(Uuid::from_u128(ONE + 1)).await, Ok(false));
    assert_eq!(store.schedules().await, Ok(all[..1].to_vec()));

    // The database's clock is one clock, and not this test's.
    let (first, second) = (store.clock().await.unwrap(), place.store().await.clock().await.unwrap());
    assert!(first <= second && second.millis_since(first) < MINUTE, "{first} {second}");

    // Neither database keeps NUL.
    let odd = NewSchedule { command: command("nul\0"), ..schedule(3, "odd\0") };
    assert_eq!(store.add_schedule(&odd, at(FRIDAY)).await, Ok(true));
    let kept = NewSchedule { command: command("nul\u{fffd}"), ..schedule(3, "odd\u{fffd}") };
    assert_eq!(store.schedules().await, Ok(vec![row(nightly, FRIDAY), row(kept, FRIDAY)]));
}

async fn a_run_is_begun_by_one_and_ended_once(place: Place) {
    let store = place.store().await;
    let nightly = schedule(0, "nightly");
    let key = nightly.id;
    let (thursday, friday, monday) = (at(THURSDAY), at(FRIDAY), at(MONDAY));
    store.add_schedule(&nightly, friday).await.unwrap();
    assert_eq!(store.due(at("2026-11-20T20:59:59.999Z")).await, Ok(vec![]));
    assert_eq!(store.due(friday).await, Ok(vec![row(nightly.clone(), FRIDAY)]));

    assert_eq!(store.begin_run(key, Some(thursday), Some(monday), friday, HOUR).await, Ok(false));
    assert_eq!(store.begin_run(key, None, Some(monday), friday, HOUR).await, Ok(false));
    assert_eq!(store.begin_run(Uuid::nil(), Some(friday), Some(monday), friday, HOUR).await, Ok(false));
    assert_eq!(store.begin_run(key, Some(friday), Some(monday), friday, HOUR).await, Ok(true));
    assert_eq!(store.begin_run(key, Some(friday), Some(monday), friday, HOUR).await, Ok(false));
    let begun = ScheduleRow { run: Some(friday), ..row(nightly.clone(), MONDAY) };
    assert_eq!(one(&*store).await, begun);
    // While it isn't ended, there is no other.
    assert_eq!(store.due(at("2027-01-01T00:00:00.000Z")).await, Ok(vec![]));
    assert_eq!(store.begin_run(key, Some(monday), None, monday, HOUR).await, Ok(false));
    assert_eq!(store.take_over_run(key, friday, HOUR).await, Ok(false));

    lose(&place).await;
    assert_eq!(store.due(thursday).await, Ok(vec![begun.clone()]));
    assert_eq!(store.take_over_run(key, monday, HOUR).await, Ok(false));
    assert_eq!(store.take_over_run(key, friday, HOUR).await, Ok(true));
    assert_eq!(store.take_over_run(key, friday, HOUR).await, Ok(false));
    lose(&place).await;
    assert_eq!(store.renew_run(key, friday, HOUR).await, Ok(true));
    assert_eq!(store.due(friday).await, Ok(vec![]));

    let batch = batch_of(key, friday);
    store.submit(&new_batch(batch), &[job(batch, 1)], false).await.unwrap();
    assert_eq!(store.end_run(key, monday, Some(batch), None).await, Ok(false));
    assert_eq!(store.end_run(key, friday, Some(batch), None).await, Ok(true));
    assert_eq!(store.end_run(key, friday, None, Some("late")).await, Ok(false));
    assert_eq!(store.renew_run(key, friday, HOUR).await, Ok(false));
    let ended = ScheduleRow { last_run: Some(friday), last_batch: Some(batch), ..row(nightly, MONDAY) };
    assert_eq!(one(&*store).await, ended);

    // One without a batch leaves the last one that had one.
    assert_eq!(store.begin_run(key, Some(monday), None, monday, HOUR).await, Ok(true));
    assert_eq!(store.end_run(key, monday, None, Some("why\0")).await, Ok(true));
    let note = Some("why\u{fffd}".to_owned());
    assert_eq!(one(&*store).await, ScheduleRow { next_run: None, note, ..ended });
}

/// Many come at once, over several connections.
async fn a_run_is_submitted_by_one_of_many(place: Place) {
    let store = place.store().await;
    let nightly = schedule(0, "nightly");
    store.add_schedule(&nightly, at(FRIDAY)).await.unwrap();
    store.add_schedule(&schedule(1, "later"), at(MONDAY)).await.unwrap();
    let clerk = Arc::new(Clerk::new(&store));
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..6 {
        let store: Arc<dyn Store> = if worker % 2 == 0 { store.clone() } else { place.store().await };
        let clerk = clerk.clone();
        tasks.spawn(async move { fire_due(&*store, at(FRIDAY), &*clerk).await.unwrap() });
    }
    let all: Vec<FiredRun> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(all, fired(FRIDAY, submitted(FRIDAY)));
    let batch = batch_of(nightly.id, at(FRIDAY));
    assert_eq!(clerk.asked(), [("contracts".to_owned(), batch)]);
    assert_eq!(store.totals(batch).await.unwrap().queued, 2);
    let ended = ScheduleRow { last_run: Some(at(FRIDAY)), last_batch: Some(batch), ..row(nightly, MONDAY) };
    assert_eq!(store.schedules().await, Ok(vec![row(schedule(1, "later"), MONDAY), ended]));
    assert_eq!(fire_due(&*store, at(FRIDAY), &*clerk).await, Ok(vec![]));
}

async fn of_missed_runs_one_is_made_up_for(place: Place) {
    let store = place.store().await;
    let missed = |run: &str| {
        RunOutcome::Missed(format!(
            "the run of {run} 22:00 Europe/Berlin was missed: nothing was there to submit it, and now it is too late"
        ))
    };
    for (number, make_up_hours, next_run, now, run, outcome, next) in [
        // On time, and an hour late.
        (0, 12, FRIDAY, "2026-11-20T21:00:04.000Z", FRIDAY, None, MONDAY),
        (1, 12, FRIDAY, "2026-11-20T22:00:00.000Z", FRIDAY, None, MONDAY),
        // Thursday's and Friday's: Friday's alone.
        (2, 12, THURSDAY, "2026-11-21T09:00:00.000Z", FRIDAY, None, MONDAY),
        // Too late for both.
        (3, 12, THURSDAY, "2026-11-21T09:00:00.001Z", THURSDAY, Some(missed("2026-11-19")), MONDAY),
        // Nothing is made up for; what is on time within ten minutes was not missed.
        (4, 0, FRIDAY, "2026-11-20T21:10:00.000Z", FRIDAY, None, MONDAY),
        (5, 0, FRIDAY, "2026-11-20T21:10:00.001Z", FRIDAY, Some(missed("2026-11-20")), MONDAY),
        // After a week of nothing: Monday's.
        (6, 100, "2026-11-12T21:00:00.000Z", "2026-11-24T08:00:00.000Z", MONDAY, None, "2026-11-24T21:00:00.000Z"),
    ] {
        let schedule = NewSchedule { make_up_ms: make_up_hours * HOUR, ..schedule(number, "nightly") };
        store.add_schedule(&schedule, at(next_run)).await.unwrap();
        let clerk = Clerk::new(&store);
        let batch = batch_of(schedule.id, at(run));
        let is_submitted = outcome.is_none();
        let outcome = outcome.unwrap_or(RunOutcome::Submitted(batch));
        assert_eq!(fire_due(&*store, at(now), &clerk).await, Ok(fired(run, outcome.clone())), "case {number}");
        assert_eq!(clerk.asked().len(), usize::from(is_submitted));
        let note = match outcome {
            RunOutcome::Missed(note) => Some(note),
            _ => None,
        };
        let expected = ScheduleRow {
            last_run: is_submitted.then(|| at(run)),
            last_batch: is_submitted.then_some(batch),
            note,
            ..row(schedule.clone(), next)
        };
        assert_eq!(one(&*store).await, expected);
        assert_eq!(fire_due(&*store, at(now), &clerk).await, Ok(vec![]));
        store.remove_schedule(schedule.id).await.unwrap();
    }
}

async fn a_run_waits_for_the_batch_before_it(place: Place) {
    let store = place.store().await;
    let nightly = NewSchedule { cron: "0 * * * *".to_owned(), ..schedule(0, "nightly") };
    let hour = |hour: u32| format!("2026-11-20T{hour:02}:00:00.000Z");
    store.add_schedule(&nightly, at(&hour(10))).await.unwrap();
    let clerk = Clerk::new(&store);
    let first = batch_of(nightly.id, at(&hour(10)));
    assert_eq!(fire_due(&*store, at(&hour(10)), &clerk).await, Ok(fired(&hour(10), submitted(&hour(10)))));
    let waits = |at: &str, jobs: &str| {
        format!(
            "the run of 2026-11-20 {at} Europe/Berlin was not submitted: the batch before it, {first}, still has {jobs} to do"
        )
    };
    assert_eq!(
        fire_due(&*store, at(&hour(11)), &clerk).await,
        Ok(fired(&hour(11), RunOutcome::Overlaps(waits("12:00", "2 jobs"))))
    );
    let after_ten = ScheduleRow {
        last_run: Some(at(&hour(10))),
        last_batch: Some(first),
        note: Some(waits("12:00", "2 jobs")),
        ..row(nightly.clone(), &hour(12))
    };
    assert_eq!(one(&*store).await, after_ten);

    // A person may not either, unless by force; neither moves the next run.
    let half = "2026-11-20T11:30:00.000Z";
    let claimed = store.claim_next(A, "here", 1, MINUTE).await.unwrap();
    store.checkpoint(claimed[0].id, 1, &checkpoint(completed())).await.unwrap();
    let refused = fire_now(&*store, &after_ten, at(half), false, &clerk).await;
    assert_eq!(refused, Ok(RunOutcome::Overlaps(waits("12:30", "1 job"))));
    assert_eq!(one(&*store).await, after_ten);
    assert_eq!(fire_now(&*store, &after_ten, at(half), true, &clerk).await, Ok(submitted(half)));
    let after_half = ScheduleRow {
        last_run: Some(at(half)),
        last_batch: Some(batch_of(nightly.id, at(half))),
        note: None,
        ..row(nightly.clone(), &hour(12))
    };
    assert_eq!(one(&*store).await, after_half);

    // When all have ended, it goes on; what is allowed to overlap does.
    work(&*store).await;
    assert_eq!(fire_due(&*store, at(&hour(12)), &clerk).await, Ok(fired(&hour(12), submitted(&hour(12)))));
    let eager = NewSchedule { may_overlap: true, ..nightly };
    store.remove_schedule(eager.id).await.unwrap();
    store.add_schedule(&eager, at(&hour(13))).await.unwrap();
    for time in [13, 14] {
        let run = fire_due(&*store, at(&hour(time)), &clerk).await;
        assert_eq!(run, Ok(fired(&hour(time), submitted(&hour(time)))));
    }
    let batches: Vec<Uuid> = clerk.asked().into_iter().map(|(_, batch)| batch).collect();
    let expected = [hour(10), half.to_owned(), hour(12), hour(13), hour(14)];
    assert_eq!(batches, expected.map(|run| batch_of(eager.id, at(&run))));
}

async fn a_run_is_taken_over_from_a_lost_worker(place: Place) {
    let store = place.store().await;
    let nightly = schedule(0, "nightly");
    let key = nightly.id;
    let begin = async |run: &str, next: &str| {
        assert!(store.begin_run(key, Some(at(run)), Some(at(next)), at(run), HOUR).await.unwrap());
    };
    store.add_schedule(&nightly, at(THURSDAY)).await.unwrap();
    let clerk = Clerk::new(&store);
    let soon = "2026-11-19T21:02:00.000Z";

    // It died before it had submitted anything.
    begin(THURSDAY, FRIDAY).await;
    assert_eq!(fire_due(&*store, at(soon), &clerk).await, Ok(vec![]));
    let row_now = one(&*store).await;
    assert_eq!(fire_now(&*store, &row_now, at(soon), true, &clerk).await, Ok(RunOutcome::Busy));
    lose(&place).await;
    assert_eq!(fire_due(&*store, at(soon), &clerk).await, Ok(fired(THURSDAY, submitted(THURSDAY))));
    assert_eq!(clerk.asked().len(), 1);

    // It died after that, before it could say so: even much later, and with that batch unfinished, it's the same batch.
    begin(FRIDAY, MONDAY).await;
    clerk.submit(&nightly.command, batch_of(key, at(FRIDAY))).await.unwrap();
    clerk.asked();
    lose(&place).await;
    let later = at("2026-11-23T08:00:00.000Z");
    assert_eq!(fire_due(&*store, later, &clerk).await, Ok(fired(FRIDAY, submitted(FRIDAY))));
    assert_eq!(clerk.asked(), []);
    assert_eq!(one(&*store).await.last_batch, Some(batch_of(key, at(FRIDAY))));
    work(&*store).await;

    // It died, and nobody came for too long.
    begin(MONDAY, "2026-11-24T21:00:00.000Z").await;
    lose(&place).await;
    let outcome = RunOutcome::Missed(
        "the run of 2026-11-23 22:00 Europe/Berlin was missed: nothing was there to submit it, and now it is too late"
            .to_owned(),
    );
    let late = at("2026-11-24T09:00:00.001Z");
    assert_eq!(fire_due(&*store, late, &clerk).await, Ok(fired(MONDAY, outcome)));
    assert_eq!(clerk.asked(), []);
}

async fn what_is_refused_is_said_and_keeps_no_other_from_its_time(place: Place) {
    let store = place.store().await;
    let gone = NewSchedule { command: command("gone"), ..schedule(0, "nightly") };
    store.add_schedule(&gone, at(FRIDAY)).await.unwrap();
    store.add_schedule(&schedule(1, "other"), at(FRIDAY)).await.unwrap();
    let refuses = |command: &CommandLine| match command.words[2].as_str() {
        "gone" => Err(NotSubmitted::Refused("there is no folder gone".to_owned())),
        _ => Ok(()),
    };
    let clerk = Clerk { refuses, ..Clerk::new(&store) };
    let mut expected = fired(FRIDAY, RunOutcome::Refused("there is no folder gone".to_owned()));
    let other = batch_of(Uuid::from_u128(ONE + 1), at(FRIDAY));
    expected.push(FiredRun { schedule: "other".to_owned(), run: at(FRIDAY), outcome: RunOutcome::Submitted(other) });
    assert_eq!(fire_due(&*store, at(FRIDAY), &clerk).await, Ok(expected));
    let note = Some("there is no folder gone".to_owned());
    assert_eq!(one(&*store).await, ScheduleRow { note, ..row(gone.clone(), MONDAY) });
    store.remove_schedule(Uuid::from_u128(ONE + 1)).await.unwrap();

    // The database is gone for a moment: the run is not, and whoever comes next submits it.
    let unreachable = || StoreError::Unreachable { database: "it".to_owned(), detail: "it sleeps".to_owned() };
    let clerk = Clerk {
        refuses: |_| {
            let (database, detail) = ("it".to_owned(), "it sleeps".to_owned());
            Err(NotSubmitted::Store(StoreError::Unreachable { database, detail }))
        },
        ..Clerk::new(&store)
    };
    assert_eq!(fire_due(&*store, at(MONDAY), &clerk).await, Err(unreachable()));
    lose(&place).await;
    assert_eq!(fire_due(&*store, at(MONDAY), &Clerk::new(&store)).await, Ok(fired(MONDAY, submitted(MONDAY))));
    assert_eq!(one(&*store).await.note, None);
}

async fn a_pause_is_not_made_up_for(place: Place) {
    let store = place.store().await;
    let nightly = schedule(0, "nightly");
    store.add_schedule(&nightly, at(THURSDAY)).await.unwrap();
    assert_eq!(store.pause_schedule(nightly.id).await, Ok(true));
    assert_eq!(store.pause_schedule(nightly.id).await, Ok(false));
    let paused = ScheduleRow { enabled: false, next_run: None, ..row(nightly.clone(), THURSDAY) };
    assert_eq!(one(&*store).await, paused);
    let clerk = Clerk::new(&store);
    assert_eq!(fire_due(&*store, at(MONDAY), &clerk).await, Ok(vec![]));

    // A person may have it run nevertheless.
    let now = "2026-11-20T10:00:00.000Z";
    assert_eq!(fire_now(&*store, &paused, at(now), false, &clerk).await, Ok(submitted(now)));
    let batch = batch_of(nightly.id, at(now));
    let ran = ScheduleRow { last_run: Some(at(now)), last_batch: Some(batch), ..paused };
    assert_eq!(one(&*store).await, ran);

    let cron = Cron::read(&nightly.cron, &nightly.timezone, at(now)).unwrap();
    assert_eq!(store.resume_schedule(nightly.id, cron.after(at(now)).unwrap()).await, Ok(true));
    // Who resumes what isn't paused moves nothing.
    assert_eq!(store.resume_schedule(nightly.id, at(MONDAY)).await, Ok(false));
    assert_eq!(one(&*store).await, ScheduleRow { enabled: true, next_run: Some(at(FRIDAY)), ..ran });
}

async fn a_schedule_that_makes_no_sense_is_named(place: Place) {
    let store = place.store().await;
    let nightly = schedule(0, "nightly");
    store.add_schedule(&nightly, at(FRIDAY)).await.unwrap();
    place.sql("update schedules set cron = '0 22 * * FUN'").await;
    let why = "the schedule can't be read, and is not run again: '0 22 * * FUN' is not a cron expression: its weekday is 'FUN', \
               and may be 0-7 or SUN-SAT, * or several with , - and */";
    let clerk = Clerk::new(&store);
    let run = fire_due(&*store, at(FRIDAY), &clerk).await;
    assert_eq!(run, Ok(fired(FRIDAY, RunOutcome::Missed(why.to_owned()))));
    let cron = "0 22 * * FUN".to_owned();
    let expected =
        ScheduleRow { next_run: None, note: Some(why.to_owned()), ..row(NewSchedule { cron, ..nightly }, FRIDAY) };
    assert_eq!(one(&*store).await, expected);
    assert_eq!(fire_due(&*store, at(MONDAY), &clerk).await, Ok(vec![]));

    place.sql(r#"update schedules set submission = '{"version": 2, "words": [], "folder": ""}'"#).await;
    let error = store.schedules().await.unwrap_err().to_string();
    assert!(
        error.ends_with("holds a row that can't be read: schedule 'nightly' has submission.version '2'"),
        "{error}"
    );
    place.sql(r#"update schedules set submission = '{"version": 1}'"#).await;
    let error = store.schedules().await.unwrap_err().to_string();
    assert!(error.ends_with("schedule 'nightly' has submission '{\"version\":1}'"), "{error}");
}

on_both! {
    a_schedule_is_kept_as_it_was_made
    a_run_is_begun_by_one_and_ended_once
    a_run_is_submitted_by_one_of_many
    of_missed_runs_one_is_made_up_for
    a_run_waits_for_the_batch_before_it
    a_run_is_taken_over_from_a_lost_worker
    what_is_refused_is_said_and_keeps_no_other_from_its_time
    a_pause_is_not_made_up_for
    a_schedule_that_makes_no_sense_is_named
}

#[test]
fn a_batch_is_named_by_its_schedule_and_its_time() {
    let batch = |schedule: u128, run: &str| batch_of(Uuid::from_u128(schedule), at(run)).to_string();
    // The run's milliseconds; then the beginning of the SHA-256 of "<schedule> <run>", as `sha256sum` gives it.
    assert_eq!(batch(ONE, FRIDAY), "01a1fac2-4c80-7eba-958a-465b8a455c71");
    let all = [batch(ONE, FRIDAY), batch(ONE + 1, FRIDAY), batch(ONE, MONDAY), batch(ONE, "2026-11-20T21:00:00.001Z")];
    let mut different = all.to_vec();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), all.len());
    // Later runs have later ids.
    assert!(batch(ONE, THURSDAY) < batch(ONE + 7, FRIDAY) && batch(ONE, FRIDAY) < batch(ONE, MONDAY));
    let before_1970 = Timestamp::new(chrono::DateTime::from_timestamp_millis(-1).unwrap());
    assert_eq!(batch_of(Uuid::nil(), before_1970).get_version_num(), 7);
}
