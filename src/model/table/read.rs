//! Reads the table; every error names its line.

use super::{Api, LongPrompt, PartialQuirks, Price, ReasoningLevels, TableEntry, TakesImages, ToolChoice};
use chrono::NaiveDate;
use globset::GlobBuilder;
use overnight_core::yaml::{ValueError, YamlError, YamlFile, YamlNode, YamlValue};
use serde_json::{Map, Value};

/// Letters of a pattern, of a field's name, of a text at which a call is cut off.
const MOST_LETTERS: usize = 200;
/// The highest price, in USD per million tokens.
const MOST_PRICE: f64 = 1_000_000.0;
/// The highest factor by which a long prompt may multiply the price.
const MOST_TIMES: f64 = 100.0;
/// The model without a server: it may be given a price, to rehearse the cost of a night. It can have no other field.
const OFFLINE: &str = "offline";
/// The keys of a price.
const PRICE_KEYS: [&str; 6] = ["dated", "input", "output", "cached", "cache_written", "long"];
/// The fewest tokens that make a usable window or reply.
const LEAST_TOKENS: u64 = 16;

pub(super) fn entries(text: &str) -> Result<Vec<TableEntry>, YamlError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let yaml = YamlFile::parse(text)?;
    let read = || {
        let table = yaml.root().table(&["version", "models"])?;
        let version = table.required("version")?;
        if version.count(0)? != 1 {
            return Err(version.wrong("must be 1, the only version that this program reads"));
        }
        let models = table.get("models").map(YamlValue::list).transpose()?.unwrap_or_default();
        models.iter().map(entry).collect()
    };
    read().map_err(|wrong| yaml.fault(wrong))
}

fn entry(at: &YamlValue<'_>) -> Result<TableEntry, ValueError> {
    let table = at.table(&[
        "match",
        "api",
        "reasoning",
        "flex",
        "batch",
        "window_tokens",
        "output_tokens",
        "tool_choice",
        "parallel_calls",
        "streams",
        "output_field",
        "extra",
        "stop",
        "cache_marks",
        "cache_key_header",
        "repairs",
        "images",
        "price",
        "retires",
    ])?;
    let pattern_at = table.required("match")?;
    let pattern = pattern_at.line(MOST_LETTERS)?.to_lowercase();
    if pattern == OFFLINE {
        at.table(&["match", "price"])?;
    } else if !pattern.contains(':') {
        return Err(pattern_at.wrong("must be provider:name, such as \"openai:gpt-4o*\", or offline"));
    }
    let glob = GlobBuilder::new(&pattern)
        .empty_alternates(true)
        .build()
        .map_err(|error| pattern_at.wrong(format!("is no pattern ({})", error.kind())))?;
    let words = [("unset", ToolChoice::Unset), ("auto", ToolChoice::Auto), ("required", ToolChoice::Required)];
    let images =
        [("no", TakesImages::No), ("in_result", TakesImages::InResult), ("behind_results", TakesImages::BehindResults)];
    let tokens = |key| table.get(key).map(|at| at.count(LEAST_TOKENS)).transpose();
    let flag = |key| table.get(key).map(YamlValue::flag).transpose();
    let extra = match table.get("extra") {
        Some(at) => {
            at.entries()?.iter().map(|at| Ok((at.key().to_owned(), value(at.node())))).collect::<Result<_, _>>()?
        }
        None => Map::new(),
    };
    let says = PartialQuirks {
        api: table.get("api").map(|at| at.word(&[("chat", Api::Chat), ("responses", Api::Responses)])).transpose()?,
        reasoning: table.get("reasoning").map(reasoning).transpose()?,
        flex: table.get("flex").map(|at| at.number(0.0, 1.0)).transpose()?,
        batch: table.get("batch").map(|at| at.number(0.0, 1.0)).transpose()?,
        window_tokens: tokens("window_tokens")?,
        output_tokens: tokens("output_tokens")?,
        tool_choice: table.get("tool_choice").map(|at| at.word(&words)).transpose()?,
        parallel_calls: flag("parallel_calls")?,
        streams: flag("streams")?,
        output_field: table.get("output_field").map(|at| at.line(MOST_LETTERS)).transpose()?,
        extra,
        // Unchanged: blanks and line ends count.
        stop: table.get("stop").map(|at| at.list()?.iter().map(text).collect()).transpose()?,
        cache_marks: flag("cache_marks")?,
        cache_key_header: table.get("cache_key_header").map(|at| at.line(MOST_LETTERS)).transpose()?,
        repairs: flag("repairs")?,
        images: table.get("images").map(|at| at.word(&images)).transpose()?,
        prices: table.get("price").map(prices).transpose()?,
        retires: table.get("retires").map(|at| Ok(day(at, "the day from which the model is gone")?.0)).transpose()?,
    };
    let fields = at.entries()?.iter().map(|at| at.key().to_owned()).filter(|key| key != "match").collect();
    Ok(TableEntry { matches: glob.compile_matcher(), says, fields })
}

