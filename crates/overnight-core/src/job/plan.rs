//! The plan (`main_plan.md`): Markdown with `# Execution Plan`, `## Phase N: Title` and steps as `- [ ] step`.
//!
//! [`Plan::parse`] understands some more forms that models write, and brings them into the one form: first the
//! headings, then the steps. Parsing a plan's own text changes nothing: `parse(plan.text()) == plan`. Lines that are
//! neither phase headings nor steps are kept; a text that can't be read is refused with the line and the expected form.
//!
//! ```
//! use overnight_core::job::plan::{PhaseState, Plan};
//!
//! let plan = Plan::parse("## Phase 1: Read\n* the contract\n* the annex\n\n## Phase 2: Write\n* the report\n")?;
//! assert_eq!(plan.current().map(|phase| phase.title.as_str()), Some("Read"));
//! let done = plan.complete_phase(1, &[]).mark_current();
//! assert_eq!((done.phases()[0].state, done.phases()[1].state), (PhaseState::Complete, PhaseState::Current));
//! assert!(done.text().contains("- [x] the contract"));
//!
//! let error = Plan::parse("First I read, then I write.").unwrap_err();
//! assert!(error.to_string().starts_with("line 1: no phase found"));
//! # Ok::<(), overnight_core::job::plan::PlanError>(())
//! ```

mod edit;
mod error;
mod heading;
mod normalize;
mod scan;
mod steps;
#[cfg(test)]
mod tests;
mod title;

pub use error::PlanError;
use serde::{Deserialize, Serialize};
pub(crate) use title::is_final_review;
pub use title::slug;

/// The most phases in one plan.
pub(crate) const MAX_PHASES: usize = 200;
/// The most bytes of a plan's text.
pub const MAX_BYTES: usize = 1 << 20;
/// The most characters of a phase's title.
pub(crate) const MAX_TITLE: usize = 200;

const TITLE: &str = "# Execution Plan";
/// How many rounds it may take to bring a text into the one form: one is enough for nearly all.
const MAX_ROUNDS: usize = 8;

/// A plan that was parsed. Two plans are equal if their texts are.
#[derive(Debug, Clone)]
pub struct Plan {
    text: String,
    phases: Vec<PlannedPhase>,
    spans: Vec<PhaseSpan>,
}

/// One phase of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedPhase {
    /// From 1, without gaps: the phase's place in the plan.
    pub number: u32,
    /// Plain text on one line.
    pub title: String,
    /// The steps, in the order of the text.
    pub steps: Vec<PlannedStep>,
    /// The state, as marked in its heading.
    pub state: PhaseState,
}

/// One step of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedStep {
    /// Plain text on one line.
    pub text: String,
    /// Whether its box is ticked.
    pub done: bool,
}

/// The progress of a phase, as marked after its title.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseState {
    /// It has no mark.
    Open,
    /// `← CURRENT`
    Current,
    /// `✓ COMPLETE`
    Complete,
}

/// The place of a phase: lines of the text counted from 0, and the line of its heading in the text as it was given.
#[derive(Debug, Clone)]
struct PhaseSpan {
    heading: usize,
    end: usize,
    steps: Vec<usize>,
    source: usize,
}

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Plan {}

