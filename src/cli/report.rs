//! `overnight report`: what became of many jobs. This gathers the facts; `crate::report` sums them up and writes all formats but text.

mod fetched;
mod text;

use super::{
    AppContext, CliError, app_context::no_jobs_yet, exit, job_or_batch::JobOrBatch, jobs::KnownIds, local_time, out,
    queue::DatabaseJob, table, workspace_store::WorkspaceStoreArgs,
};
use crate::{
    cascade::stored_state,
    config::{Flags, Settings},
    report::{
        batch::BatchFacts,
        collect::{CollectError, collect},
        count::{Report, ReportCounter, ReportFilter},
        facts::JobStanding,
        html::html,
        links::ReportLinks,
        markdown::markdown,
        page::{Page, Style},
        read::{Whereabouts, read},
    },
    runner::now,
    store::{JOBS_AT_ONCE, JobFilter},
    workspace::Workspace,
};
use chrono::Local;
use fetched::FetchedDeliverables;
use overnight_core::job::{id::JobId, record::JobStatus, time::Timestamp};
use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

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

#[derive(Debug, Default, clap::Args)]
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

/// The jobs that may belong to a report.
struct ReportedJobs {
    filter: ReportFilter,
    jobs: BTreeSet<JobId>,
}

pub(super) async fn run(settings: Settings, args: &ReportArgs) -> Result<u8, CliError> {
    let made = now();
    let format = args.format()?;
    let nothing = no_jobs_yet(&settings);
    let file = args.output.as_deref().filter(|path| *path != Path::new("-"));
    let folder = file.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let aside = if file.is_some() { folder.to_owned() } else { std::env::temp_dir() };
    let app = AppContext::read_any(settings).await?;
    let (report, ids) = match &app {
        Some(app) => gather(app, args, made, &aside).await?,
        None if args.jobs.is_empty() && args.batch.is_empty() => {
            out::note(&nothing);
            let report = Report::of(made, &ReportFilter::default(), None, &aside).map_err(unwritten)?;
            (report, KnownIds::default())
        }
        None => return Err(CliError::usage(nothing)),
    };
    let id = |id: JobId| ids.short(&id.to_string()).to_owned();
    let links = ReportLinks::new(folder, args.review.as_deref());
    let page = || Page::of(&report, &Style { minute: &local_time::minute, id: &id, links: &links });
    let room = if args.output.is_none() { table::room() } else { None };
    let text = match format {
        ReportFormat::Text => text::text(&page(), room),
        ReportFormat::Markdown => markdown(&page()),
        ReportFormat::Html => html(&page()).map_err(|error| unrendered(&error))?,
        ReportFormat::Json => {
            match file {
                Some(path) => write(path, &|out| json(&report, out))?,
                None => out::json(&report)?,
            }
            report.jobs.check().map_err(unwritten)?;
            return Ok(exit::COMPLETED);
        }
    };
    report.jobs.check().map_err(unwritten)?;
    match file {
        Some(path) => write(path, &|out| out.write_all(text.as_bytes()))?,
        None => out::result(&text)?,
    }
    Ok(exit::COMPLETED)
}

/// The report of a batch as a page.
pub(super) async fn page_of_batch(app: &AppContext, batch: &str) -> Result<String, CliError> {
    let args = ReportArgs { batch: vec![batch.to_owned()], ..ReportArgs::default() };
    let (report, ids) = gather(app, &args, now(), &std::env::temp_dir()).await?;
    let id = |id: JobId| ids.short(&id.to_string()).to_owned();
    let links = ReportLinks::new(Path::new("."), None);
    let page = Page::of(&report, &Style { minute: &local_time::minute, id: &id, links: &links });
    let html = html(&page).map_err(|error| unrendered(&error))?;
    report.jobs.check().map_err(unwritten)?;
    Ok(html)
}

fn unrendered(error: &askama::Error) -> CliError {
    CliError::failed(format!("the page can't be made ({error})"))
}

fn json(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    report.jobs.check()?;
    out.write_all(b"\n")
}

#[expect(clippy::needless_pass_by_value, reason = "map_err hands it over")]
fn unwritten(error: io::Error) -> CliError {
    CliError::failed(format!("what the report is made from can't be written aside ({error})"))
}

