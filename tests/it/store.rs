//! One suite for every database: each feature runs on SQLite in a folder of its own, and on PostgreSQL in a database of
//! its own, on the server that `./test.sh` starts.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by them")]

use overnight::store::{ControlSignal, JobFilter, JobRow, Store, StoreError, connect};
use overnight_core::job::{
    digest::{ZERO, sha256},
    id::JobId,
    record::{Checkpoint, Delivered, HoldReason, JobStatus, JobSummary, NewJob, PhaseRow, TodoRow},
    time::Timestamp,
    todo::{Todo, TodoStatus},
};
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};
use std::sync::Arc;
use uuid::Uuid;

/// A new, empty database on the server that `./test.sh` starts.
pub(crate) async fn postgres_url() -> String {
    let server = std::env::var("OVERNIGHT_TEST_POSTGRES")
        .expect("this test needs a PostgreSQL server, which ./test.sh starts: run ./test.sh");
    let name = format!("test_{}", Uuid::now_v7().simple());
    let mut connection = PgConnection::connect(&server).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("create database {name}"))).execute(&mut connection).await.unwrap();
    format!("{}/{name}", server.trim_end_matches('/').trim_end_matches("/postgres"))
}

/// A new, empty database, and how to reach it without the program.
pub(crate) struct Place {
    pub(crate) url: String,
    raw: Raw,
    _folder: Option<tempfile::TempDir>,
}

enum Raw {
    Sqlite(String),
    Postgres(String),
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("over night.db").to_str().unwrap().to_owned();
        Self { url: format!("sqlite://{path}"), raw: Raw::Sqlite(path), _folder: Some(folder) }
    }

    pub(crate) async fn postgres() -> Self {
        let url = postgres_url().await;
        Self { url: url.clone(), raw: Raw::Postgres(url), _folder: None }
    }

    pub(crate) async fn store(&self) -> Arc<dyn Store> {
        connect(&self.url).await.unwrap()
    }

    /// Runs SQL past the program.
    pub(crate) async fn sql(&self, sql: impl Into<String>) {
        let sql = AssertSqlSafe(sql.into());
        match &self.raw {
            Raw::Sqlite(path) => {
                let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
                let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
                sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
            }
            Raw::Postgres(url) => {
                let mut connection = PgConnection::connect(url).await.unwrap();
                sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
            }
        }
    }

    /// The only value of the only row.
    pub(crate) async fn value(&self, sql: impl Into<String>) -> String {
        self.values(sql).await.remove(0)
    }

    /// The only value of each row.
    pub(crate) async fn values(&self, sql: impl Into<String>) -> Vec<String> {
        let sql = AssertSqlSafe(sql.into());
        match &self.raw {
            Raw::Sqlite(path) => {
                let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
                let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
                sqlx::query_scalar(sql).fetch_all(&mut connection).await.unwrap()
            }
            Raw::Postgres(url) => {
                let mut connection = PgConnection::connect(url).await.unwrap();
                sqlx::query_scalar(sql).fetch_all(&mut connection).await.unwrap()
            }
        }
    }
}

pub(crate) fn at(text: &str) -> Timestamp {
    serde_json::from_value(text.into()).unwrap()
}

/// The id that begins with eight digits of `number`.
pub(crate) fn id(number: u32) -> JobId {
    format!("{number:08}-0000-7000-8000-0123456789ab").parse().unwrap()
}

/// All rows that fit, the newest first.
pub(crate) async fn listed(store: &dyn Store, filter: &JobFilter) -> Vec<JobRow> {
    store.jobs(&store.job_ids(filter).await.unwrap()).await.unwrap()
}

pub(crate) fn new_job(number: u32) -> NewJob {
    NewJob {
        id: id(number),
        created: at(&format!("2026-11-21T03:{:02}:07.123Z", number % 60)),
        instructions: "extract-requirements".to_owned(),
        instructions_sha256: sha256(b"instructions"),
        model: "offline".to_owned(),
        documents: 3,
        workspace: format!("workspaces/{}", id(number)),
    }
}

/// What a job's row says before the first checkpoint.
pub(crate) fn untouched() -> JobSummary {
    JobSummary {
        status: JobStatus::Queued,
        hold_reason: None,
        reason: None,
        phase_number: 0,
        phase_title: String::new(),
        phases_planned: 0,
        phases_complete: 0,
        turns: 0,
        tokens_in: 0,
        tokens_out: 0,
        tokens_cached: 0,
        cost_usd: None,
        worked_ms: 0,
        coverage: 0.0,
        summary: None,
        confidence: None,
        notes: None,
        deliverables: Vec::new(),
        completed_at: None,
        approved_by: None,
        corrections: 0,
        journal_seq: 0,
        journal_head: ZERO.to_owned(),
    }
}

