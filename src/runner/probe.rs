//! A model behind HTTP tried with a few tiny calls: each line says what was found, and what to do
//! where it isn't as it should be.

use super::{
    ModelOptions, RunError,
    models::{open_model, open_remote},
    today,
};
use crate::model::{
    Failure, FailureKind, Model, Request,
    remote::{self, Timeouts, wire::Wire},
    table::{self, KnownModel, Price, Quirks, ToolChoice},
};
use overnight_core::message::{Message, Prompt, Reply, ToolSpec};
use serde_json::json;
use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

/// Tokens of a reply: models that reason do so first.
const MOST_OUTPUT: u64 = 2_048;
/// How long a call may take: a person waits for it.
const CALL_TIMEOUT: Duration = Duration::from_mins(2);
const SYSTEM: &str = "A program tests whether you can call tools. Do exactly what is asked, and nothing else.";
const ASK_ONE_CALL: &str = "Call the tool `note` once, with the text \"ready\".";
const ASK_TWO_CALLS: &str =
    "Call the tool `note` twice in this one reply: first with the text \"one\", then with the text \"two\".";

/// One thing that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    pub name: &'static str,
    pub passed: bool,
    /// What was found, or what to do.
    pub detail: String,
}

fn probed(name: &'static str, found: Result<String, String>) -> ProbeResult {
    ProbeResult { name, passed: found.is_ok(), detail: found.unwrap_or_else(|error| error) }
}

/// Calls the model called `name`. Of a model within the program nothing is tried.
pub async fn probe(name: &str, options: &ModelOptions<'_>) -> Result<Vec<ProbeResult>, RunError> {
    let (provider, model) = name.split_once(':').unwrap_or((name, ""));
    let known = table::known(name, options.models.as_ref(), today());
    let Some(wire) = remote::wire_of(provider, known.quirks.api) else {
        open_model(name, options)?;
        return Ok(Vec::new());
    };
    let timeouts = options.timeouts;
    let (first_byte, idle, whole) =
        (timeouts.first_byte.min(CALL_TIMEOUT), timeouts.idle.min(CALL_TIMEOUT), CALL_TIMEOUT * 2);
    let options = ModelOptions { timeouts: Timeouts { first_byte, idle, whole }, ..options.clone() };
    let trial = ModelTrial { provider, model, wire, options };
    let mut lines = Vec::new();
    let first = trial.call(known.quirks.clone(), ASK_ONE_CALL).await?;
    let reached = reached(&first);
    let is_reached = reached.iter().all(|line| line.passed);
    lines.extend(reached);
    if is_reached {
        let required = Quirks { tool_choice: ToolChoice::Required, ..known.quirks.clone() };
        let auto = Quirks { tool_choice: ToolChoice::Auto, ..known.quirks.clone() };
        let parallel = Quirks { parallel_calls: Some(true), ..known.quirks.clone() };
        let required = called(&trial.call(required, ASK_ONE_CALL).await?);
        let auto = called(&trial.call(auto, ASK_ONE_CALL).await?);
        let parallel = trial.call(parallel, ASK_TWO_CALLS).await?;
        lines.extend(tools(&known.quirks, &called(&first), &required, &auto));
        lines.push(parallel_calls(&known.quirks, &parallel));
    }
    lines.extend([window(&known), price(known.quirks.price.as_ref())]);
    Ok(lines)
}

/// What is called, and how.
struct ModelTrial<'a> {
    provider: &'a str,
    model: &'a str,
    wire: Arc<dyn Wire>,
    options: ModelOptions<'a>,
}

impl ModelTrial<'_> {
    async fn call(&self, quirks: Quirks, words: &str) -> Result<Result<Reply, Failure>, RunError> {
        let quirks = Quirks { output_tokens: quirks.output_tokens.min(MOST_OUTPUT), ..quirks };
        let model = open_remote(self.provider, self.model, Arc::clone(&self.wire), quirks, &self.options)?;
        let prompt = Prompt {
            tools: tool_specs(),
            messages: vec![Message::System { text: SYSTEM.to_owned() }, Message::User { text: words.to_owned() }],
        };
        Ok(model.reply(Request { prompt: &prompt, turn: 1, received: &AtomicU64::new(0) }).await)
    }
}

fn tool_specs() -> Arc<[ToolSpec]> {
    let tool = |name: &str, description: &str, field: &str, kind: &str| ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {field: {"type": kind}},
            "required": [field],
            "additionalProperties": false,
        }),
    };
    Arc::from([
        tool("note", "Notes a short text down.", "text", "string"),
        tool("wait", "Waits for some seconds.", "seconds", "integer"),
    ])
}

