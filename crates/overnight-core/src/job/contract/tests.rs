//! A deliverable and its content in, all checks out.

use super::{prose::words, *};
use crate::job::{instructions::Quotes, schema::takes_null};
use proptest::prelude::*;
use serde_json::json;

fn deliverable() -> Deliverable {
    Deliverable { path: "output/r.json".to_owned(), ..Deliverable::default() }
}

fn rule(each: &str) -> Quotes {
    Quotes {
        each: each.to_owned(),
        text: "quote".to_owned(),
        document: "document".to_owned(),
        page: Some("page".to_owned()),
        ..Quotes::default()
    }
}

/// A world of one document, `a.pdf`, with "alpha beta" on page 3.
fn library(asked: QuoteQuery<'_>) -> QuoteResult {
    match (asked.document, asked.quote, asked.at.page.map(|page| page.number)) {
        ("a.pdf", "alpha beta", None | Some(3)) => QuoteResult::Found,
        ("a.pdf", "alpha beta", Some(_)) => QuoteResult::Elsewhere { unit: "page", found_on: 3 },
        ("a.pdf", "alpha gamma", _) if asked.is_explained => QuoteResult::NotFound {
            nearest: Some(NearestText {
                place: "page 3".to_owned(),
                passage: "…alpha beta…".to_owned(),
                quoted: "alpha gamma".to_owned(),
                word: "gamma".to_owned(),
            }),
        },
        ("a.pdf", "of b", _) => QuoteResult::InOtherDocument { document: "b.md".to_owned(), page: None },
        ("a.pdf", _, _) => QuoteResult::NotFound { nearest: None },
        (_, _, _) => QuoteResult::NoSuchDocument,
    }
}

fn check(d: &Deliverable, content: impl AsRef<[u8]>) -> Vec<Check> {
    check_deliverable(d, Some(content.as_ref()), &mut library, &mut RuleMemory::default()).checks
}

fn made(name: &str, passed: bool, detail: &str) -> Check {
    Check::new(format!("output/r.json: {name}"), passed, detail.to_owned())
}

#[test]
fn missing_empty_and_unreadable_files_fail() {
    let d = deliverable();
    let missing = check_deliverable(&d, None, &mut library, &mut RuleMemory::default()).checks;
    assert_eq!(missing, [made("exists", false, "output/r.json does not exist. Write it.")]);
    for content in ["", " \n\t\u{a0}", "\u{feff}\n"] {
        let exists = made("exists", true, &format!("{} bytes.", content.len()));
        assert_eq!(
            check(&d, content),
            [exists, made("not empty", false, "output/r.json is empty. Write its content.")]
        );
    }
    let latin = made("text", false, "output/r.json is not UTF-8 text from line 2 on. Write it as UTF-8.");
    assert_eq!(check(&d, b"a\nb\xe9"), [made("exists", true, "4 bytes."), latin]);
    let large = vec![b' '; MAX_BYTES + 1];
    let size = "output/r.json has 33554433 bytes; at most 33554432 can be checked. Make it smaller.";
    assert_eq!(check(&d, large), [made("exists", true, "33554433 bytes."), made("size", false, size)]);
}

#[test]
fn a_plain_file_passes() {
    let expected = [made("exists", true, "5 bytes."), made("not empty", true, "It has content.")];
    assert_eq!(check(&deliverable(), "Hello"), expected);
}

/// The last check of `d` on `content`.
fn last(d: &Deliverable, content: impl AsRef<[u8]>) -> Check {
    check(d, content).pop().unwrap()
}

