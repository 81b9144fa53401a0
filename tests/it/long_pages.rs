//! Pages that are longer than a result: read in parts, counted once, and named as the pages that they are.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::support::{Place, Rested, events, shipped, wait};
use overnight::{model::rules::Offline, runner::JobOutcome};
use overnight_core::job::record::JobStatus;
use serde_json::Value;
use std::{fmt::Write, fs, sync::Arc};

/// Statements `from` to `to`, each in a paragraph with an idle sentence; the number tells them apart.
fn paragraphs(from: u64, to: u64) -> String {
    (from..=to).fold(String::new(), |mut text, n| {
        let _ = write!(
            text,
            "The clerk of office {n} MUST file\nthe receipts of its day before the gate is closed. The weather of that \
             day\nwas fair, and nothing else is known of it.\n\n"
        );
        text
    })
}

fn statement(n: u64) -> String {
    format!("The clerk of office {n} MUST file the receipts of its day before the gate is closed.")
}

fn run(place: &Place, text: &str, budget_tokens: u64) -> Rested {
    let folder = place.folder.path().join("documents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("offices.txt"), text).unwrap();
    let (mut instructions, given) = shipped("extract-requirements");
    instructions.context.budget_tokens = budget_tokens;
    wait(place.run(instructions, &given, &[folder], Arc::new(Offline(None))))
}

/// With lines of its own at both ends: pages that begin or end alike have a running head or foot.
fn chapter(idle: [&str; 2], from: u64, to: u64) -> String {
    let [opening, closing] = idle;
    format!("{opening}\n\n{}{closing}\n", paragraphs(from, to))
}

/// Page and quote of all statements, in their order.
fn found(rested: &Rested) -> Vec<(Option<u64>, String)> {
    let result: Value =
        serde_json::from_str(&fs::read_to_string(rested.path.join("output/requirements.json")).unwrap()).unwrap();
    let all = result["requirements"].as_array().unwrap().iter();
    all.map(|one| (one["page"].as_u64(), one["quote"].as_str().unwrap().to_owned())).collect()
}

/// The lines of page 2 that were shown, in their order: from, to and how many there are.
fn parts(rested: &Rested) -> Vec<(u64, u64, u64)> {
    let shown = events(&rested.path)
        .into_iter()
        .map(|event| event["result"]["shown"].clone())
        .filter(|shown| shown["lines"].is_object());
    let number = |value: &Value| value.as_u64().unwrap();
    shown
        .inspect(|shown| assert_eq!(shown["from"], 2))
        .map(|shown| (number(&shown["lines"]["from"]), number(&shown["lines"]["to"]), number(&shown["lines"]["of"])))
        .collect()
}

fn expected(pages: &[(u64, u64, u64)]) -> Vec<(Option<u64>, String)> {
    pages.iter().flat_map(|&(page, from, to)| (from..=to).map(move |n| (Some(page), statement(n)))).collect()
}

/// Three chapters, the second of which is longer than any result and longer than a todo would otherwise read.
#[test]
fn a_long_chapter_is_a_page_all_the_same() {
    for (budget, last) in [(100_000, 1_240), (80_000, 990)] {
        let text = [
            chapter(["It was a dark night\nin spring.", "Then all was\nstill."], 1, 5),
            chapter(["Nobody had seen\nthe mayor since noon.", "A dog barked,\nfar away."], 6, last),
            chapter(["At last the sun\ncame up.", "So it\nends."], last + 1, last + 3),
        ]
        .join("\x0c");
        let place = wait(Place::new());
        let rested = run(&place, &text, budget);
        assert_eq!(rested.outcome, JobOutcome::Ended(JobStatus::Completed));
        assert_eq!(found(&rested), expected(&[(1, 1, 5), (2, 6, last), (3, last + 1, last + 3)]));
        let parts = parts(&rested);
        let all = parts[0].2;
        let is_shown = |line: u64| parts.iter().any(|&(from, to, of)| (from..=to).contains(&line) && of == all);
        assert!((1..=all).all(is_shown), "{parts:?}");
        // What a part's end cuts is shown again, and no more than that.
        let shown: u64 = parts.iter().map(|(from, to, _)| to + 1 - from).sum();
        assert!(parts.len() > 2 && shown < all + all / 4, "{parts:?}");
    }
}

/// Chapters of one todo, some of which are longer than a result: what was shown whole is not asked for again.
#[test]
fn long_chapters_of_a_todo_are_read_once_each() {
    let text = [
        chapter(["It was a dark night\nin spring.", "Then all was\nstill."], 1, 3),
        chapter(["Nobody had seen\nthe mayor since noon.", "A dog barked,\nfar away."], 4, 640),
        chapter(["In the morning\nit rained.", "Nobody\ncame."], 641, 643),
        chapter(["The next day was\na Sunday.", "The bell\nrang."], 644, 1_283),
        chapter(["The mayor was\nfound.", "He said\nnothing."], 1_284, 1_923),
        chapter(["At last the sun\ncame up.", "So it\nends."], 1_924, 1_926),
    ]
    .join("\x0c");
    let place = wait(Place::new());
    let rested = run(&place, &text, 100_000);
    assert_eq!(rested.outcome, JobOutcome::Ended(JobStatus::Completed));
    let chapters = [(1, 1, 3), (2, 4, 640), (3, 641, 643), (4, 644, 1_283), (5, 1_284, 1_923), (6, 1_924, 1_926)];
    assert_eq!(found(&rested), expected(&chapters));
    let shown: Vec<String> = events(&rested.path)
        .into_iter()
        .map(|event| event["result"]["shown"].clone())
        .filter(Value::is_object)
        .map(|shown| shown.to_string())
        .collect();
    let distinct: std::collections::BTreeSet<&String> = shown.iter().collect();
    assert!(shown.len() > 6 && distinct.len() == shown.len(), "{shown:?}");
}

/// A page that no todo could read to its end would never be done: such a document is counted in lines.
#[test]
fn an_endless_page_is_none() {
    let text = format!("{}\x0c{}", paragraphs(1, 5), paragraphs(6, 300));
    let place = wait(Place::new());
    let rested = run(&place, &text, 12_000);
    assert_eq!(rested.outcome, JobOutcome::Ended(JobStatus::Completed));
    let all = expected(&[(1, 1, 300)]).into_iter().map(|(_, quote)| (None, quote)).collect::<Vec<_>>();
    assert_eq!(found(&rested), all);
}

/// A document that begins with a line of a hundred thousand characters, as data do: what a read gives of that says nothing
/// of the short lines behind it.
#[test]
fn short_lines_behind_a_very_long_one_are_read_many_at_a_time() {
    let text = format!("{}\n\n{}{}", "#".repeat(100_000), "x.\n\n".repeat(10_000), paragraphs(1, 3));
    let place = wait(Place::new());
    let rested = run(&place, &text, 100_000);
    assert_eq!(rested.outcome, JobOutcome::Ended(JobStatus::Completed));
    let quotes: Vec<String> = found(&rested).into_iter().map(|(_, quote)| quote).collect();
    assert_eq!(quotes, [statement(1), statement(2), statement(3)]);
}
