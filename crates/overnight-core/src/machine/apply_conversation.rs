//! What a fact of a conversation means for the state, and what one of second reader or verifier does. The job's own conversation
//! and those of helpers are the same but for what their roles say.

use crate::{
    job::{
        conversation::{Conversation, OWN},
        event::{BoardKind, Event},
        failure::{Attempts, FailureKind, Remedy},
        helper_role::HelperRole,
        part::Part,
        part_reading::PartReading,
        proof::{GivenVerdict, SecondReading},
        read_unit::ReadUnit,
        reply_calls::{DelegateReport, ReplyCalls},
        state::{CompactionDue, Job, Progress},
        time::Timestamp,
    },
    message::{Message, Stop, ToolCall},
    prompt::helper_opening,
};

impl Job {
    /// Takes in an event of a conversation, or of second reading and verifier; `false`: it is none.
    pub(super) fn apply_to_conversation(&mut self, at: Timestamp, event: &Event) -> bool {
        match event {
            Event::HelperStarted { conversation, role, tools, system_prompt, .. } => {
                self.helpers_begun = *conversation;
                let mut helper = Conversation::new(*conversation, Some(role.clone()), *tools, system_prompt.text());
                if let HelperRole::Delegate { .. } = role {
                    helper.answers = self.first_unanswered();
                }
                if let (HelperRole::SecondReader { units }, Some(reading)) = (role, &mut self.proof.reading) {
                    reading.on_helper_started(units);
                }
                if let (HelperRole::Reader { part, .. }, Some(reading)) = (role, &mut self.part_reading) {
                    reading.on_started(*part);
                }
                self.helpers.insert(*conversation, helper);
            }
            Event::EpochOpened { conversation, number, opening, images, tokens, .. } => {
                let Some(one) = self.conversation_mut(*conversation) else { return true };
                let text = opening.iter().map(Part::text).collect();
                let board = opening.last().filter(|_| one.is_own()).map_or("", Part::text);
                let opening = Message::User { text, images: images.clone() };
                one.epoch.open(*number, &one.system_prompt, opening, board, *tokens);
                if *conversation == OWN {
                    self.compaction = CompactionDue::default();
                    self.on_shown(BoardKind::Todos);
                }
            }
            Event::BoardShown { conversation, kind, board, line, tokens } => {
                let Some(one) = self.conversation_mut(*conversation) else { return true };
                if !one.is_own() && one.effort.silent {
                    one.asked += 1;
                }
                one.epoch.push_board(line, board.as_deref(), *tokens);
                if *conversation == OWN {
                    self.compaction.todo_ended = false;
                    self.on_shown(*kind);
                }
            }
            Event::ModelReplied { .. } => self.on_replied(event),
            Event::AttemptFailed { conversation, kind, .. } => {
                let number = self.failed_conversation(*conversation);
                let remedy = kind.remedy();
                let Some(one) = self.conversation_mut(number) else { return true };
                one.submitted = None;
                one.attempts.failed += 1;
                one.attempts.unanswered += u32::from(*kind == FailureKind::Unanswered);
                one.attempts.unreadable = if remedy == Remedy::AskAgain { one.attempts.unreadable + 1 } else { 0 };
                match remedy {
                    Remedy::Compact => one.attempts.too_long += 1,
                    Remedy::Reopen => one.epoch.on_history_refused(),
                    Remedy::Retry { .. } | Remedy::AskAgain | Remedy::Configure | Remedy::GiveUp => {}
                }
            }
            Event::CallSubmitted { conversation, call, .. } => {
                if let Some(one) = self.conversation_mut(*conversation) {
                    one.submitted = Some(call.clone());
                }
            }
            Event::ToolStarted { conversation, prepared, .. } => {
                if let Some(one) = self.conversation_mut(*conversation) {
                    one.calls.prepared = Some(prepared.clone());
                }
            }
            Event::ToolReturned { conversation, result, tokens, .. } => {
                self.on_tool_returned(*conversation, result, *tokens);
            }
            Event::HelperEnded { conversation, end, report } => {
                let Some(helper) = self.helpers.remove(conversation) else { return true };
                match (&helper.role, &helper.answers) {
                    (Some(HelperRole::Delegate { agent }), Some(call)) => {
                        let report = DelegateReport { agent: agent.clone(), end: *end, report: report.clone() };
                        self.own.calls.reports.insert(call.clone(), report);
                    }
                    (Some(HelperRole::SecondReader { units }), _) => self.on_reader_ended(&helper, units),
                    (Some(HelperRole::Transcriber { document, page, reader }), _) => {
                        self.on_page_read((document, *page, *reader), *end, report);
                    }
                    (Some(HelperRole::Reader { part, .. }), _) => {
                        if let Some(reading) = &mut self.part_reading {
                            reading.on_ended(*part);
                        }
                    }
                    (None | Some(HelperRole::Delegate { .. } | HelperRole::Verifier { .. }), _) => {}
                }
            }
            Event::DocumentsGiven { conversation, calls } => {
                let calls = ReplyCalls::of(calls, &self.deliverables);
                if let Some(one) = self.conversation_mut(*conversation) {
                    one.calls = calls;
                }
            }
            Event::PartReadingBegun { parts } => self.part_reading = Some(PartReading::new(self.phase.number, parts)),
            Event::PartsRead { doubled } => self.on_parts_read(doubled),
            Event::PagesRead { documents, pages } => self.on_pages_read(documents, pages),
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

    /// The call of `delegate` that a helper begins for: the first that has none.
    fn first_unanswered(&self) -> Option<String> {
        let due = self.due_call(&self.own)?;
        Some(due.said.id.clone())
    }

    /// Whose attempt failed. Journals of earlier versions don't say: while a helper works, the job's own asks nobody.
    fn failed_conversation(&self, named: u32) -> u32 {
        if named == OWN { self.helpers.keys().next().copied().unwrap_or(OWN) } else { named }
    }

    fn on_replied(&mut self, event: &Event) {
        let Event::ModelReplied {
            conversation,
            text,
            calls,
            usage,
            cost_usd,
            prompt_tokens,
            reply_tokens,
            carried,
            stop,
            ..
        } = event
        else {
            return;
        };
        self.totals.spent.add(usage, *cost_usd);
        if let (true, Progress::Planning(planning)) = (*conversation == OWN, &mut self.progress) {
            planning.asked += 1;
            planning.is_refused_now = false;
            planning.spent.add(usage, *cost_usd);
        } else {
            self.phase.spent.add(usage, *cost_usd);
        }
        // The digest is of what was done before; the results behind it are still to be worked on.
        let is_digest = *conversation == OWN && self.progress == Progress::Digesting;
        let known = ReplyCalls::of(calls, &self.deliverables);
        let Some(one) = self.conversation_mut(*conversation) else { return };
        let withheld = if *stop == Stop::Refused { one.attempts.withheld + 1 } else { 0 };
        one.attempts = Attempts { withheld, ..Attempts::default() };
        one.submitted = None;
        one.turns += 1;
        one.is_cut = *stop == Stop::Length;
        one.counted = Some((usage.input, *prompt_tokens));
        one.calls = known;
        let shown = if is_digest {
            one.epoch.unanswered().iter().filter_map(|result| result.shown.clone()).collect()
        } else {
            one.epoch.on_answered()
        };
        for part in &shown {
            if one.coverage.add(part) {
                one.effort.on_change();
            }
        }
        let said: Vec<ToolCall> = calls.iter().map(|call| call.said.clone()).collect();
        one.epoch.push_reply(text, said, carried.as_ref(), *reply_tokens);
        one.effort.on_turn(calls.len());
        let role = one.role.clone();
        let Some(role) = role else {
            self.phase.tries += 1;
            return;
        };
        self.phase.helper_turns += 1;
        if let Some(model) = self.spec.instructions.model_of(&role) {
            *self.turns_of_named.entry(model.to_owned()).or_default() += 1;
        }
        // What a delegate or a reader reads is read for the job; a second reader reads for itself.
        if let HelperRole::Delegate { .. } | HelperRole::Reader { .. } = role {
            for part in &shown {
                self.own.coverage.add(part);
            }
        }
    }

    fn on_reader_ended(&mut self, helper: &Conversation, units: &[ReadUnit]) {
        let file = helper_opening::second_list(self).map(|found| helper_opening::name(&found.path).to_owned());
        if let (Some(reading), Some(file)) = (&mut self.proof.reading, file) {
            let (read, rest) = units.iter().cloned().partition(|unit| helper.has_read(&self.spec, unit));
            let list = (helper.number, format!("{}{file}", helper.folder()), units.to_vec());
            reading.on_helper_ended(list, read, rest, &self.spec);
        }
    }
}
