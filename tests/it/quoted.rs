//! Where the quotes of a result stand: `quotes.jsonl`, beside the deliverables, held by the journal.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::support::{Place, Rested, shipped, wait};
use async_trait::async_trait;
use overnight::{
    audit::verify::verify,
    model::{Failure, Model, Request, rules::Offline},
    runner::JobOutcome,
};
use overnight_core::{
    job::{digest::sha256, record::JobStatus},
    message::{Reply, Usage},
};
use serde_json::{Value, json};
use std::{fs, sync::Arc};

/// Two pages; the second statement is broken at a line's end, and the third runs over the page break: the rules quote it to
/// the page's end.
const RULES: &str = "# Rules\n\nThe clerk MUST file every receipt.\n\nThe keeper MUST keep the docu-\nments dry.\n\n\
The guard MUST close the gate\n\x0cat nine every evening.\n";

/// The offline model, with the third quote made whole; where a page is to be wrong, it names another than it found.
#[derive(Debug)]
struct Quoting {
    is_wrong: bool,
}

#[async_trait]
impl Model for Quoting {
    fn name(&self) -> &'static str {
        "quoting"
    }

    fn window_tokens(&self) -> u64 {
        1_000_000
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        let mut reply = Offline(None).reply(request).await?;
        // Written, and not added: a record that names the wrong page is not taken.
        for call in reply.calls.iter_mut().filter(|call| call.name == "add_records") {
            let text = call.arguments["records"].to_string().replace("the gate", "the gate at nine every evening.");
            let text = if self.is_wrong { text.replace("\"page\":1,", "\"page\":7,") } else { text };
            "write_file".clone_into(&mut call.name);
            call.arguments["content"] = format!("{{\"requirements\": {text}}}").into();
            call.arguments.as_object_mut().unwrap().remove("records");
        }
        Ok(reply)
    }

    fn is_rules(&self) -> bool {
        true
    }

    fn cost(&self, _usage: &Usage) -> Option<f64> {
        None
    }
}

fn run(place: &Place, is_wrong: bool) -> Rested {
    let folder = place.folder.path().join("documents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("rules.txt"), RULES).unwrap();
    let (instructions, text) = shipped("extract-requirements");
    wait(place.run(instructions, &text, &[folder], Arc::new(Quoting { is_wrong })))
}

fn lines(rested: &Rested) -> Vec<Value> {
    let text = fs::read_to_string(rested.path.join("quotes.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn line(item: u64, result: &str, page: u64, (from, to): ([u64; 3], [u64; 3])) -> Value {
    let at = |[page, line, character]: [u64; 3]| json!({"page": page, "line": line, "character": character});
    let [start, end] = [[9, 43], [45, 86], [88, 141]][usize::try_from(item).unwrap()];
    json!({
        "deliverable": "output/requirements.json", "item": format!("$.requirements[{item}]"), "key": "quote",
        "document": "rules.txt", "sha256": sha256(RULES.as_bytes()), "page": page, "result": result,
        "from": at(from), "to": at(to), "start": start, "end": end,
    })
}

/// First and last character of each statement.
const PLACES: [([u64; 3], [u64; 3]); 3] = [([1, 3, 1], [1, 3, 34]), ([1, 5, 1], [1, 6, 10]), ([1, 8, 1], [2, 1, 22])];

#[test]
fn the_positions_of_all_quotes_are_kept_with_the_result() {
    let place = wait(Place::new());
    let rested = run(&place, false);
    assert_eq!(rested.outcome, JobOutcome::Ended(JobStatus::Completed));
    let expected: Vec<Value> = (0..).zip(PLACES).map(|(item, places)| line(item, "found", 1, places)).collect();
    assert_eq!(lines(&rested), expected);

    let quotes = rested.job.ended().unwrap().quotes.clone().unwrap();
    let file = rested.path.join("quotes.jsonl");
    let content = fs::read(&file).unwrap();
    assert_eq!((quotes.quotes, quotes.found, quotes.bytes), (3, 3, content.len() as u64));
    assert_eq!((quotes.path.as_str(), quotes.sha256), ("quotes.jsonl", sha256(&content)));

    // The record is sound, and isn't any more when the file says otherwise.
    let told = || match verify(&rested.path, None) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
    };
    assert_eq!(told(), Vec::<String>::new());
    fs::write(&file, String::from_utf8(content).unwrap().replace("\"page\":1", "\"page\":2")).unwrap();
    assert_eq!(told(), ["quotes.jsonl: changed: the journal holds another SHA-256 of it"]);
    fs::remove_file(&file).unwrap();
    assert_eq!(told(), ["quotes.jsonl: missing: the journal has it"]);
}

#[test]
fn a_partial_result_says_which_quotes_stand_elsewhere() {
    let place = wait(Place::new());
    let rested = run(&place, true);
    assert_eq!(rested.outcome, JobOutcome::Ended(JobStatus::Partial));
    let expected: Vec<Value> =
        (0..).zip(PLACES).map(|(item, places)| line(item, "on_another_page", 7, places)).collect();
    assert_eq!(lines(&rested), expected);
    let quotes = rested.job.ended().unwrap().quotes.clone().unwrap();
    assert_eq!((quotes.quotes, quotes.found), (3, 0));
    assert!(verify(&rested.path, None).is_ok());
}
