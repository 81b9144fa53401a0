//! Turns the outcome of an effect into facts.

use super::{
    answers::{refusal, result_tokens},
    attempts,
    effect::{Command, EffectId, EffectResult, Outcome},
    next_prompt, phase_end, plan_file, review, sub_agent, verifier,
};
use crate::{
    answer,
    job::{
        call::PendingCall,
        contract::DeliverableState,
        conversation::Conversation,
        event::{
            CallEnd, ConversationEvent, Event, LifeEvent, PersonEvent, PhaseEvent, PlanEvent, PreparedWrite,
            ProofEvent, SavedFile, ToolEvent, ToolResult,
        },
        record::{HoldReason, JobStatus},
        state::{Job, Progress, Status},
        time::Timestamp,
    },
    message::image_tokens,
    prompt::{bounds, tools::ToolList},
};

impl Job {
    /// The facts of an outcome. `at` is the time when it came. A late outcome, for an effect that is no longer owed,
    /// has no facts; only a command always counts.
    pub fn decide(&self, at: Timestamp, id: EffectId, outcome: Outcome) -> Vec<Event> {
        let is_heard = match &outcome {
            // A server that is down is asked now and then.
            Outcome::Failed { .. } => self.is_running() || self.is_out(),
            Outcome::Done(_) | Outcome::Submitted(_) => self.is_running(),
        };
        let conversation = self.conversation(id.conversation).filter(|one| is_heard && one.facts == id.number);
        let Some(conversation) = conversation else { return Vec::new() };
        // A working tool bounds its own results.
        let is_of_tool = matches!(&outcome, Outcome::Done(EffectResult::Tool(..)));
        let most = if is_of_tool { bounds::given_tokens(&self.spec) } else { bounds::answer_tokens(&self.spec) };
        let mut events = match outcome {
            Outcome::Done(result) => self.facts(at, conversation, result),
            Outcome::Submitted(_) if conversation.submitted.is_some() => Vec::new(),
            Outcome::Submitted(call) => {
                let turn = self.totals.spent.turns + 1;
                vec![Event::Conversation(ConversationEvent::CallSubmitted {
                    conversation: conversation.number,
                    turn,
                    call,
                })]
            }
            Outcome::Failed { failure, wait_ms } => attempts::attempt_failed(self, conversation, failure, wait_ms),
        };
        for event in &mut events {
            crate::machine::control::bound_result(event, most);
        }
        events
    }

    /// The facts of a command.
    pub fn command(&self, at: Timestamp, command: Command) -> Vec<Event> {
        let mut events = self.on_command(at, command);
        for event in &mut events {
            crate::machine::control::bound_result(event, bounds::answer_tokens(&self.spec));
        }
        events
    }

    fn facts(&self, at: Timestamp, conversation: &Conversation, result: EffectResult) -> Vec<Event> {
        match result {
            EffectResult::Now => match self.facts_owed(conversation, at) {
                Some(events) => events,
                None if self.owes_word(conversation) => vec![match conversation.role {
                    Some(_) => sub_agent::word_to(self, conversation),
                    None => next_prompt::word_of_the_runner(self),
                }],
                None => Vec::new(),
            },
            EffectResult::Reply { reply, cost_usd, standard_usd, batch, prompt_sha256 } => {
                attempts::on_reply(self, conversation, reply, (cost_usd, standard_usd), batch, prompt_sha256)
            }
            EffectResult::Prepared(prepared, saved) => self.on_prepared(conversation, prepared, saved.as_ref()),
            EffectResult::Tool(result, saved) => self.on_result(conversation, result, saved),
            EffectResult::Archived { manifest_sha256 } => {
                let Progress::Archiving { folder, .. } = &self.progress else { return Vec::new() };
                vec![Event::Phase(PhaseEvent::ArchiveStored { folder: folder.clone(), manifest_sha256 })]
            }
            EffectResult::Summarised { sha256 } => vec![Event::Phase(PhaseEvent::SummaryWritten { sha256 })],
            EffectResult::Doubled(doubled) => vec![Event::Proof(ProofEvent::PartsRead { doubled })],
            EffectResult::PagesRead { documents, pages } => {
                vec![Event::Proof(ProofEvent::PagesRead { documents, pages })]
            }
            EffectResult::Examined(files) => plan_file::on_files_examined(self, files),
            EffectResult::Written => self.writes.front().map_or_else(Vec::new, |write| {
                vec![Event::Plan(PlanEvent::FileWritten { path: write.path.to_owned() })]
            }),
            EffectResult::QuotesFound(found) => verifier::on_quotes_found(self, conversation, &found),
            EffectResult::Checked { checks, states, deliverables, quotes, lists } => {
                let mut events = self.on_checked(checks, deliverables, quotes, lists.as_ref());
                // The first result is that of the call for which the checks were made.
                let mut results =
                    events.iter_mut().filter(|event| matches!(event, Event::Tool(ToolEvent::ToolReturned { .. })));
                if let Some(Event::Tool(ToolEvent::ToolReturned { result, .. })) = results.next() {
                    result.checked = self.news_of(states);
                }
                events
            }
        }
    }

