//! Plans as models really write them, each with what is understood below it. `UPDATE=1` rewrites the expectations.

use std::fmt::Write as _;

use overnight_core::job::plan::{PhaseState, Plan};
use similar::{DiffTag, TextDiff};

#[test]
fn plans_of_all_kinds_are_read() {
    crate::support::corpus("plans.txt", 60, &|_, text| show(text).unwrap());
}

/// A line for each phase that was understood, then the text in its one form, which reads as the same phases, with a count in
/// place of lines that stay as they are; or the error.
fn show(text: &str) -> Result<String, std::fmt::Error> {
    let plan = match Plan::parse(text) {
        Ok(plan) => plan,
        Err(error) => return Ok(format!("error: {error}\n")),
    };
    assert_eq!(Plan::parse(plan.text()).as_ref(), Ok(&plan), "the one form reads as itself");
    let mut shown = String::new();
    for phase in plan.phases() {
        let state = match phase.state {
            PhaseState::Open => "open",
            PhaseState::Current => "current",
            PhaseState::Complete => "complete",
        };
        let done = phase.steps.iter().filter(|step| step.done).count();
        let counts = [(phase.steps.len(), "steps"), (done, "done")];
        write!(shown, "{} {state} '{}':", phase.number, phase.title)?;
        for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
            write!(shown, " {count} {what}")?;
        }
        shown.push('\n');
    }
    shown.push_str("----\n");
    for change in TextDiff::from_lines(text, plan.text()).ops() {
        match change.new_range() {
            lines if change.tag() == DiffTag::Equal && lines.len() > 1 => writeln!(shown, "… {} lines", lines.len())?,
            lines => shown.extend(plan.text().split_inclusive('\n').skip(lines.start).take(lines.len())),
        }
    }
    Ok(shown)
}
