//! `overnight lessons`: what jobs have proposed for later ones, and a person's word on it.

use super::{
    AppContext, CliError,
    app_context::{list_nothing, no_jobs_yet},
    exit, instructions,
    instructions::read_experiences,
    out,
};
use crate::{
    config::Settings,
    runner::{load, today},
    store::{JOBS_AT_ONCE, JobFilter},
};
use overnight_core::job::{id::JobId, lessons::Lesson};
use serde::Serialize;
use std::{fmt::Write as _, path::Path};

const EXAMPLES: &str = "\
Examples:
  overnight lessons list
  overnight lessons approve 0193.1 --as anna
  overnight lessons drop 0193.2

A job may propose lessons (at most three) for later jobs over the same instructions. Those that a person approves stand
ticked in experiences.md beside the instructions, and are shown to every job that is made from then on. A lesson is named by
its job and its number.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct LessonsArgs {
    #[command(subcommand)]
    command: LessonsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum LessonsCommand {
    /// List what jobs have proposed, and what became of it
    List(ListArgs),
    /// Show a lesson to later jobs
    Approve(VerdictArgs),
    /// Don't show a lesson to later jobs
    Drop(VerdictArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct VerdictArgs {
    /// A job and the number of its lesson: 0193.1
    lesson: String,
    /// The instructions of the job, where they are not in the instructions folder
    #[arg(long = "of", value_name = "INSTRUCTIONS")]
    instructions: Option<String>,
    /// Who decides
    #[arg(long = "as", value_name = "NAME", env = "USER", default_value = "somebody")]
    person: String,
}

/// A lesson as it is listed. Its fields are a promise.
#[derive(Debug, Serialize)]
struct LessonView {
    /// `JOB.NUMBER`
    lesson: String,
    instructions: String,
    text: String,
    evidence: String,
    /// `proposed`, `approved` or `dropped`.
    state: &'static str,
}

pub(super) async fn run(settings: Settings, args: &LessonsArgs) -> Result<u8, CliError> {
    match &args.command {
        LessonsCommand::List(args) => list(settings, args).await,
        LessonsCommand::Approve(args) => decide(settings, args, true).await,
        LessonsCommand::Drop(args) => decide(settings, args, false).await,
    }
}

async fn list(settings: Settings, args: &ListArgs) -> Result<u8, CliError> {
    let nothing = no_jobs_yet(&settings);
    let folder = settings.instructions.value.clone();
    let Some(app) = AppContext::read_any(settings).await? else {
        return list_nothing(&nothing, args.json);
    };
    let mut listed = Vec::new();
    for page in app.store.job_ids(&JobFilter::default()).await?.chunks(JOBS_AT_ONCE) {
        for job in app.jobs_with(page).await? {
            // A workspace on another machine, or a pruned one, is skipped.
            let Some(loaded) = app.own_workspace(&job).ok().and_then(|path| load(&path).ok()) else { continue };
            let name = &loaded.job.spec.instructions.name;
            let file = match instructions::find(&folder, name) {
                Ok(found) => read_experiences(&found.experiences)?,
                Err(_) => read_experiences(Path::new(""))?,
            };
            for (number, lesson) in (1..).zip(&loaded.job.lessons) {
                listed.push(LessonView {
                    lesson: format!("{}.{number}", job.id()),
                    instructions: name.clone(),
                    text: lesson.text.clone(),
                    evidence: lesson.evidence.clone(),
                    state: match file.verdict(name, &beginning(lesson, job.id())) {
                        None => "proposed",
                        Some(true) => "approved",
                        Some(false) => "dropped",
                    },
                });
            }
        }
    }
    out::answer(args.json, &listed, || text(&listed))?;
    Ok(exit::COMPLETED)
}

fn text(listed: &[LessonView]) -> String {
    let mut text = String::new();
    for LessonView { lesson, instructions, text: said, evidence, state } in listed {
        let _ = writeln!(text, "{lesson}  {state}  {}", out::one_line(instructions));
        let _ = writeln!(text, "  {}", out::one_line(said));
        let _ = writeln!(text, "  evidence: {}", out::one_line(evidence));
    }
    if listed.is_empty() { "no job has proposed a lesson\n".to_owned() } else { text }
}

/// The beginning of a lesson's line in the file; the end of the line is about the person who decided.
fn beginning(lesson: &Lesson, job: JobId) -> String {
    format!("{} (evidence: {}; job {job},", lesson.text, lesson.evidence)
}

async fn decide(settings: Settings, args: &VerdictArgs, is_approved: bool) -> Result<u8, CliError> {
    let folder = settings.instructions.value.clone();
    let named = args.lesson.rsplit_once('.').and_then(|(job, number)| Some((job, number.parse::<usize>().ok()?)));
    let Some((job, number)) = named else {
        return Err(CliError::usage(format!(
            "'{}' names no lesson: name a job and a number, such as 0193.1",
            args.lesson
        )));
    };
    let app = AppContext::of_jobs(settings).await?;
    let known = app.job(job).await?;
    let loaded = load(&app.own_workspace(&known)?)?.job;
    let Some(lesson) = number.checked_sub(1).and_then(|place| loaded.lessons.get(place)) else {
        return Err(CliError::usage(format!(
            "job {} has proposed {} lessons, and no number {number}",
            known.id(),
            loaded.lessons.len()
        )));
    };
    let name = &loaded.spec.instructions.name;
    let given = args.instructions.as_ref().unwrap_or(name);
    let found = instructions::find(&folder, given)
        .map_err(|error| CliError::usage(format!("{error}; name the file of the instructions with --of")))?;
    if found.instructions.name != *name {
        return Err(CliError::usage(format!(
            "{given} are the instructions '{}', and the job was made with '{name}': name the right file with --of",
            found.instructions.name
        )));
    }
    let mut file = read_experiences(&found.experiences)?;
    let beginning = beginning(lesson, known.id());
    let what = if is_approved { "approved" } else { "dropped" };
    let line = format!("{beginning} {what} {} by {})", today(), out::one_line(&args.person));
    file.set(name, &beginning, &line, is_approved);
    write(&found.experiences, &file.render())?;
    out::note(&format!("{what}, in {}", found.experiences.display()));
    Ok(exit::COMPLETED)
}

/// Writes the file completely or not at all.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let beside = path.with_extension("md.new");
    std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path)).map_err(|error| {
        CliError::usage(format!("{} can't be written ({error}): mend its permissions", path.display()))
    })
}
