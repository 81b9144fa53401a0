//! Rules on small files: what holds, what fails and with which values, and hostile ones.

use super::*;
use serde_json::json;

/// Two documents, one deliverable.
struct Things;

impl Outside for Things {
    fn text(&mut self, document: &str, page: Option<u64>) -> Result<String, String> {
        match (document, page) {
            ("a.pdf", None) => Ok("Total: 1,180.00\u{c}Page two".to_owned()),
            ("a.pdf", Some(2)) => Ok("Page two".to_owned()),
            (document, _) => Err(format!("there is no document '{document}'")),
        }
    }

    fn rows(&mut self, document: &str, sheet: Option<&str>) -> Result<u64, String> {
        match (document, sheet) {
            ("list.csv", None) => Ok(3),
            (document, _) => Err(format!("'{document}' has no table")),
        }
    }

    fn records(&mut self, file: &str, path: &str) -> Result<Vec<Value>, String> {
        match (file, path) {
            ("output/parties.json", "$.parties[*].id") => Ok(vec![json!("P-1"), json!("P-2")]),
            (file, _) => Err(format!("there is no file {file}")),
        }
    }
}

fn evaluate(rule: &str, this: &Value) -> RuleVerdict {
    Evaluator::default().evaluate(&[&Rule::parse(rule).unwrap()], this, this, &mut Things).remove(0)
}

fn invoice() -> Value {
    json!({
        "number": "R-17", "document": "list.csv", "source": "a.pdf",
        "net": 100, "tax": 19.1, "total": 119.1, "cents": [0.1, 0.2], "currency": "EUR",
        "start": "2024-05-03", "end": "31. Mai 2024", "written": "1.234,56 EUR", "absent": null,
        "lines": [{"id": 1, "amount": 80.5}, {"id": 2, "amount": 19.5}, {"id": 2, "amount": 0}],
        "party": "P-2",
    })
}

#[test]
fn rules_that_hold() {
    for rule in [
        "net + tax == total",
        "sum(lines.map(l, l.amount)) == net",
        "sum(cents) == 0.3",
        "count(lines) == rows(document)",
        "lines.all(l, l.amount >= 0)",
        "date(start) < date(end)",
        "date(end) - date(start) == duration('672h')",
        "number(written) == 1234.56",
        "near(total, 119, 0.2)",
        "total / 2 == 59.55",
        "net * 2 - 50 == 150",
        "text(source, 2).contains('two')",
        "text(source).matches('[0-9],[0-9]{3}')",
        "party in records('output/parties.json', '$.parties[*].id')",
        "unique(lines.map(l, l.amount))",
        "!unique(lines.map(l, l.id))",
        "count(unique(lines.map(l, l.id))) == 2",
        "max(lines.map(l, l.amount)) == 80.5 && min(3, 2.5) == 2.5",
        "absent == null && this.absent == null && missing == null",
        "!has(this.missing) && has(this.net)",
        "currency in ['EUR', 'USD'] ? total > 0 : total < 0",
        "this == file",
        "lines[0] == {'id': 1, 'amount': 80.5}",
        "lines.map(l, l.id) == [1, 2, 2]",
        "lines.filter(l, l.amount > 50).size() == 1",
        "size(lines) == 3 && 'id' in lines[0]",
        "lines.exists_one(l, l.id == 1)",
    ] {
        assert_eq!(evaluate(rule, &invoice()), RuleVerdict::Holds, "{rule}");
    }
}

#[test]
fn rules_that_fail_tell_what_they_saw() {
    for (rule, seen) in [
        ("sum(lines.map(l, l.amount)) == total", "sum(lines.map(l, l.amount)) is 100, total is 119.1"),
        ("net > 0 && (date(end) < date(start))", "date(end) is 2024-05-31, date(start) is 2024-05-03"),
        ("net < 0 || total == 1", "net is 100, total is 119.1"),
        ("lines.all(l, l.amount > 0)", "l 2 is {id: 2, amount: 0}"),
        ("unique(lines.map(l, l.id))", "2 is there more than once"),
        ("currency in ['USD']", "currency is \"EUR\", ['USD'] is 1 element"),
        ("near(total, sum(lines.map(l, l.amount)), 1)", "total is 119.1, sum(lines.map(l, l.amount)) is 100"),
        ("rows(document) == count(cents)", "rows(document) is 3, count(cents) is 2"),
    ] {
        assert_eq!(evaluate(rule, &invoice()), RuleVerdict::Fails(seen.to_owned()), "{rule}");
    }
}

