//! The obligations towards a sub-agent: the results of its calls, the runner's message, its end. All of it happens in
//! its own conversation, and its end returns what the job's own waits for.

use super::{
    answers::{in_conversation, refusal, returned, skipped, unseen},
    attempts::MOST_WITHHELD,
    ending::held,
    part_reading::reads_of,
    verifier,
};
use crate::{
    job::{
        arguments::Delegate,
        call::{ControlCall, FileChange, ParsedCall, PendingCall, ReadCall, WorkCall, plain_path},
        conversation::{Conversation, MOST_ASKED, MOST_TURNS},
        event::{BoardKind, CallEnd, ConversationEvent, EpochCause, Event},
        instructions::Agent,
        read_unit::ReadUnit,
        reply_calls::{DelegateReport, ReplyCalls},
        state::{INSTRUCTIONS_FILE, Job},
        sub_agent_role::{SubAgentEnd, SubAgentRole},
        tool::{Tool, ToolSet},
    },
    message::{Image, ToolCall, image_tokens},
    prompt::{
        bounds,
        compact::{self, FRAME},
        compose::sub_agent_system_prompt,
        sub_agent_opening,
        tools::ToolList,
    },
    tokens::{bounded, estimate, head},
};

impl Job {
    /// A sub-agent begins: its conversation, and its opening.
    pub(super) fn start_sub_agent(&self, role: SubAgentRole, task: &str) -> Vec<Event> {
        self.start_sub_agent_as(self.sub_agents_begun + 1, role, task)
    }

    pub(super) fn start_sub_agent_as(&self, conversation: u32, role: SubAgentRole, task: &str) -> Vec<Event> {
        let tools = self.tools_of(&role);
        let system_prompt = sub_agent_system_prompt(&role);
        let sub_agent = Conversation::new(conversation, Some(role.clone()), tools, &system_prompt);
        let first = match &role {
            // Its part is read first.
            SubAgentRole::Reader { units, .. } => Event::Conversation(ConversationEvent::DocumentsGiven {
                conversation,
                calls: reads_of(&self.spec, units),
            }),
            _ => self.opening_of(&sub_agent, task),
        };
        let started = Event::Conversation(ConversationEvent::SubAgentStarted {
            conversation,
            model: self.spec.instructions.model_of(&role).map(str::to_owned),
            role,
            tools,
            tools_sha256: ToolList::of(tools).sha256.clone(),
            system_prompt: system_prompt.into(),
        });
        vec![started, first]
    }

    fn opening_of(&self, sub_agent: &Conversation, task: &str) -> Event {
        let opening = sub_agent_opening::parts(self, sub_agent, task);
        let images = sub_agent.role.as_ref().map(|role| self.images_of(role)).unwrap_or_default();
        let tokens = FRAME + opening.iter().map(|part| estimate(part.text())).sum::<u64>() + image_tokens(&images);
        let conversation = sub_agent.number;
        Event::Conversation(ConversationEvent::EpochOpened {
            conversation,
            number: 1,
            cause: EpochCause::Begun,
            opening,
            images,
            tokens,
        })
    }

    /// Second readers begin, one for each list of parts; they read side by side.
    pub(super) fn start_readers(&self, parts: Vec<Vec<ReadUnit>>) -> Vec<Event> {
        let start = |(number, units)| self.start_sub_agent_as(number, SubAgentRole::SecondReader { units }, "");
        (self.sub_agents_begun + 1..).zip(parts).flat_map(start).collect()
    }

    fn images_of(&self, role: &SubAgentRole) -> Vec<Image> {
        let SubAgentRole::Transcriber { document, page, .. } = role else { return Vec::new() };
        self.scanned_page(document, *page).map(|scan| scan.image.clone()).into_iter().collect()
    }

    fn tools_of(&self, role: &SubAgentRole) -> ToolSet {
        match role {
            SubAgentRole::Delegate { agent } => {
                let agent = self.spec.instructions.agents.get(agent);
                agent.map(Agent::may_call).unwrap_or_default().into_iter().chain([Tool::Report]).collect()
            }
            SubAgentRole::SecondReader { .. } => {
                [Tool::AddRecords, Tool::ListDocuments, Tool::ReadDocument, Tool::Report].into_iter().collect()
            }
            SubAgentRole::Verifier { .. } => {
                [Tool::ReadFile, Tool::ListRecords, Tool::ListDocuments, Tool::ReadDocument, Tool::Verdict]
                    .into_iter()
                    .collect()
            }
            SubAgentRole::Reader { .. } => [Tool::AddRecords].into_iter().collect(),
            SubAgentRole::Transcriber { .. } => ToolSet::default(),
        }
    }

