//! Tries a model behind HTTP with one short conversation like a job's: a long beginning that each turn repeats, two
//! turns that call tools, and the replies' carried data sent back. Each line states the result, and the remedy if
//! something is wrong.

use super::{ModelOptions, RunError, remote_models::open_remote, today};
use crate::model::{
    Failure, FailureKind, Model, Remedy, Request,
    remote::{self, RemoteModel, Timeouts},
    table::{self, KnownModel, Price, Quirks, ToolChoice},
};
use overnight_core::{
    message::{Message, Prompt, Reply, Stop, ToolCall, ToolSpec, Usage},
    tokens::estimate,
};
use serde_json::json;
use std::{
    fmt::Write,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

/// Tokens of a reply: models that reason do so first.
const MOST_OUTPUT: u64 = 16_384;
/// How long a call may take: a person waits for it.
const CALL_TIMEOUT: Duration = Duration::from_mins(2);
/// Two turns that call tools, and the answer.
const TURNS: u64 = 3;
const SYSTEM: &str = "A program tests whether you can call tools. Do exactly what is asked, and nothing else. The list that \
    follows means nothing; it is there to make this text long.\n\n";
/// Lines of that list: more tokens than the minimum of any provider's cache.
const LIST: u64 = 480;
const ASK: &str = "Do this in order:\n\
    1. In one reply, call the tool `note` with the text \"one\" and the tool `wait` with 2 seconds.\n\
    2. When you have both results, call `note` with the text \"three\".\n\
    3. When you have that result, answer with the word ready.";

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    pub name: &'static str,
    pub passed: bool,
    /// The finding, or the remedy.
    pub detail: String,
}

fn probed(name: &'static str, found: Result<String, String>) -> ProbeResult {
    ProbeResult { name, passed: found.is_ok(), detail: found.unwrap_or_else(|error| error) }
}

/// Converses with the model called `name`. Nothing is tried with a model inside the program.
pub async fn probe(name: &str, options: &ModelOptions<'_>) -> Result<Vec<ProbeResult>, RunError> {
    let (provider, model) = name.split_once(':').unwrap_or((name, ""));
    let known = table::known(name, options.models.as_ref(), today());
    let Some(wire) = remote::wire_of(provider, known.quirks.api) else { return Ok(Vec::new()) };
    let timeouts = options.timeouts;
    let (first_byte, idle, whole) =
        (timeouts.first_byte.min(CALL_TIMEOUT), timeouts.idle.min(CALL_TIMEOUT), CALL_TIMEOUT * 2);
    let options = ModelOptions { timeouts: Timeouts { first_byte, idle, whole }, ..options.clone() };
    let open = |tool_choice| {
        let output_tokens = known.quirks.output_tokens.min(MOST_OUTPUT);
        let quirks = Quirks { output_tokens, tool_choice, ..known.quirks.clone() };
        open_remote(provider, model, &wire, quirks, &options)
    };
    let set = known.quirks.tool_choice;
    let remote = open(set)?;
    let told = ProbeConversation::with(&remote).await;
    let is_choice = match (&told.first, told.called()) {
        (Ok(_), called) => called.is_err(),
        (Err(failure), _) => matches!(failure.kind, FailureKind::BadRequest | FailureKind::Server),
    };
    let other = if set == ToolChoice::Required { ToolChoice::Auto } else { ToolChoice::Required };
    let retold = if is_choice { Some(ProbeConversation::with(&open(other)?).await) } else { None };
    let works = retold.as_ref().filter(|retold| retold.called().is_ok());
    let advice = match works {
        Some(_) => format!("add `tool_choice: {}` for this model to the models file", word(other)),
        None => "jobs can't be worked with it; use another model, or a server that can call tools".to_owned(),
    };
    let tools = told.called().map_err(|what| format!("with the table's tool choice ({}): {what}; {advice}", word(set)));
    let shown = works.unwrap_or(&told);
    let reply = match &shown.first {
        Ok(reply) => reply,
        Err(failure) if failure.kind == FailureKind::ContextLength => return Ok(vec![window(&known, shown, None)]),
        Err(failure) if is_choice => {
            let detail = format!("{}; {}", failure.reason, advice_on(failure));
            return Ok(vec![probed("call", Err(detail))]);
        }
        Err(failure) => return Ok(vec![probed("call", Err(failure.reason.clone()))]),
    };
    let replies = told.replies().chain(retold.iter().flat_map(ProbeConversation::replies));
    let usages: Vec<Usage> = replies.map(|reply| reply.usage).collect();
    let mut lines = vec![
        probed("call", Ok(format!("{} answers", reply.model))),
        probed("tools", tools.map(|()| format!("they are called, with the table's tool choice ({})", word(set)))),
    ];
    lines.extend((!reply.calls.is_empty()).then(|| parallel_calls(&known.quirks, reply)));
    lines.extend(shown.later.first().map(|_| turns(shown)));
    lines.extend(cache(reply, &shown.later));
    let stated = remote.stated_window().await;
    lines.extend([window(&known, shown, stated), price(known.quirks.price.as_ref(), &remote, &usages)]);
    Ok(lines)
}

