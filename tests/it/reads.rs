//! `read_document`, `read_file` and `list_documents` as the model calls them: how much they show, and what they say of it.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::support::{Place, events, shipped, wait};
use overnight::{
    model::{Model, rules::Offline, scripted::Scripted},
    runner::load,
    tool::{DocumentCache, bounded, read},
    workspace::Workspace,
};
use overnight_core::{
    amount::grouped,
    answer,
    job::{
        arguments::{ListDocuments, ReadDocument, ReadFile},
        call::ReadCall,
        coverage::Coverage,
        event::CallEnd,
    },
    prompt::{bounds::ResultBound, measure::room},
    tokens::estimate,
    wording::is_said,
};
use serde_json::{Value, json};
use std::{fs, path::PathBuf, sync::Arc};

/// A job with these documents, not begun.
struct TestDir {
    place: Place,
    path: PathBuf,
}

impl TestDir {
    fn new(documents: &[(&str, &str)], model: &Arc<dyn Model>, budget_tokens: u64) -> Self {
        let place = wait(Place::new());
        let folder = place.folder.path().join("docs");
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in documents {
            fs::write(folder.join(name), text).unwrap();
        }
        let (mut instructions, text) = shipped("extract-requirements");
        instructions.context.budget_tokens = budget_tokens;
        let path = place.make(instructions, &text, &[folder], model);
        Self { place, path }
    }

    /// The result of a call as the conversation gets it.
    fn read(&self, call: &ReadCall, bound: ResultBound) -> (CallEnd, String) {
        let job = load(&self.path).unwrap().job;
        let workspace = Workspace::open(&self.path).unwrap();
        let result =
            read(&job.spec, &Coverage::default(), &workspace, (&mut DocumentCache::default(), None), call, bound);
        let result = bounded(bound, &workspace, "call_1_1", call, result).unwrap();
        (result.end, result.text)
    }

    fn document(&self, name: &str, (from, to, line): (u64, u64, u64), bound: ResultBound) -> (CallEnd, String) {
        let given = |number: u64| Some(number).filter(|number| *number > 0);
        let wanted = ReadDocument { name: name.to_owned(), from: given(from), to: given(to), line: given(line) };
        self.read(&ReadCall::ReadDocument(wanted), bound)
    }

    /// What a read says behind the text.
    fn said(&self, name: &str, asked: (u64, u64, u64), bound: ResultBound) -> String {
        let (end, text) = self.document(name, asked, bound);
        assert_eq!(end, CallEnd::Done, "{text}");
        assert!(estimate(&text) <= bound.most_whole(), "{} of {bound:?}: {text}", estimate(&text));
        let (_, said) = text.rsplit_once("</document ").unwrap();
        said.split_once('>').unwrap().1.trim_start().to_owned()
    }
}

fn offline() -> Arc<dyn Model> {
    Arc::new(Offline(None))
}

/// Eight pages of 400 tokens each, in lines of ten; no two pages begin or end alike.
fn pages() -> String {
    let page = |page: u64| {
        (1..=40)
            .map(|line| format!("{:.<39}\n", format!("Page {page} has the line {line} ")))
            .collect::<Vec<_>>()
            .concat()
    };
    (1..=8).map(page).collect::<Vec<String>>().join("\x0c")
}

/// So many lines of ten tokens each.
fn lines(count: u64) -> String {
    (1..=count).map(|line| format!("The line {line:03} of this text has 10 tokens\n")).collect::<Vec<_>>().concat()
}

const NUMBERS: &str = ", line numbers included";

/// How much of what was asked for is shown, where a read's share sets the bound.
fn bounded_part(shown: u64, of: u64, most: u64, numbers: &str) -> String {
    let (shown, of, most) = (grouped(shown), grouped(of), grouped(most));
    answer!("part.bounded", shown, of, most, numbers)
}

/// What is said of a read that shows a part only.
fn shown(what: &str, part: &str, call: &str) -> String {
    answer!("part.shown", what, part, call)
}

/// The words that tell a part which the results before it have made small.
fn crowded_words() -> String {
    let part = answer!("part.crowded", shown = "", of = "|", most = "|", numbers = "");
    part.split('|').nth(1).unwrap().to_owned()
}

