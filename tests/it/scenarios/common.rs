//! Texts that many scenarios have in common stand once, in `usual.txt`; a scenario says which, and what is otherwise in its own.
//! In long texts a marker stands for lines that stand elsewhere.

use crate::sections;
use regex::Regex;
use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::{collections::BTreeMap, fmt::Write, sync::LazyLock};

/// Scenarios in which a text is found before it counts as usual.
const LEAST: usize = 3;
/// Words that may be otherwise, and the letters of all of them.
const MOST_WORDS: usize = 6;
const MOST_LETTERS: usize = 120;
/// Lines in a row for which a marker stands.
const LEAST_LINES: usize = 3;

static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?s)\w+(?:[.-]\w+)*|.").ok());

/// Texts by name; the most frequent first.
#[derive(Debug, Default)]
pub(crate) struct Usual(BTreeMap<String, Vec<String>>);

impl Usual {
    /// What is usual among texts with names, without what is much like another.
    pub(crate) fn among<'t>(texts: impl Iterator<Item = (&'t str, &'t str)>) -> Self {
        let mut counts: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
        for (name, text) in texts {
            let found = counts.entry(name).or_default();
            match found.iter_mut().find(|(_, known)| *known == text) {
                Some((count, _)) => *count += 1,
                None => found.push((1, text)),
            }
        }
        let mut usual = Self::default();
        for (name, mut found) in counts {
            found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
            let total: usize = found.iter().map(|(count, _)| count).sum();
            for (place, (count, text)) in found.iter().enumerate() {
                let is_frequent = if place == 0 { total >= LEAST } else { *count >= LEAST };
                if is_frequent && usual.told(name, text).is_none() {
                    usual.0.entry(name.to_owned()).or_default().push((*text).to_owned());
                }
            }
        }
        usual
    }

    pub(crate) fn read(file: &str) -> Self {
        let mut usual = Self::default();
        for (name, text) in sections::read(file).into_iter().filter(|(name, _)| !name.is_empty()) {
            usual.0.entry(name.split(" #").next().unwrap_or_default().to_owned()).or_default().push(text);
        }
        usual
    }

    /// As a file that reads as it.
    pub(crate) fn write(&self, head: &str) -> String {
        let named = |(name, texts): (&String, &Vec<String>)| -> Vec<(String, String)> {
            let name = |place: usize| if place == 0 { name.clone() } else { format!("{name} #{}", place + 1) };
            texts.iter().enumerate().map(|(place, text)| (name(place), text.clone())).collect()
        };
        let all: Vec<(String, String)> =
            [(String::new(), head.to_owned())].into_iter().chain(self.0.iter().flat_map(named)).collect();
        sections::write(&all)
    }

    /// The text in a line, where a usual one of this name is much like it.
    pub(crate) fn told(&self, name: &str, text: &str) -> Option<String> {
        let variants = self.0.get(name)?.iter().enumerate();
        let told = variants.filter_map(|(place, usual)| {
            let variant = if place == 0 { String::new() } else { format!(" #{}", place + 1) };
            Some(format!("usual {name}{variant}{}", but(usual, text)?))
        });
        told.min_by_key(String::len)
    }

    pub(crate) fn first(&self, name: &str) -> &str {
        self.0.get(name).and_then(|texts| texts.first()).map_or("", String::as_str)
    }
}

/// The few words that are otherwise in `text` than in `usual`.
pub(crate) fn but(usual: &str, text: &str) -> Option<String> {
    let word = WORD.as_ref()?;
    let (old, new): (Vec<&str>, Vec<&str>) = (
        word.find_iter(usual).map(|found| found.as_str()).collect(),
        word.find_iter(text).map(|found| found.as_str()).collect(),
    );
    let mut changes: Vec<(String, usize)> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &old, &new).iter().filter(|op| op.tag() != DiffTag::Equal) {
        let change = format!("{}→{}", old[op.old_range()].concat(), new[op.new_range()].concat());
        match changes.iter_mut().find(|(known, _)| *known == change) {
            Some((_, times)) => *times += 1,
            None => changes.push((change, 1)),
        }
    }
    let mut told = String::new();
    for (place, (change, times)) in changes.iter().enumerate() {
        let times = if *times == 1 { String::new() } else { format!(" ({times} times)") };
        let _ = write!(told, "{} {change}{times}", if place == 0 { ", but" } else { "," });
    }
    (changes.len() <= MOST_WORDS && told.chars().count() <= MOST_LETTERS && !told.contains('\n')).then_some(told)
}

/// `text` with a marker for lines in a row that stand in one of the texts `known`, as they are or numbered as `read_document`
/// numbers them.
pub(crate) fn marked(text: &str, known: &[(String, String)]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let known: Vec<(&str, Vec<&str>)> =
        known.iter().map(|(name, text)| (name.as_str(), text.lines().collect())).collect();
    let mut told = String::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let mut best = (0, String::new());
        for (name, theirs) in &known {
            for from in 0..theirs.len() {
                let is_numbered = line.strip_prefix(&format!("{}\t", from + 1)) == Some(theirs[from]);
                let is_same = |(place, (ours, theirs)): (usize, (&&str, &&str))| {
                    let number = if is_numbered { format!("{}\t", from + place + 1) } else { String::new() };
                    ours.strip_prefix(&number) == Some(*theirs)
                };
                let pairs = lines[at..].iter().zip(&theirs[from..]).enumerate();
                let count = pairs.take_while(|pair| is_same(*pair)).count();
                if count > best.0 {
                    let numbered = if is_numbered { ", numbered" } else { "" };
                    best = (count, format!("⋮ {name} {}-{}{numbered}", from + 1, from + count));
                }
            }
        }
        let (count, marker) = best;
        let _ = writeln!(told, "{}", if count < LEAST_LINES { *line } else { &marker });
        at += if count < LEAST_LINES { 1 } else { count };
    }
    told
}
