//! Normative statements: sentences and items that bind their reader by a word of RFC 2119 (`extract-requirements`
//! states which ones, and how strongly).

use super::blocks::{TextBlock, TextBlockKind};
use super::sentences::sentences;
use regex::Regex;
use std::{ops::Range, sync::LazyLock};

/// The strength of a binding word, such as `MUST NOT` or `RECOMMENDED`.
pub(super) fn rank(strength: &str) -> u8 {
    match strength.trim_start_matches("NOT ").trim_end_matches(" NOT") {
        "MAY" => 1,
        "SHOULD" | "RECOMMENDED" => 2,
        _ => 3,
    }
}

/// Whether it forbids something or advises against it: not requiring something leaves it open.
pub(super) fn forbids(strength: &str) -> bool {
    strength.contains("NOT") && strength != "NOT REQUIRED"
}

/// The most bytes of a statement.
const MOST_BYTES: usize = 4_000;

/// The range of a statement in its text, its binding word, and the heading above it.
pub(super) type Statement = (Range<usize>, String, Option<String>);

/// The statements of a text. `section` is the heading above its beginning, and then the one above its end.
pub(super) fn statements(text: &str, blocks: &[TextBlock], section: &mut Option<String>) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    // The line that leads into each open list: none, or its binding word, if it has one.
    let mut leads: Vec<Option<String>> = Vec::new();
    let mut lead = None;
    for (place, block) in blocks.iter().enumerate() {
        let depth = if let TextBlockKind::Item(depth) = block.kind { depth } else { 0 };
        let of_list = lead.take().or_else(|| leads.last().cloned().flatten());
        leads.resize(depth, of_list);
        let whole = &text[block.range.clone()];
        if block.kind == TextBlockKind::Heading {
            *section = Some(collapsed(whole));
            continue;
        }
        let blanked = without_quoted(whole);
        // The paragraph that defines the binding words binds nobody.
        if blanked.to_lowercase().contains("key word") {
            continue;
        }
        let parts = sentences(whole);
        let leads_on =
            blocks.get(place + 1).is_some_and(|next| matches!(next.kind, TextBlockKind::Item(next) if next > depth));
        for (number, part) in parts.iter().enumerate().filter(|(_, part)| part.len() < MOST_BYTES) {
            let own = strength(&blanked[part.clone()]);
            if leads_on && number + 1 == parts.len() && !whole[part.clone()].ends_with(['.', '!', '?', ';']) {
                lead = own;
                continue;
            }
            let bound = own.or_else(|| leads.last().cloned().flatten().filter(|_| number == 0));
            let range = block.range.start + part.start..block.range.start + part.end;
            found.extend(bound.map(|strength| (range, strength, section.clone())));
        }
    }
    found
}

/// A text with white space collapsed to single spaces.
pub(super) fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The strength of a sentence without quotations: that of its strongest word; among equals that of a forbidding one,
/// then of the first.
fn strength(text: &str) -> Option<String> {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let being = r"(?:is|are|be|been|being|was|were)\s+(?:\w+\s+)?";
        Regex::new(&format!(r"(?i)\b(must|shall|should|may|{being}(?:required|recommended))\b(\s+(?:not|never|no)\b)?"))
            .ok()
    });
    let mut best: Option<String> = None;
    for found in WORD.as_ref()?.captures_iter(text) {
        let (before, after) = (&text[..found.get_match().start()], text[found.get_match().end()..].trim_start());
        let phrase = found[1].to_lowercase();
        let has = |words: &[&str]| phrase.split_whitespace().any(|word| words.contains(&word));
        let word = phrase.split_whitespace().next_back().unwrap_or_default().to_uppercase();
        // "a must", "3 May", "is the recommended remedy"
        let is_noun = before.trim_end().ends_with(" a") && word == "MUST";
        let is_digit = |c: char| c.is_ascii_digit();
        let is_month = &found[1] == "May" && (!before.trim().is_empty() || after.starts_with(is_digit));
        if is_noun || is_month || has(&["the", "a", "an"]) {
            continue;
        }
        let is_negated = found.get(2).is_some() || has(&["not", "never"]) || is_under_negation(before);
        let name = match (is_negated, word.ends_with('D') && word != "SHOULD") {
            (false, _) => word,
            (true, true) => format!("NOT {word}"),
            (true, false) => format!("{word} NOT"),
        };
        let of = |name: &str| (rank(name), forbids(name));
        if best.as_ref().is_none_or(|best| of(&name) > of(best)) {
            best = Some(name);
        }
    }
    best
}

/// Whether the clause that continues after `before` is negated by its subject: "No door may be open".
fn is_under_negation(before: &str) -> bool {
    let clause = before.rsplit([',', ';', ':']).next().unwrap_or_default();
    let first = clause.split_whitespace().next().unwrap_or_default().to_lowercase();
    matches!(first.as_str(), "no" | "nobody" | "none" | "nothing" | "neither")
}

/// A text with blanks in place of what stands in double quotation marks or is marked as code.
fn without_quoted(text: &str) -> String {
    static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("\"[^\"]*\"|“[^”]*”|«[^»]*»|`[^`]*`").ok());
    let Some(quoted) = QUOTED.as_ref() else { return text.to_owned() };
    quoted.replace_all(text, |found: &regex::Captures<'_>| " ".repeat(found[0].len())).into_owned()
}