/// The replies in order, up to the first one without calls or the first failure.
struct ProbeConversation {
    first: Result<Reply, Failure>,
    later: Vec<Result<Reply, Failure>>,
    /// Estimated tokens of the first prompt.
    tokens: u64,
}

impl ProbeConversation {
    async fn with(model: &RemoteModel) -> Self {
        let system = (1..=LIST).fold(SYSTEM.to_owned(), |mut text, shelf| {
            let _ = writeln!(text, "Shelf {shelf} has {} boxes of chalk and {} of tape.", shelf % 7, shelf % 11);
            text
        });
        let tokens = estimate(&system) + estimate(ASK);
        let mut prompt = Prompt::new(tool_specs(), vec![Message::System { text: system }, Message::user(ASK)]);
        let ask = async |prompt: &Prompt, turn| {
            model
                .reply(Request {
                    prompt,
                    turn,
                    conversation: 0,
                    turn_of_conversation: turn,
                    received: &AtomicU64::new(0),
                })
                .await
        };
        let first = ask(&prompt, 1).await;
        let mut later: Vec<Result<Reply, Failure>> = Vec::new();
        for turn in 2..=TURNS {
            match later.last().unwrap_or(&first) {
                Ok(reply) if !reply.calls.is_empty() && reply.stop == Stop::Done => {
                    prompt.messages.extend(answered(turn - 1, reply).into_iter().map(Arc::new));
                }
                Ok(_) | Err(_) => break,
            }
            later.push(ask(&prompt, turn).await);
        }
        Self { first, later, tokens }
    }

    fn replies(&self) -> impl Iterator<Item = &Reply> {
        std::iter::once(&self.first).chain(&self.later).filter_map(|reply| reply.as_ref().ok())
    }

    /// Whether the first reply calls a tool as it was asked to.
    fn called(&self) -> Result<(), String> {
        let reply = self.first.as_ref().map_err(|failure| failure.reason.clone())?;
        let is_asked = |call: &ToolCall| match call.name.as_str() {
            "note" => call.arguments["text"].is_string(),
            "wait" => call.arguments["seconds"].is_number(),
            _ => false,
        };
        match reply.calls.first() {
            _ if reply.stop == Stop::Refused => Err("the provider withheld its reply".to_owned()),
            _ if reply.stop == Stop::Length => {
                Err(format!("its reply was not done after the {MOST_OUTPUT} tokens of this trial"))
            }
            Some(_) if reply.calls.iter().all(is_asked) => Ok(()),
            Some(call) => Err(format!("it called {} with {}", call.name, call.arguments)),
            None => Err("it answered with text and called no tool".to_owned()),
        }
    }
}

/// The reply of a turn with all that came with it, and the results of its calls.
fn answered(turn: u64, reply: &Reply) -> Vec<Message> {
    let calls = (1..)
        .zip(&reply.calls)
        .map(|(place, call): (u64, _)| ToolCall { id: format!("call_{turn}_{place}"), ..call.clone() });
    let calls: Vec<ToolCall> = calls.collect();
    let results: Vec<Message> = calls
        .iter()
        .map(|call| Message::Tool {
            call: call.id.clone(),
            name: call.name.clone(),
            text: "done".to_owned(),
            images: Vec::new(),
        })
        .collect();
    let said = Message::Assistant { text: reply.text.clone(), calls, carried: reply.carried.clone() };
    std::iter::once(said).chain(results).collect()
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

fn word(choice: ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Unset => "not told which",
        ToolChoice::Auto => "auto",
        ToolChoice::Required => "required",
    }
}

