//! `overnight report`: what became of many jobs. The facts are gathered here; what they add up to, and all forms but the
//! terminal's, are `crate::report`'s.

mod brought;
mod text;

use super::{
    CliError, Office, depot::DepotArgs, exit, jobs, named::Named, office::no_jobs_yet, out, queue::Known, table, when,
};
use crate::{
    config::{Partial, Settings},
    report::{
        batch::BatchFacts,
        collect::{CollectError, collect},
        count::{Asked, Report, waits},
        facts::{JobFacts, Standing},
        html::html,
        markdown::markdown,
        page::{Page, Style},
        read::{Place, read},
    },
    runner::now,
    store::{BatchRow, JobFilter, JobRow},
    workspace::Workspace,
};
use brought::Shelf;
use chrono::Local;
use overnight_core::job::{id::JobId, time::Timestamp};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

const EXAMPLES: &str = "\
Examples:
  overnight report                                        the last 24 hours
  overnight report contracts                              the batch of this name
  overnight report --since 22:00 --output report.html
  overnight report --status held --status partial
  overnight report --since 22:00 --collect results/
  overnight report --json | jq -r '.needs_person[].commands[0]'";

/// How far the report goes back where nothing is said.
const USUAL: Duration = Duration::from_hours(24);
/// The database's clock may be another machine's.
const SLACK: Duration = Duration::from_hours(1);

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReportArgs {
    /// Only these jobs: ids, beginnings of them, 'last', or names or ids of batches [default: all jobs made or worked since
    /// then]
    #[arg(value_name = "JOB|BATCH")]
    jobs: Vec<String>,
    /// Only the jobs of this batch: its name, its id or a beginning of that, or 'last'
    #[arg(long, value_name = "BATCH")]
    batch: Vec<String>,
    /// Only jobs made or worked since then: 22:00, 2h (ago), 2026-11-20, '2026-11-20 22:00', 2026-11-20T22:00:00Z
    /// [default: 24h, where no job or batch is named]
    #[arg(long, value_name = "TIME", value_parser = |text: &str| when::since(text, &Local::now()))]
    since: Option<Timestamp>,
    /// Only jobs that are completed, partial, blocked, failed, held, interrupted, running, queued or cancelled
    #[arg(long, value_parser = standing, value_delimiter = ',')]
    status: Vec<Standing>,
    /// Form of the report [default: as the file's name ends, else text]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write the report into this file, whose name ends in .html, .md, .json or .txt; - is stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Copy all deliverables of these jobs into this folder, with index.csv and index.json
    #[arg(long, value_name = "DIR")]
    collect: Option<PathBuf>,
    #[command(flatten)]
    depot: DepotArgs,
}