pub(crate) fn at_work() -> JobSummary {
    JobSummary {
        status: JobStatus::Running,
        phase_number: 1,
        phase_title: "Extraction".to_owned(),
        phases_planned: 3,
        phases_complete: 1,
        turns: 12,
        tokens_in: 5_000_000_000,
        tokens_out: 321,
        tokens_cached: 4_000,
        cost_usd: Some(0.125),
        worked_ms: 61_001,
        coverage: 0.5,
        journal_seq: 40,
        journal_head: sha256(b"line 40"),
        ..untouched()
    }
}

pub(crate) fn completed() -> JobSummary {
    JobSummary {
        status: JobStatus::Completed,
        reason: Some("all checks met".to_owned()),
        coverage: 1.0,
        summary: Some("Found 42 requirements – “quoted”, 日本語".to_owned()),
        confidence: Some(0.875),
        notes: Some("none\nof importance".to_owned()),
        deliverables: vec![
            Delivered { path: "output/b.json".to_owned(), sha256: sha256(b"b"), bytes: 0 },
            Delivered { path: "output/a 'ä'.md".to_owned(), sha256: sha256(b"a"), bytes: 9_000_000_000 },
        ],
        completed_at: Some(at("2026-11-21T05:00:00.007Z")),
        journal_seq: 77,
        journal_head: sha256(b"line 77"),
        ..at_work()
    }
}

pub(crate) fn phase(number: u32, attempt: u32) -> PhaseRow {
    PhaseRow {
        number,
        attempt,
        kind: "planned".to_owned(),
        title: "Extraction".to_owned(),
        outcome: "running".to_owned(),
        issue: None,
        turns: 5,
        tokens_in: 100,
        tokens_out: 10,
        cost_usd: None,
        started: at("2026-11-21T03:15:00.000Z"),
        ended: None,
        archive: None,
    }
}

fn rewound(number: u32, attempt: u32) -> PhaseRow {
    PhaseRow {
        outcome: "rewound".to_owned(),
        issue: Some("the tables were read without their notes".to_owned()),
        turns: 9,
        cost_usd: Some(0.5),
        ended: Some(at("2026-11-21T03:20:00.001Z")),
        archive: Some("phase-01-extraction.rewound-1".to_owned()),
        ..phase(number, attempt)
    }
}

pub(crate) fn todo(phase: u32, attempt: u32, number: u32) -> TodoRow {
    TodoRow {
        phase,
        attempt,
        todo: Todo {
            id: number,
            content: format!("Process section {number}"),
            active_form: format!("Processing section {number}"),
            status: TodoStatus::Pending,
            context: None,
            completion_criteria: None,
            agent_type: None,
            order: number,
            outcome: None,
            unevidenced: false,
            created: at("2026-11-21T03:15:00.001Z"),
            started: None,
            completed: None,
        },
    }
}

fn done(phase: u32, attempt: u32, number: u32) -> TodoRow {
    let row = todo(phase, attempt, number);
    let todo = Todo {
        status: TodoStatus::Completed,
        context: Some("pages 3–5".to_owned()),
        completion_criteria: Some("each MUST is listed".to_owned()),
        agent_type: Some("validator".to_owned()),
        outcome: Some("12 found".to_owned()),
        unevidenced: true,
        started: Some(at("2026-11-21T03:15:01.000Z")),
        completed: Some(at("2026-11-21T03:16:01.999Z")),
        ..row.todo
    };
    TodoRow { todo, ..row }
}

pub(crate) fn checkpoint(state: JobSummary) -> Checkpoint {
    Checkpoint { state, phases: Vec::new(), todos: Vec::new() }
}

/// All that the database knows of a job, but for when it was written.
async fn known(store: &dyn Store, id: JobId) -> (JobRow, Vec<PhaseRow>, Vec<TodoRow>) {
    let mut row = store.job(id).await.unwrap().unwrap();
    assert!(row.updated > at("2020-01-01T00:00:00.000Z"), "{}", row.updated);
    row.updated = Timestamp::default();
    (row, store.phases(id).await.unwrap(), store.todos(id).await.unwrap())
}

fn row(job: NewJob, state: JobSummary, lease: u64, worker: Option<Uuid>) -> JobRow {
    JobRow { job, state, lease, worker, wants: None, updated: Timestamp::default(), queue: None }
}

pub(crate) const A: Uuid = Uuid::from_u128(0xa);
pub(crate) const B: Uuid = Uuid::from_u128(0xb);
pub(crate) const MINUTE: u64 = 60_000;

