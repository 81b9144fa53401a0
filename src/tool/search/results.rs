//! Formats hits for the model: grouped by document, text of documents between its fences.

use super::{
    hit::{Hit, TextHits},
    run::{MOST_HITS, SearchedText},
};
use overnight_core::prompt::fence::fenced;
use std::fmt::Write;

/// Hits that each text has shown before any has more.
const AT_LEAST: usize = 5;
/// Texts without a hit shown that are named.
const MOST_NAMED: usize = 40;

/// Hits in the order of the texts, `found` being of one each.
pub(super) fn listed(places: &[SearchedText], found: &[TextHits]) -> String {
    let total: u64 = found.iter().map(|found| found.total).sum();
    if total == 0 {
        return "No matches.".to_owned();
    }
    let shares = shares(found);
    let hitting = found.iter().filter(|found| found.total > 0).count();
    let mut text =
        if hitting > 1 { format!("{total} matches in {hitting} texts:\n") } else { format!("{total} matches:\n") };
    let mut lines = Vec::new();
    let mut unshown = Vec::new();
    for ((place, found), share) in places.iter().zip(found).zip(shares) {
        if share == 0 && found.total > 0 {
            unshown.push((place, found.total));
        } else if share > 0 {
            if found.total > share as u64 {
                let head = format!("{}: {} matches, the first {share} of them:", place.name, found.total);
                lines.push((place.is_material, head));
            }
            lines.extend(found.hits.iter().take(share).map(|hit| (place.is_material, line(place, hit))));
        }
    }
    for (place, total) in unshown.iter().take(MOST_NAMED) {
        lines.push((place.is_material, format!("{}: {total} matches, not shown", place.name)));
    }
    write_lines(&mut text, &lines);
    let shown: usize = self::shares(found).iter().sum();
    if total > shown as u64 {
        let _ = writeln!(text, "and {} more; narrow the pattern, the path or the glob", total - shown as u64);
    }
    text.trim_end().to_owned()
}

/// Hits in the order of their rank, each with the number of its text; those of one text that follow each other are a group.
pub(super) fn ranked(head: &str, places: &[SearchedText], hits: &[(usize, &Hit)], total: u64) -> String {
    let mut text = head.to_owned();
    let lines: Vec<(bool, String)> =
        hits.iter().map(|(number, hit)| (places[*number].is_material, line(&places[*number], hit))).collect();
    write_lines(&mut text, &lines);
    if total > hits.len() as u64 {
        let _ = writeln!(text, "and {} more; use fewer or rarer words", total - hits.len() as u64);
    }
    text.trim_end().to_owned()
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

/// How many hits of each text are shown: a few of each as long as there is room, then more of the first ones.
fn shares(found: &[TextHits]) -> Vec<usize> {
    let mut room = MOST_HITS;
    let mut shares = vec![0; found.len()];
    for most in [AT_LEAST, MOST_HITS] {
        for (share, found) in shares.iter_mut().zip(found) {
            let more = found.hits.len().min(most).saturating_sub(*share).min(room);
            *share += more;
            room -= more;
        }
    }
    shares
}
