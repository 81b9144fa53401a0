//! The rules for values. A rule that doesn't hold is a failed check or, by its level, a doubt for a person, which stops
//! nothing.

use super::{CheckedDeliverable, SPELLED_OUT, and_more, clip, sources::Sources};
use crate::job::instructions::{CheckLevel, Deliverable, ValueCheck};
use crate::job::json_path::JsonPath;
use overnight_rules::{
    evaluate::{Evaluator, Outside, RuleVerdict},
    rule::Rule,
};
use serde_json::Value;
use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    num::NonZero,
    panic::resume_unwind,
    thread,
};

/// Characters of a record's own name.
const MOST_NAME: usize = 40;
/// The path of the whole file.
const WHOLE: &str = "$";
/// Records for which a thread of their own is worthwhile.
const LEAST_PART: usize = 500;

/// The verdicts of rules on records that haven't changed since, and the parsed rules.
#[derive(Debug, Default)]
pub struct RuleMemory {
    rules: HashMap<String, Rule>,
    /// By deliverable and path, then by the record's hash: the rules that don't hold, by their number.
    verdicts: HashMap<(String, String), HashMap<u128, Failures>>,
}

type Failures = Vec<(usize, RuleVerdict)>;

impl RuleMemory {
    fn rule(&mut self, source: &str) -> Option<Rule> {
        if let Some(known) = self.rules.get(source) {
            return Some(known.clone());
        }
        let rule = Rule::parse(source).ok()?;
        self.rules.insert(source.to_owned(), rule.clone());
        Some(rule)
    }
}

/// The rules of one path.
struct RuleGroup<'d> {
    each: &'d str,
    checks: Vec<(&'d ValueCheck, Rule)>,
}

/// The outcome of one rule.
#[derive(Default)]
struct RuleOutcome {
    failed: u64,
    spelled: Vec<String>,
    /// The places of failures that are not spelled out.
    rest: Vec<String>,
}

/// The rules of a deliverable, by path. Rules that can't be read are passed to `unread`.
fn groups<'d>(d: &'d Deliverable, memory: &mut RuleMemory, unread: &mut dyn FnMut(&ValueCheck)) -> Vec<RuleGroup<'d>> {
    let mut groups: Vec<RuleGroup<'_>> = Vec::new();
    for check in &d.checks {
        let each = check.each.as_deref().unwrap_or(WHOLE);
        let Some(rule) = memory.rule(&check.rule) else {
            unread(check);
            continue;
        };
        match groups.iter_mut().find(|group| group.each == each) {
            Some(group) => group.checks.push((check, rule)),
            None => groups.push(RuleGroup { each, checks: vec![(check, rule)] }),
        }
    }
    groups
}

/// Evaluates the rules of a deliverable.
pub(super) fn check_rules(
    d: &Deliverable,
    value: &Value,
    sources: &mut dyn Sources,
    memory: &mut RuleMemory,
    checked: &mut CheckedDeliverable,
) {
    let groups = groups(d, memory, &mut |check| {
        checked.add(&named(check), Err("The rule can't be read.".to_owned()));
    });
    let (mut rules, mut holding) = (0, 0);
    for group in &groups {
        let mut outcomes: Vec<RuleOutcome> = group.checks.iter().map(|_| RuleOutcome::default()).collect();
        let records = each_failure(d, group, value, sources, memory, &mut |of, place, record, verdict| {
            let (check, outcome) = (group.checks[of].0, &mut outcomes[of]);
            outcome.failed += 1;
            match check.level {
                CheckLevel::Doubt => checked.doubt(place, why(check, verdict)),
                CheckLevel::Fail if outcome.spelled.len() < SPELLED_OUT => {
                    let said = match verdict {
                        RuleVerdict::Fails(seen) if !seen.is_empty() => seen,
                        RuleVerdict::Holds | RuleVerdict::Fails(_) => "it does not hold",
                        RuleVerdict::Unclear(why) => why,
                    };
                    outcome.spelled.push(match place {
                        WHOLE => format!("{said}."),
                        place => format!("{}{}: {said}.", clip(place, 100), name_of(record)),
                    });
                }
                CheckLevel::Fail => outcome.rest.push(place.to_owned()),
            }
        });
        for ((check, _), outcome) in group.checks.iter().zip(outcomes) {
            rules += 1;
            holding += u64::from(outcome.failed == 0);
            if outcome.failed > 0 && check.level == CheckLevel::Fail {
                checked.add(&named(check), Err(told(&outcome, records)));
            }
        }
    }
    if rules > 0 {
        let verb = if rules == 1 { "rule holds" } else { "rules hold" };
        checked.add("rules", Ok(format!("{holding} of {rules} {verb}.")));
    }
}

