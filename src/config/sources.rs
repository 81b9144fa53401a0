//! The sources of the configuration: how each value is named in them, and how its text is read.

use super::{BaseUrl, ConfigError, ConfigFile, FILE_VARIABLE, Origin, PREFIX, Setting};
use crate::extraction::UseMode;
use overnight_core::{
    amount::{AmountError, count, duration_ms, shown},
    yaml::{ValueError, YamlFile, YamlNode, YamlValue, nearest},
};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

/// The error in a value: a fragment that follows the setting's name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct InvalidValue(pub(super) String);

impl InvalidValue {
    pub(super) fn new(what: &str) -> Self {
        Self(what.to_owned())
    }
}

impl From<AmountError> for InvalidValue {
    fn from(error: AmountError) -> Self {
        Self(error.to_string())
    }
}

/// The prefix of variables for tests only.
const TEST_PREFIX: &str = "OVERNIGHT_TEST_";

/// The names of one setting in each source. `documents.ocr` is `ocr` in the file's mapping `documents`, and so on.
#[derive(Clone, Copy)]
pub(super) struct SettingKey {
    /// The name in the file and in listings; the variable is `OVERNIGHT_` and this name in capitals.
    pub(super) name: &'static str,
    /// The flag; the same as `name` if there is none.
    pub(super) flag: &'static str,
}

impl SettingKey {
    /// A setting without a flag.
    pub(super) const fn without_flag(name: &'static str) -> Self {
        Self { name, flag: name }
    }

    /// An error about the value from this origin.
    pub(super) fn error(&self, origin: Origin, what: String) -> ConfigError {
        match origin {
            Origin::Flag | Origin::Default => ConfigError::InFlag { flag: self.flag, what },
            Origin::Environment(name) => ConfigError::InVariable { name, what },
            Origin::File { path, line } => ConfigError::InFile { path, line, what: format!("'{}' {what}", self.name) },
        }
    }
}

/// The variable that gives the setting of that name.
pub(super) fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('.', "_").to_uppercase())
}

/// Flags, environment and file, each by the name of the value; the first source that has a value counts.
pub(super) struct SettingSources {
    flags: BTreeMap<&'static str, String>,
    environment: BTreeMap<String, String>,
    file: BTreeMap<&'static str, (String, Origin)>,
}

impl SettingSources {
    /// Reads the sources for these keys; `flags` are those that were typed.
    pub(super) fn new(
        keys: &[SettingKey],
        flags: BTreeMap<&'static str, String>,
        environment: impl Iterator<Item = (String, String)>,
        file: Option<&ConfigFile>,
    ) -> Result<Self, ConfigError> {
        Ok(Self { flags, environment: variables(keys, environment)?, file: file_values(keys, file)? })
    }

    fn raw(&self, key: &SettingKey) -> Option<(String, Origin)> {
        if let Some(text) = self.flags.get(key.name) {
            return Some((text.clone(), Origin::Flag));
        }
        let own = variable_of(key.name);
        // Other programs share this one variable, so our own has precedence.
        let shared = (key.name == "database_url").then(|| "DATABASE_URL".to_owned());
        for name in std::iter::once(own).chain(shared) {
            if let Some(text) = self.environment.get(&name) {
                return Some((text.clone(), Origin::Environment(name)));
            }
        }
        self.file.get(key.name).cloned()
    }

    pub(super) fn optional<T>(
        &self,
        key: &SettingKey,
        read: impl Fn(&str) -> Result<T, InvalidValue>,
    ) -> Result<Setting<Option<T>>, ConfigError> {
        let Some((text, origin)) = self.raw(key) else {
            return Ok(Setting { value: None, origin: Origin::Default });
        };
        match read(text.trim()) {
            Ok(value) => Ok(Setting { value: Some(value), origin }),
            Err(InvalidValue(what)) => Err(key.error(origin, what)),
        }
    }

