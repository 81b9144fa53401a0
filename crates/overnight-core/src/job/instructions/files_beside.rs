//! Files beside the instructions, below their folder.

use super::{MAX_BYTES, ReadBeside};
use crate::{
    amount::shown,
    yaml::{ValueError, YamlValue},
};

/// Checks that a path stays in the instructions' folder; the error is a phrase.
pub(super) fn beside(path: &str) -> Result<(), &'static str> {
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    if path.contains(['\\', ':']) || !path.split('/').all(plain) {
        return Err("which is not a plain path below the instructions' folder");
    }
    Ok(())
}

/// Path and text of the file that `at` names.
pub(super) fn read_file(at: &YamlValue<'_>, read_beside: ReadBeside<'_>) -> Result<(String, String), ValueError> {
    let path = at.line(500)?;
    beside(&path).map_err(|why| at.wrong(format!("is '{}', {why}", shown(&path))))?;
    let text = read_beside(&path).map_err(|why| {
        at.wrong(format!("is '{}', a file that can't be read: {}", shown(&path), shown(&why.to_string())))
    })?;
    if text.len() > MAX_BYTES {
        return Err(at.wrong(format!("is '{}', which is larger than 1 MiB", shown(&path))));
    }
    Ok((path, text))
}

/// The text of the file that `at` names, which must not be blank.
pub(super) fn text_beside(at: &YamlValue<'_>, read_beside: ReadBeside<'_>) -> Result<String, ValueError> {
    let (path, text) = read_file(at, read_beside)?;
    if text.trim().is_empty() {
        return Err(at.wrong(format!("is '{}', which is empty", shown(&path))));
    }
    Ok(text)
}
