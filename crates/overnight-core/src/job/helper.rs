//! Helpers: conversations beside the job's own, one at a time. Each has a task, a fresh history, fewer tools, and bounds of its
//! own, so that whatever one does costs nothing but itself. Its turns are decisions of the same journal.

use super::{
    call::ToolSet, coverage::Coverage, effort::Effort, epoch::Epoch, instructions::Instructions, models::ModelRoles,
    reply_calls::ReplyCalls, second_reading::ReadUnit, spec::JobSpec, state::Job,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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
    /// Judges the deliverables.
    Verifier {
        /// From 1.
        round: u32,
    },
}

impl HelperRole {
    /// In a few words: `agent validator`, `second reader`, `verifier`.
    pub fn told(&self) -> String {
        match self {
            Self::Delegate { agent } => format!("agent {agent}"),
            Self::SecondReader { .. } => "second reader".to_owned(),
            Self::Verifier { .. } => "verifier".to_owned(),
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
            Self::Verifier { .. } => models.verify.as_deref(),
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

/// A helper at work.
#[derive(Clone, Debug)]
pub struct Helper {
    /// The number of its conversation, from 1.
    pub number: u32,
    /// What it is for.
    pub role: HelperRole,
    /// Those that it may call.
    pub tools: ToolSet,
    /// The first message of its history.
    pub system_prompt: String,
    /// What it is shown.
    pub epoch: Epoch,
    /// Of its present reply.
    pub calls: ReplyCalls,
    /// Whether that had no call.
    pub is_silent: bool,
    /// Its replies so far.
    pub turns: u64,
    /// The signs of being stuck.
    pub effort: Effort,
    /// How often it was told what is missing.
    pub asked: u32,
    /// The provider's count of its last prompt, and the local estimate of the same one.
    pub counted: Option<(u64, u64)>,
    /// What of the documents it was shown.
    pub coverage: Coverage,
}

impl Helper {
    pub(crate) fn new(number: u32, role: HelperRole, tools: ToolSet, system_prompt: &str) -> Self {
        Self {
            number,
            role,
            tools,
            system_prompt: system_prompt.to_owned(),
            epoch: Epoch::default(),
            calls: ReplyCalls::default(),
            is_silent: false,
            turns: 0,
            effort: Effort::default(),
            asked: 0,
            counted: None,
            coverage: Coverage::default(),
        }
    }

    /// Where it may write: `helpers/2/`.
    pub fn folder(&self) -> String {
        folder(self.number)
    }

    /// Parts that it was to read and was not shown, as a reader names them; none where it is no reader.
    pub fn unread<'u>(&'u self, spec: &'u JobSpec) -> Vec<&'u ReadUnit> {
        let HelperRole::SecondReader { units } = &self.role else { return Vec::new() };
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
        let ModelRoles { second_reader, verify, helpers } = &self.models;
        let agents = self.agents.values().filter_map(|agent| agent.model.as_deref());
        let used = [
            second_reader.as_deref().filter(|_| self.second_reader.is_some()),
            verify.as_deref().filter(|_| self.verify.is_some()),
            helpers.as_deref().filter(|_| !self.agents.is_empty()),
        ];
        used.into_iter().flatten().chain(agents).collect()
    }

    /// Takes second reader and verifier out that would be the job's own model, where that is rules: they agree with themselves,
    /// and prove nothing by it. Where `models` names them, they are asked all the same.
    pub fn without_own_proof(&mut self) {
        let ModelRoles { second_reader, verify, .. } = &self.models;
        self.second_reader.take_if(|_| second_reader.is_none());
        self.verify.take_if(|_| verify.is_none());
    }

    /// The tools of a job's own conversation: the same for the whole job.
    pub fn tools_of_job(&self) -> ToolSet {
        ToolSet::of_job(!self.agents.is_empty(), self.second_reader.is_some() || self.verify.is_some())
    }
}

/// The conversation that is at work: the helper's, where there is one, else the job's own.
impl Job {
    /// Its number; 0 is the job's own.
    pub fn conversation(&self) -> u32 {
        self.helper.as_ref().map_or(0, |helper| helper.number)
    }

    /// Its history.
    pub fn history(&self) -> &Epoch {
        self.helper.as_ref().map_or(&self.epoch, |helper| &helper.epoch)
    }

    /// The calls of its present reply.
    pub fn present_calls(&self) -> &ReplyCalls {
        self.helper.as_ref().map_or(&self.calls, |helper| &helper.calls)
    }

    /// Its tools.
    pub fn tools(&self) -> ToolSet {
        self.helper.as_ref().map_or_else(|| self.spec.instructions.tools_of_job(), |helper| helper.tools)
    }

    /// Its system prompt.
    pub fn system_prompt(&self) -> &str {
        self.helper.as_ref().map_or(&self.spec.system_prompt, |helper| &helper.system_prompt)
    }

    /// What of the documents it was shown.
    pub fn own_coverage(&self) -> &Coverage {
        self.helper.as_ref().map_or(&self.coverage, |helper| &helper.coverage)
    }

    /// The model that is named for it; none: the job's own.
    pub fn named_model(&self) -> Option<&str> {
        self.helper.as_ref().and_then(|helper| helper.role.model(&self.spec))
    }

    /// Whether the job can go on without the helper at work when its model is not there: what was delegated to another model
    /// than the job's own.
    pub fn can_spare_helper(&self) -> bool {
        let is_delegate = matches!(self.helper.as_deref(), Some(Helper { role: HelperRole::Delegate { .. }, .. }));
        is_delegate && self.named_model().is_some()
    }

    /// The number of the turn that is to be asked for, as the model counts that is asked: what other models have answered
    /// is not among its turns.
    pub fn turn_of_model(&self) -> u64 {
        match self.named_model() {
            Some(model) => self.turns_of_named.get(model).copied().unwrap_or_default() + 1,
            None => self.totals.spent.turns - self.turns_of_named.values().sum::<u64>() + 1,
        }
    }
}

/// A helper's own folder.
pub fn folder(number: u32) -> String {
    format!("{HELPERS_FOLDER}/{number}/")
}
