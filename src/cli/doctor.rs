//! `overnight doctor`: shows each setting with its origin, and tests what a job needs. A failing line says what to do.

mod targets;

use super::{
    AppContext, CliError,
    app_context::{missing_folder, no_jobs_yet},
    exit, instructions,
    job_request::DEFAULT_MODEL,
    models, out,
    server::{self, ServerArgs, Target},
};
use crate::{
    config::{Flags, Settings},
    runner::today,
};
use console::style;
use overnight_core::job::models::ModelChoice;
use serde::Serialize;
use std::{fmt::Write, path::Path};
use targets::NamedTarget;

/// The file that is written to test whether the folder is writable.
const PROBE: &str = ".overnight-tmp-doctor";

#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// The model to try with a short conversation
    #[arg(long, short, conflicts_with = "all")]
    model: Option<String>,
    /// Try every model that the configuration, instructions, schedules and jobs name that have not ended
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    server: ServerArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Findings {
    settings: Vec<SettingView>,
    checks: Vec<CheckResult>,
    /// With `--all`: the results for each model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    models: Vec<ModelFindings>,
    passed: bool,
}

#[derive(Debug, Serialize)]
struct ModelFindings {
    #[serde(flatten)]
    choice: ModelChoice,
    used_by: Vec<String>,
    checks: Vec<CheckResult>,
    passed: bool,
}

#[derive(Debug, Serialize)]
struct SettingView {
    name: String,
    value: String,
    origin: String,
}

#[derive(Debug, Serialize)]
struct CheckResult {
    name: &'static str,
    passed: bool,
    /// The finding, or advice on what to do.
    detail: String,
}

pub(super) async fn run(flags: Flags, args: &DoctorArgs) -> Result<u8, CliError> {
    let flags = args.server.add_to(Flags { model: args.model.clone(), ..flags });
    let settings = &super::settings(&flags)?;
    let app = AppContext::read_any(settings.clone()).await;
    let mut checks = vec![
        check_result(
            "database",
            match &app {
                Ok(Some(_)) => Ok(format!("{} answers; its schema is up to date", settings.database_url.value)),
                Ok(None) => {
                    missing_folder(settings).map_or_else(|| Ok(no_jobs_yet(settings)), |error| Err(error.to_string()))
                }
                Err(error) if error.message.contains("--database-url") => Err(error.message.clone()),
                Err(error) => Err(format!("{error}; set --database-url, OVERNIGHT_DATABASE_URL or database_url")),
            },
        ),
        check_result("workspaces", writable(&settings.workspaces.value)),
        check_result("instructions", check_instructions(&settings.instructions.value)),
    ];
    let extractor = super::documents::extractor(settings);
    checks.push(check_result("documents", extractor.map(|one| one.helpers()).map_err(|error| error.to_string())));
    checks.push(check_result("sandbox", super::documents::confinement(settings)));
    // Notices are not tested by sending one: that would be a message to people.
    let told =
        settings.notice_targets().map(|all| all.iter().map(|one| one.channel.name()).collect::<Vec<_>>().join(", "));
    if told.as_ref().map_or(true, |names| !names.is_empty()) {
        let told = told.map(|names| format!("told of batches: {names}"));
        checks.push(check_result("notices", told.map_err(|error| error.to_string())));
    }
    let app = app.as_ref().ok().and_then(Option::as_ref);
    let mut models = Vec::new();
    if args.all {
        let named = targets::all(&flags, settings, app).await;
        checks.extend(named.faults.into_iter().map(|(name, fault)| check_result(name, Err(fault))));
        for NamedTarget { target, used_by } in named.targets {
            let checks = try_model(settings, app, &target, true).await;
            let passed = checks.iter().all(|check| check.passed);
            models.push(ModelFindings { choice: target.choice, used_by, checks, passed });
        }
    } else {
        let target = Target::new(settings.model.value.as_deref().unwrap_or(DEFAULT_MODEL), settings);
        // A call costs money: it is only made if a model was named on the command line.
        checks.extend(try_model(settings, app, &target, args.model.is_some()).await);
    }
    let passed = checks.iter().all(|check| check.passed) && models.iter().all(|model| model.passed);
    let findings = Findings { settings: setting_views(settings), checks, models, passed };
    out::answer(args.json, &findings, || findings.text())?;
    Ok(if passed { exit::COMPLETED } else { exit::FAILED })
}