async fn a_new_job_is_queued_and_made_once(place: Place) {
    let store = place.store().await;
    assert_eq!(store.job(id(1)).await, Ok(None));
    store.create(&new_job(1)).await.unwrap();
    store.create(&NewJob { model: "another".to_owned(), ..new_job(1) }).await.unwrap();
    assert_eq!(known(&*store, id(1)).await, (row(new_job(1), untouched(), 0, None), vec![], vec![]));
}

async fn checkpoints_tell_the_whole_story_of_a_job(place: Place) {
    let store = place.store().await;
    store.create(&new_job(1)).await.unwrap();
    store.create(&new_job(2)).await.unwrap();
    assert_eq!(store.claim(id(1), A, MINUTE).await, Ok(1));
    let claimed = JobSummary { status: JobStatus::Running, ..untouched() };
    assert_eq!(known(&*store, id(1)).await.0, row(new_job(1), claimed, 1, Some(A)));

    let first = Checkpoint {
        state: at_work(),
        phases: vec![phase(1, 1), phase(0, 1)],
        todos: vec![todo(1, 1, 2), todo(1, 1, 1), todo(0, 1, 1)],
    };
    store.checkpoint(id(1), 1, &first).await.unwrap();
    assert_eq!(
        known(&*store, id(1)).await,
        (
            row(new_job(1), at_work(), 1, Some(A)),
            vec![phase(0, 1), phase(1, 1)],
            vec![todo(0, 1, 1), todo(1, 1, 1), todo(1, 1, 2)]
        )
    );

    // Only what changed is given again; the rest stays.
    let second = Checkpoint {
        state: completed(),
        phases: vec![rewound(1, 1), phase(1, 2)],
        todos: vec![done(1, 1, 2), todo(1, 2, 1)],
    };
    store.checkpoint(id(1), 1, &second).await.unwrap();
    let end = (
        row(new_job(1), completed(), 1, None),
        vec![phase(0, 1), rewound(1, 1), phase(1, 2)],
        vec![todo(0, 1, 1), todo(1, 1, 1), done(1, 1, 2), todo(1, 2, 1)],
    );
    assert_eq!(known(&*store, id(1)).await, end);
    assert_eq!(known(&*place.store().await, id(1)).await, end);
    assert_eq!(known(&*store, id(2)).await, (row(new_job(2), untouched(), 0, None), vec![], vec![]));
}

async fn who_lost_the_lease_writes_nothing(place: Place) {
    let store = place.store().await;
    let lost = StoreError::LeaseLost { id: id(1) };
    assert_eq!(store.checkpoint(id(1), 1, &checkpoint(at_work())).await, Err(lost.clone()), "no such job");
    store.create(&new_job(1)).await.unwrap();
    assert_eq!(store.checkpoint(id(1), 0, &checkpoint(at_work())).await, Err(lost.clone()), "never claimed");
    assert_eq!(store.renew(id(1), 0, MINUTE).await, Err(lost.clone()));
    assert_eq!(store.claim(id(1), A, MINUTE).await, Ok(1));
    assert_eq!(store.claim(id(1), B, MINUTE).await, Ok(2));
    let before = known(&*store, id(1)).await;

    let late = Checkpoint { state: completed(), phases: vec![phase(0, 1)], todos: vec![todo(0, 1, 1)] };
    for lease in [0, 1, 3] {
        assert_eq!(store.checkpoint(id(1), lease, &late).await, Err(lost.clone()));
        assert_eq!(store.renew(id(1), lease, MINUTE).await, Err(lost.clone()));
        assert_eq!(store.control_signal(id(1), lease).await, Err(lost.clone()));
    }
    assert_eq!(known(&*store, id(1)).await, before);
    store.renew(id(1), 2, MINUTE).await.unwrap();
    store.checkpoint(id(1), 2, &late).await.unwrap();
}

async fn a_checkpoint_that_frees_the_lease_can_be_repeated_but_not_changed(place: Place) {
    let store = place.store().await;
    store.create(&new_job(1)).await.unwrap();
    assert_eq!(store.claim(id(1), A, MINUTE).await, Ok(1));
    let held = JobSummary {
        status: JobStatus::Held,
        hold_reason: Some(HoldReason::Budget),
        reason: Some("the job has used its 5.00 USD".to_owned()),
        ..at_work()
    };
    store.checkpoint(id(1), 1, &checkpoint(held.clone())).await.unwrap();
    store.checkpoint(id(1), 1, &checkpoint(held.clone())).await.unwrap();
    assert_eq!(known(&*store, id(1)).await.0, row(new_job(1), held.clone(), 1, None));

    let lost = Err(StoreError::LeaseLost { id: id(1) });
    assert_eq!(store.checkpoint(id(1), 1, &checkpoint(at_work())).await, lost);
    assert_eq!(store.checkpoint(id(1), 1, &checkpoint(completed())).await, lost);
    assert_eq!(store.renew(id(1), 1, MINUTE).await, lost);

    // The next claim goes on from there, and the hold is over.
    assert_eq!(store.claim(id(1), B, MINUTE).await, Ok(2));
    assert_eq!(known(&*store, id(1)).await.0, row(new_job(1), at_work(), 2, Some(B)));
    assert_eq!(store.checkpoint(id(1), 1, &checkpoint(held)).await, lost);
}

