//! People's reviews of a result, once the job is held for that or has ended: approvals, corrections, settled findings,
//! feedback, later documents. Each is a fact with a name; only feedback makes the job continue.

use super::effect::{Command, FieldCorrection};
use crate::job::{
    event::{EpochCause, Event, PersonEvent, PlanEvent, ProofEvent, Why},
    finding::{Finding, FindingKind, Settled, Settlement},
    reviewed::{Approval, RecordApproval},
    state::{EarlyEnds, FileWrite, INSTRUCTIONS_FILE, Job, Progress, Status},
    time::Timestamp,
};
use std::sync::Arc;

/// The facts of a command about the result; none if there is no result, or nothing changes.
pub(super) fn on_review(job: &Job, at: Timestamp, command: Command) -> Vec<Event> {
    if !job.has_result() {
        return Vec::new();
    }
    match command {
        Command::Approve { by, comment, seen } => {
            vec![Event::Person(PersonEvent::Approved { by: Some(by), comment, seen })]
        }
        Command::ApproveRecord { file, record, by, comment } => {
            vec![Event::Person(PersonEvent::RecordApproved { file, record, by, comment })]
        }
        Command::Correct(correction) => vec![corrected(job, at, *correction)],
        Command::CorrectionWritten { path } => vec![Event::Plan(PlanEvent::FileWritten { path })],
        Command::Settle { id, reason, by } => {
            let is_open = job.proof.finding(&id).is_some_and(|finding| finding.settled.is_none());
            let settlement = Settlement::Explained { reason };
            is_open.then_some(Event::Proof(ProofEvent::FindingSettled { id, settlement, by })).into_iter().collect()
        }
        Command::Feedback { text, instructions, by } => vec![feedback_given(job, text, instructions, by)],
        Command::AddDocuments { documents, text, instructions, by } => vec![
            Event::Person(PersonEvent::DocumentsAdded { documents, by: Some(by.clone()) }),
            feedback_given(job, text, instructions, by),
        ],
        Command::Open { .. }
        | Command::Choose { .. }
        | Command::ChangeTier { .. }
        | Command::Edited { .. }
        | Command::Hold { .. }
        | Command::Resume { .. }
        | Command::Cancel
        | Command::Fail { .. } => Vec::new(),
    }
}

fn feedback_given(job: &Job, text: String, instructions: String, by: String) -> Event {
    let number = u32::try_from(job.feedback.len()).unwrap_or(u32::MAX).saturating_add(1);
    Event::Person(PersonEvent::FeedbackGiven { number, text, instructions: instructions.into(), by: Some(by) })
}

fn corrected(job: &Job, at: Timestamp, correction: FieldCorrection) -> Event {
    let FieldCorrection { file, place, before, after, path, sha256, quotes, by, comment } = correction;
    let settlement = Settlement::Corrected { before, after };
    let finding = Finding {
        id: format!("c{}", job.reviewed.corrections + 1),
        kind: FindingKind::Correction,
        text: comment.unwrap_or_default(),
        file: Some(file),
        place: Some(place),
        quotes,
        settled: Some(Settled { settlement, by, at }),
        ..Finding::default()
    };
    Event::Person(PersonEvent::FieldCorrected { finding: Box::new(finding), path, sha256 })
}

/// Applies a fact about a person's action.
pub(super) fn apply_review(job: &mut Job, at: Timestamp, event: &PersonEvent) {
    match event {
        PersonEvent::FeedbackGiven { number, text, instructions, by } => {
            job.reviewed.objectors.extend(by.clone());
            job.feedback.push(text.clone());
            instructions.text().clone_into(&mut job.instructions);
            job.writes.push_back(FileWrite { path: INSTRUCTIONS_FILE, text: job.instructions.clone() });
            job.early_ends = EarlyEnds::default();
            job.refusals.counted = 0;
            job.proof.sent_back = job.proof.verdicts.len();
            job.compaction.forced = Some(EpochCause::Feedback);
            // Reviews of a result don't apply to the next one; they are kept with the archive of the first.
            job.reviewed.approvals.clear();
            job.reviewed.records.clear();
            job.proof.findings.retain(|finding| finding.kind != FindingKind::Correction);
            job.status = Status::Running;
            job.ended_at = None;
            let why = Why::Feedback { number: *number, text: text.clone() };
            job.progress = Progress::Archiving { folder: format!("result-{number:02}"), why, ending: None };
        }
        PersonEvent::Approved { by, comment, .. } => {
            job.reviewed.approvals.push(Approval { by: by.clone(), at, comment: comment.clone() });
            if let (Status::Held { .. }, Progress::Closing { approved, .. }) = (&job.status, &mut job.progress) {
                *approved = true;
                job.status = Status::Running;
            }
        }
        PersonEvent::RecordApproved { file, record, by, comment } => job.reviewed.records.push(RecordApproval {
            file: file.clone(),
            record: record.clone(),
            by: by.clone(),
            at,
            comment: comment.clone(),
        }),
        PersonEvent::FieldCorrected { finding, path, .. } => {
            job.reviewed.unwritten = Some(path.clone());
            job.reviewed.corrections += 1;
            job.reviewed.objectors.extend(finding.settled.as_ref().map(|settled| settled.by.clone()));
            job.proof.findings.push(finding.as_ref().clone());
        }
        PersonEvent::DocumentsAdded { documents, .. } => {
            let all = &mut Arc::make_mut(&mut job.spec).documents;
            all.extend_from_slice(documents);
            all.sort_by(|one, other| one.name.cmp(&other.name));
            job.reviewed.documents_added += documents.len();
        }
        PersonEvent::ModelChosen { choice } => {
            job.choice = choice.clone();
            job.compaction.forced = Some(EpochCause::ModelChanged);
        }
        PersonEvent::FilesEdited { memory, .. } => {
            job.memory = memory.as_ref().map(|memory| memory.text().to_owned());
            job.compaction.forced = Some(EpochCause::FilesEdited);
        }
    }
}
