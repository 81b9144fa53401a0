//! Replies from a YAML file, for tests and demos:
//!
//! ```yaml
//! version: 1
//! replies:
//!   - calls: [{generate_workspace_summary: {}}, {todo_complete: {}}]
//!   - text: Thinking.
//!     times: 3                    # the same reply three times; default 1
//!   - calls: [{write_file: "not an object"}]   # malformed arguments, as they stand
//!     stop: length                # done (default), length, refused
//!     takes_ms: 2000              # how long the reply takes; default 0
//! then: stop                      # or: repeat — begin again after the last reply
//! helpers:                        # the replies of sub-agent 1, of sub-agent 2, …; then those above are the job's own
//!   - [{text: Done.}]
//! sees: true                      # the model takes images; default false
//! later: {folder: calls, after_ms: 60000}   # calls are handed in, and answered a minute later
//! ```

mod post_box;

use super::{
    Failure, FailureKind, Model, ModelError, Request,
    later::{AnswerFacts, LaterAnswer, LaterAnswers, LaterCall, TakenCall},
};
use async_trait::async_trait;
use overnight_core::{
    job::conversation::OWN,
    message::{Message, Prompt, Reply, Stop, ToolCall, Usage, image_tokens},
    prompt::tools,
    tokens::estimate,
};
use post_box::PostBox;
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// A model that answers with the replies in its file, one a turn.
#[derive(Debug)]
pub struct Scripted {
    name: String,
    file: String,
    replies: Vec<ScriptedReply>,
    /// Turns of one pass through the script.
    turns: u64,
    repeats: bool,
    helpers: Vec<Vec<ScriptedReply>>,
    /// The place where its calls are submitted; none: it answers immediately.
    later: Option<PostBox>,
    /// Whether it takes images.
    sees: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    version: u32,
    replies: Vec<ScriptedReply>,
    #[serde(default)]
    then: AtEnd,
    #[serde(default)]
    helpers: Vec<Vec<ScriptedReply>>,
    later: Option<PostBox>,
    #[serde(default)]
    sees: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AtEnd {
    #[default]
    Stop,
    Repeat,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedReply {
    #[serde(default)]
    text: String,
    /// Each a mapping of one tool's name to its arguments.
    #[serde(default)]
    calls: Vec<BTreeMap<String, Value>>,
    #[serde(default = "once")]
    times: u64,
    #[serde(default = "done")]
    stop: Stop,
    #[serde(default)]
    takes_ms: u64,
}

fn once() -> u64 {
    1
}

fn done() -> Stop {
    Stop::Done
}

impl Scripted {
    /// Reads a script. `file` names it in messages; `text` is its content.
    pub fn parse(file: &str, text: &str) -> Result<Self, ModelError> {
        let wrong = |what: String| ModelError::Script { file: file.to_owned(), what };
        let script: Script = serde_yaml::from_str(text).map_err(|error| {
            let what = error
                .to_string()
                .replace("struct Script", "`version` and `replies`")
                .replace("struct ScriptedReply", "a reply");
            wrong(format!("{what}; a script has `version: 1` and a list of `replies`"))
        })?;
        if script.version != 1 {
            return Err(wrong(format!("version {} is not known; this program reads version 1", script.version)));
        }
        let mut all = script.replies.iter().chain(script.helpers.iter().flatten());
        if let Some(place) = all.position(|line| line.calls.iter().any(|call| call.len() != 1)) {
            return Err(wrong(format!("reply {}: each call is one tool's name with its arguments", place + 1)));
        }
        let turns = script.replies.iter().fold(0_u64, |turns, line| turns.saturating_add(line.times));
        if turns == 0 {
            return Err(wrong("replies is empty; give at least one".to_owned()));
        }
        Ok(Self {
            name: format!("scripted:{file}"),
            file: file.to_owned(),
            replies: script.replies,
            turns,
            repeats: script.then == AtEnd::Repeat,
            helpers: script.helpers,
            later: script.later.map(|later| later.beside(file)),
            sees: script.sees,
        })
    }

    fn post_box(&self) -> Result<&PostBox, Failure> {
        let none = || Failure::new(FailureKind::Exhausted, format!("{} answers at once", self.name));
        self.later.as_ref().ok_or_else(none)
    }

    fn line(&self, turn: u64) -> Option<&ScriptedReply> {
        let mut place = turn.checked_sub(1)?;
        if self.repeats {
            place %= self.turns;
        }
        at_place(&self.replies, place)
    }

    /// The line for a turn of the model, which is the turn `of_conversation` in its conversation.
    fn line_of(&self, turn: u64, conversation: u32, of_conversation: u64) -> Result<&ScriptedReply, Failure> {
        let line = match (conversation, self.helpers.is_empty()) {
            (_, true) => self.line(turn),
            (OWN, false) => self.line(of_conversation),
            (sub_agent, false) => {
                let place = usize::try_from(sub_agent).ok().and_then(|sub_agent| sub_agent.checked_sub(1));
                let replies = place.and_then(|place| self.helpers.get(place));
                replies.zip(of_conversation.checked_sub(1)).and_then(|(replies, place)| at_place(replies, place))
            }
        };
        line.ok_or_else(|| ModelError::ScriptEnded { file: self.file.clone(), replies: self.turns, turn }.into())
    }

    fn said(&self, line: &ScriptedReply, prompt_tokens: u64) -> Reply {
        let calls: Vec<ToolCall> = line
            .calls
            .iter()
            .flatten()
            .map(|(name, arguments)| ToolCall { id: String::new(), name: name.clone(), arguments: arguments.clone() })
            .collect();
        let output = estimate(&line.text) + calls.iter().map(|call| estimate(&call.arguments.to_string())).sum::<u64>();
        Reply {
            text: line.text.clone(),
            calls,
            usage: Usage { input: prompt_tokens, output, ..Usage::default() },
            stop: line.stop,
            model: self.name.clone(),
            carried: None,
            tier: None,
            mended: Vec::new(),
        }
    }
}

fn at_place(replies: &[ScriptedReply], mut place: u64) -> Option<&ScriptedReply> {
    replies.iter().find(|line| match place.checked_sub(line.times) {
        Some(rest) => {
            place = rest;
            false
        }
        None => true,
    })
}

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn window_tokens(&self) -> u64 {
        1_000_000
    }

    fn image_tokens(&self, width: u32, height: u32) -> Option<u64> {
        self.sees.then(|| (u64::from(width) * u64::from(height)).div_ceil(750))
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        let line = self.line_of(request.turn, request.conversation, request.turn_of_conversation)?;
        if line.takes_ms > 0 {
            tokio::time::sleep(Duration::from_millis(line.takes_ms)).await;
        }
        Ok(self.said(line, prompt_tokens(request.prompt)))
    }

    fn later(&self) -> Option<&dyn LaterAnswers> {
        self.later.is_some().then_some(self as &dyn LaterAnswers)
    }

    fn cost(&self, _usage: &Usage) -> Option<f64> {
        Some(0.0)
    }
}

#[async_trait]
impl LaterAnswers for Scripted {
    async fn submit(&self, call: LaterCall<'_>) -> Result<TakenCall, Failure> {
        let LaterCall { key, request, .. } = call;
        self.line_of(request.turn, request.conversation, request.turn_of_conversation)?;
        self.post_box()?.submit(key, request, prompt_tokens(request.prompt))
    }

