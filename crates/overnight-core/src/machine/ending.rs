//! How a job ends: checked completions, the bound on re-planning, a person's review, failure; and its own limits, which
//! hold it.

use super::{
    answers::{refusal, returned},
    phase_end::{self, held},
    planning, proof,
};
use crate::amount::percent;
use crate::answer;
use crate::job::{
    call::{ControlCall, ParsedCall, PendingCall, WorkCall},
    comparison::Lists,
    contract::Check,
    coverage::Coverage,
    ending::Ending,
    event::{CallEnd, Event, LifeEvent, PhaseEvent, ProofEvent, Why},
    hold_cause::HoldCause,
    instructions::Review,
    record::{Delivered, JobStatus, QuotePositions},
    state::{EARLY_ENDS_IN_A_ROW, EARLY_ENDS_IN_ALL, Job, LAST_REVIEW_TODO},
    time::Timestamp,
    todo::{Todo, TodoStatus},
};

/// `job_complete` is refused this many times; the next call ends the job as partial.
const COMPLETION_REFUSALS: u32 = 3;
/// Documents that a refusal names; the rest is counted.
const MOST_NAMED: usize = 10;

impl Job {
    /// The job's own limit that is reached, if any.
    pub fn limit_reached(&self) -> Option<HoldCause> {
        let (limits, spent) = (&self.limits, &self.totals.spent);
        if spent.turns >= limits.turns {
            return Some(HoldCause::TurnsUsed { most: limits.turns });
        }
        if let Some(most_ms) = limits.wall_clock_ms.filter(|most| self.totals.worked_ms >= *most) {
            return Some(HoldCause::WorkTimeUsed { most_ms });
        }
        if let Some(most) = limits.tokens.filter(|most| spent.tokens() >= *most) {
            return Some(HoldCause::TokensUsed { most });
        }
        let most_usd = limits.cost_usd.filter(|most| spent.cost_usd >= *most)?;
        Some(HoldCause::MoneyUsed { most_usd })
    }

    /// The milliseconds of work left at `at`, and the cause of the hold after them; `None` without such a limit.
    pub fn work_left(&self, at: Timestamp) -> Option<(u64, HoldCause)> {
        let most_ms = self.limits.wall_clock_ms.filter(|_| self.is_running())?;
        let worked = self.totals.worked_ms.saturating_add(at.millis_since(self.last_at));
        Some((most_ms.saturating_sub(worked), HoldCause::WorkTimeUsed { most_ms }))
    }

    pub(super) fn replan_limit(&self) -> Option<Vec<Event>> {
        let early = self.early_ends;
        if early.in_a_row <= EARLY_ENDS_IN_A_ROW && early.in_all <= EARLY_ENDS_IN_ALL {
            return None;
        }
        let mut issues: Vec<(String, u32)> = Vec::new();
        for past in self.past.iter().filter(|past| past.why.is_early_end()) {
            let issue = past.why.issue().unwrap_or_default();
            let text = format!("phase {} {}: {issue}", past.phase.number, past.why.outcome());
            match issues.last_mut() {
                Some((last, times)) if *last == text => *times += 1,
                Some(_) | None => issues.push((text, 1)),
            }
        }
        let issues: Vec<String> = issues
            .into_iter()
            .map(|(text, times)| if times == 1 { text } else { format!("{text} ({times} times)") })
            .collect();
        let reason = format!("re-planned too often: {}", issues.join("; "));
        let open = self
            .past
            .last()
            .map(|past| planning::contents(&past.phase.todos, TodoStatus::Cancelled))
            .unwrap_or_default();
        // Delivered files count, although the review was not finished.
        let is_partial = self.is_review() && self.has_deliverable();
        let status = if is_partial { JobStatus::Partial } else { JobStatus::Blocked };
        let mut events = phase_end::unanswered(self);
        events.push(Event::Life(LifeEvent::JobEnded { ending: Box::new(self.unchecked(status, reason, open)) }));
        Some(events)
    }

    /// An end without checks of the deliverables.
    pub(super) fn unchecked(&self, status: JobStatus, reason: String, open: Vec<String>) -> Ending {
        Ending {
            refused_records: self.refused.counts(),
            doubts: self.doubts(),
            ..Ending::unchecked(status, reason, open)
        }
    }

    fn has_deliverable(&self) -> bool {
        let files = self.past.iter().map(|past| &past.phase.files).chain([&self.phase.files]);
        let written: Vec<_> = files.flatten().collect();
        self.spec.instructions.deliverables.iter().any(|deliverable| written.contains(&&deliverable.path))
    }

    /// Everything is archived: the job ends, or waits for a person.
    pub(super) fn close(&self, ending: &Ending, approved: bool) -> Event {
        let reviewed = match self.spec.instructions.review {
            Review::None => false,
            Review::Required => ending.status == JobStatus::Completed,
        };
        if reviewed && !approved {
            held(&HoldCause::ReviewDue)
        } else {
            Event::Life(LifeEvent::JobEnded { ending: Box::new(ending.clone()) })
        }
    }

