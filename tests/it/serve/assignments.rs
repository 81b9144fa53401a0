//! Who reads which results: dealt out, read by two who don't see each other's words, and how far they agree.

use super::{Served, TestDir, api::Caller, worked};
use reqwest::Method;
use serde_json::{Value, json};

fn assigned(dir: &TestDir, more: &[&str]) -> Value {
    let ran = dir.run_with(&[], &[&["assign", "night", "--json"], more].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn two_people_read_the_same_results_each_by_themselves() {
    let (dir, ids) = worked();
    for (more, error) in [
        (&["--to", "Anna", "--twice", "1"][..], "two people are needed to read the same results: name both with --to"),
        (&["--twice", "1"], "say with --to who is to read them"),
        (&["--from", "Cem", "--to", "Anna"], "Cem has nothing left to read of batch 'night'"),
        (&["--from", "Anna", "--to", "Anna"], "Anna can't get what is taken from Anna: leave one of them out"),
    ] {
        let refused = dir.run_with(&[], &[&["assign", "night"], more].concat());
        assert_eq!((refused.code, refused.stderr), (2, format!("error: {error}\n")));
    }
    let nobody = assigned(&dir, &[]);
    assert_eq!((&nobody["reviewers"], &nobody["agreement"]), (&json!([]), &json!([])));
    let batch = nobody["batch"].as_str().unwrap();

    let served = Served::start(&dir, &[]);
    let [olga, anna, ben] = [("Olga", "operator"), ("Anna", "reviewer"), ("Ben", "reviewer")]
        .map(|(name, role)| Caller::new(&dir, &served, name, role));
    let address = format!("/api/v1/batches/{batch}/assign");
    let wanted = json!({"to": ["Anna", "Ben"], "twice": 2});
    assert_eq!(anna.json(Method::POST, &address, Some(&wanted)).0, 403);
    let (status, dealt) = olga.json(Method::POST, &address, Some(&wanted));
    let mut both: Vec<&str> = ids.iter().map(String::as_str).collect();
    both.sort_unstable();
    let queue = |name: &str| json!({"name": name, "assigned": 2, "judged": 0, "right": 0, "open": both});
    assert_eq!((status, &dealt["reviewers"]), (200, &json!([queue("Anna"), queue("Ben")])));
    assert_eq!(dealt, anna.get(&format!("/api/v1/batches/{batch}/assignments")));
    assert_eq!(dealt, assigned(&dir, &[]));

    let page = |who: &Caller, path: &str| who.send(Method::GET, path, None).text().unwrap();
    let queue = page(&ben, &format!("/batches/{batch}/queue?for=Ben"));
    assert!(
        queue.contains("What <bdi>Ben</bdi> is to read.") && queue.matches("<bdi>Ben</bdi>").count() == 3,
        "{queue}"
    );
    assert!(!page(&ben, &format!("/batches/{batch}/queue?for=Cem")).contains(">plain.md<"));

    let correction = json!({"place": "$.requirements[0].section", "value": "Whatever Anna says"});
    let (status, said) = anna.json(Method::POST, &format!("/api/v1/jobs/{}/correct", ids[0]), Some(&correction));
    assert_eq!(status, 200, "{said}");
    for id in &ids {
        assert_eq!(anna.json(Method::POST, &format!("/api/v1/jobs/{id}/approve"), Some(&json!({}))).0, 200);
    }
    let review = format!("/jobs/{}/review", ids[0]);
    let seen = |who: &Caller| page(who, &review).contains("Whatever Anna says");
    assert_eq!((seen(&anna), seen(&olga), seen(&ben)), (true, true, false));
    assert!(page(&ben, &format!("/batches/{batch}/queue?for=Ben")).contains("<b>2</b> open"));
    for id in &ids {
        assert_eq!(ben.json(Method::POST, &format!("/api/v1/jobs/{id}/approve"), Some(&json!({}))).0, 200);
    }
    assert!(seen(&ben), "what he has to say he has said");
    let done = assigned(&dir, &[]);
    let queue = |name: &str, right: u64| json!({"name": name, "assigned": 2, "judged": 2, "right": right, "open": []});
    assert_eq!(done["reviewers"], json!([queue("Anna", 1), queue("Ben", 2)]));
    let pair = json!({"one": "Anna", "other": "Ben", "results": 2, "equal": 1, "kappa": 0.0});
    assert_eq!(done["agreement"], json!([pair]));
    let told = dir.run_with(&[], &["assign", "night"]).stdout;
    assert!(
        told.contains("Anna and Ben agree on 1 of 2 results that both have judged: Cohen's kappa 0.00\n"),
        "{told}"
    );
}

#[test]
fn what_one_person_has_not_read_goes_to_others() {
    let (dir, ids) = worked();
    let all = assigned(&dir, &["--to", "Anna"]);
    assert_eq!(all["reviewers"][0]["open"].as_array().unwrap().len(), 2);
    assert_eq!(dir.run_with(&[], &["approve", &ids[0], "--as", "Anna", "-q"]).code, 0);
    let moved = assigned(&dir, &["--from", "Anna", "--to", "Ben"]);
    let expected = json!([
        {"name": "Anna", "assigned": 1, "judged": 1, "right": 1, "open": []},
        {"name": "Ben", "assigned": 1, "judged": 0, "right": 0, "open": [ids[1]]},
    ]);
    assert_eq!(moved["reviewers"], expected);
}

#[test]
fn what_one_of_two_has_not_read_goes_to_a_third() {
    let (dir, mut ids) = worked();
    ids.sort_unstable();
    assigned(&dir, &["--to", "Anna", "Ben", "--twice", "2"]);
    assert_eq!(dir.run_with(&[], &["approve", &ids[0], "--as", "Ben", "-q"]).code, 0);
    let row = |name: &str, judged: usize, open: &[String]| json!({"name": name, "assigned": judged + open.len(), "judged": judged, "right": judged, "open": open});
    // Ben has both already, so that Anna's are left to him alone.
    let moved = assigned(&dir, &["--from", "Anna", "--to", "Ben"]);
    assert_eq!((&moved["reviewers"], &moved["lack_second"]), (&json!([row("Ben", 1, &ids[1..])]), &json!(ids)));
    let told = dir.run_with(&[], &["assign", "night"]).stdout;
    assert!(
        told.contains("\n2 results that two are to read: only one has it. Name somebody else with --to\n"),
        "{told}"
    );
    // The next one named gets them, also the one that Ben has approved.
    let dealt = assigned(&dir, &["--to", "Ben", "Cem"]);
    let expected = json!([row("Ben", 1, &ids[1..]), row("Cem", 0, &ids)]);
    assert_eq!((&dealt["reviewers"], &dealt["lack_second"]), (&expected, &json!([])));
    // What one person holds alone is still for two.
    assigned(&dir, &["--from", "Cem", "--to", "Ben"]);
    let dealt = assigned(&dir, &["--from", "Ben", "--to", "Anna", "Cem"]);
    let expected = json!([row("Anna", 0, &ids), row("Ben", 1, &[]), row("Cem", 0, &ids[1..])]);
    assert_eq!((&dealt["reviewers"], &dealt["lack_second"]), (&expected, &json!([])));
}
