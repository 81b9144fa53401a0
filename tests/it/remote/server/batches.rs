//! The batch endpoints of OpenAI, Anthropic and Gemini. Each call of a batch is read and answered as one that comes alone; what
//! may become of a batch, the setup says. A batch goes on when it is asked about, so that nothing hangs on the time.
//!
//! - here: the setup, what is counted, and what the vendors' requests share
//! - `kept`: batches as the server keeps them; `openai`, `anthropic`, `gemini`: requests and answers
//!
//! Sources: openai-python, anthropic-sdk-python and python-genai of August 2026, and reports about them, named where they matter.

mod anthropic;
mod gemini;
mod kept;
mod openai;

pub(super) use kept::Batches;

use super::{format::Format, http::Asking, serve::Shared};
use overnight_core::{job::digest::sha256, message::Prompt};
use serde_json::Value;
use std::collections::BTreeMap;

/// How the batch endpoints are to be.
#[derive(Clone, Debug)]
pub(crate) struct Batching {
    /// After so many questions a batch has ended.
    pub(crate) polls: u64,
    /// The first so many creations happen, and their answer is a 500.
    pub(crate) loses_creations: u64,
    /// Somebody else makes so many batches behind each of those, as large as it.
    pub(crate) others: usize,
    /// The first so many times that results are asked for, they are refused with a 403.
    pub(crate) early_403: u64,
    /// The first so many times that results are fetched, a page of HTML comes, with a 200; not of Gemini.
    pub(crate) rubbish: u64,
    /// Results have names that nobody has given; not of Gemini.
    pub(crate) foreign: bool,
    /// The first so many questions about a batch are answered with a 404.
    pub(crate) early_404: u64,
    /// The first so many batches expire: every second call is not done, of Gemini none is.
    pub(crate) expiring: u64,
    /// The first so many batches end only when they are cancelled, and as those that expire.
    pub(crate) stuck: usize,
    /// Tokens of prompts that may be in line; of OpenAI only.
    pub(crate) most_tokens: Option<u64>,
    /// Calls of one batch, which are too many tokens; of OpenAI only.
    pub(crate) most_calls: Option<usize>,
    /// The first batch that has this call, counted from 1, is told that it is wrong.
    pub(crate) wrong_line: Option<usize>,
    /// Results don't say whose they are; of Gemini only.
    pub(crate) without_keys: bool,
    /// Batches on one page of a list, at most; of OpenAI and Gemini.
    pub(crate) page: usize,
}

impl Default for Batching {
    fn default() -> Self {
        Self {
            polls: 2,
            loses_creations: 0,
            others: 0,
            early_403: 0,
            rubbish: 0,
            foreign: false,
            early_404: 0,
            expiring: 0,
            stuck: 0,
            most_tokens: None,
            most_calls: None,
            wrong_line: None,
            without_keys: false,
            page: 100,
        }
    }
}

/// What happened at the batch endpoints so far, and which calls were answered, there and one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BatchCounts {
    /// The numbers of calls of all batches that were created, in their order; those of somebody else are not among them.
    pub(crate) created: Vec<usize>,
    /// Batches whose creation was answered with an error.
    pub(crate) lost: u64,
    /// Batches of which nothing was taken.
    pub(crate) failed: u64,
    pub(crate) expired: u64,
    pub(crate) cancelled: u64,
    /// How often each call was answered, by its name.
    pub(crate) in_batches: BTreeMap<String, u64>,
    pub(crate) live: BTreeMap<String, u64>,
}

impl BatchCounts {
    /// Calls that were answered more than once, wherever.
    pub(crate) fn answered_twice(&self) -> Vec<String> {
        let mut all = self.in_batches.clone();
        for (call, times) in &self.live {
            *all.entry(call.clone()).or_default() += times;
        }
        all.into_iter().filter(|(_, times)| *times > 1).map(|(call, times)| format!("{times} times: {call}")).collect()
    }

    pub(super) fn answered_live(&mut self, prompt: &Prompt) {
        *self.live.entry(name_of(prompt)).or_default() += 1;
    }
}

