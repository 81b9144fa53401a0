//! Does a policy say what a standard asks for? By shared words, their opposites, the quantities, and the strength of the
//! normative words. Rules, not understanding: a match names its reason, so that a reader can judge it.

use std::collections::{HashMap, HashSet};

use super::quantity::{Bound, Quantity, quantities};
use super::statements::Strength;
use super::words::{is_small, meaning, words};

/// What a policy does with a standard's statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    Covered,
    /// By a weaker word, or with something left out.
    Partial,
    /// It asks for the opposite, or for other numbers.
    Contradicted,
    Missing,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    pub verdict: Verdict,
    /// The policy's statement that decided it.
    pub index: Option<usize>,
    /// How much of the standard's words that statement has, 0 to 1.
    pub score: f64,
    /// A short plain sentence without its full stop.
    pub reason: String,
}

/// Less in common than this is another matter.
const RELATED: f64 = 0.42;
/// From here on a statement says the same.
const SAME: f64 = 0.6;
/// Statements this near to the best one in score may decide too.
const NEAR: f64 = 0.1;

struct Said {
    /// Meaning → whether its opposite is said.
    meanings: HashMap<String, bool>,
    quantities: Vec<Quantity>,
}

impl Said {
    fn new(text: &str) -> Self {
        let mut meanings = HashMap::new();
        let mut negate = false;
        for word in words(text) {
            if word == "without" {
                negate = true;
            }
            if is_small(&word) || is_quantity_word(&word) {
                continue;
            }
            let (meaning, opposite) = meaning(&word);
            meanings.entry(meaning).or_insert(opposite ^ negate);
            negate = false;
        }
        Self { meanings, quantities: quantities(text) }
    }
}

fn is_quantity_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        || !quantities(&format!("1 {word}"))
            .iter()
            .all(|found| matches!(found.measure, super::quantity::Measure::Count(_)))
        || matches!(
            word,
            "minimum"
                | "maximum"
                | "calendar"
                | "annually"
                | "annual"
                | "yearly"
                | "monthly"
                | "weekly"
                | "daily"
                | "quarterly"
                | "hourly"
        )
}

