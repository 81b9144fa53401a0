//! Known facts about models: quirks, windows and prices, from one YAML table that users can extend.
//!
//! ```yaml
//! version: 1
//! models:
//!   - match: "openai:gpt-4o*"     # provider:name, with * ? [ab] {a,b}; letter case doesn't count
//!     window_tokens: 128000       # any field of `Quirks`; later entries override earlier ones
//! ```
//!
//! The current day comes from outside, because a price may hold from a day on.

mod listed;
mod read;

pub use listed::{ListedModel, listed};

use crate::model::ModelError;
use chrono::NaiveDate;
use globset::GlobMatcher;
use overnight_core::message::Usage;
use std::sync::LazyLock;

/// The table that is compiled into the program.
const SHIPPED: &str = include_str!("models.yaml");

/// USD per million tokens, on a day.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The day on which it was read from the provider's own page, `YYYY-MM-DD`.
    pub dated: String,
    pub input: f64,
    pub output: f64,
    /// Input served from the provider's cache; `None`: as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Input written to the provider's cache; `None`: as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_written: Option<f64>,
    /// The surcharge for a long prompt; `None`: every prompt costs the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrompt>,
}

/// The factors by which the price is multiplied for a prompt with more than this many tokens.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPrompt {
    /// Tokens of the prompt, cached ones included.
    pub above: u64,
    /// For all of the input, cached or not.
    pub input_times: f64,
    pub output_times: f64,
}

/// The price of keeping input for an hour, as a multiple of its price. Source: Anthropic's page on prompt caching.
const HOUR_TIMES: f64 = 2.0;

impl Price {
    /// USD of one call.
    #[expect(clippy::cast_precision_loss, reason = "no call has so many tokens that it matters")]
    pub fn cost(&self, usage: &Usage) -> f64 {
        let plain = usage.input.saturating_sub(usage.cached).saturating_sub(usage.cache_written);
        let input = plain as f64 * self.input
            + usage.cached as f64 * self.cached.unwrap_or(self.input)
            + usage.cache_written as f64 * self.cache_written.unwrap_or(self.input);
        let output = usage.output as f64 * self.output;
        let (input_times, output_times) = match self.long {
            Some(long) if usage.input > long.above => (long.input_times, long.output_times),
            Some(_) | None => (1.0, 1.0),
        };
        (input * input_times + output * output_times) / 1_000_000.0
    }

    /// The price where the provider's cache keeps everything for an hour.
    #[must_use]
    pub fn with_long_cache(self) -> Self {
        Self { cache_written: self.cache_written.map(|_| self.input * HOUR_TIMES), ..self }
    }

    /// The price of a tier that costs `share` of this one.
    #[must_use]
    pub fn times(&self, share: f64) -> Self {
        Self {
            input: self.input * share,
            output: self.output * share,
            cached: self.cached.map(|usd| usd * share),
            cache_written: self.cache_written.map(|usd| usd * share),
            ..self.clone()
        }
    }
}

/// The differences between requests to a model and the usual ones.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// The OpenAI endpoint at which the model is called.
    pub api: Api,
    /// How much the model may reason; `None`: the request doesn't state it.
    pub reasoning: Option<ReasoningLevels>,
    /// The share of the price that the tier `flex` costs; `None`: the provider has no such tier for this model.
    pub flex: Option<f64>,
    /// The share of the price that the tier `batch` costs; `None`: the provider has no batch endpoint for this model.
    pub batch: Option<f64>,
    /// Tokens of prompt and reply together.
    pub window_tokens: u64,
    /// Tokens of one reply, at most.
    pub output_tokens: u64,
    pub tool_choice: ToolChoice,
    /// Whether one reply may contain several calls; `None`: the request doesn't state it.
    pub parallel_calls: Option<bool>,
    /// Whether replies are streamed.
    pub streams: bool,
    /// The name of the body's field for `output_tokens`, where it is another than the wire format's usual one.
    pub output_field: Option<String>,
    /// Fields that are added to the body as they stand.
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// Texts at which a tool call is cut off: for servers that never stop.
    pub stop: Vec<String>,
    /// Mark the ends of the stable prefix and of the conversation for the provider's prompt cache; `None`: as is usual in
    /// the wire format (Anthropic marks, OpenAI doesn't).
    pub cache_marks: Option<bool>,
    /// The header that leads a request to the server that has its prefix in the cache; `None`: none does.
    pub cache_key_header: Option<String>,
    /// The parts that the provider's cache should keep for an hour: not set in a table, but by the way a job is worked.
    pub long_cache: LongCache,
    /// Whether malformed replies are repaired (`model::repair`); `None`: only for servers other than the vendor's own.
    pub repairs: Option<bool>,
    pub images: TakesImages,
    /// USD per million tokens; `None`: not known.
    pub price: Option<Price>,
    /// The day from which the provider no longer serves the model; `None`: unknown.
    pub retires: Option<NaiveDate>,
}

/// The parts that a provider's prompt cache should keep for an hour instead of minutes, at a higher price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LongCache {
    #[default]
    Nothing,
    /// The system prompt, which all jobs of a wave share.
    System,
    /// The conversation too: its calls may wait for minutes.
    All,
    /// The system prompt, and nothing else at all: the next call of the conversation comes in hours, if ever.
    SystemAlone,
}

impl Quirks {
    /// The level of reasoning that is asked for with every call.
    pub fn reasoning_level(&self) -> Option<&str> {
        self.reasoning.as_ref()?.default.as_deref()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The request doesn't state it.
    #[default]
    Unset,
    Auto,
    Required,
}

/// Whether a model takes images, and where the images that a tool returned are placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakesImages {
    #[default]
    No,
    /// In the result itself.
    InResult,
    /// In a user's message after the results: OpenAI's Chat Completions accept only text as results.
    BehindResults,
}

