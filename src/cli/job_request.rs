//! A job as `run` and `submit` request it: its model, its limits, and the location of its workspace.

use super::{CliError, local_time, out};
use crate::{
    config::{Flags, Settings},
    worker::JobModels,
};
use overnight_core::job::{
    instructions::{BatchUntil, Instructions},
    models::Tier,
    time::Timestamp,
};
use std::path::{Path, PathBuf};

/// The embedded model.
pub(super) const DEFAULT_MODEL: &str = "offline";
/// How long one model call may take at the tier `flex`.
const FLEX_CALL_MS: u64 = 20 * 60_000;
/// The most left-out files that are named one by one.
pub(super) const MOST_LEFT_OUT: usize = 10;

/// The model and the limits of a job, as typed.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct LimitArgs {
    /// Who does the work: offline, openai:NAME, anthropic:NAME, gemini:NAME, ollama:NAME, scripted:FILE or replay:JOB
    #[arg(long, short)]
    model: Option<String>,
    /// When the model answers: standard, flex (when its provider has room, for less), or batch (within hours, for half)
    #[arg(long, value_name = "TIER")]
    tier: Option<String>,
    /// At the tier batch: until when its answers are waited for, such as 05:00 or 6h; what is missing then is asked for at once
    #[arg(long, value_name = "TIME", value_parser = batch_until)]
    batch_until: Option<Timestamp>,
    /// Model calls of the whole job
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    turns: Option<String>,
    /// USD of the whole job
    #[arg(long, value_name = "USD", allow_negative_numbers = true, help_heading = "Limits")]
    cost: Option<String>,
    /// Go on where no price is known for a model, and a limit on the cost can't hold it
    #[arg(long, help_heading = "Limits")]
    unpriced: bool,
    /// Time of work of the whole job, such as 90m or 8h; holds don't count
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    wall_clock: Option<String>,
    /// Input and output tokens of the whole job, such as 500k or 20M
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    tokens: Option<String>,
}

impl LimitArgs {
    /// The limits of an evaluation.
    pub(super) fn of_eval(model: Option<String>, tier: Option<String>, unpriced: bool) -> Self {
        Self { model, tier, unpriced, ..Self::default() }
    }

    /// Resolves relative paths against `folder`.
    pub(super) fn below(mut self, folder: &Path) -> Self {
        self.model = self.model.map(|model| match model.strip_prefix("scripted:") {
            Some(file) => format!("scripted:{}", joined(folder, file)),
            None => model,
        });
        self
    }

    /// Adds what was typed to `flags`.
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            model: self.model.clone(),
            tier: self.tier.clone(),
            batch_until: self.batch_until,
            turns: self.turns.clone(),
            cost: self.cost.clone(),
            unpriced: self.unpriced.then(|| true.to_string()),
            wall_clock: self.wall_clock.clone(),
            tokens: self.tokens.clone(),
            ..flags
        }
    }
}

fn batch_until(text: &str) -> Result<Timestamp, String> {
    local_time::at(text, &chrono::Local::now())
}

/// Sub-agents of other models have the same budget as the job.
pub(super) fn fit_budget(instructions: &mut Instructions, models: &JobModels) {
    let budget = &mut instructions.context.budget_tokens;
    *budget = models.named.values().map(|model| model.window_tokens()).fold(*budget, u64::min);
}

/// The folder of workspaces, absolute.
pub(super) fn workspaces(settings: &Settings) -> Result<PathBuf, CliError> {
    let folder = &settings.workspaces.value;
    std::path::absolute(folder)
        .map_err(|error| CliError::usage(format!("the workspaces folder {} can't be used ({error})", folder.display())))
}

/// Names the files that are not among the documents, up to a bound.
pub(super) fn list_left_out(left_out: &[(PathBuf, String)]) {
    for (path, why) in left_out.iter().take(MOST_LEFT_OUT) {
        out::note(&format!("left out: {} ({})", out::one_line(&path.display().to_string()), out::one_line(why)));
    }
    if left_out.len() > MOST_LEFT_OUT {
        out::note(&format!("left out: {} more", left_out.len() - MOST_LEFT_OUT));
    }
}

/// The instructions with the limits of flags, environment and file, which take precedence over theirs.
pub(super) fn with_limits(mut instructions: Instructions, settings: &Settings) -> Instructions {
    let limits = &mut instructions.limits;
    limits.turns = settings.turns.value.unwrap_or(limits.turns);
    limits.tokens = settings.tokens.value.or(limits.tokens);
    limits.cost_usd = settings.cost_usd.value.or(limits.cost_usd);
    limits.wall_clock_ms = settings.wall_clock_ms.value.or(limits.wall_clock_ms);
    instructions.tier = settings.tier.value.unwrap_or(instructions.tier);
    instructions.batch_until = settings.batch_until.map(BatchUntil::At).or(instructions.batch_until);
    if instructions.tier == Tier::Flex {
        limits.model_call_ms = limits.model_call_ms.max(FLEX_CALL_MS);
    }
    let context = &mut instructions.context;
    context.budget_tokens = settings.budget_tokens.value.unwrap_or(context.budget_tokens);
    instructions
}

/// `folder` is UTF-8, as schedules store it.
pub(super) fn joined(folder: &Path, path: &str) -> String {
    folder.join(path).to_string_lossy().into_owned()
}