impl ReportArgs {
    pub(super) fn put_into(&self, flags: Partial) -> Partial {
        self.depot.put_into(flags)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Markdown,
    Json,
    Html,
}

fn standing(text: &str) -> Result<Standing, String> {
    let found = Standing::ALL.into_iter().find(|standing| standing.name() == text.trim().to_lowercase());
    found.ok_or_else(|| format!("it is one of {}", Standing::ALL.map(Standing::name).join(", ")))
}

impl ReportArgs {
    fn format(&self) -> Result<Format, CliError> {
        if let Some(format) = self.json.then_some(Format::Json).or(self.format) {
            return Ok(format);
        }
        let file = self.output.as_deref().unwrap_or(Path::new("-"));
        let end = file.extension().map(|end| end.to_string_lossy().to_lowercase());
        match end.as_deref() {
            Some("html" | "htm") => Ok(Format::Html),
            Some("md" | "markdown") => Ok(Format::Markdown),
            Some("json") => Ok(Format::Json),
            Some("txt" | "text") | None => Ok(Format::Text),
            Some(_) => Err(CliError::usage(format!(
                "--output {}: a report is written as .html, .md, .json or .txt: let the file's name end so, or give --format",
                out::one_line(&file.display().to_string())
            ))),
        }
    }
}

/// All that a report is made of.
#[derive(Default)]
struct Gathered {
    asked: Asked,
    facts: Vec<JobFacts>,
    batches: Vec<BatchRow>,
    /// Of all jobs and batches, sorted.
    ids: Vec<String>,
    /// Jobs whose workspaces are in a workspace store only.
    stored: Vec<(Known, String)>,
}

pub(super) async fn run(settings: Settings, args: &ReportArgs) -> Result<u8, CliError> {
    let made = now();
    let format = args.format()?;
    let nothing = no_jobs_yet(&settings);
    let office = Office::read_any(settings).await?;
    let gathered = match &office {
        Some(office) => gather(office, args, made).await?,
        None if args.jobs.is_empty() && args.batch.is_empty() => {
            out::talk(&nothing);
            Gathered::default()
        }
        None => return Err(CliError::usage(nothing)),
    };
    let Gathered { asked, facts, batches, ids, mut stored } = gathered;
    let mut report = Report::of(made, &asked, facts);
    let is_told = |batch: &BatchFacts| report.jobs.iter().any(|job| job.batch == Some(batch.id));
    report.batches = batches.into_iter().map(BatchFacts::of).filter(is_told).collect();
    let id = |id: JobId| jobs::short(&id.to_string(), &ids).to_owned();
    if let (Some(folder), Some(office)) = (&args.collect, &office) {
        let is_told = |job: &Known| report.jobs.iter().any(|told| told.id == job.id() && !told.deliverables.is_empty());
        stored.retain(|(job, _)| is_told(job));
        let shelf = Shelf::fill(office, &stored, folder).await?;
        let collected = collect(&report.jobs, &shelf.brought, folder, made, &id);
        shelf.clear();
        report.collected = Some(collected?);
    }
    let page = || Page::of(&report, &Style { minute: &when::minute, id: &id });
    let file = args.output.as_deref().filter(|path| *path != Path::new("-"));
    let room = if args.output.is_none() { table::room() } else { None };
    let text = match format {
        Format::Text => text::text(&page(), room),
        Format::Markdown => markdown(&page()),
        Format::Html => html(&page()),
        Format::Json => serde_json::to_string_pretty(&report)
            .map(|text| text + "\n")
            .map_err(|error| CliError::failed(format!("the report can't be written as JSON ({error})")))?,
    };
    match file {
        Some(path) => write(path, &text)?,
        None => out::result(&text)?,
    }
    Ok(exit::COMPLETED)
}

async fn gather(office: &Office, args: &ReportArgs, made: Timestamp) -> Result<Gathered, CliError> {
    let (mut asked, jobs, ids) = asked(office, args, made).await?;
    let batches = office.batches_of(&jobs).await?;
    let mut facts: Vec<JobFacts> = Vec::with_capacity(jobs.len());
    let mut stored = Vec::new();
    for job in jobs {
        let job = office.caught_up_quietly(job).await;
        let key = office.stored_at(&job).await?;
        let place = office.place(&job, key.is_some());
        facts.push(read(&job.row, job.queue.as_ref(), &place, office.is_interrupted(&job)));
        if let (Place::Stored(_), Some(key)) = (place, key) {
            stored.push((job, key));
        }
    }
    asked.standings.dedup();
    Ok(Gathered { asked, facts, batches, ids, stored })
}

/// What is asked for, the jobs that may belong to it, and the ids of all jobs and batches, sorted.
async fn asked(
    office: &Office,
    args: &ReportArgs,
    made: Timestamp,
) -> Result<(Asked, Vec<Known>, Vec<String>), CliError> {
    office.adopt().await;
    let all = office.store.jobs(&JobFilter::default()).await?;
    let ids = Office::ids_with(&all);
    let named = !args.jobs.is_empty() || !args.batch.is_empty();
    let since = args.since.or_else(|| (!named).then(|| before(made, USUAL)));
    let mut asked = Asked { since, standings: args.status.clone(), named, older_waiting: 0 };
    if named {
        return Ok((asked, named_jobs(office, args).await?, ids));
    }
    let since = since.map(|since| before(since, SLACK));
    // A row is written whenever a job rests: one that is older, and doesn't run, has not been worked.
    let (rows, older): (Vec<JobRow>, Vec<JobRow>) = all.into_iter().partition(|row| {
        let is_new = |since| row.job.created >= since || row.updated >= since;
        since.is_none_or(is_new) || !(row.state.status.is_end() || row.state.hold_reason.is_some())
    });
    asked.older_waiting = older.iter().filter(|row| waits(Standing::of(row.state.status, false))).count() as u64;
    Ok((asked, office.known(rows).await?, ids))
}

/// The jobs that are named, and those of the batches that are, each once.
async fn named_jobs(office: &Office, args: &ReportArgs) -> Result<Vec<Known>, CliError> {
    let mut batches = Vec::new();
    let mut jobs: BTreeMap<JobId, Known> = BTreeMap::new();
    for name in &args.batch {
        batches.push(office.batch(name).await?);
    }
    for name in &args.jobs {
        match office.named(name).await? {
            Named::Batch(batch) => batches.push(*batch),
            Named::Job(job) => {
                jobs.insert(job.id(), *job);
            }
        }
    }
    // A batch's last word is its closing job's, which is in a batch of its own.
    let mut closing = Vec::new();
    for batch in &batches {
        closing.extend(office.closing(batch).await?.map(|closing| (closing.id(), closing)));
        let of_batch = office.jobs_of(batch, &JobFilter::default()).await?;
        jobs.extend(of_batch.into_iter().map(|job| (job.id(), job)));
    }
    jobs.extend(closing);
    Ok(jobs.into_values().collect())
}

fn before(moment: Timestamp, passed: Duration) -> Timestamp {
    let earlier = chrono::TimeDelta::from_std(passed).ok().and_then(|passed| moment.utc().checked_sub_signed(passed));
    earlier.map_or(moment, Timestamp::new)
}

impl Office {
    /// [`Self::caught_up`], where a workspace that can't be had is the report's to tell.
    async fn caught_up_quietly(&self, job: Known) -> Known {
        self.caught_up(job.clone()).await.unwrap_or(job)
    }

