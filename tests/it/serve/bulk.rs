//! One action on all jobs that a list shows: asked first, with their number, and refused when that has changed.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{Served, jobs};
use crate::cli_run::TestDir;
use reqwest::{StatusCode, blocking::Response, header::LOCATION};
use std::collections::BTreeMap;

const BATCH: [&str; 8] = ["submit", "extract-requirements", "-d", "many", "--each", "--batch", "night", "-q"];

/// How many jobs there are in each state.
fn states(dir: &TestDir) -> BTreeMap<String, usize> {
    let mut states = BTreeMap::new();
    for job in jobs(dir) {
        let hold = job["hold_reason"].as_str().map(|reason| format!(" ({reason})")).unwrap_or_default();
        *states.entry(format!("{}{hold}", job["status"].as_str().unwrap())).or_default() += 1;
    }
    states
}

fn are(expected: &[(&str, usize)]) -> BTreeMap<String, usize> {
    expected.iter().map(|(state, jobs)| ((*state).to_owned(), *jobs)).collect()
}

/// Address and words of each action that a page has.
fn actions(page: &str) -> Vec<(String, String)> {
    let line = page.split("<p class=\"actions\"").nth(1).unwrap().split("</p>").next().unwrap();
    let links = line.split("href=\"").skip(1).map(|link| {
        let (address, rest) = link.split_once("\">").unwrap();
        (address.replace("&#38;", "&"), rest.split('<').next().unwrap().to_owned())
    });
    links.collect()
}

fn words(page: &str) -> Vec<String> {
    actions(page).into_iter().map(|(_, words)| words).collect()
}

fn told(served: &Served, answer: &Response) -> String {
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let page = served.page(answer.headers()[LOCATION].to_str().unwrap());
    let told = page.split("<p class=\"told\" role=\"status\">").nth(1).unwrap();
    told.split('<').next().unwrap().to_owned()
}

#[test]
fn what_a_list_shows_is_retried_paused_resumed_and_cancelled_at_once() {
    let dir = TestDir::new();
    for name in ["a", "b", "c"] {
        dir.put(&format!("many/{name}.md"), format!("# {name}\n\nThe supplier must deliver {name}.\n"));
    }
    assert_eq!(dir.run(&[&BATCH[..], &["--max-attempts", "1"]].concat()).code, 0);
    let served = Served::start(&dir, &["--as", "Ann"]);
    let batch = format!("/batches/{}", jobs(&dir)[0]["batch"].as_str().unwrap());
    let post = |path: &str, count: &str| served.post(path, &[("jobs", count)]).send().unwrap();

    assert_eq!(words(&served.page(&batch)), ["Pause the 3 queued or running", "Cancel the 3 that have not ended"]);
    let pause = format!("{batch}/bulk/pause?");
    let asked = served.page(&pause);
    let parts = ["Pause the 3 queued or running?", "Of the batch&#39;s jobs: 3 queued.", "name=\"jobs\" value=\"3\""];
    assert!(parts.iter().all(|part| asked.contains(part)), "{asked}");
    assert_eq!(states(&dir), are(&[("queued", 3)]), "asking does nothing");

    let refused = post(&pause, "2");
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let sentence =
        "Nothing was done: the list has changed since the page was made, and it would be 3 jobs now instead of 2.";
    assert!(refused.text().unwrap().contains(sentence));
    assert_eq!(states(&dir), are(&[("queued", 3)]));
    assert_eq!(told(&served, &post(&pause, "3")), "3 jobs: held (paused).");
    assert_eq!(states(&dir), are(&[("held (paused)", 3)]));

    // Of those that the filter shows only.
    let filtered = served.page(&format!("{batch}?q=a.md"));
    let links = actions(&filtered);
    assert_eq!(links[0], (format!("{batch}/bulk/resume?q=a.md"), "Resume the 1 paused".to_owned()));
    assert_eq!(told(&served, &post(&links[0].0, "1")), "1 job: queued again, for a worker to take.");
    assert_eq!(states(&dir), are(&[("held (paused)", 2), ("queued", 1)]));
    let cancel = format!("{batch}/bulk/cancel?q=b.md");
    assert_eq!(told(&served, &post(&cancel, "1")), "1 job: cancelled.");
    assert_eq!(states(&dir), are(&[("cancelled", 1), ("held (paused)", 1), ("queued", 1)]));
    assert_eq!(told(&served, &post("/bulk/resume?status=held", "1")), "1 job: queued again, for a worker to take.");

    // What has failed is worked once more.
    for name in ["a", "c"] {
        std::fs::rename(dir.path().join(format!("many/{name}.md")), dir.path().join(name)).unwrap();
    }
    assert_eq!(dir.run(&["work", "--until-empty", "-q"]).code, 3);
    assert_eq!(states(&dir), are(&[("cancelled", 1), ("failed", 2)]));
    for name in ["a", "c"] {
        std::fs::rename(dir.path().join(name), dir.path().join(format!("many/{name}.md"))).unwrap();
    }
    let failed = served.page(&format!("{batch}?status=failed"));
    assert_eq!(words(&failed), ["Retry the 2 failed"]);
    let retry = &actions(&failed)[0].0;
    assert_eq!(told(&served, &post(retry, "2")), "2 jobs: queued again, for a worker to take.");
    assert_eq!(post(retry, "2").status(), StatusCode::CONFLICT, "none has failed any more");
    assert_eq!(dir.run(&["work", "--until-empty", "-q"]).code, 0);
    assert_eq!(states(&dir), are(&[("cancelled", 1), ("completed", 2)]));
    assert_eq!(words(&served.page(&batch)), [""; 0]);
}

#[test]
fn who_may_not_acts_on_nothing() {
    let dir = TestDir::new();
    dir.put("many/a.md", "# A\n\nThe supplier must deliver.\n");
    assert_eq!(dir.run(&BATCH).code, 0);
    let batch = format!("/batches/{}", jobs(&dir)[0]["batch"].as_str().unwrap());
    let cancel = format!("{batch}/bulk/cancel");
    let served = Served::start(&dir, &["--as", "Ann"]);
    let foreign = served.form(&cancel, &[("token", "x"), ("jobs", "1")]).header("cookie", served.cookie());
    assert_eq!(foreign.send().unwrap().status(), StatusCode::FORBIDDEN);
    for nowhere in ["/bulk/delete", "/bulk/cancel?status=odd", "/batches/x/bulk/cancel"] {
        assert_eq!(served.get(nowhere).status(), StatusCode::NOT_FOUND, "{nowhere}");
    }
    let reading = Served::start(&dir, &["--read-only"]);
    assert_eq!(words(&reading.page(&batch)), [""; 0]);
    assert_eq!(reading.get(&cancel).status(), StatusCode::FORBIDDEN);
    let posted = reading.form(&cancel, &[("jobs", "1")]).bearer_auth(&reading.token);
    assert_eq!(posted.send().unwrap().status(), StatusCode::FORBIDDEN);
    assert_eq!(states(&dir), are(&[("queued", 1)]));
}
