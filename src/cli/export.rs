//! `overnight export`: one table of the records of many jobs.

use super::{AppContext, CliError, exit, out, progress::counted, queue::DatabaseJob};
use crate::{
    batch::BatchSettings,
    cascade::stored_state,
    config::Settings,
    export::{GatheredRecords, ReviewPages, TableFormat, TableJob, TableNotes, TableRequest, folder_of, write_table},
    review::record_anchor,
    store::{BatchRow, JOBS_AT_ONCE},
};
use overnight_core::job::{id::JobId, left_out::LeftOut, record::JobStatus};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::{self, Write},
    path::{Path, PathBuf},
};

const EXAMPLES: &str = "\
Examples:
  overnight export contracts -o contracts.xlsx
  overnight export contracts --format csv > contracts.csv
  overnight export 0193 0194 --deliverable output/findings.json -o findings.parquet
  overnight export contracts -o night/contracts.xlsx --review night/review
  overnight export contracts -o short.xlsx --columns document,supplier,amount,quote

A row is a record of a list in a deliverable: its document, its fields as people have corrected them, then what the program knows
of it: where its quote was found and whether, which reader found it, the finding that is open, who corrected or approved it, who
answered, the job.";

/// Jobs that are named where several are left out.
const MOST_NAMED: usize = 5;

#[derive(Clone, Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExportArgs {
    /// Ids of jobs, beginnings of them, 'last', or names or ids of batches
    #[arg(value_name = "JOB|BATCH", required = true)]
    jobs: Vec<String>,
    /// Form of the table [default: as the file's name ends, else csv]
    #[arg(long, value_enum)]
    format: Option<TableFormat>,
    /// Write the table into this new file, whose name ends in .csv, .jsonl, .xlsx, .parquet, .sqlite or .db; csv and jsonl go
    /// to stdout without it, or with -
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The deliverable whose records are meant; of one with several lists also PATH#LIST [default: the first one with quotes]
    #[arg(long, value_name = "PATH")]
    deliverable: Option<String>,
    /// Link each record to its place on its review page: the folder into which `overnight review` wrote, or its address
    #[arg(long, value_name = "DIR|URL")]
    review: Option<String>,
    /// Write the fields as the model wrote them; what people have corrected stands in the column `corrected` only
    #[arg(long)]
    as_written: bool,
    /// Write these columns only, in this order: names with commas between
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    columns: Option<Vec<String>>,
}

pub(super) async fn run(settings: Settings, args: &ExportArgs) -> Result<u8, CliError> {
    let mut args = args.clone();
    args.output = args.output.filter(|path| path != Path::new("-"));
    let format = format(&args)?;
    let app = AppContext::read(settings).await?;
    let named = named_for_table(&app, &args.jobs).await?;
    // Writing blocks, on files and for one format on a database.
    let written = tokio::task::spawn_blocking(move || write(&args, format, named));
    let (gathered, notes) = written.await.map_err(|error| CliError::failed(error.to_string()))??;
    tell(&gathered, &notes);
    Ok(if gathered.left_out.is_empty() { exit::COMPLETED } else { exit::PARTIAL_OR_BLOCKED })
}

/// The table of a job or a batch; `None`: there is no list of records.
pub(super) async fn table(app: &AppContext, named: &str, format: TableFormat) -> Result<Option<Vec<u8>>, CliError> {
    let named = named_for_table(app, &[named.to_owned()]).await?;
    let made = tokio::task::spawn_blocking(move || table_of(named, format));
    made.await.map_err(|error| CliError::failed(error.to_string()))?
}

fn table_of((jobs, left_out): (Vec<TableJob>, Vec<LeftOut>), format: TableFormat) -> Result<Option<Vec<u8>>, CliError> {
    let folder = tempfile::tempdir().map_err(|error| CliError::failed(format!("no table can be made ({error})")))?;
    let request = TableRequest { left_out, ..TableRequest::default() };
    let failed = |error: crate::export::ExportError| CliError::failed(error.to_string());
    let mut gathered = GatheredRecords::read(&jobs, &request, folder.path()).map_err(failed)?;
    if gathered.jobs == 0 {
        return Ok(None);
    }
    let output = folder.path().join("records");
    write_table(&mut gathered, format, Some(&output), &mut io::sink()).map_err(failed)?;
    let read = std::fs::read(&output);
    read.map(Some).map_err(|error| CliError::failed(format!("the table can't be read ({error})")))
}