    pub(super) fn on_checked(
        &self,
        mut checks: Vec<Check>,
        deliverables: Vec<Delivered>,
        quotes: Option<QuotePositions>,
        lists: Option<&Lists>,
    ) -> Vec<Event> {
        let completes = matches!(
            self.own.calls.pending.front(),
            Some(PendingCall { call: ParsedCall::Control(ControlCall::JobComplete { .. }), .. })
        );
        // A completion is claimed before the results of its reply are seen; other checks are read together with them.
        checks.push(self.coverage_check(&if completes { self.own.coverage.clone() } else { self.coverage_shown() }));
        let (call, completion) = match self.own.calls.pending.front() {
            Some(PendingCall {
                said, call: ParsedCall::Control(ControlCall::JobComplete { completion, .. }), ..
            }) => (said, completion.clone()),
            Some(PendingCall { said, call: ParsedCall::Work(WorkCall::CheckDeliverables), .. }) => {
                return vec![returned(said, CallEnd::Done, listing(&checks))];
            }
            Some(_) => return Vec::new(),
            // The review begins: the checks are for the board, and no call asked for them.
            None => return vec![Event::Proof(ProofEvent::ChecksMade { checks })],
        };
        let failed: Vec<Check> = checks.iter().filter(|check| !check.passed).cloned().collect();
        let floor = self.spec.instructions.confidence_floor;
        let listed: Vec<String> = failed.iter().map(|check| format!("- {}: {}", check.name, check.detail)).collect();
        if failed.is_empty() {
            if let Some(events) = proof::owed_proof(self, call, lists) {
                return events;
            }
            let unsure = (completion.confidence < floor)
                .then(|| format!("the confidence of {} is under the floor of {floor}", completion.confidence));
            let reason = proof::open_findings(self).or(unsure);
            let status = if reason.is_some() { JobStatus::Partial } else { JobStatus::Completed };
            let todos = self.completed_with_it(checks.len(), reason.is_some());
            let text = match &reason {
                None => answer!("done.accepted"),
                Some(reason) => answer!("done.partial_for_reason", reason),
            };
            let ending = Ending {
                status,
                reason,
                completion: Some(completion),
                checks,
                deliverables,
                quotes,
                proof: self.proof_result(),
                refused_records: self.refused.counts(),
                doubts: self.doubts(),
                open_todos: Vec::new(),
            };
            let mut events = vec![returned(call, CallEnd::Done, text)];
            events.extend(todos);
            return phase_end::end_job(self, events, ending, Why::PhaseDone);
        }
        let refusals = self.refusals;
        let counts_now = refusals.in_turn != self.totals.spent.turns;
        if refusals.counted >= COMPLETION_REFUSALS && counts_now {
            let unmet: Vec<String> = failed.iter().map(Check::in_short).collect();
            let ending = Ending {
                status: JobStatus::Partial,
                reason: Some(format!("not met after {} refusals: {}", COMPLETION_REFUSALS, unmet.join("; "))),
                completion: Some(completion),
                checks,
                deliverables,
                quotes,
                proof: self.proof_result(),
                refused_records: self.refused.counts(),
                doubts: self.doubts(),
                open_todos: phase_end::open_todos(self),
            };
            let text = answer!("done.partial_for_checks", checks = listed.join("\n"));
            return phase_end::end_job(self, vec![returned(call, CallEnd::Done, text)], ending, Why::PhaseDone);
        }
        let left = COMPLETION_REFUSALS
            - refusals.counted.min(COMPLETION_REFUSALS)
            - u32::from(counts_now && refusals.counted < COMPLETION_REFUSALS);
        let text = answer!("refused.checks_fail", left, checks = listed.join("\n"));
        vec![refusal(call, text), Event::Proof(ProofEvent::CompletionRefused { checks: failed })]
    }

    /// The todos of the review that an accepted completion also completes. Each outcome states who verified the work.
    fn completed_with_it(&self, checks: usize, is_partial: bool) -> Vec<Event> {
        let accepted = if is_partial {
            format!("all {checks} checks of the program passed; the job is partial")
        } else {
            format!("accepted by the program: all its {checks} checks passed")
        };
        let completed = |(number, todo): (usize, &Todo)| {
            let is_last = todo.content == LAST_REVIEW_TODO;
            let is_worked = number == 0 && self.own.effort.worked;
            let outcome = match (is_last, is_worked) {
                (true, _) => accepted.clone(),
                (false, true) => "closed with job_complete, by the program's checks".to_owned(),
                (false, false) => {
                    "closed with job_complete: the program's checks were made, and nothing else".to_owned()
                }
            };
            Event::Phase(PhaseEvent::TodoCompleted {
                id: todo.id,
                outcome: Some(outcome),
                unevidenced: !is_last && !is_worked,
            })
        };
        self.phase.todos.open().enumerate().map(completed).collect()
    }

    fn coverage_check(&self, coverage: &Coverage) -> Check {
        let wanted = self.spec.instructions.coverage;
        let missing: Vec<String> =
            self.spec.documents.iter().filter_map(|document| coverage.missing(document, wanted)).collect();
        let detail = if missing.is_empty() {
            format!("{} of the documents' text was shown", percent(coverage.total(&self.spec.documents)))
        } else {
            let more = missing.len().saturating_sub(MOST_NAMED);
            let rest = if more > 0 { format!("; and {more} more documents") } else { String::new() };
            format!(
                "not shown yet: {}{rest}; read them with read_document",
                missing[..missing.len().min(MOST_NAMED)].join("; ")
            )
        };
        Check::new("coverage".to_owned(), missing.is_empty(), detail)
    }
}

/// Checks that fail, one a line, and those that hold in one line.
fn listing(checks: &[Check]) -> String {
    let (passed, failed): (Vec<&Check>, Vec<&Check>) = checks.iter().partition(|check| check.passed);
    let mut lines = match failed.len() {
        0 => vec![answer!("checks.hold", all = checks.len())],
        number => vec![answer!("checks.fail", number, all = checks.len())],
    };
    lines.extend(failed.iter().map(|check| format!("- {}: {}", check.name, check.detail)));
    if !passed.is_empty() {
        let names: Vec<&str> = passed.iter().map(|check| check.name.as_str()).collect();
        lines.push(answer!("checks.passed", names = names.join("; ")));
    }
    lines.join("\n")
}
