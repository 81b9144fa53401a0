//! Conversations: the job's own, which is number 0, and those of sub-agents. Each has a history, the calls of its
//! current reply, tools and bounds of its own, so that a sub-agent harms only itself. Several sub-agents may work at
//! once; the job's own conversation waits for them. The turns of all conversations are decisions of one journal.

use super::{
    coverage::Coverage, effort::Effort, epoch::Epoch, failure::Attempts, id::JobId, read_unit::ReadUnit,
    reply_calls::ReplyCalls, spec::JobSpec, sub_agent_role::SubAgentRole, submitted_call::SubmittedCall, tool::ToolSet,
};

/// The number of the job's own conversation.
pub const OWN: u32 = 0;
/// Turns of one sub-agent.
pub const MOST_TURNS: u64 = 40;
/// How often a sub-agent is reminded of missing work before it ends without it.
pub const MOST_ASKED: u32 = 2;
/// The folder under which each sub-agent has one of its own.
pub const SUB_AGENTS_FOLDER: &str = "helpers";

/// One history with a model, and what belongs to it.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Unique in the job: [`OWN`], and from 1 those of sub-agents.
    pub number: u32,
    /// Its role; `None` for the job's own conversation.
    pub role: Option<SubAgentRole>,
    /// The call of the job's own conversation that waits for its end, if it was delegated.
    pub answers: Option<String>,
    /// The tools that may be called.
    pub tools: ToolSet,
    /// The system prompt: the first message of its history.
    pub system_prompt: String,
    /// The history that the model is shown: layer 4 is its opening, layer 5 everything since.
    pub epoch: Epoch,
    /// The calls of the current reply.
    pub calls: ReplyCalls,
    /// The failed attempts at the current turn.
    pub attempts: Attempts,
    /// The submitted call, while its answer is outstanding.
    pub submitted: Option<SubmittedCall>,
    /// Its replies so far.
    pub turns: u64,
    /// The signs of being stuck: of the current todo, or of a sub-agent's whole work.
    pub effort: Effort,
    /// Its last reply was cut at the limit of tokens.
    pub is_cut: bool,
    /// How often a sub-agent was reminded of missing work.
    pub asked: u32,
    /// The provider's count of the last prompt, and the local estimate of it: their ratio corrects later estimates.
    pub counted: Option<(u64, u64)>,
    /// The parts of the documents that it was shown; the job's own counts those of its delegates and readers too.
    pub coverage: Coverage,
    /// The number of its facts so far, which numbers its effects.
    pub facts: u64,
    /// The number of its last fact among all facts of the job: the longest waiting conversation is asked first.
    pub last_fact: u64,
}

impl Conversation {
    pub(crate) fn new(number: u32, role: Option<SubAgentRole>, tools: ToolSet, system_prompt: &str) -> Self {
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

    /// The folder in which a sub-agent may write: `helpers/2/`.
    pub fn folder(&self) -> String {
        folder(self.number)
    }

    /// Whether it only transcribes a page.
    pub(crate) fn is_transcriber(&self) -> bool {
        matches!(self.role, Some(SubAgentRole::Transcriber { .. }))
    }

    /// The model named for it; `None` means the job's own.
    pub fn named_model<'s>(&self, spec: &'s JobSpec) -> Option<&'s str> {
        self.role.as_ref().and_then(|role| spec.instructions.model_of(role))
    }

    /// Whether the job can do without it if its model is unavailable: work delegated to another model than the job's.
    pub fn can_be_spared(&self, spec: &JobSpec) -> bool {
        matches!(self.role, Some(SubAgentRole::Delegate { .. })) && self.named_model(spec).is_some()
    }

    /// The name under which the next call is submitted. It is derived from the state: after a crash between a
    /// submission and its fact, the next process finds the submitted call by this name and pays for nothing twice. At
    /// most 64 letters, digits and hyphens, as batch endpoints require.
    pub fn submission_key(&self, job: JobId, prompt_sha256: &str) -> String {
        let (turn, attempt) = (self.turns + 1, self.attempts.failed + 1);
        let prompt = prompt_sha256.get(..12).unwrap_or(prompt_sha256);
        format!("{job}-{}-{turn}-{attempt}-{prompt}", self.number)
    }

    /// The parts that a second reader was given and not shown, in its own units; empty for all other conversations.
    pub fn unread<'u>(&'u self, spec: &'u JobSpec) -> Vec<&'u ReadUnit> {
        let Some(SubAgentRole::SecondReader { units }) = &self.role else { return Vec::new() };
        units.iter().filter(|unit| !self.has_read(spec, unit)).collect()
    }

    /// Whether it was shown the whole of a part, as far as there is text in it.
    pub fn has_read(&self, spec: &JobSpec, unit: &ReadUnit) -> bool {
        spec.document(&unit.document).is_none_or(|document| {
            self.coverage.gaps(document).iter().all(|&(from, to)| to < unit.from || from > unit.to)
        })
    }
}

/// A sub-agent's own folder.
pub fn folder(number: u32) -> String {
    format!("{SUB_AGENTS_FOLDER}/{number}/")
}
