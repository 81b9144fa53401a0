//! The keys for properties that checks of a contract can't prove (nothing is missing, and it answers the task):
//! sub-agents, a second reader, a verifier. Each is a conversation of its own, with a model of its own if one is named.

use super::{
    Deliverable, ReadBeside,
    files_beside::text_beside,
    values::{name_model, or_default},
};
use crate::{
    amount::shown,
    job::tool::Tool,
    yaml::{ValueError, YamlValue},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The default number of readers at work at once.
const READERS: u32 = 8;
/// The default tokens of a part, and the least that the instructions may name.
const PART_TOKENS: u64 = 20_000;
const LEAST_PART_TOKENS: u64 = 1_000;

/// Tools that an agent has by default: they read.
const READING_TOOLS: [Tool; 6] =
    [Tool::ReadFile, Tool::ListRecords, Tool::ListFiles, Tool::SearchFiles, Tool::ListDocuments, Tool::ReadDocument];

/// Tools that an agent has only if its instructions name them: they write, into the sub-agent's own folder.
const WRITING_TOOLS: [Tool; 5] =
    [Tool::WriteFile, Tool::AppendFile, Tool::EditFile, Tool::AddRecords, Tool::EditRecords];

/// A kind of sub-agent that the model can delegate to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// The prompt's text.
    pub prompt: String,
    /// Names of the tools that it may call; [`Agent::may_call`] says what none means.
    pub tools: Vec<String>,
    /// `provider:name`, else [`ModelRoles::helpers`](crate::job::models::ModelRoles::helpers), else the job's model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Agent {
    /// The tools that it may call: those that it names, each once, else the ones that read.
    pub fn may_call(&self) -> Vec<Tool> {
        if self.tools.is_empty() {
            return READING_TOOLS.to_vec();
        }
        sub_agent_tools().filter(|tool| self.tools.iter().any(|name| name == tool.name())).collect()
    }
}

/// Reads the documents a second time, blind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondReader {
    /// Path of the deliverable whose records are listed again; it has a rule for quotes.
    pub deliverable: String,
    /// Share of the documents that is read again, over 0, at most 1.
    pub share: f64,
    /// The seed with which the share is drawn; `None`: it follows from the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Open findings that a completed job may have.
    pub tolerance: u64,
}

/// The readers of all parts of the documents, side by side, before the job continues with their results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Readers {
    /// Path of the deliverable that takes their records; it has a rule for quotes.
    pub deliverable: String,
    /// Readers at work at once, 1 to 64.
    pub parallel: u32,
    /// Estimated tokens of a part at most, as far as its pages or lines allow; at least 1,000.
    pub part_tokens: u64,
}

impl Readers {
    /// The number of parts for `tokens` of text, each of at most `most`: as few as possible, but so many that each
    /// reader has one, and none waits for a last one alone; each of at least a quarter of `most`.
    pub fn parts_for(&self, tokens: u64, most: u64) -> u64 {
        let (most, parallel) = (most.max(1), u64::from(self.parallel.max(1)));
        let fewest = tokens.div_ceil(most).max(1);
        let filled = fewest.div_ceil(parallel) * parallel;
        filled.min(tokens.div_ceil((most / 4).max(1))).max(fewest)
    }
}

/// Judges the deliverables by a rubric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// The rubric's text.
    pub rubric: String,
}

/// All tools that an agent may name.
fn sub_agent_tools() -> impl Iterator<Item = Tool> {
    READING_TOOLS.into_iter().chain(WRITING_TOOLS)
}

/// The value of `agents`.
pub(super) fn agents(at: &YamlValue<'_>, read_beside: ReadBeside<'_>) -> Result<BTreeMap<String, Agent>, ValueError> {
    let mut agents = BTreeMap::new();
    for entry in at.entries()? {
        let name = entry.key().to_owned();
        let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
            return Err(entry.wrong("must be a name of letters, digits, '-' and '_'"));
        }
        let keys = entry.table(&["prompt", "tools", "model"])?;
        let agent = Agent {
            prompt: text_beside(keys.required("prompt")?, read_beside)?,
            tools: or_default(keys.get("tools").map(agent_tools))?,
            model: keys.get("model").map(|at| at.line(200)).transpose()?,
        };
        agents.insert(name, agent);
    }
    Ok(agents)
}

