//! The check of a deliverable that an earlier job has begun: only the requested fields may be changed.

use super::{Check, SPELLED_OUT, and_more, clip};
use crate::job::{earlier_result::EarlierResult, instructions::Deliverable};
use serde_json::Value;
use std::collections::BTreeSet;

/// Compares a deliverable with the version of the earlier job.
pub fn check_kept_fields(
    deliverable: &Deliverable,
    earlier: &EarlierResult,
    (before, after): (&Value, &Value),
) -> Check {
    let fields = earlier.asked_for();
    let mut comparison = KeptFields { asked: asked(deliverable, &earlier.only), changed: Vec::new() };
    comparison.compare("$", before, after);
    let passed = comparison.changed.is_empty();
    let detail = if passed {
        format!("Nothing but {fields} is changed.")
    } else {
        let (spelled, rest) = comparison.changed.split_at(comparison.changed.len().min(SPELLED_OUT));
        let told: Vec<String> = spelled.iter().map(|(place, what)| format!("{place} {what}.")).collect();
        let rest: Vec<String> = rest.iter().map(|(place, _)| place.clone()).collect();
        format!(
            "Only {fields} may change. {}{} As it was, it stands in {}.",
            told.join(" "),
            and_more(&rest),
            EarlierResult::copy_of(&deliverable.path)
        )
    };
    Check::new(format!("{}: only {fields} changed", deliverable.path), passed, detail)
}

/// The keys whose values may change: the requested fields, and the fields that belong only to their own quotes.
fn asked(deliverable: &Deliverable, only: &[String]) -> BTreeSet<String> {
    let mut keys: BTreeSet<String> = only.iter().flat_map(|field| [field.clone(), format!("{field}_quote")]).collect();
    let mut kept: BTreeSet<&String> = BTreeSet::new();
    let mut own: BTreeSet<&String> = BTreeSet::new();
    for rule in &deliverable.quotes {
        let is_asked = rule.named_field().is_some_and(|field| only.iter().any(|key| key == field));
        let of_quote = [&rule.text, &rule.document].into_iter().chain(&rule.page).chain(&rule.line);
        if is_asked { own.extend(of_quote) } else { kept.extend(of_quote) }
    }
    keys.extend(own.difference(&kept).map(|key| (*key).clone()));
    keys
}

struct KeptFields {
    asked: BTreeSet<String>,
    /// The places that changed, each with a phrase on the change.
    changed: Vec<(String, String)>,
}

impl KeptFields {
    fn compare(&mut self, place: &str, before: &Value, after: &Value) {
        match (before, after) {
            (Value::Object(was), Value::Object(now)) => {
                for key in was.keys().chain(now.keys().filter(|key| !was.contains_key(*key))) {
                    if !self.asked.contains(key) {
                        let [was, now] = [was, now].map(|map| map.get(key).unwrap_or(&Value::Null));
                        self.compare(&format!("{place}.{key}"), was, now);
                    }
                }
            }
            (Value::Array(was), Value::Array(now)) if was.len() == now.len() => {
                for (index, (was, now)) in was.iter().zip(now).enumerate() {
                    self.compare(&format!("{place}[{index}]"), was, now);
                }
            }
            (Value::Array(was), Value::Array(now)) => {
                self.changed.push((place.to_owned(), format!("has {} in place of {}", now.len(), was.len())));
            }
            (before, after) if before == after => {}
            (before, after) => {
                let [was, now] = [before, after].map(|value| clip(&value.to_string(), 60));
                self.changed.push((place.to_owned(), format!("was {was}, and is {now}")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::instructions::Quotes;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn all_but_what_is_asked_for_stays() {
        let rule = |text: &str, document: &str| Quotes {
            each: "$.terms[*]".to_owned(),
            text: text.to_owned(),
            document: document.to_owned(),
            page: Some("page".to_owned()),
            ..Quotes::default()
        };
        let quotes = vec![rule("quote", "document"), rule("currency_quote", "document")];
        let deliverable = Deliverable { path: "output/terms.json".to_owned(), quotes, ..Deliverable::default() };
        let earlier = EarlierResult {
            job: "0193a5c0-0000-7000-8000-000000000000".parse().unwrap(),
            only: vec!["currency".to_owned()],
            files: BTreeMap::new(),
        };
        let checked = |after: Value| {
            let before =
                json!({"terms": [{"rent": 10, "quote": "q", "page": 1}, {"rent": 20, "quote": "r", "page": 2}]});
            let check = check_kept_fields(&deliverable, &earlier, (&before, &after));
            (check.passed, check.detail)
        };
        let same = json!({"terms": [
            {"rent": 10, "quote": "q", "page": 1, "currency": "EUR", "currency_quote": "in EUR"},
            {"rent": 20, "quote": "r", "page": 2, "currency": null}
        ]});
        assert_eq!(checked(same), (true, "Nothing but currency is changed.".to_owned()));
        let other = json!({"terms": [{"rent": 11, "quote": "q", "page": 1}, {"rent": 20, "quote": "r", "page": 3, "due": "now"}]});
        let told = "Only currency may change. $.terms[0].rent was 10, and is 11. $.terms[1].page was 2, and is 3. \
            $.terms[1].due was null, and is \"now\". As it was, it stands in assets/earlier/output/terms.json.";
        assert_eq!(checked(other), (false, told.to_owned()));
        let fewer = json!({"terms": [{"rent": 10, "quote": "q", "page": 1}]});
        let told = "Only currency may change. $.terms has 1 in place of 2. As it was, it stands in assets/earlier/output/terms.json.";
        assert_eq!(checked(fewer), (false, told.to_owned()));
    }
}
