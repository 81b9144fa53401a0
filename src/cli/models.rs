//! `overnight models`: lists the facts about models; also the warnings about models that retire.

use super::{
    CliError, exit, out,
    progress::{amount, counted},
    server,
    table::{Align, TextTable, room},
};
use crate::{
    config::Flags,
    model::{
        Model,
        table::{Api, ListedModel, Price, listed},
    },
    runner::today,
    worker::JobModels,
};
use chrono::NaiveDate;
use overnight_core::job::spec::JobSpec;
use serde::Serialize;
use std::fmt::Write;

/// The number of days before its retirement from which a model causes a warning.
const NOTICE_DAYS: i64 = 14;

const EXAMPLES: &str = "\
Examples:
  overnight models
  overnight models sonnet
  overnight models openai:gpt-6-luna --json
  overnight models --models our-models.yaml";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ModelsArgs {
    /// A model, such as openai:gpt-6-luna, or a part of names
    word: Option<String>,
    /// A table of models that goes over the shipped one: windows, prices, quirks
    #[arg(long = "models", value_name = "FILE")]
    models_file: Option<String>,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// A model in `--json`. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize)]
struct ModelItem<'m> {
    #[serde(rename = "match")]
    pattern: &'m str,
    window_tokens: u64,
    output_tokens: u64,
    /// USD per million tokens, today.
    input_usd: Option<f64>,
    output_usd: Option<f64>,
    cached_usd: Option<f64>,
    cache_written_usd: Option<f64>,
    /// The day on which the price was read.
    price_dated: Option<&'m str>,
    api: Api,
    reasoning: Option<&'m [String]>,
    /// The share of the price that the tier `flex` costs.
    flex: Option<f64>,
    /// The share of the price that the tier `batch` costs.
    batch: Option<f64>,
    retires: Option<NaiveDate>,
    /// The fields that the user's table overrides for it.
    overridden: &'m [String],
}

pub(super) fn run(flags: Flags, args: &ModelsArgs) -> Result<u8, CliError> {
    let settings = super::settings(&Flags { models_file: args.models_file.clone(), ..flags })?;
    let table = server::models_table(&settings)?;
    let models = listed(args.word.as_deref(), table.as_ref(), today());
    if models.is_empty() {
        out::note("nothing is known of such a model: `overnight models` lists all, and --models adds others");
    }
    if args.json {
        out::json(&models.iter().map(item).collect::<Vec<_>>())?;
    } else if !models.is_empty() {
        out::result(&text(&models))?;
    }
    Ok(exit::COMPLETED)
}

fn item(model: &ListedModel) -> ModelItem<'_> {
    let quirks = &model.quirks;
    let price = quirks.price.as_ref();
    ModelItem {
        pattern: &model.pattern,
        window_tokens: quirks.window_tokens,
        output_tokens: quirks.output_tokens,
        input_usd: price.map(|price| price.input),
        output_usd: price.map(|price| price.output),
        cached_usd: price.and_then(|price| price.cached),
        cache_written_usd: price.and_then(|price| price.cache_written),
        price_dated: price.map(|price| price.dated.as_str()),
        api: quirks.api,
        reasoning: quirks.reasoning.as_ref().map(|reasoning| reasoning.levels.as_slice()),
        flex: quirks.flex,
        batch: quirks.batch,
        retires: quirks.retires,
        overridden: &model.overridden,
    }
}

/// Two lines for each model, or three: the values to compare in columns, the rest below.
fn text(models: &[ListedModel]) -> String {
    let mut table = TextTable::new(&[
        ("MATCH", Align::Cut),
        ("WINDOW", Align::Right),
        ("REPLY", Align::Right),
        ("IN/OUT/READ/WRITTEN", Align::Left),
        ("RETIRES", Align::Left),
    ]);
    for ListedModel { pattern, quirks, .. } in models {
        table.row(vec![
            pattern.clone(),
            amount(quirks.window_tokens),
            amount(quirks.output_tokens),
            quirks.price.as_ref().map_or_else(|| "–".to_owned(), usd),
            quirks.retires.map_or_else(|| "–".to_owned(), |day| day.to_string()),
        ]);
    }
    let table = table.render(room());
    let mut lines = table.lines();
    let mut text = format!("{}\n", lines.next().unwrap_or_default());
    for (line, model) in lines.zip(models) {
        let _ = writeln!(text, "{line}\n  {}", details(model));
        if !model.overridden.is_empty() {
            let _ = writeln!(text, "  by your table: {}", model.overridden.join(", "));
        }
    }
    text
}