/// Opens a model and, if `is_called`, has a short conversation with it.
async fn try_model(
    settings: &Settings,
    app: Option<&AppContext>,
    target: &Target,
    is_called: bool,
) -> Vec<CheckResult> {
    let opened = match app {
        Some(app) => server::open(app, target).await,
        // Only replayed jobs need the database.
        None => server::without_jobs(settings, target),
    };
    let retirement = opened.as_ref().ok().and_then(|opened| models::retirement(opened.as_ref(), today()));
    let opened =
        opened.map(|opened| format!("{} can be used; {} tokens fit in it", opened.name(), opened.window_tokens()));
    let is_tried = opened.is_ok() && is_called;
    let mut checks = vec![check_result("model", opened.map_err(|error| error.to_string()))];
    // A model that still answers gets a warning.
    checks.extend(retirement.map(|(is_gone, detail)| CheckResult { name: "retirement", passed: !is_gone, detail }));
    #[cfg(feature = "network")]
    if is_tried {
        match server::probe_target(settings, target).await {
            Ok(probed) => {
                let shown = |crate::runner::ProbeResult { name, passed, detail }| CheckResult { name, passed, detail };
                checks.extend(probed.into_iter().map(shown));
            }
            Err(error) => checks.push(check_result("call", Err(error.to_string()))),
        }
    }
    checks
}

/// The effective settings. A model that is not set comes from the instructions, else it is the default.
fn setting_views(settings: &Settings) -> Vec<SettingView> {
    let folder = &settings.instructions.value;
    let is_open = settings.model.value.is_none();
    let mut shown = Vec::new();
    for (name, value, origin) in settings.rows() {
        let is_model = name == "model" && is_open;
        let value = if is_model { DEFAULT_MODEL.to_owned() } else { value };
        shown.push(SettingView { name: name.to_owned(), value, origin: origin.to_string() });
        for given in instructions::names(folder).into_iter().filter(|_| is_model) {
            let found = instructions::find(folder, &given).ok();
            shown.extend(found.and_then(|found| found.instructions.model).map(|value| SettingView {
                name: format!("model of {given}"),
                value,
                origin: "its instructions".to_owned(),
            }));
        }
    }
    shown
}

fn check_result(name: &'static str, found: Result<String, String>) -> CheckResult {
    let passed = found.is_ok();
    CheckResult { name, passed, detail: found.unwrap_or_else(|error| error) }
}

/// Whether workspaces can be created in `folder`, or in its nearest existing ancestor. It is not created here.
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
fn check_instructions(folder: &Path) -> Result<String, String> {
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
        let width = self.settings.iter().map(|setting| setting.name.len() + 1).max().unwrap_or_default();
        for SettingView { name, value, origin } in &self.settings {
            let _ = writeln!(text, "{name:width$} {} ({origin})", out::one_line(value));
        }
        text.push('\n');
        add_checks(&mut text, &self.checks);
        for ModelFindings { choice: ModelChoice { model, base_url, api_key_env }, used_by, checks, .. } in &self.models
        {
            let server = base_url.as_ref().map(|url| format!(" at {url}")).unwrap_or_default();
            let key = api_key_env.as_ref().map(|name| format!(", key in {name}")).unwrap_or_default();
            let title = format!("{model}{server}{key} ({})", used_by.join(", "));
            let _ = writeln!(text, "\n{}", out::one_line(&title));
            add_checks(&mut text, checks);
        }
        text
    }
}

fn add_checks(text: &mut String, checks: &[CheckResult]) {
    for CheckResult { name, passed, detail } in checks {
        let mark = if *passed { style("ok    ").green() } else { style("failed").red() };
        let _ = writeln!(text, "{mark} {name}: {}", out::one_line(detail));
    }
}
