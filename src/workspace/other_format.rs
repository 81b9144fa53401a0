//! A workspace that another version of the program made in a form that this one can't read: nothing is damaged, so it is
//! refused as it is, and never repaired.

use super::chain;
use overnight_core::job::{event::Event, spec::FORMAT};
use serde_json::Value;

/// The program that wrote a journal, according to its first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherFormat {
    /// The version of the stored shapes: `spec.format`.
    pub format: u64,
    /// The version of the program; empty if the line states none.
    pub version: String,
    /// The unreadable part, if the format has our number: only before the first release did a format change.
    pub what: Option<String>,
}

impl OtherFormat {
    /// `None`: the line is of this format, or is damaged, or begins no job.
    pub(crate) fn of_line(first_line: &[u8]) -> Option<Self> {
        let (_, line) = chain::parse::<Value>(first_line);
        Self::of_event(line.ok()?.events.first()?)
    }

    /// The same of the first event.
    pub(crate) fn of_event(created: &Value) -> Option<Self> {
        if created["type"] != "job_created" {
            return None;
        }
        let spec = &created["spec"];
        let format = spec["format"].as_u64()?;
        let read = serde_json::from_value::<Event>(created.clone());
        let what = read.err().filter(|_| format == u64::from(FORMAT)).map(|error| error.to_string());
        (format != u64::from(FORMAT) || what.is_some()).then(|| Self {
            format,
            version: spec["version"].as_str().unwrap_or_default().to_owned(),
            what,
        })
    }

    /// One sentence about the workspace in `folder`: its format, ours, and the remedy.
    pub(crate) fn sentence(&self, folder: &str) -> String {
        let Self { format, version, what } = self;
        let which = what.as_ref().map_or_else(String::new, |what| {
            format!(" as it was in another development version (the journal's line 1: {what})")
        });
        format!(
            "the workspace {folder} has format {format}{which}, from overnight {version}, and overnight {} reads format {FORMAT}: work on it with the program that made it, or submit the job anew",
            env!("CARGO_PKG_VERSION")
        )
    }
}
