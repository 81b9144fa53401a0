//! The questions of `overnight init`: asked on a terminal, or answered by flags. Each answer is checked when it is given.

use super::{InitArgs, field::TaskField};
use crate::{batch::checked_name, cli::CliError};
use overnight_core::amount::shown;
use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
};

/// The longest sentence and the longest name, in letters.
const MOST_SENTENCE: usize = 400;
const MOST_NAME: usize = 60;
/// Words of the sentence that make a name.
const NAME_WORDS: usize = 4;

/// The answers.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) task: String,
    pub(super) documents: PathBuf,
    /// Empty: the deliverable is a report.
    pub(super) fields: Vec<TaskField>,
    pub(super) quotes_each_field: bool,
    /// Each document has one record, and not more.
    pub(super) is_one_for_each: bool,
    pub(super) model: String,
    pub(super) name: String,
}

impl Answers {
    /// The answers from flags, else from the person at the terminal. `usual` is the model used by default.
    pub(super) fn of(args: &InitArgs, usual: &str) -> Result<Self, CliError> {
        let asks = !args.yes && io::stdin().is_terminal() && io::stderr().is_terminal();
        let task = answered(
            asks,
            args.task.as_deref(),
            "--task",
            "What shall be found or written? One sentence.",
            None,
            sentence,
        )?;
        let documents = args.documents.as_ref().map(|path| path.display().to_string());
        let question = "Which documents? A file or a folder.";
        let documents = answered(asks, documents.as_deref(), "--documents", question, None, existing)?;
        let question = "Which fields has a record? Such as: party, amount:money, due:date?, kind:lease|order, rows:lines(item, \
                        amount:money); '?' where a document may not have it. 'none' for a report.";
        let fields = answered(asks, args.fields.as_deref(), "--fields", question, Some("none"), fields)?;
        let asks_more = asks && !fields.is_empty();
        let question = "Does each field have a quote of its own (yes), or only the record (no)?";
        let quotes_each_field =
            args.quote_each_field || asks_more && answered(true, None, "", question, Some("no"), yes_or_no)?;
        if quotes_each_field {
            quoted_fields(&fields).map_err(|what| CliError::usage(format!("--quote-each-field {what}")))?;
        }
        let question =
            "Does each document have one record, such as a contract, and not more (yes), or any number (no)?";
        let is_one_for_each =
            args.one_per_document || asks_more && answered(true, None, "", question, Some("no"), yes_or_no)?;
        if is_one_for_each && fields.is_empty() {
            return Err(CliError::usage("--one-per-document needs fields: a report has no records"));
        }
        let question = "Which model does the work? openai:NAME, anthropic:NAME, gemini:NAME, ollama:NAME, or offline: \
                        rules that try out a report, and can't find fields.";
        let model = answered(asks, args.model.as_deref(), "--model", question, Some(usual), line)?;
        let name = match &args.name {
            Some(name) => task_name(name).map_err(|what| CliError::usage(format!("--name {what}")))?,
            None => name_of(&task),
        };
        let model = absolute_script(model);
        Ok(Self { task, documents, fields, quotes_each_field, is_one_for_each, model, name })
    }
}

/// The value of `flag`, else an answer to `question`, else `usual`.
fn answered<T>(
    asks: bool,
    typed: Option<&str>,
    flag: &str,
    question: &str,
    usual: Option<&str>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<T, CliError> {
    let of_flag = |text: &str| read(text).map_err(|what| CliError::usage(format!("{flag} {what}")));
    match (typed, usual) {
        (Some(typed), _) => return of_flag(typed),
        (None, Some(usual)) if !asks => return of_flag(usual),
        (None, None) if !asks => {
            return Err(CliError::usage(format!("{flag} is missing: name it, or answer the questions on a terminal")));
        }
        (None, _) => {}
    }
    loop {
        let hint = usual.map(|usual| format!(" [{usual}]")).unwrap_or_default();
        let mut line = String::new();
        let asked = write!(io::stderr(), "{question}{hint}\n> ").and_then(|()| io::stdin().read_line(&mut line));
        if !asked.is_ok_and(|bytes| bytes > 0) {
            return Err(CliError::usage("no answer: nothing was written"));
        }
        let answer = line.trim();
        match read(if answer.is_empty() { usual.unwrap_or_default() } else { answer }) {
            Ok(value) => return Ok(value),
            Err(what) => {
                // Shown to the person at the terminal; a closed stderr is noticed at the next question.
                let _ = writeln!(io::stderr(), "The answer {what}.");
            }
        }
    }
}

fn line(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err("must be one line of text, not empty".to_owned());
    }
    Ok(text.to_owned())
}

fn sentence(text: &str) -> Result<String, String> {
    let text = line(text)?;
    match text.chars().count() {
        letters if letters > MOST_SENTENCE => {
            Err(format!("has {letters} letters, and {MOST_SENTENCE} are the most: more can be written into the file"))
        }
        _ => Ok(text),
    }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "yes" | "y" => Ok(true),
        "no" | "n" => Ok(false),
        _ => Err("must be yes or no".to_owned()),
    }
}

fn existing(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(line(text)?);
    if path.exists() { Ok(path) } else { Err(format!("'{}' names nothing that is there", shown(text.trim()))) }
}

fn fields(text: &str) -> Result<Vec<TaskField>, String> {
    let text = line(text)?;
    if text.eq_ignore_ascii_case("none") {
        return Ok(Vec::new());
    }
    let fields = super::field::fields(&text)?;
    if fields.is_empty() { Err("names no field: write 'none' for a report".to_owned()) } else { Ok(fields) }
}

/// Whether each field can have a quote of its own.
fn quoted_fields(fields: &[TaskField]) -> Result<(), String> {
    let is_there = |name: &String| fields.iter().any(|field| field.name == *name);
    match fields.iter().map(TaskField::quote).find(is_there) {
        Some(name) => Err(format!("makes a field '{name}', which is there already")),
        None if fields.is_empty() => Err("needs fields: a report has quotes by itself".to_owned()),
        None => Ok(()),
    }
}

fn task_name(text: &str) -> Result<String, String> {
    let name = checked_name(text).map_err(|error| error.to_string())?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.len() > MOST_NAME || !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_plain) {
        return Err(format!("'{}' must begin with a letter, and have letters, digits, '-' and '_' only", shown(name)));
    }
    Ok(name.to_owned())
}

/// The first words of a sentence, as a name.
fn name_of(sentence: &str) -> String {
    let words = sentence.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.take(NAME_WORDS).collect::<Vec<_>>().join("-").to_lowercase();
    task_name(&name).unwrap_or_else(|_| "task".to_owned())
}

/// An absolute path, so that a script is found from other folders too.
fn absolute_script(model: String) -> String {
    match model.strip_prefix("scripted:").and_then(|file| std::path::absolute(file).ok()) {
        Some(file) => format!("scripted:{}", file.display()),
        None => model,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_the_sentence() {
        assert_eq!(fields("None"), Ok(vec![]));
        assert_eq!(fields(","), Err("names no field: write 'none' for a report".to_owned()));
        assert_eq!(
            ["Find every obligation of the supplier.", "Ключи"].map(name_of),
            ["find-every-obligation-of", "task"]
        );
    }
}