async fn an_end_is_never_left(place: Place) {
    let store = place.store().await;
    assert_eq!(store.claim(id(9), A, MINUTE).await, Err(StoreError::NotFound { name: id(9).to_string() }));
    assert_eq!(
        store.send_signal(id(9), ControlSignal::Pause).await,
        Err(StoreError::NotFound { name: id(9).to_string() })
    );
    let ends = [JobStatus::Completed, JobStatus::Partial, JobStatus::Blocked, JobStatus::Failed, JobStatus::Cancelled];
    for (number, status) in (1..).zip(ends) {
        store.create(&new_job(number)).await.unwrap();
        assert_eq!(store.claim(id(number), A, MINUTE).await, Ok(1));
        store.checkpoint(id(number), 1, &checkpoint(JobSummary { status, ..completed() })).await.unwrap();
        let ended = StoreError::Ended { id: id(number), status };
        assert_eq!(store.claim(id(number), B, MINUTE).await, Err(ended.clone()));
        assert_eq!(store.send_signal(id(number), ControlSignal::Cancel).await, Err(ended.clone()));
        assert_eq!(ended.to_string(), format!("job {} has already ended: it is {status}", id(number)));
    }
}

async fn a_wish_reaches_who_works_on_the_job(place: Place) {
    let store = place.store().await;
    store.create(&new_job(1)).await.unwrap();
    store.send_signal(id(1), ControlSignal::Pause).await.unwrap();
    assert_eq!(known(&*store, id(1)).await.0.wants, Some(ControlSignal::Pause));
    // To claim is to go on.
    assert_eq!(store.claim(id(1), A, MINUTE).await, Ok(1));
    assert_eq!(store.control_signal(id(1), 1).await, Ok(None));

    store.send_signal(id(1), ControlSignal::Pause).await.unwrap();
    assert_eq!(store.control_signal(id(1), 1).await, Ok(Some(ControlSignal::Pause)));
    store.send_signal(id(1), ControlSignal::Cancel).await.unwrap();
    store.send_signal(id(1), ControlSignal::Pause).await.unwrap();
    assert_eq!(store.control_signal(id(1), 1).await, Ok(Some(ControlSignal::Cancel)));
    store.checkpoint(id(1), 1, &checkpoint(at_work())).await.unwrap();
    assert_eq!(store.claim(id(1), B, MINUTE).await, Ok(2));
    assert_eq!(store.control_signal(id(1), 2).await, Ok(Some(ControlSignal::Cancel)));
    assert_eq!(store.control_signal(id(1), 1).await, Err(StoreError::LeaseLost { id: id(1) }));

    let cancelled = JobSummary { status: JobStatus::Cancelled, ..at_work() };
    store.checkpoint(id(1), 2, &checkpoint(cancelled.clone())).await.unwrap();
    assert_eq!(known(&*store, id(1)).await.0, row(new_job(1), cancelled, 2, None));
}

