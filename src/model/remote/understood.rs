//! Turns a decoded reply into the model's reply: repaired, with its tokens counted.

use super::{RemoteModel, output_room::CutReply, wire::RawReply};
use crate::model::{
    Failure, FailureKind,
    repair::{RepairedReply, repair_reply},
    scripted::prompt_tokens,
};
use overnight_core::{
    message::{MOST_LEVELS, Message, Prompt, Reply, Stop, Usage, is_within},
    prompt::tools::ToolList,
    tokens::estimate,
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A count of more than this many prompt tokens per byte of its texts is not believed.
const MOST_A_BYTE: u64 = 10;

impl RemoteModel {
    /// The decoded reply, repaired, with its tokens counted.
    pub(super) fn understood(
        &self,
        mut heard: RawReply,
        prompt: &Prompt,
        allowed: u64,
        notes: Vec<String>,
    ) -> Result<Reply, Failure> {
        let Some(stop) = heard.stop else {
            let what = "ended its reply before it was complete";
            return Err(self.error_messages().failure(FailureKind::BrokenStream, None, what));
        };
        let (usage, model, carried) = (heard.usage.take(), std::mem::take(&mut heard.model), heard.carried.take());
        let tier = heard.tier;
        let RepairedReply { text, calls, notes: mut mended } = repair_reply(heard, &prompt.tools, self.repairs);
        // A count of zero, or far above the number of letters, is no real count.
        let is_likely = |usage: &Usage| (1..=bytes(prompt).saturating_mul(MOST_A_BYTE)).contains(&usage.input);
        let usage = usage.filter(is_likely).unwrap_or_else(|| {
            mended.push("the server did not count the tokens, or not truly: they are estimated".to_owned());
            let said = calls.iter().map(|call| estimate(&call.arguments.to_string())).sum::<u64>();
            let said = said + carried.as_ref().map_or(0, |carried| estimate(&carried.to_string()));
            Usage { input: prompt_tokens(prompt), output: estimate(&text) + said, ..Usage::default() }
        });
        if stop == Stop::Length {
            let Usage { input, output, .. } = usage;
            let (usual, window) = (self.quirks.output_tokens, self.quirks.window_tokens);
            if self.room.is_full(CutReply { input, output, allowed, usual, window }) {
                let what = format!(
                    "cut its reply off after {output} tokens, with a prompt of {input}: together they fill the model's window"
                );
                return Err(self.error_messages().failure(FailureKind::ContextLength, Some(200), &what));
            }
        }
        let carried = carried.filter(|carried| {
            let is_kept = is_within(carried, MOST_LEVELS);
            if !is_kept {
                mended.push("reasoning that is nested too deep is not sent back".to_owned());
            }
            is_kept
        });
        mended.extend(notes);
        Ok(Reply {
            text,
            calls,
            usage,
            stop,
            model: if model.is_empty() { self.model.clone() } else { model },
            carried: carried
                .map(|carried| Arc::new(Value::Object(Map::from_iter([(self.wire.name().to_owned(), carried)])))),
            tier,
            mended,
        })
    }
}

/// The approximate bytes of a prompt's texts.
pub(super) fn bytes(prompt: &Prompt) -> u64 {
    let texts = prompt.messages().map(|message| match message {
        Message::System { text }
        | Message::User { text, .. }
        | Message::Tool { text, .. }
        | Message::Assistant { text, .. } => text.len() as u64,
    });
    let images = prompt.images().map(|image| image.tokens * 4);
    texts.sum::<u64>() + images.sum::<u64>() + ToolList::usual().tokens * 4
}
