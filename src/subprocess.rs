//! Other programs are started only here: with an empty environment and the variables that they need. This process's own
//! environment may hold a key, or the database's password, and a program's output may become a document's text.

use std::{ffi::OsStr, path::PathBuf, process::Command};

/// The variables that a user's command gets.
pub(crate) const PLAIN: [&str; 5] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];

/// `program`, with those of `variables` that are set, and no others.
pub(crate) fn command(program: impl AsRef<OsStr>, variables: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command.envs(variables.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command
}

/// The absolute paths in a variable that lists some, as `PATH` does.
pub(crate) fn listed_paths(variable: &str) -> Vec<PathBuf> {
    let listed = std::env::var_os(variable).unwrap_or_default();
    std::env::split_paths(&listed).filter(|path| path.is_absolute()).collect()
}
