//! The configuration: flags over environment over `overnight.yaml` over defaults, each value with
//! where it came from, so that `overnight doctor` can say why something is as it is.
//!
//! *Invariants*: nothing else in the crate reads the environment; a misspelt key or variable is an error, never ignored; a
//! password is never shown, not even in debug output. `overnight.yaml` is looked for in the current folder and above it; relative
//! paths in a file begin in the file's folder, and so do the default ones where the file was found above. All others begin in
//! the current folder.

use crate::{
    extraction::{SandboxMode, UseMode},
    model::remote::Key,
    telemetry::TraceTarget,
};
use overnight_core::{
    amount::shown,
    job::{instructions::MIN_BUDGET_TOKENS, models::Tier, time::Timestamp},
};
use sources::{
    ALLOW_HTTP, API_KEY_ENV, BASE_URL, BUDGET_TOKENS, CACHE_MIB, COST_USD, DATABASE_URL, IDLE_TIMEOUT, INSTRUCTIONS,
    InvalidValue, LOG_FORMAT, MODEL, MODELS_FILE, OCR, PARALLEL_CALLS, REQUESTS_PER_MINUTE, SANDBOX, SettingSources,
    TIER, TOKENS, TOKENS_PER_MINUTE, TURNS, UNPRICED, VISION, WALL_CLOCK, WORKSPACE_STORE, WORKSPACES, at_least,
    duration, flag, folder, line, server, usd, variable, workspace_store,
};
use std::{
    fmt,
    path::{Path, PathBuf},
};

mod base_folder;
pub mod database_url;
mod keys;
mod notify;
mod sources;
mod telemetry;
#[cfg(test)]
mod tests;
mod text_file;

pub use database_url::DatabaseUrl;
pub use keys::{ApiKeys, CloudVariables, Headers};
pub use notify::NotifySettings;
pub use text_file::{TextFileError, text_file};

/// Read in the current folder, or the nearest one above that has it, unless another file is named.
pub const FILE: &str = "overnight.yaml";
const PREFIX: &str = "OVERNIGHT_";
/// Names the file; not a value of its own.
const FILE_VARIABLE: &str = "OVERNIGHT_CONFIG";

