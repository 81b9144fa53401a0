//! `overnight report`: what became of many jobs. This gathers the facts; `crate::report` sums them up and writes all formats but text.

mod fetched;
mod text;

use super::{
    AppContext, CliError, app_context::no_jobs_yet, exit, job_or_batch::JobOrBatch, jobs::KnownIds, local_time, out,
    queue::DatabaseJob, table, workspace_store::WorkspaceStoreArgs,
};
use crate::{
    config::{Flags, Settings},
    report::{
        batch::BatchFacts,
        collect::{CollectError, collect},
        count::{Report, ReportFilter, waits},
        facts::{JobFacts, JobStanding},
        html::html,
        links::ReportLinks,
        markdown::markdown,
        page::{Page, Style},
        read::{Whereabouts, read},
    },
    runner::now,
    store::{BatchRow, JobFilter, JobRow},
    workspace::Workspace,
};
use chrono::Local;
use fetched::FetchedDeliverables;
use overnight_core::job::{id::JobId, time::Timestamp};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};
use uuid::Uuid;

const EXAMPLES: &str = "\
Examples:
  overnight report                                        the last 24 hours
  overnight report contracts                              the batch of this name
  overnight report --since 22:00 --output report.html
  overnight report contracts --output report.html --review review/
  overnight report --status held --status partial
  overnight report --since 22:00 --collect results/
  overnight report --json | jq -r '.needs_person[].commands[0]'";

/// How far the report goes back by default.
const DEFAULT_SPAN: Duration = Duration::from_hours(24);
/// How far the database's clock may differ from this machine's.
const CLOCK_SLACK: Duration = Duration::from_hours(1);

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
    #[arg(long, value_name = "TIME", value_parser = |text: &str| local_time::since(text, &Local::now()))]
    since: Option<Timestamp>,
    /// Only jobs that are completed, partial, blocked, failed, held, interrupted, running, queued or cancelled
    #[arg(long, value_parser = standing, value_delimiter = ',')]
    status: Vec<JobStanding>,
    /// Form of the report [default: as the file's name ends, else text]
    #[arg(long, value_enum)]
    format: Option<ReportFormat>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write the report into this file, whose name ends in .html, .md, .json or .txt; - is stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Link each job to its page in this folder, or at this address, as 'overnight review' makes them: DIR/JOB.html
    #[arg(long, value_name = "DIR|URL")]
    review: Option<String>,
    /// Copy all deliverables of these jobs into this folder, with index.csv and index.json
    #[arg(long, value_name = "DIR")]
    collect: Option<PathBuf>,
    #[command(flatten)]
    workspace_store: WorkspaceStoreArgs,
}

