//! Reads the line that names a phase: "Phase 1: Title", also with "-" or "." after the number, in bold, and with signs
//! or words for its state before and after it.

use super::PhaseState;
use regex::Regex;
use std::sync::LazyLock;

const SIGN: &str = r"[✓✔✅☑🟢←🔄⏳🚧▶🟡☐⬜🔲❌⏸🔴⚪]\x{FE0F}?\s*";
const WORD: &str = r"completed?|done|finished|current|active|in[ -]progress|pending|open|todo|not started|planned";

static NAME: LazyLock<Option<Regex>> =
    LazyLock::new(|| regex(r"^((?:\[[ x]\]|[^\p{L}\p{N}])*)phase\s*#?(\d{1,6})(?:\s*(?:/|of\s)\s*\d+)?"));
static WORD_PHASE: LazyLock<Option<Regex>> = LazyLock::new(|| regex(r"^[^\p{L}\p{N}]*phase\b"));
/// The part after a title that doesn't belong to it: signs, a word in brackets, the closing `#`s of a heading.
static BEHIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(&format!(r"(?:(?:{SIGN})+(?:{WORD})?|[(\[]\s*(?:{SIGN})*(?:{WORD})\s*[)\]]|\[[ x]?\]|(?:^|\s)#+)$"))
});
static BOLD: LazyLock<Option<Regex>> = LazyLock::new(|| regex(&format!(r"^((?:{SIGN})*)\*\*([^*]+)\*\*(.*)$")));
/// Boxes, signs, bullets and numbers before a step, whatever their order.
static BEFORE_STEP: LazyLock<Option<Regex>> =
    LazyLock::new(|| regex(&format!(r"^(?:(?:[-*+]|\d{{1,3}}[.)])\s+|\[\s?[ x✓✔✅~-]?\s?\](?:\s+|$)|{SIGN})+")));

/// A line read as the heading of a phase; its title may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PhaseHeading {
    pub(super) number: u32,
    pub(super) title: String,
    pub(super) state: PhaseState,
}

/// Compiles a pattern. A test compiles all of them, so none is invalid.
pub(super) fn regex(pattern: &str) -> Option<Regex> {
    regex::RegexBuilder::new(pattern).case_insensitive(true).build().ok()
}

/// Reads the text of a heading, without its `#`s.
pub(super) fn read_heading(text: &str) -> Option<PhaseHeading> {
    let found = NAME.as_ref()?.captures(text)?;
    let rest = &text[found[0].len()..];
    let mut ahead = rest.chars();
    let (first, second) = (ahead.next(), ahead.next());
    // "Phase 1.2", "Phase 1-3" and "Phase 1a" are parts, ranges and variants: not a phase of their own.
    if first.is_some_and(char::is_alphanumeric)
        || first.is_some_and(|char| ".-–/".contains(char)) && second.is_some_and(|char| char.is_ascii_digit())
    {
        return None;
    }
    let (title, marks) = tidy(rest);
    Some(PhaseHeading { number: found[2].parse().ok()?, title, state: state(&format!("{}{marks}", &found[1])) })
}

/// Reads a line that is bold as a whole, or up to the title: "**Phase 1: Title**", "**Phase 1:** Title".
pub(super) fn read_bold_heading(line: &str) -> Option<PhaseHeading> {
    let found = BOLD.as_ref()?.captures(line.trim_end())?;
    let (lead, inner, rest) = (&found[1], found[2].trim(), found[3].trim());
    let separators = [':', '.', '-', '–', '—'];
    let goes_on = inner.ends_with(separators) || rest.starts_with(separators);
    let is_whole =
        if read_heading(inner)?.title.is_empty() { rest.is_empty() || goes_on } else { tidy(rest).0.is_empty() };
    is_whole.then(|| read_heading(&format!("{lead}{inner} {rest}")))?
}

/// The number of the phase with which a line begins in bold, whatever follows.
pub(super) fn bold_number(line: &str) -> Option<u32> {
    Some(read_heading(&BOLD.as_ref()?.captures(line)?[2])?.number)
}

/// Whether a heading begins with the word, so that it means to name a phase.
pub(super) fn says_phase(text: &str) -> bool {
    WORD_PHASE.as_ref().is_some_and(|word| word.is_match(text))
}

/// A title as one tidy line without the marks around it, and the marks after it.
pub(super) fn tidy(text: &str) -> (String, String) {
    let (mut title, mut marks) = (text.to_owned(), String::new());
    loop {
        let before = title.len();
        title = title.replace("**", "").split_whitespace().collect::<Vec<_>>().join(" ");
        title = title.trim_start_matches([':', '.', ')', '-', '–', '—', '|', ' ']).to_owned();
        if let Some(found) = BEHIND.as_ref().and_then(|behind| behind.find(&title)) {
            marks.push_str(found.as_str());
            title.truncate(found.start());
        }
        if title.len() == before {
            return (title, marks);
        }
    }
}

fn state(marks: &str) -> PhaseState {
    let marks = marks.to_lowercase();
    let has = |signs: &str, words: &[&str]| {
        marks.contains(|char| signs.contains(char)) || words.iter().any(|word| marks.contains(word))
    };
    if has("✓✔✅☑🟢", &["complete", "done", "finished", "[x]"]) {
        PhaseState::Complete
    } else if has("←🔄⏳🚧▶🟡", &["current", "active", "progress"]) {
        PhaseState::Current
    } else {
        PhaseState::Open
    }
}

/// The text of a step without the boxes, signs and numbers before it, whether these say that it is done, and whether
/// there were any boxes or signs.
pub(super) fn step(text: &str) -> (&str, bool, bool) {
    let text = text.trim();
    let (marks, rest) =
        text.split_at(BEFORE_STEP.as_ref().and_then(|before| before.find(text)).map_or(0, |found| found.end()));
    let is_done = marks.contains(['✓', '✔', '✅', '☑', '🟢', 'x', 'X']);
    (rest.trim_start(), is_done, marks.contains(|char: char| char == '[' || !char.is_ascii()))
}

/// The heading of a phase in its one form.
pub(super) fn line(number: u32, title: &str, state: PhaseState) -> String {
    let mark = match state {
        PhaseState::Open => "",
        PhaseState::Current => " ← CURRENT",
        PhaseState::Complete => " ✓ COMPLETE",
    };
    format!("## Phase {number}: {title}{mark}")
}