/// The telling words of a statement, most telling first, stemmed: what to search a policy for.
pub fn terms(statement: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    for (at, word) in words(statement).enumerate() {
        if is_small(&word) || is_quantity_word(&word) {
            continue;
        }
        let stemmed = super::words::stem(&word);
        if seen.insert(stemmed.clone()) {
            found.push((telling(&word), at, stemmed));
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    found.into_iter().map(|(_, _, word)| word).collect()
}

/// Names and long words tell more than words that any manual has.
fn telling(word: &str) -> usize {
    if GENERAL.contains(&word) {
        return 1;
    }
    let name = word.contains(['_', '.']) || word.chars().any(|c| c.is_ascii_digit());
    word.chars().count().min(12) + if name { 4 } else { 0 }
}

const GENERAL: &[&str] = &[
    "system",
    "systems",
    "user",
    "users",
    "operator",
    "operators",
    "organisation",
    "organization",
    "company",
    "provide",
    "provided",
    "ensure",
    "include",
    "including",
    "information",
    "data",
    "process",
    "new",
    "time",
    "case",
    "way",
    "set",
    "take",
    "taken",
    "appropriate",
    "relevant",
    "applicable",
    "necessary",
    "service",
    "services",
    "given",
    "person",
    "persons",
    "people",
    "staff",
    "employees",
    "access",
    "perform",
    "performed",
    "implementation",
    "implementations",
];

/// Compares a standard's statement with a policy's statements.
pub fn compare(standard: (&str, Strength), candidates: &[(&str, Strength)]) -> Match {
    let wanted = Said::new(standard.0);
    let said: Vec<Said> = candidates.iter().map(|(text, _)| Said::new(text)).collect();
    let scores: Vec<f64> = {
        let mut frequency: HashMap<&str, f64> = HashMap::new();
        for statement in &said {
            statement.meanings.keys().for_each(|word| *frequency.entry(word).or_default() += 1.0);
        }
        let all = f64::from(u32::try_from(said.len()).unwrap_or(u32::MAX)) + 1.0;
        let weight = |word: &str| {
            let rare = (1.0 + all / (1.0 + frequency.get(word).copied().unwrap_or(0.0))).ln();
            if GENERAL.contains(&word) || GENERAL.iter().any(|general| meaning(general).0 == word) {
                rare * 0.4
            } else {
                rare
            }
        };
        let whole: f64 = wanted.meanings.keys().map(|word| weight(word)).sum();
        said.iter().map(|statement| similarity(&wanted, statement, &weight, whole)).collect()
    };
    let best = scores.iter().copied().fold(0.0, f64::max);
    if best < RELATED {
        return Match {
            verdict: Verdict::Missing,
            index: None,
            score: best,
            reason: "the policy says nothing about it".into(),
        };
    }
    let mut decided: Option<Match> = None;
    for (index, score) in scores.iter().copied().enumerate() {
        if score < RELATED || score < best - NEAR {
            continue;
        }
        let (verdict, reason) = judge((&wanted, standard.1), (&said[index], candidates[index].1), score);
        let better =
            decided.as_ref().is_none_or(|so_far| (order(verdict), score) > (order(so_far.verdict), so_far.score));
        if better {
            decided = Some(Match { verdict, index: Some(index), score, reason });
        }
    }
    decided.unwrap_or(Match {
        verdict: Verdict::Missing,
        index: None,
        score: best,
        reason: "the policy says nothing about it".into(),
    })
}

fn order(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Covered => 3,
        Verdict::Contradicted => 2,
        Verdict::Partial => 1,
        Verdict::Missing => 0,
    }
}

/// How much of what is wanted is said, a little less where much else is said.
fn similarity(wanted: &Said, said: &Said, weight: &dyn Fn(&str) -> f64, whole: f64) -> f64 {
    let mut shared = 0.0;
    let mut count = 0;
    for word in wanted.meanings.keys() {
        if said.meanings.contains_key(word) {
            shared += weight(word);
            count += 1;
        }
    }
    if whole <= 0.0 || (count < 2 && wanted.meanings.len() > 1) {
        return 0.0;
    }
    let other: f64 = said.meanings.keys().map(|word| weight(word)).sum();
    let covered = shared / whole;
    let focus = if other > 0.0 { shared / other } else { 0.0 };
    0.75 * covered + 0.25 * focus
}

fn judge(standard: (&Said, Strength), policy: (&Said, Strength), score: f64) -> (Verdict, String) {
    let (wanted, asked) = standard;
    let (said, given) = policy;
    // an opposite word turns the sense once more: "must be encrypted" against "may be kept unencrypted"
    let turned = wanted
        .meanings
        .iter()
        .filter(|(word, opposite)| said.meanings.get(*word).is_some_and(|other| other != *opposite))
        .count()
        % 2
        == 1;
    let given_sense = sense(given) * if turned { -1 } else { 1 };
    let asked_sense = sense(asked);
    let optional = given == Strength::NotRequired || given == Strength::NotRecommended && asked == Strength::May;
    if optional {
        return match asked.rank() {
            3 if asked_sense > 0 => (Verdict::Contradicted, format!("{given} in the policy, {asked} in the standard")),
            2 if asked_sense > 0 => (Verdict::Partial, format!("{given} in the policy, {asked} in the standard")),
            _ => (Verdict::Covered, format!("the policy leaves it open ({given})")),
        };
    }
    let permits_opposite = given == Strength::May && turned && asked_sense > 0;
    if asked == Strength::NotRequired {
        return (Verdict::Covered, format!("the standard asks for nothing here ({asked})"));
    }
    if given_sense != asked_sense && (asked != Strength::May || given_sense < 0) || permits_opposite {
        let reason = if turned {
            "the policy says the opposite".to_owned()
        } else {
            format!("{given} in the policy, {asked} in the standard")
        };
        return (Verdict::Contradicted, reason);
    }
    let mut unsaid = None;
    for quantity in &wanted.quantities {
        match against(quantity, &said.quantities) {
            Numbers::Same => {}
            Numbers::Differ(other) => {
                return (Verdict::Contradicted, format!("{other} in the policy, {} in the standard", quantity.said));
            }
            Numbers::Unsaid => unsaid = unsaid.or(Some(quantity.said.clone())),
        }
    }
    if let Some(unsaid) = unsaid {
        return (Verdict::Partial, format!("the policy does not say \"{unsaid}\""));
    }
    if given.rank() < asked.rank() {
        return (Verdict::Partial, format!("only {given} in the policy, {asked} in the standard"));
    }
    if score < SAME {
        return (Verdict::Partial, "the policy covers a part of it".into());
    }
    (Verdict::Covered, "the policy asks for the same".into())
}

/// 1 where the word asks for or allows a thing, -1 where it forbids or advises against it.
fn sense(strength: Strength) -> i8 {
    if strength.is_negated() && strength != Strength::NotRequired { -1 } else { 1 }
}

enum Numbers {
    Same,
    Differ(String),
    Unsaid,
}

fn against(wanted: &Quantity, said: &[Quantity]) -> Numbers {
    let mut other = None;
    for quantity in said.iter().filter(|quantity| quantity.measure == wanted.measure) {
        // more than the floor and less than the ceiling is within the standard
        let stricter = match (wanted.bound, quantity.bound) {
            (Bound::AtLeast, Bound::AtLeast) => quantity.value >= wanted.value,
            (Bound::AtMost, Bound::AtMost) => quantity.value <= wanted.value,
            (Bound::AtLeast | Bound::AtMost | Bound::Exactly, Bound::AtLeast | Bound::AtMost | Bound::Exactly) => false,
        };
        if stricter || quantity.equals(wanted) {
            return Numbers::Same;
        }
        other = other.or(Some(quantity.said.clone()));
    }
    other.map_or(Numbers::Unsaid, Numbers::Differ)
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