    pub(super) fn setting<T>(
        &self,
        key: &SettingKey,
        default: &str,
        read: impl Fn(&str) -> Result<T, InvalidValue>,
    ) -> Result<Setting<T>, ConfigError> {
        let Setting { value, origin } = self.optional(key, &read)?;
        match value {
            Some(value) => Ok(Setting { value, origin }),
            None => match read(default) {
                Ok(value) => Ok(Setting { value, origin: Origin::Default }),
                Err(InvalidValue(what)) => Err(key.error(Origin::Default, what)),
            },
        }
    }
}

/// Our variables that are set; an unknown one is an error, because a typing mistake would go unnoticed all night.
fn variables(
    keys: &[SettingKey],
    environment: impl Iterator<Item = (String, String)>,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let known: Vec<String> = keys.iter().map(|key| variable_of(key.name)).collect();
    let mut found = BTreeMap::new();
    for (name, value) in environment {
        let ours = name.starts_with(PREFIX) && !name.starts_with(TEST_PREFIX) && name != FILE_VARIABLE;
        if ours && !known.contains(&name) {
            let hint = match nearest(&name, known.iter().map(String::as_str).chain([FILE_VARIABLE])) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("known are {}, {FILE_VARIABLE}", known.join(", ")),
            };
            return Err(ConfigError::UnknownVariable { name: shown(&name), hint });
        }
        if (ours || name == "DATABASE_URL") && !value.trim().is_empty() {
            found.insert(name, value);
        }
    }
    Ok(found)
}

fn file_values(
    keys: &[SettingKey],
    file: Option<&ConfigFile>,
) -> Result<BTreeMap<&'static str, (String, Origin)>, ConfigError> {
    let Some(ConfigFile { path, text }) = file else {
        return Ok(BTreeMap::new());
    };
    let in_file = |line: u64, what: String| ConfigError::InFile { path: path.clone(), line, what };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let yaml = YamlFile::parse(text).map_err(|fault| in_file(fault.line, fault.what))?;
    let root = yaml.root();
    if *root.node() == YamlNode::Null {
        return Ok(BTreeMap::new());
    }
    let mut values = BTreeMap::new();
    let origin = |at: &YamlValue<'_>| Origin::File { path: path.clone(), line: yaml.line_of(at) };
    take_values(keys, &root, "", &origin, &mut values).map_err(|wrong| {
        let fault = yaml.fault(wrong);
        in_file(fault.line, fault.what)
    })?;
    Ok(values)
}

/// Collects the values of the mapping at `at`; `prefix` precedes their keys.
fn take_values(
    keys: &[SettingKey],
    at: &YamlValue<'_>,
    prefix: &str,
    origin: &dyn Fn(&YamlValue<'_>) -> Origin,
    values: &mut BTreeMap<&'static str, (String, Origin)>,
) -> Result<(), ValueError> {
    let behind = keys.iter().filter_map(|key| key.name.strip_prefix(prefix)?.split('.').next());
    let mut names: Vec<&str> = behind.collect();
    names.dedup();
    let table = at.table(&names)?;
    for name in names {
        let Some(inner) = table.get(name) else { continue };
        let whole = format!("{prefix}{name}");
        match keys.iter().find(|key| key.name == whole) {
            Some(key) => {
                values.insert(key.name, (plain(inner)?, origin(inner)));
            }
            None => take_values(keys, inner, &format!("{whole}."), origin, values)?,
        }
    }
    Ok(())
}

/// A value of the file as it would be typed elsewhere: every source is read by the same rules.
fn plain(at: &YamlValue<'_>) -> Result<String, ValueError> {
    match at.node() {
        YamlNode::Whole(number) => Ok(number.to_string()),
        YamlNode::Number(number) => Ok(number.to_string()),
        YamlNode::Text(text) => Ok(text.clone()),
        YamlNode::Flag(flag) => Ok(flag.to_string()),
        YamlNode::Null | YamlNode::List(_) | YamlNode::Map(_) => Err(at.wrong("must be text, a number, true or false")),
    }
}

pub(super) fn line(text: &str) -> Result<String, InvalidValue> {
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err(InvalidValue::new("must be one line of text, not empty"));
    }
    Ok(text.to_owned())
}

