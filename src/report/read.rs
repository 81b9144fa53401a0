//! Reads the facts of one job, also while it runs. A broken workspace is a fact and no error, so that other jobs are still reported.

use super::facts::{
    FailedAttempts, FileFacts, FileState, JobFacts, JobHolds, JobQueueFacts, NotRead, Recognised, RecordState,
};
use crate::{
    store::JobRow,
    workspace::{
        Workspace, chain,
        journal::{self, JournalError},
        lock::is_worked_on,
    },
};
use overnight_core::job::{
    answered::Answered,
    ending::Ending,
    event::{ConversationEvent, Event, LifeEvent, PersonEvent, ProofEvent},
    failure::FailureKind,
    id::JobId,
    record::{Delivered, HoldReason, JobStatus},
    time::Timestamp,
};
use std::path::PathBuf;

/// The facts that only the journal has.
#[derive(Default)]
struct JournalFacts {
    job: Option<JobId>,
    answered: Answered,
    document_names: Vec<String>,
    not_read: Vec<NotRead>,
    recognised: Vec<Recognised>,
    priced_usd: f64,
    unpriced_turns: u64,
    attempts: Vec<FailedAttempts>,
    holds: Vec<JobHolds>,
    ending: Option<Box<Ending>>,
    last: Option<Timestamp>,
}

/// The location of a job's workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    Here(PathBuf),
    /// It should be here, and is not: one sentence.
    Gone(String),
    /// It is in a workspace store, and not here: one sentence.
    Stored(String),
    /// Another machine has it.
    Elsewhere,
    /// No worker has made it yet.
    NotBegun,
}

/// The facts of the job of `row`, with those of the queue.
pub fn read(row: &JobRow, queue: Option<&JobQueueFacts>, location: &Whereabouts, interrupted: bool) -> JobFacts {
    let is_linked = queue.is_some_and(|queue| queue.same_as.is_some());
    let (journal, record, fault) = match location {
        Whereabouts::Gone(sentence) | Whereabouts::Stored(sentence) => {
            (JournalFacts::default(), RecordState::Gone, Some(sentence.clone()))
        }
        Whereabouts::Elsewhere => (JournalFacts::default(), RecordState::Elsewhere, None),
        Whereabouts::NotBegun => (JournalFacts::default(), RecordState::NotBegun, None),
        Whereabouts::Here(_) if is_linked => (JournalFacts::default(), RecordState::Linked, None),
        Whereabouts::Here(path) => {
            match Workspace::open(path).map_err(|error| error.to_string()).and_then(|root| read_journal(row, &root)) {
                Ok(journal) => (journal, RecordState::Whole, None),
                Err(sentence) => (JournalFacts::default(), RecordState::Broken, Some(sentence)),
            }
        }
    };
    let is_told = record == RecordState::Whole;
    let path = match location {
        Whereabouts::Here(path) => Some(path),
        Whereabouts::Gone(_) | Whereabouts::Stored(_) | Whereabouts::Elsewhere | Whereabouts::NotBegun => None,
    };
    let worked_on = !is_linked && path.is_some_and(|path| is_worked_on(path));
    let workspace = path.and_then(|path| Workspace::open(path).ok());
    let deliverables = files(&row.state.deliverables, workspace.as_ref(), location);
    let JobRow { job, state, .. } = row;
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string();
    let quotes = journal.ending.as_ref().and_then(|ending| ending.quotes.as_ref());
    let without_records = quotes.is_some_and(|quotes| quotes.quotes == 0);
    let ending = journal
        .ending
        .map(|ending| (ending.checks, ending.open_todos, ending.proof, ending.refused_records, ending.doubts));
    let (checks, open_todos, proof, refused_records, doubts) = ending.unwrap_or_default();
    JobFacts {
        id: job.id,
        summary: state.clone(),
        interrupted: interrupted && state.status == JobStatus::Running && !worked_on,
        worked_on,
        instructions: job.instructions.clone(),
        instructions_sha256: job.instructions_sha256.clone(),
        model: job.model.clone(),
        models: journal.answered.models,
        documents: job.documents,
        document_names: journal.document_names,
        not_read: journal.not_read,
        recognised: journal.recognised,
        created: job.created,
        last: journal.last.or(state.completed_at).unwrap_or(row.updated),
        paid: journal.answered.paid,
        priced_usd: state.cost_usd.unwrap_or(journal.priced_usd),
        unpriced_turns: match state.cost_usd {
            Some(_) => Some(0),
            None if is_told => Some(journal.unpriced_turns),
            None => None,
        },
        checks_failed: checks.into_iter().filter(|check| !check.passed).collect(),
        open_todos,
        without_records,
        proof,
        refused_records,
        doubts,
        attempts_failed: journal.attempts,
        holds: journal.holds,
        deliverables,
        workspace: path.map_or_else(|| job.workspace.clone(), absolute),
        packed: workspace.as_ref().is_some_and(Workspace::is_packed),
        record,
        record_fault: fault,
        batch: queue.map(|queue| queue.batch),
        batch_name: queue.and_then(|queue| queue.batch_name.clone()),
        label: queue.map(|queue| queue.label.clone()),
        attempts: queue.map(|queue| queue.attempts),
        max_attempts: queue.map(|queue| queue.max_attempts),
        run_after: queue.and_then(|queue| queue.run_after),
        host: queue.and_then(|queue| queue.host.clone()),
        same_as: queue.and_then(|queue| queue.same_as),
    }
}