async fn restoring_puts_a_job_back_as_its_workspace_tells_it(place: Place) {
    let store = place.store().await;
    let told = Checkpoint {
        state: completed(),
        phases: vec![phase(0, 1), rewound(1, 1)],
        todos: vec![done(0, 1, 1), todo(1, 1, 1)],
    };
    let restored = |lease| (row(new_job(1), completed(), lease, None), told.phases.clone(), told.todos.clone());
    store.restore(&new_job(1), &told, 4).await.unwrap();
    assert_eq!(known(&*store, id(1)).await, restored(4));

    // In place of what the database had, and of whoever had the lease.
    let other = NewJob { model: "other".to_owned(), workspace: "moved".to_owned(), documents: 9, ..new_job(2) };
    store.create(&other).await.unwrap();
    store.create(&NewJob { id: id(3), ..other.clone() }).await.unwrap();
    place.sql("update jobs set priority = 7").await;
    assert_eq!(store.claim(id(2), A, MINUTE).await, Ok(1));
    let old = Checkpoint { state: at_work(), phases: vec![phase(5, 5)], todos: vec![todo(5, 5, 5)] };
    store.checkpoint(id(2), 1, &old).await.unwrap();
    store.send_signal(id(2), ControlSignal::Cancel).await.unwrap();
    let running = Checkpoint { state: at_work(), phases: vec![phase(1, 1)], todos: vec![todo(1, 1, 1)] };
    store.restore(&new_job(2), &running, 1).await.unwrap();
    let wished = |lease| JobRow { wants: Some(ControlSignal::Cancel), ..row(new_job(2), at_work(), lease, None) };
    assert_eq!(known(&*store, id(2)).await, (wished(2), vec![phase(1, 1)], vec![todo(1, 1, 1)]));
    let lost = Err(StoreError::LeaseLost { id: id(2) });
    assert_eq!(store.checkpoint(id(2), 1, &old).await, lost);
    assert_eq!(store.renew(id(2), 2, MINUTE).await, lost);
    assert_eq!(store.claim(id(2), B, MINUTE).await, Ok(3));
    // A database that was put back from a copy is behind the workspace.
    store.restore(&new_job(2), &running, 9).await.unwrap();
    assert_eq!(known(&*store, id(2)).await.0, wished(9));
    // A job that has ended wishes for nothing.
    let ended = Checkpoint { state: completed(), ..running };
    store.restore(&new_job(2), &ended, 9).await.unwrap();
    assert_eq!(known(&*store, id(2)).await.0, row(new_job(2), completed(), 10, None));
    assert_eq!(place.value("select cast(sum(priority) as text) from jobs").await, "21");
    assert_eq!(known(&*store, id(1)).await, restored(4));
    assert_eq!(known(&*store, id(3)).await.0, row(NewJob { id: id(3), ..other }, untouched(), 0, None));
}

async fn jobs_are_found_by_what_a_person_types(place: Place) {
    let store = place.store().await;
    assert_eq!(store.find("last").await.unwrap_err().to_string(), "there is no job yet");
    for number in [2, 31, 12, 11] {
        store.create(&new_job(number)).await.unwrap();
    }
    // The newest by creation, not by id or by entry.
    assert_eq!(store.find("last").await, Ok(id(31)));
    let whole = id(12).to_string();
    for name in [&whole, &whole.to_uppercase(), &whole.replace('-', ""), "00000012", "00000012-0", " 00000012\n"] {
        assert_eq!(store.find(name).await, Ok(id(12)), "{name}");
    }
    assert_eq!(store.find(&whole[6..]).await, Ok(id(12)));
    assert_eq!(
        store.find("0000001").await.unwrap_err().to_string(),
        format!("more than one job begins or ends with '0000001': {}, {}; give more of the id", id(11), id(12))
    );
    for number in 13..17 {
        store.create(&new_job(number)).await.unwrap();
    }
    assert_eq!(
        store.find("0000001").await,
        Err(StoreError::Ambiguous { name: "0000001".to_owned(), matches: (11..16).map(id).collect(), more: true })
    );
    for name in
        ["", "%", "00000099", "789ab", "0000001_", "first", "x' or '1'='1", "00000012-0000-7000-8000-0123456789ab0"]
    {
        assert_eq!(
            store.find(name).await.unwrap_err().to_string(),
            format!("no job has the id '{name}' or one that begins so; `overnight jobs` lists them")
        );
    }
}

async fn jobs_are_listed_newest_first(place: Place) {
    let store = place.store().await;
    for number in [2, 1, 4, 3] {
        store.create(&new_job(number)).await.unwrap();
    }
    // The same moment: the id decides.
    store.create(&NewJob { created: new_job(4).created, ..new_job(5) }).await.unwrap();
    store.claim(id(3), A, MINUTE).await.unwrap();
    let since = Some(new_job(2).created);
    for (filter, expected) in [
        (JobFilter::default(), vec![5, 4, 3, 2, 1]),
        (JobFilter { limit: Some(2), ..JobFilter::default() }, vec![5, 4]),
        (JobFilter { limit: Some(0), ..JobFilter::default() }, vec![]),
        (JobFilter { since, ..JobFilter::default() }, vec![5, 4, 3, 2]),
        (JobFilter { status: Some(JobStatus::Running), ..JobFilter::default() }, vec![3]),
        (JobFilter { status: Some(JobStatus::Queued), since, limit: Some(2), ..JobFilter::default() }, vec![5, 4]),
        (JobFilter { status: Some(JobStatus::Failed), ..JobFilter::default() }, vec![]),
    ] {
        let ids = store.job_ids(&filter).await.unwrap();
        assert_eq!(ids, expected.into_iter().map(id).collect::<Vec<_>>(), "{filter:?}");
    }
    // A year later only what may be at work.
    let later = JobFilter { worked_since: Some(at("2099-01-01T00:00:00.000Z")), ..JobFilter::default() };
    assert_eq!(store.job_ids(&later).await.unwrap(), [5, 4, 3, 2, 1].map(id));
    place.sql("update jobs set status = 'completed'").await;
    assert_eq!(store.job_ids(&later).await.unwrap(), []);
    // Their rows come in the order that they are asked for.
    let rows = store.jobs(&[3, 99, 5].map(id)).await.unwrap();
    assert_eq!(rows, [store.job(id(3)).await.unwrap().unwrap(), store.job(id(5)).await.unwrap().unwrap()]);
}

