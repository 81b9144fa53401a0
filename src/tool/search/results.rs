//! Formats hits for the model: grouped by document, text of documents between its fences.

use super::{
    hit::{Hit, Round},
    run::SearchedText,
    window::{GroupInText, ShownHit},
    words::PassageRank,
};
use overnight_core::{
    answer,
    job::arguments::SearchFiles,
    prompt::fence::{fenced, quoted},
    tokens::estimate,
};
use std::{collections::BTreeMap, fmt::Write};

/// Texts without a hit shown that are named.
const MOST_NAMED: usize = 40;
/// Tokens of a result's first line and its fences.
const FRAME_TOKENS: u64 = 100;
/// Tokens of the line over a text's hits, beside its name.
const HEADING_TOKENS: u64 = 16;
/// The most bytes of a pattern that is repeated in the continuing call.
const MOST_REPEATED: usize = 400;

/// The number of `hits` that fit into a result of `most` tokens, at least one; and the tokens that are left.
fn fitting<K>(places: &[SearchedText], hits: &[ShownHit<K>], most: u64, goes_on: &str) -> (usize, u64) {
    let mut left = most.saturating_sub(FRAME_TOKENS + estimate(goes_on));
    let mut named = vec![false; places.len()];
    for (count, hit) in hits.iter().enumerate() {
        let place = &places[hit.text];
        let heading =
            if std::mem::replace(&mut named[hit.text], true) { 0 } else { estimate(&place.name) + HEADING_TOKENS };
        let tokens = estimate(&line(place, &hit.hit)) + 1 + heading;
        if tokens > left && count > 0 {
            return (count, left);
        }
        left = left.saturating_sub(tokens);
    }
    (hits.len(), left)
}

/// Hits in the order of the texts. `hits` are those from the offset on, in the order in which they are counted.
pub(super) fn listed(
    wanted: &SearchFiles,
    places: &[SearchedText],
    most: u64,
    groups: &[GroupInText<Round>],
    mut hits: Vec<ShownHit<Round>>,
) -> String {
    let mut totals: BTreeMap<usize, u64> = BTreeMap::new();
    for group in groups {
        *totals.entry(group.text).or_default() += group.total;
    }
    let total: u64 = totals.values().sum();
    let (count, mut left) = fitting(places, &hits, most, &goes_on(wanted, total));
    hits.truncate(count);
    let hitting = if totals.len() > 1 { format!(" in {} texts", totals.len()) } else { String::new() };
    let mut text = format!("{total} matches{hitting}{}:\n", part(wanted, count, total));
    hits.sort_by_key(|hit| (hit.text, hit.kind, hit.number));
    let mut lines = Vec::new();
    for of_text in hits.chunk_by(|one, next| one.text == next.text) {
        let (place, all) = (&places[of_text[0].text], totals.get(&of_text[0].text).copied().unwrap_or_default());
        let before = match of_text[0].kind {
            Round::First => of_text[0].number,
            Round::Rest => of_text[0].number + Round::FIRST,
        };
        let shown = of_text.len() as u64;
        if shown < all {
            let these = if before == 0 {
                format!("the first {shown}")
            } else {
                format!("{} to {}", before + 1, before + shown)
            };
            lines.push((place.is_material, format!("{}: {all} matches, {these} of them:", place.name)));
        }
        lines.extend(of_text.iter().map(|hit| (place.is_material, line(place, &hit.hit))));
    }
    if wanted.offset.unwrap_or(0) == 0 {
        let unshown = totals.iter().filter(|(text, _)| !hits.iter().any(|hit| hit.text == **text));
        for (text, total) in unshown.take(MOST_NAMED) {
            let place = &places[*text];
            let line = format!("{}: {total} matches, not shown", place.name);
            let tokens = estimate(&line) + 1;
            if tokens > left {
                break;
            }
            left -= tokens;
            lines.push((place.is_material, line));
        }
    }
    write_lines(&mut text, &lines);
    if let Some(call) = rest(wanted, count, total) {
        text.push_str(&answer!("search.go_on", call));
    }
    text.trim_end().to_owned()
}

/// Hits in the order of their rank, those from the offset on.
pub(super) fn ranked(
    head: &str,
    wanted: &SearchFiles,
    places: &[SearchedText],
    most: u64,
    total: u64,
    hits: &[ShownHit<PassageRank>],
) -> String {
    let (count, _) = fitting(places, hits, most.saturating_sub(estimate(head)), &goes_on(wanted, total));
    let mut text = format!("{head}{}:\n", part(wanted, count, total));
    let lines: Vec<(bool, String)> =
        hits[..count].iter().map(|hit| (places[hit.text].is_material, line(&places[hit.text], &hit.hit))).collect();
    write_lines(&mut text, &lines);
    if let Some(call) = rest(wanted, count, total) {
        text.push_str(&answer!("search.go_on_with_words", call));
    }
    text.trim_end().to_owned()
}

/// `, 101 to 200 shown`, where that is not all.
fn part(wanted: &SearchFiles, count: usize, total: u64) -> String {
    let offset = wanted.offset.unwrap_or(0);
    let count = count as u64;
    if count == total { String::new() } else { format!(", {} to {} shown", offset + 1, offset + count) }
}

/// The call that shows what is left after `count` matches, where some are.
fn rest(wanted: &SearchFiles, count: usize, total: u64) -> Option<String> {
    let end = wanted.offset.unwrap_or(0) + count as u64;
    (end < total).then(|| goes_on(wanted, end))
}

/// The call that shows the matches after `offset`.
fn goes_on(wanted: &SearchFiles, offset: u64) -> String {
    if wanted.pattern.len() > MOST_REPEATED {
        return answer!("search.same_call", offset);
    }
    let given = [("pattern", Some(&wanted.pattern)), ("path", wanted.path.as_ref()), ("glob", wanted.glob.as_ref())];
    let given: String = given
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| format!("\"{name}\": {}, ", quoted(value))))
        .collect();
    format!("search_files({{{given}\"offset\": {offset}}})")
}

fn write_lines(text: &mut String, lines: &[(bool, String)]) {
    for group in lines.chunk_by(|one, next| one.0 == next.0) {
        let mut part = String::new();
        for (_, line) in group {
            let _ = writeln!(part, "{line}");
        }
        if group[0].0 {
            text.push_str(&fenced("lines=\"found\"", &part));
        } else {
            text.push_str(&part);
        }
    }
}

/// `spec.pdf page 3 line 12: …`, or `spec.md:120: …` where there are no pages.
fn line(place: &SearchedText, hit: &Hit) -> String {
    match hit.page {
        None => format!("{}:{}: {}", place.name, hit.line, hit.text),
        Some(page) => format!("{} page {page} line {}: {}", place.name, hit.line, hit.text),
    }
}
