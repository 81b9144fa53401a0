//! The command line. It shows results and passes requests on; the runner does the work on every job.
//!
//! Results go to stdout, messages to stderr. Each command opens what it needs, so `--version`, `--help` and `completions` open nothing.
//!
//! - `submit`: puts a batch into the queue
//! - `run`, `resume`, `review` (approve, feedback), `cancel` (and pause), `retry`: requests for one job or one batch
//! - `run_job`: works on one job in this process; `stop`: Ctrl-C and SIGTERM; `progress`: what is shown meanwhile; `traces`: its spans; `result`: its outcome
//! - `worker`: works on the jobs of the queue
//! - `server`: the model and its server; `models`: the facts about models
//! - `instructions`, `job_or_batch`, `job_location`: find what a name means; `app_context`: settings and database; `queue`: what the queue knows of jobs
//! - `jobs`, `show`, `watch`, `logs`, `audit`, `report`: show one job or many, and their results
//! - `export`: the records of many jobs as one table; `review_pages`: the same beside their sources; `compare`: those of two runs
//! - `serve`: all that as pages, and for programs; `token`: access tokens for them; `assign`: who reads which results
//! - `lessons`: the lessons that jobs have proposed for later ones
//! - `init`: sets up a folder for a new task
//! - `doctor`, `migrate`, `reindex`, `completions`, `man`

use crate::config::{Flags, LogFormat, Settings};
use clap::{Args, Parser, Subcommand};
use std::{path::PathBuf, process::ExitCode};

mod app_context;
mod assign;
mod audit;
mod cancel;
mod compare;
mod completions;
mod doctor;
mod documents;
mod error;
mod eval;
mod export;
mod fetch;
mod gc;
mod gold;
mod init;
mod instructions;
mod job_location;
mod job_or_batch;
mod job_request;
mod jobs;
#[cfg(not(feature = "network"))]
mod left_out;
mod lessons;
mod local_time;
mod logs;
mod man;
mod migrate;
mod models;
mod out;
mod progress;
mod prune;
mod queue;
mod reindex;
mod report;
mod result;
mod resume;
mod retry;
mod review;
mod review_pages;
mod run;
mod run_job;
mod schedule;
#[cfg(feature = "network")]
mod serve;
mod server;
mod show;
mod stop;
mod submit;
mod table;
mod token;
mod traces;
mod watch;
mod worker;
mod workspace_store;

pub use app_context::AppContext;
pub use error::{CliError, exit};

const EXAMPLES: &str = "\
Examples:
  overnight run extract-requirements --documents spec.md
  overnight run ./my-task.md --documents contracts/ --model offline
  overnight submit extract-requirements --documents contracts/ --each
  overnight resume last --turns 8000
  overnight approve 0193

A JOB is named by its id, any unambiguous beginning or end of it, or 'last'; a BATCH by its name, its id or a beginning of that.
Exit codes: 0 completed, 1 failed, 2 usage or configuration, 3 partial or blocked, 4 held, 5 cancelled, 130 interrupted.";

/// Runs long document jobs with a language model, unattended, and keeps a record that can be audited.
#[derive(Debug, Parser)]
#[command(name = "overnight", version, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: CliCommand,
}