/// Server, key and model's name, as far as the first call tells.
fn reached(first: &Result<Reply, Failure>) -> Vec<ProbeResult> {
    let ok = |name, detail: &str| probed(name, Ok(detail.to_owned()));
    let (server, key, model) = ("server", "key", "name");
    let failure = match first {
        Ok(reply) => {
            let answered = format!("{} answers, with {} tokens", reply.model, reply.usage.output);
            return vec![ok(server, "it answers"), ok(key, "it is accepted"), ok(model, &answered)];
        }
        Err(failure) => failure,
    };
    let failed = |name| probed(name, Err(failure.reason.clone()));
    match failure.kind {
        FailureKind::Unreachable
        | FailureKind::TimedOut
        | FailureKind::Stalled
        | FailureKind::BrokenStream
        | FailureKind::Overloaded
        | FailureKind::Conflict
        | FailureKind::Exhausted => vec![failed(server)],
        FailureKind::KeyRefused | FailureKind::QuotaUsed | FailureKind::RateLimited => {
            vec![ok(server, "it answers"), failed(key)]
        }
        FailureKind::NotFound => vec![ok(server, "it answers"), failed(model)],
        // Whether for the way the tools were asked for, or for another reason, the calls to come tell.
        FailureKind::ContextLength
        | FailureKind::BadRequest
        | FailureKind::HistoryRefused
        | FailureKind::Server
        | FailureKind::Malformed => {
            vec![ok(server, "it answers")]
        }
    }
}

/// Whether the tool was called as asked.
fn called(reply: &Result<Reply, Failure>) -> Result<(), String> {
    let reply = reply.as_ref().map_err(|failure| failure.reason.clone())?;
    let is_asked =
        |call: &&overnight_core::message::ToolCall| call.name == "note" && call.arguments["text"].is_string();
    if reply.calls.iter().any(|call| is_asked(&call)) {
        return Ok(());
    }
    Err(match reply.calls.first() {
        Some(call) => format!("it called {} with {}", call.name, call.arguments),
        None => "it answered with text and called no tool".to_owned(),
    })
}

fn tools(
    quirks: &Quirks,
    set: &Result<(), String>,
    required: &Result<(), String>,
    auto: &Result<(), String>,
) -> Vec<ProbeResult> {
    let shown = |choice: &Result<(), String>| match choice {
        Ok(()) => Ok("works".to_owned()),
        // What isn't used needs not work.
        Err(what) if set.is_ok() => Ok(format!("doesn't work, and isn't used ({what})")),
        Err(what) => Err(format!("doesn't work ({what})")),
    };
    let advice = match (required, auto) {
        (Ok(()), Ok(()) | Err(_)) => "add `tool_choice: required` for this model to the models file",
        (Err(_), Ok(())) => "add `tool_choice: auto` for this model to the models file",
        (Err(_), Err(_)) => "a job can't be worked with it; use another model, or a server that can call tools",
    };
    let name = match quirks.tool_choice {
        ToolChoice::Unset => "not told which",
        ToolChoice::Auto => "auto",
        ToolChoice::Required => "required",
    };
    vec![
        probed(
            "tools",
            match set {
                Ok(()) => Ok(format!("they are called, with the table's tool choice ({name})")),
                Err(what) => Err(format!("with the table's tool choice ({name}): {what}; {advice}")),
            },
        ),
        probed("required", shown(required)),
        probed("auto", shown(auto)),
    ]
}

/// Whether several calls come in one reply: that saves turns, and nothing else depends on it.
fn parallel_calls(quirks: &Quirks, reply: &Result<Reply, Failure>) -> ProbeResult {
    let found = match reply {
        Ok(reply) if reply.calls.len() > 1 && quirks.parallel_calls == Some(false) => {
            "several calls come in one reply, though the models file says `parallel_calls: false`".to_owned()
        }
        Ok(reply) if reply.calls.len() > 1 => "several calls come in one reply".to_owned(),
        Ok(_) => "one call comes at a time: jobs take more turns".to_owned(),
        Err(failure) if quirks.parallel_calls == Some(false) => format!("not used ({})", failure.reason),
        Err(failure) => {
            let advice = "if jobs fail too, add `parallel_calls: false` for this model to the models file";
            format!("asked for several calls, it failed ({}); {advice}", failure.reason)
        }
    };
    probed("parallel", Ok(found))
}

fn window(known: &KnownModel) -> ProbeResult {
    let tokens = known.quirks.window_tokens;
    let found = if known.has_window {
        format!("{tokens} tokens, by the table")
    } else {
        format!("not known, taken for {tokens} tokens: add `window_tokens` for this model to the models file")
    };
    probed("window", Ok(found))
}

fn price(price: Option<&Price>) -> ProbeResult {
    let found = match price {
        Some(Price { dated, input, output, .. }) => {
            format!("{input} USD per million tokens in, {output} out, as of {dated}")
        }
        None => {
            "not known: jobs count tokens only, and --cost can't hold them; add `price` for this model to the models file"
                .to_owned()
        }
    };
    probed("price", Ok(found))
}
