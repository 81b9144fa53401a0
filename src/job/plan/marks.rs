//! Marks of state as people and models write them: check boxes, emoji, "(done)", `✓ COMPLETE`, `← CURRENT`.

use super::PhaseState;

/// What a mark in front of a step or phase says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Done,
    Doing,
    Open,
}

const DONE: &[char] = &['✅', '☑', '✔', '✓', '🗹', '🟢'];
const DOING: &[char] = &['🔄', '⏳', '⌛', '🚧', '🔃', '🟡', '▶', '👉', '⏩'];
const OPEN: &[char] = &['☐', '⬜', '🔲', '◻', '□', '❌', '☒', '⏸', '🔴', '⚪', '🟥', '⭕'];

/// Words of state, in lower case. They count only in brackets or after a sign, never bare ("work until complete").
const WORDS: &[(&str, Mark)] = &[
    ("complete", Mark::Done),
    ("completed", Mark::Done),
    ("done", Mark::Done),
    ("finished", Mark::Done),
    ("abgeschlossen", Mark::Done),
    ("erledigt", Mark::Done),
    ("fertig", Mark::Done),
    ("完了", Mark::Done),
    ("完成", Mark::Done),
    ("已完成", Mark::Done),
    ("terminé", Mark::Done),
    ("completado", Mark::Done),
    ("x", Mark::Done),
    ("current", Mark::Doing),
    ("current phase", Mark::Doing),
    ("in progress", Mark::Doing),
    ("in-progress", Mark::Doing),
    ("in_progress", Mark::Doing),
    ("active", Mark::Doing),
    ("ongoing", Mark::Doing),
    ("aktuell", Mark::Doing),
    ("in arbeit", Mark::Doing),
    ("läuft", Mark::Doing),
    ("進行中", Mark::Doing),
    ("进行中", Mark::Doing),
    ("当前", Mark::Doing),
    ("en cours", Mark::Doing),
    ("en curso", Mark::Doing),
    ("pending", Mark::Open),
    ("not started", Mark::Open),
    ("todo", Mark::Open),
    ("to do", Mark::Open),
    ("upcoming", Mark::Open),
    ("planned", Mark::Open),
    ("offen", Mark::Open),
    ("ausstehend", Mark::Open),
    ("未着手", Mark::Open),
    ("未开始", Mark::Open),
    ("待处理", Mark::Open),
    ("pendiente", Mark::Open),
];

/// Signs that may stand between a title and a bare word of state.
const SIGNS: &[char] = &['←', '⟵', '⇐', '→', '—', '–', '|', '·', '✓', '✔', '✅', '☑', '🔄', '⏳', '👈'];

impl Mark {
    fn of_sign(sign: char) -> Option<Self> {
        if DONE.contains(&sign) {
            Some(Self::Done)
        } else if DOING.contains(&sign) {
            Some(Self::Doing)
        } else if OPEN.contains(&sign) {
            Some(Self::Open)
        } else {
            None
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        let word = word.trim_matches(|char: char| char.is_whitespace() || "*_".contains(char) || is_selector(char));
        let word = word.trim_matches(|char: char| SIGNS.contains(&char) || char.is_whitespace()).to_lowercase();
        WORDS.iter().find(|(known, _)| *known == word).map(|&(_, mark)| mark)
    }

    /// The stronger of two marks on one phase: complete, then current.
    pub(super) fn stronger(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        [Self::Done, Self::Doing, Self::Open].into_iter().find(|&mark| one == Some(mark) || other == Some(mark))
    }

    pub(super) fn state(mark: Option<Self>) -> PhaseState {
        match mark {
            Some(Self::Done) => PhaseState::Complete,
            Some(Self::Doing) => PhaseState::Current,
            Some(Self::Open) | None => PhaseState::Open,
        }
    }
}

/// Variation selectors, joiners and keycaps that follow an emoji or a digit.
pub(super) fn is_selector(char: char) -> bool {
    matches!(char, '\u{FE0E}' | '\u{FE0F}' | '\u{20E3}' | '\u{200D}')
}

/// Takes a mark from the front: a check box in any spelling (`[ ]`, `[x]`, `[✓]`, `[]`, `[~]`) or an emoji.
pub(super) fn take_leading(text: &str) -> Option<(Mark, &str)> {
    let text = text.trim_start();
    let first = text.chars().next()?;
    if let Some(mark) = Mark::of_sign(first) {
        return Some((mark, text[first.len_utf8()..].trim_start_matches(is_selector).trim_start()));
    }
    let inside = text.strip_prefix('[').or_else(|| text.strip_prefix('［'))?;
    let end = inside.char_indices().take(5).find(|&(_, char)| char == ']' || char == '］')?;
    let rest = &inside[end.0 + end.1.len_utf8()..];
    // `[x](url)` and `[x]: url` are links; a box is followed by a blank.
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let mark = match inside[..end.0].trim_matches(|char: char| char.is_whitespace() || is_selector(char)) {
        "" | "-" | "/" | "o" | "~" | "_" => Mark::Open,
        ">" => Mark::Doing,
        "x" | "X" | "v" | "V" | "*" => Mark::Done,
        other => {
            let mut chars = other.chars();
            chars.next().and_then(Mark::of_sign).filter(|_| chars.next().is_none())?
        }
    };
    Some((mark, rest.trim_start()))
}

/// Takes a mark from the end: an emoji, a word in brackets, or a word after a sign (`← CURRENT`, `— done`).
pub(super) fn take_trailing(text: &str) -> Option<(Mark, &str)> {
    let text = text.trim_end_matches(|char: char| char.is_whitespace() || is_selector(char));
    let last = text.chars().next_back()?;
    if let Some(mark) = Mark::of_sign(last) {
        return Some((mark, text[..text.len() - last.len_utf8()].trim_end()));
    }
    let open = match last {
        ')' => '(',
        ']' => '[',
        '）' => '（',
        '*' | '_' => return italic(text),
        _ => return after_sign(text),
    };
    let inner = &text[..text.len() - last.len_utf8()];
    let start = inner.rfind(open)?;
    let word = &inner[start + open.len_utf8()..];
    let mark =
        Mark::of_word(word).or_else(|| take_leading(word).map(|(mark, _)| mark).filter(|_| word.chars().count() <= 2));
    let mark = if open == '[' && word.trim().is_empty() { Some(Mark::Open) } else { mark };
    mark.map(|mark| (mark, inner[..start].trim_end()))
}

/// `*(done)*`: emphasis around a bracket.
fn italic(text: &str) -> Option<(Mark, &str)> {
    let inner = text.trim_end_matches(['*', '_']);
    if !inner.ends_with([')', ']']) {
        return None;
    }
    let (mark, rest) = take_trailing(inner)?;
    rest.ends_with(['*', '_']).then(|| (mark, rest.trim_end_matches(['*', '_']).trim_end()))
}

fn after_sign(text: &str) -> Option<(Mark, &str)> {
    // The longest word of state has 13 characters: look no further back than that.
    let tail = text.char_indices().rev().take(20).find(|&(at, char)| {
        SIGNS.contains(&char)
            || (char == '-' && (text[..at].ends_with(' ') || text[..at].ends_with(" <") || text[..at].ends_with('<')))
    })?;
    let word = &text[tail.0 + tail.1.len_utf8()..];
    let mark = Mark::of_word(word)?;
    let rest = text[..tail.0].trim_end_matches(|char: char| {
        char.is_whitespace() || is_selector(char) || SIGNS.contains(&char) || char == '<'
    });
    Some((mark, rest))
}