    /// A change is about to be made: a plan is checked first.
    fn on_prepared(&self, of: &Conversation, prepared: PreparedWrite, saved: Option<&SavedFile>) -> Vec<Event> {
        let Some(PendingCall { said: call, .. }) = of.calls.pending.front() else {
            return Vec::new();
        };
        if let Some(SavedFile::Plan { text }) = saved
            && let Err(fault) = plan_file::check_plan(self, text)
        {
            let reason = answer!("refused.plan_not_saved", fault);
            let mut events = vec![refusal(call, &*reason)];
            if self.planning().is_some() || fault.is_of_bounds() {
                events.push(Event::Plan(PlanEvent::PlanningRefused { reason }));
            }
            return events;
        }
        vec![Event::Tool(ToolEvent::ToolStarted { conversation: of.number, call: call.id.clone(), prepared })]
    }

    fn news_of(&self, mut states: Vec<DeliverableState>) -> Vec<DeliverableState> {
        for state in &mut states {
            state.keep_news(self.deliverables.get(&state.path));
        }
        states
    }

    fn on_result(&self, of: &Conversation, mut result: ToolResult, saved: Option<SavedFile>) -> Vec<Event> {
        let Some(PendingCall { said: call, .. }) = of.calls.pending.front() else {
            return Vec::new();
        };
        let is_done = result.end == CallEnd::Done;
        self.refused.number(&mut result.refused);
        result.checked = self.news_of(result.checked);
        let mut facts = Vec::new();
        match saved.filter(|_| is_done) {
            Some(SavedFile::Plan { text }) => facts = plan_file::on_plan_saved(self, &text, &mut result.text),
            Some(SavedFile::Memory { text }) => facts.push(Event::Plan(PlanEvent::MemorySaved { text: text.into() })),
            None => {}
        }
        let tokens = result_tokens(&result.text) + image_tokens(&result.images);
        let mut events = vec![Event::Tool(ToolEvent::ToolReturned {
            conversation: of.number,
            call: call.id.clone(),
            name: call.name.clone(),
            result,
            tokens,
        })];
        events.extend(facts);
        events
    }

    /// An end from outside, without checks of the deliverables and without an archive.
    pub(super) fn end_unfinished(&self, status: JobStatus, reason: String) -> Vec<Event> {
        let ending = self.unchecked(status, reason, phase_end::open_todos(self));
        let mut events = phase_end::unanswered(self);
        events.push(Event::Life(LifeEvent::JobEnded { ending: Box::new(ending) }));
        events
    }

    fn on_command(&self, at: Timestamp, command: Command) -> Vec<Event> {
        match (command, &self.status) {
            (
                command @ (Command::Approve { .. }
                | Command::ApproveRecord { .. }
                | Command::Correct(_)
                | Command::CorrectionWritten { .. }
                | Command::Settle { .. }
                | Command::Feedback { .. }
                | Command::AddDocuments { .. }),
                _,
            ) => review::on_review(self, at, command),
            // A review is left only by approval or feedback, and an ended job accepts no other command.
            (_, Status::Ended(_))
            | (Command::Hold { reason: HoldReason::Outage, .. }, Status::Held { .. })
            | (Command::Resume { .. }, Status::Held { reason: HoldReason::Review, .. }) => Vec::new(),
            (Command::Open { version, model, torn_bytes }, _) => {
                let tools_sha256 = ToolList::of(self.spec.tools_of_job()).sha256.clone();
                vec![Event::Life(LifeEvent::Opened { version, model, tools_sha256, torn_bytes })]
            }
            (Command::Edited { plan, memory }, _) => plan_file::on_files_edited(self, plan, memory),
            (Command::ChangeTier { tier, .. }, _) if tier == self.answered.tier => Vec::new(),
            (Command::ChangeTier { tier, reason }, _) => vec![Event::Life(LifeEvent::TierChanged { tier, reason })],
            (Command::Choose { choice }, _) => vec![Event::Person(PersonEvent::ModelChosen { choice })],
            (Command::Hold { .. }, Status::Held { reason, .. }) if *reason != HoldReason::Outage => Vec::new(),
            (Command::Hold { reason, detail }, _) => vec![Event::Life(LifeEvent::Held { reason, detail })],
            (Command::Resume { limits }, _) => vec![Event::Life(LifeEvent::Resumed { limits })],
            (Command::Cancel, _) => self.end_unfinished(JobStatus::Cancelled, "cancelled by a person".to_owned()),
            (Command::Fail { reason }, _) => self.end_unfinished(JobStatus::Failed, reason),
        }
    }
}
