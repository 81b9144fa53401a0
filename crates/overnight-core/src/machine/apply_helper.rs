//! What a fact of a helper, of second reader or verifier means for the state.

use crate::{
    job::{
        call::PendingCall,
        event::{CallEnd, Event, ToolResult},
        failure::Attempts,
        helper::{Helper, HelperRole},
        part::Part,
        proof::{GivenVerdict, SecondReading},
        reply_calls::ReplyCalls,
        state::Job,
        time::Timestamp,
    },
    message::{Stop, ToolCall},
    prompt::helper_opening,
};

impl Job {
    /// Takes in an event of the helper's conversation; `false`: it is not of one.
    pub(super) fn apply_to_helper(&mut self, at: Timestamp, event: &Event) -> bool {
        match event {
            Event::HelperStarted { conversation, role, tools, system_prompt, .. } => {
                self.helpers = *conversation;
                let helper = Helper::new(*conversation, role.clone(), *tools, system_prompt.text());
                self.helper = Some(Box::new(helper));
            }
            Event::EpochOpened { conversation, number, opening, tokens, .. } if *conversation > 0 => {
                if let Some(helper) = &mut self.helper {
                    let text = opening.iter().map(Part::text).collect();
                    helper.epoch.open(*number, &helper.system_prompt, text, "", *tokens);
                }
            }
            Event::BoardShown { conversation, line, tokens, .. } if *conversation > 0 => {
                if let Some(helper) = &mut self.helper {
                    if helper.is_silent {
                        helper.asked += 1;
                    }
                    helper.epoch.push_board(line, None, *tokens);
                }
            }
            Event::ModelReplied { conversation, .. } if *conversation > 0 => self.on_helper_replied(event),
            Event::ToolStarted { conversation, prepared, .. } if *conversation > 0 => {
                if let Some(helper) = &mut self.helper {
                    helper.calls.prepared = Some(prepared.clone());
                }
            }
            Event::ToolReturned { conversation, result, tokens, .. } if *conversation > 0 => {
                self.on_helper_tool_returned(result, *tokens);
            }
            Event::HelperEnded { .. } => self.on_helper_ended(),
            Event::SecondReadingBegun { seed, units } => {
                self.proof.reading = Some(SecondReading::new(*seed, units.clone()));
            }
            Event::ListsCompared { comparison, findings } => {
                if let Some(reading) = &mut self.proof.reading {
                    reading.comparison = Some(comparison.clone());
                }
                self.proof.findings.extend(findings.iter().cloned());
            }
            Event::VerdictGiven { round, verdict, findings, .. } => {
                self.proof.verdicts.push(GivenVerdict { round: *round, verdict: *verdict });
                self.proof.findings.extend(findings.iter().cloned());
            }
            Event::FindingSettled { id, settlement, by } => self.proof.settle(id, settlement, by, at),
            _ => return false,
        }
        true
    }

    fn on_helper_replied(&mut self, event: &Event) {
        let Event::ModelReplied { text, calls, usage, cost_usd, prompt_tokens, reply_tokens, carried, stop, .. } =
            event
        else {
            return;
        };
        let withheld = if *stop == Stop::Refused { self.attempts.withheld + 1 } else { 0 };
        self.attempts = Attempts { withheld, ..Attempts::default() };
        self.totals.spent.add(usage, *cost_usd);
        self.phase.spent.add(usage, *cost_usd);
        self.phase.helper_turns += 1;
        if let Some(model) = self.named_model().map(str::to_owned) {
            *self.turns_of_named.entry(model).or_default() += 1;
        }
        let Some(helper) = &mut self.helper else { return };
        helper.turns += 1;
        helper.counted = Some((usage.input, *prompt_tokens));
        (helper.calls, helper.is_silent) = (ReplyCalls::of(calls, &self.deliverables), calls.is_empty());
        let shown = helper.epoch.on_answered();
        for part in &shown {
            if helper.coverage.add(part) {
                helper.effort.on_change();
            }
        }
        let said: Vec<ToolCall> = calls.iter().map(|call| call.said.clone()).collect();
        helper.epoch.push_reply(text, said, carried.as_ref(), *reply_tokens);
        helper.effort.on_turn(calls.len());
        // What a delegate reads is read for the job; a second reader reads for itself.
        if let HelperRole::Delegate { .. } = helper.role {
            for part in &shown {
                self.coverage.add(part);
            }
        }
    }

    fn on_helper_tool_returned(&mut self, result: &ToolResult, tokens: u64) {
        let Some(helper) = &mut self.helper else { return };
        let Some(pending) = helper.calls.pending.pop_front() else { return };
        let prepared = helper.calls.prepared.take();
        helper.calls.on_returned(&pending, result, self.refused.news(result));
        self.refused.observe(result, prepared.as_ref());
        let PendingCall { said, call, .. } = pending;
        helper.epoch.push_result(&said, result, tokens);
        match result.end {
            CallEnd::Done => helper.effort.on_readable(),
            CallEnd::Refused if super::apply_result::ends_helper(&call) => helper.asked += 1,
            CallEnd::Refused => {
                if !said.arguments.is_object() {
                    helper.effort.on_malformed();
                }
                helper.calls.unreadable.get_or_insert_with(|| said.name.clone());
            }
            CallEnd::Failed | CallEnd::Interrupted => {}
            CallEnd::Skipped => drop(helper.calls.skipped.get_or_insert_with(|| said.name.clone())),
        }
        if result.end != CallEnd::Skipped {
            let signature = super::apply_result::signature(&said.name, &said.arguments.to_string(), &result.text);
            helper.effort.on_call(helper.turns, signature);
        }
        if let Some(changed) = &result.changed {
            helper.effort.on_change();
            self.phase.files.insert(changed.path.clone());
        }
    }

    fn on_helper_ended(&mut self) {
        let Some(helper) = self.helper.take() else { return };
        self.attempts = Attempts::default();
        if let HelperRole::SecondReader { units } = &helper.role {
            let file = helper_opening::second_list(self).map(|found| helper_opening::name(&found.path).to_owned());
            if let (Some(reading), Some(file)) = (&mut self.proof.reading, file) {
                reading.on_helper_ended(&helper, units, &self.spec, &file);
            }
        }
    }
}
