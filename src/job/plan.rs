//! The plan (`main_plan.md`, SPEC 4): Markdown with `# Execution Plan`, `## Phase N: Title` and steps as `- [ ] step`.
//!
//! Models write plans in many forms. [`Plan::parse`] understands them and brings them into the one form, in passes that
//! rewrite lines until nothing changes any more. So a plan's text always reads as itself: `parse(plan.text()) == plan`.
//! What is no phase heading and no step is kept as it is.

mod edit;
mod error;
mod find;
mod heading;
mod lines;
mod marks;
mod names;
mod place;
mod scan;
mod seen;
mod shape;
mod steps;
mod table;
#[cfg(test)]
mod tests;

pub use error::PlanError;
pub use names::{is_final_review, slug};

use lines::Document;
use seen::Seen;

/// The most phases in one plan.
pub const MAX_PHASES: usize = 200;
/// The most bytes of a plan's text.
pub const MAX_BYTES: usize = 1 << 20;
/// The most characters of a phase's title.
pub const MAX_TITLE: usize = 200;

const TITLE: &str = "# Execution Plan";
/// How often the passes are repeated: each unwraps one layer of fences or lists.
const MAX_ROUNDS: usize = 16;

/// A plan that can be read as one. Two plans are equal when their texts are.
#[derive(Debug, Clone)]
pub struct Plan {
    text: String,
    phases: Vec<PlannedPhase>,
    spans: Vec<Span>,
}

/// One phase of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedPhase {
    /// From 1, without gaps: the phase's place in the plan.
    pub number: u32,
    pub title: String,
    /// The prose under the heading, before the steps, on one line; may be empty.
    pub objective: String,
    pub steps: Vec<Step>,
    pub state: PhaseState,
}

/// One step of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Plain text on one line.
    pub text: String,
    pub done: bool,
    /// What stands indented under the step, as Markdown: sub-items, further paragraphs; may be empty.
    pub details: String,
}

/// How far a phase is, as marked behind its title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseState {
    Open,
    /// `← CURRENT`
    Current,
    /// `✓ COMPLETE`
    Complete,
}

/// Where a phase stands: lines of the text counted from 0, and the line of its heading in the text as it was given.
#[derive(Debug, Clone)]
struct Span {
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
    /// Reads a plan, however sloppy, and brings it into the one form.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let mut document = Document::new(text)?;
        let mut seen = Seen::default();
        for _ in 0..MAX_ROUNDS {
            let before = document.text();
            document = place::unfence(document, &mut seen);
            document = place::place(&document, &mut seen)?;
            document = shape::shape(document, &mut seen);
            document = place::title(document, &mut seen).trimmed().closed(&mut seen);
            if document.text() == before {
                return Ok(Self::read(&document, before, &mut seen));
            }
        }
        Err(PlanError::TooDeep { line: document.lines.first().map_or(1, |line| line.source) })
    }

    /// Reads a document that is in the one form.
    fn read(document: &Document, text: String, seen: &mut Seen) -> Self {
        let (scan, found) = seen.found(document);
        let front = document.front.len();
        let (mut phases, mut spans) = (Vec::new(), Vec::new());
        for (section, (at, found)) in steps::sections(&scan).into_iter().zip(found.iter().enumerate()) {
            let (lines, steps) = steps::steps(document, section).into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
            let last = section.last().map_or(found.last, |block| block.last);
            let next = scan.blocks.get(scan.blocks.partition_point(|block| block.first <= last));
            let end = next.map_or(document.lines.len(), |next| next.first);
            spans.push(Span {
                heading: found.first + front,
                end: end + front,
                steps: lines.into_iter().map(|line: usize| line + front).collect(),
                source: document.lines[found.first].source,
            });
            phases.push(PlannedPhase {
                number: u32::try_from(at + 1).unwrap_or(u32::MAX),
                title: found.named.title.clone(),
                objective: steps::objective(section),
                steps,
                state: found.named.state,
            });
        }
        Self { text, phases, spans }
    }

    /// The plan in its one form, as it goes to `main_plan.md`.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn phases(&self) -> &[PlannedPhase] {
        &self.phases
    }

    /// The phase to be worked: the first that isn't complete.
    pub fn current(&self) -> Option<&PlannedPhase> {
        self.phases.iter().find(|phase| phase.state != PhaseState::Complete)
    }

    /// What a saved plan must respect: the completed phases of `before` are there with the same number, title and steps,
    /// and no other phase is marked complete. Apply it to `after.with_marks_of(before)` where forgotten marks and boxes of
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

/// What differs between a completed phase and its new version, in words.
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
    Some(match (old.text == new.text, old.done) {
        (false, _) => format!("its step {} here is '{}' instead of '{}'", at + 1, new.text, old.text),
        (true, true) if !new.done => format!("its step {} is no longer ticked", at + 1),
        (true, false) if new.done => format!("its step {} is ticked now", at + 1),
        (true, _) => format!("the details of its step {} differ", at + 1),
    })
}

/// A phase's heading in its one form.
fn heading_line(number: u32, title: &str, state: PhaseState) -> String {
    let mark = match state {
        PhaseState::Open => "",
        PhaseState::Current => " ← CURRENT",
        PhaseState::Complete => " ✓ COMPLETE",
    };
    format!("## Phase {number}: {title}{mark}")
}