#[test]
fn a_document_that_fits_comes_whole_in_one_call() {
    let dir = TestDir::new(&[("a.txt", &pages())], &offline(), 100_000);
    let mut job = load(&dir.path).unwrap().job;
    let call = ReadCall::ReadDocument(ReadDocument { name: "a.txt".to_owned(), from: None, to: None, line: None });
    // What the system reads for the first opening may have a quarter.
    assert_eq!(ResultBound::of(&job.spec, &job.own, &call).share, room(&job.spec) / 4);
    job.own.epoch.number = 1;
    let bound = ResultBound::of(&job.spec, &job.own, &call);
    let fifth = room(&job.spec) / 5;
    // A reply may bring as much as fills the room to 85 %, with all that was said before.
    assert_eq!((bound.share, bound.left), (fifth, room(&job.spec) * 85 / 100 - job.own.epoch.tokens()));
    assert!(fifth > 17_000, "{fifth}");
    assert_eq!(dir.said("a.txt", (0, 0, 0), bound), answer!("document.end"));
    let file = ReadCall::ReadFile(ReadFile { path: "workspace.md".to_owned(), offset: None, limit: None });
    assert_eq!(ResultBound::of(&job.spec, &job.own, &file).share, room(&job.spec) / 10);
}

#[test]
fn what_does_not_fit_says_how_much_was_shown_of_what_and_why() {
    let dir = TestDir::new(&[("a.txt", &pages()), ("b.md", &lines(200))], &offline(), 100_000);
    let bound = ResultBound::alone(1_500);
    assert_eq!(
        dir.said("a.txt", (0, 0, 0), bound),
        shown(
            "Pages 1-3 of 8",
            &bounded_part(1_201, 3_202, 1_500, ""),
            "read_document({\"name\": \"a.txt\", \"from\": 4})"
        )
    );
    assert_eq!(
        dir.said("a.txt", (2, 7, 0), bound),
        shown(
            "Pages 2-4 of the 2-7 asked for",
            &bounded_part(1_201, 2_402, 1_500, ""),
            "read_document({\"name\": \"a.txt\", \"from\": 5, \"to\": 7})"
        )
    );
    assert_eq!(dir.said("a.txt", (4, 6, 0), bound), "", "what was asked for on purpose is all there");
    assert_eq!(dir.said("a.txt", (7, 8, 0), bound), answer!("document.end"));
    // A page that is longer than a read, line by line; the last part of it goes on with the next page.
    let small = ResultBound::alone(300);
    assert_eq!(
        dir.said("a.txt", (3, 0, 0), small),
        shown(
            "Lines 1-17 of the 40 of page 3",
            &bounded_part(170, 2_402, 300, ""),
            "read_document({\"name\": \"a.txt\", \"from\": 3, \"line\": 18})"
        )
    );
    assert_eq!(dir.said("a.txt", (3, 3, 31), small), "", "the rest of the page, and no more was asked for");
    let said = dir.said("b.md", (0, 0, 0), bound);
    assert_eq!(
        said,
        shown(
            "Lines 1-129 of 200",
            &bounded_part(1_290, 2_000, 1_500, NUMBERS),
            "read_document({\"name\": \"b.md\", \"from\": 130})"
        )
    );
}

#[test]
fn a_text_a_little_longer_than_its_share_is_given_whole() {
    let dir = TestDir::new(&[("a.md", &lines(100)), ("b.txt", &pages())], &offline(), 100_000);
    let (_, whole) = dir.document("a.md", (0, 0, 0), ResultBound::alone(10_000));
    let tokens = estimate(&whole) + 100;
    let share = tokens * 100 / 114;
    assert_eq!(dir.document("a.md", (0, 0, 0), ResultBound::alone(share)).1, whole);
    let less = dir.said("a.md", (0, 0, 0), ResultBound { share, left: share - 100 });
    assert!(less.starts_with("Lines 1-") && less.contains(&crowded_words()), "{less}");
    assert!(dir.said("a.md", (0, 0, 0), ResultBound::alone(tokens * 80 / 100)).starts_with("Lines 1-"));
    // A page of 400 tokens, where a read has 470 with its frame.
    let said = dir.said("b.txt", (5, 0, 0), ResultBound::alone(470));
    let part = bounded_part(400, 1_601, 470, "");
    assert!(said.starts_with(&format!("Page 5 of 8 {part}")), "{said}");
    // A file of the model's own.
    let workspace = Workspace::open(&dir.path).unwrap();
    workspace.write("output/notes.md", lines(100).as_bytes()).unwrap();
    let file = |limit, bound| {
        let wanted = ReadFile { path: "output/notes.md".to_owned(), offset: None, limit };
        let (end, text) = dir.read(&ReadCall::ReadFile(wanted), bound);
        assert_eq!(end, CallEnd::Done, "{text}");
        text
    };
    let whole = file(None, ResultBound::alone(10_000));
    let numbered =
        (1..).zip(lines(100).lines()).map(|(number, line)| format!("{number}\t{line}\n")).collect::<Vec<_>>().concat();
    let end = answer!("file.end");
    assert_eq!(whole, format!("output/notes.md (lines 1-100 of 100):\n{numbered}{end}"));
    assert_eq!(file(None, ResultBound::alone((estimate(&whole) + 250) * 100 / 114)), whole);
    let part = file(Some(60), ResultBound::alone(500));
    assert_eq!(
        part.lines().last().unwrap(),
        shown(
            "Lines 1-37 of the 1-60 asked for",
            &bounded_part(370, 600, 500, NUMBERS),
            "read_file({\"path\": \"output/notes.md\", \"offset\": 38, \"limit\": 23})"
        )
    );
    let asked = file(Some(3), ResultBound::alone(500));
    assert_eq!(asked.lines().collect::<Vec<_>>()[1..], numbered.lines().take(3).collect::<Vec<_>>()[..]);
}

