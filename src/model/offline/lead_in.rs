//! What leads to a list: "The operator must:". Its items are obliged by the words before them.

use super::blocks::{Block, Kind, hangs_open};
use super::marker::Family;

/// Whether a block introduces the list after it.
pub(super) fn leads_in(block: &Block<'_>, text: &str, next: Option<&Block<'_>>) -> bool {
    let Some(next) = next else { return false };
    let Kind::Item(next_family) = next.kind else {
        return false;
    };
    let within = match block.kind {
        Kind::Item(family) => {
            next.indent > block.indent + 1
                || (family != next_family && (next.indent >= block.indent || matches!(family, Family::Clause(_))))
        }
        Kind::Paragraph => true,
        Kind::Heading | Kind::Row { .. } | Kind::Other => false,
    };
    let bare = text.trim_end_matches(['*', '_', ' ']);
    let opens = bare.ends_with([':', '—', '–', '…', '：']) || bare.ends_with("...");
    let hangs = !bare.ends_with(['.', '!', '?', ';', ',', ')', '"', '”', '`', '|']);
    let hangs = hangs && matches!(block.kind, Kind::Paragraph);
    let hanging = hangs && hangs_open(bare);
    within && (opens || hanging) && !is_for_machine(next)
}

/// Whether an item is no more than a name or a call, which says nothing by itself: `filter_mem16()`, `{snmp, Struct}`.
fn is_for_machine(item: &Block<'_>) -> bool {
    let [only] = &item.pieces[..] else { return false };
    let few = only.text.split_whitespace().nth(3).is_none();
    let is_call = only.text.find('(').is_some_and(|at| !only.text[..at].ends_with(' '));
    few && (is_call || only.text.contains(['_', '=', '{', '<', '$', '\\']))
}

/// Whether the normative word at `at` of a lead-in is about the items: not that of a condition before the main clause
/// ("If it must be open, say so:"), nor one with another clause behind its own ("It may look hard, but it has merits:").
pub(super) fn is_for_items(sentence: &str, at: usize) -> bool {
    let (before, after) = sentence.split_at(at);
    let first = sentence.split_whitespace().next().unwrap_or("");
    let is_condition = CONDITIONS.contains(&first) && !before.contains(',') && after.contains(", ");
    !is_condition && !TURNS.iter().any(|turn| after.contains(turn))
}

/// Words that begin a clause on which the main one depends.
const CONDITIONS: &[&str] = &[
    "After", "Although", "As", "Because", "Before", "If", "Once", "Since", "Though", "Unless", "Until", "When",
    "Where", "Whereas", "Wherever", "Whenever", "While",
];
/// What begins another main clause.
const TURNS: &[&str] = &["; ", ", but ", ", so ", ", yet ", ", however", ", though", ", although"];
