//! `overnight export`: one table of the records that many jobs found.

use super::{AppContext, CliError, exit, job_or_batch::JobOrBatch, out, progress::counted, queue::DatabaseJob};
use crate::{
    config::Settings,
    export::{JobRecords, TableColumns, TableFormat, writer},
    store::JobFilter,
};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

const EXAMPLES: &str = "\
Examples:
  overnight export contracts -o contracts.xlsx
  overnight export contracts --format csv > contracts.csv
  overnight export 0193 0194 --deliverable output/findings.json -o findings.parquet

A row is a record of a deliverable that has `quotes`: its fields, then what the program knows of it: where its quote was found
and whether, which reader found it, the finding that is open, who answered, the job.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExportArgs {
    /// Ids of jobs, beginnings of them, 'last', or names or ids of batches
    #[arg(value_name = "JOB|BATCH", required = true)]
    jobs: Vec<String>,
    /// Form of the table [default: as the file's name ends, else csv]
    #[arg(long, value_enum)]
    format: Option<TableFormat>,
    /// Write the table into this new file, whose name ends in .csv, .jsonl, .xlsx, .parquet, .sqlite or .db; csv and jsonl go
    /// to stdout without it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The deliverable whose records are meant [default: the first one with quotes]
    #[arg(long, value_name = "PATH")]
    deliverable: Option<String>,
}

pub(super) async fn run(settings: Settings, args: &ExportArgs) -> Result<u8, CliError> {
    let format = format(args)?;
    let app = AppContext::read(settings).await?;
    let jobs = named(&app, &args.jobs).await?;
    let mut left_out = Vec::new();
    let mut paths = Vec::new();
    for job in jobs {
        match app.workspace(&job) {
            Ok(path) => paths.push(path),
            Err(error) => left_out.push((job.id().to_string(), error.message)),
        }
    }
    let count = paths.len() as u64;
    let wanted = args.clone();
    // Writers wait for their files, and one of them for its database.
    let written = tokio::task::spawn_blocking(move || {
        let written = write(&wanted, format, &paths, &mut left_out);
        (written, left_out)
    });
    let (rows, left_out) = written.await.map_err(|error| CliError::failed(error.to_string()))?;
    let rows = rows?;
    for (job, why) in &left_out {
        out::note(&format!("left out: job {job} ({})", out::one_line(why)));
    }
    out::note(&format!("{} of {}", counted(rows, "record"), counted(count, "job")));
    Ok(if left_out.is_empty() { exit::COMPLETED } else { exit::PARTIAL_OR_BLOCKED })
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

/// The jobs that are meant, each once, the oldest first of each batch.
pub(super) async fn named(app: &AppContext, names: &[String]) -> Result<Vec<DatabaseJob>, CliError> {
    let mut jobs: Vec<DatabaseJob> = Vec::new();
    for name in names {
        let found = match app.job_or_batch(name).await? {
            JobOrBatch::Job(job) => vec![*job],
            JobOrBatch::Batch(batch) => {
                let mut jobs = app.jobs_of(&batch, &JobFilter::default()).await?;
                jobs.reverse();
                jobs
            }
        };
        let is_new = |job: &DatabaseJob, known: &[DatabaseJob]| known.iter().all(|other| other.id() != job.id());
        for job in found {
            if is_new(&job, &jobs) {
                jobs.push(job);
            }
        }
    }
    Ok(jobs)
}

/// Writes the table of all jobs. A job is read twice, for its columns and for its rows, so that one is in memory at a time.
fn write(
    args: &ExportArgs,
    format: TableFormat,
    paths: &[PathBuf],
    left_out: &mut Vec<(String, String)>,
) -> Result<u64, CliError> {
    let wanted = args.deliverable.as_deref();
    let mut list: Option<String> = None;
    let mut columns = TableColumns::default();
    let mut with_records = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match JobRecords::read(path, wanted.or(list.as_deref())) {
            Ok(Some(records)) => {
                if list.is_none() {
                    list = Some(records.deliverable().to_owned());
                    columns = records.schema_columns();
                }
                records.observe(&mut columns);
                with_records.push(path);
            }
            Ok(None) => left_out.push((name, "it has no such list of records".to_owned())),
            Err(error) => left_out.push((name, error.to_string())),
        }
    }
    if with_records.is_empty() {
        return Err(CliError::failed(
            "none of these jobs has a list of records with quotes: there is nothing to export",
        ));
    }
    let failed = |error: crate::export::ExportError| CliError::failed(error.to_string());
    let stdout = Box::new(io::BufWriter::new(io::stdout().lock()));
    let mut table = writer(format, &columns, args.output.as_deref(), stdout as Box<dyn Write>).map_err(failed)?;
    let (mut rows, mut fault) = (0, None);
    for path in with_records {
        let Some(records) = JobRecords::read(path, wanted.or(list.as_deref()))? else { continue };
        records.rows(&columns, &mut |cells| {
            if fault.is_none() {
                fault = table.row(&cells).err();
                rows += 1;
            }
        });
        if let Some(error) = fault {
            return Err(failed(error));
        }
    }
    table.finish().map_err(failed)?;
    Ok(rows)
}
