//! The options of a submission, validated: when, how often and within which limits jobs may run. Errors are sentences.

use super::SubmitArgs;
use crate::{
    batch::{JobUnit, checked_name, window::Window},
    cli::{CliError, local_time},
    store::Group,
};
use chrono::{DateTime, TimeZone};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use overnight_core::{amount::shown, job::time::Timestamp};
use overnight_documents::holders;
use regex::{Regex, RegexBuilder};
use std::str::FromStr;

/// The highest priority; the lowest is its negative.
const MOST_PRIORITY: i32 = 100;
/// The default of `--max-attempts`.
const USUAL_ATTEMPTS: u32 = 3;
/// The longest key of a group, in characters.
const MOST_KEY: usize = 200;

/// The value of `--each`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum EachUnit {
    Document,
    Family,
}

impl FromStr for EachUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "document" => Ok(Self::Document),
            "family" => Ok(Self::Family),
            _ => Err("it stands alone or before `family`; put the instructions before it".to_owned()),
        }
    }
}

/// The checked options.
#[derive(Debug)]
pub(super) struct SubmitOptions {
    pub(super) unit: JobUnit,
    pub(super) name: Option<String>,
    pub(super) priority: i32,
    pub(super) run_after: Option<Timestamp>,
    pub(super) window: Option<String>,
    pub(super) group: Option<Group>,
    pub(super) budget_usd: Option<f64>,
    pub(super) max_attempts: u32,
    pub(super) trial: Option<usize>,
    /// `None`: all names are accepted.
    names: Option<GlobSet>,
}

impl SubmitOptions {
    pub(super) fn checked<Z: TimeZone>(args: &SubmitArgs, now: &DateTime<Z>) -> Result<Self, CliError> {
        let unit = unit(args)?;
        if args.trial.is_some() && matches!(unit, JobUnit::Whole) {
            return Err(CliError::usage(
                "--trial needs --each: without it there is one job, which can't be tried in part",
            ));
        }
        Ok(Self {
            unit,
            name: read("--batch", args.batch.as_ref(), owned_name)?,
            priority: read("--priority", args.priority.as_ref(), priority)?.unwrap_or_default(),
            run_after: read("--at", args.at.as_ref(), |text| local_time::at(text, now))?,
            window: read("--window", args.window.as_ref(), checked_window)?,
            group: group(args)?,
            budget_usd: read("--budget-usd", args.budget_usd.as_ref(), usd)?,
            max_attempts: read("--max-attempts", args.max_attempts.as_ref(), at_least_one)?.unwrap_or(USUAL_ATTEMPTS),
            trial: read("--trial", args.trial.as_ref(), at_least_one)?,
            names: names(&args.glob)?,
        })
    }

    /// Whether a document of this name is to be submitted. A mail's attachments come with the mail.
    pub(super) fn is_wanted(&self, name: &str) -> bool {
        self.names.as_ref().is_none_or(|names| names.is_match(name) || holders(name).any(|file| names.is_match(file)))
    }
}

fn unit(args: &SubmitArgs) -> Result<JobUnit, CliError> {
    let name = read("--family", args.family.as_ref(), family_name)?;
    match (args.each, name) {
        (Some(EachUnit::Document), Some(_)) => {
            Err(CliError::usage("--family makes one job for each family: say --each family, or leave --each out"))
        }
        (None | Some(EachUnit::Family), Some(name)) => Ok(JobUnit::Family { name: Some(name) }),
        (Some(EachUnit::Family), None) => Ok(JobUnit::Family { name: None }),
        (Some(EachUnit::Document), None) => Ok(JobUnit::Document),
        (None, None) => Ok(JobUnit::Whole),
    }
}

/// The expression for the common part of a family's names, in its first group. It ignores case.
fn family_name(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).case_insensitive(true).build().map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("'{}' is not a regular expression: {why}", shown(text))
    })?;
    if built.captures_len() < 2 {
        return Err(format!(
            "'{}' has no group: put what the names of a family have in common into parentheses",
            shown(text)
        ));
    }
    Ok(built)
}

fn owned_name(name: &str) -> Result<String, String> {
    checked_name(name).map(str::to_owned).map_err(|error| error.to_string())
}

/// The hours in which jobs may run, in their normal form.
fn checked_window(text: &str) -> Result<String, String> {
    Window::parse(text).map(|window| window.to_string()).map_err(|why| format!("can't be read: {why}"))
}

/// Parses the value of `flag`; the error of `reader` is a fragment that follows the flag's name.
fn read<T>(
    flag: &str,
    typed: Option<&String>,
    reader: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, CliError> {
    typed.map(|text| reader(text).map_err(|what| CliError::usage(format!("{flag} {what}")))).transpose()
}

fn priority(text: &str) -> Result<i32, String> {
    let number: Option<i32> = text.trim().parse().ok();
    number.filter(|number| (-MOST_PRIORITY..=MOST_PRIORITY).contains(number)).ok_or_else(|| {
        format!("must be a whole number from -{MOST_PRIORITY} to {MOST_PRIORITY}, not '{}'", shown(text))
    })
}

fn at_least_one<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    let number: Option<T> = text.trim().parse().ok();
    number
        .filter(|number| *number >= T::from(1))
        .ok_or_else(|| format!("must be a whole number of at least 1, not '{}'", shown(text)))
}

/// An amount that may be spent.
pub(in crate::cli) fn usd(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    number
        .filter(|number| number.is_finite() && *number > 0.0)
        .ok_or_else(|| format!("must be an amount of more than 0 USD, such as 20 or 7.50, not '{}'", shown(text)))
}

fn group(args: &SubmitArgs) -> Result<Option<Group>, CliError> {
    let key = read("--group", args.group.as_ref(), |text| {
        let key = text.trim();
        let is_sound = (1..=MOST_KEY).contains(&key.chars().count()) && !key.chars().any(char::is_control);
        is_sound
            .then(|| key.to_owned())
            .ok_or_else(|| format!("must be one line of 1 to {MOST_KEY} letters, not '{}'", shown(text)))
    })?;
    match (key, read("--group-limit", args.group_limit.as_ref(), at_least_one)?) {
        (Some(key), Some(at_once)) => Ok(Some(Group { key, at_once })),
        (None, None) => Ok(None),
        (Some(_), None) => {
            Err(CliError::usage("--group needs --group-limit: how many jobs of the group may run at once"))
        }
        (None, Some(_)) => Err(CliError::usage("--group-limit needs --group: the group that it is the limit of")),
    }
}

/// The patterns of `--glob`. A pattern without a slash is matched against the last part of a name.
fn names(patterns: &[String]) -> Result<Option<GlobSet>, CliError> {
    let wrong = |pattern: &str, error: &globset::Error| {
        CliError::usage(format!("--glob '{}' is not a pattern: {}", shown(pattern), error.kind()))
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let anywhere = if pattern.contains('/') { pattern.clone() } else { format!("**/{pattern}") };
        let glob = GlobBuilder::new(anywhere.trim_start_matches("./")).literal_separator(true).build();
        set.add(glob.map_err(|error| wrong(pattern, &error))?);
    }
    let all = || patterns.join(" ");
    (!patterns.is_empty()).then(|| set.build().map_err(|error| wrong(&all(), &error))).transpose()
}