/// OpenAI's two endpoints for conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// Chat Completions, which compatible servers speak.
    #[default]
    Chat,
    /// Responses, which OpenAI's own models want since GPT-5.
    Responses,
}

/// How much a model may reason before it answers.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReasoningLevels {
    /// The provider's words for it, from least to most.
    pub levels: Vec<String>,
    /// One of `levels`, sent with every call; `None`: the provider's own default holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            api: Api::Chat,
            reasoning: None,
            flex: None,
            batch: None,
            window_tokens: 128_000,
            output_tokens: 8_192,
            tool_choice: ToolChoice::Unset,
            parallel_calls: None,
            streams: true,
            output_field: None,
            extra: serde_json::Map::new(),
            stop: Vec::new(),
            cache_marks: None,
            cache_key_header: None,
            long_cache: LongCache::Nothing,
            repairs: None,
            images: TakesImages::No,
            price: None,
            retires: None,
        }
    }
}

/// Entries in the order of their file.
#[derive(Clone, Debug, Default)]
pub struct ModelTable {
    entries: Vec<TableEntry>,
}

/// One entry: a pattern, and the quirks of the models that match it.
#[derive(Clone, Debug)]
struct TableEntry {
    matches: GlobMatcher,
    says: PartialQuirks,
    /// The names of the fields that it sets.
    fields: Vec<String>,
}

/// [`Quirks`] in which every field is optional.
#[derive(Clone, Debug, Default, PartialEq)]
struct PartialQuirks {
    api: Option<Api>,
    reasoning: Option<ReasoningLevels>,
    flex: Option<f64>,
    batch: Option<f64>,
    window_tokens: Option<u64>,
    output_tokens: Option<u64>,
    tool_choice: Option<ToolChoice>,
    parallel_calls: Option<bool>,
    streams: Option<bool>,
    output_field: Option<String>,
    extra: serde_json::Map<String, serde_json::Value>,
    stop: Option<Vec<String>>,
    cache_marks: Option<bool>,
    cache_key_header: Option<String>,
    repairs: Option<bool>,
    images: Option<TakesImages>,
    /// Each holds from its day on, until the next one does.
    prices: Option<Vec<(NaiveDate, Price)>>,
    retires: Option<NaiveDate>,
}

/// The quirks and the price of one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownModel {
    pub quirks: Quirks,
    /// Whether any entry states the size of the model's window.
    pub has_window: bool,
}

impl ModelTable {
    /// Reads a table. `file` names it in messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, ModelError> {
        let entries = read::entries(text)
            .map_err(|fault| ModelError::Table { place: format!("{file}:{}", fault.line), what: fault.what })?;
        Ok(Self { entries })
    }
}

/// The table that is compiled into the program, read once.
fn shipped() -> &'static ModelTable {
    // A test reads the table; if it were invalid all the same, the defaults would apply.
    static TABLE: LazyLock<ModelTable> =
        LazyLock::new(|| ModelTable::parse("models.yaml", SHIPPED).unwrap_or_default());
    &TABLE
}

/// The facts about `name`, which is `provider:name`, on the day `today`: from the shipped table, then from the user's.
pub fn known(name: &str, user: Option<&ModelTable>, today: NaiveDate) -> KnownModel {
    let name = name.to_lowercase();
    let entries = shipped().entries.iter().chain(user.iter().flat_map(|table| &table.entries));
    said(entries.filter(|entry| entry.matches.is_match(&name)), today)
}

/// The facts that the entries state, later ones over earlier ones.
fn said<'e>(entries: impl Iterator<Item = &'e TableEntry>, today: NaiveDate) -> KnownModel {
    let mut known = KnownModel::default();
    for entry in entries {
        known.has_window |= entry.says.window_tokens.is_some();
        entry.says.clone().apply_to(&mut known.quirks, today);
    }
    known
}

/// As [`known`], but only the quirks.
pub fn lookup(name: &str, user: Option<&ModelTable>, today: NaiveDate) -> Quirks {
    known(name, user, today).quirks
}

impl PartialQuirks {
    fn apply_to(self, quirks: &mut Quirks, today: NaiveDate) {
        fn put<T>(said: Option<T>, quirk: &mut T) {
            if let Some(said) = said {
                *quirk = said;
            }
        }
        put(self.window_tokens, &mut quirks.window_tokens);
        put(self.output_tokens, &mut quirks.output_tokens);
        put(self.tool_choice, &mut quirks.tool_choice);
        put(self.streams, &mut quirks.streams);
        put(self.stop, &mut quirks.stop);
        quirks.cache_marks = self.cache_marks.or(quirks.cache_marks);
        put(self.api, &mut quirks.api);
        put(self.images, &mut quirks.images);
        quirks.reasoning = self.reasoning.or(quirks.reasoning.take());
        quirks.flex = self.flex.or(quirks.flex);
        quirks.batch = self.batch.or(quirks.batch);
        quirks.parallel_calls = self.parallel_calls.or(quirks.parallel_calls);
        quirks.repairs = self.repairs.or(quirks.repairs);
        quirks.cache_key_header = self.cache_key_header.or(quirks.cache_key_header.take());
        quirks.output_field = self.output_field.or(quirks.output_field.take());
        let price = self.prices.and_then(|prices| prices.into_iter().rfind(|(from, _)| *from <= today));
        quirks.price = price.map(|(_, price)| price).or(quirks.price.take());
        quirks.retires = self.retires.or(quirks.retires);
        quirks.extra.extend(self.extra);
    }
}

#[cfg(test)]
mod tests;
