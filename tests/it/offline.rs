//! The offline model: the three shipped jobs on the samples, measured against their true contents, and lists of documents.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::support::{Place, Rested, samples, shipped, wait};
use overnight::{model::rules::Offline, runner::JobOutcome};
use overnight_core::job::record::JobStatus;
use serde_json::Value;
use std::{collections::BTreeSet, path::Path, sync::Arc};

fn run(place: &Place, name: &str, documents: &Path) -> Rested {
    let (instructions, text) = shipped(name);
    wait(place.run(instructions, &text, &[documents.to_owned()], Arc::new(Offline(None))))
}

/// A list of a completed job's result file. Quotes that don't stand in their documents are not completed.
fn entries(place: &Place, name: &str, documents: &Path, (file, list): (&str, &str)) -> Vec<Value> {
    let rested = run(place, name, documents);
    assert_eq!(rested.outcome, JobOutcome::Ended(JobStatus::Completed), "{:?}", rested.job.ended());
    let file = std::fs::read(rested.path.join("output").join(file)).unwrap();
    serde_json::from_slice::<Value>(&file).unwrap()[list].as_array().unwrap().clone()
}

/// What the samples hold, as a list of `truth.yaml` says it.
fn truth(list: &str) -> Vec<Value> {
    let truth: Value = serde_yaml::from_str(&std::fs::read_to_string(samples().join("truth.yaml")).unwrap()).unwrap();
    truth[list].as_array().unwrap().clone()
}