/// Calls `visit` for each record, or the file, for which a rule of `value` doesn't hold: with its place, the level, and
/// the beginning of a sentence.
pub fn each_broken_rule(
    d: &Deliverable,
    value: &Value,
    sources: &mut dyn Sources,
    visit: &mut dyn FnMut(&str, CheckLevel, String),
) {
    let mut memory = RuleMemory::default();
    for group in &groups(d, &mut memory, &mut |_| {}) {
        each_failure(d, group, value, sources, &mut memory, &mut |of, place, _, verdict| {
            let check = group.checks[of].0;
            visit(place, check.level, why(check, verdict));
        });
    }
}

/// Calls `visit` for each rule of a group that fails for a record, and returns the number of records.
fn each_failure(
    d: &Deliverable,
    group: &RuleGroup<'_>,
    value: &Value,
    sources: &mut dyn Sources,
    memory: &mut RuleMemory,
    visit: &mut dyn FnMut(usize, &str, &Value, &RuleVerdict),
) -> u64 {
    let Ok(path) = JsonPath::parse(group.each) else { return 0 };
    let (alone, wider): (Vec<usize>, Vec<usize>) =
        (0..group.checks.len()).partition(|of| group.checks[*of].1.is_of_record_alone());
    let key = (d.path.clone(), group.each.to_owned());
    let before = memory.verdicts.remove(&key).unwrap_or_default();
    let (mut hashes, mut unknown) = (Vec::new(), HashMap::new());
    path.each(value, &mut |_, record| {
        let hash = hash(record);
        if !before.contains_key(&hash) {
            unknown.insert(hash, record);
        }
        hashes.push(hash);
    });
    let evaluated = evaluate_alone(group, &alone, &unknown.into_iter().collect::<Vec<_>>());
    let (mut evaluator, mut outside) = (Evaluator::default(), Documents { sources });
    let (mut now, mut next) = (HashMap::new(), hashes.iter());
    path.each(value, &mut |place, record| {
        let Some(&hash) = next.next() else { return };
        let of_record = before.get(&hash).or_else(|| evaluated.verdicts.get(&hash));
        let of_file = failures(&mut evaluator, group, &wider, record, value, &mut outside);
        for (of, verdict) in of_record.into_iter().flatten().chain(&of_file) {
            visit(*of, place, record, verdict);
        }
        if let Some(of_record) = of_record.filter(|_| !evaluated.for_now.contains(&hash)) {
            now.insert(hash, of_record.clone());
        }
    });
    memory.verdicts.insert(key, now);
    hashes.len() as u64
}

/// The verdicts of rules on records, by the records' hashes.
#[derive(Default)]
struct Evaluated {
    verdicts: HashMap<u128, Failures>,
    /// The records whose time was over; their verdicts hold for now only.
    for_now: HashSet<u128>,
}