#[tokio::test]
async fn a_file_that_was_read_at_once_by_many_has_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("a.db").display());
    connect(&url).await.unwrap().close().await;
    for _ in 0..50 {
        let store = overnight::store::connect_to_read(&url).await.unwrap().unwrap();
        let look = || store.job_totals();
        // Their connections go back to the pool at the moment at which it is closed.
        let _ = tokio::join!(look(), look(), look(), look());
        store.close().await;
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["a.db"]);
    }
}

async fn what_a_database_refuses_does_not_fail_a_job(place: Place) {
    let store = place.store().await;
    let nul = || "a\0b".to_owned();
    store.create(&NewJob { model: nul(), ..new_job(1) }).await.unwrap();
    store.claim(id(1), A, u64::MAX).await.unwrap();
    store.renew(id(1), 1, 0).await.unwrap();
    let mut row = todo(1, 1, 1);
    row.todo.outcome = Some(nul());
    let wild = Checkpoint {
        state: JobSummary {
            summary: Some(nul()),
            cost_usd: Some(f64::NAN),
            confidence: Some(f64::INFINITY),
            coverage: f64::NAN,
            tokens_in: u64::MAX,
            deliverables: vec![Delivered { path: nul(), sha256: sha256(b""), bytes: u64::MAX }],
            ..at_work()
        },
        phases: vec![PhaseRow { title: nul(), issue: Some(nul()), ..phase(u32::MAX, u32::MAX) }],
        todos: vec![row.clone()],
    };
    store.checkpoint(id(1), 1, &wild).await.unwrap();
    let shown = || "a\u{fffd}b".to_owned();
    row.todo.outcome = Some(shown());
    let (job, phases, todos) = known(&*store, id(1)).await;
    assert_eq!(
        (job.job.model, job.state, phases, todos),
        (
            shown(),
            JobSummary {
                summary: Some(shown()),
                cost_usd: None,
                confidence: None,
                coverage: 0.0,
                tokens_in: i64::MAX.unsigned_abs(),
                deliverables: vec![Delivered { path: shown(), sha256: sha256(b""), bytes: u64::MAX }],
                ..at_work()
            },
            vec![PhaseRow { title: shown(), issue: Some(shown()), ..phase(u32::MAX, u32::MAX) }],
            vec![row],
        )
    );
}

async fn a_checkpoint_is_written_whole_or_not_at_all(place: Place) {
    let store = place.store().await;
    store.create(&new_job(1)).await.unwrap();
    store.claim(id(1), A, MINUTE).await.unwrap();
    store.checkpoint(id(1), 1, &checkpoint(at_work())).await.unwrap();
    let before = known(&*store, id(1)).await;
    // A table that is gone stands for whatever stops a checkpoint half way.
    place.sql("alter table todos rename to gone").await;
    let next = Checkpoint { state: completed(), phases: vec![phase(0, 1)], todos: vec![todo(0, 1, 1)] };
    let error = store.checkpoint(id(1), 1, &next).await.unwrap_err();
    assert!(matches!(error, StoreError::Sql { .. }) && !error.retryable(), "{error:?}");
    assert!(store.restore(&new_job(1), &next, 1).await.is_err());
    place.sql("alter table gone rename to todos").await;
    assert_eq!(known(&*store, id(1)).await, before);
    store.checkpoint(id(1), 1, &next).await.unwrap();
}

async fn deadlines_are_the_databases_own(place: Place) {
    let store = place.store().await;
    store.create(&new_job(1)).await.unwrap();
    let milliseconds = match place.raw {
        Raw::Sqlite(_) => {
            "select cast(cast(round((julianday(lease_until) - julianday(updated)) * 86400000) as integer) as text) from jobs"
        }
        Raw::Postgres(_) => "select cast(round(extract(epoch from lease_until - updated) * 1000) as text) from jobs",
    };
    store.claim(id(1), A, 90_250).await.unwrap();
    let left: i64 = place.value(milliseconds).await.parse().unwrap();
    assert!((90_240..=90_260).contains(&left), "{left}");
    store.renew(id(1), 1, 3_600_001).await.unwrap();
    let left: i64 = place.value(milliseconds).await.parse().unwrap();
    assert!((3_600_001..3_700_000).contains(&left), "{left}");
    store.checkpoint(id(1), 1, &checkpoint(completed())).await.unwrap();
    assert_eq!(place.value("select coalesce(cast(lease_until as text), 'free') from jobs").await, "free");
}

