//! Secrets that the configuration hands on: keys of model servers and headers. None is shown, not even in debug output.

use super::ConfigError;
use crate::model::remote::Key;
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Keys by their variables. Any variable may hold one: the user chooses its name, which may be part of a job.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ApiKeys(Arc<BTreeMap<String, Key>>);

impl ApiKeys {
    pub(super) fn take(&mut self, name: &str, value: &str) {
        if let Some(key) = Key::new(value) {
            Arc::make_mut(&mut self.0).insert(name.to_owned(), key);
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Key> {
        self.0.get(name).cloned()
    }
}

impl fmt::Debug for ApiKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKeys(…)")
    }
}

/// The variables of object stores, as their providers name them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CloudVariables(Vec<(String, String)>);

/// The prefixes of each provider's variables.
const CLOUDS: [&str; 3] = ["AWS_", "GOOGLE_", "AZURE_"];

impl CloudVariables {
    pub(super) fn take(&mut self, name: &str, value: &str) {
        if CLOUDS.iter().any(|prefix| name.starts_with(prefix)) && !value.trim().is_empty() {
            self.0.push((name.to_owned(), value.to_owned()));
        }
    }

    /// The names and values, for opening the store.
    pub fn reveal(&self) -> &[(String, String)] {
        &self.0
    }
}

impl fmt::Debug for CloudVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CloudVariables(…)")
    }
}

/// Names and values of headers.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// Reads `NAME=VALUE` each.
    pub(super) fn parse(typed: &[String]) -> Result<Self, ConfigError> {
        let read = |text: &String| {
            let (name, value) = text.split_once('=').unwrap_or_default();
            let (name, value) = (name.trim(), value.trim());
            let is_sound = !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic() && c != ':');
            if !is_sound || value.is_empty() || value.chars().any(char::is_control) {
                // The text is not repeated: it may be a secret.
                let what = "must be NAME=VALUE, such as x-project=night".to_owned();
                return Err(ConfigError::InFlag { flag: "--header", what });
            }
            Ok((name.to_owned(), value.to_owned()))
        };
        typed.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The headers themselves, for the model that sends them.
    pub fn reveal(&self) -> &[(String, String)] {
        &self.0
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Headers(…)")
    }
}
