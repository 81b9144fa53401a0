//! The offline model on the samples, measured against their true contents.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::support::{Place, Rested, samples, shipped, wait};
use overnight::{job::record::JobStatus, model::offline::Offline, runner::Outcome};
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

#[derive(Deserialize)]
struct Truth {
    documents: Vec<TrueDocument>,
    audit: Vec<TrueFinding>,
}

#[derive(Deserialize)]
struct TrueDocument {
    name: String,
    statements: Vec<TrueStatement>,
}

#[derive(Deserialize)]
struct TrueStatement {
    section: String,
    page: Option<u64>,
    strength: String,
    quote: String,
}

#[derive(Deserialize)]
struct TrueFinding {
    standard: String,
    quote: String,
    verdict: String,
}

fn truth() -> Truth {
    serde_yaml::from_str(&std::fs::read_to_string(samples().join("truth.yaml")).unwrap()).unwrap()
}

fn run(name: &str) -> Rested {
    wait(async {
        let place = Place::new().await;
        let (instructions, text) = shipped(name);
        let rested = place.run(instructions, &text, &[samples()], Arc::new(Offline)).await;
        assert_eq!(rested.outcome, Outcome::Ended(JobStatus::Completed), "{:?}", rested.job.ended());
        // The folder goes with the place; what is compared is read before.
        let kept = place.folder.keep();
        let _ = kept;
        rested
    })
}

fn output(rested: &Rested, file: &str) -> Value {
    serde_json::from_slice(&std::fs::read(rested.path.join("output").join(file)).unwrap()).unwrap()
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn extraction_agrees_with_the_samples_true_contents() {
    let rested = run("extract-requirements");
    let found = output(&rested, "requirements.json");
    let key = |document: &str, page: Option<u64>, section: &str, strength: &str, quote: &str| {
        format!(
            "{document} | {} | {} | {strength} | {}",
            page.map_or(String::new(), |page| page.to_string()),
            folded(section),
            folded(quote)
        )
    };
    let found: BTreeSet<String> = found["requirements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let text = |name: &str| one[name].as_str().unwrap_or_default();
            key(text("document"), one["page"].as_u64(), text("section"), text("strength"), text("quote"))
        })
        .collect();
    let expected: BTreeSet<String> = truth()
        .documents
        .iter()
        .flat_map(|document| {
            document.statements.iter().map(|one| key(&document.name, one.page, &one.section, &one.strength, &one.quote))
        })
        .collect();
    let agreed = found.intersection(&expected).count();
    let missed: Vec<&String> = expected.difference(&found).collect();
    let wrong: Vec<&String> = found.difference(&expected).collect();
    let report = format!("{agreed} agreed\nmissed: {missed:#?}\nwrong: {wrong:#?}");
    assert!(agreed * 100 >= expected.len() * 98, "recall under 0.98: {report}");
    assert!(agreed * 100 >= found.len() * 98, "precision under 0.98: {report}");
}

#[test]
fn audit_agrees_with_the_samples_true_verdicts() {
    let rested = run("audit-policy");
    let findings = output(&rested, "findings.json");
    let findings = findings["findings"].as_array().unwrap();
    let mut wrong = Vec::new();
    let expected = truth().audit;
    for one in &expected {
        let found = findings.iter().find(|finding| {
            finding["standard"] == one.standard.as_str()
                && folded(finding["standard_quote"].as_str().unwrap()) == folded(&one.quote)
        });
        let verdict = found.map_or("not found", |finding| finding["verdict"].as_str().unwrap());
        let agrees = verdict == one.verdict || (verdict == "partial" && one.verdict == "covered");
        if !agrees {
            wrong.push(format!(
                "{verdict} instead of {}: {} -- {:?}",
                one.verdict,
                one.quote,
                found.map(|f| f["policy_quote"].clone())
            ));
        }
    }
    // Word rules can't read meaning; four in five is what they reach, and what this holds them to.
    assert!(wrong.len() * 5 <= expected.len(), "{} of {} verdicts are wrong: {wrong:#?}", wrong.len(), expected.len());
}

#[test]
fn summary_has_a_section_for_every_document() {
    let rested = run("summarize-documents");
    let summary = std::fs::read_to_string(rested.path.join("output/summary.md")).unwrap();
    let headings: Vec<&str> = summary.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(
        headings,
        [
            "policies/archive-handling-policy.md",
            "policies/digitisation-policy.docx",
            "policies/incident-handbook.txt",
            "policies/remote-access-policy.html",
            "standards/cold-storage.md",
            "standards/equipment-checks.xlsx",
            "standards/reading-rooms.pdf",
            "standards/transfer-protocol.txt",
            "standards/vault-monitoring.html",
            "All documents",
            "How this was made",
        ]
    );
}

#[test]
fn odd_names_are_read_like_any_other() {
    let documents = tempfile::tempdir().unwrap();
    let names = [
        " lead.txt",
        "a  b.txt",
        "a`b.txt",
        "`[1-2, 3].md",
        "100% of it.md",
        "日本 語.md",
        "It's \"so\" (2 lines).txt",
    ];
    for name in names {
        std::fs::write(documents.path().join(name), "A clerk must sign.\n").unwrap();
    }
    wait(async {
        let place = Place::new().await;
        let (instructions, text) = shipped("extract-requirements");
        let rested = place.run(instructions, &text, &[documents.path().to_owned()], Arc::new(Offline)).await;
        assert_eq!(rested.outcome, Outcome::Ended(JobStatus::Completed), "{:?}", rested.job.ended());
        let found = output(&rested, "requirements.json");
        let found: BTreeSet<&str> =
            found["requirements"].as_array().unwrap().iter().map(|one| one["document"].as_str().unwrap()).collect();
        assert_eq!(found, BTreeSet::from(names));
    });
}

/// A list of several parts is read; one that the context can't hold ends the job with the reason, and at once.
#[test]
fn thousands_of_documents_are_listed_or_refused() {
    let documents = tempfile::tempdir().unwrap();
    let make = |count: usize, name: &str| {
        for number in 0..count {
            std::fs::write(documents.path().join(format!("{name}{number:04}.txt")), "").unwrap();
        }
    };
    std::fs::write(documents.path().join("rules.txt"), "A clerk must sign.\n").unwrap();
    let run = || {
        wait(async {
            let place = Place::new().await;
            let (instructions, text) = shipped("extract-requirements");
            place.run(instructions, &text, &[documents.path().to_owned()], Arc::new(Offline)).await
        })
    };
    make(1_000, "d");
    let rested = run();
    assert_eq!(rested.outcome, Outcome::Ended(JobStatus::Completed), "{:?}", rested.job.ended());
    make(2_000, &"a name that says what the document is about ".repeat(4));
    let rested = run();
    assert_eq!(rested.outcome, Outcome::Ended(JobStatus::Blocked));
    assert_eq!(
        rested.job.ended().unwrap().reason.as_deref(),
        Some(
            "the documents are too many, or too long, for these rules to keep their list and the plan for them in sight: \
             divide them among several jobs (submit --each makes a job of each)"
        )
    );
    assert!(rested.job.totals.spent.turns < 20);
}