    /// Where the job's workspace is, for a report.
    fn place(&self, job: &Known, is_stored: bool) -> Place {
        match self.workspace(job) {
            Ok(path) => Place::Here(path),
            Err(_) if job.elsewhere().is_some() => Place::Elsewhere,
            Err(_) if job.is_unbegun() => Place::NotBegun,
            Err(error) if is_stored => Place::Stored(error.message),
            Err(error) => Place::Gone(error.message),
        }
    }
}

/// Writes the report's file: whole or not at all, where it is a file.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let failed = |why: &dyn std::fmt::Display| {
        CliError::failed(format!(
            "the report can't be written to {} ({why})",
            out::one_line(&path.display().to_string())
        ))
    };
    // Behind a link is the file that is meant.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_special = path.exists() && !path.is_file();
    let (Some(name), false) = (path.file_name().and_then(|name| name.to_str()), is_special) else {
        return std::fs::write(&path, text).map_err(|error| failed(&error));
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let shown = out::one_line(&folder.display().to_string());
    let folder = Workspace::open(folder)
        .map_err(|_| CliError::usage(format!("there is no folder {shown} to write the report into")))?;
    folder.write(name, text.as_bytes()).map(drop).map_err(|error| failed(&error))
}

impl From<CollectError> for CliError {
    fn from(error: CollectError) -> Self {
        match error {
            CollectError::Refused(sentence) => Self::usage(sentence),
            CollectError::Failed(_) => Self::failed(error.to_string()),
        }
    }
}