/// Reads the journal to its end. It must be this job's, and contain the last line that the database saw.
fn read_journal(row: &JobRow, workspace: &Workspace) -> Result<JournalFacts, String> {
    let (seen, head) = (row.state.journal_seq, row.state.journal_head.as_str());
    let mut journal = JournalFacts::default();
    let read = journal::read(workspace, |line: chain::JournalLine<Event>| {
        if seen > 0 && line.seq == seen + 1 && line.prev != head {
            return Err(format!("it is not the line after line {seen} as the database saw it"));
        }
        journal.last = Some(line.at);
        line.events.into_iter().for_each(|event| journal.on(event));
        Ok(())
    })
    .map_err(|error: JournalError| error.to_string())?;
    let end = read.position;
    if end.seq < seen {
        return Err(format!(
            "the database saw line {seen} of the journal, and it ends at {}: its end was cut off",
            end.seq
        ));
    }
    if seen > 0 && end.seq == seen && end.head != head {
        return Err(format!("the journal's line {seen} is not the one that the database saw"));
    }
    match journal.job {
        Some(id) if id == row.job.id => Ok(journal),
        Some(id) => Err(format!("the folder holds the workspace of job {id}")),
        None => Err("the folder holds no job: its journal is empty".to_owned()),
    }
}

impl JournalFacts {
    fn on(&mut self, event: Event) {
        self.answered.observe(&event);
        match event {
            Event::Life(LifeEvent::JobCreated { spec, .. }) => {
                self.job = Some(spec.id);
                self.not_read = spec.documents.iter().flat_map(NotRead::of).collect();
                self.recognised = spec.documents.iter().flat_map(Recognised::of).collect();
                self.document_names = spec.documents.into_iter().map(|document| document.name).collect();
            }
            Event::Person(PersonEvent::DocumentsAdded { documents, .. }) => {
                self.not_read.extend(documents.iter().flat_map(NotRead::of));
                self.recognised.extend(documents.iter().flat_map(Recognised::of));
                self.document_names.extend(documents.into_iter().map(|document| document.name));
            }
            Event::Proof(ProofEvent::PagesRead { documents, .. }) => {
                let is_of_these = |name: &str| documents.iter().any(|document| document.name == name);
                self.not_read.retain(|known| !is_of_these(&known.document));
                self.recognised.retain(|known| !is_of_these(&known.document));
                self.not_read.extend(documents.iter().flat_map(NotRead::of));
                self.recognised.extend(documents.iter().flat_map(Recognised::of));
            }
            Event::Conversation(ConversationEvent::ModelReplied { cost_usd, .. }) => match cost_usd {
                Some(cost) => self.priced_usd += cost,
                None => self.unpriced_turns += 1,
            },
            Event::Conversation(ConversationEvent::AttemptFailed { kind, wait_ms, .. }) => {
                self.on_attempt(kind, wait_ms);
            }
            Event::Life(LifeEvent::Held { reason, .. }) => self.on_hold(reason),
            Event::Life(LifeEvent::EndingDecided { ending } | LifeEvent::JobEnded { ending }) => {
                self.ending = Some(ending);
            }
            // The decided ending was not accepted.
            Event::Person(PersonEvent::FeedbackGiven { .. }) => self.ending = None,
            _ => {}
        }
    }

    fn on_attempt(&mut self, kind: FailureKind, waited_ms: u64) {
        match self.attempts.iter_mut().find(|attempts| attempts.kind == kind) {
            Some(attempts) => {
                attempts.times += 1;
                attempts.waited_ms = attempts.waited_ms.saturating_add(waited_ms);
            }
            None => self.attempts.push(FailedAttempts { kind, times: 1, waited_ms }),
        }
    }

    fn on_hold(&mut self, reason: HoldReason) {
        match self.holds.iter_mut().find(|holds| holds.reason == reason) {
            Some(holds) => holds.times += 1,
            None => self.holds.push(JobHolds { reason, times: 1 }),
        }
    }
}

/// Each deliverable with its hash compared.
fn files(delivered: &[Delivered], workspace: Option<&Workspace>, location: &Whereabouts) -> Vec<FileFacts> {
    let absent = match location {
        Whereabouts::Elsewhere => FileState::Elsewhere,
        Whereabouts::Stored(_) => FileState::Stored,
        Whereabouts::Here(_) | Whereabouts::Gone(_) | Whereabouts::NotBegun => FileState::Missing,
    };
    let state = |file: &Delivered| match workspace.map(|workspace| workspace.hash(&file.path)) {
        None => absent,
        Some(Ok(found)) if found.sha256 == file.sha256 => FileState::AsDelivered,
        Some(Ok(_)) => FileState::Changed,
        Some(Err(error)) if error.is_not_found() => FileState::Missing,
        Some(Err(_)) => FileState::Unreadable,
    };
    let facts = delivered.iter().map(|file| FileFacts {
        path: file.path.clone(),
        sha256: file.sha256.clone(),
        bytes: file.bytes,
        state: state(file),
    });
    facts.collect()
}
