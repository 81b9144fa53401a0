//! What a helper owes: the results of its calls, its word, its end. Whatever it does is done in its own conversation, and its
//! end gives back what the job's own waits for.

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
        event::{BoardKind, CallEnd, EpochCause, Event},
        helper_role::{HelperEnd, HelperRole},
        instructions::Agent,
        read_unit::ReadUnit,
        reply_calls::{DelegateReport, ReplyCalls},
        state::{INSTRUCTIONS_FILE, Job},
        tool::{Tool, ToolSet},
    },
    message::{Image, ToolCall, image_tokens},
    prompt::{
        bounds,
        compact::{self, FRAME},
        compose::helper_system_prompt,
        helper_opening,
        tools::ToolList,
    },
    tokens::{bounded, estimate, head},
};

impl Job {
    /// A helper begins: its conversation, and its opening.
    pub(super) fn start_helper(&self, role: HelperRole, task: &str) -> Vec<Event> {
        self.start_helper_as(self.helpers_begun + 1, role, task)
    }

    pub(super) fn start_helper_as(&self, conversation: u32, role: HelperRole, task: &str) -> Vec<Event> {
        let tools = self.tools_of(&role);
        let system_prompt = helper_system_prompt(&role);
        let helper = Conversation::new(conversation, Some(role.clone()), tools, &system_prompt);
        let first = match &role {
            // Its part is read first.
            HelperRole::Reader { units, .. } => {
                Event::DocumentsGiven { conversation, calls: reads_of(&self.spec, units) }
            }
            _ => self.opening_of(&helper, task),
        };
        let started = Event::HelperStarted {
            conversation,
            model: self.spec.instructions.model_of(&role).map(str::to_owned),
            role,
            tools,
            tools_sha256: ToolList::of(tools).sha256.clone(),
            system_prompt: system_prompt.into(),
        };
        vec![started, first]
    }

    fn opening_of(&self, helper: &Conversation, task: &str) -> Event {
        let opening = helper_opening::parts(self, helper, task);
        let images = helper.role.as_ref().map(|role| self.images_of(role)).unwrap_or_default();
        let tokens = FRAME + opening.iter().map(|part| estimate(part.text())).sum::<u64>() + image_tokens(&images);
        let conversation = helper.number;
        Event::EpochOpened { conversation, number: 1, cause: EpochCause::Begun, opening, images, tokens }
    }

    /// Second readers begin, one for each list of parts; they read side by side.
    pub(super) fn start_readers(&self, parts: Vec<Vec<ReadUnit>>) -> Vec<Event> {
        let start = |(number, units)| self.start_helper_as(number, HelperRole::SecondReader { units }, "");
        (self.helpers_begun + 1..).zip(parts).flat_map(start).collect()
    }

    fn images_of(&self, role: &HelperRole) -> Vec<Image> {
        let HelperRole::Transcriber { document, page, .. } = role else { return Vec::new() };
        self.scanned_page(document, *page).map(|scan| scan.image.clone()).into_iter().collect()
    }

    fn tools_of(&self, role: &HelperRole) -> ToolSet {
        match role {
            HelperRole::Delegate { agent } => {
                let agent = self.spec.instructions.agents.get(agent);
                agent.map(Agent::may_call).unwrap_or_default().into_iter().chain([Tool::Report]).collect()
            }
            HelperRole::SecondReader { .. } => {
                [Tool::AddRecords, Tool::ListDocuments, Tool::ReadDocument, Tool::Report].into_iter().collect()
            }
            HelperRole::Verifier { .. } => {
                [Tool::ReadFile, Tool::ListRecords, Tool::ListDocuments, Tool::ReadDocument, Tool::Verdict]
                    .into_iter()
                    .collect()
            }
            HelperRole::Reader { .. } => [Tool::AddRecords].into_iter().collect(),
            HelperRole::Transcriber { .. } => ToolSet::default(),
        }
    }

