//! `overnight completions`: a script through which a shell asks this program for possible next words. It knows the jobs
//! and batches of the database and the names of instructions. Completing only reads, is fast, and ignores errors.

use super::{Cli, CliError, exit, instructions, out};
use crate::{
    config::{Flags, Settings},
    report::words::one_line,
    store::{self, JobFilter, Store},
};
use clap::{Arg, Command, CommandFactory};
use clap_complete::{
    CompleteEnv,
    engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _},
    env::Shells,
};
use std::{ffi::OsStr, path::PathBuf, sync::Arc, time::Duration};

/// The variable that a script sets for its requests. (It is not a setting: those have another prefix.)
const VARIABLE: &str = "_OVERNIGHT_COMPLETE";
/// The number of newest jobs, and of newest batches, that are offered.
const MOST: u32 = 50;
/// The time limit for the database.
const PATIENCE: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  overnight completions bash > ~/.local/share/bash-completion/completions/overnight
  overnight completions zsh > ~/.zfunc/_overnight
  overnight completions fish > ~/.config/fish/completions/overnight.fish

The script asks the overnight on the PATH, which knows jobs, batches and instructions.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompletionsArgs {
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> Result<u8, CliError> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let shell = args.shell.to_string();
    let written = shells.completer(&shell).map(|shell| {
        // By name and not by path: another copy of the program may answer than the one that made the script.
        shell.write_registration(VARIABLE, "overnight", "overnight", "overnight", &mut script)
    });
    match written {
        Some(Ok(())) => out::result(&String::from_utf8_lossy(&script))?,
        Some(Err(_)) | None => return Err(CliError::usage(format!("there is no script for {shell}"))),
    }
    Ok(exit::COMPLETED)
}

/// Answers a script's request for possible next words. Returns whether this was such a request.
pub(super) fn answer() -> bool {
    let here = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(|| with_values(Cli::command())).var(VARIABLE);
    // Errors are not printed into the line that a person is typing.
    asked.try_complete(std::env::args_os(), here.as_deref()).unwrap_or(true)
}

/// Adds completion from the database and the instructions folder, by the value names of arguments.
fn with_values(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let is = |word: &str| names(&argument).any(|name| name == word);
        let (jobs, batches) = (is("JOB"), is("BATCH"));
        if jobs || batches {
            argument.add(ArgValueCompleter::new(move |typed: &OsStr| offered(typed, jobs, batches)))
        } else if is("INSTRUCTIONS") {
            argument.add(ArgValueCompleter::new(instructions_beginning))
        } else {
            argument
        }
    });
    command.mut_subcommands(with_values)
}

/// `JOB` and `BATCH` of `JOB|BATCH`.
fn names(argument: &Arg) -> impl Iterator<Item = &str> {
    argument.get_value_names().into_iter().flatten().flat_map(|name| name.split('|'))
}

/// The settings that hold for the command line being typed.
fn settings() -> Option<Settings> {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let typed = |flag: &str| words.windows(2).filter(|pair| pair[0] == flag).map(|pair| pair[1].clone()).next_back();
    let flags = Flags {
        config: typed("--config").map(PathBuf::from),
        database_url: typed("--database-url"),
        workspaces: typed("--workspaces"),
        ..Flags::default()
    };
    Settings::from_surroundings(&flags).ok()
}

fn instructions_beginning(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = settings().map(|settings| instructions::names(&settings.instructions.value)).unwrap_or_default();
    let mut found: Vec<CompletionCandidate> =
        names.into_iter().filter(|name| begins(name, typed)).map(CompletionCandidate::new).collect();
    // What looks like a path is completed as paths are.
    if typed.to_str().is_some_and(|typed| typed.contains(['/', '.'])) {
        found.extend(PathCompleter::any().complete(typed));
    }
    found
}

fn begins(name: &str, typed: &OsStr) -> bool {
    typed.to_str().is_some_and(|typed| name.starts_with(typed))
}

/// Jobs and batches whose names begin with the typed text, the newest first.
fn offered(typed: &OsStr, jobs: bool, batches: bool) -> Vec<CompletionCandidate> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (Some(settings), Ok(runtime)) = (settings(), runtime) else { return Vec::new() };
    let found = runtime.block_on(async {
        tokio::time::timeout(PATIENCE, async {
            let store = store::connect_to_read(settings.database_url.value.reveal()).await.ok().flatten()?;
            let found = newest(&store, jobs, batches).await;
            store.close().await;
            Some(found)
        })
        .await
    });
    runtime.shutdown_background();
    let found = found.ok().flatten().unwrap_or_default();
    found
        .into_iter()
        .filter(|(name, _)| begins(name, typed))
        .map(|(name, help)| CompletionCandidate::new(name).help(Some(help.into())))
        .collect()
}

/// The names of jobs and batches, each with a description for people.
async fn newest(store: &Arc<dyn Store>, jobs: bool, batches: bool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if batches {
        for row in store.batches(MOST).await.unwrap_or_default() {
            // A shell would split a name of two words.
            let is_word = |name: &String| {
                name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
            };
            let name = row.batch.name.clone().filter(is_word).unwrap_or_else(|| row.batch.id.to_string());
            let help =
                format!("batch, {} of {} ended: {}", row.totals.ended(), row.totals.all(), row.batch.shown_name());
            found.push((name, one_line(&help)));
        }
    }
    if jobs {
        found.push(("last".to_owned(), "the newest job".to_owned()));
        let ids = store.job_ids(&JobFilter { limit: Some(MOST), ..JobFilter::default() }).await.unwrap_or_default();
        for row in store.jobs(&ids).await.unwrap_or_default() {
            let label = row.queue.as_ref().map_or(&row.job.instructions, |queue| &queue.label);
            found.push((row.job.id.to_string(), one_line(&format!("{}: {label}", row.state.status))));
        }
    }
    found
}
