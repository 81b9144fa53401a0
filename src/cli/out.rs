//! Writes to the terminal: results to stdout, messages to stderr.

use super::CliError;
use crate::{config::LogFormat, runner::now};
use indicatif::ProgressBar;
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
/// The bar at the bottom of the terminal, above which messages are written.
static BAR: OnceLock<ProgressBar> = OnceLock::new();

/// Writes a result. A closed pipe is no error: the reader has all that it wanted.
pub(super) fn result(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(CliError::failed(format!("the result can't be written to stdout ({error})"))),
    }
}

/// Writes a result as indented JSON, streamed: a list may be long.
pub(super) fn json(value: &impl serde::Serialize) -> Result<(), CliError> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let written = serde_json::to_writer_pretty(&mut stdout, value).map_err(io::Error::from);
    match written.and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(CliError::failed(format!("the result can't be written to stdout as JSON ({error})"))),
    }
}

/// Writes the result of a command: `value` as JSON, or the text for a person.
pub(super) fn answer(
    as_json: bool,
    value: &impl serde::Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), CliError> {
    if as_json { json(value) } else { result(&text()) }
}

/// A value as JSON, for requests over HTTP.
pub(super) fn json_text(value: &impl serde::Serialize) -> Result<String, CliError> {
    serde_json::to_string(value).map_err(|error| CliError::failed(format!("it can't be written as JSON ({error})")))
}

/// A list as indented JSON, written one item at a time: the same format as [`json`], without the whole list in memory.
#[derive(Debug, Default)]
pub(super) struct JsonList {
    items: u64,
    /// Its reader has closed the pipe.
    is_closed: bool,
}

impl JsonList {
    pub(super) fn add(&mut self, item: &impl serde::Serialize) -> Result<(), CliError> {
        let item = serde_json::to_string_pretty(item).map_err(|error| Self::failed(&error.into()))?;
        let begin = if self.items == 0 { "[" } else { "," };
        self.items += 1;
        self.write(&format!("{begin}\n  {}", item.replace('\n', "\n  ")))
    }

    pub(super) fn end(mut self) -> Result<(), CliError> {
        self.write(if self.items == 0 { "[]\n" } else { "\n]\n" })?;
        io::stdout().flush().or_else(|error| self.unless_closed(&error))
    }

    fn write(&mut self, text: &str) -> Result<(), CliError> {
        if self.is_closed {
            return Ok(());
        }
        io::stdout().write_all(text.as_bytes()).or_else(|error| self.unless_closed(&error))
    }

    fn unless_closed(&mut self, error: &io::Error) -> Result<(), CliError> {
        self.is_closed = error.kind() == ErrorKind::BrokenPipe;
        if self.is_closed { Ok(()) } else { Err(Self::failed(error)) }
    }

    fn failed(error: &io::Error) -> CliError {
        CliError::failed(format!("the result can't be written to stdout as JSON ({error})"))
    }
}

/// Sets the format of messages. It is global, as stderr is, because the thread that handles signals writes messages too.
pub(super) fn set_format(format: LogFormat) {
    AS_JSON.store(format == LogFormat::Json, Ordering::Relaxed);
}

/// With `is_quiet`, only errors are written to stderr from here on.
pub(super) fn set_quiet(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

pub(super) fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Whether messages are written as JSON.
pub(super) fn is_json() -> bool {
    AS_JSON.load(Ordering::Relaxed)
}

/// Messages that name no job are about this one from here on.
pub(super) fn set_job(job: JobId) {
    // The first one stays: a command works on one job.
    let _ = JOB.set(job);
}

/// Messages are written above this bar from here on.
pub(super) fn set_bar(bar: ProgressBar) {
    let _ = BAR.set(bar);
}

/// How much a message matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LogLevel {
    Info,
    Warn,
    Error,
}

/// A message on stderr.
#[derive(Debug)]
pub(super) struct LogMessage<'s> {
    /// `None`: now.
    pub(super) at: Option<Timestamp>,
    pub(super) level: LogLevel,
    /// The name of the event, for programs.
    pub(super) event: &'static str,
    pub(super) text: &'s str,
    /// The job that it is about; `None`: the one that the command works on, if any.
    pub(super) job: Option<JobId>,
    /// Further fields of the JSON object.
    pub(super) fields: Vec<(&'static str, Value)>,
}

impl<'s> LogMessage<'s> {
    pub(super) fn new(level: LogLevel, event: &'static str, text: &'s str) -> Self {
        Self { at: None, level, event, text, job: None, fields: Vec::new() }
    }
}

/// As a JSON object: `at`, `level`, `job`, `event`, `message`, and the fields.
impl Serialize for LogMessage<'_> {
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

/// Writes a message to stderr. A closed stderr is ignored.
pub(super) fn log(message: &LogMessage<'_>) {
    if is_quiet() && message.level != LogLevel::Error {
        return;
    }
    let line = if is_json() { serde_json::to_string(message).unwrap_or_default() } else { plain(message.text) };
    let write = || {
        let _ = writeln!(io::stderr().lock(), "{line}");
    };
    match BAR.get() {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Writes a message of level info that has only a text.
pub(super) fn note(text: &str) {
    log(&LogMessage::new(LogLevel::Info, "note", text));
}

/// Writes a message of level warn that has only a text.
pub(super) fn warn(text: &str) {
    log(&LogMessage::new(LogLevel::Warn, "warning", &format!("warning: {text}")));
}

/// Writes an error message, in one line.
pub(super) fn error(sentence: &str) {
    let text = one_line(sentence);
    let text = if is_json() { text } else { format!("error: {text}") };
    log(&LogMessage::new(LogLevel::Error, "error", &text));
}

/// `text` without control characters, because models and documents may contribute to it, and without those that turn the
/// direction of the text around them, so that a line could be read as another one
/// ("Trojan Source", CVE-2021-42574: <https://trojansource.codes>).
pub(super) fn plain(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|&c| !(c.is_control() || turns(c)) || matches!(c, '\n' | '\t')).collect()
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
        assert_eq!(plain("a\u{202e}b\u{2067}c\u{200f}שלום"), "abc\u{200f}שלום");
        assert_eq!(one_line(" a\n\n b\u{7}\tc "), "a b c");
    }
}
