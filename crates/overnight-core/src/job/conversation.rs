//! Conversations: the job's own, which is number 0, and those of helpers beside it. Each has a history, the calls of its present
//! reply, tools, and bounds of its own, so that whatever a helper does costs nothing but itself. Several helpers may be at work
//! at once; the job's own conversation waits for them. The turns of all are decisions of one journal.

use super::{
    call::{ControlCall, ParsedCall, PendingCall, ToolSet},
    coverage::Coverage,
    effort::Effort,
    epoch::Epoch,
    failure::Attempts,
    instructions::Instructions,
    models::ModelRoles,
    reply_calls::ReplyCalls,
    second_reading::ReadUnit,
    spec::JobSpec,
    state::Job,
    submitted_call::SubmittedCall,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The number of the job's own conversation.
pub const OWN: u32 = 0;
/// Turns of one helper.
pub const MOST_TURNS: u64 = 40;
/// Times that a helper is told what its work still lacks before it ends without it.
pub const MOST_ASKED: u32 = 2;
/// The folder under which each helper has one of its own.
pub const HELPERS_FOLDER: &str = "helpers";

/// What a helper is for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum HelperRole {
    /// The model has delegated a task to one of the instructions' agents.
    Delegate {
        /// Its name there.
        agent: String,
    },
    /// Lists the records of these parts a second time.
    SecondReader {
        /// In the order in which they are to be read.
        units: Vec<ReadUnit>,
    },
    /// Records what stands in one part of the documents, while others read the other parts.
    Reader {
        /// Its place among the parts, from 1.
        part: u32,
        /// In the order in which they stand in its opening.
        units: Vec<ReadUnit>,
    },
    /// Judges the deliverables.
    Verifier {
        /// From 1.
        round: u32,
    },
    /// Transcribes a page that only eyes can read.
    Transcriber {
        /// The document's name.
        document: String,
        /// From 1.
        page: u64,
        /// Which of the page's readers it is, from 1.
        reader: u32,
    },
}

impl HelperRole {
    /// In a few words: `agent validator`, `second reader`, `verifier`.
    pub fn told(&self) -> String {
        match self {
            Self::Delegate { agent } => format!("agent {agent}"),
            Self::SecondReader { .. } => "second reader".to_owned(),
            Self::Reader { part, .. } => format!("reader of part {part}"),
            Self::Verifier { .. } => "verifier".to_owned(),
            Self::Transcriber { document, page, reader: 1 } => format!("transcriber of page {page} of {document}"),
            Self::Transcriber { document, page, .. } => format!("second transcriber of page {page} of {document}"),
        }
    }

    /// The model that the instructions name for it; none: the job's own.
    pub fn model<'s>(&self, spec: &'s JobSpec) -> Option<&'s str> {
        let instructions = &spec.instructions;
        let models = &instructions.models;
        match self {
            Self::Delegate { agent } => {
                let own = instructions.agents.get(agent).and_then(|agent| agent.model.as_deref());
                own.or(models.helpers.as_deref())
            }
            Self::SecondReader { .. } => models.second_reader.as_deref(),
            Self::Reader { .. } => models.readers.as_deref(),
            Self::Verifier { .. } => models.verify.as_deref(),
            Self::Transcriber { reader: 1, .. } => models.vision.as_deref(),
            Self::Transcriber { .. } => models.vision_second.as_deref(),
        }
    }
}

/// How a helper's work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HelperEnd {
    /// It said that it is done.
    Reported,
    /// It stopped without what it was asked for, and was told so often enough.
    Unfinished,
    /// Its turns are used up.
    TurnsUsed,
    /// Nothing moved any more.
    Stuck,
    /// Its history has no room left.
    Full,
    /// Its provider withheld its replies.
    Withheld,
    /// It can't be asked any more.
    Failed,
}

