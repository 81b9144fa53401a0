//! The conversations of a job: which of them is to go on, which waits for what, and what they have been shown.

use super::Job;
use crate::job::{
    call::{ControlCall, ParsedCall, PendingCall},
    conversation::{Conversation, OWN},
    coverage::Coverage,
};

impl Job {
    /// Whether the phase is the one in which readers work side by side.
    pub fn is_part_reading(&self) -> bool {
        self.part_reading.as_ref().is_some_and(|reading| reading.phase == self.phase.number)
    }

    /// All conversations: the job's own, and those of the sub-agents at work.
    pub fn conversations(&self) -> impl Iterator<Item = &Conversation> {
        std::iter::once(&self.own).chain(self.sub_agents.values())
    }

    /// The conversation with this number, unless it is over.
    pub fn conversation(&self, number: u32) -> Option<&Conversation> {
        if number == OWN { Some(&self.own) } else { self.sub_agents.get(&number) }
    }

    pub(crate) fn conversation_mut(&mut self, number: u32) -> Option<&mut Conversation> {
        if number == OWN { Some(&mut self.own) } else { self.sub_agents.get_mut(&number) }
    }

    /// The call that is to be done now. The job's own conversation waits for its sub-agents; only further calls of
    /// `delegate` begin beside them.
    pub fn due_call<'j>(&'j self, conversation: &'j Conversation) -> Option<&'j PendingCall> {
        let pending = &conversation.calls.pending;
        if !conversation.is_own() || self.sub_agents.is_empty() {
            return pending.front();
        }
        if pending.front().is_some_and(|first| self.own.calls.reports.contains_key(&first.said.id)) {
            return pending.front();
        }
        let is_begun = |call: &PendingCall| {
            let id = &call.said.id;
            self.own.calls.reports.contains_key(id)
                || self.sub_agents.values().any(|sub_agent| sub_agent.answers.as_ref() == Some(id))
        };
        let next = pending.iter().find(|call| !is_begun(call))?;
        // A call that can't begin is refused once those before it have their results.
        let ParsedCall::Control(ControlCall::Delegate(call)) = &next.call else { return None };
        let is_known = self.spec.instructions.agents.contains_key(call.agent_type.trim());
        let has_place = self.sub_agents.len() < self.spec.instructions.parallel as usize;
        (is_known && has_place && pending.front().is_some_and(is_begun)).then_some(next)
    }

    /// Whether a conversation waits for others.
    pub fn waits(&self, conversation: &Conversation) -> bool {
        conversation.is_own() && !self.sub_agents.is_empty() && self.due_call(conversation).is_none()
    }

    /// The number of the next turn of a conversation, counted for the model that is asked: turns that other models have
    /// answered are not included.
    pub fn turn_of_model(&self, conversation: &Conversation) -> u64 {
        match conversation.named_model(&self.spec) {
            Some(model) => self.turns_of_named.get(model).copied().unwrap_or_default() + 1,
            None => self.totals.spent.turns - self.turns_of_named.values().sum::<u64>() + 1,
        }
    }

    /// Whether there is nothing to do but to wait for answers.
    pub fn is_waiting(&self) -> bool {
        self.is_running()
            && self.writes.is_empty()
            && self.conversations().all(|one| one.submitted.is_some() || self.waits(one))
    }

    /// The coverage including results that the model answers next: text after them is read together with them.
    pub fn coverage_shown(&self) -> Coverage {
        let mut coverage = self.own.coverage.clone();
        for part in self.own.epoch.unanswered().iter().filter_map(|result| result.shown.as_ref()) {
            coverage.add(part);
        }
        coverage
    }
}
