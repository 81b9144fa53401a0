//! `overnight doctor`: each setting with where it came from, and whether what a job needs is there. A failing line says what
//! to do.

use super::{
    CliError, Office, exit, instructions, out,
    server::{self, Server, Target},
};
use crate::{config::Partial, runner::Probed};
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
    name: &'static str,
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
    let rows = settings.rows();
    let shown =
        rows.into_iter().map(|(name, value, origin)| Shown { name, value, origin: origin.to_string() }).collect();
    let office = Office::open(settings.clone()).await;
    let mut checks = vec![
        tested(
            "database",
            match &office {
                Ok(_) => Ok(format!("{} answers; its schema is up to date", settings.database_url.value)),
                Err(error) if error.message.contains("--database-url") => Err(error.message.clone()),
                Err(error) => Err(format!("{error}; set --database-url, OVERNIGHT_DATABASE_URL or database_url")),
            },
        ),
        tested("workspaces", writable(&settings.workspaces.value)),
        tested("instructions", known(&settings.instructions.value)),
    ];
    let extractor = super::documents::extractor(settings);
    checks.push(tested("documents", extractor.map(|one| one.helpers()).map_err(|error| error.to_string())));
    let target = Target::new(settings.model.value.as_deref().unwrap_or("offline"), settings);
    let opened = match &office {
        Ok(office) => server::open(office, &target).await,
        // Only a replayed job is found by way of the database.
        Err(_) => server::without_jobs(settings, &target),
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
    let findings = Findings { settings: shown, checks, passed };
    if args.json {
        out::json(&findings)?;
    } else {
        out::result(&findings.text())?;
    }
    Ok(if passed { exit::COMPLETED } else { exit::FAILED })
}

fn tested(name: &'static str, found: Result<String, String>) -> Tested {
    let passed = found.is_ok();
    Tested { name, passed, detail: found.unwrap_or_else(|error| error) }
}

/// Whether workspaces can be made in `folder`.
fn writable(folder: &Path) -> Result<String, String> {
    let probe = folder.join(PROBE);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&probe, b"probe\n"))
        .and_then(|()| std::fs::remove_file(&probe))
        .map(|()| format!("{} can be written", folder.display()))
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