/// A call's name: the hash of what the model is shown, which is the same in a batch and alone, and the end of that.
fn name_of(prompt: &Prompt) -> String {
    let shown = format!("{:?} {:?}", prompt.tools, prompt.messages);
    let last = prompt.messages().last().map(|message| format!("{message:?}")).unwrap_or_default();
    let end: String = last.chars().skip(last.chars().count().saturating_sub(80)).collect();
    format!("{} …{end}", &sha256(shown.as_bytes())[..16])
}

/// An answer as it is written.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) mime: &'static str,
    pub(super) body: String,
}

impl Answered {
    fn json(body: &Value) -> Self {
        Self { status: 200, mime: "application/json", body: body.to_string() }
    }

    /// Lines of JSON, the last first: results come in any order.
    fn lines(mime: &'static str, lines: impl DoubleEndedIterator<Item = Value>) -> Self {
        Self { status: 200, mime, body: lines.rev().map(|line| line.to_string() + "\n").collect() }
    }
}

/// Why a request is refused.
#[derive(Debug)]
struct Denied {
    status: u16,
    words: String,
    /// The client is at fault.
    is_fault: bool,
}

impl Denied {
    fn fault(words: impl Into<String>) -> Self {
        Self { status: 400, words: words.into(), is_fault: true }
    }

    /// Refused for a moment, or as it may happen to anybody.
    fn now(status: u16, words: &str) -> Self {
        Self { status, words: words.to_owned(), is_fault: false }
    }
}

fn unknown(id: &str) -> Denied {
    Denied { status: 404, words: format!("No batch or file found with id '{id}'."), is_fault: true }
}

/// A field of the query.
fn query<'a>(asking: &'a Asking, name: &str) -> Option<&'a str> {
    asking
        .query()
        .split('&')
        .filter_map(|one| one.split_once('='))
        .find(|(found, _)| *found == name)
        .map(|(_, value)| value)
}

/// How many are wanted on a page: `most` at most.
fn page(asking: &Asking, name: &str, most: usize) -> Result<usize, Denied> {
    let Some(wanted) = query(asking, name) else { return Ok(20) };
    let wanted = wanted.parse().ok().filter(|wanted| (1..=most).contains(wanted));
    wanted.ok_or_else(|| Denied::fault(format!("Invalid '{name}': expected a number from 1 to {most}.")))
}

fn json_of(asking: &Asking) -> Result<Value, Denied> {
    serde_json::from_slice(&asking.body)
        .map_err(|error| Denied::fault(format!("We could not parse the JSON body of your request: {error}")))
}

/// Answers what is asked of a batch endpoint; none: it is something else.
pub(super) async fn answer(asking: &Asking, setup: &Batching, shared: &Shared) -> Option<Answered> {
    let path = asking.path();
    let is = |roots: &[&str]| {
        roots.iter().any(|root| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    let format = if is(&["/v1/files", "/v1/batches"]) {
        Format::OpenAi
    } else if is(&["/v1/messages/batches"]) {
        Format::Anthropic
    } else if is(&["/v1beta/batches"]) || path.ends_with(":batchGenerateContent") {
        Format::Gemini
    } else {
        return None;
    };
    let mut batches = shared.batches.lock().await;
    let answered = if shared.setup.key.is_some() && format.key(asking) != shared.setup.key {
        Err(Denied::now(401, "API key not valid. Please pass a valid API key."))
    } else {
        match format {
            Format::Anthropic => anthropic::answer(asking, setup, shared, &mut batches).await,
            Format::Gemini => gemini::answer(asking, setup, shared, &mut batches).await,
            _ => openai::answer(asking, setup, shared, &mut batches).await,
        }
    };
    Some(answered.unwrap_or_else(|denied| {
        if denied.is_fault {
            shared.complain(format!("{} batches, {} {path}: {}", format.name(), asking.method, denied.words));
        }
        let body = match format {
            Format::Anthropic => anthropic::refusal(&denied),
            Format::Gemini => gemini::refusal(&denied),
            _ => openai::refusal(&denied),
        };
        Answered { status: denied.status, mime: "application/json", body: body.to_string() }
    }))
}
