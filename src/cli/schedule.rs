//! `overnight schedule`: batches that are submitted automatically, by any worker that runs when they are due.

mod list;
mod scheduler;

use super::{AppContext, CliError, exit, out, submit::SubmitArgs};
use crate::{
    batch::{
        on_the_wall,
        schedule::{Cron, RunOutcome, fire_now},
    },
    config::Flags,
    runner::now,
    store::{CommandLine, NewSchedule, ScheduleRow},
};
use clap::{Args, Subcommand, ValueEnum};
use overnight_core::job::time::Timestamp;
pub(super) use scheduler::Scheduler;
use std::{path::Path, time::Duration};
use uuid::Uuid;

const EXAMPLES: &str = "\
Examples:
  overnight schedule add nightly '0 22 * * 1-5' --timezone Europe/Berlin -- extract-requirements --documents in/ --each --dedupe
  overnight schedule add monthly @monthly --timezone UTC --missed skip -- ./report.md --documents books/
  overnight schedule list
  overnight schedule run nightly

A cron expression has five fields: minute, hour, day of the month, month, weekday. Behind -- stand the words of `overnight submit`.
A run is submitted by whichever worker (`overnight work`) is there at its time, with the settings of that worker; the model's server and key variable stay those of this command line, environment and file.";

/// The maximum length of a schedule's name.
const LONGEST_NAME: usize = 60;

/// The longest delay after which a missed run is made up for.
const LONGEST_MAKE_UP: Duration = Duration::from_hours(30 * 24);

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ScheduleArgs {
    #[command(subcommand)]
    command: ScheduleCommand,
}

#[derive(Debug, Subcommand)]
enum ScheduleCommand {
    /// Submit a batch at each time that a cron expression names
    Add(AddArgs),
    /// List all schedules: when they run next, and what became of the last run
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Delete a schedule; its batches stay
    Remove { name: String },
    /// Submit a batch now, whenever the next run is
    Run {
        name: String,
        /// Also while the last batch has not ended
        #[arg(long)]
        force: bool,
    },
    /// Submit nothing until the schedule is resumed
    Pause { name: String },
    /// End a pause; what would have been submitted meanwhile is not made up for
    Resume { name: String },
}

