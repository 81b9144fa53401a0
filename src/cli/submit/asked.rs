//! What a batch's jobs are asked to do, and who does it: instructions under the limits of this command line, and models that
//! could be opened.

use crate::{
    cli::{
        CliError, Office,
        instructions::Found,
        out,
        run::{DEFAULT_MODEL, bounded},
        server::{self, Models, Target},
    },
    config::Settings,
};
use overnight_core::job::instructions::{Instructions, MIN_BUDGET_TOKENS};

/// Instructions with their models.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) instructions: Instructions,
    /// Their file's text.
    pub(super) text: String,
    pub(super) target: Target,
    pub(super) models: Models,
    /// Tokens that a prompt may have.
    pub(super) budget_tokens: u64,
}

impl Asked {
    /// Opens the models that `found` and the settings name. Without an office there is no job that could be replayed.
    pub(super) async fn open(found: Found, settings: &Settings, office: Option<&Office>) -> Result<Self, CliError> {
        let mut instructions = bounded(found.instructions, settings);
        for key in instructions.not_acted_on() {
            out::talk(&format!("`{key}` in the instructions has no effect in this version"));
        }
        let name = settings.model.value.clone().or_else(|| instructions.model.clone());
        for name in &mut instructions.fallback {
            *name = lasting(name);
        }
        let target = Target::new(lasting(name.as_deref().unwrap_or(DEFAULT_MODEL)), settings);
        let target = Target { is_never_called: office.is_none(), ..target };
        let models = match office {
            Some(office) => server::open_all(office, &target, &instructions.fallback).await?,
            None => server::all_without_jobs(settings, &target, &instructions.fallback)?,
        };
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

    /// The name under which any worker finds the model.
    pub(super) fn model(&self) -> &str {
        self.models.first.name()
    }
}

/// The name of a model as a worker in another folder finds it.
fn lasting(name: &str) -> String {
    let absolute = name.strip_prefix("scripted:").and_then(|file| std::path::absolute(file).ok());
    let file = absolute.and_then(|path| path.into_os_string().into_string().ok());
    file.map_or_else(|| name.to_owned(), |file| format!("scripted:{file}"))
}
