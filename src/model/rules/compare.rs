//! Checks whether a policy states what a standard asks for: by shared words, by figures with the word after them, and
//! by the strength of the binding words. These are rules without understanding: each verdict names its reason.

use super::reading::RecordedSentence;
use super::state::ReadingState;
use super::statements::{forbids, rank};
use super::summary::{is_common, words};
use regex::Regex;
use serde_json::{Value, json};
use std::{collections::BTreeSet, fmt::Write, sync::LazyLock};

/// The statements of the policies, a line each.
pub(super) const POLICIES: &str = "work/policies.jsonl";
/// Findings that are not `covered`, a line each, for the report.
pub(super) const GAPS: &str = "work/gaps.md";

/// A statement with a smaller share of the standard's words is unrelated.
const RELATED: f64 = 0.5;
/// A statement with at least this share says the same.
const SAME: f64 = 0.7;

/// The findings on each of `sentences` of a standard against the policies: the records, and a line for each gap.
pub(super) fn findings(
    policies: &[&str],
    state: &mut ReadingState,
    sentences: &[RecordedSentence],
) -> (Vec<Value>, String) {
    let policies = policies.iter().filter_map(|line| serde_json::from_str::<RecordedSentence>(line).ok());
    let policies: Vec<_> = policies.map(|policy| (stems(&policy.quote), policy)).collect();
    let (mut records, mut gaps) = (Vec::new(), String::new());
    for standard in sentences {
        let wanted = stems(&standard.quote);
        let scored = policies.iter().map(|(said, policy)| (similarity(&wanted, said), policy));
        let best = scored.reduce(|best, one| if one.0 > best.0 { one } else { best });
        let best = best.filter(|(score, _)| *score >= RELATED);
        let (verdict, reason) = best.map_or_else(
            || {
                let words: Vec<&str> = wanted.iter().map(String::as_str).collect();
                ("missing", format!("no statement of the policies has enough of its words ({})", words.join(", ")))
            },
            |(score, policy)| judge(standard, policy, score),
        );
        let RecordedSentence { document, page, line, strength, quote, .. } = standard;
        state.count(&format!("{verdict} {strength}"));
        let (id, policy) = (format!("F-{:03}", state.entries), best.map(|(_, policy)| policy));
        if verdict != "covered" {
            let _ = writeln!(gaps, "{verdict} {id} ({strength}): {quote} — {reason}");
        }
        records.push(json!({
            "id": id, "standard": document, "standard_page": page, "standard_line": line, "standard_quote": quote,
            "strength": strength, "verdict": verdict, "policy": policy.map(|policy| &policy.document),
            "policy_page": policy.map(|policy| policy.page), "policy_line": policy.map(|policy| policy.line),
            "policy_quote": policy.map(|policy| &policy.quote), "reason": reason,
        }));
    }
    (records, gaps)
}

/// The gaps for the report, the contradictions first.
pub(super) fn found_gaps(gaps: &[&str]) -> String {
    let of_verdict = |verdict| {
        let found: Vec<&str> = gaps.iter().filter_map(|line| line.strip_prefix(verdict)).collect();
        let mut text = format!("## {} {verdict}\n\n", found.len());
        text.extend(found.iter().flat_map(|line| ["-", line, "\n"]));
        text + "\n"
    };
    ["contradicted", "missing", "partial"].map(of_verdict).concat()
}

/// The words of a text without their endings: `stored`, `stores` and `storing` are one.
fn stems(text: &str) -> BTreeSet<String> {
    let stem = |word: String| {
        let least = |stem: &&str| stem.chars().count() > 2;
        let mut ends = ["ation", "ing", "ies", "ied", "ed", "es", "s", "e", "y"].iter();
        ends.find_map(|end| word.strip_suffix(end).filter(least)).unwrap_or(&word).to_owned()
    };
    words(text).filter(|word| word.chars().all(char::is_alphabetic)).map(stem).collect()
}

/// The share of the wanted words that occur, a little less if many other words occur.
fn similarity(wanted: &BTreeSet<String>, said: &BTreeSet<String>) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let shared = number(wanted.intersection(said).count());
    shared * (0.8 / number(wanted.len().max(1)) + 0.2 / number(said.len().max(1)))
}

/// The verdict, with its reasons.
fn judge(standard: &RecordedSentence, policy: &RecordedSentence, score: f64) -> (&'static str, String) {
    let (asked, given) = (figures(&standard.quote), figures(&policy.quote));
    let is_other = |(number, unit): &(String, String)| {
        let mut of_unit = given.iter().filter(|(_, other)| other == unit).peekable();
        of_unit.peek().is_some() && of_unit.all(|(other, _)| other != number)
    };
    let verdict = if forbids(&standard.strength) != forbids(&policy.strength) || asked.iter().any(is_other) {
        "contradicted"
    } else if rank(&policy.strength) < rank(&standard.strength)
        || score < SAME
        || asked.iter().any(|figure| !given.contains(figure))
    {
        "partial"
    } else {
        "covered"
    };
    let told = |one: &RecordedSentence, figures: &[(String, String)]| {
        let figures: Vec<String> = figures.iter().map(|(number, unit)| format!("{number} {unit}")).collect();
        [&[one.strength.clone()][..], &figures].concat().join(", ")
    };
    let (asked, given) = (told(standard, &asked), told(policy, &given));
    (verdict, format!("{given} in the policy, {asked} in the standard; {:.0} % of its words", score * 100.0))
}

/// Numbers with the unit after them, which is made singular.
fn figures(text: &str) -> Vec<(String, String)> {
    static FIGURE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?:^|[\s(])(\d+(?:[.,]\d+)*)\s*(°\s?\w|%|[[:alpha:]]+)").ok());
    let figure = |found: regex::Captures<'_>| (found[1].to_owned(), found[2].trim_end_matches('s').to_lowercase());
    FIGURE.iter().flat_map(|all| all.captures_iter(text)).map(figure).filter(|(_, unit)| !is_common(unit)).collect()
}
