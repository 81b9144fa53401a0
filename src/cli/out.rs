//! What is written to the terminal: results to stdout, talk to stderr.

use super::CliError;
use crate::{config::LogFormat, runner::now};
use overnight_core::job::{id::JobId, time::Timestamp};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;
use std::{
    io::{self, ErrorKind, Write},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

static AS_JSON: AtomicBool = AtomicBool::new(false);
static IS_QUIET: AtomicBool = AtomicBool::new(false);
static JOB: OnceLock<JobId> = OnceLock::new();

/// Writes a result. A reader that has gone away is no error: it has seen what it wanted.
pub(super) fn result(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(CliError::failed(format!("the result can't be written to stdout ({error})"))),
    }
}

/// Writes a result as indented JSON.
pub(super) fn json(value: &impl serde::Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| CliError::failed(format!("the result can't be written as JSON ({error})")))?;
    result(&format!("{text}\n"))
}

/// Sets the form of what is told on stderr. Told of by every command before it speaks, and by the thread that hears signals:
/// so it is the process's, as stderr is.
pub(super) fn speak(format: LogFormat) {
    AS_JSON.store(format == LogFormat::Json, Ordering::Relaxed);
}

/// Only errors are told on stderr from here on.
pub(super) fn hush(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

pub(super) fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Whether what is told on stderr is for programs.
pub(super) fn is_json() -> bool {
    AS_JSON.load(Ordering::Relaxed)
}

/// From here on, all that is told without another job's name is about this one.
pub(super) fn about(job: JobId) {
    // The first one stays: a command works on one job.
    let _ = JOB.set(job);
}

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Info,
    Warn,
    Error,
}

/// Something that is told on stderr.
#[derive(Debug)]
pub(super) struct Said<'s> {
    /// Now, where none is given.
    pub(super) at: Option<Timestamp>,
    pub(super) level: Level,
    /// What happened, in one word for programs.
    pub(super) event: &'static str,
    pub(super) text: &'s str,
    /// Which job it is about; none: the one that the command works on, where it works on one.
    pub(super) job: Option<JobId>,
    /// What a program may want to know of it.
    pub(super) fields: Vec<(&'static str, Value)>,
}

impl<'s> Said<'s> {
    pub(super) fn new(level: Level, event: &'static str, text: &'s str) -> Self {
        Self { at: None, level, event, text, job: None, fields: Vec::new() }
    }
}

/// As a JSON object: `at`, `level`, `job`, `event`, `message`, and the fields.
impl Serialize for Said<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("at", &self.at.unwrap_or_else(now))?;
        map.serialize_entry("level", &self.level)?;
        map.serialize_entry("job", &self.job.as_ref().or_else(|| JOB.get()))?;
        map.serialize_entry("event", self.event)?;
        map.serialize_entry("message", &one_line(self.text))?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Says something on stderr. Nobody listening is no reason to stop.
pub(super) fn say(said: &Said<'_>) {
    if is_quiet() && said.level != Level::Error {
        return;
    }
    let line = if is_json() { serde_json::to_string(said).unwrap_or_default() } else { plain(said.text) };
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Says something that needs no more than words.
pub(super) fn talk(text: &str) {
    say(&Said::new(Level::Info, "note", text));
}

/// Tells what went wrong, in one line.
pub(super) fn error(sentence: &str) {
    let text = one_line(sentence);
    let text = if is_json() { text } else { format!("error: {text}") };
    say(&Said::new(Level::Error, "error", &text));
}

/// `text` without what a terminal would obey: models and documents have a say in it.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// `text` in one line.
pub(super) fn one_line(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        assert_eq!(plain("a\u{1b}[31mb\u{9b}c\r\nd\te"), "a[31mbc\nd\te");
        assert_eq!(one_line(" a\n\n b\u{7}\tc "), "a b c");
    }
}
