//! `overnight init`: a folder for a task of one's own, with instructions, schema and settings, tried on three documents.
//! Everything is checked before anything is written, and nothing is overwritten.

mod field;
mod files;
mod questions;
mod trial;

use super::{CliError, exit, job_request, out, progress::counted, run, run::RunArgs, server};
use crate::{
    config::{FILE, Flags, Settings},
    runner::RunError,
};
use files::TaskFiles;
use questions::Answers;
use std::{
    fmt::Write as _,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The documents of a trial.
const TRIAL: usize = 3;

const EXAMPLES: &str = "\
Examples:
  overnight init                                   asks what it needs, in the current folder
  overnight init obligations --task \"Find every obligation of the supplier.\" --documents contracts/ \\
      --fields \"party, duty, amount:money?, due:date?\" --model openai:gpt-6-sol
  overnight init leases --task \"Record the terms of each lease.\" --documents leases/ --one-per-document \\
      --quote-each-field --fields \"tenant, kind:flat|shop, start:date, rent:money, rooms:lines(name, area:number)\"
  overnight init digest --task \"Say what these reports agree on.\" --documents reports/ --yes

A field is a text, or NAME:KIND: number, integer, money, date, yes/no, list (of texts), a|b|c (one of
these) or lines(NAME:KIND, …), a list of objects. A '?' behind it says that a document may not have it: it
is null then. With 'none' the result is a report, and its evidence a list of quotes. A record has one
quote, which is checked; with --quote-each-field each of its fields has one, for a record of each contract,
whose fields stand in many places. A folder may have several tasks: its settings stay as they are. The exit
code is that of the trial, a job on three documents; --no-trial skips it.";

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_help = EXAMPLES)]
pub(super) struct InitArgs {
    /// Folder for the files, made where it is missing
    #[arg(value_name = "FOLDER", default_value = ".", hide_default_value = true)]
    folder: PathBuf,
    /// What shall be found or written, in one sentence
    #[arg(long, value_name = "SENTENCE")]
    task: Option<String>,
    /// File or folder to work on
    #[arg(long, short, value_name = "PATH")]
    documents: Option<PathBuf>,
    /// What a record has, such as 'party, amount:money, due:date?'; 'none' for a report
    #[arg(long, value_name = "LIST")]
    fields: Option<String>,
    /// Each document has one record, and not more
    #[arg(long)]
    one_per_document: bool,
    /// Give each field a quote of its own, beside that of the record
    #[arg(long)]
    quote_each_field: bool,
    /// Who does the work: offline, openai:NAME, anthropic:NAME, gemini:NAME or ollama:NAME
    #[arg(long, short, value_name = "MODEL")]
    model: Option<String>,
    /// What the task is called [default: the first words of its sentence]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Ask nothing: what no flag says is as usual
    #[arg(long, short)]
    yes: bool,
    /// Write the files, and try nothing
    #[arg(long)]
    no_trial: bool,
}

pub(super) async fn run(flags: Flags, args: &InitArgs) -> Result<u8, CliError> {
    let usual = super::settings(&flags)?.model.value;
    let answers = Answers::of(args, usual.as_deref().unwrap_or(job_request::DEFAULT_MODEL))?;
    let settings = super::settings(&Flags { model: Some(answers.model.clone()), ..flags.clone() })?;
    let files = TaskFiles::of(&answers, is_inside(&args.folder, &answers.documents))?;
    files.checked()?;
    let target = server::Target::new(&answers.model, &settings);
    let opened = server::without_jobs(&settings, &server::Target { is_never_called: args.no_trial, ..target });
    opened.map_err(|error| {
        let hint = if args.no_trial { "" } else { "; --no-trial writes the files all the same" };
        CliError { message: format!("{error}{hint}"), ..error }
    })?;
    let (tried, all) = trial_documents(&settings, &answers.documents)?;

    let written = write(&args.folder, &files)?;
    out::result(&format!("written: {}\n", written.join(", ")))?;
    if !args.no_trial && answers.model == job_request::DEFAULT_MODEL && !answers.fields.is_empty() {
        out::note(
            "no trial: the rules of offline can't find fields; name a model, then `overnight submit … --each --trial 3`",
        );
        out::result(&next(&args.folder, &answers, false))?;
        return Ok(exit::COMPLETED);
    }
    if args.no_trial {
        out::result(&next(&args.folder, &answers, false))?;
        return Ok(exit::COMPLETED);
    }
    if tried.is_empty() {
        out::note(
            "no trial: the documents are all inside archives; `overnight submit … --each --trial 3` tries three of them",
        );
        out::result(&next(&args.folder, &answers, false))?;
        return Ok(exit::COMPLETED);
    }
    out::note(&format!("a trial on {}:", counted(tried.len() as u64, "document")));
    let instructions = args.folder.join(&files.instructions.0).display().to_string();
    let flags = Flags { config: Some(args.folder.join(FILE)), ..flags };
    let number = tried.len() as u64;
    let ended = Box::pin(run::run(flags.clone(), &RunArgs::of(instructions, tried))).await;
    if let Some(told) = Box::pin(trial::forecast(flags, number, all)).await {
        out::note(&told);
    }
    out::result(&next(&args.folder, &answers, true))?;
    ended
}

