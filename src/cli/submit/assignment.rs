//! What the jobs of a batch are to do, and with which models: the instructions with this command line's limits, and the opened models.

use crate::{
    cli::{
        AppContext, CliError,
        instructions::FoundInstructions,
        job_request::{DEFAULT_MODEL, fit_budget, with_limits},
        models::warn_of_retirement,
        out,
        server::{self, Target},
    },
    config::Settings,
    worker::JobModels,
};
use overnight_core::job::instructions::{Instructions, MIN_BUDGET_TOKENS};

/// Instructions, and the models that execute them.
#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) instructions: Instructions,
    /// The text of the instructions file.
    pub(super) text: String,
    pub(super) target: Target,
    pub(super) models: JobModels,
    /// Tokens that a prompt may have.
    pub(super) budget_tokens: u64,
}

impl Assignment {
    /// Opens the models that `found` and the settings name. Without an `app` no job can be replayed.
    pub(super) async fn open(
        found: FoundInstructions,
        settings: &Settings,
        app: Option<&AppContext>,
    ) -> Result<Self, CliError> {
        let mut instructions = with_limits(found.instructions, settings);
        for key in instructions.not_acted_on() {
            out::note(&format!("`{key}` in the instructions has no effect in this version"));
        }
        let name = settings.model.value.clone().or_else(|| instructions.model.clone());
        for name in instructions.other_models_mut() {
            *name = with_absolute_path(name);
        }
        let target = Target::new(with_absolute_path(name.as_deref().unwrap_or(DEFAULT_MODEL)), settings);
        let target = Target { is_never_called: app.is_none(), ..target };
        let models = match app {
            Some(app) => server::open_all(app, &target, &instructions).await?,
            None => server::all_without_jobs(settings, &target, &instructions)?,
        };
        warn_of_retirement(&models);
        fit_budget(&mut instructions, &models);
        if models.first.is_rules() {
            instructions.without_own_proof();
        }
        let window = models.first.window_tokens();
        let budget_tokens = instructions.context.budget_tokens.min(window);
        if budget_tokens < MIN_BUDGET_TOKENS {
            return Err(CliError::usage(format!(
                "the model {} has room for {window} tokens, and a job needs at least {MIN_BUDGET_TOKENS}: use a model with a larger window",
                models.first.name()
            )));
        }
        Ok(Self { instructions, text: found.text, target, models, budget_tokens })
    }

    /// The name by which any worker finds the model.
    pub(super) fn model(&self) -> &str {
        self.models.first.name()
    }
}

/// The name of a model for a worker in another folder.
fn with_absolute_path(name: &str) -> String {
    let absolute = name.strip_prefix("scripted:").and_then(|file| std::path::absolute(file).ok());
    let file = absolute.and_then(|path| path.into_os_string().into_string().ok());
    file.map_or_else(|| name.to_owned(), |file| format!("scripted:{file}"))
}
