//! Computes each file's expected hash from the journal's events, given in order. Pure: it compares nothing itself.

use crate::workspace::known_path::Folder;
use overnight_core::job::{
    digest::sha256,
    ending::Ending,
    event::{
        CallEnd, ConversationEvent, Event, LifeEvent, PersonEvent, PlanEvent, PreparedWrite, ProofEvent, ToolEvent,
        ToolResult,
    },
    part::Part,
    spec::JobSpec,
    state::{INSTRUCTIONS_FILE, MEMORY_FILE, PLAN_FILE, QUOTES_FILE},
};
use std::collections::{BTreeMap, BTreeSet};

/// The events that concern files, and those with texts that others may refer to. Others are skipped, so an event that
/// is unknown to this version is no obstacle.
const KINDS: [&str; 19] = [
    "job_created",
    "archive_stored",
    "files_examined",
    "plan_read",
    "plan_saved",
    "plan_set",
    "memory_saved",
    "files_edited",
    "epoch_opened",
    "file_written",
    "model_replied",
    "tool_started",
    "tool_returned",
    "feedback_given",
    "field_corrected",
    "documents_added",
    "pages_read",
    "ending_decided",
    "job_ended",
];

/// Stands for a call that wrote a file with corrections: no call of a model has this name.
const CORRECTION: &str = "(correction)";

/// Whether an event of this type must be given to [`ExpectedFiles::on`].
pub(super) fn concerns_files(kind: &str) -> bool {
    KINDS.contains(&kind)
}

/// The hashes that a file may have; `None`: the file is absent. The first is that of the file on disk, the next ones those of the writes that
/// were requested since, in order, and may or may not have happened.
#[derive(Debug)]
pub(super) struct ExpectedHashes(Vec<Option<String>>);

impl ExpectedHashes {
    fn absent() -> Self {
        Self(vec![None])
    }

    pub(super) fn set(&mut self, hash: Option<String>) {
        self.0 = vec![hash];
    }

    fn expect_write(&mut self, hash: String) {
        self.0.push(Some(hash));
    }

    fn on_written(&mut self) {
        if self.0.len() > 1 {
            self.0.remove(0);
        }
    }

    /// Whether no requested write is pending.
    pub(super) fn is_settled(&self) -> bool {
        self.0.len() == 1
    }

    pub(super) fn has(&self, hash: Option<&str>) -> bool {
        self.0.iter().any(|known| known.as_deref() == hash)
    }
}

/// The files written to the folders that manifests cover, during one archive's part of the journal.
#[derive(Debug, Default)]
pub(super) struct ResultHashes {
    /// Path → SHA-256.
    pub written: BTreeMap<String, String>,
    /// SHA-256 of the results of interrupted calls, which may have been written or not.
    pub cut_off: BTreeSet<String>,
}

/// The facts about files in the events read so far.
#[derive(Debug)]
pub(super) struct ExpectedFiles {
    /// `spec_sha256` of `job_created`, and the job's specification.
    pub spec: Option<(String, Box<JobSpec>)>,
    pub task: ExpectedHashes,
    pub plan: ExpectedHashes,
    pub memory: ExpectedHashes,
    /// What was written to `output/` and `tool_results/` since the last archive.
    pub results: ResultHashes,
    /// Path → SHA-256 of all other files of the model, and of the file with the places of quotes.
    pub own: BTreeMap<String, String>,
    /// Calls without a result so far: they may have taken effect before a crash.
    pub open_calls: BTreeSet<String>,
    started: BTreeMap<String, PreparedWrite>,
    /// Path → SHA-256 of all files of the model, except plan and memory, which a person may edit.
    known: BTreeMap<String, String>,
    /// SHA-256 of the results of interrupted calls in the whole job, which may have been written or not.
    cut_off: BTreeSet<String>,
    pub has_ended: bool,
}

impl ExpectedFiles {
    pub(super) fn new() -> Self {
        Self {
            spec: None,
            task: ExpectedHashes::absent(),
            plan: ExpectedHashes::absent(),
            memory: ExpectedHashes::absent(),
            results: ResultHashes::default(),
            own: BTreeMap::new(),
            open_calls: BTreeSet::new(),
            started: BTreeMap::new(),
            known: BTreeMap::new(),
            cut_off: BTreeSet::new(),
            has_ended: false,
        }
    }

    /// Whether there are interrupted calls.
    pub(super) fn has_cut_off(&self) -> bool {
        !self.started.is_empty()
    }

    /// Whether `hash` is that of a file as an interrupted call found or left it.
    pub(super) fn is_cut_off(&self, hash: &str) -> bool {
        self.started.values().any(|prepared| prepared.after == hash || prepared.before.as_deref() == Some(hash))
    }

