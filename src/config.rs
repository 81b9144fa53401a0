//! The configuration: flags over environment over `overnight.yaml` over defaults. Each value carries its origin, so
//! that `overnight doctor` can show the reason for each setting.
//!
//! *Invariants*: nothing else in the crate reads the environment; a misspelt key or variable is an error, never ignored; a
//! password is never shown, not even in debug output. `overnight.yaml` is looked for in the current folder and above it; relative
//! paths in a file begin in the file's folder, and so do the default ones where the file was found above. All others begin in
//! the current folder.

use crate::model::remote::Key;
use overnight_core::amount::shown;
use sources::{InvalidValue, variable_of};
use std::{fmt, path::PathBuf};

mod base_folder;
pub mod database_url;
mod keys;
mod notify;
mod sources;
mod table;
mod telemetry;
#[cfg(test)]
mod tests;
mod text_file;

pub use database_url::DatabaseUrl;
pub use keys::{ApiKeys, CloudVariables, Headers};
pub use notify::NotifySettings;
pub use table::{Flags, Settings};
pub use text_file::{TextFileError, text_file};

/// The file's name. It is read from the current folder or the nearest one above that has it, unless another is given.
pub const FILE: &str = "overnight.yaml";
const PREFIX: &str = "OVERNIGHT_";
/// The variable that names the file; it is not a setting.
const FILE_VARIABLE: &str = "OVERNIGHT_CONFIG";

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

/// Address of a model's server; `None`: the provider's own, by its name.
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

    /// The format that the flags or the environment request, for errors before the settings are read.
    pub fn requested(flags: &Flags) -> Self {
        let named = flags.log_format.clone().or_else(|| std::env::var(variable_of("log_format")).ok());
        named.and_then(|name| Self::parse(name.trim()).ok()).unwrap_or_default()
    }
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

/// The user that runs this process, as the name of a reviewer: from the session, else from the system.
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
                // Variables of other programs are ignored.
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

    /// The key in the environment variable `name`; none where it isn't set or is empty.
    pub fn key(&self, name: &str) -> Option<Key> {
        self.keys.get(name)
    }

    /// The environment's variables for object stores: keys, regions, addresses.
    pub fn cloud(&self) -> &CloudVariables {
        &self.cloud
    }
}