/// What the command line gave, as it was typed. Everything is checked in one place, [`Settings::load`].
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--config`: the file to read instead of `overnight.yaml`.
    pub config: Option<PathBuf>,
    pub database_url: Option<String>,
    pub workspaces: Option<String>,
    pub workspace_store: Option<String>,
    pub instructions: Option<String>,
    pub model: Option<String>,
    pub tier: Option<String>,
    /// Of the command line alone.
    pub batch_until: Option<Timestamp>,
    pub budget_tokens: Option<String>,
    pub turns: Option<String>,
    /// USD.
    pub cost: Option<String>,
    pub unpriced: Option<String>,
    pub wall_clock: Option<String>,
    pub tokens: Option<String>,
    pub base_url: Option<String>,
    pub api_key_env: Option<String>,
    pub allow_http: Option<String>,
    pub models_file: Option<String>,
    /// `NAME=VALUE` each.
    pub headers: Vec<String>,
    pub record: Option<PathBuf>,
    pub log_format: Option<String>,
    pub notify_command: Option<String>,
    pub notify_webhook: Option<String>,
    pub notify_email: Option<String>,
}

/// Not derived: a database URL may carry a password, a header a key.
impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flags").field("config", &self.config).finish_non_exhaustive()
    }
}

/// A configuration file, read.
#[derive(Clone)]
pub struct ConfigFile {
    pub path: PathBuf,
    pub text: String,
}

/// Not derived: the text may carry a password.
impl fmt::Debug for ConfigFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag,
    /// The variable's name.
    Environment(String),
    File {
        path: PathBuf,
        /// From 1.
        line: u64,
    },
    Default,
}

impl Origin {
    /// The precedence of the origin: the value with the smaller distance wins.
    pub fn distance(&self) -> u8 {
        match self {
            Self::Flag => 0,
            Self::Environment(_) => 1,
            Self::File { .. } => 2,
            Self::Default => 3,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("command line"),
            Self::Environment(name) => write!(f, "environment, {name}"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    pub value: T,
    pub origin: Origin,
}

/// Where a model's server is; none: the provider's own, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(pub Option<String>);

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("the provider's own"))
    }
}

/// The format of messages on stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people: lines, and bars on a terminal.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl LogFormat {
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }

    fn parse(text: &str) -> Result<Self, InvalidValue> {
        [Self::Text, Self::Json]
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| InvalidValue(format!("must be text or json, not '{}'", shown(text))))
    }

    /// The format that the flags or the environment ask for, for errors before the settings are read.
    pub fn requested(flags: &Flags) -> Self {
        let named = flags.log_format.clone().or_else(|| std::env::var(LOG_FORMAT.variable()).ok());
        named.and_then(|name| Self::parse(name.trim()).ok()).unwrap_or_default()
    }
}

/// Everything that can be configured. Where a value is optional, none leaves it to the instructions.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub database_url: Setting<DatabaseUrl>,
    pub workspaces: Setting<PathBuf>,
    /// Where workspaces are kept for other machines; none: a job stays with the machine that has its workspace.
    pub workspace_store: Setting<Option<String>>,
    /// The folder of instructions files.
    pub instructions: Setting<PathBuf>,
    /// `provider:name`
    pub model: Setting<Option<String>>,
    /// At which the model is asked; none: as the instructions say.
    pub tier: Setting<Option<Tier>>,
    /// Until when answers at the tier `batch` are waited for.
    pub batch_until: Option<Timestamp>,
    pub budget_tokens: Setting<Option<u64>>,
    /// Limits of a job.
    pub turns: Setting<Option<u64>>,
    pub cost_usd: Setting<Option<f64>>,
    /// Whether a job goes on that is to hold a limit on its cost, and whose model has no known price.
    pub unpriced: Setting<bool>,
    /// Milliseconds.
    pub wall_clock_ms: Setting<Option<u64>>,
    pub tokens: Setting<Option<u64>>,
    /// Where the model's server is; none: where its provider's own is.
    pub base_url: Setting<Option<BaseUrl>>,
    /// The variable that holds the key; none: the provider's usual one.
    pub api_key_env: Setting<Option<String>>,
    /// Whether a key may go over plain HTTP to any server.
    pub allow_http: Setting<bool>,
    /// A table of models that goes over the shipped one.
    pub models_file: Setting<Option<PathBuf>>,
    /// Limits of a model's server, for all jobs of a process together.
    pub requests_per_minute: Setting<Option<u64>>,
    pub tokens_per_minute: Setting<Option<u64>>,
    pub parallel_calls: Setting<Option<u64>>,
    /// Milliseconds without a byte of a reply that has begun.
    pub idle_timeout_ms: Setting<Option<u64>>,
    /// Sent with every call of a model; only flags say them.
    pub headers: Headers,
    /// Where calls of a model are recorded; only a flag says it.
    pub record: Option<PathBuf>,
    keys: ApiKeys,
    cloud: CloudVariables,
    /// Whether characters are recognised in images.
    pub ocr: Setting<UseMode>,
    /// Whether models look at scanned pages.
    pub vision: Setting<UseMode>,
    /// Whether readers of documents are confined.
    pub sandbox: Setting<SandboxMode>,
    /// The most MiB of texts that are kept for later jobs.
    pub cache_mib: Setting<u64>,
    pub log_format: Setting<LogFormat>,
    /// Who is told of batches.
    pub notify: NotifySettings,
    /// Where traces go, where they go somewhere.
    pub telemetry: Setting<Option<TraceTarget>>,
}

/// A user's mistake in the configuration, one sentence each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{} can't be used as configuration: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("{}:{line}: {what}", path.display())]
    InFile { path: PathBuf, line: u64, what: String },
    #[error("unknown environment variable {name}; {hint}")]
    UnknownVariable { name: String, hint: String },
    #[error("environment variable {name} {what}")]
    InVariable { name: String, what: String },
    #[error("{flag} {what}")]
    InFlag { flag: &'static str, what: String },
}

/// The user that runs this process, for the record of who reviewed: as the session names it, else as the system does.
pub fn user_name() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let id = rustix::process::getuid().as_raw().to_string();
    let of_system = || {
        let users = std::fs::read_to_string("/etc/passwd").ok()?;
        let user = users.lines().find(|line| line.split(':').nth(2) == Some(&id))?;
        user.split(':').next().map(str::to_owned)
    };
    named.filter(|name| !name.trim().is_empty()).or_else(of_system).unwrap_or_else(|| format!("user {id}"))
}

impl Settings {
    /// Reads the process's environment and the configuration file. The only place that does.
    pub fn from_surroundings(flags: &Flags) -> Result<Self, ConfigError> {
        let mut environment = Vec::new();
        for (name, value) in std::env::vars_os() {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => environment.push((name, value)),
                (Ok(name), Err(_)) if name.starts_with(PREFIX) || name == "DATABASE_URL" => {
                    return Err(ConfigError::InVariable { name, what: "is not UTF-8 text".to_owned() });
                }
                // Other programs' variables are none of our business.
                (Ok(_) | Err(_), Ok(_) | Err(_)) => {}
            }
        }
        let named = flags.config.clone().or_else(|| {
            let set = environment.iter().find(|(name, value)| name == FILE_VARIABLE && !value.is_empty());
            set.map(|(_, value)| PathBuf::from(value))
        });
        let root = if named.is_some() { PathBuf::new() } else { base_folder::root(&environment) };
        let is_there = |path: &PathBuf| named.is_some() || path.exists();
        let path = Some(named.clone().unwrap_or_else(|| root.join(FILE))).filter(is_there);
        let read = |path: PathBuf| match text_file(&path) {
            Ok(text) => Ok(ConfigFile { path, text }),
            Err(why) => Err(ConfigError::Unreadable { path, why: why.to_string() }),
        };
        let file = path.map(read).transpose()?;
        Self::load(flags, environment.into_iter(), file.as_ref(), &root)
    }

    /// Puts the four sources together. An empty variable counts as not set. The default paths begin in `root`.
    pub fn load(
        flags: &Flags,
        environment: impl Iterator<Item = (String, String)>,
        file: Option<&ConfigFile>,
        root: &Path,
    ) -> Result<Self, ConfigError> {
        let (mut keys, mut cloud) = (ApiKeys::default(), CloudVariables::default());
        let environment: Vec<(String, String)> = environment
            .inspect(|(name, value)| {
                keys.take(name, value);
                cloud.take(name, value);
            })
            .collect();
        let mut telemetry = telemetry::target(&environment);
        let sources = SettingSources::new(flags, environment.into_iter(), file)?;
        let allow_http = sources.setting(&ALLOW_HTTP, "false", flag)?;
        if let Some(target) = &mut telemetry.value {
            target.allows_http = allow_http.value;
        }
        Ok(Self {
            database_url: sources
                .setting(&DATABASE_URL, "sqlite://workspaces/overnight.db", DatabaseUrl::parse)?
                .resolved_in(root, &DatabaseUrl::below),
            workspaces: sources.setting(&WORKSPACES, "workspaces", folder)?.resolved_in(root, &base_folder::below),
            workspace_store: sources.optional(&WORKSPACE_STORE, workspace_store)?,
            instructions: sources
                .setting(&INSTRUCTIONS, "instructions", folder)?
                .resolved_in(root, &base_folder::below),
            model: sources.optional(&MODEL, line)?.resolved_in(root, &base_folder::script_below),
            tier: sources.optional(&TIER, |text| {
                Tier::parse(text).ok_or_else(|| InvalidValue::new("must be standard, flex or batch"))
            })?,
            batch_until: flags.batch_until,
            budget_tokens: sources.optional(&BUDGET_TOKENS, |text| at_least(MIN_BUDGET_TOKENS, text))?,
            turns: sources.optional(&TURNS, |text| at_least(1, text))?,
            cost_usd: sources.optional(&COST_USD, usd)?,
            unpriced: sources.setting(&UNPRICED, "false", flag)?,
            wall_clock_ms: sources.optional(&WALL_CLOCK, duration)?,
            tokens: sources.optional(&TOKENS, |text| at_least(1, text))?,
            base_url: sources.optional(&BASE_URL, server)?,
            api_key_env: sources.optional(&API_KEY_ENV, variable)?,
            allow_http,
            models_file: sources.optional(&MODELS_FILE, folder)?.resolved_in(root, &base_folder::optional_below),
            requests_per_minute: sources.optional(&REQUESTS_PER_MINUTE, |text| at_least(1, text))?,
            tokens_per_minute: sources.optional(&TOKENS_PER_MINUTE, |text| at_least(1, text))?,
            parallel_calls: sources.optional(&PARALLEL_CALLS, |text| at_least(1, text))?,
            idle_timeout_ms: sources.optional(&IDLE_TIMEOUT, duration)?,
            ocr: sources.setting(&OCR, UseMode::Auto.as_str(), use_mode)?,
            vision: sources.setting(&VISION, UseMode::Auto.as_str(), use_mode)?,
            sandbox: sources.setting(&SANDBOX, SandboxMode::Auto.as_str(), |text| {
                SandboxMode::parse(text).ok_or_else(|| InvalidValue::new("must be auto, required or off"))
            })?,
            cache_mib: sources.setting(&CACHE_MIB, "4096", |text| at_least(0, text))?,
            headers: Headers::parse(&flags.headers)?,
            record: flags.record.clone(),
            keys,
            cloud,
            log_format: sources.setting(&LOG_FORMAT, LogFormat::Text.name(), LogFormat::parse)?,
            notify: NotifySettings::read(&sources)?,
            telemetry,
        })
    }

    /// The key in the environment variable `name`; none where it isn't set or is empty.
    pub fn key(&self, name: &str) -> Option<Key> {
        self.keys.get(name)
    }

    /// What the environment says of object stores: keys, regions, addresses.
    pub fn cloud(&self) -> &CloudVariables {
        &self.cloud
    }

    /// Name, value as it may be shown, and origin of everything.
    pub fn rows(&self) -> Vec<(&'static str, String, Origin)> {
        fn optional<T>(setting: &Setting<Option<T>>, show: impl Fn(&T) -> String) -> String {
            setting.value.as_ref().map_or_else(|| "not set".to_owned(), show)
        }
        let path = |path: &PathBuf| path.display().to_string();
        let (requests, tokens, calls) = (&self.requests_per_minute, &self.tokens_per_minute, &self.parallel_calls);
        let millis = |ms: &u64| humantime::format_duration(std::time::Duration::from_millis(*ms)).to_string();
        let mut rows = vec![
            (DATABASE_URL.name, self.database_url.value.to_string(), self.database_url.origin.clone()),
            (WORKSPACES.name, self.workspaces.value.display().to_string(), self.workspaces.origin.clone()),
            (WORKSPACE_STORE.name, optional(&self.workspace_store, Clone::clone), self.workspace_store.origin.clone()),
            (INSTRUCTIONS.name, self.instructions.value.display().to_string(), self.instructions.origin.clone()),
            (MODEL.name, optional(&self.model, Clone::clone), self.model.origin.clone()),
            (TIER.name, optional(&self.tier, |tier| tier.name().to_owned()), self.tier.origin.clone()),
            (BUDGET_TOKENS.name, optional(&self.budget_tokens, u64::to_string), self.budget_tokens.origin.clone()),
            (TURNS.name, optional(&self.turns, u64::to_string), self.turns.origin.clone()),
            (COST_USD.name, optional(&self.cost_usd, f64::to_string), self.cost_usd.origin.clone()),
            (UNPRICED.name, self.unpriced.value.to_string(), self.unpriced.origin.clone()),
            (WALL_CLOCK.name, optional(&self.wall_clock_ms, millis), self.wall_clock_ms.origin.clone()),
            (TOKENS.name, optional(&self.tokens, u64::to_string), self.tokens.origin.clone()),
            (BASE_URL.name, optional(&self.base_url, BaseUrl::to_string), self.base_url.origin.clone()),
            (API_KEY_ENV.name, optional(&self.api_key_env, Clone::clone), self.api_key_env.origin.clone()),
            (ALLOW_HTTP.name, self.allow_http.value.to_string(), self.allow_http.origin.clone()),
            (MODELS_FILE.name, optional(&self.models_file, path), self.models_file.origin.clone()),
            (REQUESTS_PER_MINUTE.name, optional(requests, u64::to_string), requests.origin.clone()),
            (TOKENS_PER_MINUTE.name, optional(tokens, u64::to_string), tokens.origin.clone()),
            (PARALLEL_CALLS.name, optional(calls, u64::to_string), calls.origin.clone()),
            (IDLE_TIMEOUT.name, optional(&self.idle_timeout_ms, millis), self.idle_timeout_ms.origin.clone()),
            (OCR.name, self.ocr.value.as_str().to_owned(), self.ocr.origin.clone()),
            (VISION.name, self.vision.value.as_str().to_owned(), self.vision.origin.clone()),
            (SANDBOX.name, self.sandbox.value.as_str().to_owned(), self.sandbox.origin.clone()),
            (CACHE_MIB.name, self.cache_mib.value.to_string(), self.cache_mib.origin.clone()),
            (LOG_FORMAT.name, self.log_format.value.name().to_owned(), self.log_format.origin.clone()),
        ];
        rows.extend(self.notify.rows());
        // Not a name that can be set: where it comes from says what is.
        rows.extend(
            self.telemetry.value.iter().map(|target| ("traces", target.shown(), self.telemetry.origin.clone())),
        );
        rows
    }
}

fn use_mode(text: &str) -> Result<UseMode, InvalidValue> {
    UseMode::parse(text).ok_or_else(|| InvalidValue::new("must be auto, never or always"))
}
