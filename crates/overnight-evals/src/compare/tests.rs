//! Comparisons of documents, with all their results.

use super::*;
use crate::{comparison::PairingCounts, field_rule::FieldRule, statistics::DocumentScore};
use proptest::prelude::*;
use serde_json::json;

fn plan(schema: &Value, rules: &[(&str, ComparisonKind)], ignored: &[&str]) -> ComparisonPlan {
    let rules = rules.iter().map(|(field, kind)| ((*field).to_owned(), FieldRule { kind: *kind, judge: false }));
    let schema = Some(schema).filter(|schema| !schema.is_null()).cloned();
    ComparisonPlan::new(schema, rules.collect(), ignored.iter().map(|field| (*field).to_owned()))
}

fn compared(expected: &Value, found: Option<&Value>, plan: &ComparisonPlan) -> DocumentComparison {
    compare(expected, found, plan, &RecordPlaces::default(), None)
}

/// The cells as lines: field, both values, and whether it is right.
fn lines(comparison: &DocumentComparison) -> Vec<String> {
    let line = |cell: &FieldCell| {
        let sign = if cell.is_right { "=" } else { "≠" };
        format!("{} {} {sign} {}", cell.field, cell.expected, cell.found)
    };
    comparison.cells.iter().map(line).collect()
}

#[test]
fn a_document_is_compared_value_by_value() {
    let schema = json!({"properties": {
        "tenant": {"type": "string"},
        "end": {"type": ["string", "null"], "format": "date"},
        "terms": {"items": {"$ref": "#/$defs/term"}},
    }, "$defs": {"term": {"properties": {"rent": {"type": "number"}, "quote": {"type": "string"}}}}});
    let golden =
        json!({"tenant": "Miller Ltd", "terms": [{"rent": 100, "quote": "one"}, {"rent": 200}, {"rent": null}]});
    let found =
        json!({"tenant": "MILLER LTD", "end": "2027-01-01", "terms": [{"rent": "200.00"}, {"rent": 7}], "note": "x"});
    let comparison = compared(&golden, Some(&found), &plan(&schema, &[], &["$.terms[*].quote"]));
    let expected = json!({
        "cells": [
            {"field": "$.tenant", "expected_path": "$.tenant", "found_path": "$.tenant", "expected": "Miller Ltd",
                "found": "MILLER LTD", "is_right": true, "kind": {"compare": "exact"}},
            {"field": "$.end", "expected_path": "$.end", "found_path": "$.end", "expected": null, "found": "2027-01-01",
                "is_right": false, "kind": {"compare": "date"}},
            {"field": "$.terms[*].rent", "expected_path": "$.terms[0].rent", "found_path": null, "expected": 100, "found": null,
                "is_right": false, "kind": {"compare": "number", "tolerance": 0.0, "relative": 1e-9}},
            {"field": "$.terms[*].rent", "expected_path": "$.terms[1].rent", "found_path": "$.terms[0].rent", "expected": 200,
                "found": "200.00", "is_right": true, "kind": {"compare": "number", "tolerance": 0.0, "relative": 1e-9}},
            {"field": "$.terms[*].rent", "expected_path": "$.terms[2].rent", "found_path": null, "expected": null, "found": null,
                "is_right": false, "kind": {"compare": "number", "tolerance": 0.0, "relative": 1e-9}},
        ],
        "lists": [{"list": "$.terms", "expected_path": "$.terms", "found_path": "$.terms",
            "pairs": [{"expected": 1, "found": 0, "by_place": false, "difference": 0.0}], "missing": [0, 2], "extra": [1]}],
    });
    assert_eq!(serde_json::to_string_pretty(&comparison).unwrap(), serde_json::to_string_pretty(&expected).unwrap());
    assert_eq!(comparison.score(), DocumentScore { right: 2.0, total: 5.0 });
    assert_eq!(comparison.fields()["$.terms[*].rent"], DocumentScore { right: 1.0, total: 3.0 });
    let counts = comparison.lists()["$.terms"];
    assert_eq!(counts, PairingCounts { expected: 3, found: 2, paired: 1 });
    assert_eq!(format!("{:.3} {:.3} {:.3}", counts.precision(), counts.recall(), counts.f1()), "0.500 0.333 0.400");
}

