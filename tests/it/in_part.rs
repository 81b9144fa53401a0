//! The offline model when a reply of its own is made in part, and when it can't see afterwards what was made: it looks, and
//! makes the rest, once. What a tool refuses is said, and is never a completed job.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::support::{Place, shipped, wait};
use async_trait::async_trait;
use overnight::{
    model::{Failure, FailureKind, Model, Request, rules::Offline},
    runner::JobOutcome,
};
use overnight_core::{
    job::{
        event::{ConversationEvent, Event},
        record::JobStatus,
    },
    message::{Reply, ToolCall, Usage},
};
use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// What becomes of one reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Only so many of its calls, the first.
    First(usize),
    /// The same, and the next prompt is too long, so that its history is cut.
    FirstAndCompacted(usize),
    /// Cut at the token limit: nothing of it is run.
    Cut,
    /// Its arguments can't be read, and those of the next two can't either: the phase is stuck, and planned anew.
    Torn,
    /// The tool refuses what it adds to the records.
    Refused,
}

impl Part {
    fn is_compacted(self) -> bool {
        matches!(self, Self::FirstAndCompacted(_))
    }
}

/// The offline model, one of whose replies comes in part.
#[derive(Debug)]
struct InPart {
    turn: u64,
    part: Part,
    is_refused: AtomicBool,
}

#[async_trait]
impl Model for InPart {
    fn name(&self) -> &'static str {
        "in part"
    }

    fn window_tokens(&self) -> u64 {
        1_000_000
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        let turn = request.turn;
        if self.part.is_compacted() && turn == self.turn + 1 && !self.is_refused.swap(true, Ordering::Relaxed) {
            return Err(Failure::new(FailureKind::ContextLength, "too long"));
        }
        let mut reply = Offline(None).reply(request).await?;
        match self.part {
            Part::First(kept) | Part::FirstAndCompacted(kept) if turn == self.turn => reply.calls.truncate(kept),
            Part::Cut if turn == self.turn => reply.stop = overnight_core::message::Stop::Length,
            Part::Torn if (self.turn..self.turn + 3).contains(&turn) => {
                reply.calls.iter_mut().for_each(|call| call.arguments = "{".into());
            }
            Part::Refused if turn == self.turn => {
                reply.calls.iter_mut().filter(|call| is_recording(call)).for_each(|call| {
                    call.arguments["path"] = "output/elsewhere.json".into();
                });
            }
            Part::First(_) | Part::FirstAndCompacted(_) | Part::Cut | Part::Torn | Part::Refused => {}
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

/// Whether a call adds records to a result file.
fn is_recording(call: &ToolCall) -> bool {
    call.name == "add_records"
}

/// Documents with so many statements that a reply which records them is a large part of the prompt.
fn documents(statements: u32) -> [(&'static str, String); 2] {
    ["rules", "policy"].map(|name| {
        let mut text = format!("# The {name}\n\n");
        for number in 1..=statements {
            let _ =
                writeln!(text, "Clerk {number} of the {name} MUST sign every receipt that has the number {number}.\n");
        }
        (name, text)
    })
}

/// What lies under `output/` at the end, with how it ended; and of each reply how many calls it has, and whether one of
/// them adds records.
async fn job(name: &str, statements: u32, turn: u64, part: Part) -> (BTreeMap<String, String>, Vec<(usize, bool)>) {
    let place = Place::new().await;
    let folder = place.folder.path().join("documents");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in documents(statements) {
        std::fs::write(folder.join(format!("{name}.md")), text).unwrap();
    }
    let (instructions, text) = shipped(name);
    let model = Arc::new(InPart { turn, part, is_refused: AtomicBool::new(false) });
    let rested = place.run(instructions, &text, &[folder], model).await;
    let mut found = BTreeMap::from([("outcome".to_owned(), format!("{:?}", rested.outcome))]);
    for entry in std::fs::read_dir(rested.path.join("output")).unwrap() {
        let entry = entry.unwrap();
        found.insert(entry.file_name().display().to_string(), std::fs::read_to_string(entry.path()).unwrap());
    }
    let calls = rested.decisions.iter().flat_map(|decision| &decision.events).filter_map(|event| match event {
        Event::Conversation(ConversationEvent::ModelReplied { calls, .. }) => {
            Some((calls.len(), calls.iter().any(|call| is_recording(&call.said))))
        }
        _ => None,
    });
    (found, calls.collect())
}

/// Turns in which the list of documents is looked at, and the plan is written.
const BOOTSTRAP_TURNS: u64 = 2;

/// Each reply of a job in each part.
fn each_reply_in_part(name: &str, statements: u32) {
    wait(async {
        let (expected, replies) = job(name, statements, 0, Part::Cut).await;
        assert_eq!(expected["outcome"], format!("{:?}", JobOutcome::Ended(JobStatus::Completed)));
        let mut wrong = Vec::new();
        for (turn, (calls, is_recording)) in (1..).zip(replies) {
            // A bootstrap that is stuck is given a plan by the system, which is none of these rules'.
            let mut parts = if turn > BOOTSTRAP_TURNS { vec![Part::Torn] } else { Vec::new() };
            // What a reply of one call does is done or not.
            if calls > 1 {
                parts.extend([Part::Cut, Part::First(1), Part::FirstAndCompacted(1)]);
            }
            if calls > 2 {
                parts.push(Part::FirstAndCompacted(calls - 1));
            }
            for part in parts {
                let (found, _) = job(name, statements, turn, part).await;
                if found != expected {
                    wrong.push((turn, part));
                }
            }
            // what is missing can't be mended: it is said
            if is_recording {
                let (found, _) = job(name, statements, turn, Part::Refused).await;
                if found["outcome"] != format!("{:?}", JobOutcome::Ended(JobStatus::Blocked)) {
                    wrong.push((turn, Part::Refused));
                }
            }
        }
        assert_eq!(wrong, [], "other deliverables");
    });
}

#[test]
fn requirements_are_recorded_once() {
    each_reply_in_part("extract-requirements", 40);
}

#[test]
fn key_points_are_recorded_once() {
    each_reply_in_part("summarize-documents", 40);
}

#[test]
fn findings_are_recorded_once() {
    each_reply_in_part("audit-policy", 12);
}
