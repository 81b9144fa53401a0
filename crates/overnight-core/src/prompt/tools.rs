//! The tools as they are described to the model: names, arguments, descriptions. The list is the same for the whole
//! job, because a changed list invalidates the provider's prompt cache.

use crate::{
    job::{
        digest::sha256,
        tool::{Tool, ToolSet},
    },
    message::ToolSpec,
    tokens::estimate,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The tools of a conversation, as they are described to a model.
#[derive(Debug)]
pub struct ToolList {
    /// The tools, in the order in which the model sees them.
    pub specs: Arc<[ToolSpec]>,
    /// The list's name: the SHA-256 of its specs as JSON.
    pub sha256: String,
    /// Estimated tokens of the whole list.
    pub tokens: u64,
}

impl ToolList {
    fn new(specs: Arc<[ToolSpec]>) -> Self {
        // A spec is a plain tree of strings; writing it can't fail.
        let sha256 = sha256(&serde_json::to_vec(&specs).unwrap_or_default());
        let tokens = specs.iter().map(tokens_of).sum();
        Self { specs, sha256, tokens }
    }

    /// The list of a set, made once a process.
    pub fn of(set: ToolSet) -> Arc<Self> {
        static MADE: Mutex<BTreeMap<ToolSet, Arc<ToolList>>> = Mutex::new(BTreeMap::new());
        // Nothing that panics runs while the lock is held.
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        made.entry(set).or_insert_with(|| Arc::new(Self::new(set.iter().map(describe).collect()))).clone()
    }

    /// The list of a set as a job's catalogue describes its tools; those that it doesn't have are left out.
    pub fn of_catalogue(catalogue: &[ToolSpec], set: ToolSet) -> Self {
        let described = |tool: Tool| catalogue.iter().find(|spec| spec.name == tool.name()).cloned();
        Self::new(set.iter().filter_map(described).collect())
    }

    /// The list of a job that neither delegates nor has findings.
    pub fn usual() -> Arc<Self> {
        Self::of(ToolSet::of_job(&[]))
    }
}

/// All tools, as this version of the program describes them.
pub fn catalogue() -> Vec<ToolSpec> {
    Tool::all().map(describe).collect()
}

/// Estimated tokens of one tool in a list.
pub fn tokens_of(tool: &ToolSpec) -> u64 {
    estimate(&tool.name) + estimate(&tool.description) + estimate(&tool.parameters.to_string()) + 8
}

/// A line for each tool: its name, a colon, what it does.
const DESCRIPTIONS: &str = include_str!("../../../../instructions/runner/tools.md");

fn describe(tool: Tool) -> ToolSpec {
    let of = |line: &'static str| line.split_once(": ").filter(|(name, _)| *name == tool.name());
    let description = DESCRIPTIONS.lines().find_map(of).map_or("", |(_, text)| text);
    ToolSpec { name: tool.name().to_owned(), description: description.to_owned(), parameters: tool.parameters() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_its_line() {
        let named: Vec<&str> =
            DESCRIPTIONS.lines().filter_map(|line| line.split_once(": ")).map(|(name, _)| name).collect();
        assert_eq!(named, Tool::all().map(Tool::name).collect::<Vec<_>>());
        let tokens = ToolList::usual().tokens;
        assert!(tokens < 2_000, "{tokens}");
    }
}