    /// The call of `delegate`: a sub-agent begins, and the call waits for its end.
    pub(super) fn delegate(&self, said: &ToolCall, call: &Delegate) -> Vec<Event> {
        let agents = &self.spec.instructions.agents;
        let agent = call.agent_type.trim();
        if !agents.contains_key(agent) {
            let names: Vec<&str> = agents.keys().map(String::as_str).collect();
            let text = match names.as_slice() {
                [] => "the instructions have no agents; do the task yourself".to_owned(),
                names => format!("there is no agent '{agent}'; the agents are {}", names.join(", ")),
            };
            return vec![refusal(said, text)];
        }
        let context = call.context.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let task = match context {
            Some(context) => format!("{}\n\n{context}", call.task.trim()),
            None => call.task.trim().to_owned(),
        };
        self.start_sub_agent(SubAgentRole::Delegate { agent: agent.to_owned() }, &task)
    }

    /// The facts that follow from a sub-agent's state alone, where some do.
    pub(super) fn owed_by_sub_agent(&self, sub_agent: &Conversation, role: &SubAgentRole) -> Option<Vec<Event>> {
        if let Some(pending) = sub_agent.calls.pending.front() {
            return self.owed_to_call_of(sub_agent, role, pending);
        }
        if let Some(cause) = self.limit_reached() {
            return Some(vec![held(&cause)]);
        }
        if sub_agent.attempts.withheld >= MOST_WITHHELD {
            return Some(self.end_sub_agent(sub_agent, SubAgentEnd::Withheld, ""));
        }
        if Self::is_transcriber(sub_agent)
            && let Some(events) = self.owed_by_transcriber(sub_agent)
        {
            return Some(events);
        }
        if let SubAgentRole::Reader { .. } = role
            && let Some(events) = self.owed_by_reader(sub_agent)
        {
            return Some(events);
        }
        if sub_agent.effort.silent && !sub_agent.epoch.is_complete() {
            if let SubAgentRole::Delegate { .. } = role {
                let said = sub_agent.epoch.last_reply().unwrap_or_default();
                return Some(self.end_sub_agent(sub_agent, SubAgentEnd::Reported, said));
            }
            if sub_agent.asked >= MOST_ASKED {
                return Some(self.end_sub_agent(sub_agent, SubAgentEnd::Unfinished, ""));
            }
        }
        let end = if sub_agent.turns >= MOST_TURNS {
            SubAgentEnd::TurnsUsed
        } else if sub_agent.effort.stuck().is_some() {
            SubAgentEnd::Stuck
        } else if !compact::has_room(&self.spec, sub_agent, FRAME + estimate(&self.line_of(sub_agent))) {
            SubAgentEnd::Full
        } else {
            return None;
        };
        Some(self.end_sub_agent(sub_agent, end, ""))
    }

    /// The part of a sub-agent's work that is missing, in a sentence for it.
    fn lacks(&self, sub_agent: &Conversation) -> Option<String> {
        match sub_agent.role.as_ref()? {
            SubAgentRole::Delegate { .. } | SubAgentRole::Transcriber { .. } => None,
            SubAgentRole::Reader { .. } => {
                Some("add the records of your part, or say once more that it has none".to_owned())
            }
            SubAgentRole::SecondReader { .. } => {
                let unread: Vec<String> =
                    sub_agent.unread(&self.spec).into_iter().map(sub_agent_opening::unit_told).collect();
                (!unread.is_empty())
                    .then(|| format!("not read yet: {}; read them, and add their records", unread.join(", ")))
            }
            SubAgentRole::Verifier { .. } => {
                Some("call verdict with accept, or with reject and the findings".to_owned())
            }
        }
    }