    /// Applies an event. `Some`: the path of a file that was not as the journal knew it when a call began to change it.
    pub(super) fn on(&mut self, event: Event) -> Option<String> {
        match event {
            Event::Life(LifeEvent::JobCreated { spec_sha256, spec, .. }) if self.spec.is_none() => {
                self.task.set(Some(sha256(spec.task_text().as_bytes())));
                for (path, sha256) in spec.earlier.iter().flat_map(|earlier| &earlier.files) {
                    self.wrote(path.clone(), sha256.clone());
                }
                for image in spec.scans.iter().map(|page| &page.image) {
                    self.wrote(image.path(), image.sha256.clone());
                }
                self.spec = Some((spec_sha256, spec));
            }
            Event::Plan(PlanEvent::FilesExamined { files }) => {
                self.plan.set(files.plan.as_ref().map(Part::sha256));
                self.memory.set(files.memory.as_ref().map(Part::sha256));
            }
            Event::Person(PersonEvent::FilesEdited { memory, .. }) => self.memory.set(memory.map(|text| text.sha256())),
            Event::Plan(PlanEvent::PlanRead { text, .. }) => self.plan.set(Some(text.sha256())),
            Event::Plan(PlanEvent::PlanSet { text, .. }) => self.plan.expect_write(text.sha256()),
            Event::Person(PersonEvent::FeedbackGiven { instructions, .. }) => {
                self.task.expect_write(instructions.sha256());
                self.has_ended = false;
                // The file is rewritten at the next check, and recorded again at the next ending.
                self.own.remove(QUOTES_FILE);
            }
            Event::Plan(PlanEvent::FileWritten { path }) => match path.as_str() {
                PLAN_FILE => self.plan.on_written(),
                INSTRUCTIONS_FILE => self.task.on_written(),
                _ => {
                    if let Some(prepared) = self.started.remove(CORRECTION) {
                        self.wrote(path, prepared.after);
                    }
                }
            },
            // Until an event says that the file was written, it may be there or not.
            Event::Person(PersonEvent::FieldCorrected { path, sha256, .. }) => {
                let before = self.known.get(&path).cloned();
                self.started.insert(
                    CORRECTION.to_owned(),
                    PreparedWrite { before, after: sha256, records: None, mended: Vec::new() },
                );
            }
            Event::Person(PersonEvent::DocumentsAdded { documents, .. }) => {
                if let Some((_, spec)) = &mut self.spec {
                    spec.documents.extend(documents);
                }
            }
            Event::Proof(ProofEvent::PagesRead { documents, .. }) => {
                let Some((_, spec)) = &mut self.spec else { return None };
                for document in documents {
                    if let Some(known) = spec.documents.iter_mut().find(|known| known.name == document.name) {
                        *known = document;
                    }
                }
                spec.scans.clear();
            }
            Event::Conversation(ConversationEvent::ModelReplied { conversation, calls, .. }) => {
                // While a sub-agent works, the job's own calls wait.
                if conversation == overnight_core::job::conversation::OWN {
                    self.open_calls.clear();
                    self.started.clear();
                }
                self.open_calls.extend(calls.into_iter().map(|call| call.said.id));
            }
            Event::Tool(ToolEvent::ToolStarted { call, prepared, .. }) => {
                self.started.insert(call, prepared);
            }
            Event::Tool(ToolEvent::ToolReturned { call, result, .. }) => return self.on_returned(&call, result),
            Event::Life(LifeEvent::EndingDecided { ending }) => self.on_ending(&ending),
            Event::Life(LifeEvent::JobEnded { ending }) => {
                self.on_ending(&ending);
                self.has_ended = true;
            }
            _ => {}
        }
        None
    }

    fn on_ending(&mut self, ending: &Ending) {
        if let Some(quotes) = &ending.quotes {
            self.own.insert(quotes.path.clone(), quotes.sha256.clone());
        }
    }

    fn on_returned(&mut self, call: &str, result: ToolResult) -> Option<String> {
        let changed = result.changed.as_ref().zip(self.started.get(call));
        let strange = changed.filter(|(changed, prepared)| self.is_strange(&changed.path, prepared));
        let strange = strange.map(|(changed, _)| changed.path.clone());
        match result.end {
            CallEnd::Done | CallEnd::Failed | CallEnd::Refused => {
                self.open_calls.remove(call);
                self.started.remove(call);
            }
            // A call that was interrupted and never resumed may have finished, or not.
            CallEnd::Skipped | CallEnd::Interrupted => {
                let after = self.started.get(call).map(|prepared| prepared.after.clone());
                self.results.cut_off.extend(after.clone());
                self.cut_off.extend(after);
            }
        }
        if let Some(changed) = result.changed {
            self.wrote(changed.path, changed.sha256);
        }
        for image in result.images {
            self.wrote(image.path(), image.sha256);
        }
        if let Some(spilled) = result.spilled {
            self.wrote(spilled.path, spilled.sha256);
        }
        strange
    }

    /// Whether a call found the file in a state that differs from the journal's.
    fn is_strange(&self, path: &str, prepared: &PreparedWrite) -> bool {
        let (known, found) = (self.known.get(path), prepared.before.as_ref());
        let is_cut_off = found.is_some_and(|found| self.cut_off.contains(found));
        ![PLAN_FILE, MEMORY_FILE].contains(&path) && known != found && !is_cut_off
    }

    fn wrote(&mut self, path: String, hash: String) {
        self.known.insert(path.clone(), hash.clone());
        match path.as_str() {
            PLAN_FILE => self.plan.set(Some(hash)),
            MEMORY_FILE => self.memory.set(Some(hash)),
            _ if is_result(&path) => drop(self.results.written.insert(path, hash)),
            _ => drop(self.own.insert(path, hash)),
        }
    }
}

/// Whether manifests contain the hash of the file at `path`.
fn is_result(path: &str) -> bool {
    path.split_once('/').is_some_and(|(folder, _)| {
        [Folder::Output, Folder::ToolResults].into_iter().any(|results| results.name() == folder)
    })
}
