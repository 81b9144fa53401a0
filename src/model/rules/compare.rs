//! Does a policy say what a standard asks for? By shared words, by figures with the word behind them, and by the strength of
//! the binding words. Rules and no understanding: each verdict names its reason, so that a reader can judge it.

use super::calls::file;
use super::summary::{is_common, words};
use super::{
    plan::AUDIT, prompt_view::PromptView, reading::RecordedSentence, state::ReadingState, statements::Strength,
};
use overnight_core::message::ToolCall;
use regex::Regex;
use serde_json::{Value, json};
use std::{collections::BTreeSet, fmt::Write, sync::LazyLock};

/// The statements of the policies, a line each: document, page, line, strength, quote.
pub(super) const POLICIES: &str = "work/policies.jsonl";
/// Findings that are not `covered`, a line each, for the report.
pub(super) const GAPS: &str = "work/gaps.md";

/// Less of the standard's words than this is another matter.
const RELATED: f64 = 0.5;
/// From here on a statement says the same.
const SAME: f64 = 0.7;

/// A statement: its text, its words and how it binds.
struct ComparedStatement {
    text: String,
    stems: BTreeSet<String>,
    strength: Strength,
}

/// Records what the policies say to each of `entries`, statements of the standard that the state is at.
pub(super) fn findings(
    view: &PromptView<'_>,
    state: &mut ReadingState,
    entries: &[RecordedSentence],
) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    let policies = file(view, POLICIES)?;
    let rows: Vec<Value> = policies.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let row = |row: &Value| Some(said(row[4].as_str()?, Strength::named(row[3].as_str()?)?));
    let policies: Vec<ComparedStatement> = rows.iter().filter_map(row).collect();
    let (mut records, mut gaps) = (Vec::new(), String::new());
    for (number, entry) in (state.entries + 1..).zip(entries) {
        let (verdict, index, reason) = compare(&said(&entry.quote, entry.strength), &policies);
        let place = |number: usize| index.and_then(|index| rows.get(index)).map(|row| &row[number]);
        let (id, strength) = (format!("F-{number:03}"), entry.strength.name);
        records.push(json!({
            "id": id, "standard": state.document, "standard_page": entry.page, "standard_line": entry.line,
            "standard_quote": entry.quote, "strength": strength, "verdict": verdict,
            "policy": place(0), "policy_page": place(1), "policy_line": place(2), "policy_quote": place(4),
            "reason": reason,
        }));
        state.count(&format!("{verdict} {strength}"));
        if verdict != "covered" {
            let _ = writeln!(gaps, "{verdict} {id} ({strength}): {} — {reason}", entry.quote);
        }
    }
    let calls = [state.record(view, AUDIT.records, &records), state.append(view, GAPS, &gaps)];
    Ok(calls.into_iter().flatten().collect())
}

/// The verdict, the policies' statement that comes closest, none where the matter is missing, and the reason.
fn compare(standard: &ComparedStatement, policies: &[ComparedStatement]) -> (&'static str, Option<usize>, String) {
    let scores = policies.iter().map(|policy| similarity(&standard.stems, &policy.stems)).enumerate();
    let best = scores.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    let Some((index, score)) = best.filter(|(_, score)| *score >= RELATED) else {
        let words = standard.stems.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        return ("missing", None, format!("no statement of the policies has enough of its words ({words})"));
    };
    let (verdict, reason) = judge(standard, &policies[index], score);
    (verdict, Some(index), reason)
}

fn said(text: &str, strength: Strength) -> ComparedStatement {
    let stems = words(text).filter(|word| word.chars().all(char::is_alphabetic)).map(|word| stem(&word)).collect();
    ComparedStatement { text: text.to_owned(), stems, strength }
}

/// A word without its ending: `stored`, `stores` and `storing` are one.
fn stem(word: &str) -> String {
    let least = |stem: &&str| stem.chars().count() > 2;
    let mut ends = ["ation", "ing", "ies", "ied", "ed", "es", "s", "e", "y"].iter();
    ends.find_map(|end| word.strip_suffix(end).filter(least)).unwrap_or(word).to_owned()
}

/// The share of the wanted words that are said, a little less where much else is said.
fn similarity(wanted: &BTreeSet<String>, said: &BTreeSet<String>) -> f64 {
    let shared = wanted.intersection(said).count();
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(shared) * (0.8 / number(wanted.len().max(1)) + 0.2 / number(said.len().max(1)))
}

fn judge(standard: &ComparedStatement, policy: &ComparedStatement, score: f64) -> (&'static str, String) {
    let (asked, given) = (standard.strength, policy.strength);
    let words = format!("{} in the policy, {} in the standard", given.name, asked.name);
    if asked.forbids != given.forbids {
        return ("contradicted", words);
    }
    let (wanted, said) = (figures(&standard.text), figures(&policy.text));
    for (number, unit) in &wanted {
        let of_unit: Vec<&str> =
            said.iter().filter(|(_, other)| other == unit).map(|(number, _)| number.as_str()).collect();
        if of_unit.is_empty() {
            return ("partial", format!("the policy does not say {number} {unit}"));
        }
        if !of_unit.contains(&number.as_str()) {
            let other = of_unit.join(" and ");
            return ("contradicted", format!("{other} {unit} in the policy, {number} {unit} in the standard"));
        }
    }
    if given.rank < asked.rank {
        return ("partial", words);
    }
    if score < SAME {
        return ("partial", "the policy has only a part of the standard's words".to_owned());
    }
    ("covered", format!("the policy has the standard's words and figures; {words}"))
}

/// Numbers with the unit behind them, one of many as of one.
fn figures(text: &str) -> Vec<(String, String)> {
    static FIGURE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?:^|[\s(])(\d+(?:[.,]\d+)*)\s*(°\s?\w|%|[[:alpha:]]+)").ok());
    let figure = |found: regex::Captures<'_>| (found[1].to_owned(), found[2].trim_end_matches('s').to_lowercase());
    FIGURE.iter().flat_map(|all| all.captures_iter(text)).map(figure).filter(|(_, unit)| !is_common(unit)).collect()
}