fn agent_tools(at: &YamlValue<'_>) -> Result<Vec<String>, ValueError> {
    let tool = |at: &YamlValue<'_>| {
        let name = at.line(100)?;
        if sub_agent_tools().any(|tool| tool.name() == name) {
            return Ok(name);
        }
        let allowed: Vec<&str> = sub_agent_tools().map(Tool::name).collect();
        Err(at.wrong(format!("is '{}', which no sub-agent may call; it may call {}", shown(&name), allowed.join(", "))))
    };
    at.list()?.iter().map(tool).collect()
}

/// The value of `second_reader`. `model` is that of `models.second_reader`, and receives the one that is named here.
pub(super) fn second_reader(
    at: &YamlValue<'_>,
    deliverables: &[Deliverable],
    model: &mut Option<String>,
) -> Result<SecondReader, ValueError> {
    let keys = at.table(&["deliverable", "share", "seed", "tolerance", "model"])?;
    let what = ("second_reader", "by which both readings are compared");
    let deliverable = quoted_deliverable(keys.required("deliverable")?, deliverables, what)?;
    name_model(model, "models.second_reader", keys.get("model"))?;
    let share = |at: &YamlValue<'_>| {
        let share = at.number(0.0, 1.0)?;
        if share > 0.0 {
            Ok(share)
        } else {
            Err(at.wrong("must be more than 0; without `second_reader` nothing is read again"))
        }
    };
    Ok(SecondReader {
        deliverable,
        share: keys.get("share").map_or(Ok(1.0), share)?,
        seed: keys.get("seed").map(|at| at.count(0)).transpose()?,
        tolerance: or_default(keys.get("tolerance").map(|at| at.count(0)))?,
    })
}

/// The path of a deliverable with quotes. `what` is the key that needs it, and the reason.
fn quoted_deliverable(
    at: &YamlValue<'_>,
    deliverables: &[Deliverable],
    (key, why): (&str, &str),
) -> Result<String, ValueError> {
    let path = at.line(500)?;
    let told = shown(&path);
    match deliverables.iter().find(|one| one.path == path) {
        Some(one) if !one.quotes.is_empty() => Ok(path),
        Some(_) => Err(at.wrong(format!(
            "is '{told}', but {key} needs a deliverable with `quotes`, {why}: add `quotes` to it, or name another"
        ))),
        None => {
            Err(at
                .wrong(format!("is '{told}', which is not among the deliverables; {key} needs one that has `quotes`")))
        }
    }
}

/// The value of `readers`. `model` is that of `models.readers`, and receives the one that is named here.
pub(super) fn readers(
    at: &YamlValue<'_>,
    deliverables: &[Deliverable],
    model: &mut Option<String>,
) -> Result<Readers, ValueError> {
    let keys = at.table(&["deliverable", "parallel", "model", "part_tokens"])?;
    let what = ("readers", "which show where each record stands");
    let deliverable = quoted_deliverable(keys.required("deliverable")?, deliverables, what)?;
    name_model(model, "models.readers", keys.get("model"))?;
    Ok(Readers {
        deliverable,
        parallel: keys.get("parallel").map_or(Ok(READERS), super::read::parallel)?,
        part_tokens: keys.get("part_tokens").map_or(Ok(PART_TOKENS), |at| at.count(LEAST_PART_TOKENS))?,
    })
}

/// The value of `verify`. `model` is that of `models.verify`, and receives the one that is named here.
pub(super) fn verify(
    at: &YamlValue<'_>,
    read_beside: ReadBeside<'_>,
    model: &mut Option<String>,
) -> Result<Verify, ValueError> {
    let keys = at.table(&["rubric", "model"])?;
    name_model(model, "models.verify", keys.get("model"))?;
    Ok(Verify { rubric: text_beside(keys.required("rubric")?, read_beside)? })
}
