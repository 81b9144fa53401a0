//! The queue of a batch of families: a contract whose amendment no record quotes is not without doubt.

use super::{Served, jobs, queue_rows};
use crate::cli_run::TestDir;
use reqwest::{StatusCode, header::LOCATION};

#[test]
fn an_amendment_that_no_record_quotes_is_a_doubt() {
    let dir = TestDir::new();
    for (name, amendment) in [("lease", "The rent is 9 from May on."), ("order", "The buyer must pay in May.")] {
        dir.put(&format!("many/{name}/contract.md"), "The buyer must pay in June.\n");
        dir.put(&format!("many/{name}/amendment-1.md"), format!("{amendment}\n"));
    }
    let submitted = ["submit", "extract-requirements", "-d", "many", "--each", "family", "--batch", "night", "-q"];
    assert_eq!(dir.run_with(&[], &submitted).code, 0);
    assert_eq!(dir.run_with(&[], &["work", "--until-empty", "-q"]).code, 0);
    let batch = format!("/batches/{}", jobs(&dir)[0]["batch"].as_str().unwrap());
    let served = Served::start(&dir, &["--as", "Ann"]);
    let row = |name: &str, to_do: &str, records: &str| [name, to_do, records].map(str::to_owned);
    let queue = || queue_rows(&served.page(&format!("{batch}/queue")));
    let lease =
        |to_do| row("lease/contract.md and 1 more", to_do, "1 record, 1 document not quoted, 1 field not there");
    let order = |to_do| row("order/contract.md and 1 more", to_do, "2 records, no doubts, 2 fields not there");
    assert_eq!(queue(), [lease("open"), order("open")]);
    let approve = |jobs: &str| served.post(&format!("{batch}/approve"), &[("jobs", jobs)]).send().unwrap().status();
    assert_eq!([approve("2"), approve("1")], [StatusCode::CONFLICT, StatusCode::SEE_OTHER]);
    assert_eq!(queue(), [lease("open"), order("approved")]);
    // Its page tells which, and shows it.
    let next = served.get(&format!("{batch}/next"));
    let review = served.page(next.headers()[LOCATION].to_str().unwrap());
    let told = "no record quotes <bdi>lease/amendment-1.md</bdi>";
    assert!(review.contains(told) && review.contains("The rent is 9 from May on."), "{review}");
}

#[test]
fn a_field_that_all_others_have_is_a_doubt() {
    let dir = TestDir::new();
    for name in ["a", "b", "c", "d", "e"] {
        let heading = if name == "c" { "" } else { "# Orders\n\n" };
        dir.put(&format!("many/{name}.md"), format!("{heading}The buyer must pay.\n"));
    }
    let submitted = ["submit", "extract-requirements", "-d", "many", "--each", "--batch", "night", "-q"];
    assert_eq!(dir.run_with(&[], &submitted).code, 0);
    assert_eq!(dir.run_with(&[], &["work", "--until-empty", "-q"]).code, 0);
    let batch = format!("/batches/{}", jobs(&dir)[0]["batch"].as_str().unwrap());
    let served = Served::start(&dir, &["--as", "Ann"]);
    let page = served.page(&format!("{batch}/queue"));
    let told = ["Approve the 4 without a doubt", "section is not there, and 4 other documents have it"];
    assert_eq!(told.map(|told| page.matches(told).count()), [1, 1]);
    assert_eq!(queue_rows(&page)[0], ["c.md", "open", "1 record, 1 field not there"].map(str::to_owned));
}