async fn a_job_takes_its_phases_and_todos_with_it(place: Place) {
    let store = place.store().await;
    let told = Checkpoint { state: completed(), phases: vec![phase(0, 1)], todos: vec![done(0, 1, 1)] };
    store.restore(&new_job(1), &told, 1).await.unwrap();
    place.sql("delete from jobs").await;
    assert_eq!((store.phases(id(1)).await, store.todos(id(1)).await), (Ok(vec![]), Ok(vec![])));
    let left = "select cast((select count(*) from phases) + (select count(*) from todos) as text)";
    assert_eq!(place.value(left).await, "0");
}

async fn many_open_a_new_database_and_write_at_once(place: Place) {
    let url: Arc<str> = place.url.as_str().into();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..6 {
        let url = url.clone();
        tasks.spawn(async move {
            let store = connect(&url).await?;
            store.create(&new_job(9)).await?;
            store.create(&new_job(number)).await?;
            store.claim(id(9), A, MINUTE).await
        });
    }
    let mut leases: Vec<u64> = tasks.join_all().await.into_iter().map(Result::unwrap).collect();
    leases.sort_unstable();
    assert_eq!(leases, [1, 2, 3, 4, 5, 6]);
    assert_eq!(place.store().await.job_ids(&JobFilter::default()).await.unwrap().len(), 7);
}

/// Costs are sums of products, with all digits that a double has.
async fn numbers_read_back_to_the_last_digit(place: Place) {
    let store = place.store().await;
    store.create(&new_job(1)).await.unwrap();
    let lease = store.claim(id(1), A, MINUTE).await.unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    let phases: Vec<PhaseRow> = (0..8_000)
        .map(|number| {
            let cost = random.f64() * 10_f64.powi(random.i32(-9..9));
            PhaseRow { cost_usd: Some(cost), tokens_in: random.u64(0..1 << 62), ..phase(number, 1) }
        })
        .collect();
    let told = Checkpoint { state: at_work(), phases: phases.clone(), todos: vec![] };
    store.checkpoint(id(1), lease, &told).await.unwrap();
    let read = store.phases(id(1)).await.unwrap();
    let differ = read.iter().zip(&phases).find(|(read, written)| read != written);
    assert_eq!((differ, read.len()), (None, phases.len()));
}

/// What is written at the same time may share a transaction, and doesn't share its failures.
async fn many_jobs_are_written_at_once_and_each_hears_of_its_own(place: Place) {
    let store = place.store().await;
    // A todo that the database refuses stands for whatever it refuses of one job only.
    place.sql("create unique index refused on todos (content) where id = 5").await;
    let refused = Checkpoint { state: at_work(), phases: vec![], todos: vec![todo(1, 1, 5)] };
    store.create(&new_job(1_000)).await.unwrap();
    let lease = store.claim(id(1_000), A, MINUTE).await.unwrap();
    store.checkpoint(id(1_000), lease, &refused).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..150 {
        let store = store.clone();
        tasks.spawn(async move {
            store.create(&new_job(number)).await.unwrap();
            let lease = store.claim(id(number), A, MINUTE).await.unwrap();
            let held_by = if number % 7 == 3 { lease + 1 } else { lease };
            let todos = vec![todo(1, 1, if number % 9 == 4 { 5 } else { 6 })];
            (
                number,
                store.checkpoint(id(number), held_by, &Checkpoint { state: at_work(), phases: vec![], todos }).await,
            )
        });
    }
    let mut counts = [0; 3];
    for (number, told) in tasks.join_all().await {
        let (row, _, todos) = known(&*store, id(number)).await;
        if number % 7 == 3 {
            counts[0] += 1;
            assert_eq!(told, Err(StoreError::LeaseLost { id: id(number) }));
            assert_eq!((row.state.turns, todos), (0, vec![]));
        } else if number % 9 == 4 {
            counts[1] += 1;
            assert!(matches!(told, Err(StoreError::Sql { .. })), "{told:?}");
            assert_eq!((row.state.turns, todos), (0, vec![]));
        } else {
            counts[2] += 1;
            assert_eq!(told, Ok(()));
            assert_eq!((row.state.turns, todos), (12, vec![todo(1, 1, 6)]));
        }
    }
    assert_eq!(counts, [21, 15, 114]);
}