/// Counts the jobs, page by page, and collects their deliverables if requested.
async fn gather(
    app: &AppContext,
    args: &ReportArgs,
    made: Timestamp,
    aside: &Path,
) -> Result<(Report, KnownIds), CliError> {
    let ReportedJobs { mut filter, jobs } = reported_jobs(app, args, made).await?;
    filter.standings.dedup();
    let mut counter = ReportCounter::new(made, &filter, aside);
    let (mut batches, mut stored) = (BTreeSet::new(), Vec::new());
    let jobs: Vec<JobId> = jobs.into_iter().collect();
    for page in jobs.chunks(JOBS_AT_ONCE) {
        for job in app.jobs_with(page).await? {
            let job = app.caught_up_quietly(job).await;
            let key = app.stored_at(&job).await?;
            let location = app.whereabouts(&job, key.is_some());
            let facts = read(&job.row, job.queue.as_ref(), &location, app.is_interrupted(&job));
            if !counter.add(&facts).map_err(unwritten)? {
                continue;
            }
            batches.extend(facts.batch);
            if let (Whereabouts::Stored(_), Some(key), false) = (location, key, facts.deliverables.is_empty()) {
                stored.push((facts.id, key));
            }
        }
    }
    let mut report = counter.finish();
    report.batches = app.batches_with(&batches).await?.into_iter().map(BatchFacts::of).collect();
    for batch in &mut report.batches {
        let state = stored_state(app.store.as_ref(), batch.id).await?;
        batch.cascade = state.map(|state| state.told());
    }
    let ids = app.ids().await?;
    if let Some(folder) = &args.collect {
        let fetched = FetchedDeliverables::fetch(app, &stored, folder).await?;
        let collected =
            collect(&report.jobs, &fetched.folders, folder, made, &|id| ids.short(&id.to_string()).to_owned());
        fetched.clear();
        report.collected = Some(collected?);
    }
    Ok((report, ids))
}

/// The filter, and the jobs that may belong to the report.
async fn reported_jobs(app: &AppContext, args: &ReportArgs, made: Timestamp) -> Result<ReportedJobs, CliError> {
    app.adopt().await;
    let named = !args.jobs.is_empty() || !args.batch.is_empty();
    let since = args.since.or_else(|| (!named).then(|| before(made, DEFAULT_SPAN)));
    let mut filter = ReportFilter { since, standings: args.status.clone(), named, older_waiting: 0 };
    if named {
        return Ok(ReportedJobs { filter, jobs: named_jobs(app, args).await? });
    }
    let worked_since = since.map(|since| before(since, CLOCK_SLACK));
    let jobs = app.store.job_ids(&JobFilter { worked_since, without_evals: true, ..JobFilter::default() }).await?;
    let jobs: BTreeSet<JobId> = jobs.into_iter().collect();
    let held = JobFilter { status: Some(JobStatus::Held), without_evals: true, ..JobFilter::default() };
    let held = app.store.job_ids(&held).await?;
    filter.older_waiting = held.iter().filter(|id| !jobs.contains(id)).count() as u64;
    Ok(ReportedJobs { filter, jobs })
}

/// The named jobs, and those of the named batches.
async fn named_jobs(app: &AppContext, args: &ReportArgs) -> Result<BTreeSet<JobId>, CliError> {
    let mut batches = Vec::new();
    let mut jobs = BTreeSet::new();
    for name in &args.batch {
        batches.push(app.batch(name).await?);
    }
    for name in &args.jobs {
        match app.job_or_batch(name).await? {
            JobOrBatch::Batch(batch) => batches.push(*batch),
            JobOrBatch::Job(job) => drop(jobs.insert(job.id())),
        }
    }
    // A batch's final result is that of its closing job, which is in a batch of its own.
    for batch in &batches {
        jobs.extend(app.closing(batch).await?.map(|closing| closing.id()));
        jobs.extend(app.ids_of(batch).await?);
    }
    Ok(jobs)
}

fn before(moment: Timestamp, passed: Duration) -> Timestamp {
    let earlier = chrono::TimeDelta::from_std(passed).ok().and_then(|passed| moment.utc().checked_sub_signed(passed));
    earlier.map_or(moment, Timestamp::new)
}

impl AppContext {
    /// [`Self::caught_up`], but a workspace that can't be opened is left for the report to mention.
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

/// Writes the report: a regular file is written completely or not at all.
fn write(path: &Path, content: &dyn Fn(&mut dyn io::Write) -> io::Result<()>) -> Result<(), CliError> {
    let failed = |why: &dyn std::fmt::Display| {
        CliError::failed(format!(
            "the report can't be written to {} ({why})",
            out::one_line(&path.display().to_string())
        ))
    };
    // A link is followed to its file.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_special = path.exists() && !path.is_file();
    let (Some(name), false) = (path.file_name().and_then(|name| name.to_str()), is_special) else {
        let file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).open(&path);
        let written = file.map(io::BufWriter::new).and_then(|mut out| content(&mut out).and_then(|()| out.flush()));
        return written.map_err(|error| failed(&error));
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let shown = out::one_line(&folder.display().to_string());
    let folder = Workspace::open(folder)
        .map_err(|_| CliError::usage(format!("there is no folder {shown} to write the report into")))?;
    folder.write_as(name, content).map(drop).map_err(|error| failed(&error))
}

impl From<CollectError> for CliError {
    fn from(error: CollectError) -> Self {
        match error {
            CollectError::Refused(sentence) => Self::usage(sentence),
            CollectError::Failed(_) => Self::failed(error.to_string()),
        }
    }
}
