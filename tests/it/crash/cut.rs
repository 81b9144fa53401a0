//! What a crash leaves: the workspace between two lines of the journal, with the effects of the second one not begun, half
//! done, or done.

use super::record::{Moment, Record};
use crate::scenarios::{
    case::{Rest, Scenario, Step},
    tree::{Node, Tree},
};
use overnight::workspace::{chain::LIVE, files::TEMPORARY};

/// A crash.
pub(crate) struct Cut {
    /// For a person who looks for what went wrong.
    pub(crate) what: &'static str,
    /// The last line, from 1, that is whole on the disk.
    pub(crate) line: usize,
    /// A part of the next line is there too.
    pub(crate) is_torn: bool,
    pub(crate) tree: Tree,
    /// The step that is played again.
    pub(crate) from: usize,
    /// The database's rows are those of a checkpoint at this line.
    pub(crate) rows_at: usize,
}

/// Written from the state now and then, and before the job rests or a tool looks at them.
pub(crate) const DERIVED: [&str; 2] = ["todos.md", "progress.md"];
/// As `rooted` names what is unfinished.
const STRAY: &str = "0193a2b4c5d6789abcdef0123456789a";

/// Which crashes are wanted at a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// After the line in all states, and at several places of the next.
    All,
    /// After the line, in one of the states.
    One,
    /// In the middle of the next line.
    Torn,
}

/// Crashes after line `line` (from 1), or within the next.
pub(crate) fn cuts(scenario: &Scenario, record: &Record, line: usize, wanted: Wanted) -> Vec<Cut> {
    let Some(at) = record.at(line) else {
        return Vec::new();
    };
    let next = record.at(line + 1);
    // What the database knows may be older than the line: a checkpoint is made now and then only.
    let rows_at = line - (line % 5).min(line - 1);
    let mut states = states(scenario, record, line);
    // Nothing comes behind the last line.
    let wanted = if next.is_none() && wanted == Wanted::Torn { Wanted::One } else { wanted };
    match wanted {
        Wanted::All => {}
        Wanted::One => states = vec![states.swap_remove(line % states.len())],
        Wanted::Torn => states.clear(),
    }
    let from = step_after(scenario, record, line);
    let mut cuts: Vec<Cut> =
        states.into_iter().map(|(what, tree)| Cut { what, line, is_torn: false, tree, from, rows_at }).collect();
    if let Some(next) = next {
        let parts: &[(&str, usize)] = match wanted {
            Wanted::All => &[
                ("with a byte of the next line", 0),
                ("with half of the next line", 2),
                ("with the next line but its end", 1),
            ],
            Wanted::One => &[],
            Wanted::Torn => &[("with half of the next line", 2)],
        };
        cuts.extend(parts.iter().map(|(what, part)| Cut {
            what,
            line,
            is_torn: true,
            tree: torn(at, next, *part),
            from: next.step,
            rows_at,
        }));
    }
    cuts
}

/// The step that a job goes on with whose last line on the disk is `line`.
pub(crate) fn step_after(scenario: &Scenario, record: &Record, line: usize) -> usize {
    let step = record.at(line).map_or(0, |at| at.step);
    match record.at(line + 1) {
        Some(next) if next.step == step => step,
        Some(_) | None if is_stopped(scenario, step) => step,
        Some(_) | None => step + 1,
    }
}

/// A step that ends with an error leaves no line of its own behind.
fn is_stopped(scenario: &Scenario, step: usize) -> bool {
    matches!(scenario.steps.get(step), Some(Step::Work(Rest::Stopped(_))))
}

/// The workspace while line `line + 1` is being written: its effects are done. `part` 0: a byte of it; 1: all but the
/// newline; 2: half.
fn torn(at: &Moment, next: &Moment, part: usize) -> Tree {
    let mut tree = next.tree.clone();
    for path in DERIVED {
        put(&mut tree, path, at.tree.0.get(path));
    }
    let journal = next.tree.bytes(LIVE).map_or(&[][..], |bytes| bytes);
    let begin = journal[..journal.len() - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let length = journal.len() - 1 - begin;
    let kept = match part {
        0 => 1,
        1 => length,
        _ => length / 2,
    };
    let cut = journal[..begin + kept].to_vec();
    tree.put(LIVE, &cut);
    tree
}

/// Everything in which a crash between line `line` and the next can leave the files. The first is as if nothing was begun.
fn states(scenario: &Scenario, record: &Record, line: usize) -> Vec<(&'static str, Tree)> {
    let Some(at) = record.at(line) else {
        return Vec::new();
    };
    let mut states = vec![("as it was", at.tree.clone())];
    // The files that follow from the state were not written yet.
    let before = record.at(line - 1);
    let mut old = at.tree.clone();
    let mut missing = at.tree.clone();
    for path in DERIVED {
        if let Some(before) = before {
            put(&mut old, path, before.tree.0.get(path));
        }
        put(&mut missing, path, None);
    }
    missing.put(format!("{TEMPORARY}{STRAY}"), b"# Prog");
    // A job comes to rest only after these files are as it leaves them.
    if at.job.is_running() {
        states.push(("todos.md and progress.md as before", old));
        states.push(("todos.md and progress.md missing, one half written", missing));
    }
    let Some(next) = record.at(line + 1) else {
        return states;
    };
    // A person's hand comes between: what differs is not the job's doing, and comes again.
    if scenario.steps[at.step.min(scenario.steps.len())..=next.step].iter().any(Step::is_hand) {
        return states;
    }
    let changed: Vec<(&String, &Node)> = next
        .tree
        .0
        .iter()
        .filter(|(path, node)| at.tree.0.get(*path) != Some(node) && *path != LIVE && !DERIVED.contains(&path.as_str()))
        .collect();
    if changed.is_empty() {
        return states;
    }
    let mut done = at.tree.clone();
    let mut half = at.tree.clone();
    let is_archive = changed.iter().any(|(path, _)| path.starts_with("archive/"));
    for (place, (path, node)) in changed.iter().enumerate() {
        done.0.insert((*path).clone(), (*node).clone());
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        let Node::File(bytes, _) = node else { continue };
        if is_archive {
            // Built under a temporary name: some files are whole, the last is cut off, the rest is not there.
            if place <= changed.len() / 2 {
                let length = if place == changed.len() / 2 { bytes.len() / 2 } else { bytes.len() };
                half.put(format!("archive/{TEMPORARY}{STRAY}/{name}"), &bytes[..length]);
            }
        } else {
            half.put(format!("{folder}/{TEMPORARY}{STRAY}").trim_start_matches("./"), &bytes[..bytes.len() / 2]);
        }
    }
    states.push(("with the next effect half done", half));
    if is_archive {
        let mut emptied = done.clone();
        emptied.put(LIVE, b"");
        states.push(("with the archive there and the live journal empty", emptied));
        let mut stray = done.clone();
        stray.put(format!("{TEMPORARY}{STRAY}"), b"");
        states.push(("with the archive there, the live journal too, and a new one begun", stray));
    }
    states.push(("with the next effect done", done));
    states
}

fn put(tree: &mut Tree, path: &str, node: Option<&Node>) {
    match node {
        Some(node) => tree.0.insert(path.to_owned(), node.clone()),
        None => tree.0.remove(path),
    };
}
