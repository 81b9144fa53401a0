//! (g) What forty rules over five thousand records take at a write, the first time and after one record was changed; and a join
//! of two tables with a hundred thousand rows, in this process.

use crate::{
    measure::{median, ms, timed},
    table,
};
use overnight::table_query::{TableQuery, TableText, answer};
use overnight_core::job::{
    contract::{QuoteQuery, QuoteResult, RuleMemory, check_deliverable},
    instructions::{CheckLevel, Deliverable, ValueCheck},
};
use serde_json::{Value, json};
use std::fmt::Write;

const RECORDS: u64 = 5_000;
const RULES: u64 = 40;
/// Milliseconds.
const LIMIT: f64 = 200.0;
const ROWS: u64 = 100_000;
/// Seconds.
const QUERY_LIMIT: f64 = 2.0;

/// Sums, dates, and comparisons of one record, and one rule over all.
fn deliverable() -> Deliverable {
    let rules = (0..RULES - 1).map(|number| match number % 4 {
        0 => format!("sum(lines.map(l, l.amount)) + {number} == total + {number}"),
        1 => format!("date(due) >= date(issued) && total > -{number}"),
        2 => format!("number.startsWith('R-') && lines.size() > 0 && {number} > 0"),
        _ => format!("near(net + tax, total, 0.01) || total < {number}"),
    });
    let mut checks: Vec<ValueCheck> = rules
        .map(|rule| ValueCheck { rule, each: Some("$.items[*]".to_owned()), message: None, level: CheckLevel::Fail })
        .collect();
    let all = "unique(items.map(i, i.number))".to_owned();
    checks.push(ValueCheck { rule: all, each: None, message: None, level: CheckLevel::Fail });
    Deliverable { path: "output/items.json".to_owned(), checks, ..Deliverable::default() }
}

fn record(number: u64) -> Value {
    let net = number as f64 + 0.25;
    json!({
        "number": format!("R-{number}"), "issued": "2024-05-03", "due": "3. Juni 2024", "net": net, "tax": 0.5, "total": net + 0.5,
        "lines": [{"item": "Desk", "amount": number}, {"item": "Lamp", "amount": 0.75}], "document": "a.pdf",
    })
}

pub(crate) fn measure() {
    let deliverable = deliverable();
    let mut records: Vec<Value> = (0..RECORDS).map(record).collect();
    let mut memory = RuleMemory::default();
    let mut check = |records: &[Value]| {
        let content = json!({ "items": records }).to_string();
        let mut found = |_: QuoteQuery<'_>| QuoteResult::Found;
        let (checked, wall, _) =
            timed(|| check_deliverable(&deliverable, Some(content.as_bytes()), &mut found, &mut memory));
        assert!(checked.checks.iter().all(|check| check.passed), "{:?}", checked.checks);
        wall
    };
    let first = check(&records);
    table::limited(format!("{RULES} rules over {RECORDS} records, the first time"), ms(first), LIMIT, "ms");
    let times = (0..5).map(|turn| {
        records[turn] = record(RECORDS + turn as u64);
        check(&records)
    });
    let again = median(times.collect());
    table::limited("the same, when one record is another one", ms(again), LIMIT, "ms");
    let mut orders = "id,customer,amount,day\n".to_owned();
    (0..ROWS).for_each(|id| writeln!(orders, "{id},{},{}.50,2024-05-{:02}", id % 1_000, id, id % 28 + 1).unwrap());
    let mut customers = "id,name\n".to_owned();
    (0..1_000).for_each(|id| writeln!(customers, "{id},Customer {id}").unwrap());
    let text = |text: &str, name: &str| TableText {
        format: "CSV".to_owned(),
        bytes: text.len() as u64,
        tables: vec![Some(name.to_owned())],
    };
    let sql = "select name, sum(amount) as total, count(*) from orders join customers on customer = customers.id \
               group by name order by total desc limit 5";
    let texts = vec![text(&orders, "orders"), text(&customers, "customers")];
    let query = TableQuery { sql: sql.to_owned(), texts };
    let (answered, wall, _) = timed(|| answer(&query, (orders + &customers).as_bytes()).unwrap());
    assert_eq!((answered.rows.len(), answered.rows[0][2].as_str()), (5, "100"));
    table::limited("a join of two tables with 100,000 rows", wall.as_secs_f64(), QUERY_LIMIT, "s");
}
