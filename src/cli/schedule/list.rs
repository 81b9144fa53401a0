//! `overnight schedule list`.

use super::wall;
use crate::{
    cli::{
        AppContext, CliError, out,
        table::{self, Align, TextTable},
    },
    config::Settings,
    store::ScheduleRow,
};
use overnight_core::job::time::Timestamp;
use serde::Serialize;
use std::fmt::Write;
use uuid::Uuid;

/// The number of letters of a batch's id that contain its time, to the millisecond.
const LETTERS: usize = 13;

/// A schedule in `--json`. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize)]
struct ScheduleListItem<'r> {
    id: Uuid,
    name: &'r str,
    cron: &'r str,
    timezone: &'r str,
    /// Not paused.
    enabled: bool,
    next_run: Option<Timestamp>,
    /// The same in the schedule's time zone.
    next_run_there: Option<String>,
    /// The planned time of the last submitted run, and its batch.
    last_run: Option<Timestamp>,
    last_batch: Option<Uuid>,
    /// The reason why the last run was not submitted, if it wasn't.
    note: Option<&'r str>,
    /// How late a run is made up for; 0: not at all.
    make_up_ms: u64,
    /// A run is submitted even while the previous batch has not ended.
    may_overlap: bool,
    /// The arguments of `overnight submit`, and the base folder of their relative paths.
    words: &'r [String],
    folder: &'r str,
    created: Timestamp,
}

pub(super) async fn run(settings: Settings, json: bool) -> Result<(), CliError> {
    let rows = match AppContext::read_any(settings).await? {
        Some(app) => app.store.schedules().await?,
        None => Vec::new(),
    };
    if json {
        return out::json(&rows.iter().map(list_item).collect::<Vec<_>>());
    }
    if rows.is_empty() {
        out::note("there is no schedule yet");
        return Ok(());
    }
    let mut text = table(&rows).render(table::room());
    for row in &rows {
        if let Some(note) = &row.note {
            let _ = writeln!(text, "{}: {}", row.schedule.name, out::one_line(note));
        }
    }
    out::result(&text)
}

fn table(rows: &[ScheduleRow]) -> TextTable {
    let mut table = TextTable::new(&[
        ("NAME", Align::Left),
        ("CRON", Align::Left),
        ("NEXT RUN", Align::Left),
        ("LAST RUN", Align::Left),
        ("LAST BATCH", Align::Left),
        ("SUBMITS", Align::Cut),
    ]);
    for row in rows {
        let schedule = &row.schedule;
        let dash = || "–".to_owned();
        let next = match (row.enabled, row.next_run) {
            (false, _) => "paused".to_owned(),
            (true, None) => "never".to_owned(),
            (true, Some(next)) => wall(row, next),
        };
        let batch = row.last_batch.map(|batch| batch.to_string().chars().take(LETTERS).collect());
        table.row(vec![
            schedule.name.clone(),
            schedule.cron.clone(),
            next,
            row.last_run.map_or_else(dash, |last| wall(row, last)),
            batch.unwrap_or_else(dash),
            schedule.command.words.join(" "),
        ]);
    }
    table
}

fn list_item(row: &ScheduleRow) -> ScheduleListItem<'_> {
    let schedule = &row.schedule;
    ScheduleListItem {
        id: schedule.id,
        name: &schedule.name,
        cron: &schedule.cron,
        timezone: &schedule.timezone,
        enabled: row.enabled,
        next_run: row.next_run,
        next_run_there: row.next_run.map(|next| wall(row, next)),
        last_run: row.last_run,
        last_batch: row.last_batch,
        note: row.note.as_deref(),
        make_up_ms: schedule.make_up_ms,
        may_overlap: schedule.may_overlap,
        words: &schedule.command.words,
        folder: &schedule.command.folder,
        created: schedule.created,
    }
}