    /// The call of `delegate`: a helper begins, and the call waits for its end.
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
        self.start_helper(HelperRole::Delegate { agent: agent.to_owned() }, &task)
    }

    /// The facts that follow from a helper's state alone, where some do.
    pub(super) fn owed_by_helper(&self, helper: &Conversation, role: &HelperRole) -> Option<Vec<Event>> {
        if let Some(pending) = helper.calls.pending.front() {
            return self.owed_to_call_of(helper, role, pending);
        }
        if let Some(cause) = self.limit_reached() {
            return Some(vec![held(&cause)]);
        }
        if helper.attempts.withheld >= MOST_WITHHELD {
            return Some(self.end_helper(helper, HelperEnd::Withheld, ""));
        }
        if Self::is_transcriber(helper)
            && let Some(events) = self.owed_by_transcriber(helper)
        {
            return Some(events);
        }
        if let HelperRole::Reader { .. } = role
            && let Some(events) = self.owed_by_reader(helper)
        {
            return Some(events);
        }
        if helper.effort.silent && !helper.epoch.is_complete() {
            if let HelperRole::Delegate { .. } = role {
                let said = helper.epoch.last_reply().unwrap_or_default();
                return Some(self.end_helper(helper, HelperEnd::Reported, said));
            }
            if helper.asked >= MOST_ASKED {
                return Some(self.end_helper(helper, HelperEnd::Unfinished, ""));
            }
        }
        let end = if helper.turns >= MOST_TURNS {
            HelperEnd::TurnsUsed
        } else if helper.effort.stuck().is_some() {
            HelperEnd::Stuck
        } else if !compact::has_room(&self.spec, helper, FRAME + estimate(&self.line_of(helper))) {
            HelperEnd::Full
        } else {
            return None;
        };
        Some(self.end_helper(helper, end, ""))
    }

    /// What a helper's work still lacks, in a sentence for it.
    fn lacks(&self, helper: &Conversation) -> Option<String> {
        match helper.role.as_ref()? {
            HelperRole::Delegate { .. } | HelperRole::Transcriber { .. } => None,
            HelperRole::Reader { .. } => {
                Some("add the records of your part, or say once more that it has none".to_owned())
            }
            HelperRole::SecondReader { .. } => {
                let unread: Vec<String> =
                    helper.unread(&self.spec).into_iter().map(helper_opening::unit_told).collect();
                (!unread.is_empty())
                    .then(|| format!("not read yet: {}; read them, and add their records", unread.join(", ")))
            }
            HelperRole::Verifier { .. } => Some("call verdict with accept, or with reject and the findings".to_owned()),
        }
    }

    fn owed_to_call_of(
        &self,
        helper: &Conversation,
        role: &HelperRole,
        PendingCall { said, tool, call }: &PendingCall,
    ) -> Option<Vec<Event>> {
        let refused = |text: String| Some(vec![in_conversation(helper, refusal(said, text))]);
        if let Some(tool) = tool
            // What the system reads for its opening is no call of the helper.
            && helper.epoch.number > 0
            && !helper.tools.contains(*tool)
        {
            let names: Vec<&str> = helper.tools.iter().map(Tool::name).collect();
            if names.is_empty() {
                return refused("there are no tools here: reply with the text of the page".to_owned());
            }
            return refused(format!("a helper can't call {}; its tools are {}", tool.name(), names.join(", ")));
        }
        match call {
            ParsedCall::Invalid { reason } => refused(reason.clone()),
            // What was said to be done was not.
            ParsedCall::Control(ControlCall::Report(_) | ControlCall::Verdict(_))
                if let Some(text) = undone(&helper.calls) =>
            {
                Some(vec![in_conversation(helper, returned(said, CallEnd::Skipped, text))])
            }
            ParsedCall::Control(ControlCall::Report(text)) => match self.lacks(helper) {
                Some(lacks) if helper.asked < MOST_ASKED => refused(lacks),
                lacks => {
                    let end = if lacks.is_none() { HelperEnd::Reported } else { HelperEnd::Unfinished };
                    let mut events = vec![in_conversation(helper, returned(said, CallEnd::Done, "It is taken over."))];
                    events.extend(skipped(helper, 1));
                    events.extend(self.helper_ended(helper, end, text));
                    Some(events)
                }
            },
            // Quotes are looked for first.
            ParsedCall::Control(ControlCall::Verdict(_)) => None,
            ParsedCall::Control(_) => refused("a helper can't do that".to_owned()),
            ParsedCall::Work(call) if call.fills_the_context() && bounds::is_full(&self.spec, helper) => {
                let text =
                    "not run: the results of this reply fill the context already; call it again in the next reply";
                Some(vec![in_conversation(helper, returned(said, CallEnd::Skipped, text))])
            }
            ParsedCall::Work(WorkCall::Change(change))
                if !is_own(helper, change) && !self.is_of_readers(helper, change) =>
            {
                refused(format!(
                    "a helper writes under {} only; give a path there, and say in the report what stands in it",
                    helper.folder()
                ))
            }
            ParsedCall::Work(WorkCall::Read(ReadCall::ReadFile(read)))
                if matches!(role, HelperRole::Verifier { .. }) && !is_result(&read.path) =>
            {
                refused(format!("only the deliverables under output/ and {INSTRUCTIONS_FILE} are to be judged"))
            }
            ParsedCall::Work(_) => None,
        }
    }

    /// A helper ends where no call of it waits for a result.
    pub(super) fn end_helper(&self, helper: &Conversation, end: HelperEnd, report: &str) -> Vec<Event> {
        let mut events = skipped(helper, 0);
        events.extend(self.helper_ended(helper, end, report));
        events
    }

    /// A helper has ended, and what the job's own conversation waits for follows.
    pub(super) fn helper_ended(&self, helper: &Conversation, end: HelperEnd, report: &str) -> Vec<Event> {
        let most = bounds::answer_tokens(&self.spec);
        // What stands on a page is its text, however long.
        let report = if Self::is_transcriber(helper) {
            report.trim().to_owned()
        } else {
            bounded(report.trim(), most, "the journal")
        };
        let mut events = vec![Event::HelperEnded { conversation: helper.number, end, report: report.clone() }];
        match &helper.role {
            // The call that waits is answered when those before it are; second readers are counted when all have ended.
            // So are transcribers.
            None
            | Some(HelperRole::Delegate { .. } | HelperRole::SecondReader { .. } | HelperRole::Transcriber { .. }) => {}
            Some(HelperRole::Reader { .. }) => events.extend(self.part_ended(helper, end, &report)),
            Some(HelperRole::Verifier { round }) => {
                events.extend(verifier::without_verdict(self, helper.number, *round, end));
            }
        }
        events
    }

    /// The runner's word behind a helper's newest result.
    pub(super) fn word_to(&self, helper: &Conversation) -> Event {
        if helper.epoch.number == 0 {
            return self.opening_of(helper, "");
        }
        let line = self.line_of(helper);
        let tokens = FRAME + estimate(&line);
        Event::BoardShown { conversation: helper.number, kind: BoardKind::Helper, board: None, line, tokens }
    }

    /// `[runner 3f9a1b2c · helper 2 · turn 3 of 40]`, with what is missing where the helper stopped without it.
    fn line_of(&self, helper: &Conversation) -> String {
        let mark = crate::prompt::opening::runner_mark(self);
        let line = format!("[{mark} · helper {} · turn {} of {MOST_TURNS}]", helper.number, helper.turns + 1);
        if !helper.effort.silent || helper.turns == 0 {
            return line;
        }
        let lacks = self.lacks(helper);
        let lacks = lacks.as_deref().unwrap_or("add the records that you have found, then call report(text)");
        format!("{line}\n<reminder>Your last reply called no tool: {lacks}.</reminder>")
    }
}

