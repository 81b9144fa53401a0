//! Which calls are handed in for a batch, and which are asked for at once.

use super::{Desk, Format, Place, QUICK, Tier};
use overnight::model::{Request, later::LaterCall};
use overnight_core::{
    job::{failure::Attempts, id::JobId},
    message::{Message, Prompt, ToolCall},
};
use serde_json::json;
use std::sync::{Arc, atomic::AtomicU64};
use uuid::Uuid;

/// About so many tokens of text.
fn text(tokens: usize) -> String {
    "four".repeat(tokens)
}

/// The first turn of a conversation, of so many tokens.
fn first(tokens: usize) -> Prompt {
    Prompt::new(Arc::default(), [Message::System { text: "Be brief.".to_owned() }, Message::user(text(tokens))])
}

/// A later turn: so many tokens up to the newest reply, and behind it.
fn late(history: usize, new: usize) -> Prompt {
    let call = ToolCall { id: "call_1_1".to_owned(), name: "read_file".to_owned(), arguments: json!({"path": "a"}) };
    let messages = [
        Message::user(text(history)),
        Message::Assistant { text: String::new(), calls: vec![call], carried: None },
        Message::Tool {
            call: "call_1_1".to_owned(),
            name: "read_file".to_owned(),
            text: text(new),
            images: Vec::new(),
        },
    ];
    Prompt::new(Arc::default(), messages)
}

#[tokio::test]
async fn a_late_turn_with_a_long_history_is_asked_for_at_once() {
    let place = Place::sqlite();
    let never = Attempts::default();
    let failed = |failed: u32| Attempts { failed, ..never };
    let unanswered = Attempts { failed: 1, unanswered: 1, ..never };
    // The prompt, tokens of the reply that is expected, what was tried, and whether it is handed in.
    let cases: [(&str, Prompt, u64, Attempts, bool); 11] = [
        ("a first turn", first(5_000), 500, never, true),
        ("a long first turn", first(100_000), 500, never, true),
        ("a late turn with a long history", late(40_000, 200), 500, never, false),
        ("one with a short history", late(2_000, 200), 500, never, true),
        ("one with much that is new", late(40_000, 30_000), 500, never, true),
        ("one with a long reply", late(40_000, 200), 10_000, never, true),
        ("one that was not answered in its time", first(5_000), 500, unanswered, false),
        ("one that has failed once", first(5_000), 500, failed(1), true),
        ("one that has failed twice", first(5_000), 500, failed(2), false),
        // Half of what a batch of OpenAI or Anthropic may have here is 24 MB, of one of Gemini 9 MB.
        ("one of 12 MB", first(3_000_000), 500, never, true),
        ("one of 40 MB", first(10_000_000), 500, never, false),
    ];
    for format in [Format::Responses, Format::OpenAi, Format::Anthropic, Format::Gemini] {
        let store = place.store().await;
        // Nobody is asked.
        let url = "http://127.0.0.1:9/".to_owned();
        let desk = Desk { store, workspaces: std::env::temp_dir(), url, format };
        let model = desk.model(Tier::Batch, QUICK);
        let later = model.later().unwrap();
        for (what, prompt, output_tokens, attempts, expected) in &cases {
            let received = AtomicU64::new(0);
            let request = Request { prompt, turn: 1, conversation: 0, turn_of_conversation: 1, received: &received };
            let call = LaterCall {
                request,
                key: "one",
                job: JobId(Uuid::now_v7()),
                until: None,
                output_tokens: *output_tokens,
                attempts: *attempts,
            };
            let is_too_large = format == Format::Gemini && *what == "one of 12 MB";
            assert_eq!(later.is_worth(&call), *expected && !is_too_large, "{}: {what}", format.name());
        }
        assert!(desk.model(Tier::Standard, QUICK).later().is_none());
    }
}
