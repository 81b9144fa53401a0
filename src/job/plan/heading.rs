//! Recognises a line that names a phase, in the spellings that models use: "Phase 1: X", "1. Phase – X", "Phase One",
//! "Etappe 2", "フェーズ1：調査", "第一阶段：…", with marks of state before or after.

use super::PhaseState;
use super::marks::{self, Mark};

/// How sure a word is: plans that say "phase" may call the parts of a phase "steps".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Phase,
    Stage,
    Step,
    /// No word at all: `## 1. Inventory`, or a heading over a task list.
    Bare,
}

/// A line read as a phase's heading.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) rank: Rank,
    pub(super) number: Option<u32>,
    pub(super) title: String,
    pub(super) state: PhaseState,
    /// Whether a colon, dash or the end stood behind the number; "Phase 1 will read …" is prose, unless it is a heading.
    pub(super) separated: bool,
}

const WORDS: &[(&str, Rank)] = &[
    ("phase", Rank::Phase),
    ("fase", Rank::Phase),
    ("フェーズ", Rank::Phase),
    ("フェイズ", Rank::Phase),
    ("阶段", Rank::Phase),
    ("階段", Rank::Phase),
    ("단계", Rank::Phase),
    ("фаза", Rank::Phase),
    ("этап", Rank::Phase),
    ("fáze", Rank::Phase),
    ("faza", Rank::Phase),
    ("vaihe", Rank::Phase),
    ("stage", Rank::Stage),
    ("etappe", Rank::Stage),
    ("etapa", Rank::Stage),
    ("étape", Rank::Stage),
    ("etap", Rank::Stage),
    ("milestone", Rank::Stage),
    ("meilenstein", Rank::Stage),
    ("part", Rank::Stage),
    ("teil", Rank::Stage),
    ("sprint", Rank::Stage),
    ("ステージ", Rank::Stage),
    ("abschnitt", Rank::Stage),
    ("step", Rank::Step),
    ("schritt", Rank::Step),
    ("ステップ", Rank::Step),
    ("步骤", Rank::Step),
    ("步驟", Rank::Step),
    ("paso", Rank::Step),
    ("passo", Rank::Step),
    ("steg", Rank::Step),
    ("шаг", Rank::Step),
];

const NUMBERS: &[(&str, u32)] = &[
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("eins", 1),
    ("zwei", 2),
    ("drei", 3),
    ("vier", 4),
    ("fünf", 5),
    ("sechs", 6),
    ("sieben", 7),
    ("acht", 8),
    ("neun", 9),
    ("zehn", 10),
    ("i", 1),
    ("ii", 2),
    ("iii", 3),
    ("iv", 4),
    ("v", 5),
    ("vi", 6),
    ("vii", 7),
    ("viii", 8),
    ("ix", 9),
    ("x", 10),
    ("xi", 11),
    ("xii", 12),
    ("uno", 1),
    ("dos", 2),
    ("tres", 3),
    ("cuatro", 4),
    ("cinco", 5),
    ("un", 1),
    ("deux", 2),
    ("trois", 3),
    ("quatre", 4),
    ("cinq", 5),
];

const ORDINALS: &[(&str, u32)] = &[
    ("first", 1),
    ("second", 2),
    ("third", 3),
    ("fourth", 4),
    ("fifth", 5),
    ("sixth", 6),
    ("seventh", 7),
    ("eighth", 8),
    ("ninth", 9),
    ("tenth", 10),
    ("erste", 1),
    ("zweite", 2),
    ("dritte", 3),
    ("vierte", 4),
    ("fünfte", 5),
    ("sechste", 6),
    ("siebte", 7),
    ("achte", 8),
];

const HAN: &[char] = &['一', '二', '三', '四', '五', '六', '七', '八', '九', '十'];

const SEPARATORS: &[char] = &[
    ':', '：', '-', '–', '—', '―', '.', '．', '。', ')', '）', '|', '｜', ']', '】', '·', '・', '→', '=', '~', '〜',
    '、',
];