#[test]
fn values_of_another_kind_fail_the_rule() {
    for (rule, why) in [
        ("currency + 1 == 2", "can't be evaluated: +: \"EUR\" + 1 can't be worked out (currency is \"EUR\")"),
        ("absent > 0", "can't be evaluated: '>' doesn't take null_type and int (absent is null)"),
        (
            "sum(lines) == 3",
            "can't be evaluated: sum: element 0 is {id: 1, amount: 80.5}, no number (lines is 3 elements)",
        ),
        ("number(currency) == 1", "can't be evaluated: number: \"EUR\" has no number (currency is \"EUR\")"),
        (
            "date(currency) > date(start)",
            "can't be evaluated: date: \"EUR\" is no date (currency is \"EUR\", start is \"2024-05-03\")",
        ),
        ("this.missing == 1", "can't be evaluated: there is no 'missing'"),
        ("currency", "can't be evaluated: it gives \"EUR\", neither true nor false (currency is \"EUR\")"),
        ("net / absent == 1", "can't be evaluated: /: 100 / null can't be worked out (absent is null, net is 100)"),
        ("net / 0 == 1", "can't be evaluated: /: 100 is divided by zero (net is 100)"),
        ("rows(source) == 1", "can't be evaluated: 'a.pdf' has no table"),
        ("text('b.pdf') == ''", "can't be evaluated: there is no document 'b.pdf'"),
    ] {
        assert_eq!(evaluate(rule, &invoice()), RuleVerdict::Unclear(why.to_owned()), "{rule}");
    }
}

#[test]
fn hostile_rules_are_bounded() {
    let items: Vec<u32> = (0..3_000).collect();
    let file = json!({"items": items, "text": "x".repeat(10 << 20), "words": vec!["y".repeat(1000); 2_000]});
    for rule in [
        "items.all(a, items.all(b, items.all(c, a + b + c >= 0)))",
        "items.map(a, items.map(b, items.map(c, a))).size() > 0",
        "items.map(a, text + text).size() > 0",
        "words.map(a, words.map(b, a + b + a + b)).size() > 0",
        "words.all(w, items.all(i, !text.matches('(x+x+)+y')))",
        "items.map(a, text('a.pdf')).map(b, items.map(c, items.map(d, b))).size() > 0",
    ] {
        let verdict = evaluate(rule, &file);
        assert!(matches!(&verdict, RuleVerdict::Unclear(_)), "{rule}: {verdict:?}");
    }
}

#[test]
fn wrong_rules_are_told_with_their_place() {
    for (rule, line, column, what) in [
        ("net ==", 1, 7, "it ends too early"),
        ("net = 3", 1, 5, "'=' compares nothing; write '=='"),
        ("net > 0 &&\n summe(lines) > 0", 2, 7, "there is no function 'summe'; did you mean 'sum'?"),
        ("near(net, 3)", 1, 5, "'near' takes 3 values, not 2"),
        ("net + tax", 1, 1, "it gives a number or a text, and is no condition"),
        ("'yes'", 1, 1, "it gives one value always, and is no condition"),
        ("", 1, 1, "it is empty"),
        ("a.b.c.C{x: 1} == 2", 1, 8, "there is no type 'a.b.c.C'"),
    ] {
        let error = Rule::parse(rule).unwrap_err();
        assert_eq!((error.at, error.what.as_str()), (crate::rule::Place { line, column }, what), "{rule}");
    }
    let long = format!("{} == 1", "1 + ".repeat(2_000));
    assert!(Rule::parse(&long).is_err());
    assert!(Rule::parse(&format!("{}1{} == 1", "(".repeat(500), ")".repeat(500))).is_err());
    let fields = Rule::parse("net > 0 && lines.all(l, l.a > tax) && this.b == file.c").unwrap();
    assert_eq!(fields.fields().map(|(name, _)| name).collect::<Vec<_>>(), ["lines", "net", "tax"]);
    assert!(!fields.is_of_record_alone() && Rule::parse("net > 0").unwrap().is_of_record_alone());
}

/// Also with the stack of an ordinary thread.
#[test]
fn deep_rules_are_evaluated_or_refused() {
    let nested = |open: &str, inner: &str, close: &str, times: usize| open.repeat(times) + inner + &close.repeat(times);
    let deep = "it has more than 100 expressions within each other";
    let recursion = "it can't be read: ";
    for (rule, refused) in [
        (nested("(", "1 == 1", ")", 90), None),
        (nested("(", "1 == 1", ")", 500), Some(recursion)),
        (nested("[", "net", "].size()", 90) + " == 1", Some(deep)),
        (nested("net + ", "1 < 9", "", 90), None),
        (nested("net + ", "1 < 9", "", 480), Some(deep)),
        (nested("1 == 2 ? false : ", "true", "", 80), None),
        (nested("count(", "lines", ")", 85) + " == 1", None),
        (nested("lines.all(l, ", "true", ")", 20), None),
        (nested("lines.all(l, ", "true", ")", 70), Some(deep)),
        (nested("!", "(1 == 1)", "", 3_000), None),
        (nested("net > 1 && ", "1 == 1", "", 300), None),
        (nested("", "this", ".a", 900) + " == 1", Some(deep)),
    ] {
        match (Rule::parse(&rule), refused) {
            (Ok(read), None) => {
                Evaluator::default().evaluate(&[&read], &invoice(), &invoice(), &mut Things);
            }
            (Err(error), Some(refused)) => assert!(error.what.starts_with(refused), "{rule}: {}", error.what),
            (read, _) => panic!("{rule}: {read:?}"),
        }
    }
}

proptest::proptest! {
    #[test]
    fn hostile_texts_are_rules_or_errors(text in "\\PC{0,40}|[a-c0-9+*/()\\[\\].,'&|!=<>? {}:-]{0,40}") {
        if let Ok(rule) = Rule::parse(&text) {
            let _ = Evaluator::default().evaluate(&[&rule], &invoice(), &invoice(), &mut Things);
        }
    }
}
