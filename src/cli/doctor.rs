//! `overnight doctor`: each setting with where it came from, and whether what a job needs is there. A failing line says what
//! to do.

use super::{
    CliError, Office, exit, instructions,
    office::{missing_folder, no_jobs_yet},
    out,
    run::DEFAULT_MODEL,
    server::{self, Server, Target},
};
use crate::{
    config::{Partial, Settings},
    runner::Probed,
};
use console::style;
use serde::Serialize;
use std::{fmt::Write, path::Path};

/// The file that is written to see whether one can be.
const PROBE: &str = ".overnight-tmp-doctor";

#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// The model to try with a few tiny calls
    #[arg(long, short)]
    model: Option<String>,
    #[command(flatten)]
    server: Server,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Findings {
    settings: Vec<Shown>,
    checks: Vec<Tested>,
    passed: bool,
}

#[derive(Debug, Serialize)]
struct Shown {
    name: String,
    value: String,
    origin: String,
}

#[derive(Debug, Serialize)]
struct Tested {
    name: &'static str,
    passed: bool,
    /// What was found, or what to do.
    detail: String,
}

pub(super) async fn run(flags: Partial, args: &DoctorArgs) -> Result<u8, CliError> {
    let flags = args.server.put_into(Partial { model: args.model.clone(), ..flags });
    let settings = &super::settings(&flags)?;
    let office = Office::read_any(settings.clone()).await;
    let mut checks = vec![
        tested(
            "database",
            match &office {
                Ok(Some(_)) => Ok(format!("{} answers; its schema is up to date", settings.database_url.value)),
                Ok(None) => {
                    missing_folder(settings).map_or_else(|| Ok(no_jobs_yet(settings)), |error| Err(error.to_string()))
                }
                Err(error) if error.message.contains("--database-url") => Err(error.message.clone()),
                Err(error) => Err(format!("{error}; set --database-url, OVERNIGHT_DATABASE_URL or database_url")),
            },
        ),
        tested("workspaces", writable(&settings.workspaces.value)),
        tested("instructions", known(&settings.instructions.value)),
    ];
    let extractor = super::documents::extractor(settings);
    checks.push(tested("documents", extractor.map(|one| one.helpers()).map_err(|error| error.to_string())));
    let target = Target::new(settings.model.value.as_deref().unwrap_or(DEFAULT_MODEL), settings);
    let opened = match &office {
        Ok(Some(office)) => server::open(office, &target).await,
        // Only a replayed job is found by way of the database.
        Ok(None) | Err(_) => server::without_jobs(settings, &target),
    };
    let opened =
        opened.map(|opened| format!("{} can be used; {} tokens fit in it", opened.name(), opened.window_tokens()));
    checks.push(tested("model", opened.map_err(|error| error.to_string())));
    let is_open = checks.last().is_some_and(|check| check.passed);
    // A call costs money: only for who names the model here.
    if args.model.is_some() && is_open {
        match server::tried(settings, &target).await {
            Ok(probed) => {
                checks.extend(probed.into_iter().map(|Probed { name, passed, detail }| Tested {
                    name,
                    passed,
                    detail,
                }));
            }
            Err(error) => checks.push(tested("call", Err(error.to_string()))),
        }
    }
    let passed = checks.iter().all(|check| check.passed);
    let findings = Findings { settings: shown(settings), checks, passed };
    if args.json {
        out::json(&findings)?;
    } else {
        out::result(&findings.text())?;
    }
    Ok(if passed { exit::COMPLETED } else { exit::FAILED })
}

/// The settings as they hold. Without a model of theirs, the instructions' is used, and without one there the default.
fn shown(settings: &Settings) -> Vec<Shown> {
    let folder = &settings.instructions.value;
    let is_open = settings.model.value.is_none();
    let mut shown = Vec::new();
    for (name, value, origin) in settings.rows() {
        let is_model = name == "model" && is_open;
        let value = if is_model { DEFAULT_MODEL.to_owned() } else { value };
        shown.push(Shown { name: name.to_owned(), value, origin: origin.to_string() });
        for given in instructions::names(folder).into_iter().filter(|_| is_model) {
            let found = instructions::find(folder, &given).ok();
            shown.extend(found.and_then(|found| found.instructions.model).map(|value| Shown {
                name: format!("model of {given}"),
                value,
                origin: "its instructions".to_owned(),
            }));
        }
    }
    shown
}

fn tested(name: &'static str, found: Result<String, String>) -> Tested {
    let passed = found.is_ok();
    Tested { name, passed, detail: found.unwrap_or_else(|error| error) }
}

/// Whether workspaces can be made in `folder`, or in what is there of the folders above it. The folder itself is not made.
fn writable(folder: &Path) -> Result<String, String> {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let there = whole.ancestors().find(|folder| folder.symlink_metadata().is_ok()).unwrap_or(&whole);
    let probe = there.join(PROBE);
    let told = if there == whole { "can be written" } else { "can be made" };
    std::fs::write(&probe, b"probe\n")
        .and_then(|()| std::fs::remove_file(&probe))
        .map(|()| format!("{} {told}", folder.display()))
        .map_err(|error| {
            format!(
                "{} can't be written ({error}): mend its permissions, or name another with --workspaces",
                folder.display()
            )
        })
}

/// Whether every file in the instructions folder can be used.
fn known(folder: &Path) -> Result<String, String> {
    let wrong: Vec<String> = instructions::files(folder)
        .iter()
        .filter_map(|path| instructions::from_file(path).err())
        .map(|error| error.to_string())
        .collect();
    if wrong.is_empty() {
        Ok(format!("known are {}", instructions::names(folder).join(", ")))
    } else {
        Err(format!("{}: mend the file", wrong.join("; ")))
    }
}

impl Findings {
    fn text(&self) -> String {
        let mut text = String::new();
        for Shown { name, value, origin } in &self.settings {
            let _ = writeln!(text, "{name:20} {} ({origin})", out::one_line(value));
        }
        text.push('\n');
        for Tested { name, passed, detail } in &self.checks {
            let mark = if *passed { style("ok    ").green() } else { style("failed").red() };
            let _ = writeln!(text, "{mark} {name}: {}", out::one_line(detail));
        }
        text
    }
}
