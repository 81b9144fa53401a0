//! Rules for values, and values in their quotes: failures, doubts, and their texts.

use super::*;
use crate::job::instructions::{CheckLevel, Quotes, ValueCheck};
use overnight_rules::date::DayOrder;
use serde_json::json;
use std::collections::BTreeMap;

/// A document in which every quote is found, with a line before and after it.
#[derive(Default)]
struct Library {
    quoted: String,
    kept: Vec<DoubtfulValue>,
    rows_asked: u32,
}

impl Sources for Library {
    fn find_quote(&mut self, query: QuoteQuery<'_>) -> QuoteResult {
        query.quote.clone_into(&mut self.quoted);
        QuoteResult::Found
    }

    fn around_quote(&mut self, lines: u64) -> Option<String> {
        (lines > 0).then(|| format!("Invoice of 03/04/2024\n{}\nTotal 1.280,00 EUR", self.quoted))
    }

    fn keep_values(&mut self, doubtful: &[DoubtfulValue]) {
        self.kept.extend_from_slice(doubtful);
    }

    fn day_order(&mut self, document: &str) -> Option<DayOrder> {
        (document == "us.pdf").then_some(DayOrder::MonthFirst)
    }

    fn rows(&mut self, document: &str, _: Option<&str>) -> Result<u64, String> {
        self.rows_asked += 1;
        if document == "list.csv" { Ok(2) } else { Err(format!("'{document}' has no table")) }
    }
}

fn rule(rule: &str, each: Option<&str>, level: CheckLevel) -> ValueCheck {
    ValueCheck { rule: rule.to_owned(), each: each.map(str::to_owned), message: None, level }
}

fn quotes(carries: Option<&[&str]>, context: u64) -> Quotes {
    Quotes {
        each: "$.items[*]".to_owned(),
        text: "quote".to_owned(),
        document: "document".to_owned(),
        carries: carries.map(|carries| carries.iter().map(|field| (*field).to_owned()).collect()),
        context,
        same_as: BTreeMap::from([("MM".to_owned(), vec!["month".to_owned()])]),
        ..Quotes::default()
    }
}

fn check(d: &Deliverable, value: &Value, library: &mut Library) -> CheckedDeliverable {
    check_deliverable(d, Some(value.to_string().as_bytes()), library, &mut RuleMemory::default())
}

fn failed(checked: &CheckedDeliverable) -> Vec<(&str, &str)> {
    let failed = checked.checks.iter().filter(|check| !check.passed);
    failed.map(|check| (check.name.as_str(), check.detail.as_str())).collect()
}

#[test]
fn rules_name_the_record_and_the_values() {
    let d = Deliverable {
        path: "output/r.json".to_owned(),
        checks: vec![
            ValueCheck {
                message: Some("the lines do not add up.".to_owned()),
                ..rule("sum(lines.map(l, l.amount)) == total", Some("$.items[*]"), CheckLevel::Fail)
            },
            rule("unique(items.map(i, i.number))", None, CheckLevel::Fail),
            rule("count(items) == rows(file.list)", None, CheckLevel::Fail),
            rule("total < 1000", Some("$.items[*]"), CheckLevel::Doubt),
        ],
        ..Deliverable::default()
    };
    let item = |number: &str, amount: f64, total: f64| json!({"number": number, "lines": [{"amount": amount}], "total": total});
    let good = json!({"list": "list.csv", "items": [item("R-16", 10.0, 10.0), item("R-17", 1180.0, 1280.0)]});
    let checked = check(&d, &good, &mut Library::default());
    let name = "output/r.json: rule \"the lines do not add up\"";
    let detail = "1 of 2 fail. $.items[1] (R-17): sum(lines.map(l, l.amount)) is 1180, total is 1280.";
    assert_eq!(failed(&checked), [(name, detail)]);
    let doubt =
        ValueDoubt { place: "$.items[1]".to_owned(), why: "`total < 1000` does not hold: total is 1280".to_owned() };
    assert_eq!((checked.doubts.clone(), checked.doubtful), (vec![doubt], 1));
    let told = checked.paragraph();
    assert!(told.ends_with("1 value is in doubt: $.items[1]: `total < 1000` does not hold: total is 1280."), "{told}");

    let cut = json!({"list": "list.csv", "items": [item("R-16", 10.0, 10.0)]});
    let rules = failed(&check(&d, &cut, &mut Library::default())).len();
    assert_eq!(rules, 1);
    let twice = json!({"list": "x.csv", "items": [item("R-16", 10.0, 10.0), item("R-16", 10.0, 10.0)]});
    let checked = check(&d, &twice, &mut Library::default());
    let details: Vec<&str> = failed(&checked).into_iter().map(|(_, detail)| detail).collect();
    let expected = ["\"R-16\" is there more than once.", "can't be evaluated: 'x.csv' has no table."];
    assert_eq!(details, expected);
}