/// The options that every command has.
#[derive(Debug, Args)]
#[command(next_help_heading = "Places")]
struct GlobalArgs {
    /// Configuration file, instead of the overnight.yaml in this folder or the nearest above; relative paths in it begin in its folder
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Database: sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE
    #[arg(long, global = true, value_name = "URL")]
    database_url: Option<String>,
    /// Folder in which each job gets its own workspace
    #[arg(long, global = true, value_name = "FOLDER")]
    workspaces: Option<String>,
    /// Form of what is told on stderr: text, or json for one object a line
    #[arg(long, global = true, value_name = "FORMAT")]
    log_format: Option<String>,
    /// Say nothing on stderr but what went wrong
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Reads the document on standard input, within limits; for this program itself
    #[command(hide = true)]
    ExtractDocument,
    /// Set up a folder for a task of your own, and try it on three documents
    Init(init::InitArgs),
    /// Work one job here and now, with progress on the terminal
    Run(run::RunArgs),
    /// Work jobs of the queue, many at once, until stopped
    Work(worker::WorkArgs),
    /// Put documents into the queue as a batch of jobs, for workers to work
    Submit(Box<submit::SubmitArgs>),
    /// Golden sets: documents with what is right of them, from approved jobs or from outside
    Gold(gold::GoldArgs),
    /// How good instructions and models are by a golden set, and which are better
    Eval(Box<eval::EvalArgs>),
    /// Submit batches by themselves: each weekday at 22:00, and the like
    Schedule(schedule::ScheduleArgs),
    /// Go on with a job that is held or was interrupted, or with what is held of a batch
    Resume(resume::ResumeArgs),
    /// Accept the result of a job, or one record of it
    Approve(review::ApproveArgs),
    /// Send the result of a job back with feedback, and go on with it
    Feedback(review::FeedbackArgs),
    /// Correct a field of a result, in a file beside the model's
    Correct(review::CorrectArgs),
    /// Say why a finding is no fault
    Settle(review::SettleArgs),
    /// Add documents to a job that has a result, and go on with it
    AddDocuments(review::AddDocumentsArgs),
    /// End a job, or all of a batch, for good; what was made stays
    Cancel(cancel::CancelArgs),
    /// Hold a job, or all of a batch, at its next turn, until it is resumed
    Pause(cancel::PauseArgs),
    /// Queue failed jobs of a batch again
    Retry(retry::RetryArgs),
    /// What jobs have proposed for later ones: list, approve, drop
    Lessons(lessons::LessonsArgs),
    /// List what is known of models: windows, prices, reasoning, retirement
    Models(models::ModelsArgs),
    /// Show the settings and where they come from, and test what a job needs
    Doctor(doctor::DoctorArgs),
    /// Bring the database's schema up to this program's
    Migrate,
    /// Put the jobs of the workspaces folder back into the database
    Reindex(reindex::ReindexArgs),
    /// Remove old workspaces of jobs that have ended, but not their archives and deliverables
    Prune(prune::PruneArgs),
    /// Delete from the workspace store what no job needs any more
    Gc(gc::GcArgs),
    /// Bring a job's workspace out of the workspace store, to look at it
    Fetch(fetch::FetchArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
    /// Write the manual pages into a folder, one for each command
    Man(man::ManArgs),
    /// List jobs, the newest first
    Jobs(jobs::JobsArgs),
    /// Show one job or batch: what was asked, where it stands or what came of it, what can be done next
    Show(show::ShowArgs),
    /// Watch running jobs: what each is doing, and how far it is
    Watch(watch::WatchArgs),
    /// Write the records that jobs found into one table: csv, jsonl, xlsx, parquet or sqlite
    Export(export::ExportArgs),
    /// Compare the records of two runs over the same documents, field by field
    Compare(compare::CompareArgs),
    /// Say who reads which results of a batch; show who is how far, and how far two who read the same ones agree
    Assign(assign::AssignArgs),
    /// Write pages that show the records of jobs beside their sources, the most doubtful first
    Review(review_pages::ReviewArgs),
    /// Serve pages: jobs live, records beside their sources, review, submission
    #[cfg(feature = "network")]
    Serve(serve::ServeArgs),
    /// Let an agent look at jobs, and submit some where it may: the Model Context Protocol, on standard input and output
    #[cfg(feature = "network")]
    Mcp(serve::McpArgs),
    #[cfg(not(feature = "network"))]
    #[command(name = "serve", alias = "mcp", hide = true)]
    LeftOut(left_out::LeftOutArgs),
    /// Tokens of people and programs that come to `overnight serve`: add, list, revoke
    Token(token::TokenArgs),
    /// Report on the jobs of a night: what is done, what is not and why, what it cost, and what needs a person
    Report(report::ReportArgs),
    /// Tell what happened in a job, line by line
    Logs(logs::LogsArgs),
    /// Look into a job's phases; verify its record; rebuild a prompt
    Audit(audit::AuditArgs),
}

/// Reads the command line, runs its command, and gives its exit code. A failure is one sentence on stderr.
pub fn main() -> ExitCode {
    if completions::answer() {
        return ExitCode::from(exit::COMPLETED);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            out::set_format(LogFormat::requested(&Flags { log_format: typed_format(), ..Flags::default() }));
            if error.use_stderr() && out::is_json() {
                out::error(error.to_string().trim_start_matches("error: "));
            } else {
                // A closed pipe is ignored.
                let _ = error.print();
            }
            return ExitCode::from(if error.use_stderr() { exit::USAGE } else { exit::COMPLETED });
        }
    };
    if let CliCommand::ExtractDocument = &cli.command {
        return crate::extraction::answer();
    }
    // Several threads help a worker with many jobs, and a server with many viewers; a single job gains nothing from them.
    let mut builder = match &cli.command {
        #[cfg(feature = "network")]
        CliCommand::Serve(_) | CliCommand::Mcp(_) => tokio::runtime::Builder::new_multi_thread(),
        CliCommand::Work(_) | CliCommand::Eval(_) => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = match builder.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            out::error(&format!("the system gives no event loop ({error})"));
            return ExitCode::from(exit::FAILED);
        }
    };
    let ended = runtime.block_on(async {
        let ended = Box::pin(dispatch(cli)).await;
        app_context::close().await;
        ended
    });
    let code = match ended {
        Ok(code) => code,
        Err(error) => {
            out::error(&error.message);
            error.code
        }
    };
    // A document reader that timed out is not waited for.
    runtime.shutdown_background();
    ExitCode::from(code)
}