fn folded(text: &Value) -> String {
    text.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn most_statements_of_the_samples_are_found_and_little_else() {
    let found = entries(&wait(Place::new()), "extract-requirements", &samples(), ("requirements.json", "requirements"));
    let key = |document: &Value, one: &Value| (folded(document), folded(&one["strength"]), folded(&one["quote"]));
    let found: BTreeSet<_> = found.iter().map(|one| key(&one["document"], one)).collect();
    let each =
        |one: &Value| one["statements"].as_array().unwrap().iter().map(|it| key(&one["name"], it)).collect::<Vec<_>>();
    let expected: BTreeSet<_> = truth("documents").iter().flat_map(each).collect();
    for (percent, endings) in [(90, &["md", "html", "txt"][..]), (80, &["md", "html", "txt", "pdf", "docx", "xlsx"])] {
        let is_meant = |one: &&(String, String, String)| endings.iter().any(|ending| one.0.ends_with(ending));
        let agreed = found.intersection(&expected).filter(is_meant).count();
        let all = [&found, &expected].map(|set| set.iter().filter(is_meant).count());
        let wrong: Vec<_> = found.symmetric_difference(&expected).filter(is_meant).collect();
        assert!(all.iter().all(|all| agreed * 100 >= all * percent), "{agreed} of {all:?} agree, and not {wrong:#?}");
    }
}

/// Rules on words can't read meaning; they are held to four verdicts in five, `partial` being as good as `covered`.
#[test]
fn most_verdicts_on_the_samples_agree() {
    let found = entries(&wait(Place::new()), "audit-policy", &samples(), ("findings.json", "findings"));
    let expected = truth("audit");
    let is_wrong = |one: &&Value| {
        let same = |finding: &&Value| {
            finding["standard"] == one["standard"] && folded(&finding["standard_quote"]) == folded(&one["quote"])
        };
        let verdict = found.iter().find(same).map_or("", |finding| finding["verdict"].as_str().unwrap());
        verdict != one["verdict"] && !(verdict == "partial" && one["verdict"] == "covered")
    };
    let wrong: Vec<&Value> = expected.iter().filter(is_wrong).collect();
    assert!(wrong.len() * 5 <= expected.len(), "{} of {} verdicts are wrong: {wrong:#?}", wrong.len(), expected.len());
}

#[test]
fn summary_has_a_section_for_every_document() {
    let place = wait(Place::new());
    let rested = run(&place, "summarize-documents", &samples());
    assert_eq!(rested.outcome, JobOutcome::Ended(JobStatus::Completed));
    let summary = std::fs::read_to_string(rested.path.join("output/summary.md")).unwrap();
    let headings: Vec<&str> = summary.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let documents: Vec<String> = rested.job.spec.documents.iter().map(|document| document.name.clone()).collect();
    assert_eq!(headings[..headings.len() - 1], documents);
}

#[test]
fn odd_names_are_read_like_any_other() {
    let documents = tempfile::tempdir().unwrap();
    let names = [
        " lead.txt",
        "a  b.txt",
        "a`b.txt",
        "`[1-2].md",
        "100% of it.md",
        "日本 語.md",
        "a-b.md",
        "a_b.md",
        "__.._.._.._b.md",
        "It's \"so\" (2 lines).txt",
        "Notes, about 0 tokens, of 2020.md",
    ];
    for name in names {
        std::fs::write(documents.path().join(name), "A clerk must sign.\n").unwrap();
    }
    let found =
        entries(&wait(Place::new()), "extract-requirements", documents.path(), ("requirements.json", "requirements"));
    let found: BTreeSet<&str> = found.iter().map(|one| one["document"].as_str().unwrap()).collect();
    assert_eq!(found, BTreeSet::from(names));
}

/// The first todo of each phase is begun from the board of planning, which shows it whole, however many documents it names.
#[test]
fn todos_of_many_documents_are_read_in_every_phase() {
    let documents = tempfile::tempdir().unwrap();
    let names: BTreeSet<String> =
        (0..80).map(|number| format!("what-a-clerk-of-room-{number}-does-each-day.txt")).collect();
    for name in &names {
        std::fs::write(documents.path().join(name), format!("The clerk of {name} must sign.\n")).unwrap();
    }
    let found =
        entries(&wait(Place::new()), "extract-requirements", documents.path(), ("requirements.json", "requirements"));
    let found: BTreeSet<String> = found.iter().map(|one| one["document"].as_str().unwrap().to_owned()).collect();
    assert_eq!(found, names);
}

/// What one read doesn't show of a document is read by the next, and what stands behind it is read once.
#[test]
fn a_long_document_before_short_ones_is_read_without_going_in_circles() {
    let documents = tempfile::tempdir().unwrap();
    let long = "It rained all day, and the clerk looked at the rain.\n\n".repeat(15_000) + "A clerk must sign.\n";
    std::fs::write(documents.path().join("a.md"), long).unwrap();
    for number in 0..15 {
        std::fs::write(documents.path().join(format!("b{number}.md")), "A clerk must sign.\n").unwrap();
    }
    let rested = run(&wait(Place::new()), "extract-requirements", documents.path());
    assert_eq!(rested.outcome, JobOutcome::Ended(JobStatus::Completed), "{:?}", rested.job.ended());
    assert_eq!(rested.job.early_ends.in_all, 0);
}

/// A list of several parts is read; one that no prompt can hold ends the job with the reason, and at once.
#[test]
fn many_documents_are_listed_or_refused() {
    let documents = tempfile::tempdir().unwrap();
    let make = |count: usize, name: &str| {
        for number in 0..count {
            std::fs::write(documents.path().join(format!("{name}{number:04}.txt")), "").unwrap();
        }
    };
    std::fs::write(documents.path().join("rules.txt"), "A clerk must sign.\n").unwrap();
    make(300, "d");
    let place = wait(Place::new());
    let rested = run(&place, "extract-requirements", documents.path());
    assert_eq!(rested.outcome, JobOutcome::Ended(JobStatus::Completed), "{:?}", rested.job.ended());
    make(2_000, &"a name that says what the document is about ".repeat(4));
    let rested = run(&place, "extract-requirements", documents.path());
    assert_eq!(rested.outcome, JobOutcome::Ended(JobStatus::Blocked));
    let reason = rested.job.ended().unwrap().reason.clone().unwrap();
    assert!(reason.starts_with("what list_documents shows is too long for these rules"), "{reason}");
    assert!(rested.job.totals.spent.turns < 20);
}
