//! The use of a phase's title: the folder name of its archive, and whether it means the review phase.

use super::heading;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The longest slug in bytes, so that `phase-02-<slug>.replanned-3` stays a short name.
const MAX_SLUG: usize = 40;

/// A title as part of a folder name: lower-case ASCII letters, digits, single hyphens, at most 40 bytes, not empty.
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    // Separates letters from their accents, and makes full-width characters plain.
    for char in title.chars().take(400).collect::<String>().replace('ß', "ss").nfkd() {
        if char.is_ascii_alphanumeric() {
            slug.push(char.to_ascii_lowercase());
        } else if !(slug.is_empty() || slug.ends_with('-') || is_combining_mark(char) || "'’".contains(char)) {
            slug.push('-');
        }
    }
    if slug.len() > MAX_SLUG {
        // Cut between words where a word ends in the second half; a slug is ASCII, so any byte is a boundary.
        let cut = slug[..=MAX_SLUG].rfind('-').filter(|&at| at >= MAX_SLUG / 2);
        slug.truncate(cut.unwrap_or(MAX_SLUG));
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "phase".to_owned() } else { slug.to_owned() }
}

/// Words that make a title a final review when nothing else stands beside them.
const REVIEW: &str = "review verification verify validation validate final finalization finalisation finalize finalise wrap \
    wrapup qa completion conclusion closeout sign signoff";
/// Words that may stand beside them.
const BESIDE: &str = "and the of all a check checks report reporting summary quality assurance control deliverable deliverables \
    delivery output outputs results result submission job overall consistency phase self up off to handover";

/// Whether a title means the review that the system adds itself ("Final Review", "Verification & Final Report"). It
/// counts only for a plan's last phase, which is then merged into the system's review phase. "Contract Review" is work,
/// not the review: every word must speak of the end.
pub(crate) fn is_final_review(title: &str) -> bool {
    let title = heading::read_heading(title).map_or_else(|| heading::tidy(title).0, |named| named.title).to_lowercase();
    let words: Vec<&str> = title.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
    words.iter().any(|word| is(REVIEW, word)) && words.iter().all(|word| is(REVIEW, word) || is(BESIDE, word))
}