impl HelperEnd {
    /// A sentence's end: `the helper ...`.
    pub fn told(self) -> &'static str {
        match self {
            Self::Reported => "has reported",
            Self::Unfinished => "stopped before it was done",
            Self::TurnsUsed => "used up its turns",
            Self::Stuck => "got stuck",
            Self::Full => "had no room left in its context",
            Self::Withheld => "had its replies withheld by the provider",
            Self::Failed => "could not be asked",
        }
    }
}

/// One history with a model, and what belongs to it.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Unique in the job: [`OWN`], and from 1 those of helpers.
    pub number: u32,
    /// What it is for; none: it is the job's own.
    pub role: Option<HelperRole>,
    /// The call of the job's own conversation that waits for its end, where one delegated it.
    pub answers: Option<String>,
    /// Those that may be called.
    pub tools: ToolSet,
    /// The first message of its history.
    pub system_prompt: String,
    /// What the model is shown: layer 4 is its opening, layer 5 what was said since.
    pub epoch: Epoch,
    /// Of the present reply.
    pub calls: ReplyCalls,
    /// At the present turn.
    pub attempts: Attempts,
    /// The call that was handed in, where its answer is to come.
    pub submitted: Option<SubmittedCall>,
    /// Its replies so far.
    pub turns: u64,
    /// The signs of being stuck: of the current todo, or of a helper's whole work.
    pub effort: Effort,
    /// Its last reply was cut at the limit of tokens.
    pub is_cut: bool,
    /// How often a helper was told what is missing.
    pub asked: u32,
    /// The provider's count of the last prompt, and the local estimate of the same prompt: their ratio corrects later estimates.
    pub counted: Option<(u64, u64)>,
    /// What of the documents it was shown; of the job's own, with what its delegates were shown.
    pub coverage: Coverage,
    /// Facts that belong to it so far: they number its effects.
    pub facts: u64,
    /// The number of the last of them among all facts of the job: who waits longest is asked first.
    pub last_fact: u64,
}

impl Conversation {
    pub(crate) fn new(number: u32, role: Option<HelperRole>, tools: ToolSet, system_prompt: &str) -> Self {
        Self {
            number,
            role,
            answers: None,
            tools,
            system_prompt: system_prompt.to_owned(),
            epoch: Epoch::default(),
            calls: ReplyCalls::default(),
            attempts: Attempts::default(),
            submitted: None,
            turns: 0,
            effort: Effort::default(),
            is_cut: false,
            asked: 0,
            counted: None,
            coverage: Coverage::default(),
            facts: 0,
            last_fact: 0,
        }
    }

    /// Whether it is the job's own.
    pub fn is_own(&self) -> bool {
        self.number == OWN
    }

    /// Where a helper may write: `helpers/2/`.
    pub fn folder(&self) -> String {
        folder(self.number)
    }

    /// The model that is named for it; none: the job's own.
    pub fn named_model<'s>(&self, spec: &'s JobSpec) -> Option<&'s str> {
        self.role.as_ref().and_then(|role| role.model(spec))
    }

    /// Whether the job can go on without it when its model is not there: what was delegated to another model than the job's own.
    pub fn can_be_spared(&self, spec: &JobSpec) -> bool {
        matches!(self.role, Some(HelperRole::Delegate { .. })) && self.named_model(spec).is_some()
    }

    /// Parts that it was to read and was not shown, as a reader names them; none where it is no second reader.
    pub fn unread<'u>(&'u self, spec: &'u JobSpec) -> Vec<&'u ReadUnit> {
        let Some(HelperRole::SecondReader { units }) = &self.role else { return Vec::new() };
        units.iter().filter(|unit| !self.has_read(spec, unit)).collect()
    }

    /// Whether it was shown the whole of a part, as far as there is text in it.
    pub fn has_read(&self, spec: &JobSpec, unit: &ReadUnit) -> bool {
        spec.document(&unit.document).is_none_or(|document| {
            self.coverage.gaps(document).iter().all(|&(from, to)| to < unit.from || from > unit.to)
        })
    }
}