impl ReportArgs {
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        self.workspace_store.add_to(flags)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ReportFormat {
    Text,
    Markdown,
    Json,
    Html,
}

fn standing(text: &str) -> Result<JobStanding, String> {
    let found = JobStanding::ALL.into_iter().find(|standing| standing.name() == text.trim().to_lowercase());
    found.ok_or_else(|| format!("it is one of {}", JobStanding::ALL.map(JobStanding::name).join(", ")))
}

impl ReportArgs {
    fn format(&self) -> Result<ReportFormat, CliError> {
        if let Some(format) = self.json.then_some(ReportFormat::Json).or(self.format) {
            return Ok(format);
        }
        let file = self.output.as_deref().unwrap_or(Path::new("-"));
        let end = file.extension().map(|end| end.to_string_lossy().to_lowercase());
        match end.as_deref() {
            Some("html" | "htm") => Ok(ReportFormat::Html),
            Some("md" | "markdown") => Ok(ReportFormat::Markdown),
            Some("json") => Ok(ReportFormat::Json),
            Some("txt" | "text") | None => Ok(ReportFormat::Text),
            Some(_) => Err(CliError::usage(format!(
                "--output {}: a report is written as .html, .md, .json or .txt: let the file's name end so, or give --format",
                out::one_line(&file.display().to_string())
            ))),
        }
    }
}

/// Everything that a report is made from.
#[derive(Default)]
struct ReportInput {
    filter: ReportFilter,
    facts: Vec<JobFacts>,
    batches: Vec<BatchRow>,
    ids: KnownIds,
    /// Jobs whose workspaces are in a workspace store only.
    stored: Vec<(DatabaseJob, String)>,
}

pub(super) async fn run(settings: Settings, args: &ReportArgs) -> Result<u8, CliError> {
    let made = now();
    let format = args.format()?;
    let nothing = no_jobs_yet(&settings);
    let app = AppContext::read_any(settings).await?;
    let input = match &app {
        Some(app) => gather(app, args, made).await?,
        None if args.jobs.is_empty() && args.batch.is_empty() => {
            out::note(&nothing);
            ReportInput::default()
        }
        None => return Err(CliError::usage(nothing)),
    };
    let ReportInput { filter, facts, batches, ids, mut stored } = input;
    let mut report = Report::of(made, &filter, facts);
    let told: BTreeSet<Uuid> = report.jobs.iter().filter_map(|job| job.batch).collect();
    report.batches = batches.into_iter().map(BatchFacts::of).filter(|batch| told.contains(&batch.id)).collect();
    let id = |id: JobId| ids.short(&id.to_string()).to_owned();
    if let (Some(folder), Some(app)) = (&args.collect, &app) {
        let delivered = report.jobs.iter().filter(|job| !job.deliverables.is_empty());
        let delivered: BTreeSet<JobId> = delivered.map(|job| job.id).collect();
        stored.retain(|(job, _)| delivered.contains(&job.id()));
        let fetched = FetchedDeliverables::fetch(app, &stored, folder).await?;
        let collected = collect(&report.jobs, &fetched.folders, folder, made, &id);
        fetched.clear();
        report.collected = Some(collected?);
    }
    let file = args.output.as_deref().filter(|path| *path != Path::new("-"));
    let folder = file.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let links = ReportLinks::new(folder, args.review.as_deref());
    let page = || Page::of(&report, &Style { minute: &local_time::minute, id: &id, links: &links });
    let room = if args.output.is_none() { table::room() } else { None };
    let text = match format {
        ReportFormat::Text => text::text(&page(), room),
        ReportFormat::Markdown => markdown(&page()),
        ReportFormat::Html => html(&page()),
        ReportFormat::Json => serde_json::to_string_pretty(&report)
            .map(|text| text + "\n")
            .map_err(|error| CliError::failed(format!("the report can't be written as JSON ({error})")))?,
    };
    match file {
        Some(path) => write(path, &text)?,
        None => out::result(&text)?,
    }
    Ok(exit::COMPLETED)
}

async fn gather(app: &AppContext, args: &ReportArgs, made: Timestamp) -> Result<ReportInput, CliError> {
    let (mut filter, jobs, ids) = filtered_jobs(app, args, made).await?;
    let batches = app.batches_of(&jobs).await?;
    let mut facts: Vec<JobFacts> = Vec::with_capacity(jobs.len());
    let mut stored = Vec::new();
    for job in jobs {
        let job = app.caught_up_quietly(job).await;
        let key = app.stored_at(&job).await?;
        let location = app.whereabouts(&job, key.is_some());
        facts.push(read(&job.row, job.queue.as_ref(), &location, app.is_interrupted(&job)));
        if let (Whereabouts::Stored(_), Some(key)) = (location, key) {
            stored.push((job, key));
        }
    }
    filter.standings.dedup();
    Ok(ReportInput { filter, facts, batches, ids, stored })
}

/// What is asked for, the jobs that may belong to it, and the ids of all jobs and batches.
async fn filtered_jobs(
    app: &AppContext,
    args: &ReportArgs,
    made: Timestamp,
) -> Result<(ReportFilter, Vec<DatabaseJob>, KnownIds), CliError> {
    app.adopt().await;
    let all = app.store.jobs(&JobFilter::default()).await?;
    let ids = AppContext::ids_with(&all);
    let named = !args.jobs.is_empty() || !args.batch.is_empty();
    let since = args.since.or_else(|| (!named).then(|| before(made, DEFAULT_SPAN)));
    let mut filter = ReportFilter { since, standings: args.status.clone(), named, older_waiting: 0 };
    if named {
        return Ok((filter, named_jobs(app, args).await?, ids));
    }
    let since = since.map(|since| before(since, CLOCK_SLACK));
    // A row is written whenever a job rests: one that is older, and doesn't run, has not been worked.
    let (rows, older): (Vec<JobRow>, Vec<JobRow>) = all.into_iter().partition(|row| {
        let is_new = |since| row.job.created >= since || row.updated >= since;
        since.is_none_or(is_new) || !(row.state.status.is_end() || row.state.hold_reason.is_some())
    });
    filter.older_waiting = older.iter().filter(|row| waits(JobStanding::of(row.state.status, false))).count() as u64;
    Ok((filter, app.database_jobs(rows).await?, ids))
}

/// The jobs that are named, and those of the batches that are, each once.
async fn named_jobs(app: &AppContext, args: &ReportArgs) -> Result<Vec<DatabaseJob>, CliError> {
    let mut batches = Vec::new();
    let mut jobs: BTreeMap<JobId, DatabaseJob> = BTreeMap::new();
    for name in &args.batch {
        batches.push(app.batch(name).await?);
    }
    for name in &args.jobs {
        match app.job_or_batch(name).await? {
            JobOrBatch::Batch(batch) => batches.push(*batch),
            JobOrBatch::Job(job) => {
                jobs.insert(job.id(), *job);
            }
        }
    }
    // A batch's last word is its closing job's, which is in a batch of its own.
    let mut closing = Vec::new();
    for batch in &batches {
        closing.extend(app.closing(batch).await?.map(|closing| (closing.id(), closing)));
        let of_batch = app.jobs_of(batch, &JobFilter::default()).await?;
        jobs.extend(of_batch.into_iter().map(|job| (job.id(), job)));
    }
    jobs.extend(closing);
    Ok(jobs.into_values().collect())
}

fn before(moment: Timestamp, passed: Duration) -> Timestamp {
    let earlier = chrono::TimeDelta::from_std(passed).ok().and_then(|passed| moment.utc().checked_sub_signed(passed));
    earlier.map_or(moment, Timestamp::new)
}

impl AppContext {
    /// [`Self::caught_up`], where a workspace that can't be had is the report's to tell.
    async fn caught_up_quietly(&self, job: DatabaseJob) -> DatabaseJob {
        self.caught_up(job.clone()).await.unwrap_or(job)
    }

    /// Where the job's workspace is, for a report.
    pub(super) fn whereabouts(&self, job: &DatabaseJob, is_stored: bool) -> Whereabouts {
        match self.workspace(job) {
            Ok(path) => Whereabouts::Here(path),
            Err(_) if job.elsewhere().is_some() => Whereabouts::Elsewhere,
            Err(_) if job.is_unbegun() => Whereabouts::NotBegun,
            Err(error) if is_stored => Whereabouts::Stored(error.message),
            Err(error) => Whereabouts::Gone(error.message),
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
