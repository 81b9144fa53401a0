//! Plans as models really write them, each with what is understood below it. `UPDATE=1` rewrites the expectations.

use std::fmt::Write as _;

use overnight_core::job::plan::{PhaseState, Plan};
use similar::{DiffOp, DiffTag, TextDiff};

#[test]
fn plans_of_all_kinds_are_read() {
    crate::support::corpus("plans.txt", 60, &|_, text| show(text).unwrap());
}

/// A line for each phase that was understood, then the text in its one form, which reads as the same phases: how many
/// lines it has, which of them are blank where none was, and those that are otherwise, with their numbers; or the error.
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
    let lines: Vec<&str> = plan.text().lines().collect();
    let diff = TextDiff::from_lines(text, plan.text());
    let changed = diff.ops().iter().filter(|change| change.tag() != DiffTag::Equal).flat_map(DiffOp::new_range);
    let (blank, other): (Vec<usize>, Vec<usize>) = changed.partition(|place| lines[*place].is_empty());
    let blank: Vec<String> = blank.iter().map(|place| format!(" {}", place + 1)).collect();
    writeln!(shown, "---- {} lines{}{}", lines.len(), if blank.is_empty() { "" } else { ", blank:" }, blank.concat())?;
    for place in other {
        writeln!(shown, "{}: {}", place + 1, lines[place])?;
    }
    Ok(shown)
}