#[test]
fn without_a_result_every_cell_is_wrong() {
    let schema =
        json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"items": {"type": "string"}}}});
    let plan = plan(&schema, &[], &[]);
    let golden = json!({"a": "x", "c": ["y", "z"]});
    let nothing = compared(&golden, None, &plan);
    assert_eq!(
        lines(&nothing),
        [r#"$.a "x" ≠ null"#, "$.b null ≠ null", r#"$.c[*] "y" ≠ null"#, r#"$.c[*] "z" ≠ null"#]
    );
    assert!(nothing.cells.iter().all(|cell| cell.found_path.is_none()));
    assert_eq!(nothing.lists()["$.c"], PairingCounts { expected: 2, found: 0, paired: 0 });
    // A result that contains null is right where null is expected.
    let empty = compared(&golden, Some(&Value::Null), &plan);
    assert_eq!(lines(&empty), [r#"$.a "x" ≠ null"#, "$.b null = null", r#"$.c[*] "y" ≠ null"#, r#"$.c[*] "z" ≠ null"#]);
}

#[test]
fn an_absent_list_or_object_is_an_empty_one() {
    let schema = json!({"$ref": "#/$defs/part", "$defs": {"part": {"properties": {
        "name": {"type": "string"}, "left": {"$ref": "#/$defs/part"}, "tags": {"type": "array"}}}}});
    let comparison = compared(&json!({}), Some(&json!({"tags": null, "left": null})), &plan(&schema, &[], &[]));
    assert_eq!(lines(&comparison), ["$.name null = null", "$.left.name null = null", "$.left.left null = null"]);
    let counts = comparison.lists()["$.tags"];
    assert_eq!(format!("{} {} {}", counts.precision(), counts.recall(), counts.f1()), "1 1 1");
    let comparison =
        compared(&json!({"a": {"b": 1}, "c": null}), Some(&json!({"c": {"d": 2}})), &plan(&Value::Null, &[], &[]));
    assert_eq!(lines(&comparison), ["$.a.b 1 ≠ null", r#"$.c null ≠ {"d":2}"#]);
}

#[test]
fn another_shape_is_wrong() {
    let plan = plan(&Value::Null, &[], &[]);
    for (expected, found, cells) in [
        (json!({"a": "x"}), json!({"a": ["x"]}), vec![r#"$.a "x" ≠ ["x"]"#]),
        (json!({"a": ["x"]}), json!({"a": "x"}), vec![r#"$.a[*] "x" ≠ null"#, r#"$.a null ≠ "x""#]),
        (json!({"a": {"b": 1}}), json!({"a": [1]}), vec!["$.a.b 1 ≠ null", "$.a null ≠ [1]"]),
        (json!({"a": null}), json!({"a": ["x"]}), vec![]),
        (json!({"a": ["x"]}), json!({"a": {}}), vec![r#"$.a[*] "x" ≠ null"#]),
        (json!({"a": 1}), json!({"a": "1"}), vec![r#"$.a 1 = "1""#]),
        (json!({"a": "1"}), json!({"a": 1}), vec![r#"$.a "1" ≠ 1"#]),
    ] {
        assert_eq!(lines(&compared(&expected, Some(&found), &plan)), cells);
    }
}

#[test]
fn records_are_paired_so_that_they_differ_least() {
    let golden = json!([{"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 2, "c": 2}, {"a": 9, "b": 9, "c": 9}]);
    let found = json!([{"a": 1, "b": 1, "c": 2}, {"a": 1, "b": 1, "c": 1}, {"a": 8, "b": 8, "c": 8}]);
    let comparison = compared(&golden, Some(&found), &plan(&Value::Null, &[], &[]));
    let list = ListPairing {
        list: "$".to_owned(),
        expected_path: Some("$".to_owned()),
        found_path: Some("$".to_owned()),
        pairs: vec![
            PairedRecords { expected: 0, found: 1, by_place: false, difference: 0.0 },
            PairedRecords { expected: 1, found: 0, by_place: false, difference: 1.0 - 2.0 / 3.0 },
        ],
        missing: vec![2],
        extra: vec![2],
    };
    assert_eq!(comparison.lists, [list]);
    // The rules of the field hold for pairing too; words count by the share that is the same, nulls of both not at all.
    let golden = json!([{"t": "the rent is due monthly", "n": null}, {"t": "the tenant repairs", "n": null}]);
    let found = json!([{"t": "the tenant repairs windows", "n": null}, {"t": "rent is due"}]);
    let text = plan(&Value::Null, &[("$[*].t", ComparisonKind::TEXT)], &[]);
    let pairs = &compared(&golden, Some(&found), &text).lists[0].pairs;
    assert_eq!(pairs.iter().map(|pair| (pair.expected, pair.found)).collect::<Vec<_>>(), [(0, 1), (1, 0)]);
    assert_eq!(pairs.iter().map(|pair| pair.difference).collect::<Vec<_>>(), [1.0 - 0.75, 1.0 - 6.0 / 7.0]);
}

#[test]
fn lists_within_records_are_paired_within_them() {
    let golden = json!({"units": [{"id": "A", "rooms": ["kitchen", "hall"]}, {"id": "B", "rooms": ["bath"]}]});
    let found = json!({"units": [{"id": "B", "rooms": ["bath", "kitchen"]}, {"id": "C", "rooms": ["attic"]}]});
    let comparison = compared(&golden, Some(&found), &plan(&Value::Null, &[], &[]));
    let cells = [
        r#"$.units[*].id "A" ≠ null"#,
        r#"$.units[*].rooms[*] "kitchen" ≠ null"#,
        r#"$.units[*].rooms[*] "hall" ≠ null"#,
        r#"$.units[*].id "B" = "B""#,
        r#"$.units[*].rooms[*] "bath" = "bath""#,
    ];
    assert_eq!(lines(&comparison), cells);
    let lists: Vec<_> = comparison
        .lists
        .iter()
        .map(|list| (list.expected_path.as_deref(), list.found_path.as_deref(), list.counts()))
        .collect();
    let counts = |expected, found, paired| PairingCounts { expected, found, paired };
    let expected = [
        (Some("$.units"), Some("$.units"), counts(2, 2, 1)),
        (Some("$.units[0].rooms"), None, counts(2, 0, 0)),
        (Some("$.units[1].rooms"), Some("$.units[0].rooms"), counts(1, 2, 1)),
        (None, Some("$.units[1].rooms"), counts(0, 1, 0)),
    ];
    assert_eq!(lists, expected);
    assert_eq!(comparison.lists()["$.units[*].rooms"], counts(3, 3, 1));
}

#[test]
fn the_place_of_a_quote_comes_before_the_values() {
    let golden = json!({"terms": [{"rent": 1}, {"rent": 2}]});
    let found = json!({"terms": [{"rent": 2}, {"rent": 3}]});
    let place = |start: u64| RecordPlace { document: "lease.pdf".to_owned(), start, end: start + 10 };
    let places = RecordPlaces {
        expected: BTreeMap::from([("$.terms[0]".to_owned(), place(0)), ("$.terms[1]".to_owned(), place(50))]),
        found: BTreeMap::from([("$.terms[1]".to_owned(), place(5))]),
    };
    let comparison = compare(&golden, Some(&found), &plan(&Value::Null, &[], &[]), &places, None);
    let pairs = [
        PairedRecords { expected: 0, found: 1, by_place: true, difference: 1.0 },
        PairedRecords { expected: 1, found: 0, by_place: false, difference: 0.0 },
    ];
    assert_eq!(comparison.lists[0].pairs, pairs);
    assert_eq!(lines(&comparison), ["$.terms[*].rent 1 ≠ 3", "$.terms[*].rent 2 = 2"]);
}

#[test]
fn what_is_ignored_is_not_compared() {
    let golden = json!({"a": {"b": 1, "c": 2}, "d": [{"e": 3}], "f": [[4, 5]], "g": 6});
    let rules = [("$.a", ComparisonKind::Ignored), ("$.f[*][*]", ComparisonKind::Ignored)];
    let comparison = compared(&golden, Some(&json!({})), &plan(&Value::Null, &rules, &["$.d[*]"]));
    assert_eq!(lines(&comparison), ["$.g 6 ≠ null"]);
    assert_eq!(comparison.lists().into_keys().collect::<Vec<_>>(), ["$.f"]);
}

#[test]
fn a_judge_is_asked_about_texts_and_where_a_rule_says_so() {
    let rules = [
        ("$.text".to_owned(), FieldRule { kind: ComparisonKind::TEXT, judge: false }),
        ("$.other".to_owned(), FieldRule { kind: ComparisonKind::TEXT, judge: false }),
        ("$.name".to_owned(), FieldRule { kind: ComparisonKind::Exact, judge: true }),
    ];
    let plan = ComparisonPlan::new(None, BTreeMap::from(rules), []);
    let golden = json!({"text": "a b", "other": "c d", "name": "Ltd", "plain": "x", "none": null, "same": "s"});
    let found = json!({"text": "e f", "other": null, "name": "Limited", "plain": "y", "none": "z", "same": "s"});
    let asked = std::cell::RefCell::new(Vec::new());
    let judge = |field: &str, _: &Value, _: &Value| {
        asked.borrow_mut().push(field.to_owned());
        (field == "$.name").then_some(true)
    };
    let comparison = compare(&golden, Some(&found), &plan, &RecordPlaces::default(), Some(&judge));
    let right: Vec<&str> =
        comparison.cells.iter().filter(|cell| cell.is_right).map(|cell| cell.field.as_str()).collect();
    assert_eq!((right, asked.into_inner()), (vec!["$.name", "$.same"], vec!["$.text".to_owned(), "$.name".to_owned()]));
}

/// Any JSON value, and the same value with its lists in another order; if `full`, without nulls, empty lists and empty
/// objects.
fn any_value(full: bool) -> impl Strategy<Value = (Value, Value)> {
    let single = prop_oneof![
        any::<bool>().prop_map(Value::from),
        (-3..3_i32).prop_map(Value::from),
        "[ab1.,-]{0,3}".prop_map(Value::from),
        Just(if full { json!(true) } else { Value::Null }),
    ];
    let fewest = usize::from(full);
    single.prop_map(|value| (value.clone(), value)).prop_recursive(4, 24, 4, move |inner| {
        let list = prop::collection::vec(inner.clone(), fewest..4).prop_map(|items| {
            let (items, mut other): (Vec<Value>, Vec<Value>) = items.into_iter().unzip();
            other.reverse();
            (Value::from(items), Value::from(other))
        });
        let object = prop::collection::btree_map("[ab]", inner, fewest..3).prop_map(|fields| {
            let (fields, other): (Vec<_>, Vec<_>) =
                fields.into_iter().map(|(name, (one, other))| ((name.clone(), one), (name, other))).unzip();
            (Value::from_iter(fields), Value::from_iter(other))
        });
        prop_oneof![list, object]
    })
}

proptest! {
    #[test]
    fn a_value_is_right_whatever_the_order_of_its_lists((one, other) in any_value(true)) {
        let comparison = compared(&one, Some(&other), &ComparisonPlan::default());
        prop_assert!(comparison.cells.iter().all(|cell| cell.is_right), "{:#?}", comparison);
        prop_assert!(comparison.lists.iter().all(|list| list.missing.is_empty() && list.extra.is_empty()));
        prop_assert!(compared(&one, None, &ComparisonPlan::default()).cells.iter().all(|cell| !cell.is_right));
    }

    #[test]
    fn whatever_was_found_no_expected_value_is_left_out((one, _) in any_value(false), (other, _) in any_value(false)) {
        let comparison = compared(&one, Some(&other), &ComparisonPlan::default());
        let expected = |comparison: &DocumentComparison| -> Vec<Value> {
            comparison.cells.iter().map(|cell| cell.expected.clone()).filter(|value| !value.is_null()).collect()
        };
        prop_assert_eq!(expected(&comparison), expected(&compared(&one, None, &ComparisonPlan::default())));
    }
}

/// Measures the time for large lists: `cargo test --release -p overnight-evals -- --ignored --nocapture`.
#[test]
#[ignore = "it measures"]
fn large_lists() {
    let words = "the tenant pays rent monthly in advance and repairs all windows doors of house at own cost"
        .split(' ')
        .collect::<Vec<_>>();
    let record = |random: &mut fastrand::Rng, at: usize| {
        let text: Vec<&str> = (0..20).map(|_| words[random.usize(..words.len())]).collect();
        json!({
            "id": format!("R-{at}"), "name": format!("Name {}", at % 97), "rent": at * 7 % 1000, "currency": "EUR",
            "start": format!("2027-01-{:02}", at % 28 + 1), "kind": (if at.is_multiple_of(2) { "net" } else { "gross" }),
            "text": text.join(" "),
        })
    };
    for (name, rate, has_text) in [("usual", 20, false), ("usual, with texts", 20, true), ("none alike", 1, false)] {
        let mut random = fastrand::Rng::with_seed(1);
        let golden: Vec<Value> = (0..2000).map(|at| record(&mut random, at)).collect();
        let mut found = golden.clone();
        for one in &mut found {
            if random.usize(0..rate) == 0 {
                let other = random.usize(0..100_000);
                *one = record(&mut random, other);
            }
        }
        random.shuffle(&mut found);
        let text = if has_text { ComparisonKind::TEXT } else { ComparisonKind::Ignored };
        let plan = plan(&Value::Null, &[("$[*].text", text)], &[]);
        let begin = std::time::Instant::now();
        let counts = compared(&json!(golden), Some(&json!(found)), &plan).lists()["$"];
        println!("{name}: {:?}, {counts:?}", begin.elapsed());
    }
}
