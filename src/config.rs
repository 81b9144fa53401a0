//! The configuration (SPEC: command line): flags over environment over `overnight.yaml` over defaults, each value with
//! where it came from, so that `overnight doctor` can say why something is as it is.
//!
//! *Invariants*: nothing else in the crate reads the environment; a misspelt key or variable is an error, never ignored; a
//! password is never shown, not even in debug output. Paths are relative to the current folder, wherever they were written.

use crate::job::instructions::{
    MIN_BUDGET_TOKENS,
    amount::{count, duration_ms, shown},
    yaml::{At, Node, Yaml, nearest},
};
use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

pub mod database_url;
#[cfg(test)]
mod tests;

pub use database_url::DatabaseUrl;

/// Read in the current folder unless another file is named.
pub const FILE: &str = "overnight.yaml";
const PREFIX: &str = "OVERNIGHT_";
/// Names the file; not a value of its own.
const FILE_VARIABLE: &str = "OVERNIGHT_CONFIG";
/// Variables of the tests' own.
const TEST_PREFIX: &str = "OVERNIGHT_TEST_";

/// What the command line gave, as it was typed. Everything is checked in one place, [`Settings::load`].
#[derive(Clone, Default)]
pub struct Partial {
    /// `--config`: the file to read instead of `overnight.yaml`.
    pub config: Option<PathBuf>,
    pub database_url: Option<String>,
    pub workspaces: Option<String>,
    pub instructions: Option<String>,
    pub model: Option<String>,
    pub budget_tokens: Option<String>,
    pub turns: Option<String>,
    /// USD.
    pub cost: Option<String>,
    pub wall_clock: Option<String>,
    pub tokens: Option<String>,
}

/// Not derived: a database URL may carry a password.
impl fmt::Debug for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partial")
            .field("config", &self.config)
            .finish_non_exhaustive()
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
        f.debug_struct("ConfigFile")
            .field("path", &self.path)
            .finish_non_exhaustive()
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

/// Everything that can be configured. Where a value is optional, none leaves it to the instructions.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub database_url: Setting<DatabaseUrl>,
    pub workspaces: Setting<PathBuf>,
    /// The folder of instructions files.
    pub instructions: Setting<PathBuf>,
    /// `provider:name`
    pub model: Setting<Option<String>>,
    pub budget_tokens: Setting<Option<u64>>,
    /// Limits of a job.
    pub turns: Setting<Option<u64>>,
    pub cost_usd: Setting<Option<f64>>,
    /// Milliseconds.
    pub wall_clock_ms: Setting<Option<u64>>,
    pub tokens: Setting<Option<u64>>,
}

/// A user's mistake in the configuration, one sentence each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{} can't be read: {why}", path.display())]
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

/// How one value is named in each place.
struct Key {
    /// In the file and in listings; `OVERNIGHT_` and this in capitals is the variable.
    name: &'static str,
    flag: &'static str,
    given: fn(&Partial) -> Option<&String>,
}

const DATABASE_URL: Key = Key {
    name: "database_url",
    flag: "--database-url",
    given: |p| p.database_url.as_ref(),
};
const WORKSPACES: Key = Key {
    name: "workspaces",
    flag: "--workspaces",
    given: |p| p.workspaces.as_ref(),
};
const INSTRUCTIONS: Key = Key {
    name: "instructions",
    flag: "--instructions",
    given: |p| p.instructions.as_ref(),
};
const MODEL: Key = Key {
    name: "model",
    flag: "--model",
    given: |p| p.model.as_ref(),
};
const BUDGET_TOKENS: Key = Key {
    name: "budget_tokens",
    flag: "--budget-tokens",
    given: |p| p.budget_tokens.as_ref(),
};
const TURNS: Key = Key {
    name: "turns",
    flag: "--turns",
    given: |p| p.turns.as_ref(),
};
const COST_USD: Key = Key {
    name: "cost_usd",
    flag: "--cost",
    given: |p| p.cost.as_ref(),
};
const WALL_CLOCK: Key = Key {
    name: "wall_clock",
    flag: "--wall-clock",
    given: |p| p.wall_clock.as_ref(),
};
const TOKENS: Key = Key {
    name: "tokens",
    flag: "--tokens",
    given: |p| p.tokens.as_ref(),
};

const KEYS: [&Key; 9] = [
    &DATABASE_URL,
    &WORKSPACES,
    &INSTRUCTIONS,
    &MODEL,
    &BUDGET_TOKENS,
    &TURNS,
    &COST_USD,
    &WALL_CLOCK,
    &TOKENS,
];

impl Key {
    fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.to_uppercase())
    }
}

