//! Schedules: submissions that recur by themselves, and the time of the next one.
//!
//! The database parses no cron expressions: its callers set the next run. Invariants of both databases:
//! - Only one of many processes begins a run: the one that moves `next_run` on from the value that all have seen.
//! - A run that was begun is ended, or taken over by another process after its deadline, by the database's clock.
//!
//! The effect of a crash: before `begin_run` the run is due as before; after it, the run's deadline passes, and it is
//! due for the next process. So a run may be submitted twice, and its submission must be repeatable.

use super::{
    StoreError,
    columns::columns,
    row::RowReader,
    value::{DbId, DbTime, text},
};
use async_trait::async_trait;
use overnight_core::job::time::Timestamp;
use serde::Deserialize;
use serde_json::json;
use sqlx::types::Json;
use uuid::Uuid;

/// The version of the stored [`CommandLine`].
const VERSION: u32 = 1;

/// The words of an `overnight submit`, and the folder in which its relative paths begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    pub words: Vec<String>,
    pub folder: String,
}

/// A schedule as a person made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSchedule {
    pub id: Uuid,
    /// Unique.
    pub name: String,
    pub created: Timestamp,
    pub cron: String,
    pub timezone: String,
    pub command: CommandLine,
    /// Of the missed runs the last one is made up for if it is no older than this; 0: none is.
    pub make_up_ms: u64,
    /// Whether a run begins while the last batch still has jobs to do.
    pub may_overlap: bool,
}

/// A row of `schedules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleRow {
    pub schedule: NewSchedule,
    /// Not paused.
    pub enabled: bool,
    /// `None`: paused, or nothing is to come.
    pub next_run: Option<Timestamp>,
    /// The planned time of the run that is being submitted now.
    pub run: Option<Timestamp>,
    /// The planned time of the last submitted run, and its batch.
    pub last_run: Option<Timestamp>,
    pub last_batch: Option<Uuid>,
    /// The outcome of the last run, in a sentence, if it wasn't submitted.
    pub note: Option<String>,
}

/// The database as a calendar.
#[async_trait]
pub trait ScheduleStore: Send + Sync + std::fmt::Debug {
    /// Now, by the database's clock: the same for all machines.
    async fn clock(&self) -> Result<Timestamp, StoreError>;

    /// Writes a schedule, enabled. False, with nothing written, where another has its name. Repeating it changes nothing.
    async fn add_schedule(&self, schedule: &NewSchedule, next_run: Timestamp) -> Result<bool, StoreError>;

    /// All of them, by name.
    async fn schedules(&self) -> Result<Vec<ScheduleRow>, StoreError>;

    /// Deletes a schedule; its batches stay. False if there is none.
    async fn remove_schedule(&self, id: Uuid) -> Result<bool, StoreError>;

    /// Prevents further runs. False if it is paused already, or doesn't exist.
    async fn pause_schedule(&self, id: Uuid) -> Result<bool, StoreError>;

    /// Ends a pause. False if there is none.
    async fn resume_schedule(&self, id: Uuid, next_run: Timestamp) -> Result<bool, StoreError>;

    /// Moves the next run from `before` to `next`. False if it has changed meanwhile.
    async fn move_run(&self, id: Uuid, before: Timestamp, next: Timestamp) -> Result<bool, StoreError>;

    /// The schedules with something to do, by name: their run is due by `now`, or the process that began one was lost.
    async fn due(&self, now: Timestamp) -> Result<Vec<ScheduleRow>, StoreError>;

    /// Begins the run that was planned for `run`, and moves the next one from `before` to `next`. It must be ended, or the
    /// deadline moved on, within `for_ms` milliseconds. False, with nothing changed, where the next run is another by now,
    /// or another run hasn't ended.
    async fn begin_run(
        &self,
        id: Uuid,
        before: Option<Timestamp>,
        next: Option<Timestamp>,
        run: Timestamp,
        for_ms: u64,
    ) -> Result<bool, StoreError>;

    /// Takes over a run whose process let the deadline pass. False if there is no such run.
    async fn take_over_run(&self, id: Uuid, run: Timestamp, for_ms: u64) -> Result<bool, StoreError>;

    /// Moves the deadline of a run to `for_ms` milliseconds from now. False where the run has ended.
    async fn renew_run(&self, id: Uuid, run: Timestamp, for_ms: u64) -> Result<bool, StoreError>;

    /// Ends the run: with the submitted batch, which must exist; or without one, and `note` states why. False if it has
    /// ended.
    async fn end_run(
        &self,
        id: Uuid,
        run: Timestamp,
        batch: Option<Uuid>,
        note: Option<&str>,
    ) -> Result<bool, StoreError>;
}

/// [`CommandLine`] in its stored form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCommandLine {
    version: u32,
    words: Vec<String>,
    folder: String,
}

/// The column `submission`. Neither database keeps NUL, which no command line can have.
pub(super) fn submission_json(command: &CommandLine) -> String {
    let words: Vec<_> = command.words.iter().map(|word| text(word)).collect();
    json!({"version": VERSION, "words": words, "folder": text(&command.folder)}).to_string()
}

columns! {
    pub(super) struct ScheduleColumns {
        id: DbId,
        name: String,
        created: DbTime,
        cron: String,
        timezone: String,
        submission: Json<serde_json::Value>,
        make_up_ms: i64,
        may_overlap: bool,
        enabled: bool,
        next_run: Option<DbTime>,
        run: Option<DbTime>,
        last_run: Option<DbTime>,
        last_batch: Option<DbId>,
        note: Option<String>,
    }
}

impl ScheduleColumns {
    /// By name: each database has its own order of letters.
    pub(super) fn rows(mut rows: Vec<Self>, database: &str) -> Result<Vec<ScheduleRow>, StoreError> {
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        rows.into_iter().map(|row| row.row(database)).collect()
    }

    fn row(self, database: &str) -> Result<ScheduleRow, StoreError> {
        let read = RowReader { database, row: format!("schedule '{}'", self.name) };
        let written = self.submission.0.to_string();
        let stored: StoredCommandLine =
            serde_json::from_value(self.submission.0).map_err(|_| read.corrupt("submission", &written))?;
        if stored.version != VERSION {
            return Err(read.corrupt("submission.version", &stored.version.to_string()));
        }
        Ok(ScheduleRow {
            schedule: NewSchedule {
                id: self.id.0,
                name: self.name,
                created: self.created.0,
                cron: self.cron,
                timezone: self.timezone,
                command: CommandLine { words: stored.words, folder: stored.folder },
                make_up_ms: read.number("make_up_ms", self.make_up_ms)?,
                may_overlap: self.may_overlap,
            },
            enabled: self.enabled,
            next_run: self.next_run.map(|moment| moment.0),
            run: self.run.map(|moment| moment.0),
            last_run: self.last_run.map(|moment| moment.0),
            last_batch: self.last_batch.map(|batch| batch.0),
            note: self.note,
        })
    }
}