/// The named jobs, with their facts from the queue.
pub(super) async fn table_jobs(app: &AppContext, names: &[String]) -> Result<Vec<TableJob>, CliError> {
    Ok(named_for_table(app, names).await?.0)
}

/// The same, and the files that the batches among them left out.
async fn named_for_table(app: &AppContext, names: &[String]) -> Result<(Vec<TableJob>, Vec<LeftOut>), CliError> {
    let (ids, batches) = app.named(names).await?;
    let strong = strong_results(app, &batches).await?;
    let mut jobs = Vec::new();
    for page in ids.chunks(JOBS_AT_ONCE) {
        let page: Vec<JobId> = page.iter().map(|id| strong.get(id).copied().unwrap_or(*id)).collect();
        for job in app.jobs_with(&page).await? {
            let state = &job.row.state;
            jobs.push(TableJob {
                id: job.id().to_string(),
                label: job.queue.as_ref().map(|queue| queue.label.clone()).unwrap_or_default(),
                status: state.status,
                hold_reason: state.hold_reason,
                reason: state.reason.clone(),
                workspace: app.workspace(&job).map_err(|error| error.message),
            });
        }
    }
    Ok((jobs, batches.iter().map(|batch| BatchSettings::left_out(&batch.batch.settings)).collect()))
}

/// The strong model's jobs of a cascade that have a result, by the jobs whose results they replace.
async fn strong_results(app: &AppContext, batches: &[BatchRow]) -> Result<BTreeMap<JobId, JobId>, CliError> {
    let mut results = BTreeMap::new();
    for batch in batches {
        let Some(state) = stored_state(app.store.as_ref(), batch.batch.id).await? else { continue };
        let strong = state.strong_jobs();
        let ids: Vec<JobId> = strong.values().copied().collect();
        let mut has_result = BTreeSet::new();
        for page in ids.chunks(JOBS_AT_ONCE) {
            let jobs = app.jobs_with(page).await?;
            let done = |status| matches!(status, JobStatus::Completed | JobStatus::Partial);
            has_result.extend(jobs.iter().filter(|job| done(job.row.state.status)).map(DatabaseJob::id));
        }
        results.extend(strong.into_iter().filter(|(_, job)| has_result.contains(job)));
    }
    Ok(results)
}

/// Reports what was written, and what was not.
fn tell(gathered: &GatheredRecords, notes: &TableNotes) {
    for (job, why) in gathered.left_out.iter().take(MOST_NAMED) {
        out::note(&format!("left out: job {job} ({})", out::one_line(why)));
    }
    if let Some(more) = gathered.left_out.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        out::note(&format!("left out: {} more", counted(more as u64, "job")));
    }
    for note in notes {
        out::note(note);
    }
    if !gathered.without_records.is_empty() {
        let all = &gathered.without_records;
        let named = all[..all.len().min(MOST_NAMED)].join(", ");
        let more = all.len().checked_sub(MOST_NAMED).filter(|more| *more > 0);
        let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
        out::note(&format!("without any record: {}: {named}{more}", counted(all.len() as u64, "job")));
    }
    if gathered.missing > 0 {
        let missing = counted(gathered.missing, "record");
        out::note(&format!(
            "{missing} that only a second reader found, and that nobody has settled, are in no list: `overnight show JOB` names \
             them"
        ));
    }
    if !gathered.others.is_empty() {
        out::note(&format!("other lists, each a table of its own with --deliverable: {}", lists(gathered)));
    }
    out::note(&format!("{} of {}", counted(gathered.records, "record"), counted(gathered.jobs, "job")));
}

/// `output/findings.json (3 jobs)`.
fn lists(gathered: &GatheredRecords) -> String {
    let mut text = String::new();
    for (name, jobs) in &gathered.others {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{name} ({})", counted(*jobs, "job"));
    }
    text
}