/// Reads the text of a line (without its `#`s) as the name of a phase.
pub(super) fn recognise(text: &str) -> Option<Named> {
    let text = plain(text);
    let (leading, text) = lead(&text);
    if let Some(rest) = text.strip_prefix('第') {
        // 第1フェーズ：…, 第一阶段：…
        let (number, rest) = take_number(rest.trim_start())?;
        let (rank, rest) = take_word(rest.trim_start())?;
        return finish(rank, Some(number), rest, leading, true);
    }
    if let Some((ordinal, rest)) = take_from(text, ORDINALS)
        && let Some((rank, rest)) = take_word(rest.trim_start())
    {
        return finish(rank, Some(ordinal), rest, leading, false);
    }
    let (outer, text) = match take_digits(text) {
        Some((number, rest)) => {
            let rest = rest.trim_start_matches(marks::is_selector).trim_start_matches(['.', ')', ':', '．', '-', '–']);
            (Some(number), lead(rest).1)
        }
        None => (None, text),
    };
    let (rank, rest) = take_word(text)?;
    let after = rest.trim_start().trim_start_matches(['#', '№']).trim_start();
    match take_number(after) {
        Some((number, rest)) => finish(rank, Some(number), rest, leading, false),
        None => finish(rank, outer, rest, leading, false).filter(|named| named.separated),
    }
}

/// Reads `1. Inventory` or `2) Extract`, a heading with a number and no word for "phase".
pub(super) fn numbered(text: &str) -> Option<Named> {
    let text = plain(text);
    let (leading, text) = lead(&text);
    let (number, rest) = take_digits(text)?;
    let rest = rest.trim_start_matches(marks::is_selector);
    if !rest.trim_start().starts_with(SEPARATORS) {
        return None;
    }
    finish(Rank::Bare, Some(number), rest, leading, false).filter(|named| !named.title.is_empty())
}

/// A heading without a number and without the word.
pub(super) fn unnumbered(text: &str) -> Named {
    let text = plain(text);
    let (leading, text) = lead(&text);
    let (title, mark) = split_state(text);
    Named { rank: Rank::Bare, number: None, title, state: Mark::state(Mark::stronger(leading, mark)), separated: true }
}

/// Separates a title from the marks of state around it; what is left has none, and is one tidy line.
pub(super) fn split_state(text: &str) -> (String, Option<Mark>) {
    let mut title = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut mark = None;
    // Every round shortens the title; a title of nothing but marks is cut off at a sane number of rounds.
    for _ in 0..64 {
        let before = title.len();
        if let Some((found, rest)) = marks::take_trailing(&title) {
            mark = Mark::stronger(mark, Some(found));
            title = rest.to_owned();
        }
        if let Some((found, rest)) = marks::take_leading(&title) {
            mark = Mark::stronger(mark, Some(found));
            title = rest.to_owned();
        }
        // Separators and closing hashes would be read as part of the heading's form the next time.
        let rest = title.trim_start_matches(|char: char| {
            char.is_whitespace() || SEPARATORS.contains(&char) || marks::is_selector(char)
        });
        let rest = rest.trim_end_matches(|char: char| {
            char.is_whitespace() || [':', '：', '#', '\\', '|'].contains(&char) || marks::is_selector(char)
        });
        title = rest.to_owned();
        if title.len() == before {
            break;
        }
    }
    (title, mark)
}

/// Without comments and bold marks; emphasis around the whole line goes too.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("<!--") {
        plain.push_str(&rest[..start]);
        rest = rest[start..].find("-->").map_or("", |end| &rest[start + end + 3..]);
    }
    plain.push_str(rest);
    let plain = plain.replace("**", "");
    let plain = plain.trim();
    let bare = plain.strip_prefix("__").unwrap_or(plain);
    let bare = if bare.len() == plain.len() { plain.to_owned() } else { bare.replacen("__", "", 1) };
    match bare.strip_prefix('*').and_then(|inner| inner.strip_suffix('*')) {
        Some(inner) if !inner.contains('*') => inner.trim().to_owned(),
        Some(_) | None => bare,
    }
}