#[test]
fn schema_errors_are_spelled_out() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["items"],
        "properties": { "items": { "type": "array", "items": { "type": "integer", "minimum": 2 } } }
    });
    let d = Deliverable { schema: Some(schema), ..deliverable() };
    assert_eq!(last(&d, r#"{"items": [2, 3]}"#), made("schema", true, "ok."));
    let expected =
        "$.items[1]: this value is not of type \"integer\". $.items[2]: this value is less than the minimum of 2.";
    assert_eq!(last(&d, r#"{"items": [2, "x", 1]}"#), made("schema", false, expected));
    let expected =
        "$: Additional properties are not allowed ('x' was unexpected). $: \"items\" is a required property.";
    assert_eq!(last(&d, r#"{"x": 1}"#), made("schema", false, expected));
    let many = json!({ "items": vec![0; 13] }).to_string();
    let ten: Vec<String> =
        (0..10).map(|n| format!("$.items[{n}]: this value is less than the minimum of 2.")).collect();
    assert_eq!(last(&d, many), made("schema", false, &format!("{} And 3 more.", ten.join(" "))));
    let hostile = json!({ "items": vec![0; 200_000] }).to_string();
    assert!(last(&d, hostile).detail.ends_with("And more than 10000 others."));
}

#[test]
fn what_is_not_json_says_where() {
    let d = Deliverable { schema: Some(json!({})), ..deliverable() };
    for (content, expected) in [
        ("{\"a\": 1,\n}", "output/r.json is not JSON: trailing comma at line 2 column 1. Write valid JSON."),
        (
            "```json\n{}\n```",
            "output/r.json is not JSON: expected value at line 1 column 1. Write valid JSON. Leave out the code fence.",
        ),
        ("[1e]", "output/r.json is not JSON: invalid number at line 1 column 4. Write valid JSON."),
    ] {
        assert_eq!(last(&d, content), made("JSON", false, expected));
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(!last(&d, deep).passed);
    // Numbers of any size are numbers.
    assert_eq!(last(&d, "[1e999999, 123456789012345678901234567890]"), made("schema", true, "ok."));
}

#[test]
fn quotes_are_looked_up_one_by_one() {
    let d = Deliverable { quotes: vec![rule("$.r[*]")], ..deliverable() };
    let good = json!({"r": [
        {"document": "a.pdf", "page": 3, "quote": "alpha beta"},
        {"document": "a.pdf", "page": 3.0, "quote": "alpha beta"},
        {"document": "a.pdf", "page": null, "quote": "alpha beta"},
        {"document": "a.pdf", "quote": "alpha beta"},
        {"document": null, "page": null, "quote": null},
    ]});
    assert_eq!(last(&d, good.to_string()), made("quotes", true, "4 of 4 found."));
    assert_eq!(last(&d, r#"{"r": []}"#), made("quotes", true, "0 of 0 found."));
    let bad = json!({"r": [
        {"document": "a.pdf", "page": 4, "quote": "alpha beta"},
        {"document": "a.pdf", "page": 4, "quote": "one two three four five six seven eight nine"},
        {"document": "b.pdf", "quote": "alpha beta"},
        {"document": "a.pdf", "page": "four", "quote": "alpha beta"},
        {"document": "a.pdf", "page": 3, "quote": "alpha beta"},
        {"quote": "alpha beta"},
        {"document": "a.pdf", "quote": " "},
        {"document": "a.pdf"},
        7,
        {"document": "a.pdf", "quote": "alpha gamma"},
        {"document": "a.pdf", "quote": "of b"},
        7, 7,
    ]});
    let expected = "1 of 13 found. \
        $.r[0] \"alpha beta\" is not on page 4 of a.pdf but on page 3. \
        $.r[1] \"one two three four five six seven eight…\": nothing like it stands in a.pdf. \
        $.r[2]: there is no document 'b.pdf'. Use a name from list_documents. \
        $.r[3]: 'page' is not a page number. \
        $.r[5]: 'document' does not name a document. \
        $.r[6]: 'quote' is empty. \
        $.r[7] has no 'quote'. \
        $.r[8] is not an object with a quote. \
        $.r[9] \"alpha gamma\": nearest on page 3 of a.pdf: \"…alpha beta…\", differs at \"gamma\". \
        $.r[10] \"of b\" does not stand in a.pdf but in b.md. \
        And 2 more.";
    assert_eq!(last(&d, bad.to_string()), made("quotes", false, expected));
}

#[test]
fn a_state_counts_and_a_paragraph_tells() {
    let schema = json!({"type": "object", "properties": {"r": {"type": "array"}}});
    let d = Deliverable { schema: Some(schema), quotes: vec![rule("$.r[*]")], min_words: Some(2), ..deliverable() };
    let content = json!({"r": [
        {"document": "a.pdf", "page": 3, "quote": "alpha beta"},
        {"document": "a.pdf", "page": 3, "quote": "alpha gamma"},
    ]});
    let checked = check_deliverable(&d, Some(content.to_string().as_bytes()), &mut library, &mut RuleMemory::default());
    let wrong =
        "1 of 2 found. $.r[1] \"alpha gamma\": nearest on page 3 of a.pdf: \"…alpha beta…\", differs at \"gamma\".";
    assert_eq!(checked.paragraph(), format!("Schema: ok. Quotes: {wrong} Words: 17 (at least 2)."));
    let state = DeliverableState {
        path: "output/r.json".to_owned(),
        records: Some(2),
        doubts: 0,
        quotes: Some(QuoteCount { found: 1, all: 2 }),
        failed: vec![made("quotes", false, wrong)],
        documents: [("a.pdf".to_owned(), 2)].into(),
    };
    assert_eq!(checked.state(), state);
    assert_eq!(check_deliverable(&deliverable(), Some(b"x"), &mut library, &mut RuleMemory::default()).paragraph(), "");
}

#[test]
fn each_rule_is_a_check_of_its_own() {
    let policy = Quotes { text: "policy_quote".to_owned(), document: "policy".to_owned(), page: None, ..rule("$[*]") };
    let d = Deliverable { quotes: vec![rule("$[*]"), policy], ..deliverable() };
    let content =
        json!([{"document": "a.pdf", "page": 3, "quote": "alpha beta", "policy": "a.pdf", "policy_quote": "gamma"}]);
    let quotes = check(&d, content.to_string()).split_off(2);
    let expected = "0 of 1 found. $[0] \"gamma\": nothing like it stands in a.pdf.";
    assert_eq!(
        quotes,
        [made("quotes (quote)", true, "1 of 1 found."), made("quotes (policy_quote)", false, expected),]
    );
}

#[test]
fn null_is_only_spoken_of_where_the_schema_takes_it() {
    let schema = json!({"type": "object", "properties": {"r": {"type": "array", "items": {"$ref": "#/$defs/one"}}},
        "$defs": {"one": {"type": "object", "required": ["quote", "page"],
            "properties": {"quote": {"type": "string"}, "page": {"type": ["integer", "null"]}}}}});
    assert!(!takes_null(&schema, "$.r[*]", "quote"));
    assert!(takes_null(&schema, "$.r[*]", "page") && takes_null(&schema, "$.r[*]", "other"));
}

#[test]
fn words_are_counted_as_people_do() {
    for (text, expected) in [
        ("", 0),
        ("# One, two — three!", 3),
        ("don't stop well-known", 3),
        ("dash - dash 'quoted' rock'n'roll", 4),
        ("| a | b |\n|---|---|", 2),
        ("3.5 to 1,000.4. Then 2.Now", 6),
        ("日本語 text", 4),
        ("naïve cafe\u{301}s", 2),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
    let d = Deliverable { min_words: Some(3), ..deliverable() };
    let expected = "2 (at least 3). Write 1 more.";
    assert_eq!(last(&d, "two words"), Check { unfinished: true, ..made("words", false, expected) });
    assert_eq!(last(&d, "now three words"), made("words", true, "3 (at least 3)."));
}

#[test]
fn forbidden_text_is_found_as_a_whole_word() {
    let forbid = ["TODO", "to be decided", "[insert", "(?i)", "é"].map(str::to_owned).to_vec();
    let d = Deliverable { forbid, ..deliverable() };
    let fine = "todos and mastodon, undecided: to be, decided. insert (i) éa";
    assert_eq!(last(&d, fine), made("forbidden text", true, "none."));
    let expected = "Line 2 has \"Todo\", which must not occur. Replace it. \
        Line 3 has \"To be decided\", which must not occur. Replace it. \
        Line 5 has \"[INSERT\", which must not occur. Replace it. \
        Line 6 has \"É\", which must not occur. Replace it.";
    let content = "x\n(Todo: it)\nTo be\n decided\n[INSERT name]\nÉ";
    assert_eq!(last(&d, content), made("forbidden text", false, expected));
}

#[test]
fn a_schema_that_refers_to_itself_is_no_trap() {
    for schema in [json!({"$ref": "#"}), json!({"allOf": [{"$ref": "#"}]}), json!({"items": {"$ref": "#"}})] {
        let d = Deliverable { schema: Some(schema), ..deliverable() };
        let _ = check(&d, "[[[1]]]");
    }
}

proptest! {
    #[test]
    fn any_content_is_checked(
        content in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            "[\\[\\]{}\",:0-9a-e.\\- \n]{0,80}".prop_map(String::into_bytes),
            Just(json!({"r": [{"quote": {}}, [], null, {"quote": "x", "document": 1e300, "page": 1e300}]}).to_string().into_bytes()),
        ],
        forbid in prop::collection::vec("\\PC{1,20}", 0..3),
    ) {
        let d = Deliverable {
            schema: Some(json!({"type": ["object", "array"], "items": {"type": "string", "pattern": "^(a+)+$"}})),
            quotes: vec![rule("$.r[*]"), rule("$[*]")],
            min_words: Some(2),
            forbid,
            ..deliverable()
        };
        for check in check(&d, &content) {
            prop_assert!(check.name.starts_with("output/r.json: ") && check.detail.ends_with('.'), "{check:?}");
            let stored = serde_json::to_string(&check).unwrap();
            prop_assert_eq!(serde_json::from_str::<Check>(&stored).unwrap(), check);
        }
    }

    #[test]
    fn words_never_exceed_characters(text in "\\PC{0,80}") {
        prop_assert!(words(&text) <= text.chars().count() as u64);
    }
}
