//! How a phase changed the plan: the plan of the previous phase against the plan of this one.

use super::{AuditError, timeline::Timeline};
use crate::workspace::{Workspace, chain::ARCHIVE};
use overnight_core::job::state::PLAN_FILE;
use similar::TextDiff;
use std::{path::Path, time::Duration};

/// A plan is a page or a few; the diff of any longer text is only as fine as this time allows.
const MOST_TIME: Duration = Duration::from_secs(2);

/// The unified diff from the previous plan to that of the phase at `place` in the timeline; empty if nothing changed.
pub fn plan_diff(path: &Path, timeline: &Timeline, place: usize) -> Result<String, AuditError> {
    let workspace = Workspace::open(path)?;
    let name = |place: usize| match timeline.phases.get(place).and_then(|phase| phase.archive.as_ref()) {
        Some(folder) => format!("{ARCHIVE}/{folder}/{PLAN_FILE}"),
        None => PLAN_FILE.to_owned(),
    };
    let before = place.checked_sub(1).map(name);
    let after = name(place);
    let old = before.as_deref().map_or(Ok(None), |name| text(&workspace, name))?;
    let new = text(&workspace, &after)?;
    let shown = |name: Option<String>, text: &Option<String>| match (name, text) {
        (Some(name), Some(_)) => name,
        (Some(_) | None, Some(_) | None) => "(no plan)".to_owned(),
    };
    Ok(unified(
        &shown(before, &old),
        old.as_deref().unwrap_or_default(),
        &shown(Some(after), &new),
        new.as_deref().unwrap_or_default(),
    ))
}

fn text(workspace: &Workspace, name: &str) -> Result<Option<String>, AuditError> {
    match workspace.read(name) {
        Ok(content) => Ok(Some(String::from_utf8_lossy(&content).into_owned())),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What leads from `old` to `new`, as `diff -u` writes it.
fn unified(old_name: &str, old: &str, new_name: &str, new: &str) -> String {
    TextDiff::configure()
        .timeout(MOST_TIME)
        .diff_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(old_name, new_name)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_with_their_surroundings() {
        let old = "# Plan\n\n## Phase 1: Read ← CURRENT\n- [ ] a\n- [ ] b\n";
        let new = "# Plan\n\n## Phase 1: Read ✓ COMPLETE\n- [x] a\n- [ ] b\n";
        assert_eq!(
            unified("a/main_plan.md", old, "main_plan.md", new),
            "--- a/main_plan.md\n+++ main_plan.md\n@@ -1,5 +1,5 @@\n # Plan\n \n-## Phase 1: Read ← CURRENT\n-- [ ] a\n\
             +## Phase 1: Read ✓ COMPLETE\n+- [x] a\n - [ ] b\n"
        );
        assert_eq!(unified("a", old, "b", old), "");
    }
}
