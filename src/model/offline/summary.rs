//! A summary made of the document's own sentences: those whose words are the document's subject, first among them those
//! that open sections, none of them saying again what another one said.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::blocks::{Block, Kind, blocks};
use super::quotations::quotations;
use super::sentences::spans;
use super::statements::{Line, Start, Style, join};
use super::words::{is_small, stem, words};

/// A sentence of the document, verbatim but for folded white space.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Its place among the sentences of the text: several may begin on one line.
    pub place: usize,
    pub line: u64,
    pub page: Option<u64>,
    pub section: Option<String>,
    pub text: String,
    /// Higher is better; only comparable within one document.
    pub score: f64,
}

struct Candidate {
    line: u64,
    page: Option<u64>,
    section: Option<Rc<str>>,
    text: String,
    stems: Vec<usize>,
    favour: f64,
}

/// At most `most` sentences, best first. A document with little prose gives fewer, one without prose none.
pub fn rank(lines: &[Line<'_>], style: Style, most: usize) -> Vec<Ranked> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut counts: Vec<f64> = Vec::new();
    let mut candidates = candidates(lines, style, &mut numbers, &mut counts);
    // a word in every other sentence tells nothing, and one that stands once isn't the subject
    let sentences = to_f64(candidates.len()).max(1.0);
    let weights: Vec<f64> = counts
        .iter()
        .map(|&count| if count < 2.0 { 0.2 } else { count.sqrt() * (sentences / count).ln().max(0.3) })
        .collect();
    let score = |candidate: &Candidate, spent: &[bool]| {
        let sum: f64 =
            candidate.stems.iter().map(|&stem| if spent[stem] { weights[stem] * 0.15 } else { weights[stem] }).sum();
        candidate.favour * sum / (to_f64(candidate.stems.len()) + 6.0)
    };
    let mut spent = vec![false; weights.len()];
    let mut order: Vec<(f64, usize)> =
        candidates.iter().enumerate().map(|(i, candidate)| (score(candidate, &spent), i)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // only the best are weighed against each other, so that a long document costs no more than its sorting
    order.truncate(most.saturating_mul(6).saturating_add(40).min(400).max(most));
    let mut sections: HashMap<Option<Rc<str>>, i32> = HashMap::new();
    let mut chosen = Vec::new();
    while chosen.len() < most && !order.is_empty() {
        let weigh = |i: usize| {
            let taken = sections.get(&candidates[i].section).copied().unwrap_or(0);
            score(&candidates[i], &spent) * 0.8_f64.powi(taken)
        };
        let best = (0..order.len()).map(|at| (weigh(order[at].1), at)).fold(
            None,
            |best: Option<(f64, usize)>, next| match best {
                Some(best) if best.0 >= next.0 => Some(best),
                Some(_) | None => Some(next),
            },
        );
        let Some((score, at)) = best else { break };
        let (_, i) = order.remove(at);
        let candidate = &mut candidates[i];
        candidate.stems.iter().for_each(|&stem| spent[stem] = true);
        *sections.entry(candidate.section.clone()).or_default() += 1;
        chosen.push(Ranked {
            place: i,
            line: candidate.line,
            page: candidate.page,
            section: candidate.section.as_deref().map(str::to_owned),
            text: std::mem::take(&mut candidate.text),
            score,
        });
    }
    chosen
}

fn to_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn candidates(
    lines: &[Line<'_>],
    style: Style,
    numbers: &mut HashMap<String, usize>,
    counts: &mut Vec<f64>,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut section: Option<Rc<str>> = None;
    let mut first_of_section = true;
    let mut paragraphs = 0;
    let read = blocks(lines, style, &Start::default());
    for block in &read.list {
        let plain = match block.kind {
            Kind::Paragraph => true,
            Kind::Item(_) => false,
            Kind::Heading | Kind::Row { .. } | Kind::Other => continue,
        };
        if block.section != section {
            section.clone_from(&block.section);
            first_of_section = true;
        }
        let joined = join(block, &read.words);
        let masked = quotations(&joined.text);
        for (nth, span) in spans(&joined.text, &masked).into_iter().enumerate() {
            let text = &joined.text[span.clone()];
            let cut = joined.parts.iter().any(|part| part.3 && span.contains(&part.0));
            if cut || !reads_well(text) || !seen.insert(text.to_owned()) {
                continue;
            }
            let (line, page) = joined.place(span.start);
            let favour = favour(text, block, plain, nth, first_of_section, paragraphs);
            let mut stems: Vec<usize> = words(text)
                .filter(|word| !is_small(word) && word.chars().any(char::is_alphabetic))
                .map(|word| {
                    let next = numbers.len();
                    *numbers.entry(stem(&word)).or_insert(next)
                })
                .collect();
            stems.sort_unstable();
            stems.dedup();
            if stems.len() < 3 {
                continue;
            }
            counts.resize(numbers.len(), 0.0);
            for &stem in &stems {
                counts[stem] += 1.0;
            }
            found.push(Candidate { line, page, section: block.section.clone(), text: text.to_owned(), stems, favour });
            if plain {
                first_of_section = false;
            }
        }
        paragraphs += usize::from(plain);
    }
    found
}

/// What place and form add: openings of documents and sections, and the sections that sum up.
fn favour(text: &str, block: &Block<'_>, plain: bool, nth: usize, first_of_section: bool, paragraphs: usize) -> f64 {
    let mut favour = 1.0;
    if first_of_section && plain {
        favour *= 1.35;
    } else if nth == 0 && plain {
        favour *= 1.1;
    }
    if paragraphs < 3 && plain {
        favour *= 1.2;
    }
    if !plain {
        favour *= 0.75;
    }
    if let Some(section) = &block.section {
        let section = section.to_lowercase();
        if ["abstract", "introduction", "overview", "summary", "purpose", "scope", "conclusion", "description", "about"]
            .iter()
            .any(|word| section.contains(word))
        {
            favour *= 1.3;
        }
        if [
            "acknowledg",
            "reference",
            "bibliograph",
            "changelog",
            "change log",
            "copyright",
            "license",
            "licence",
            "author",
            "index",
            "contents",
            "credits",
            "see also",
        ]
        .iter()
        .any(|word| section.contains(word))
        {
            favour *= 0.2;
        }
    }
    let first = text.split([' ', ',']).next().unwrap_or("");
    if matches!(
        first,
        "This"
            | "These"
            | "It"
            | "They"
            | "However"
            | "Then"
            | "Otherwise"
            | "He"
            | "She"
            | "Also"
            | "But"
            | "And"
            | "Such"
            | "Thus"
            | "Therefore"
            | "Hence"
            | "Furthermore"
            | "Moreover"
    ) || text.starts_with("For example")
    {
        favour *= 0.7;
    }
    favour
}

/// What a sentence about the document itself, its makers or its place says.
const BOILERPLATE: &[&str] = &[
    "copyright",
    "all rights reserved",
    "©",
    "http://",
    "https://",
    "isbn",
    "permission is hereby",
    "is hereby granted",
    "without warranty",
    "warranties",
    "trademark",
    "last updated",
    "this page",
    "click ",
    "table of contents",
    "see also",
    "licensed under",
    "e-mail",
    "distribution of this",
    "to be interpreted as described",
];

/// A whole sentence of a fair length, of words, and no boilerplate.
fn reads_well(text: &str) -> bool {
    let count = text.split(' ').count();
    let ended = text.trim_end_matches(['"', '”', ')', '*', '_', '’', ']']).ends_with(['.', '!', '。']);
    if !(6..=60).contains(&count) || !ended || text.starts_with(|c: char| c.is_lowercase()) {
        return false;
    }
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let all = text.chars().filter(|c| !c.is_whitespace()).count().max(1);
    if letters * 5 < all * 4 || !text.chars().any(char::is_lowercase) {
        return false;
    }
    let lower = text.to_lowercase();
    !BOILERPLATE.iter().any(|words| lower.contains(words))
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