impl Job {
    /// Whether a change adds to the list of the readers.
    fn is_of_readers(&self, of: &Conversation, change: &FileChange) -> bool {
        let readers = self.spec.instructions.readers.as_ref();
        matches!(of.role, Some(HelperRole::Reader { .. }))
            && readers.is_some_and(|readers| readers.deliverable == change.plain_path())
    }

    /// Readers and second readers have one list, wherever they say that their records are to go.
    pub(super) fn as_understood(&self, of: &Conversation, mut pending: PendingCall) -> PendingCall {
        if let (Some(HelperRole::Reader { .. }), Some(readers)) = (&of.role, &self.spec.instructions.readers)
            && let ParsedCall::Work(WorkCall::Change(FileChange::Records(add))) = &mut pending.call
        {
            add.path.clone_from(&readers.deliverable);
        }
        if let Some(HelperRole::SecondReader { .. }) = of.role
            && let ParsedCall::Work(WorkCall::Change(FileChange::Records(add))) = &mut pending.call
            && let Some(deliverable) = helper_opening::second_list(self)
        {
            add.path = format!("{}{}", of.folder(), helper_opening::name(&deliverable.path));
        }
        pending
    }
}

/// The result of a call that was delegated.
pub(super) fn reported(said: &ToolCall, DelegateReport { agent, end, report }: &DelegateReport) -> Event {
    let (call_end, text) = match end {
        HelperEnd::Reported => (CallEnd::Done, format!("{agent} reports:\n{report}")),
        HelperEnd::Unfinished
        | HelperEnd::TurnsUsed
        | HelperEnd::Stuck
        | HelperEnd::Full
        | HelperEnd::Withheld
        | HelperEnd::Failed => (
            CallEnd::Failed,
            format!("{agent} gave no report: the helper {}; do it yourself, or delegate less at once", end.told()),
        ),
    };
    returned(said, call_end, text)
}

/// Why nothing ends behind the calls of this reply: one was not done, or came back with what was not seen yet.
fn undone(calls: &ReplyCalls) -> Option<String> {
    let name = calls.unreadable.as_ref().or(calls.skipped.as_ref()).map(|name| head(name, 20));
    let was_not_done = |name| format!("not run: {name} before it in this reply was not done; look at its result first");
    name.map(was_not_done).or_else(|| calls.sent_back.first().map(unseen))
}

/// Whether a change stays in the helper's own folder.
fn is_own(helper: &Conversation, change: &FileChange) -> bool {
    change.plain_path().starts_with(&helper.folder())
}

fn is_result(path: &str) -> bool {
    let path = plain_path(path);
    path.starts_with("output/") || path == INSTRUCTIONS_FILE
}
