//! Servers that send whole replies in odd ways, and those that say in ways of their own that a window is full: the same replies
//! and the same results as without, and what can't be read is told as that, and is no outage.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::server::{CUT_LETTER, Fixed, Format, Quirk, Server, Setup};
use crate::{
    cli_run::TestDir,
    support::{events, wait},
};
use overnight::{
    model::{Failure, FailureKind, Model, Request, table::ModelTable},
    runner::{ModelOptions, open_model},
};
use overnight_core::message::{Message, Prompt, Reply, Stop, ToolCall, ToolSpec, Usage};
use serde_json::{Value, json};
use std::sync::{Arc, atomic::AtomicU64};

const TASK: &str = "extract-requirements";

fn said() -> Reply {
    let call = |name: &str, arguments: Value| ToolCall { id: String::new(), name: name.to_owned(), arguments };
    Reply {
        text: format!("Reading {CUT_LETTER}{CUT_LETTER} both files."),
        calls: vec![
            call(
                "note",
                json!({"text": format!("Äpfel, \"{CUT_LETTER}\" and {{braces}} stored at 2 degrees"), "more": {"x": [1, {}]}}),
            ),
            call("read_file", json!({"path": "b.md"})),
        ],
        usage: Usage::default(),
        stop: Stop::Done,
        model: String::new(),
        carried: None,
        tier: None,
        mended: Vec::new(),
    }
}

fn open(server: &Server, format: Format) -> Arc<dyn Model> {
    let models = "version: 1\nmodels:\n  - match: \"openai:*\"\n    api: responses\n";
    let models = (format == Format::Responses).then(|| ModelTable::parse("models.yaml", models).unwrap());
    let options = ModelOptions { base_url: Some(server.base_url(format)), models, ..ModelOptions::default() };
    let provider = if format == Format::Responses { "openai" } else { format.name() };
    open_model(&format!("{provider}:able-agent"), &options).unwrap()
}

fn ask(model: &Arc<dyn Model>) -> Result<Reply, Failure> {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "A tool.".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    };
    let prompt = Prompt::new(
        Arc::from([tool("note"), tool("read_file")]),
        vec![Message::System { text: "Be brief.".to_owned() }, Message::user("Note it.")],
    );
    wait(async {
        model
            .reply(Request {
                prompt: &prompt,
                turn: 1,
                conversation: 0,
                turn_of_conversation: 1,
                received: &AtomicU64::new(0),
            })
            .await
    })
}

fn asked(format: Format, quirk: Quirk) -> Result<Reply, Failure> {
    let setup = Setup { model: Arc::new(Fixed(said())), quirk: Some(quirk), letters: 9, ..Setup::default() };
    ask(&open(&Server::start(setup), format))
}

#[test]
fn a_whole_reply_is_read_however_it_is_written() {
    let shown = |reply: &Reply| {
        let calls: Vec<String> = reply.calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect();
        format!("{:?} {}: {}", reply.stop, reply.text, calls.join(", "))
    };
    let mut tried = 0;
    for quirk in Quirk::READABLE {
        for format in Format::ALL.into_iter().filter(|format| quirk.is_of(*format)) {
            let expected = match quirk {
                Quirk::LoneHalf => shown(&said()).replace(CUT_LETTER, "\u{fffd}"),
                _ => shown(&said()),
            };
            let found = asked(format, quirk).map_err(|failure| failure.to_string());
            assert_eq!(found.as_ref().map(shown), Ok(expected), "{quirk:?} in {}: {found:?}", format.name());
            tried += 1;
        }
    }
    assert_eq!(tried, 39);
}

