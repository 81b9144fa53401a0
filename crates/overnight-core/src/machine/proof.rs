//! The steps between a fulfilled contract and the end: the second reading, and the verifier. The claimed completion
//! waits for them, and is answered with their findings.

use super::{
    answers::{refusal, returned},
    sub_agent_start,
};
use crate::{
    amount::grouped,
    answer,
    job::{
        comparison::{Lists, compare, settled_by},
        digest::sha256,
        event::{CallEnd, Event, ProofEvent},
        finding::{BY_MODEL, FINDINGS_FILE, Finding, FindingKind, Settlement},
        instructions::SecondReader,
        proof::SecondReading,
        read_unit::ReadUnit,
        second_reading::units,
        state::Job,
        sub_agent_role::SubAgentRole,
    },
    message::ToolCall,
    prompt::{bounds, measure, sub_agent_opening::unit_told},
    tokens::estimate,
};
use std::fmt::Write;

/// Percent of the room for the text that one second reader reads: its records take as much again, and more.
const READER_PERCENT: u64 = 25;
/// Percent of the room for one part of that text, which must come whole in one read.
const UNIT_PERCENT: u64 = 15;
/// Tokens of the least part that is drawn.
const LEAST_UNIT: u64 = 400;

/// The facts that come before the end of a job whose contract holds; `None` if there are none. `lists` are the
/// lists of both readers, once the second has read.
pub(super) fn owed_proof(job: &Job, call: &ToolCall, lists: Option<&Lists>) -> Option<Vec<Event>> {
    let instructions = &job.spec.instructions;
    if let Some(wanted) = &instructions.second_reader {
        match &job.proof.reading {
            None => return Some(begin_reading(job, wanted)),
            Some(reading) if !reading.queue.is_empty() => {
                return Some(sub_agent_start::start_readers(job, parts(job, &reading.queue, reading.most_units)));
            }
            Some(reading) if reading.comparison.is_none() => {
                return Some(on_compared(job, call, reading, &lists.cloned().unwrap_or_default()));
            }
            Some(_) => {
                let settled = lists.map(|lists| settled_by(&job.proof.findings, &lists.first)).unwrap_or_default();
                if !settled.is_empty() {
                    return Some(settled.into_iter().map(|(id, settlement)| settled_event(id, settlement)).collect());
                }
            }
        }
    }
    if instructions.verify.is_some() && !job.proof.is_judged() {
        let round = u32::try_from(job.proof.verdicts.len()).unwrap_or(u32::MAX) + 1;
        return Some(sub_agent_start::start_sub_agent(job, SubAgentRole::Verifier { round }, ""));
    }
    None
}

/// Why a job whose contract holds is not complete: findings that nobody has settled.
pub(super) fn open_findings(job: &Job) -> Option<String> {
    let (reading, verifier) = job.proof.open_counts();
    let tolerance = job.spec.instructions.second_reader.as_ref().map_or(0, |wanted| wanted.tolerance);
    let mut parts = Vec::new();
    if reading > tolerance {
        parts.push(format!("{} of the second reading", grouped(reading)));
    }
    if verifier > 0 {
        parts.push(format!("{} of the verifier", grouped(verifier)));
    }
    (!parts.is_empty()).then(|| format!("findings are open: {}; {FINDINGS_FILE} has them", parts.join(", ")))
}

fn begin_reading(job: &Job, wanted: &SecondReader) -> Vec<Event> {
    // A job's own id is as good as chance, and the same whenever this is decided.
    let of_job = || u64::from_str_radix(&sha256(job.spec.id.to_string().as_bytes())[..12], 16).unwrap_or_default();
    let seed = wanted.seed.unwrap_or_else(of_job);
    let whole = measure::room(&job.spec) * UNIT_PERCENT / 100;
    let most = if wanted.share < 1.0 { whole.min(fine_unit(job.spec.document_tokens(), wanted.share)) } else { whole };
    let units = units(&job.spec.documents, most, wanted.share, seed);
    let parts = parts(job, &units, usize::MAX);
    let mut events = vec![Event::Proof(ProofEvent::SecondReadingBegun { seed, units })];
    events.extend(sub_agent_start::start_readers(job, parts));
    events
}