fn text(at: &YamlValue<'_>) -> Result<String, ValueError> {
    match at.node() {
        YamlNode::Text(text) if !text.is_empty() && text.len() <= MOST_LETTERS => Ok(text.clone()),
        YamlNode::Null
        | YamlNode::Flag(_)
        | YamlNode::Whole(_)
        | YamlNode::Number(_)
        | YamlNode::Text(_)
        | YamlNode::List(_)
        | YamlNode::Map(_) => Err(at.wrong("must be a short text")),
    }
}

fn reasoning(at: &YamlValue<'_>) -> Result<ReasoningLevels, ValueError> {
    let table = at.table(&["levels", "default"])?;
    let levels_at = table.required("levels")?;
    let levels: Vec<String> = levels_at.list()?.iter().map(text).collect::<Result<_, _>>()?;
    let default = match table.get("default") {
        Some(at) => {
            let level = text(at)?;
            if !levels.contains(&level) {
                return Err(at.wrong(format!("must be one of the levels: {}", levels.join(", "))));
            }
            Some(level)
        }
        None => None,
    };
    Ok(ReasoningLevels { levels, default })
}

fn long_prompt(at: &YamlValue<'_>) -> Result<LongPrompt, ValueError> {
    let table = at.table(&["above", "input_times", "output_times"])?;
    Ok(LongPrompt {
        above: table.required("above")?.count(1)?,
        input_times: table.required("input_times")?.number(0.0, MOST_TIMES)?,
        output_times: table.required("output_times")?.number(0.0, MOST_TIMES)?,
    })
}

/// A day, and its text; `what` names it in the error.
fn day(at: &YamlValue<'_>, what: &str) -> Result<(NaiveDate, String), ValueError> {
    let text = at.line(MOST_LETTERS)?;
    let day = NaiveDate::parse_from_str(&text, "%Y-%m-%d");
    day.map(|day| (day, text)).map_err(|_| at.wrong(format!("must be {what}, such as 2026-01-31")))
}

/// A price, or several of which all but the first say from when they hold.
fn prices(at: &YamlValue<'_>) -> Result<Vec<(NaiveDate, Price)>, ValueError> {
    if !matches!(at.node(), YamlNode::List(_)) {
        return Ok(vec![(NaiveDate::MIN, price(at, &PRICE_KEYS)?)]);
    }
    let mut prices: Vec<(NaiveDate, Price)> = Vec::new();
    for at in at.list()? {
        let keys = if prices.is_empty() { PRICE_KEYS.to_vec() } else { [&PRICE_KEYS[..], &["from"]].concat() };
        let price = price(&at, &keys)?;
        let from = match prices.last() {
            None => NaiveDate::MIN,
            Some((before, _)) => {
                let table = at.table(&keys)?;
                let from_at = table.required("from")?;
                let (from, _) = day(from_at, "the day from which the price holds")?;
                if from <= *before {
                    return Err(from_at.wrong("must be later than that of the price before it"));
                }
                from
            }
        };
        prices.push((from, price));
    }
    if prices.is_empty() { Err(at.wrong("must have at least one price")) } else { Ok(prices) }
}

fn price(at: &YamlValue<'_>, keys: &[&'static str]) -> Result<Price, ValueError> {
    let table = at.table(keys)?;
    let (_, dated) = day(table.required("dated")?, "the day on which the price was read")?;
    let usd = |at: &YamlValue<'_>| at.number(0.0, MOST_PRICE);
    Ok(Price {
        dated,
        input: usd(table.required("input")?)?,
        output: usd(table.required("output")?)?,
        cached: table.get("cached").map(usd).transpose()?,
        cache_written: table.get("cache_written").map(usd).transpose()?,
        long: table.get("long").map(long_prompt).transpose()?,
    })
}

/// A value that is sent unchanged.
fn value(node: &YamlNode) -> Value {
    match node {
        YamlNode::Null => Value::Null,
        YamlNode::Flag(flag) => Value::from(*flag),
        YamlNode::Whole(number) => Value::from(*number),
        YamlNode::Number(number) => Value::from(*number),
        YamlNode::Text(text) => Value::from(text.as_str()),
        YamlNode::List(nodes) => nodes.iter().map(value).collect(),
        YamlNode::Map(entries) => entries.iter().map(|(key, node)| (key.clone(), value(node))).collect(),
    }
}
