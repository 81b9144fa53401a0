//! What a scenario leaves, masked, and how that differs from what another run left.

use super::{case::Scenario, mask::Mask, story, tree::Tree};
use overnight::audit;
use overnight_core::message::{Message, Prompt};
use similar::TextDiff;
use std::{collections::BTreeMap, fmt::Write, path::Path};

/// What the names of prompts begin with.
pub(crate) const PROMPT: &str = "prompt";

/// Texts by name: `story`, `prompt of turn N`, the files of the workspace by their paths, and `verify` where verifying finds that
/// someone had a hand in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Expected(pub(crate) BTreeMap<String, String>);

/// What is not compared: inputs (the journal holds their hashes, and verifying checks them), and the
/// journal, which is told as the story.
fn is_kept(path: &str) -> bool {
    !path.starts_with("documents/")
        && !path.starts_with("assets/")
        && path != "job.yaml"
        && !path.ends_with("journal.jsonl")
}

impl Expected {
    /// What the scenario left in the workspace at `path`, in which verifying finds `faults`.
    pub(crate) fn of(scenario: &Scenario, path: &Path, faults: &str) -> Result<Self, String> {
        let (mask, decisions) = Mask::of(path)?;
        let mut files = BTreeMap::new();
        let tree = Tree::read(path, None);
        for (name, node) in tree.0.iter().filter(|(name, _)| is_kept(name)) {
            let text = match node {
                super::tree::Node::File(bytes, _) => mask.file(name, bytes),
                super::tree::Node::Link(to) => format!("a link to {to}\n"),
            };
            files.insert(name.clone(), text);
        }
        files.insert(story::NAME.to_owned(), mask.text(&story::whole(&story::parts(&decisions))));
        if !faults.is_empty() {
            files.insert("verify".to_owned(), mask.text(faults));
        }
        for turn in &scenario.prompts {
            let prompt = audit::prompt::prompt(path, *turn).map_err(|error| error.to_string())?;
            if !prompt.is_same() {
                return Err(format!("the prompt of turn {turn} is not as it was sent"));
            }
            files.insert(format!("{PROMPT} of turn {turn}"), mask.text(&shown(&prompt.prompt)));
        }
        Ok(Self(files))
    }
}

/// How `found` differs from `expected`: files that are missing or not expected, and diffs; empty where it doesn't.
pub(crate) fn differences(expected: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> String {
    let mut faults = String::new();
    for path in expected.keys().filter(|path| !found.contains_key(*path)) {
        let _ = writeln!(faults, "missing: {path}");
    }
    for (path, text) in found {
        match expected.get(path) {
            None => {
                let _ = writeln!(faults, "not expected: {path}");
            }
            Some(golden) if golden != text => {
                let diff = TextDiff::from_lines(golden.as_str(), text.as_str());
                let _ = writeln!(faults, "{}", diff.unified_diff().context_radius(2).header(path, "found"));
            }
            Some(_) => {}
        }
    }
    faults
}

/// A prompt's messages without the system's own, which is the same for all.
fn shown(prompt: &Prompt) -> String {
    let mut text = String::new();
    for message in prompt.messages() {
        let _ = match message {
            Message::System { .. } => Ok(()),
            Message::User { text: said, .. } => writeln!(text, "── user\n{said}"),
            Message::Assistant { text: said, calls, .. } => {
                let calls: Vec<String> = calls.iter().map(story::call).collect();
                writeln!(text, "── assistant\n{said}{}", calls.join("\n"))
            }
            Message::Tool { name, text: said, .. } => writeln!(text, "── tool {name}\n{said}"),
        };
    }
    text
}