impl Plan {
    /// Reads a plan and brings it into the one form.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        if text.len() > MAX_BYTES {
            return Err(PlanError::TooLong { bytes: text.len() });
        }
        let is_text = |char: &char| *char == '\t' || !(char.is_control() || *char == '\u{FEFF}');
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut lines: Vec<String> = text.split('\n').map(|line| line.chars().filter(is_text).collect()).collect();
        normalize::unfence(&mut lines);
        let mut sources = None;
        for _ in 0..MAX_ROUNDS {
            let (placed, found) = normalize::normalize_headings(&lines)?;
            let sources = &*sources.get_or_insert(found);
            let scan = scan::scan(&placed);
            let shaped = trimmed(steps::shape(placed, &scan));
            if shaped == lines {
                return Ok(Self::read(&lines, &scan, sources));
            }
            lines = shaped;
        }
        Err(PlanError::NotRead)
    }

    /// Reads lines that are in the one form.
    fn read(lines: &[String], scan: &scan::Scan, sources: &[usize]) -> Self {
        let (mut phases, mut spans) = (Vec::new(), Vec::new());
        for (at, (named, section)) in steps::sections(lines, scan).into_iter().enumerate() {
            let (stand, steps) = steps::read(lines, section).into_iter().unzip();
            let last = section.last().map_or(0, |block| block.last);
            let next = scan.blocks.get(scan.blocks.partition_point(|block| block.first <= last));
            spans.push(PhaseSpan {
                heading: section.first().map_or(0, |block| block.first),
                end: next.map_or(lines.len(), |next| next.first),
                steps: stand,
                source: sources.get(at).copied().unwrap_or(1),
            });
            phases.push(PlannedPhase { number: named.number, title: named.title, steps, state: named.state });
        }
        Self { text: lines.join("\n") + "\n", phases, spans }
    }

    /// A plan from a fact, which has the text and the phases as they were read.
    pub(crate) fn stored(text: &str, phases: &[PlannedPhase]) -> Self {
        Self { text: text.to_owned(), phases: phases.to_vec(), spans: Vec::new() }
    }

    /// The same plan with the places of its phases, which only an edit needs.
    fn spanned(&self) -> Self {
        if self.spans.len() == self.phases.len() { self.clone() } else { self.reread(&self.lines()) }
    }

    /// The plan in its one form, as it goes to `main_plan.md`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The phases, in the order in which they are worked on.
    pub fn phases(&self) -> &[PlannedPhase] {
        &self.phases
    }

    /// The phase to be worked on: the first that isn't complete.
    pub fn current(&self) -> Option<&PlannedPhase> {
        self.phases.iter().find(|phase| phase.state != PhaseState::Complete)
    }

    /// Checks a saved plan: the completed phases of `before` must be there with the same number, title and steps, and
    /// no other phase may be marked complete. Apply it to `after.with_marks_of(before)` if forgotten marks and boxes of
    /// a completed phase are to be restored instead of refused.
    pub fn check_update(before: &Self, after: &Self) -> Result<(), PlanError> {
        for (at, old) in before.phases.iter().enumerate().filter(|(_, phase)| phase.state == PhaseState::Complete) {
            let (number, title) = (old.number, old.title.clone());
            let Some(new) = after.phases.get(at) else {
                let line = after.spans.last().map_or(1, |span| span.source);
                return Err(PlanError::CompletedMissing { line, number, title });
            };
            let line = after.spans.get(at).map_or(1, |span| span.source);
            if let Some(change) = change(old, new) {
                return Err(PlanError::CompletedChanged { line, number, title, change });
            }
        }
        let was_complete = |at: usize| before.phases.get(at).is_some_and(|phase| phase.state == PhaseState::Complete);
        let claimed = after
            .phases
            .iter()
            .enumerate()
            .find(|&(at, phase)| phase.state == PhaseState::Complete && !was_complete(at));
        match claimed {
            Some((at, phase)) => Err(PlanError::NotWorked {
                line: after.spans.get(at).map_or(1, |span| span.source),
                number: phase.number,
                title: phase.title.clone(),
            }),
            None => Ok(()),
        }
    }
}

/// The difference between a completed phase and its new version, in words.
fn change(old: &PlannedPhase, new: &PlannedPhase) -> Option<String> {
    if old.title != new.title {
        return Some(format!("its title here is '{}'", new.title));
    }
    if new.state != PhaseState::Complete {
        return Some("its mark `✓ COMPLETE` is gone".to_owned());
    }
    if old.steps.len() != new.steps.len() {
        return Some(format!("it has {} steps here instead of {}", new.steps.len(), old.steps.len()));
    }
    let (at, (old, new)) = old.steps.iter().zip(&new.steps).enumerate().find(|(_, (old, new))| old != new)?;
    let number = at + 1;
    Some(match (old.text == new.text, new.done) {
        (false, _) => format!("its step {number} here is '{}' instead of '{}'", new.text, old.text),
        (true, false) => format!("its step {number} is no longer ticked"),
        (true, true) => format!("its step {number} is ticked now"),
    })
}

/// Without blank lines at both ends, so that the text has one form.
fn trimmed(mut lines: Vec<String>) -> Vec<String> {
    let is_blank = |line: &String| line.trim().is_empty();
    let end = lines.iter().rposition(|line| !is_blank(line)).map_or(0, |last| last + 1);
    lines.truncate(end);
    let begin = lines.iter().take_while(|line| is_blank(line)).count();
    lines.split_off(begin)
}
