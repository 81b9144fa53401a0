//! The base folders of relative paths: those in a file begin in its folder, default ones in the folder where the file was found.

use super::{FILE, Origin, Setting};
use std::path::{Path, PathBuf};

/// The nearest folder with a configuration file: an empty path for the current one, else one above it, but never above the home folder.
pub(super) fn root(environment: &[(String, String)]) -> PathBuf {
    let Ok(here) = std::env::current_dir() else { return PathBuf::new() };
    let home = environment.iter().find(|(name, _)| name == "HOME").map(|(_, home)| PathBuf::from(home));
    let mut last = false;
    let mut above =
        here.ancestors().take_while(|folder| !std::mem::replace(&mut last, home.as_deref() == Some(folder)));
    match above.find(|folder| folder.join(FILE).exists()) {
        Some(found) if found != here => found.to_owned(),
        Some(_) | None => PathBuf::new(),
    }
}

impl<T> Setting<T> {
    /// Resolves its path: against the folder of the file that gives it, or against `root` for a default.
    pub(super) fn resolved_in(self, root: &Path, below: &dyn Fn(T, &Path) -> T) -> Self {
        let value = match &self.origin {
            Origin::Flag | Origin::Environment(_) => self.value,
            Origin::File { path, .. } => below(self.value, path.parent().unwrap_or(Path::new(""))),
            Origin::Default => below(self.value, root),
        };
        Self { value, origin: self.origin }
    }
}

pub(super) fn below(path: PathBuf, folder: &Path) -> PathBuf {
    folder.join(path)
}

pub(super) fn optional_below(path: Option<PathBuf>, folder: &Path) -> Option<PathBuf> {
    path.map(|path| below(path, folder))
}

/// Resolves a model's name, which is a path if the model is a script.
pub(super) fn script_below(model: Option<String>, folder: &Path) -> Option<String> {
    model.map(|model| match model.strip_prefix("scripted:") {
        Some(file) => format!("scripted:{}", folder.join(file).display()),
        None => model,
    })
}
