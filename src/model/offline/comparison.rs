//! The comparison of `audit-policy`: for each statement of the standards, the closest statement of the policies.
//! Few policy statements are read whole; many are searched for the statement's telling words.

use super::{
    calls::{Call, call, complete},
    compare::{Verdict, compare, terms},
    ends,
    plans::{Kind, TO_DIVIDE},
    position::{PATH, Position},
    records,
    seen::Seen,
    statements::Strength,
};
use regex::Regex;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt::Write, sync::LazyLock};

const STANDARDS: &str = "work/standards.tsv";
const POLICIES: &str = "work/policies.tsv";
/// The files that grow by findings.
const FILES: [&str; 4] = ["output/findings.json", "work/contradicted.md", "work/missing.md", "work/partial.md"];
/// Tokens of policy statements up to which they are read whole.
const READ_WHOLE: u64 = 20_000;
/// Tokens of one read.
const READ_TOKENS: u64 = 3_300;
/// Searches of one reply.
const SEARCHES: usize = 8;
/// Todos of the comparison, and statements of one at least.
const MOST_TODOS: u64 = 14;
const LEAST_STATEMENTS: u64 = 40;

/// The comparison's steps, once the number of statements is known.
pub(super) fn steps(standards: u64) -> Vec<String> {
    let size = standards.div_ceil(MOST_TODOS).max(LEAST_STATEMENTS);
    let step = usize::try_from(size).unwrap_or(usize::MAX);
    (1..=standards)
        .step_by(step)
        .map(|from| format!("Compare standard statements {from}-{}", (from + size - 1).min(standards)))
        .collect()
}

/// A statement as it stands in a working file.
#[derive(Clone, Debug)]
struct Row {
    document: String,
    page: Option<u64>,
    line: Option<u64>,
    strength: Strength,
    quote: String,
}

fn row(text: &str) -> Option<Row> {
    let mut fields = text.splitn(5, '\t');
    let mut next = || fields.next();
    let (document, page, line, strength, quote) = (next()?, next()?, next()?, next()?, next()?);
    Some(Row {
        document: document.to_owned(),
        page: page.parse().ok(),
        line: line.parse().ok(),
        strength: strength.parse().ok()?,
        quote: quote.trim().to_owned(),
    })
}

/// Rows of a working file that reads have shown, by line.
fn rows(seen: &Seen<'_>, path: &str) -> BTreeMap<u64, Row> {
    seen.of_todo()
        .iter()
        .filter(|exchange| exchange.name == "read_file" && exchange.argument("path") == path)
        .flat_map(|exchange| exchange.result.lines())
        .filter_map(|line| {
            let (number, text) = line.split_once('\t')?;
            Some((number.parse().ok()?, row(text)?))
        })
        .collect()
}

/// The next calls for `Compare standard statements a-b`.
pub(super) fn work(seen: &Seen<'_>, content: &str) -> Vec<Call> {
    static RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(\d+)-(\d+)$").ok());
    let Some(mut position) = Position::seen(seen) else {
        return vec![call("read_file", json!({"path": PATH}))];
    };
    let counts = ends::counts(seen, &position, &FILES);
    if !counts.is_empty() {
        return counts;
    }
    let range = RANGE.as_ref().and_then(|pattern| pattern.captures(content));
    let range = range.map(|found| (found[1].parse::<u64>(), found[2].parse::<u64>()));
    // The step was not divided: all at once.
    let Some((Ok(from), Ok(to))) = range.or((content == TO_DIVIDE).then_some((Ok(1), Ok(position.standards)))) else {
        return vec![call("list_files", json!({"path": "work"})), complete("nothing to compare")];
    };
    let before = position.count;
    let next = from.max(before + 1);
    let standards = rows(seen, STANDARDS);
    let mut calls = Vec::new();
    if position.policy_tokens <= READ_WHOLE {
        let policies = rows(seen, POLICIES);
        let missing = unread(&standards, from, to, 60);
        let missing_policies =
            unread(&policies, 1, position.policies, position.policy_tokens / position.policies.max(1));
        if !missing.is_empty() || !missing_policies.is_empty() {
            calls.extend(missing.into_iter().map(|(from, limit)| read(STANDARDS, from, limit)));
            calls.extend(missing_policies.into_iter().map(|(from, limit)| read(POLICIES, from, limit)));
            return calls;
        }
        let candidates: Vec<Row> = policies.into_values().collect();
        let pairs: Vec<(&Row, &[Row])> = (next..=to)
            .filter_map(|number| standards.get(&number))
            .map(|standard| (standard, candidates.as_slice()))
            .collect();
        calls.extend(findings(seen, &mut position, &pairs));
    } else {
        let wanted: Vec<u64> = (next..=to).take(2 * SEARCHES).collect();
        let Some(last) = wanted.last() else {
            return vec![position.save(), complete("compared")];
        };
        let missing = unread(&standards, next, *last, 60);
        if !missing.is_empty() {
            return missing.into_iter().map(|(from, limit)| read(STANDARDS, from, limit)).collect();
        }
        let found: Vec<(&Row, Vec<Row>)> = wanted
            .iter()
            .map_while(|number| standards.get(number))
            .map_while(|standard| Some((standard, hits(seen, &pattern(standard))?)))
            .collect();
        let pairs: Vec<(&Row, &[Row])> = found.iter().map(|(standard, hits)| (*standard, hits.as_slice())).collect();
        calls.extend(findings(seen, &mut position, &pairs));
        let next = next + pairs.len() as u64;
        if next <= to {
            calls.push(position.save());
            let patterns = (next..=to).take(SEARCHES).map_while(|number| standards.get(&number)).map(pattern);
            calls.extend(patterns.map(|pattern| call("search_files", json!({"pattern": pattern, "path": POLICIES}))));
            if calls.len() == 1 {
                calls.push(read(STANDARDS, next, 50));
            }
            return calls;
        }
    }
    calls.push(position.save());
    calls.push(complete(&format!("statements {from}-{to} compared; in all: {}", position.totals_line())));
    calls
}