/// As `--format` says, else as the file's name ends.
fn format(args: &ExportArgs) -> Result<TableFormat, CliError> {
    let ending = args.output.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
    let by_name = match ending.map(str::to_lowercase).as_deref() {
        Some("jsonl" | "ndjson") => Some(TableFormat::Jsonl),
        Some("xlsx") => Some(TableFormat::Xlsx),
        Some("parquet") => Some(TableFormat::Parquet),
        Some("sqlite" | "sqlite3" | "db") => Some(TableFormat::Sqlite),
        Some("csv") | None => Some(TableFormat::Csv),
        Some(_) => None,
    };
    let Some(format) = args.format.or(by_name) else {
        return Err(CliError::usage(
            "the form of the table can't be told by the file's name: add --format csv, jsonl, xlsx, parquet or sqlite",
        ));
    };
    let is_text = matches!(format, TableFormat::Csv | TableFormat::Jsonl);
    if args.output.is_none() && !is_text {
        return Err(CliError::usage("a table of this form goes into a file: name it with --output FILE"));
    }
    Ok(format)
}

/// Writes the table of all jobs; `left_out` are the files without a job.
fn write(
    args: &ExportArgs,
    format: TableFormat,
    (jobs, left_out): (Vec<TableJob>, Vec<LeftOut>),
) -> Result<(GatheredRecords, TableNotes), CliError> {
    let output = args.output.as_deref();
    if let Some(path) = output.filter(|path| path.symlink_metadata().is_ok()) {
        return Err(CliError::usage(format!(
            "{} is there already, and nothing is written over: name a new file, or delete it",
            path.display()
        )));
    }
    let folder = output.map(folder_of);
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(CliError::usage(format!("there is no folder {} for the table: make it first", folder.display())));
    }
    let review =
        args.review.as_deref().map(|pages| ReviewPages { folder: seen_from(pages, folder), anchor: record_anchor });
    let request = TableRequest { list: args.deliverable.clone(), review, as_written: args.as_written, left_out };
    let failed = |error: crate::export::ExportError| CliError::failed(error.to_string());
    let aside = folder.map_or_else(std::env::temp_dir, Path::to_owned);
    let mut gathered = GatheredRecords::read(&jobs, &request, &aside).map_err(failed)?;
    if gathered.jobs == 0 {
        let why = match (&gathered.left_out[..], &args.deliverable) {
            ([(job, why), ..], _) => format!("; job {job}: {}", out::one_line(why)),
            ([], Some(list)) if !gathered.others.is_empty() => {
                format!(" '{}': name one of {}", out::one_line(list), lists(&gathered))
            }
            ([], _) => String::new(),
        };
        return Err(CliError::failed(format!(
            "there is nothing to export, because none of these jobs has a list of records{why}"
        )));
    }
    if let Some(names) = &args.columns {
        choose(&mut gathered, names)?;
    }
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let written = write_table(&mut gathered, format, output, &mut stdout);
    match written.and_then(|notes| Ok(stdout.flush().map(|()| notes)?)) {
        Ok(notes) => Ok((gathered, notes)),
        // The reader of stdout has closed it.
        Err(error) if output.is_none() && error.is_closed_pipe() => Ok((gathered, TableNotes::new())),
        Err(error) => Err(failed(error)),
    }
}

/// Keeps only the named columns.
fn choose(gathered: &mut GatheredRecords, names: &[String]) -> Result<(), CliError> {
    let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
    gathered.columns.choose(&names).map_err(|unknown| {
        let known: Vec<String> = gathered.columns.all().into_iter().map(|column| column.name).collect();
        CliError::usage(format!(
            "there is no column '{}': the columns are {}",
            out::one_line(unknown),
            out::one_line(&known.join(", "))
        ))
    })
}

/// The address of the review pages relative to the table's folder; an absolute path if they are not below it.
fn seen_from(pages: &str, table: Option<&Path>) -> String {
    if pages.starts_with("http://") || pages.starts_with("https://") {
        return pages.trim_end_matches('/').to_owned();
    }
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let pages = whole(Path::new(pages.strip_prefix("file://").unwrap_or(pages)));
    let below = table.and_then(|table| pages.strip_prefix(whole(table)).ok().map(Path::to_owned));
    let seen = below.filter(|path| !path.as_os_str().is_empty()).unwrap_or(pages);
    seen.to_string_lossy().into_owned()
}
