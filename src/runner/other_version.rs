//! Distinguishes a journal that another version of the program wrote from a damaged one: then nothing is lost, nothing
//! has to be repaired, and the job is not ended.

use super::RunError;
use crate::workspace::{
    Workspace,
    chain::{self, LIVE, LineReader},
    journal::JournalError,
};
use serde_json::Value;

/// This program's version.
const OWN: &str = env!("CARGO_PKG_VERSION");

/// The meaning of an unreadable line: another version's if the lines before it show that, else the `error` itself.
pub(super) fn explain(workspace: &Workspace, error: JournalError) -> RunError {
    let JournalError::Broken { file, line, what } = &error else {
        return error.into();
    };
    match writer(workspace, file, *line) {
        Some(version) => RunError::OtherVersion { file: file.clone(), line: *line, version, what: what.clone() },
        None => error.into(),
    }
}

/// Which other version wrote line `number` of `file`, as the lines up to it say. `None`: this one, or the line is no JSON.
fn writer(workspace: &Workspace, file: &str, number: u64) -> Option<String> {
    let segments = chain::segments(workspace).ok()?;
    let names = segments.iter().map(chain::JournalSegment::journal).chain([LIVE.to_owned()]);
    let mut version: Option<String> = None;
    for name in names {
        let mut lines = LineReader::new(workspace.stream(&name).ok()?.0);
        while let Some(line) = lines.next().ok()? {
            let is_the_line = name == file && line.number == number;
            let value: Value = match serde_json::from_slice(line.bytes) {
                Ok(value) => value,
                Err(_) if is_the_line => return None,
                Err(_) => continue,
            };
            for event in value["events"].as_array().into_iter().flatten() {
                let said = match event["type"].as_str() {
                    Some("job_created") => &event["spec"]["version"],
                    Some("opened") => &event["version"],
                    Some(_) | None => continue,
                };
                version = said.as_str().map(str::to_owned).or(version);
            }
            if is_the_line {
                return version.filter(|version| version != OWN);
            }
        }
    }
    None
}