#[test]
fn reads_of_one_reply_share_what_it_may_bring() {
    let dir = TestDir::new(&[("a.txt", &pages())], &offline(), 100_000);
    let crowded = ResultBound { share: 5_000, left: 1_100 };
    assert_eq!(
        dir.said("a.txt", (0, 0, 0), crowded),
        shown(
            "Pages 1-2 of 8",
            &answer!("part.crowded", shown = 801, of = "3,202", most = "1,100", numbers = ""),
            "read_document({\"name\": \"a.txt\", \"from\": 3})"
        )
    );
    // A page that a read can hold is not torn because of what came before it.
    let later = answer!("skipped.no_room", left = 300, part = "page 4", tokens = 400);
    assert_eq!(dir.document("a.txt", (4, 0, 0), ResultBound { share: 5_000, left: 300 }), (CallEnd::Skipped, later));
}

/// Through the whole runner: each has a fifth of the room, up to where the context is full; then one gets what is left, and the
/// others wait. The model sees all of it at once.
#[test]
fn reads_of_one_reply_fill_what_the_context_has_left() {
    let (long, budget) = (lines(3_000), 60_000);
    let call = |name: &str| json!({"read_document": {"name": name}});
    let names = ["a.md", "b.md", "c.md", "d.md", "e.md", "f.md"];
    let script = json!({"version": 1, "replies": [
        {"calls": names.map(call)},
        {"calls": [{"job_complete": {"summary": "It can't be done.", "deliverables": [], "confidence": 0, "status": "blocked"}}]},
    ]});
    let model: Arc<dyn Model> = Arc::new(Scripted::parse("script.json", &script.to_string()).unwrap());
    let dir = TestDir::new(&names.map(|name| (name, long.as_str())), &model, budget);
    let rested = wait(dir.place.resume(&dir.path, model, None));
    let room = room(&rested.job.spec);
    let events = events(&rested.path);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let reads = events.iter().filter(|event| event["name"] == "read_document");
    let results: Vec<(String, String)> =
        reads.map(|event| (text(&event["result"]["end"]), text(&event["result"]["text"]))).collect();
    let part = answer!("part.bounded", shown = "", of = "|", most = grouped(room / 5), numbers = NUMBERS);
    let in_part = shown("", part.split('|').nth(1).unwrap(), "");
    let in_part = in_part.trim_start();
    for (end, text) in &results[..4] {
        assert!(end == "done" && (text.contains(in_part) || text.contains(&crowded_words())), "{text}");
        assert!(estimate(text) <= room / 5, "{room}: {}", estimate(text));
    }
    assert!(results[0].1.contains(in_part), "{}", results[0].1);
    for (end, text) in &results[4..] {
        assert_eq!((end.as_str(), is_said("skipped", text)), ("skipped", true), "{text}");
    }
    let opening = events.iter().find(|event| event["type"] == "epoch_opened").unwrap()["tokens"].as_u64().unwrap();
    let all = opening + results.iter().map(|(_, text)| estimate(text)).sum::<u64>();
    assert!((room * 80 / 100..room * 86 / 100).contains(&all), "{all} of {room}");
    assert_eq!(events.iter().filter(|event| event["type"] == "epoch_opened").count(), 1, "all of it is in one prompt");
}

#[test]
fn a_list_names_the_pages_that_are_much_longer_than_the_others() {
    let long: String = (1..=10_u64)
        .map(|page| {
            let lines = if page == 4 { 2_000 } else { 100 };
            (1..=lines).map(|line| format!("Page {page} has the line {line}.\n")).collect::<Vec<_>>().concat()
        })
        .collect::<Vec<_>>()
        .join("\x0c");
    let dir = TestDir::new(&[("a.txt", &long), ("b.txt", &pages())], &offline(), 100_000);
    let (end, text) = dir.read(&ReadCall::ListDocuments(ListDocuments::default()), ResultBound::alone(4_000));
    assert_eq!(end, CallEnd::Done);
    let rows: Vec<&str> = text.lines().skip(1).collect();
    let usual = "1,813";
    let told = answer!("document.long_pages", usual, bound = "3,626", places = "page 4", longest = "12,724");
    assert_eq!(
        rows,
        [
            &*format!("a.txt (text, 10 pages, about 18133 tokens, 0 % shown) [{told}]"),
            "b.txt (text, 8 pages, about 3202 tokens, 0 % shown)"
        ]
    );
}