/// Whether several calls come in one reply: that saves turns, and nothing else depends on it.
fn parallel_calls(quirks: &Quirks, reply: &Reply) -> ProbeResult {
    let found = match (reply.calls.len() > 1, quirks.parallel_calls) {
        (true, Some(false)) => "several calls come in one reply, though the models file says `parallel_calls: false`",
        (true, Some(true) | None) => "several calls come in one reply",
        (false, Some(false)) => "one call comes at a time, as the models file says: jobs take more turns",
        (false, Some(true) | None) => "one call comes at a time: jobs take more turns",
    };
    probed("parallel", Ok(found.to_owned()))
}

/// Whether the model continues from its own earlier replies and the results of its calls.
fn turns(told: &ProbeConversation) -> ProbeResult {
    let tokens: u64 = told.replies().map(|reply| reply.usage.reasoning).sum();
    let back = match (told.replies().any(|reply| reply.carried.is_some()), tokens) {
        (true, _) => {
            format!("results of calls go back, and with them what came of the model's reasoning ({tokens} tokens)")
        }
        (false, 0) => "results of calls go back; no reasoning came with the calls".to_owned(),
        (false, _) => format!("results of calls go back; none of the {tokens} tokens of reasoning has to"),
    };
    let failed = (2..).zip(&told.later).find_map(|(turn, reply): (u64, _)| Some((turn, reply.as_ref().err()?)));
    let found = match failed {
        None => Ok(back),
        Some((turn, failure)) => {
            Err(format!("{back}; then turn {turn} failed ({}): {}", failure.reason, advice_on(failure)))
        }
    };
    probed("turns", found)
}

fn advice_on(failure: &Failure) -> &'static str {
    match failure.kind.remedy() {
        Remedy::Retry { .. } => "try again later",
        Remedy::Reopen => "jobs lose their reasoning and begin anew each time; use another model or server",
        Remedy::AskAgain | Remedy::Compact | Remedy::Configure | Remedy::GiveUp => {
            "jobs can't be worked with it; use another model or server"
        }
    }
}

/// The part of the first prompt, with which all later ones begin, that the provider read from its cache.
fn cache(first: &Reply, later: &[Result<Reply, Failure>]) -> Option<ProbeResult> {
    let prefix = first.usage.input;
    let cached = later.iter().flatten().map(|reply| reply.usage.cached).max()?;
    let share = cached.min(prefix) * 100 / prefix.max(1);
    let found = match cached {
        0 => format!("none of the {prefix} tokens that were sent again were read from it, as the server counts"),
        _ => format!("{share}% of the {prefix} tokens that were sent again were read from it"),
    };
    Some(probed("cache", Ok(found)))
}

/// Whether the window is as large as the table states, as far as a large prompt and the server's own statement show.
fn window(known: &KnownModel, told: &ProbeConversation, stated: Option<u64>) -> ProbeResult {
    let (tokens, sent) = (known.quirks.window_tokens, told.tokens);
    let advice = "start the server with a larger window, or use another model";
    let found = match &told.first {
        Err(failure) => Err(format!(
            "{tokens} tokens are taken for it, and a prompt of about {sent} is too long ({}); {advice}",
            failure.reason
        )),
        Ok(reply) if reply.usage.input < sent / 2 => Err(format!(
            "{tokens} tokens are taken for it, and of a prompt of about {sent} the server read {}: it cuts prompts off and doesn't say so; {advice}",
            reply.usage.input
        )),
        Ok(_) if let Some(stated) = stated.filter(|stated| *stated < tokens) => Err(format!(
            "{tokens} tokens are taken for it, and the server says {stated}: set `window_tokens: {stated}` for this model in the models file"
        )),
        Ok(_) if known.has_window => Ok(format!("{tokens} tokens, by the table")),
        Ok(_) => {
            Ok(format!("not known, taken for {tokens} tokens: add `window_tokens` for this model to the models file"))
        }
    };
    probed("window", found)
}

/// The cost of the conversation.
fn price(price: Option<&Price>, model: &RemoteModel, usages: &[Usage]) -> ProbeResult {
    let sum = |of: fn(&Usage) -> u64| usages.iter().map(of).sum::<u64>();
    let took = format!("this took {} tokens in and {} out", sum(|usage| usage.input), sum(|usage| usage.output));
    let found = match price {
        Some(Price { dated, input, output, .. }) => {
            let usd: f64 = usages.iter().filter_map(|usage| model.cost(usage)).sum();
            format!(
                "{took} and cost {usd:.4} USD, at {input} USD per million tokens in and {output} out, as of {dated}"
            )
        }
        None => format!(
            "not known ({took}): jobs count tokens only, and a limit on the cost is refused; add `price` for this model to the models file"
        ),
    };
    probed("price", Ok(found))
}
