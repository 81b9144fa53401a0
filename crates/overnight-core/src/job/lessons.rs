//! Lessons of jobs: a model proposes them, and a person keeps those that later jobs are shown in a file beside the
//! instructions.
//!
//! ```
//! use overnight_core::job::lessons::Experiences;
//!
//! let mut file = Experiences::parse("# Experiences\n\n## audit\n\n- [x] Read the annex first.\n- [ ] Skip tables.\n");
//! assert_eq!(file.approved("audit"), ["Read the annex first."]);
//! file.set("audit", "Skip tables.", "Skip tables, they are empty.", true);
//! assert_eq!(file.approved("audit").len(), 2);
//! ```

use super::digest::sha256;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The file's name, beside the instructions.
pub const EXPERIENCES_FILE: &str = "experiences.md";
/// How a new file begins.
const BEGINNING: &str = "# Experiences\n\nWhat earlier jobs have taught. Ticked lines are shown to later jobs over the same instructions.\n";
/// Lessons that one job may propose.
pub const MOST_PROPOSED: usize = 3;
/// Lessons that a job is shown, the newest of those that are approved.
const MOST_SHOWN: usize = 30;

/// A lesson as a model proposes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// One line.
    pub text: String,
    /// Its source: a phase, a rewind, a finding; one line.
    pub evidence: String,
}

/// The lessons of earlier jobs that a job is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovedLessons {
    /// SHA-256 of the lines, joined by line ends.
    pub sha256: String,
    /// The lines, one lesson each.
    pub lines: Vec<String>,
}

impl ApprovedLessons {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// The file: a task list below a heading with the name of each instructions. Ticked lessons are approved; the others
/// were dropped, but are kept. Other lines belong to the person, and stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Experiences {
    lines: Vec<String>,
}

impl Experiences {
    /// Reads the file; an empty text begins a new one.
    pub fn parse(text: &str) -> Self {
        let text = if text.trim().is_empty() { BEGINNING } else { text };
        Self { lines: text.lines().map(str::to_owned).collect() }
    }

    /// The whole file.
    pub fn render(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// The places of the lines below the heading of `instructions`.
    fn section(&self, instructions: &str) -> Range<usize> {
        let is_heading = |line: &&String| line.starts_with("## ");
        let named = |line: &String| line.strip_prefix("## ").is_some_and(|name| name.trim() == instructions);
        let Some(heading) = self.lines.iter().position(named) else { return self.lines.len()..self.lines.len() };
        let length = self.lines[heading + 1..].iter().take_while(|line| !is_heading(line)).count();
        heading + 1..heading + 1 + length
    }

    /// The lessons of `instructions` with their places: whether each is approved, and what it says.
    fn lessons(&self, instructions: &str) -> impl Iterator<Item = (usize, bool, &str)> {
        let section = self.section(instructions);
        let listed = self.lines[section.clone()].iter().zip(section);
        listed.filter_map(|(line, place)| {
            let (mark, text) = line.trim().strip_prefix("- [")?.split_once("] ")?;
            Some((place, mark.eq_ignore_ascii_case("x"), text.trim()))
        })
    }

    /// The approved lines, in the order of the file.
    pub fn approved(&self, instructions: &str) -> Vec<&str> {
        self.lessons(instructions).filter(|(_, is_approved, _)| *is_approved).map(|(.., text)| text).collect()
    }

    /// Whether the lesson with this beginning is approved; `None` if it is not in the file.
    pub fn verdict(&self, instructions: &str, beginning: &str) -> Option<bool> {
        self.lessons(instructions).find(|(.., text)| text.starts_with(beginning)).map(|(_, is_approved, _)| is_approved)
    }

    /// Approves or drops the lesson `text`, which replaces the lesson with this beginning.
    pub fn set(&mut self, instructions: &str, beginning: &str, text: &str, is_approved: bool) {
        let line = format!("- [{}] {text}", if is_approved { 'x' } else { ' ' });
        let found = self.lessons(instructions).find(|(.., text)| text.starts_with(beginning)).map(|(place, ..)| place);
        if let Some(place) = found {
            self.lines[place] = line;
            return;
        }
        let section = self.section(instructions);
        if section.is_empty() && section.start == self.lines.len() {
            self.lines.extend([String::new(), format!("## {instructions}"), String::new(), line]);
            return;
        }
        let blank = self.lines[section.clone()].iter().rev().take_while(|line| line.trim().is_empty()).count();
        self.lines.insert(section.end - blank, line);
    }

    /// The lessons that a job over these instructions is shown.
    pub fn shown(&self, instructions: &str) -> ApprovedLessons {
        let approved = self.approved(instructions);
        let newest = approved[approved.len().saturating_sub(MOST_SHOWN)..].iter();
        let lines: Vec<String> = newest.map(|line| (*line).to_owned()).collect();
        let sha256 = if lines.is_empty() { String::new() } else { sha256(lines.join("\n").as_bytes()) };
        ApprovedLessons { sha256, lines }
    }
}