/// The next parts to be read, divided among second readers by their room, and at most `most_units` for each.
fn parts(job: &Job, queue: &[ReadUnit], most_units: usize) -> Vec<Vec<ReadUnit>> {
    let most = measure::room(&job.spec) * READER_PERCENT / 100;
    let mut parts: Vec<Vec<ReadUnit>> = Vec::new();
    let mut left = 0;
    for unit in queue {
        if let Some(part) = parts.last_mut().filter(|part| part.len() < most_units && unit.tokens <= left) {
            part.push(unit.clone());
        } else {
            left = most;
            parts.push(vec![unit.clone()]);
        }
        left = left.saturating_sub(unit.tokens);
    }
    // The others begin when these have ended.
    parts.truncate(sub_agent_start::readers_at_once(job, job.spec.instructions.most_parallel()));
    parts
}

fn on_compared(job: &Job, call: &ToolCall, reading: &SecondReading, lists: &Lists) -> Vec<Event> {
    let (comparison, mut findings) = compare(lists, &reading.read);
    let is_paged = |unit: &ReadUnit| job.spec.document(&unit.document).is_some_and(|document| document.paged);
    let unread = (findings.len() + 1..).zip(&reading.unread).map(|(number, unit)| Finding {
        id: format!("r{number}"),
        kind: FindingKind::Unread,
        text: format!("{} was not read a second time", unit_told(unit)),
        document: Some(unit.document.clone()),
        page: is_paged(unit).then_some(unit.from),
        line: (!is_paged(unit)).then_some(unit.from),
        ..Finding::default()
    });
    let unread: Vec<Finding> = unread.collect();
    findings.extend(unread);
    let text = (!findings.is_empty()).then(|| {
        let head = answer!(
            "review.read_twice",
            both = comparison.both,
            first = comparison.first - comparison.both,
            second = comparison.second - comparison.both,
            unmatched = comparison.unmatched(),
            estimated = comparison.estimated()
        );
        findings_told(job, &head, &findings)
    });
    let mut events = vec![Event::Proof(ProofEvent::ListsCompared { comparison, findings })];
    events.extend(text.map(|text| returned(call, CallEnd::Done, text)));
    events
}

/// Findings for the model, as many as an answer has room for, and what is to be done about them.
pub(super) fn findings_told(job: &Job, head: &str, findings: &[Finding]) -> String {
    let mut text = head.to_owned();
    let foot = format!("\n{}", answer!("review.settle_findings", file = FINDINGS_FILE));
    let mut left = bounds::answer_tokens(&job.spec).saturating_sub(estimate(&text) + estimate(&foot) + 20);
    for (number, finding) in findings.iter().enumerate() {
        let line = format!("\n- {}", finding.told());
        let Some(rest) = left.checked_sub(estimate(&line)) else {
            let more = answer!("review.more_findings", number = findings.len() - number, file = FINDINGS_FILE);
            let _ = write!(text, "\n- {more}");
            break;
        };
        left = rest;
        text.push_str(&line);
    }
    text + &foot
}

/// The call of `settle_finding`.
pub(super) fn settle_finding(job: &Job, said: &ToolCall, id: &str, reason: &str) -> Vec<Event> {
    match job.proof.finding(id) {
        None => {
            let ids: Vec<&str> = job.proof.open().take(20).map(|finding| finding.id.as_str()).collect();
            let text = if ids.is_empty() {
                answer!("refused.no_finding_open")
            } else {
                answer!("refused.no_such_finding", id, open = ids.join(", "))
            };
            vec![refusal(said, text)]
        }
        Some(finding) if finding.settled.is_some() => {
            vec![refusal(said, answer!("refused.finding_settled", id))]
        }
        // A missing verdict is no fault that could be explained.
        Some(finding) if finding.kind == FindingKind::NoVerdict => {
            vec![refusal(said, answer!("refused.only_a_verdict_settles"))]
        }
        Some(_) => vec![
            returned(said, CallEnd::Done, answer!("done.finding_settled", id)),
            settled_event(id.to_owned(), Settlement::Explained { reason: reason.to_owned() }),
        ],
    }
}

/// Tokens of a part if only a share is drawn: so few that several parts are drawn even from a short document.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of tokens, of far fewer than 2^52"
)]
fn fine_unit(tokens: u64, share: f64) -> u64 {
    ((tokens as f64 * share) as u64 / 2).max(LEAST_UNIT)
}

pub(super) fn settled_event(id: String, settlement: Settlement) -> Event {
    Event::Proof(ProofEvent::FindingSettled { id, settlement, by: BY_MODEL.to_owned() })
}