    fn owed_to_call_of(
        &self,
        sub_agent: &Conversation,
        role: &SubAgentRole,
        PendingCall { said, tool, call }: &PendingCall,
    ) -> Option<Vec<Event>> {
        let refused = |text: String| Some(vec![in_conversation(sub_agent, refusal(said, text))]);
        if let Some(tool) = tool
            // The reads of the system for its opening are no calls of the sub-agent.
            && sub_agent.epoch.number > 0
            && !sub_agent.tools.contains(*tool)
        {
            let names: Vec<&str> = sub_agent.tools.iter().map(Tool::name).collect();
            if names.is_empty() {
                return refused("there are no tools here: reply with the text of the page".to_owned());
            }
            return refused(format!("a sub-agent can't call {}; its tools are {}", tool.name(), names.join(", ")));
        }
        match call {
            ParsedCall::Invalid { reason } => refused(reason.clone()),
            // Work that is claimed to be done was not done.
            ParsedCall::Control(ControlCall::Report(_) | ControlCall::Verdict(_))
                if let Some(text) = undone(&sub_agent.calls) =>
            {
                Some(vec![in_conversation(sub_agent, returned(said, CallEnd::Skipped, text))])
            }
            ParsedCall::Control(ControlCall::Report(text)) => match self.lacks(sub_agent) {
                Some(lacks) if sub_agent.asked < MOST_ASKED => refused(lacks),
                lacks => {
                    let end = if lacks.is_none() { SubAgentEnd::Reported } else { SubAgentEnd::Unfinished };
                    let mut events =
                        vec![in_conversation(sub_agent, returned(said, CallEnd::Done, "It is taken over."))];
                    events.extend(skipped(sub_agent, 1));
                    events.extend(self.sub_agent_ended(sub_agent, end, text));
                    Some(events)
                }
            },
            // Quotes are looked for first.
            ParsedCall::Control(ControlCall::Verdict(_)) => None,
            ParsedCall::Control(_) => refused("a sub-agent can't do that".to_owned()),
            ParsedCall::Work(call) if call.fills_the_context() && bounds::is_full(&self.spec, sub_agent) => {
                let text =
                    "not run: the results of this reply fill the context already; call it again in the next reply";
                Some(vec![in_conversation(sub_agent, returned(said, CallEnd::Skipped, text))])
            }
            ParsedCall::Work(WorkCall::Change(change))
                if !is_own(sub_agent, change) && !self.is_of_readers(sub_agent, change) =>
            {
                refused(format!(
                    "a sub-agent writes under {} only; give a path there, and say in the report what stands in it",
                    sub_agent.folder()
                ))
            }
            ParsedCall::Work(WorkCall::Read(ReadCall::ReadFile(read)))
                if matches!(role, SubAgentRole::Verifier { .. }) && !is_result(&read.path) =>
            {
                refused(format!("only the deliverables under output/ and {INSTRUCTIONS_FILE} are to be judged"))
            }
            ParsedCall::Work(_) => None,
        }
    }

    /// Ends a sub-agent; its calls without a result get one first.
    pub(super) fn end_sub_agent(&self, sub_agent: &Conversation, end: SubAgentEnd, report: &str) -> Vec<Event> {
        let mut events = skipped(sub_agent, 0);
        events.extend(self.sub_agent_ended(sub_agent, end, report));
        events
    }

    /// A sub-agent has ended: its end, and the consequences for the job's own conversation.
    pub(super) fn sub_agent_ended(&self, sub_agent: &Conversation, end: SubAgentEnd, report: &str) -> Vec<Event> {
        let most = bounds::answer_tokens(&self.spec);
        // The text of a page is kept whole, however long it is.
        let report = if Self::is_transcriber(sub_agent) {
            report.trim().to_owned()
        } else {
            bounded(report.trim(), most, "the journal")
        };
        let mut events = vec![Event::Conversation(ConversationEvent::SubAgentEnded {
            conversation: sub_agent.number,
            end,
            report: report.clone(),
        })];
        match &sub_agent.role {
            // The call that waits is answered after those before it; second readers are counted when all have ended,
            // and so are transcribers.
            None
            | Some(
                SubAgentRole::Delegate { .. } | SubAgentRole::SecondReader { .. } | SubAgentRole::Transcriber { .. },
            ) => {}
            Some(SubAgentRole::Reader { .. }) => events.extend(self.part_ended(sub_agent, end, &report)),
            Some(SubAgentRole::Verifier { round }) => {
                events.extend(verifier::without_verdict(self, sub_agent.number, *round, end));
            }
        }
        events
    }

