//! Files that follow from the journal: they are expected to be as its state says, and need not be shown.

use super::{mask::Mask, tree::Tree};
use overnight::workspace::{
    Workspace,
    archive_manifest::{ArchiveManifest, ArchiveMeta, MANIFEST},
    chain, journal,
};
use overnight_core::{
    job::{
        event::{Decision, Event, PhaseEvent, ToolEvent},
        state::{INSTRUCTIONS_FILE, Job, PROGRESS_FILE, SUMMARY_FILE, TODOS_FILE},
    },
    prompt::{
        summary::{self, FileEntry},
        todo_board,
    },
};
use regex::Regex;
use std::{collections::BTreeMap, path::Path};

/// The texts of such files by path, masked. Where a file is otherwise, it is to be shown.
pub(crate) fn files(path: &Path, tree: &Tree, mask: &Mask) -> Result<BTreeMap<String, String>, String> {
    let workspace = Workspace::open(path).map_err(|error| error.to_string())?;
    let mut files = BTreeMap::new();
    let mut job: Option<Job> = None;
    // The state from which the summary was made last.
    let mut summarised: Option<Job> = None;
    let mut follow = |line: chain::JournalLine<Event>| {
        let decision = Decision { at: line.at, events: line.events };
        let before = job.clone();
        let now = match job.take() {
            Some(mut job) => {
                job.apply_all(&decision);
                job
            }
            None => Job::begin(&decision).ok_or("the journal does not begin a job")?,
        };
        for event in &decision.events {
            if matches!(event, Event::Phase(PhaseEvent::SummaryWritten { .. }))
                || matches!(event, Event::Tool(ToolEvent::ToolReturned { name, .. }) if name == "generate_workspace_summary")
            {
                summarised.clone_from(&before);
            }
            if let Event::Phase(PhaseEvent::PhaseEnded { why, folder }) = event {
                let folder_path = format!("archive/{folder}/");
                let mut put = |name: &str, text: &str| files.insert(format!("{folder_path}{name}"), mask.text(text));
                put(TODOS_FILE, &todo_board::file(&now));
                now.plan.as_ref().map(|plan| put("main_plan.md", plan.text()));
                summarised
                    .as_ref()
                    .and_then(|job| summarise(job, tree, &folder_path))
                    .map(|text| put(SUMMARY_FILE, &text));
                // Its files, hashes and outputs are for verifying to check.
                let is_of_phase = |found: &ArchiveManifest| {
                    let meta = ArchiveMeta {
                        folder: folder.clone(),
                        phase: now.phase.number,
                        kind: now.phase.kind.name().to_owned(),
                        title: now.phase.title.clone(),
                        attempt: now.phase.attempt,
                        outcome: why.outcome().to_owned(),
                        issue: why.issue().map(str::to_owned),
                        ended: found.meta.ended,
                    };
                    found.meta == meta
                };
                let manifest = format!("{folder_path}{MANIFEST}");
                let bytes = tree
                    .bytes(&manifest)
                    .filter(|bytes| ArchiveManifest::parse(bytes).is_ok_and(|found| is_of_phase(&found)));
                bytes.map(|bytes| files.insert(manifest.clone(), mask.file(&manifest, bytes)));
            }
        }
        job = Some(now);
        Ok(())
    };
    journal::read(&workspace, &mut follow).map_err(|error| error.to_string())?;
    let job = job.ok_or("there is no job")?;
    files.insert(TODOS_FILE.to_owned(), mask.text(&todo_board::file(&job)));
    files.insert(PROGRESS_FILE.to_owned(), mask.text(&summary::progress(&job)));
    files.insert(INSTRUCTIONS_FILE.to_owned(), mask.text(&job.instructions));
    summarised
        .and_then(|job| summarise(&job, tree, ""))
        .map(|text| files.insert(SUMMARY_FILE.to_owned(), mask.text(&text)));
    Ok(files)
}

/// The summary of that state, for the files that the one in `folder` lists.
fn summarise(job: &Job, tree: &Tree, folder: &str) -> Option<String> {
    let row = Regex::new(r"(?m)^\| (.*) \((\d+) bytes\) \|").ok()?;
    let text = String::from_utf8_lossy(tree.bytes(&format!("{folder}{SUMMARY_FILE}"))?).into_owned();
    let files: Vec<FileEntry> = row
        .captures_iter(&text)
        .filter_map(|found| {
            let path = found[1].replace("\\|", "|");
            Some(FileEntry { path, bytes: found[2].parse().ok()?, modified: job.last_at })
        })
        .collect();
    Some(summary::workspace_summary(job, job.last_at, &files))
}