/// The value of `--log-format` on a command line that can't be parsed.
fn typed_format() -> Option<String> {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let separate = words.windows(2).filter(|pair| pair[0] == "--log-format").map(|pair| pair[1].clone());
    let joined = words.iter().filter_map(|word| word.strip_prefix("--log-format=").map(str::to_owned));
    separate.chain(joined).last()
}

async fn dispatch(cli: Cli) -> Result<u8, CliError> {
    let flags = Flags {
        config: cli.global.config,
        database_url: cli.global.database_url,
        workspaces: cli.global.workspaces,
        log_format: cli.global.log_format,
        ..Flags::default()
    };
    out::set_quiet(cli.global.quiet);
    // Errors in the settings are already reported in the requested format.
    out::set_format(LogFormat::requested(&flags));
    match cli.command {
        CliCommand::ExtractDocument => Ok(exit::USAGE),
        CliCommand::Init(args) => Box::pin(init::run(flags, &args)).await,
        CliCommand::Run(args) => Box::pin(run::run(flags, &args)).await,
        CliCommand::Work(args) => worker::run(flags, &args).await,
        CliCommand::Submit(args) => Box::pin(submit::run(flags, &args)).await,
        CliCommand::Gold(args) => Box::pin(gold::run(flags, &args)).await,
        CliCommand::Eval(args) => Box::pin(eval::run(flags, &args)).await,
        CliCommand::Schedule(args) => Box::pin(schedule::run(flags, args)).await,
        CliCommand::Resume(args) => resume::run(flags, &args).await,
        CliCommand::Approve(args) => review::approve(&app_context(&flags).await?, &args).await,
        CliCommand::Feedback(args) => review::feedback(&app_context(&args.server.add_to(flags)).await?, &args).await,
        CliCommand::Correct(args) => review::correct(&app_context(&flags).await?, &args).await,
        CliCommand::Settle(args) => review::settle(&app_context(&flags).await?, &args).await,
        CliCommand::AddDocuments(args) => {
            review::add_documents(&app_context(&args.server.add_to(flags)).await?, &args).await
        }
        CliCommand::Cancel(args) => cancel::run_cancel(&app_context(&flags).await?, &args).await,
        CliCommand::Pause(args) => cancel::run_pause(&app_context(&flags).await?, &args).await,
        CliCommand::Retry(args) => retry::run(&app_context(&flags).await?, &args).await,
        CliCommand::Lessons(args) => Box::pin(lessons::run(settings(&flags)?, &args)).await,
        CliCommand::Models(args) => models::run(flags, &args),
        CliCommand::Doctor(args) => doctor::run(flags, &args).await,
        CliCommand::Migrate => migrate::run(&AppContext::open(settings(&flags)?).await?),
        CliCommand::Reindex(args) => reindex::run(settings(&flags)?, &args).await,
        CliCommand::Prune(args) => prune::run(settings(&flags)?, &args).await,
        CliCommand::Gc(args) => gc::run(flags, &args).await,
        CliCommand::Fetch(args) => Box::pin(fetch::run(flags, &args)).await,
        CliCommand::Completions(args) => completions::run(&args),
        CliCommand::Man(args) => man::run(&args),
        CliCommand::Jobs(args) => jobs::run(settings(&flags)?, &args).await,
        CliCommand::Watch(args) => watch::run(settings(&flags)?, &args).await,
        CliCommand::Export(args) => export::run(settings(&flags)?, &args).await,
        CliCommand::Compare(args) => compare::run(settings(&flags)?, &args).await,
        CliCommand::Assign(args) => assign::run(&app_context(&flags).await?, &args).await,
        CliCommand::Review(args) => review_pages::run(settings(&flags)?, &args).await,
        CliCommand::Report(args) => report::run(settings(&args.add_to(flags))?, &args).await,
        #[cfg(feature = "network")]
        CliCommand::Serve(args) => serve::run(flags, &args).await,
        #[cfg(not(feature = "network"))]
        CliCommand::LeftOut(args) => left_out::run(&args),
        #[cfg(feature = "network")]
        CliCommand::Mcp(args) => serve::run_mcp(flags, &args).await,
        CliCommand::Token(args) => token::run(flags, &args).await,
        CliCommand::Show(args) => show::run(settings(&flags)?, &args).await,
        CliCommand::Logs(args) => logs::run(settings(&flags)?, &args).await,
        CliCommand::Audit(args) => Box::pin(audit::run(settings(&flags)?, &args)).await,
    }
}

/// Reads the settings, and uses their log format from here on.
fn settings(flags: &Flags) -> Result<Settings, CliError> {
    let settings = Settings::from_surroundings(flags)?;
    out::set_format(settings.log_format.value);
    Ok(settings)
}

/// The context of a command that changes existing jobs.
async fn app_context(flags: &Flags) -> Result<AppContext, CliError> {
    AppContext::of_jobs(settings(flags)?).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