impl Instructions {
    /// The models that are named for helpers, each once.
    pub fn named_models(&self) -> BTreeSet<&str> {
        let ModelRoles { second_reader, readers, verify, helpers, vision, vision_second } = &self.models;
        let agents = self.agents.values().filter_map(|agent| agent.model.as_deref());
        let used = [
            second_reader.as_deref().filter(|_| self.second_reader.is_some()),
            readers.as_deref().filter(|_| self.readers.is_some()),
            verify.as_deref().filter(|_| self.verify.is_some()),
            helpers.as_deref().filter(|_| !self.agents.is_empty()),
            vision.as_deref(),
            vision_second.as_deref(),
            self.cascade.as_ref().map(|cascade| cascade.strong.as_str()),
        ];
        used.into_iter().flatten().chain(agents).collect()
    }

    /// Takes readers, second reader and verifier out that would be the job's own model, where that is rules: they agree with
    /// themselves, and prove nothing by it. Where `models` names them, they are asked all the same.
    pub fn without_own_proof(&mut self) {
        let ModelRoles { readers, second_reader, verify, .. } = &self.models;
        self.readers.take_if(|_| readers.is_none());
        self.second_reader.take_if(|_| second_reader.is_none());
        self.verify.take_if(|_| verify.is_none());
    }
}

impl Job {
    /// All conversations: the job's own, and those of the helpers at work.
    pub fn conversations(&self) -> impl Iterator<Item = &Conversation> {
        std::iter::once(&self.own).chain(self.helpers.values())
    }

    /// The conversation of that number, where it is not over.
    pub fn conversation(&self, number: u32) -> Option<&Conversation> {
        if number == OWN { Some(&self.own) } else { self.helpers.get(&number) }
    }

    pub(crate) fn conversation_mut(&mut self, number: u32) -> Option<&mut Conversation> {
        if number == OWN { Some(&mut self.own) } else { self.helpers.get_mut(&number) }
    }

    /// The call that is to be done now. The job's own conversation waits for its helpers; only further calls of `delegate` are
    /// begun beside them.
    pub fn due_call<'j>(&'j self, conversation: &'j Conversation) -> Option<&'j PendingCall> {
        let pending = &conversation.calls.pending;
        if !conversation.is_own() || self.helpers.is_empty() {
            return pending.front();
        }
        if pending.front().is_some_and(|first| self.own.calls.reports.contains_key(&first.said.id)) {
            return pending.front();
        }
        let is_begun = |call: &PendingCall| {
            let id = &call.said.id;
            self.own.calls.reports.contains_key(id)
                || self.helpers.values().any(|helper| helper.answers.as_ref() == Some(id))
        };
        let next = pending.iter().find(|call| !is_begun(call))?;
        // What can't be begun is refused when those before it have their results.
        let ParsedCall::Control(ControlCall::Delegate(call)) = &next.call else { return None };
        let is_known = self.spec.instructions.agents.contains_key(call.agent_type.trim());
        let has_place = self.helpers.len() < self.spec.instructions.parallel as usize;
        (is_known && has_place && pending.front().is_some_and(is_begun)).then_some(next)
    }

    /// Whether a conversation waits for others.
    pub fn waits(&self, conversation: &Conversation) -> bool {
        conversation.is_own() && !self.helpers.is_empty() && self.due_call(conversation).is_none()
    }

    /// The number of the turn that is to be asked for in a conversation, as the model counts that is asked: what other models
    /// have answered is not among its turns.
    pub fn turn_of_model(&self, conversation: &Conversation) -> u64 {
        match conversation.named_model(&self.spec) {
            Some(model) => self.turns_of_named.get(model).copied().unwrap_or_default() + 1,
            None => self.totals.spent.turns - self.turns_of_named.values().sum::<u64>() + 1,
        }
    }
}

/// A helper's own folder.
pub fn folder(number: u32) -> String {
    format!("{HELPERS_FOLDER}/{number}/")
}
