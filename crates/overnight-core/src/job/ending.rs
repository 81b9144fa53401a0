//! How a job ends: checked completions, the bound on re-planning, a person's review, failure; and its own limits, which
//! hold it.

use super::{
    contract::Check,
    control::{completion, refusal, returned},
    event::{CallEnd, Ending, Event, Why},
    instructions::Review,
    planning,
    record::{Delivered, HoldReason, JobStatus, QuotePositions},
    state::{EARLY_ENDS_IN_A_ROW, EARLY_ENDS_IN_ALL, Job, LAST_REVIEW_TODO},
    time::Timestamp,
};
use crate::prompt::tools::{JobComplete, Tool, arguments};

/// `job_complete` is refused this many times; the next call ends the job as partial.
const COMPLETION_REFUSALS: u32 = 3;
/// Documents that a refusal names; the rest is counted.
const MOST_NAMED: usize = 10;

fn time_is_used(most: u64) -> String {
    format!("{} of work are used; resume with --wall-clock TIME for more", super::rows::duration(most))
}

impl Job {
    /// A job's own limit holds it.
    pub(super) fn limit_reached(&self) -> Option<Vec<Event>> {
        let (limits, spent) = (&self.limits, &self.totals.spent);
        let (reason, detail) = if spent.turns >= limits.turns {
            (HoldReason::Limit, format!("{} turns are used; resume with --turns N for more", limits.turns))
        } else if let Some(most) = limits.wall_clock_ms.filter(|most| self.totals.worked_ms >= *most) {
            (HoldReason::Limit, time_is_used(most))
        } else if let Some(most) = limits.tokens.filter(|most| spent.tokens() >= *most) {
            (HoldReason::Budget, format!("{most} tokens are used; resume with --tokens N for more"))
        } else if let Some(most) = limits.cost_usd.filter(|most| spent.cost_usd >= *most) {
            (HoldReason::Budget, format!("{most:.2} USD are used; resume with --cost USD for more"))
        } else {
            return None;
        };
        Some(vec![Event::Held { reason, detail }])
    }

    /// Milliseconds that may still be worked at `at`, and what is to be said when they are over; none without such a limit.
    pub fn work_left(&self, at: Timestamp) -> Option<(u64, String)> {
        let most = self.limits.wall_clock_ms.filter(|_| self.is_running())?;
        let worked = self.totals.worked_ms.saturating_add(at.millis_since(self.last_at));
        Some((most.saturating_sub(worked), time_is_used(most)))
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
        let ending = Ending {
            status: JobStatus::Blocked,
            reason: Some(format!("re-planned too often: {}", issues.join("; "))),
            completion: None,
            checks: Vec::new(),
            deliverables: Vec::new(),
            quotes: None,
            open_todos: self.past.last().map(|past| planning::cancelled(&past.phase.todos)).unwrap_or_default(),
        };
        Some(vec![Event::JobEnded { ending: Box::new(ending) }])
    }

    /// All is archived: the end, or the wait for a person.
    pub(super) fn close(&self) -> Option<Vec<Event>> {
        let ending = self.ending.clone()?;
        let reviewed = match self.spec.instructions.review {
            Review::None => false,
            Review::Required => ending.status == JobStatus::Completed,
        };
        Some(if reviewed && !self.approved {
            vec![Event::Held {
                reason: HoldReason::Review,
                detail: "a person approves it (overnight approve) or sends it back (overnight feedback)".to_owned(),
            }]
        } else {
            vec![Event::JobEnded { ending }]
        })
    }

    pub(super) fn on_checked(
        &self,
        mut checks: Vec<Check>,
        deliverables: Vec<Delivered>,
        quotes: Option<QuotePositions>,
    ) -> Vec<Event> {
        let Some(call) = self.pending.front() else {
            return Vec::new();
        };
        let Ok(completion) = arguments::<JobComplete>(Tool::JobComplete, &call.arguments).and_then(completion) else {
            return Vec::new();
        };
        checks.push(self.coverage_check());
        let failed: Vec<Check> = checks.iter().filter(|check| !check.passed).cloned().collect();
        let floor = self.spec.instructions.confidence_floor;
        let listed: Vec<String> = failed.iter().map(|check| format!("- {}: {}", check.name, check.detail)).collect();
        if failed.is_empty() {
            let reason = (completion.confidence < floor)
                .then(|| format!("the confidence of {} is under the floor of {floor}", completion.confidence));
            let status = if reason.is_some() { JobStatus::Partial } else { JobStatus::Completed };
            let ending = Ending {
                status,
                reason,
                completion: Some(completion),
                checks,
                deliverables,
                quotes,
                open_todos: Vec::new(),
            };
            let mut events = vec![returned(call, CallEnd::Done, "Accepted: every check passed.")];
            let last = self.phase.todos.open().find(|todo| todo.content == LAST_REVIEW_TODO);
            events.extend(last.map(|todo| Event::TodoCompleted {
                id: todo.id,
                outcome: Some("accepted".to_owned()),
                unevidenced: false,
            }));
            return self.end_job(events, ending, Why::PhaseDone);
        }
        let counts_now = self.refused_in_turn != self.totals.spent.turns;
        if self.refusals >= COMPLETION_REFUSALS && counts_now {
            let names: Vec<&str> = failed.iter().map(|check| check.name.as_str()).collect();
            let ending = Ending {
                status: JobStatus::Partial,
                reason: Some(format!("unmet after {} refusals: {}", COMPLETION_REFUSALS, names.join("; "))),
                completion: Some(completion),
                checks,
                deliverables,
                quotes,
                open_todos: self.open_todos(),
            };
            let text = format!("The job ends as partial; these checks failed:\n{}", listed.join("\n"));
            return self.end_job(vec![returned(call, CallEnd::Done, text)], ending, Why::PhaseDone);
        }
        let left = COMPLETION_REFUSALS
            - self.refusals.min(COMPLETION_REFUSALS)
            - u32::from(counts_now && self.refusals < COMPLETION_REFUSALS);
        let text = format!(
            "Refused; mend these and call job_complete() again ({left} more refusals before the job ends as partial):\n{}",
            listed.join("\n")
        );
        vec![refusal(call, text), Event::CompletionRefused { checks: failed }]
    }

    fn coverage_check(&self) -> Check {
        let wanted = self.spec.instructions.coverage;
        let missing: Vec<String> =
            self.spec.documents.iter().filter_map(|document| self.coverage.missing(document, wanted)).collect();
        let detail = if missing.is_empty() {
            format!("{:.0} % of the documents' text was shown", self.coverage.total(&self.spec.documents) * 100.0)
        } else {
            let more = missing.len().saturating_sub(MOST_NAMED);
            let rest = if more > 0 { format!("; and {more} more documents") } else { String::new() };
            format!(
                "not shown yet: {}{rest}; read them with read_document",
                missing[..missing.len().min(MOST_NAMED)].join("; ")
            )
        };
        Check { name: "coverage".to_owned(), passed: missing.is_empty(), detail }
    }
}
