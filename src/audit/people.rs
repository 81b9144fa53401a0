//! The actions of people on a job, as recorded in its journal: who, when, what, and with which comment.

use overnight_core::job::{
    event::{Event, PersonEvent, ProofEvent},
    finding::{BY_MODEL, Settlement},
    state::Job,
    time::Timestamp,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Who stands in the journal without a name.
const SOMEBODY: &str = "a person";

/// One thing that a person did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PersonAct {
    pub at: Timestamp,
    /// The given name.
    pub who: String,
    /// `approved the result`.
    pub what: String,
    pub comment: Option<String>,
    /// The phase at that time, or the last one.
    pub phase: u32,
}

impl PersonAct {
    /// `Ada approved the result: read it all`.
    pub fn told(&self) -> String {
        let comment = self.comment.as_ref().map(|comment| format!(": {comment}")).unwrap_or_default();
        format!("{} {}{comment}", self.who, self.what)
    }

    /// The act of a person that `event` records, if it records one; `job` is the state before it.
    pub(super) fn of(job: &Job, at: Timestamp, event: &Event) -> Option<Self> {
        let (who, what, comment) = match event {
            Event::Person(PersonEvent::Approved { by, comment, seen }) => {
                let seen = seen.as_ref().map(|seen| format!(" {}", seen.told())).unwrap_or_default();
                (name(by.as_ref()), format!("approved the result{seen}"), comment.clone())
            }
            Event::Person(PersonEvent::RecordApproved { file, record, by, comment }) => {
                (by.as_str(), format!("approved the record {record} of {file}"), comment.clone())
            }
            Event::Person(PersonEvent::FieldCorrected { finding, path, .. }) => {
                let (place, file) = (finding.place.as_deref().unwrap_or("?"), finding.file.as_deref().unwrap_or("?"));
                let settled = finding.settled.as_ref();
                let change = settled.map(|settled| settled.settlement.told()).unwrap_or_default();
                let what = format!("corrected {place} of {file} ({}): {change}; in {path}", finding.id);
                let comment = Some(finding.text.clone()).filter(|text| !text.is_empty());
                (settled.map_or(SOMEBODY, |settled| settled.by.as_str()), what, comment)
            }
            Event::Person(PersonEvent::DocumentsAdded { documents, by }) => {
                let names: Vec<&str> = documents.iter().map(|document| document.name.as_str()).collect();
                (name(by.as_ref()), format!("added documents: {}", names.join(", ")), None)
            }
            Event::Person(PersonEvent::FeedbackGiven { number, text, by, .. }) => {
                (name(by.as_ref()), format!("sent the job back (feedback {number})"), Some(text.clone()))
            }
            Event::Proof(ProofEvent::FindingSettled { id, settlement, by }) if by != BY_MODEL => {
                let why = match settlement {
                    Settlement::Explained { reason } => Some(reason.clone()),
                    Settlement::Added
                    | Settlement::Dropped
                    | Settlement::JudgedAgain
                    | Settlement::Corrected { .. } => None,
                };
                (by.as_str(), format!("settled finding {id}"), why)
            }
            Event::Person(PersonEvent::ModelChosen { choice }) => {
                (SOMEBODY, format!("chose the model {}", choice.model), None)
            }
            Event::Person(PersonEvent::FilesEdited { files, .. }) => {
                (SOMEBODY, format!("edited {}", files.join(", ")), None)
            }
            _ => return None,
        };
        Some(Self { at, who: who.to_owned(), what, comment, phase: job.phase.number })
    }
}

fn name(by: Option<&String>) -> &str {
    by.map_or(SOMEBODY, String::as_str)
}