#[test]
fn what_has_not_changed_is_not_evaluated_again() {
    let d = Deliverable {
        path: "output/r.json".to_owned(),
        checks: vec![rule("amount > 0", Some("$.items[*]"), CheckLevel::Fail)],
        ..Deliverable::default()
    };
    let mut memory = RuleMemory::default();
    let items: Vec<Value> = (0..2_000).map(|amount| json!({"amount": amount})).collect();
    let mut details = Vec::new();
    for last in [-1, -1, 5] {
        let mut items = items.clone();
        items.push(json!({"amount": last}));
        let content = json!({"items": items}).to_string();
        let checked = check_deliverable(&d, Some(content.as_bytes()), &mut Library::default(), &mut memory);
        details.push(failed(&checked).into_iter().map(|(_, detail)| detail.to_owned()).collect::<Vec<_>>());
    }
    let zero = "$.items[0] (0): amount is 0.";
    let both = format!("2 of 2001 fail. {zero} $.items[2000] (-1): amount is -1.");
    assert_eq!(details, [vec![both.clone()], vec![both], vec![format!("1 of 2001 fail. {zero}")]]);
}

#[test]
fn named_values_must_stand_in_their_quotes() {
    let d = Deliverable {
        path: "output/r.json".to_owned(),
        quotes: vec![quotes(Some(&["amount", "date", "unit"]), 0)],
        ..Deliverable::default()
    };
    let value = json!({"items": [
        {"amount": 1280, "date": "2024-05-03", "unit": "MM", "note": 7, "document": "a.pdf", "quote": "1.280,00 EUR a month from 3. Mai 2024"},
        {"amount": 1180, "date": "2024-05-03", "unit": null, "document": "a.pdf", "quote": "EUR 1,280.00 from 3 May 2024"},
        {"amount": 1200, "date": "2024-04-03", "document": "a.pdf", "quote": "twelve hundred from 03/04/2024"},
        {"amount": 5, "date": "2024-03-04", "document": "us.pdf", "quote": "5 from 03/04/2024"},
    ]});
    let mut library = Library::default();
    let checked = check(&d, &value, &mut library);
    let name = "output/r.json: values in quotes (quote)";
    assert_eq!(failed(&checked), [(name, "$.items[1]: 'amount' 1180 does not stand in its quote.")]);
    let doubts: Vec<String> = checked.doubts.iter().map(|doubt| format!("{}: {}", doubt.place, doubt.why)).collect();
    assert_eq!(
        doubts,
        [
            "$.items[2]: 'amount' 1200 may be there in words, which are not read",
            "$.items[2]: 'date' \"2024-04-03\" stands there as a date that can be read as two days",
        ]
    );
    let kept: Vec<(&str, bool)> = library.kept.iter().map(|of| (of.field.as_str(), of.unclear.is_some())).collect();
    assert_eq!(kept, [("amount", false), ("amount", true), ("date", true)]);
}

#[test]
fn other_literals_that_do_not_stand_there_are_doubts() {
    let with = |context: u64| Deliverable {
        path: "output/r.json".to_owned(),
        quotes: vec![quotes(None, context)],
        ..Deliverable::default()
    };
    let value = json!({"items": [
        {"id": 9, "total": 1280, "number": "R-17", "summary": "a rent of 5 or more a month", "page": 3, "document": "a.pdf", "quote": "Invoice R-17"},
    ]});
    let checked = check(&with(0), &value, &mut Library::default());
    assert_eq!(failed(&checked), []);
    let doubts: Vec<&str> = checked.doubts.iter().map(|doubt| doubt.why.as_str()).collect();
    assert_eq!(doubts, ["'total' 1280 does not stand in its quote"]);
    assert_eq!(check(&with(1), &value, &mut Library::default()).doubts, []);
    // Of several quotes of a record any will do.
    let other = Quotes { text: "total_quote".to_owned(), ..quotes(None, 0) };
    let several = Deliverable { quotes: vec![quotes(None, 0), other], ..with(0) };
    let record = |quote: &str| json!({"items": [{"total": 1280, "document": "a.pdf", "quote": "Invoice", "total_quote": quote}]});
    assert_eq!(check(&several, &record("1.280,00 EUR in all"), &mut Library::default()).doubts, []);
    assert_eq!(check(&several, &record("1.180,00 EUR in all"), &mut Library::default()).doubtful, 1);
}
