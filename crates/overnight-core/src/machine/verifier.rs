//! The verifier's verdict, and its effect on the completion that waits for it.

use super::{
    answers::{in_conversation, refusal, returned, skipped_of},
    proof,
};
use crate::{
    answer,
    job::{
        arguments::{Fault, GiveVerdict, Judgement},
        call::{ControlCall, ParsedCall},
        conversation::{Conversation, MOST_ASKED},
        event::{CallEnd, ConversationEvent, Event, ProofEvent},
        finding::{Finding, FindingKind, Settlement},
        proof::Verdict,
        second_reading::QuoteSpan,
        state::Job,
        sub_agent_role::{SubAgentEnd, SubAgentRole},
    },
};

/// The place of a fault's quote, or what is wrong with the quote.
pub type FoundQuote = Result<QuoteSpan, String>;

/// The quotes of the waiting verdict were looked for: one result for each fault that has a quote.
pub(super) fn on_quotes_found(job: &Job, sub_agent: &Conversation, found: &[Option<FoundQuote>]) -> Vec<Event> {
    let Some(pending) = sub_agent.calls.pending.front() else { return Vec::new() };
    let (ParsedCall::Control(ControlCall::Verdict(given)), Some(SubAgentRole::Verifier { round })) =
        (&pending.call, &sub_agent.role)
    else {
        return Vec::new();
    };
    let wrong: Vec<String> = (1..)
        .zip(found)
        .filter_map(|(number, found): (u32, _)| match found {
            Some(Err(what)) => Some(format!("finding {number}: {what}")),
            Some(Ok(_)) | None => None,
        })
        .collect();
    if !wrong.is_empty() && sub_agent.asked < MOST_ASKED {
        let text = answer!("refused.verdict_quotes", wrong = wrong.join("; "));
        return vec![in_conversation(sub_agent, refusal(&pending.said, text))];
    }
    let taken = returned(&pending.said, CallEnd::Done, answer!("done.verdict_taken"));
    let mut events = vec![in_conversation(sub_agent, taken)];
    events.extend(skipped_of(sub_agent, 1));
    events.push(Event::Conversation(ConversationEvent::SubAgentEnded {
        conversation: sub_agent.number,
        end: SubAgentEnd::Reported,
        report: String::new(),
    }));
    events.extend(judged(job, sub_agent, *round, given, found));
    events
}

fn judged(
    job: &Job,
    sub_agent: &Conversation,
    round: u32,
    given: &GiveVerdict,
    found: &[Option<FoundQuote>],
) -> Vec<Event> {
    match given.verdict {
        Judgement::Accept => verdict(job, sub_agent.number, round, Verdict::Accept, Vec::new()),
        Judgement::Reject => {
            let findings = (1..)
                .zip(given.findings.iter().zip(found))
                .map(|(number, (fault, found))| finding(round, number, fault, found.as_ref()))
                .collect();
            verdict(job, sub_agent.number, round, Verdict::Reject, findings)
        }
    }
}

/// A verifier has ended without a verdict: that is never consent.
pub(super) fn without_verdict(job: &Job, conversation: u32, round: u32, end: SubAgentEnd) -> Vec<Event> {
    let finding = Finding {
        id: format!("v{round}.1"),
        kind: FindingKind::NoVerdict,
        text: format!("the verifier {}, and came to no verdict", end.told()),
        ..Finding::default()
    };
    verdict(job, conversation, round, Verdict::None, vec![finding])
}

/// The verdict, the settlement of earlier findings, and the answer to the waiting completion, if there are findings.
fn verdict(job: &Job, conversation: u32, round: u32, verdict: Verdict, findings: Vec<Finding>) -> Vec<Event> {
    let earlier = job.proof.open().filter(|finding| finding.kind.is_verifiers());
    let mut events: Vec<Event> =
        earlier.map(|finding| super::proof::settled_event(finding.id.clone(), Settlement::JudgedAgain)).collect();
    let text = (!findings.is_empty()).then(|| proof::findings_told(job, &answer!("review.not_accepted"), &findings));
    events.push(Event::Proof(ProofEvent::VerdictGiven { conversation, round, verdict, findings }));
    if let (Some(text), Some(waiting)) = (text, job.own.calls.pending.front()) {
        events.push(returned(&waiting.said, CallEnd::Done, text));
    }
    events
}

fn finding(round: u32, number: u32, fault: &Fault, found: Option<&FoundQuote>) -> Finding {
    let span = found.and_then(|found| found.as_ref().ok()).cloned();
    Finding {
        id: format!("v{round}.{number}"),
        kind: FindingKind::Fault,
        text: fault.text.trim().to_owned(),
        place: fault.place.clone(),
        document: span.as_ref().map(|span| span.document.clone()).or_else(|| fault.document.clone()),
        page: fault.page,
        quote: fault.quote.clone(),
        span,
        ..Finding::default()
    }
}