impl Settings {
    /// Reads the process's environment and the configuration file. The only place that does.
    pub fn from_surroundings(flags: &Partial) -> Result<Self, ConfigError> {
        let mut environment = Vec::new();
        for (name, value) in std::env::vars_os() {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => environment.push((name, value)),
                (Ok(name), Err(_)) if name.starts_with(PREFIX) || name == "DATABASE_URL" => {
                    return Err(ConfigError::InVariable {
                        name,
                        what: "is not UTF-8 text".to_owned(),
                    });
                }
                // Other programs' variables are none of our business.
                (Ok(_) | Err(_), Ok(_) | Err(_)) => {}
            }
        }
        let named = flags.config.clone().or_else(|| {
            let set = environment
                .iter()
                .find(|(name, value)| name == FILE_VARIABLE && !value.is_empty());
            set.map(|(_, value)| PathBuf::from(value))
        });
        let path = named.clone().unwrap_or_else(|| PathBuf::from(FILE));
        let file = match std::fs::read_to_string(&path) {
            Ok(text) => Some(ConfigFile { path, text }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && named.is_none() => None,
            Err(error) => {
                return Err(ConfigError::Unreadable {
                    path,
                    why: error.to_string(),
                });
            }
        };
        Self::load(flags, environment.into_iter(), file.as_ref())
    }

    /// Puts the four sources together. An empty variable counts as not set.
    pub fn load(
        flags: &Partial,
        environment: impl Iterator<Item = (String, String)>,
        file: Option<&ConfigFile>,
    ) -> Result<Self, ConfigError> {
        let sources = Sources {
            flags,
            environment: variables(environment)?,
            file: file_values(file)?,
        };
        Ok(Self {
            database_url: sources.setting(&DATABASE_URL, "sqlite://workspaces/overnight.db", DatabaseUrl::parse)?,
            workspaces: sources.setting(&WORKSPACES, "workspaces", folder)?,
            instructions: sources.setting(&INSTRUCTIONS, "instructions", folder)?,
            model: sources.optional(&MODEL, line)?,
            budget_tokens: sources.optional(&BUDGET_TOKENS, |text| at_least(MIN_BUDGET_TOKENS, text))?,
            turns: sources.optional(&TURNS, |text| at_least(1, text))?,
            cost_usd: sources.optional(&COST_USD, usd)?,
            wall_clock_ms: sources.optional(&WALL_CLOCK, duration)?,
            tokens: sources.optional(&TOKENS, |text| at_least(1, text))?,
        })
    }

    /// Name, value as it may be shown, and origin of everything.
    pub fn rows(&self) -> Vec<(&'static str, String, Origin)> {
        fn optional<T>(setting: &Setting<Option<T>>, show: impl Fn(&T) -> String) -> String {
            setting.value.as_ref().map_or_else(|| "not set".to_owned(), show)
        }
        let millis = |ms: &u64| humantime::format_duration(std::time::Duration::from_millis(*ms)).to_string();
        vec![
            (
                DATABASE_URL.name,
                self.database_url.value.to_string(),
                self.database_url.origin.clone(),
            ),
            (
                WORKSPACES.name,
                self.workspaces.value.display().to_string(),
                self.workspaces.origin.clone(),
            ),
            (
                INSTRUCTIONS.name,
                self.instructions.value.display().to_string(),
                self.instructions.origin.clone(),
            ),
            (
                MODEL.name,
                optional(&self.model, Clone::clone),
                self.model.origin.clone(),
            ),
            (
                BUDGET_TOKENS.name,
                optional(&self.budget_tokens, u64::to_string),
                self.budget_tokens.origin.clone(),
            ),
            (
                TURNS.name,
                optional(&self.turns, u64::to_string),
                self.turns.origin.clone(),
            ),
            (
                COST_USD.name,
                optional(&self.cost_usd, f64::to_string),
                self.cost_usd.origin.clone(),
            ),
            (
                WALL_CLOCK.name,
                optional(&self.wall_clock_ms, millis),
                self.wall_clock_ms.origin.clone(),
            ),
            (
                TOKENS.name,
                optional(&self.tokens, u64::to_string),
                self.tokens.origin.clone(),
            ),
        ]
    }
}

struct Sources<'s> {
    flags: &'s Partial,
    environment: BTreeMap<String, String>,
    file: BTreeMap<&'static str, (String, Origin)>,
}