/// Whether the folder is inside the documents' folder, or will be once it is created.
fn is_inside(folder: &Path, documents: &Path) -> bool {
    let Ok(documents) = documents.canonicalize() else { return false };
    let there = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let there = there.ancestors().find_map(|part| part.canonicalize().ok());
    documents.is_dir() && there.is_some_and(|there| there.starts_with(documents))
}

/// The first files among the documents, and how many documents there are.
fn trial_documents(settings: &Settings, documents: &Path) -> Result<(Vec<PathBuf>, u64), CliError> {
    let extractor = super::documents::extractor(settings)?.with_read_only_cache();
    let own = super::documents::own(settings)?;
    let found = overnight_documents::survey(&[documents.to_owned()], &|_| true, &own, &extractor);
    let found = found.map_err(RunError::from)?;
    if found.documents.is_empty() {
        let shown = out::one_line(&documents.display().to_string());
        return Err(CliError::usage(format!("there is no document in {shown}: name another file or folder")));
    }
    let all = found.documents.iter().filter(|document| document.fault.is_none()).count() as u64;
    let files = found.documents.into_iter().filter(|document| document.inside.is_empty() && document.fault.is_none());
    Ok((files.take(TRIAL).map(|document| document.path).collect(), all))
}

/// Writes the files of the task, none of which may exist, and the folder's missing files. Returns their paths.
fn write(folder: &Path, files: &TaskFiles) -> Result<Vec<String>, CliError> {
    let mut all: Vec<(PathBuf, &str)> = files.of_task().map(|(path, text)| (folder.join(path), text)).collect();
    let shown = |path: &Path| out::one_line(&path.strip_prefix(".").unwrap_or(path).display().to_string());
    if let Some((there, _)) = all.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        return Err(CliError::usage(format!(
            "{} is there already, and nothing is overwritten: name another folder, such as `overnight init FOLDER`",
            shown(there)
        )));
    }
    let of_folder = files.of_folder().map(|(path, text)| (folder.join(path), text));
    all.extend(of_folder.filter(|(path, _)| path.symlink_metadata().is_err()));
    let write = |path: &Path, text: &str| -> io::Result<()> {
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::File::create_new(path)?.write_all(text.as_bytes())
    };
    for (path, text) in &all {
        write(path, text).map_err(|error| {
            CliError::usage(format!("{} can't be written ({error}): name a folder of yours", shown(path)))
        })?;
    }
    Ok(all.iter().map(|(path, _)| shown(path)).collect())
}

/// The next commands to type.
fn next(folder: &Path, answers: &Answers, is_tried: bool) -> String {
    let Answers { name, documents, model, .. } = answers;
    let is_here = folder == Path::new(".");
    let documents =
        if is_here { documents.clone() } else { std::path::absolute(documents).unwrap_or(documents.clone()) };
    let documents = quoted(&documents.display().to_string());
    let table = if answers.fields.is_empty() { "csv" } else { "xlsx" };
    let mut lines = Vec::new();
    if !is_here {
        lines.push((format!("cd {}", quoted(&folder.display().to_string())), ""));
    }
    if is_tried {
        lines.push((
            "overnight show last".to_owned(),
            "what the trial brought; change the task where it is not what you want",
        ));
    }
    if model == job_request::DEFAULT_MODEL {
        lines.push((
            "overnight models".to_owned(),
            "offline is only rules: name a model in overnight.yaml, and put its key into the environment",
        ));
    }
    let submit = format!("overnight submit {name} --documents {documents} --each --batch {name}");
    lines.push((format!("{submit} --dry-run"), "what it may cost"));
    lines.push((submit, ""));
    lines.push(("overnight work --until-empty".to_owned(), "all night long"));
    lines.push((format!("overnight report {name}"), "in the morning"));
    lines.push((format!("overnight export {name} -o {name}.{table}"), ""));
    let mut text = "next:\n".to_owned();
    for (line, why) in lines {
        let _ = writeln!(text, "  {line}{}{why}", if why.is_empty() { "" } else { "    # " });
    }
    text
}

/// Quotes the text as one shell word.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./+,:@".contains(letter);
    let text = out::plain(text);
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