#[test]
fn what_cant_be_read_is_told_as_that_with_what_came() {
    for (quirk, kind, reason, received) in [
        (Quirk::NoEnd, FailureKind::Unfinished, "what marks the end of a whole one never came", "b.md"),
        (Quirk::Page, FailureKind::Malformed, "answered with a page, not with a reply", "<h1>Sign in</h1>"),
        (Quirk::Brotli, FailureKind::Malformed, "packed (br)", ""),
    ] {
        for format in Format::ALL {
            let failure = asked(format, quirk).unwrap_err();
            let came = failure.received.clone().unwrap_or_default();
            assert_eq!(failure.kind, kind, "{quirk:?} in {}: {failure}", format.name());
            assert!(failure.reason.contains(reason), "{quirk:?} in {}: {failure}", format.name());
            assert!(came.contains(received), "{quirk:?} in {}: {came}", format.name());
        }
    }
}

/// A whole job with the server; the exit code, how it stands, and how often the model was asked.
fn job(setup: Setup, models: &str) -> (i32, Value, Vec<Value>, u64) {
    let (server, dir) = (Server::start(setup), TestDir::new());
    dir.put("models.yaml", models);
    let url = server.base_url(Format::OpenAi);
    let run =
        ["run", TASK, "-d", "docs", "-q", "-m", "openai:able-agent", "--base-url", &url, "--models", "models.yaml"];
    let ran = dir.run_with(&[], &run);
    let shown: Value = serde_json::from_str(&dir.run_with(&[], &["show", "last", "--json"]).stdout).unwrap();
    let found = events(&dir.path().join(shown["workspace"].as_str().unwrap()));
    assert_eq!(server.counts().complaints, Vec::<String>::new());
    (ran.code, shown, found, server.counts().requests)
}

const ANY: &str = "version: 1\nmodels: []\n";

#[test]
fn a_job_whose_replies_cant_be_read_is_held_after_three_and_not_as_an_outage() {
    for quirk in [Quirk::NoEnd, Quirk::Page, Quirk::Brotli] {
        let (_, shown, events, requests) = job(Setup { quirk: Some(quirk), ..Setup::default() }, ANY);
        assert_eq!(
            (&shown["status"], &shown["hold_reason"], requests),
            (&json!("held"), &json!("paused"), 3),
            "{quirk:?}"
        );
        let reason = shown["reason"].as_str().unwrap();
        assert!(reason.starts_with("3 replies, one after the other, can't be read ("), "{reason}");
        let failed: Vec<&Value> = events.iter().filter(|event| event["type"] == "attempt_failed").collect();
        assert!(failed.len() == 3 && failed.iter().all(|event| event["received"].is_string()), "{failed:?}");
        assert!(failed[1]["reason"].as_str().unwrap().ends_with("(2 replies in a row that can't be read)"));
    }
}

#[test]
fn a_full_window_makes_the_reply_shorter_or_the_prompt_however_it_is_told() {
    let (_, _, plain, _) = job(Setup::default(), ANY);
    let inputs = || plain.iter().filter_map(|event| event["usage"]["input"].as_u64());
    let (least, most) = (inputs().min().unwrap(), inputs().max().unwrap());
    for quirk in [Quirk::Refuses, Quirk::RefusesWithPage, Quirk::Cuts] {
        let window = if quirk == Quirk::Refuses { most + 1_000 } else { least.midpoint(most) };
        let setup = Setup { quirk: Some(quirk), window: Some(window), ..Setup::default() };
        let (code, shown, events, requests) = job(setup, ANY);
        assert_eq!((code, &shown["status"]), (0, &json!("completed")), "{quirk:?}: {shown}");
        let mended = |event: &Value| event["mended"].to_string().contains("the server has room for a reply of");
        let shortened = events.iter().filter(|event| mended(event)).count();
        let failed = events.iter().filter(|event| event["type"] == "attempt_failed");
        let too_long = failed.filter(|event| event["kind"] == "context_length").count();
        println!(
            "{quirk:?}, {window} of {least} to {most}: {requests} requests, {shortened} replies and {too_long} prompts shortened"
        );
        assert_eq!(too_long > 0, quirk != Quirk::Refuses, "{quirk:?}");
        assert!(shortened > 0 || quirk != Quirk::Refuses, "{quirk:?}");
    }
}
