//! A submission of a schedule: its command line was typed earlier, in another folder.

use super::{SubmitArgs, SubmitOptions};
use crate::{
    cli::{
        CliError, instructions,
        job_request::{joined, with_limits},
        models::warn_of_retirement,
        out,
        server::{ServerArgs, Target, all_without_jobs, refuse_unpriced},
        settings,
    },
    config::{Flags, Settings},
};
use chrono::Local;
use clap::Parser;
use overnight_core::job::instructions::Instructions;
use std::path::{Path, PathBuf};

/// Parses the stored words of a command line.
#[derive(Debug, Parser)]
#[command(name = "overnight submit", no_binary_name = true, disable_help_flag = true)]
struct SubmitCommandLine {
    #[command(flatten)]
    submit: SubmitArgs,
}

impl SubmitArgs {
    /// Parses the arguments of `overnight submit`; relative paths begin in `folder`.
    pub(in crate::cli) fn of_words(words: &[String], folder: &Path) -> Result<Self, CliError> {
        let read = SubmitCommandLine::try_parse_from(words).map_err(|error| {
            let text = error.to_string();
            let sentence = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
            CliError::usage(format!("`overnight submit` doesn't take these words: {}", out::one_line(sentence)))
        })?;
        Ok(read.submit.below(folder))
    }

    /// Checks what would be wrong at any time and place of submission. Returns the words to add so that the model's server stays the same.
    pub(in crate::cli) fn check_for_schedule(&self, flags: Flags) -> Result<Vec<String>, CliError> {
        for (flag, is_typed) in [("--dry-run", self.dry_run), ("--json", self.json)] {
            if is_typed {
                return Err(CliError::usage(format!("{flag} is for a person who waits for the answer: leave it out")));
            }
        }
        if !self.add_to(flags.clone()).headers.is_empty() {
            return Err(CliError::usage(
                "--header may hold a secret, and a schedule is stored: set headers for the workers instead",
            ));
        }
        let options = SubmitOptions::checked(self, &Local::now())?;
        let (settings, found) = self.named(flags)?;
        for found in &found {
            let target = Target { is_never_called: true, ..Target::of_instructions(found, &settings) };
            // A model that can't be opened yet is reported when the run is submitted.
            if let Ok(models) = all_without_jobs(&settings, &target, found) {
                warn_of_retirement(&models);
                let limit = options.budget_usd.or(with_limits(found.clone(), &settings).limits.cost_usd);
                refuse_unpriced(&models, limit, &settings)?;
            }
        }
        Ok(ServerArgs::pinned_words(&settings))
    }

    /// The settings that the submission would have, and the instructions that it names.
    pub(in crate::cli) fn named(&self, flags: Flags) -> Result<(Settings, Vec<Instructions>), CliError> {
        let settings = settings(&self.add_to(flags))?;
        let find = |given: &String| Ok(instructions::find(&settings.instructions.value, given)?.instructions);
        let found = std::iter::once(&self.instructions).chain(&self.then).map(find).collect::<Result<_, CliError>>()?;
        Ok((settings, found))
    }

    fn below(mut self, folder: &Path) -> Self {
        for path in &mut self.documents {
            *path = folder.join(&path);
        }
        self.instructions = instructions_below(folder, &self.instructions);
        self.then = self.then.map(|then| instructions_below(folder, &then));
        self.server = self.server.below(folder);
        self.bounds = self.bounds.below(folder);
        self
    }
}

/// Resolves a path to instructions; a name stays unchanged.
fn instructions_below(folder: &Path, given: &str) -> String {
    let is_path = given.contains(std::path::is_separator) || PathBuf::from(given).extension().is_some();
    if is_path { joined(folder, given) } else { given.to_owned() }
}