    async fn ended(&self, handles: &[String]) -> Result<BTreeSet<String>, Failure> {
        let post_box = self.post_box()?;
        let mut ended = BTreeSet::new();
        for handle in handles {
            // A lost call counts as ended, too.
            if post_box.posted(handle)?.is_none_or(|call| call.is_answered()) {
                ended.insert(handle.clone());
            }
        }
        Ok(ended)
    }

    async fn answer(&self, handle: &str, _: &Prompt) -> Result<LaterAnswer, Failure> {
        Ok(match self.post_box()?.posted(handle)? {
            None => LaterAnswer::Failed(Failure::new(FailureKind::TimedOut, format!("the call {handle} is lost"))),
            Some(call) if !call.is_answered() => LaterAnswer::Pending,
            Some(call) => {
                let line = self.line_of(call.turn, call.conversation, call.turn_of_conversation)?;
                LaterAnswer::Replied(Box::new(self.said(line, call.prompt_tokens)), AnswerFacts::default())
            }
        })
    }

    fn every(&self) -> Duration {
        self.later.as_ref().map(PostBox::every).unwrap_or_default()
    }
}

/// The estimated tokens of a prompt, as the embedded models report them.
pub(super) fn prompt_tokens(prompt: &Prompt) -> u64 {
    let messages: u64 = prompt
        .messages()
        .map(|message| {
            4 + match message {
                Message::System { text } => estimate(text),
                Message::User { text, images } | Message::Tool { text, images, .. } => {
                    estimate(text) + image_tokens(images)
                }
                Message::Assistant { text, calls, .. } => {
                    estimate(text) + calls.iter().map(|call| estimate(&call.arguments.to_string()) + 8).sum::<u64>()
                }
            }
        })
        .sum();
    prompt.tools.iter().map(tools::tokens_of).sum::<u64>() + messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_turn() {
        let script = "version: 1\nreplies:\n  - text: a\n    times: 2\n  - text: b\n";
        let texts = |text: &str| {
            let model = Scripted::parse("s.yaml", text).unwrap();
            (0..7)
                .map(|turn| model.line(turn).map_or("-", |line| line.text.as_str()).to_owned())
                .collect::<Vec<_>>()
                .concat()
        };
        assert_eq!(texts(script), "-aab---");
        assert_eq!(texts(&format!("{script}then: repeat\n")), "-aabaab");
    }

    #[test]
    fn a_wrong_script_is_one_sentence() {
        let error = |text: &str| Scripted::parse("s.yaml", text).unwrap_err().to_string();
        assert_eq!(error("version: 2\nreplies: []"), "s.yaml: version 2 is not known; this program reads version 1");
        assert_eq!(error("version: 1\nreplies: []"), "s.yaml: replies is empty; give at least one");
        assert_eq!(
            error("version: 1\nreplies: [{calls: [{a: {}, b: {}}]}]"),
            "s.yaml: reply 1: each call is one tool's name with its arguments"
        );
    }
}