impl Sources<'_> {
    fn raw(&self, key: &Key) -> Option<(String, Origin)> {
        if let Some(text) = (key.given)(self.flags) {
            return Some((text.clone(), Origin::Flag));
        }
        let own = key.variable();
        // The one variable that other programs share, so ours comes first.
        let shared = (key.name == DATABASE_URL.name).then(|| "DATABASE_URL".to_owned());
        for name in std::iter::once(own).chain(shared) {
            if let Some(text) = self.environment.get(&name) {
                return Some((text.clone(), Origin::Environment(name)));
            }
        }
        self.file.get(key.name).cloned()
    }

    fn optional<T>(
        &self,
        key: &Key,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Setting<Option<T>>, ConfigError> {
        let Some((text, origin)) = self.raw(key) else {
            return Ok(Setting {
                value: None,
                origin: Origin::Default,
            });
        };
        match read(text.trim()) {
            Ok(value) => Ok(Setting {
                value: Some(value),
                origin,
            }),
            Err(what) => Err(error(key, origin, what)),
        }
    }

    fn setting<T>(
        &self,
        key: &Key,
        default: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Setting<T>, ConfigError> {
        let Setting { value, origin } = self.optional(key, &read)?;
        match value {
            Some(value) => Ok(Setting { value, origin }),
            None => match read(default) {
                Ok(value) => Ok(Setting {
                    value,
                    origin: Origin::Default,
                }),
                Err(what) => Err(error(key, Origin::Default, what)),
            },
        }
    }
}

fn error(key: &Key, origin: Origin, what: String) -> ConfigError {
    match origin {
        Origin::Flag | Origin::Default => ConfigError::InFlag { flag: key.flag, what },
        Origin::Environment(name) => ConfigError::InVariable { name, what },
        Origin::File { path, line } => ConfigError::InFile {
            path,
            line,
            what: format!("'{}' {what}", key.name),
        },
    }
}

/// Our variables that are set; an unknown one is a mistake that would otherwise go unnoticed all night.
fn variables(environment: impl Iterator<Item = (String, String)>) -> Result<BTreeMap<String, String>, ConfigError> {
    let known: Vec<String> = KEYS.iter().map(|key| key.variable()).collect();
    let mut found = BTreeMap::new();
    for (name, value) in environment {
        let ours = name.starts_with(PREFIX) && !name.starts_with(TEST_PREFIX) && name != FILE_VARIABLE;
        if ours && !known.contains(&name) {
            let hint = match nearest(&name, known.iter().map(String::as_str).chain([FILE_VARIABLE])) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("known are {}, {FILE_VARIABLE}", known.join(", ")),
            };
            return Err(ConfigError::UnknownVariable {
                name: shown(&name),
                hint,
            });
        }
        if (ours || name == "DATABASE_URL") && !value.trim().is_empty() {
            found.insert(name, value);
        }
    }
    Ok(found)
}

fn file_values(file: Option<&ConfigFile>) -> Result<BTreeMap<&'static str, (String, Origin)>, ConfigError> {
    let Some(ConfigFile { path, text }) = file else {
        return Ok(BTreeMap::new());
    };
    let in_file = |line: u64, what: String| ConfigError::InFile {
        path: path.clone(),
        line,
        what,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let yaml = Yaml::parse(text).map_err(|fault| in_file(fault.line, fault.what))?;
    let root = yaml.root();
    if *root.node() == Node::Null {
        return Ok(BTreeMap::new());
    }
    let names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    let refuse = |wrong| {
        let fault = yaml.fault(wrong);
        in_file(fault.line, fault.what)
    };
    let table = root.table(&names).map_err(refuse)?;
    let mut values = BTreeMap::new();
    for key in KEYS {
        let Some(at) = table.get(key.name) else { continue };
        let origin = Origin::File {
            path: path.clone(),
            line: yaml.line_of(at),
        };
        values.insert(key.name, (plain(at).map_err(refuse)?, origin));
    }
    Ok(values)
}

/// A value of the file as it would be typed elsewhere: every source is read by the same rules.
fn plain(at: &At<'_>) -> Result<String, crate::job::instructions::yaml::Wrong> {
    match at.node() {
        Node::Whole(number) => Ok(number.to_string()),
        Node::Number(number) => Ok(number.to_string()),
        Node::Text(text) => Ok(text.clone()),
        Node::Null | Node::Flag(_) | Node::List(_) | Node::Map(_) => Err(at.wrong("must be text or a number")),
    }
}

fn line(text: &str) -> Result<String, String> {
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err("must be one line of text, not empty".to_owned());
    }
    Ok(text.to_owned())
}

fn folder(text: &str) -> Result<PathBuf, String> {
    line(text).map(|text| Path::new(&text).to_path_buf())
}

fn at_least(min: u64, text: &str) -> Result<u64, String> {
    match count(text)? {
        number if number < min => Err(format!("must be at least {min}, not {number}")),
        number => Ok(number),
    }
}

fn usd(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|number| number.is_finite() && *number >= 0.0)
        .ok_or_else(|| format!("must be an amount in USD such as 5.00, not '{}'", shown(text)))
}

fn duration(text: &str) -> Result<u64, String> {
    match duration_ms(text)? {
        0 => Err("must be longer than 0".to_owned()),
        millis => Ok(millis),
    }
}
