//! Small documents come with the first opening: the system reads them before the model is asked, so that one reply can
//! do the whole job. Their texts are results like any other that the model has not answered yet.

use crate::{
    job::{
        call::PendingCall,
        conversation::OWN,
        event::{ConversationEvent, Event},
        read_unit::ReadUnit,
        spec::JobSpec,
        state::Job,
        tool::Tool,
    },
    message::ToolCall,
    prompt::compact,
};
use serde_json::{Value, json};

/// Percent of a part's lines that its reader also sees of the next part, and the least number; of pages it is one.
const SEAM_PERCENT: u64 = 5;
const LEAST_SEAM_LINES: u64 = 10;

/// The reads that come before the first opening, if they are due.
pub(super) fn owed_to_opening(job: &Job) -> Option<Vec<Event>> {
    let own = &job.own;
    let is_read = own.epoch.number > 0 || !own.calls.pending.is_empty() || !own.epoch.unanswered().is_empty();
    (!is_read && compact::are_given(&job.spec)).then(|| {
        let readable = job.spec.documents.iter().filter(|document| document.tokens > 0);
        let calls = read_calls(readable.map(|document| json!({"name": document.name})));
        vec![Event::Conversation(ConversationEvent::DocumentsGiven { conversation: OWN, calls })]
    })
}

/// The calls by which the system reads for an opening, each with these arguments.
pub(super) fn read_calls(arguments: impl Iterator<Item = Value>) -> Vec<PendingCall> {
    let call = |(place, arguments): (usize, Value)| ToolCall {
        id: format!("call_0_{}", place + 1),
        name: Tool::ReadDocument.name().to_owned(),
        arguments,
    };
    arguments.enumerate().map(call).map(PendingCall::new).collect()
}

/// The calls by which the text of a reader's part comes into its opening.
pub(super) fn reads_of(spec: &JobSpec, units: &[ReadUnit]) -> Vec<PendingCall> {
    let arguments = |unit: &ReadUnit| json!({"name": unit.document, "from": unit.from, "to": shown_to(spec, unit)});
    read_calls(units.iter().map(arguments))
}

/// The last page or line of a part that its reader sees: a little more than its own, so that nothing is lost at a seam.
pub fn shown_to(spec: &JobSpec, unit: &ReadUnit) -> u64 {
    let Some(document) = spec.document(&unit.document) else { return unit.to };
    let more = if document.paged { 1 } else { ((unit.to - unit.from) * SEAM_PERCENT / 100).max(LEAST_SEAM_LINES) };
    (unit.to + more).min(document.units)
}