async fn a_newer_database_is_refused(place: Place) {
    place.store().await;
    place.sql("update _sqlx_migrations set version = version + 1000").await;
    let error = connect(&place.url).await.unwrap_err();
    let StoreError::Newer { database, found, known } = &error else { unreachable!("{error:?}") };
    assert_eq!(*found, *known + 1000);
    assert_eq!(
        error.to_string(),
        format!(
            "database {database} was made by a newer overnight (its schema is {found}, this program knows up to {known}): \
             update this program"
        )
    );
    assert_eq!(connect(&place.url).await.unwrap_err(), error);
}

async fn a_row_that_makes_no_sense_is_named(place: Place) {
    let store = place.store().await;
    store.create(&new_job(1)).await.unwrap();
    place.sql("update jobs set turns = -1").await;
    let error = store.job(id(1)).await.unwrap_err();
    let StoreError::Corrupt { detail, .. } = &error else { unreachable!("{error:?}") };
    assert_eq!(*detail, format!("job {} has turns '-1'", id(1)));
}

macro_rules! on_both {
    ($($feature:ident)*) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $feature() {
                super::$feature($crate::store::Place::sqlite()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test]
            async fn $feature() {
                super::$feature($crate::store::Place::postgres().await).await;
            })*
        }
    };
}

pub(crate) use on_both;

on_both! {
    a_new_job_is_queued_and_made_once
    checkpoints_tell_the_whole_story_of_a_job
    who_lost_the_lease_writes_nothing
    a_checkpoint_that_frees_the_lease_can_be_repeated_but_not_changed
    an_end_is_never_left
    a_wish_reaches_who_works_on_the_job
    restoring_puts_a_job_back_as_its_workspace_tells_it
    jobs_are_found_by_what_a_person_types
    jobs_are_listed_newest_first
    what_a_database_refuses_does_not_fail_a_job
    a_checkpoint_is_written_whole_or_not_at_all
    deadlines_are_the_databases_own
    a_job_takes_its_phases_and_todos_with_it
    many_open_a_new_database_and_write_at_once
    numbers_read_back_to_the_last_digit
    many_jobs_are_written_at_once_and_each_hears_of_its_own
    a_newer_database_is_refused
    a_row_that_makes_no_sense_is_named
}

/// What is wrong with a server's URL is said with its host and database, and without its password.
#[tokio::test]
async fn no_error_of_a_server_holds_the_password() {
    let place = Place::postgres().await;
    let server = std::env::var("OVERNIGHT_TEST_POSTGRES").unwrap();
    let host = server.rsplit('@').next().unwrap().split('/').next().unwrap();
    let missing = format!("postgres://postgres:hush%21hush@{host}/not_there");
    let nobody = format!("postgresql://nobody:hush%21hush@{host}/postgres");
    let refused = "postgres://postgres:hush%21hush@127.0.0.1:1/jobs".to_owned();
    let unread = format!("postgres://postgres:hush%21hush@{host}/x?sslmode=hush!hush");
    for (url, expected, retryable) in [
        (missing, format!("can't open database {host}/not_there: database \"not_there\" does not exist"), false),
        (nobody, format!("can't open database {host}/postgres: role \"nobody\" does not exist"), false),
        (refused, "database 127.0.0.1:1/jobs doesn't answer: Connection refused (os error 111)".to_owned(), true),
        (
            unread,
            "can't open database postgres://…: error with configuration: unknown value \"***\" for `ssl_mode`"
                .to_owned(),
            false,
        ),
    ] {
        let error = connect(&url).await.unwrap_err();
        assert_eq!((error.to_string(), error.retryable()), (expected, retryable));
        assert!(!format!("{error:?}").contains("hush"), "{error:?}");
    }
    let Raw::Postgres(url) = &place.raw else { unreachable!() };
    let store = connect(&url.replacen("postgres@", "postgres:hush%21hush@", 1)).await.unwrap();
    assert!(!format!("{store:?}").contains("hush"), "{store:?}");
}

/// What is wrong with a file is said with its path.
#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    std::fs::write(folder.path().join("text.db"), "not a database, but long enough to be taken for one ".repeat(30))
        .unwrap();
    for (file, expected) in [
        ("", "unable to open database file"),
        (
            "/text.db",
            "file is not a database; move the file away, and `overnight reindex` makes it anew from the workspaces",
        ),
        ("/text.db/x/y.db", "its folder can't be made: Not a directory (os error 20)"),
    ] {
        let error = connect(&format!("sqlite://{path}{file}")).await.unwrap_err();
        assert_eq!(error.to_string(), format!("can't open database {path}{file}: {expected}"));
    }
}