fn read(path: &str, from: u64, limit: u64) -> Call {
    call("read_file", json!({"path": path, "offset": from, "limit": limit}))
}

/// Reads for the lines of `from` to `to` that are not there yet: first line and number.
fn unread(rows: &BTreeMap<u64, Row>, from: u64, to: u64, tokens: u64) -> Vec<(u64, u64)> {
    let step = (READ_TOKENS / tokens.max(1)).clamp(1, 200);
    let mut reads: Vec<(u64, u64)> = Vec::new();
    for line in (from..=to).filter(|line| !rows.contains_key(line)) {
        match reads.last_mut() {
            Some((start, limit)) if line < *start + step => *limit = line - *start + 1,
            Some(_) | None => reads.push((line, 1)),
        }
    }
    reads.truncate(8);
    reads
}

/// Lines with at least two of the statement's four most telling words.
fn pattern(standard: &Row) -> String {
    let words: Vec<String> =
        terms(&standard.quote).into_iter().take(4).map(|word| format!(r"\b{}", regex::escape(&word))).collect();
    let mut pairs = Vec::new();
    for (place, one) in words.iter().enumerate() {
        for other in &words[place + 1..] {
            pairs.push(format!("{one}.*{other}"));
            pairs.push(format!("{other}.*{one}"));
        }
    }
    if pairs.is_empty() { words.first().cloned().unwrap_or_else(|| "^$".to_owned()) } else { pairs.join("|") }
}

/// The policy statements that a search has shown; `None` when it was not made yet.
fn hits(seen: &Seen<'_>, pattern: &str) -> Option<Vec<Row>> {
    let exchange = seen.of_todo().iter().find(|exchange| {
        exchange.name == "search_files"
            && exchange.argument("pattern") == pattern
            && !exchange.result.starts_with("not run")
    })?;
    let place = format!("{POLICIES}:");
    Some(
        exchange
            .result
            .lines()
            .filter_map(|line| line.strip_prefix(&place)?.split_once(": "))
            .filter_map(|(_, text)| row(text))
            .collect(),
    )
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Covered => "covered",
        Verdict::Partial => "partial",
        Verdict::Contradicted => "contradicted",
        Verdict::Missing => "missing",
    }
}

/// Compares and records.
fn findings(seen: &Seen<'_>, position: &mut Position, pairs: &[(&Row, &[Row])]) -> Vec<Call> {
    let mut records = Vec::new();
    let mut lists: BTreeMap<&str, String> = BTreeMap::new();
    for (standard, candidates) in pairs {
        let texts: Vec<(&str, Strength)> = candidates.iter().map(|row| (row.quote.as_str(), row.strength)).collect();
        let found = compare((&standard.quote, standard.strength), &texts);
        let policy =
            found.index.and_then(|index| candidates.get(index)).filter(|_| !matches!(found.verdict, Verdict::Missing));
        let verdict = if policy.is_none() { "missing" } else { verdict_name(found.verdict) };
        position.count += 1;
        position.add(verdict);
        *position.details.entry(format!("{verdict} {}", standard.strength)).or_default() += 1;
        let id = format!("F-{:03}", position.count);
        if verdict != "covered" {
            let entry = lists.entry(verdict).or_default();
            let _ = write!(entry, "- {id}, {} ({}): \"{}\"", standard.document, standard.strength, standard.quote);
            if let Some(policy) = policy {
                let _ = write!(entry, " — {}: \"{}\"", policy.document, policy.quote);
            }
            let _ = writeln!(entry, ". {}.", found.reason.trim_end_matches('.'));
        }
        records.push(finding(&id, standard, verdict, policy, &found.reason));
    }
    let mut calls = Vec::new();
    calls.extend(records::add(seen, position, Kind::Audit.records(), records));
    for (verdict, text) in lists {
        calls.extend(records::append_lacking(seen, position, &format!("work/{verdict}.md"), &text));
    }
    calls
}

fn finding(id: &str, standard: &Row, verdict: &str, policy: Option<&Row>, reason: &str) -> Value {
    let reason =
        if reason.trim().is_empty() { "no statement of the policies shares its telling words" } else { reason };
    json!({
        "id": id,
        "standard": standard.document,
        "standard_page": standard.page,
        "standard_line": standard.line,
        "standard_quote": standard.quote,
        "strength": standard.strength.to_string(),
        "verdict": verdict,
        "policy": policy.map(|row| &row.document),
        "policy_page": policy.and_then(|row| row.page),
        "policy_line": policy.and_then(|row| row.line),
        "policy_quote": policy.map(|row| &row.quote),
        "reason": reason,
    })
}
