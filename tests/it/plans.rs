//! Plans as models really write them, each with what is understood beside it. `UPDATE=1` rewrites the expectations.

use std::fmt::Write as _;
use std::path::Path;

use overnight::job::plan::{PhaseState, Plan};

#[test]
fn plans_of_all_kinds_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/plans");
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    names.sort();
    assert!(names.len() >= 40, "the corpus is missing: {} plans", names.len());
    let mut wrong = String::new();
    for path in names {
        let found = show(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let beside = path.with_extension("expected");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&beside, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if found != expected {
            writeln!(wrong, "== {}\n-- expected\n{expected}\n-- found\n{found}", path.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What was understood, then the text in its one form; or the error.
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
        writeln!(shown, "{} {state}: {}", phase.number, phase.title)?;
        if !phase.objective.is_empty() {
            writeln!(shown, "  objective: {}", phase.objective)?;
        }
        for step in &phase.steps {
            writeln!(shown, "  {} {}", if step.done { 'x' } else { '-' }, step.text)?;
            for line in step.details.lines() {
                writeln!(shown, "      | {line}")?;
            }
        }
    }
    writeln!(shown, "----\n{}", plan.text())?;
    Ok(shown)
}