pub(super) fn folder(text: &str) -> Result<PathBuf, InvalidValue> {
    line(text).map(PathBuf::from)
}

/// The address of the store of workspaces for other machines. Parts that may be secret are not repeated in errors.
pub(super) fn workspace_store(text: &str) -> Result<String, InvalidValue> {
    let text = line(text)?;
    if !["s3://", "gs://", "az://", "file://"].iter().any(|scheme| text.starts_with(scheme)) {
        return Err(InvalidValue(format!(
            "must begin with s3://, gs://, az:// or file://, not '{}'",
            shown(text.split(':').next().unwrap_or(""))
        )));
    }
    if text.contains(['@', '?', '#', ' ']) {
        return Err(InvalidValue::new(
            "must hold no user name, password, query or blank: keys go by variables such as AWS_SECRET_ACCESS_KEY",
        ));
    }
    Ok(text)
}

pub(super) fn at_least(min: u64, text: &str) -> Result<u64, InvalidValue> {
    match count(text)? {
        number if number < min => Err(InvalidValue(format!("must be at least {min}, not {number}"))),
        number => Ok(number),
    }
}

pub(super) fn not_zero(text: &str) -> Result<u64, InvalidValue> {
    at_least(1, text)
}

pub(super) fn use_mode(text: &str) -> Result<UseMode, InvalidValue> {
    UseMode::parse(text).ok_or_else(|| InvalidValue::new("must be auto, never or always"))
}

pub(super) fn flag(text: &str) -> Result<bool, InvalidValue> {
    text.parse().map_err(|_| InvalidValue(format!("must be true or false, not '{}'", shown(text))))
}

pub(super) fn usd(text: &str) -> Result<f64, InvalidValue> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|number| number.is_finite() && *number >= 0.0)
        .ok_or_else(|| InvalidValue(format!("must be an amount in USD such as 5.00, not '{}'", shown(text))))
}

pub(super) fn duration(text: &str) -> Result<u64, InvalidValue> {
    match duration_ms(text)? {
        0 => Err(InvalidValue::new("must be longer than 0")),
        millis => Ok(millis),
    }
}

/// The word for the provider's own server.
const OWN: &str = "default";

/// The base URL of a model's server. Parts that may be secret are not repeated in errors.
pub(super) fn server(text: &str) -> Result<BaseUrl, InvalidValue> {
    let text = line(text)?;
    if text == OWN {
        return Ok(BaseUrl(None));
    }
    if !["http://", "https://"].iter().any(|scheme| text.starts_with(scheme)) {
        return Err(InvalidValue(format!(
            "must begin with http:// or https://, not '{}'",
            shown(text.split(':').next().unwrap_or(""))
        )));
    }
    if text.contains(['@', ' ']) {
        return Err(InvalidValue::new("must hold no user name, password or blank: the key goes by --api-key-env"));
    }
    Ok(BaseUrl(Some(text)))
}

/// The name of an environment variable.
pub(super) fn variable(text: &str) -> Result<String, InvalidValue> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) || !text.chars().all(is_name) {
        // The text is not repeated: people put the key itself here.
        return Err(InvalidValue::new(
            "must be the name of an environment variable, such as OPENAI_API_KEY, not the key itself",
        ));
    }
    Ok(text.to_owned())
}

#[expect(clippy::ptr_arg, reason = "the signature of what shows a setting")]
pub(super) fn shown_path(path: &PathBuf) -> String {
    path.display().to_string()
}

/// A period given in milliseconds.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of what shows a setting")]
pub(super) fn shown_period(ms: &u64) -> String {
    humantime::format_duration(Duration::from_millis(*ms)).to_string()
}
