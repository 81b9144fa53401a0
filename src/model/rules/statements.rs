//! Normative statements: sentences and items that bind their reader by a word of RFC 2119 (`extract-requirements` says which,
//! and how strongly).

use super::blocks::{TextBlock, TextBlockKind};
use super::sentences::sentences;
use regex::Regex;
use std::{ops::Range, sync::LazyLock};

/// How a statement binds: the name, how strongly from 1 to 3, and whether it forbids or
/// advises against something.
#[derive(Clone, Copy, Default)]
pub(super) struct Strength {
    pub(super) name: &'static str,
    pub(super) rank: u8,
    pub(super) forbids: bool,
}

/// The words, their negations, and how strongly they bind.
const WORDS: [(&str, &str, u8); 6] = [
    ("MUST", "MUST NOT", 3),
    ("SHALL", "SHALL NOT", 3),
    ("REQUIRED", "NOT REQUIRED", 3),
    ("SHOULD", "SHOULD NOT", 2),
    ("RECOMMENDED", "NOT RECOMMENDED", 2),
    ("MAY", "MAY NOT", 1),
];

impl Strength {
    pub(super) fn named(name: &str) -> Option<Self> {
        let (plain, negated, rank) = *WORDS.iter().find(|(plain, negated, _)| [plain, negated].contains(&&name))?;
        let name = if name == negated { negated } else { plain };
        // What is not required is left open.
        Some(Self { name, rank, forbids: name == negated && plain != "REQUIRED" })
    }
}

/// Bytes of the longest sentence that is one.
const MOST_BYTES: usize = 4_000;

/// What binds, and where it stands in its text.
pub(super) struct Statement {
    pub(super) range: Range<usize>,
    pub(super) strength: Strength,
    pub(super) section: Option<String>,
}

/// The statements of a text. `section` is the heading above its beginning, and then the one above its end.
pub(super) fn statements(text: &str, blocks: &[TextBlock], section: &mut Option<String>) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    // What leads into the items of each list that is open: none, or a line that binds them or doesn't.
    let mut leads: Vec<Option<Strength>> = Vec::new();
    let mut lead = None;
    for (place, block) in blocks.iter().enumerate() {
        let depth = if let TextBlockKind::Item(depth) = block.kind { depth } else { 0 };
        while leads.len() < depth {
            leads.push(lead.or_else(|| leads.last().copied().flatten()));
        }
        leads.truncate(depth);
        let whole = &text[block.range.clone()];
        lead = None;
        if block.kind == TextBlockKind::Heading {
            *section = Some(collapsed(whole));
            continue;
        }
        let blanked = without_quoted(whole);
        // The paragraph that says what the words mean binds nobody.
        if blanked.to_lowercase().contains("key word") {
            continue;
        }
        let parts = sentences(whole);
        let leads_on =
            blocks.get(place + 1).is_some_and(|next| matches!(next.kind, TextBlockKind::Item(next) if next > depth));
        for (number, part) in parts.iter().enumerate().filter(|(_, part)| part.len() < MOST_BYTES) {
            let sentence = &whole[part.clone()];
            let own = strength(&blanked[part.clone()]);
            if leads_on && number + 1 == parts.len() && !sentence.ends_with(['.', '!', '?', ';']) {
                lead = own;
                continue;
            }
            let bound = own.or_else(|| leads.last().copied().flatten().filter(|_| number == 0));
            let start = block.range.start;
            let range = start + part.start..start + part.end;
            found.extend(bound.map(|strength| Statement { range, strength, section: section.clone() }));
        }
    }
    found
}

/// White space as single spaces.
pub(super) fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How strongly a sentence binds, in which nothing is quoted: by the strongest of its words; among equals by one that forbids,
/// then by the first.
fn strength(text: &str) -> Option<Strength> {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let being = r"(?:is|are|be|been|being|was|were)\s+(?:\w+\s+)?";
        Regex::new(&format!(r"(?i)\b(must|shall|should|may|{being}(?:required|recommended))\b(\s+(?:not|never|no)\b)?"))
            .ok()
    });
    let mut best: Option<Strength> = None;
    for found in WORD.as_ref()?.captures_iter(text) {
        let (Some(whole), Some(phrase)) = (found.get(0), found.get(1)) else { continue };
        let (before, after) = (&text[..whole.start()], text[whole.end()..].trim_start());
        let word = phrase.as_str().split_whitespace().next_back().unwrap_or_default();
        let phrase = phrase.as_str().to_lowercase();
        let has = |words: &[&str]| phrase.split_whitespace().any(|word| words.contains(&word));
        // "a must", "3 May", "is the recommended remedy"
        let is_noun = before.trim_end().ends_with(" a") && phrase == "must";
        let is_month = word == "May" && (!before.trim().is_empty() || after.starts_with(|c: char| c.is_ascii_digit()));
        if is_noun || is_month || has(&["the", "a", "an"]) {
            continue;
        }
        let is_negated = found.get(2).is_some() || has(&["not", "never"]) || is_under_negation(before);
        let (plain, negated, _) = WORDS.iter().find(|(plain, ..)| plain.eq_ignore_ascii_case(word))?;
        let one = Strength::named(if is_negated { negated } else { plain })?;
        if best.is_none_or(|best| (one.rank, one.forbids) > (best.rank, best.forbids)) {
            best = Some(one);
        }
    }
    best
}

/// Whether a clause that goes on behind `before` says that nothing or nobody does it: "No door may be open".
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