/// Skips boxes, emoji and punctuation in front, keeping the strongest mark of state among them.
fn lead(text: &str) -> (Option<Mark>, &str) {
    let (mut text, mut mark) = (text.trim_start(), None);
    for _ in 0..16 {
        if let Some((found, rest)) = marks::take_leading(text) {
            mark = Mark::stronger(mark, Some(found));
            text = rest;
        } else if let Some(char) = text.chars().next().filter(|char| !char.is_alphanumeric()) {
            text = text[char.len_utf8()..].trim_start();
        } else {
            break;
        }
    }
    (mark, text)
}

fn finish(rank: Rank, number: Option<u32>, rest: &str, leading: Option<Mark>, separated: bool) -> Option<Named> {
    let rest = take_total(rest.trim_start_matches(marks::is_selector));
    let mut chars = rest.chars();
    let (first, second) = (chars.next(), chars.next());
    // "Phase 1.2", "Phase 1-3" and "Phase 1a" are parts, ranges and variants: not a phase of their own.
    if first.is_some_and(char::is_alphanumeric) && !separated
        || first.is_some_and(|char| ".-–".contains(char)) && second.is_some_and(|char| char.is_ascii_digit())
    {
        return None;
    }
    let body = rest.trim_start();
    let dotted = body.starts_with('.') && !body[1..].is_empty() && !body[1..].starts_with(char::is_whitespace);
    let separated =
        separated || body.is_empty() || body.starts_with(SEPARATORS) && !dotted || marks::take_leading(body).is_some();
    let body = body.trim_start_matches(|char: char| SEPARATORS.contains(&char) || char.is_whitespace());
    let body = match body.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) if !inner.contains(['(', ')']) && marks::take_trailing(body).is_none() => inner,
        Some(_) | None => body,
    };
    let (title, mark) = split_state(body);
    Some(Named { rank, number, title, state: Mark::state(Mark::stronger(leading, mark)), separated })
}

/// Skips the total in "Phase 1 of 4", "Phase 1/4".
fn take_total(rest: &str) -> &str {
    let trimmed = rest.trim_start();
    let after = ["/", "of ", "von ", "de "].iter().find_map(|word| trimmed.strip_prefix(word));
    after.and_then(|after| take_digits(after.trim_start())).map_or(rest, |(_, rest)| rest)
}

fn take_word(text: &str) -> Option<(Rank, &str)> {
    WORDS.iter().find_map(|&(word, rank)| {
        let rest = strip_word(text, word)?;
        let ends = !word.chars().all(|char| char.is_alphabetic() && char < '\u{2E80}')
            || !rest.starts_with(char::is_alphabetic);
        ends.then_some((rank, rest))
    })
}

fn take_number(text: &str) -> Option<(u32, &str)> {
    if let Some(found) = take_digits(text) {
        return Some(found);
    }
    if let Some(at) = text.chars().next().and_then(|first| HAN.iter().position(|&han| han == first)) {
        return Some((u32::try_from(at).ok()? + 1, &text[HAN[at].len_utf8()..]));
    }
    take_from(text, NUMBERS)
}

fn take_from<'a>(text: &'a str, table: &[(&str, u32)]) -> Option<(u32, &'a str)> {
    table.iter().find_map(|&(word, number)| {
        strip_word(text, word).filter(|rest| !rest.starts_with(char::is_alphanumeric)).map(|rest| (number, rest))
    })
}

/// Up to six digits, ASCII or full-width.
fn take_digits(text: &str) -> Option<(u32, &str)> {
    let (mut number, mut length) = (0u32, 0usize);
    for (count, char) in text.chars().enumerate() {
        let digit = match char {
            '0'..='9' => u32::from(char) - u32::from('0'),
            '０'..='９' => u32::from(char) - u32::from('０'),
            _ => break,
        };
        if count == 6 {
            return None;
        }
        number = number * 10 + digit;
        length += char.len_utf8();
    }
    (length > 0).then(|| (number, &text[length..]))
}

/// Case-insensitive, for words whose lower case has as many characters.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for expected in word.chars() {
        let found = rest.next()?;
        // Every line of a plan is held against every word, and nearly all of them are ASCII.
        let is_same = found.to_ascii_lowercase() == expected
            || found == expected
            || !found.is_ascii() && found.to_lowercase().eq(std::iter::once(expected));
        if !is_same {
            return None;
        }
    }
    Some(rest.as_str())
}
