//! Where relative paths begin: those of a file in its folder, the default ones in the folder in which the file was found.

use super::{FILE, Origin, Setting};
use std::path::{Path, PathBuf};

/// The folder whose configuration holds here: the current one, as an empty path, or the nearest above it that has the file.
/// Who works below the home folder is given none from above that.
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
    /// With its path where it begins: in the folder of the file that says it, or in `root` where nobody says it.
    pub(super) fn begun_in(self, root: &Path, below: &dyn Fn(T, &Path) -> T) -> Self {
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

/// A model's name, which is a path where it is a script's.
pub(super) fn script_below(model: Option<String>, folder: &Path) -> Option<String> {
    model.map(|model| match model.strip_prefix("scripted:") {
        Some(file) => format!("scripted:{}", folder.join(file).display()),
        None => model,
    })
}