    /// The runner's message with a sub-agent's newest result.
    pub(super) fn word_to(&self, sub_agent: &Conversation) -> Event {
        if sub_agent.epoch.number == 0 {
            return self.opening_of(sub_agent, "");
        }
        let line = self.line_of(sub_agent);
        let tokens = FRAME + estimate(&line);
        Event::Conversation(ConversationEvent::BoardShown {
            conversation: sub_agent.number,
            kind: BoardKind::SubAgent,
            board: None,
            line,
            tokens,
        })
    }

    /// `[runner 3f9a1b2c · sub-agent 2 · turn 3 of 40]`, with the missing work if the sub-agent stopped without it.
    fn line_of(&self, sub_agent: &Conversation) -> String {
        let mark = crate::prompt::opening::runner_mark(self);
        let line = format!("[{mark} · sub-agent {} · turn {} of {MOST_TURNS}]", sub_agent.number, sub_agent.turns + 1);
        if !sub_agent.effort.silent || sub_agent.turns == 0 {
            return line;
        }
        let lacks = self.lacks(sub_agent);
        let lacks = lacks.as_deref().unwrap_or("add the records that you have found, then call report(text)");
        format!("{line}\n<reminder>Your last reply called no tool: {lacks}.</reminder>")
    }
}

impl Job {
    /// Whether a change adds to the list of the readers.
    fn is_of_readers(&self, of: &Conversation, change: &FileChange) -> bool {
        let readers = self.spec.instructions.readers.as_ref();
        matches!(of.role, Some(SubAgentRole::Reader { .. }))
            && readers.is_some_and(|readers| readers.deliverable == change.plain_path())
    }

    /// Readers and second readers write to one list, whatever path they give for their records.
    pub(super) fn as_understood(&self, of: &Conversation, mut pending: PendingCall) -> PendingCall {
        if let (Some(SubAgentRole::Reader { .. }), Some(readers)) = (&of.role, &self.spec.instructions.readers)
            && let ParsedCall::Work(WorkCall::Change(FileChange::Records(add))) = &mut pending.call
        {
            add.path.clone_from(&readers.deliverable);
        }
        if let Some(SubAgentRole::SecondReader { .. }) = of.role
            && let ParsedCall::Work(WorkCall::Change(FileChange::Records(add))) = &mut pending.call
            && let Some(deliverable) = sub_agent_opening::second_list(self)
        {
            add.path = format!("{}{}", of.folder(), sub_agent_opening::name(&deliverable.path));
        }
        pending
    }
}

/// The result of a `delegate` call.
pub(super) fn reported(said: &ToolCall, DelegateReport { agent, end, report }: &DelegateReport) -> Event {
    let (call_end, text) = match end {
        SubAgentEnd::Reported => (CallEnd::Done, format!("{agent} reports:\n{report}")),
        SubAgentEnd::Unfinished
        | SubAgentEnd::TurnsUsed
        | SubAgentEnd::Stuck
        | SubAgentEnd::Full
        | SubAgentEnd::Withheld
        | SubAgentEnd::Failed => (
            CallEnd::Failed,
            format!("{agent} gave no report: the sub-agent {}; do it yourself, or delegate less at once", end.told()),
        ),
    };
    returned(said, call_end, text)
}

/// Why nothing ends after the calls of this reply: one was not done, or returned a problem that was not seen yet.
fn undone(calls: &ReplyCalls) -> Option<String> {
    let name = calls.unreadable.as_ref().or(calls.skipped.as_ref()).map(|name| head(name, 20));
    let was_not_done = |name| format!("not run: {name} before it in this reply was not done; look at its result first");
    name.map(was_not_done).or_else(|| calls.sent_back.first().map(unseen))
}

/// Whether a change stays in the sub-agent's own folder.
fn is_own(sub_agent: &Conversation, change: &FileChange) -> bool {
    change.plain_path().starts_with(&sub_agent.folder())
}

fn is_result(path: &str) -> bool {
    let path = plain_path(path);
    path.starts_with("output/") || path == INSTRUCTIONS_FILE
}
