//! The effects of a call's result on the state.

use crate::job::{
    call::{ControlCall, ParsedCall, PendingCall},
    contract::{Check, DeliverableState},
    conversation::OWN,
    event::{CallEnd, PhaseKind, ToolEvent, ToolResult},
    state::{CompletionRule, Job, Phase},
    tool::Family,
};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Applies an event of a call.
pub(super) fn apply_tool(job: &mut Job, event: &ToolEvent) {
    match event {
        ToolEvent::ToolStarted { conversation, prepared, .. } => {
            if let Some(one) = job.conversation_mut(*conversation) {
                one.calls.prepared = Some(prepared.clone());
            }
        }
        ToolEvent::ToolReturned { conversation, result, tokens, .. } => {
            on_tool_returned(job, *conversation, result, *tokens);
        }
    }
}

fn on_tool_returned(job: &mut Job, number: u32, result: &ToolResult, tokens: u64) {
    let news = job.refused.news(result);
    let Some(one) = job.conversation_mut(number) else { return };
    let Some(call) = one.calls.pending.pop_front() else { return };
    let (said, family) = (&call.said, call.family());
    let prepared = one.calls.prepared.take();
    one.calls.reports.remove(&said.id);
    one.epoch.push_result(said, result, tokens);
    if let (ParsedCall::Control(ControlCall::TodoComplete { .. }), CallEnd::Skipped) = (&call.call, result.end)
        && one.calls.unseen_work().is_some()
    {
        one.calls.is_completion_refused = true;
    }
    one.calls.on_returned(&call, result, news);
    if result.end == CallEnd::Done && is_work(&call) {
        one.calls.has_worked = true;
        if one.calls.completions == CompletionRule::AfterWork {
            one.calls.completions = CompletionRule::Run;
        }
    }
    match result.end {
        CallEnd::Done => {
            one.effort.on_readable();
            let records = prepared.as_ref().and_then(|prepared| prepared.records);
            one.effort.records += records.map_or(0, |records| records.added);
            if family != Some(Family::Control) {
                one.effort.on_worked();
            }
        }
        CallEnd::Failed => one.effort.on_failed(&said.name),
        CallEnd::Refused if !one.is_own() && ends_sub_agent(&call.call) => one.asked += 1,
        CallEnd::Refused => {
            let is_unreadable = family != Some(Family::Control) && !said.arguments.is_object();
            if !one.is_own() || family.is_none() || is_unreadable {
                one.calls.unreadable.get_or_insert_with(|| said.name.clone());
            }
            if !said.arguments.is_object() {
                one.effort.on_malformed();
            }
        }
        CallEnd::Skipped if !one.is_own() || is_work(&call) => {
            one.calls.skipped.get_or_insert_with(|| said.name.clone());
        }
        CallEnd::Skipped | CallEnd::Interrupted => {}
    }
    match result.end {
        CallEnd::Done | CallEnd::Failed | CallEnd::Refused => {
            let signature = signature(&said.name, &said.arguments.to_string(), &result.text);
            one.effort.on_call(one.turns, signature);
        }
        CallEnd::Skipped | CallEnd::Interrupted => {}
    }
    if result.changed.is_some() {
        one.effort.on_change();
    }
    job.refused.observe(result, prepared.as_ref());
    if number == OWN {
        on_shown_in_bootstrap(job, result);
    }
    if let Some(changed) = &result.changed {
        job.phase.files.insert(changed.path.clone());
    }
    for state in &result.checked {
        job.phase.on_deliverable_checked(state);
        let before = job.deliverables.remove(&state.path);
        job.deliverables.insert(state.path.clone(), state.clone().with_known(before));
    }
}

/// Reading something new does not count as a try of the bootstrap.
fn on_shown_in_bootstrap(job: &mut Job, result: &ToolResult) {
    let is_new = |part| job.phase.kind == PhaseKind::Bootstrap && job.own.coverage.clone().add(part);
    if !job.own.calls.has_shown_more && result.shown.as_ref().is_some_and(is_new) {
        job.own.calls.has_shown_more = true;
        job.phase.tries = job.phase.tries.saturating_sub(1);
    }
}

impl Phase {
    /// Updates the checks on the board after a refused completion.
    pub(super) fn on_checks_failed(&mut self, failed: &[Check]) {
        let Some(checks) = &mut self.checks else { return };
        for check in checks.iter_mut() {
            check.passed = failed.iter().all(|failed| failed.name != check.name);
        }
        checks.retain(|check| check.passed);
        checks.extend(failed.iter().cloned());
    }

    /// Updates the checks on the board by a deliverable's new state.
    fn on_deliverable_checked(&mut self, state: &DeliverableState) {
        let Some(checks) = &mut self.checks else { return };
        for check in checks.iter_mut().filter(|check| check.name.starts_with(&format!("{}: ", state.path))) {
            let failed = state.failed.iter().find(|failed| failed.name == check.name);
            if check.passed == failed.is_some() {
                check.passed = failed.is_none();
                if let Some(failed) = failed {
                    check.detail.clone_from(&failed.detail);
                }
            }
        }
    }
}

/// Whether a call would end a sub-agent's work.
pub(super) fn ends_sub_agent(call: &ParsedCall) -> bool {
    matches!(call, ParsedCall::Control(ControlCall::Report(_) | ControlCall::Verdict(_)))
}

/// Whether a call reads or changes something outside the todo list.
fn is_work(call: &PendingCall) -> bool {
    match call.family() {
        Some(Family::Reading | Family::Writing) => true,
        Some(Family::Control) | None => false,
    }
}

/// A hash by which calls with the same result are recognised.
pub(super) fn signature(name: &str, arguments: &str, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (name, arguments, text).hash(&mut hasher);
    hasher.finish()
}