/// Evaluates those rules that look at nothing but their record, many records at a time.
fn evaluate_alone(group: &RuleGroup<'_>, which: &[usize], records: &[(u128, &Value)]) -> Evaluated {
    let evaluate = |records: &[(u128, &Value)]| {
        let (mut evaluator, mut evaluated) = (Evaluator::default(), Evaluated::default());
        for (hash, record) in records {
            let failures = failures(&mut evaluator, group, which, record, &Value::Null, &mut ());
            evaluated.verdicts.insert(*hash, failures);
            if evaluator.is_out_of_time() {
                evaluated.for_now.insert(*hash);
            }
        }
        evaluated
    };
    if records.len() <= LEAST_PART {
        return evaluate(records);
    }
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let parts = records.chunks(records.len().div_ceil(threads).max(LEAST_PART));
    thread::scope(|scope| {
        let parts: Vec<_> = parts.map(|part| scope.spawn(|| evaluate(part))).collect();
        parts.into_iter().fold(Evaluated::default(), |mut all, part| {
            let part = part.join().unwrap_or_else(|panic| resume_unwind(panic));
            all.verdicts.extend(part.verdicts);
            all.for_now.extend(part.for_now);
            all
        })
    })
}

/// The rules that don't hold, out of some rules of a group.
fn failures(
    evaluator: &mut Evaluator,
    group: &RuleGroup<'_>,
    which: &[usize],
    record: &Value,
    file: &Value,
    outside: &mut dyn Outside,
) -> Failures {
    let rules: Vec<&Rule> = which.iter().map(|of| &group.checks[*of].1).collect();
    let verdicts = evaluator.evaluate(&rules, record, file, outside);
    which.iter().copied().zip(verdicts).filter(|(_, verdict)| *verdict != RuleVerdict::Holds).collect()
}

/// The access of rules to everything outside of their file.
struct Documents<'s> {
    sources: &'s mut dyn Sources,
}

impl Outside for Documents<'_> {
    fn text(&mut self, document: &str, page: Option<u64>) -> Result<String, String> {
        self.sources.text(document, page)
    }

    fn rows(&mut self, document: &str, sheet: Option<&str>) -> Result<u64, String> {
        self.sources.rows(document, sheet)
    }

    fn records(&mut self, file: &str, path: &str) -> Result<Vec<Value>, String> {
        let parsed = JsonPath::parse(path).map_err(|why| format!("'{path}' is no path, {why}"))?;
        let file = self.sources.deliverable(file)?;
        let mut found = Vec::new();
        parsed.each(&file, &mut |_, value| found.push(value.clone()));
        Ok(found)
    }
}

/// `rule "lines add up to the total"`.
fn named(check: &ValueCheck) -> String {
    format!("rule \"{}\"", clip(check.message.as_deref().unwrap_or(&check.rule), 100))
}

/// The message of a rule on a record, without a full stop.
fn why(check: &ValueCheck, verdict: &RuleVerdict) -> String {
    let rule = check.message.clone().unwrap_or_else(|| format!("`{}` does not hold", clip(&check.rule, 200)));
    let rule = rule.trim_end_matches('.');
    match verdict {
        RuleVerdict::Holds => rule.to_owned(),
        RuleVerdict::Fails(seen) if seen.is_empty() => rule.to_owned(),
        RuleVerdict::Fails(seen) => format!("{rule}: {seen}"),
        RuleVerdict::Unclear(why) => format!("`{}` {why}", clip(&check.rule, 200)),
    }
}

fn told(outcome: &RuleOutcome, records: u64) -> String {
    let RuleOutcome { failed, spelled, rest } = outcome;
    let mut text = if records == 1 { String::new() } else { format!("{failed} of {records} fail. ") };
    text.push_str(&spelled.join(" "));
    text.push_str(&and_more(rest));
    text
}

/// A record's own name, ` (R-17)`: its first text or number, if that is short.
fn name_of(record: &Value) -> String {
    let first =
        record.as_object().and_then(|fields| fields.values().find(|value| value.is_string() || value.is_number()));
    let name = match first {
        Some(Value::String(name)) => name.clone(),
        Some(number) => number.to_string(),
        None => return String::new(),
    };
    let is_name = !name.trim().is_empty() && name.chars().nth(MOST_NAME).is_none();
    if is_name { format!(" ({})", clip(&name, MOST_NAME)) } else { String::new() }
}

fn hash(record: &Value) -> u128 {
    let of = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, record).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    of(0) << 64 | of(1)
}
