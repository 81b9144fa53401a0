//! Replies as models really write them, each with what is made of it below it. `UPDATE=1` rewrites the expectations.

use overnight::model::{
    remote::wire::{RawCall, RawReply},
    repair::{RepairedReply, repair_reply},
};
use overnight_core::{message::Stop, prompt::tools::ToolList};
use serde::Deserialize;
use std::fmt::Write as _;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default)]
    text: String,
    #[serde(default)]
    calls: Vec<Call>,
    #[serde(default = "done")]
    stop: Stop,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

fn done() -> Stop {
    Stop::Done
}

#[test]
fn odd_replies_are_made_readable_and_others_stay() {
    crate::support::corpus("replies.txt", 80, &|name, text| {
        let read: Result<Option<Case>, _> = serde_yaml::from_str(text);
        let case = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        let Case { text, calls, stop } = case.unwrap_or(Case { text: String::new(), calls: Vec::new(), stop: done() });
        let calls = calls.into_iter().map(|Call { id, name, arguments }| RawCall { id, name, arguments }).collect();
        let heard = RawReply { text, calls, stop: Some(stop), ..RawReply::default() };
        show(&heard, &repair_reply(heard.clone(), &ToolList::usual().specs, true)).unwrap()
    });
}

/// All of a mended reply, its text where it has one; nothing where it is as it was heard.
fn show(heard: &RawReply, mended: &RepairedReply) -> Result<String, std::fmt::Error> {
    let RepairedReply { text, calls, notes } = mended;
    let is_same_call = |(raw, call): (&RawCall, _)| {
        let overnight_core::message::ToolCall { id, name, arguments }: &overnight_core::message::ToolCall = call;
        let read: Option<serde_json::Value> = serde_json::from_str(&raw.arguments).ok();
        raw.id == *id && raw.name == *name && read.as_ref() == Some(arguments)
    };
    let is_same = *text == heard.text
        && calls.len() == heard.calls.len()
        && heard.calls.iter().zip(calls).all(is_same_call)
        && notes.is_empty();
    if is_same {
        return Ok(String::new());
    }
    let mut shown = String::new();
    for call in calls {
        writeln!(shown, "call {}: {} {}", call.id, call.name, call.arguments)?;
    }
    for note in notes {
        writeln!(shown, "note: {note}")?;
    }
    if !text.is_empty() {
        writeln!(shown, "text: {text:?}")?;
    }
    Ok(shown)
}