#[derive(Debug, Args)]
struct AddArgs {
    /// A name of its own: letters, digits, '-', '_' and '.'
    name: String,
    /// Minute, hour, day of the month, month, weekday; or @daily, @weekly, @monthly
    cron: String,
    /// By whose clock, such as Europe/Berlin or UTC
    #[arg(long, value_name = "ZONE")]
    timezone: String,
    /// What becomes of a run at whose time no worker was there; however many were missed, only the last is made up for
    #[arg(long, value_enum, default_value_t = Missed::Once)]
    missed: Missed,
    /// How late a run is made up for at most [default: 12h]
    #[arg(long, value_name = "TIME")]
    make_up_within: Option<String>,
    /// What becomes of a run while the batch before it has not ended
    #[arg(long, value_enum, default_value_t = Overlap::Skip)]
    overlap: Overlap,
    /// What to submit: the words of `overnight submit`
    #[arg(last = true, required = true, value_name = "SUBMIT")]
    words: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Missed {
    /// It is made up for as soon as a worker is there
    Once,
    /// It is left out
    Skip,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Overlap {
    /// It is left out
    Skip,
    /// It is submitted all the same
    Allow,
}

pub(super) async fn run(flags: Flags, args: ScheduleArgs) -> Result<u8, CliError> {
    match args.command {
        ScheduleCommand::Add(args) => add(flags, args).await?,
        ScheduleCommand::List { json } => list::run(super::settings(&flags)?, json).await?,
        ScheduleCommand::Remove { name } => remove(&super::app_context(&flags).await?, &name).await?,
        ScheduleCommand::Run { name, force } => Box::pin(run_now(flags, &name, force)).await?,
        ScheduleCommand::Pause { name } => pause(&super::app_context(&flags).await?, &name).await?,
        ScheduleCommand::Resume { name } => resume(&super::app_context(&flags).await?, &name).await?,
    }
    Ok(exit::COMPLETED)
}

async fn add(flags: Flags, args: AddArgs) -> Result<(), CliError> {
    let name = checked_name(&args.name)?;
    let cron = Cron::read(&args.cron, &args.timezone, now()).map_err(|error| CliError::usage(error.to_string()))?;
    let make_up_ms = make_up_ms(&args)?;
    let folder = std::path::absolute(".").ok().and_then(|folder| folder.into_os_string().into_string().ok());
    let folder = folder.ok_or_else(|| {
        CliError::usage("the path of this folder is no text that can be stored: add the schedule from another folder")
    })?;
    let pinned = SubmitArgs::of_words(&args.words, Path::new(&folder))?.check_for_schedule(flags.clone())?;

    let app = super::AppContext::open(super::settings(&flags)?).await?;
    let at = app.store.clock().await?;
    let next = cron.after(at).ok_or_else(|| CliError::usage(format!("'{}' never comes again", cron.text())))?;
    let schedule = NewSchedule {
        id: Uuid::now_v7(),
        name: name.to_owned(),
        created: at,
        cron: cron.text().to_owned(),
        timezone: cron.zone().name().to_owned(),
        command: CommandLine { words: [args.words, pinned].concat(), folder },
        make_up_ms,
        may_overlap: args.overlap == Overlap::Allow,
    };
    if !app.store.add_schedule(&schedule, next).await? {
        return Err(CliError::usage(format!(
            "there is a schedule {name} already: remove it first, or choose another name"
        )));
    }
    out::result(&format!("schedule {name} is added; its next run is {}\n", on_the_wall(next, cron.zone())))
}

fn checked_name(name: &str) -> Result<&str, CliError> {
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('-') || name.chars().count() > LONGEST_NAME || !name.chars().all(is_letter) {
        let shown: String = out::one_line(name).chars().take(LONGEST_NAME).collect();
        return Err(CliError::usage(format!(
            "'{shown}' can't be a schedule's name: it is up to {LONGEST_NAME} letters, digits, - _ and ., not beginning with -"
        )));
    }
    Ok(name)
}

fn make_up_ms(args: &AddArgs) -> Result<u64, CliError> {
    let within = match (args.missed, &args.make_up_within) {
        (Missed::Skip, None) => Duration::ZERO,
        (Missed::Skip, Some(_)) => {
            return Err(CliError::usage("--make-up-within is for --missed once: with skip, nothing is made up for"));
        }
        (Missed::Once, None) => Duration::from_hours(12),
        (Missed::Once, Some(text)) => humantime::parse_duration(text.trim())
            .ok()
            .filter(|within| (Duration::from_mins(1)..=LONGEST_MAKE_UP).contains(within))
            .ok_or_else(|| {
                let shown = out::one_line(text);
                CliError::usage(format!("--make-up-within is a time from 1m to 30d, such as 12h, not '{shown}'"))
            })?,
    };
    Ok(u64::try_from(within.as_millis()).unwrap_or(u64::MAX))
}

async fn remove(app: &AppContext, name: &str) -> Result<(), CliError> {
    let row = find(app, name).await?;
    app.store.remove_schedule(row.schedule.id).await?;
    out::result(&format!("schedule {name} is removed; its batches stay\n"))
}

async fn pause(app: &AppContext, name: &str) -> Result<(), CliError> {
    let row = find(app, name).await?;
    if !app.store.pause_schedule(row.schedule.id).await? {
        return Err(CliError::usage(format!("schedule {name} is paused already")));
    }
    out::result(&format!("schedule {name} is paused; `overnight schedule resume {name}` ends the pause\n"))
}

async fn resume(app: &AppContext, name: &str) -> Result<(), CliError> {
    let ScheduleRow { schedule, .. } = find(app, name).await?;
    let at = app.store.clock().await?;
    let cron =
        Cron::read(&schedule.cron, &schedule.timezone, at).map_err(|error| CliError::usage(error.to_string()))?;
    let next = cron.after(at).ok_or_else(|| CliError::usage(format!("'{}' never comes again", cron.text())))?;
    if !app.store.resume_schedule(schedule.id, next).await? {
        return Err(CliError::usage(format!("schedule {name} is not paused")));
    }
    out::result(&format!("schedule {name} goes on; its next run is {}\n", on_the_wall(next, cron.zone())))
}

async fn run_now(flags: Flags, name: &str, force: bool) -> Result<(), CliError> {
    let app = super::app_context(&flags).await?;
    let row = find(&app, name).await?;
    let at = app.store.clock().await?;
    let scheduler = Scheduler { flags, store: app.store.clone() };
    match fire_now(app.store.as_ref(), &row, at, force, &scheduler).await? {
        RunOutcome::Submitted(batch) => {
            let jobs = app.store.totals(batch).await?.all();
            let word = if jobs == 1 { "job" } else { "jobs" };
            out::result(&format!("schedule {name} is run: batch {batch} with {jobs} {word}\n"))
        }
        RunOutcome::Overlaps(why) => Err(CliError::usage(format!("{why}; --force submits it nevertheless"))),
        RunOutcome::Missed(why) | RunOutcome::Refused(why) => Err(CliError::usage(why)),
        RunOutcome::Busy => Err(CliError::failed(format!(
            "a run of schedule {name} is being submitted right now: look at `overnight schedule list` in a minute"
        ))),
    }
}

async fn find(app: &AppContext, name: &str) -> Result<ScheduleRow, CliError> {
    let mut rows = app.store.schedules().await?;
    if let Some(place) = rows.iter().position(|row| row.schedule.name == name) {
        return Ok(rows.swap_remove(place));
    }
    let near = rows
        .iter()
        .map(|row| (strsim::jaro_winkler(name, &row.schedule.name), &row.schedule.name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let hint = match near {
        Some((_, near)) => format!("did you mean {near}?"),
        None => "`overnight schedule list` names them".to_owned(),
    };
    Err(CliError::usage(format!("there is no schedule '{}': {hint}", out::one_line(name))))
}

/// A moment in the schedule's time zone.
fn wall(row: &ScheduleRow, at: Timestamp) -> String {
    crate::batch::zone(&row.schedule.timezone).map_or_else(|_| at.to_string(), |zone| on_the_wall(at, zone))
}