fn usd(price: &Price) -> String {
    let or_dash = |usd: Option<f64>| usd.map_or_else(|| "–".to_owned(), |usd| usd.to_string());
    format!("{}/{}/{}/{}", price.input, price.output, or_dash(price.cached), or_dash(price.cache_written))
}

/// Letters of a line of details, so that it fits a terminal of 80 columns.
const MOST_IN_LINE: usize = 78;

fn details(ListedModel { quirks, .. }: &ListedModel) -> String {
    let api = match quirks.api {
        Api::Chat => None,
        Api::Responses => Some("responses".to_owned()),
    };
    let reasoning = quirks.reasoning.as_ref().map(|it| format!("effort {}", out::one_line(&it.levels.join("|"))));
    let tiers = match (quirks.flex, quirks.batch) {
        (Some(flex), Some(batch)) if flex.to_string() == batch.to_string() => Some(format!("flex/batch {flex}")),
        (Some(flex), Some(batch)) => Some(format!("flex {flex}; batch {batch}")),
        (Some(flex), None) => Some(format!("flex {flex}")),
        (None, Some(batch)) => Some(format!("batch {batch}")),
        (None, None) => None,
    };
    let dated = quirks.price.as_ref().map(|price| format!("priced {}", price.dated));
    let told: Vec<String> = [api, reasoning, tiers, dated].into_iter().flatten().collect();
    match (told.join("; "), told.last()) {
        (all, Some(last)) if all.chars().count() > MOST_IN_LINE => {
            format!("{}\n  {last}", all.strip_suffix(last.as_str()).unwrap_or(&all).trim_end_matches("; "))
        }
        (_, None) => "no price is known".to_owned(),
        (all, Some(_)) => all,
    }
}

/// A sentence on a model's retirement, and whether that is past; `None` while it is far off.
pub(super) fn retirement(model: &dyn Model, today: NaiveDate) -> Option<(bool, String)> {
    let day = model.retires()?;
    let days = day.signed_duration_since(today).num_days();
    let when = match u64::try_from(days) {
        Err(_) => format!("retired on {day}"),
        Ok(0) => format!("retires today, on {day}"),
        Ok(_) if days > NOTICE_DAYS => return None,
        Ok(left) => format!("retires on {day}, in {}", counted(left, "day")),
    };
    let todo = "name another one with --model or in the instructions; `overnight models` lists them";
    Some((days <= 0, format!("{} {when}: {todo}", model.name())))
}

/// Warns if a job is replayed over other documents than those that the replies are about.
pub(super) fn warn_of_other_documents(models: &JobModels, spec: &JobSpec) {
    for model in models.all() {
        let Some(recorded) = model.recorded_documents() else { continue };
        let others: Vec<&str> = spec
            .documents
            .iter()
            .filter(|document| !recorded.contains(&document.sha256))
            .map(|document| document.name.as_str())
            .collect();
        if let Some(first) = others.first() {
            let (count, first) = (counted(others.len() as u64, "document"), out::one_line(first));
            let text = format!(
                "warning: {} repeats what was said of other documents: {count} of this job ({first}, for one) it has not seen",
                model.name()
            );
            out::log(&out::LogMessage::new(out::LogLevel::Warn, "other_documents", &text));
        }
    }
}

/// Warns if a model of a job retires soon, or has retired.
pub(super) fn warn_of_retirement(models: &JobModels) {
    for model in models.all() {
        if let Some((_, sentence)) = retirement(model.as_ref(), today()) {
            out::log(&out::LogMessage::new(out::LogLevel::Warn, "model_retires", &sentence));
        }
    }
}
