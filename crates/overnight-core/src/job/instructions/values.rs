//! Values of keys that may be left out, or that stand in two places.

use crate::{
    amount::shown,
    yaml::{ValueError, YamlValue},
};

pub(super) fn or_default<T: Default>(value: Option<Result<T, ValueError>>) -> Result<T, ValueError> {
    value.unwrap_or_else(|| Ok(T::default()))
}

/// Reads the name of a model into `model`; it may stand at `elsewhere` too, but must then be the same.
pub(super) fn name_model(
    model: &mut Option<String>,
    elsewhere: &str,
    at: Option<&YamlValue<'_>>,
) -> Result<(), ValueError> {
    let Some(at) = at else { return Ok(()) };
    let name = at.line(200)?;
    if let Some(other) = model.as_ref().filter(|other| **other != name) {
        let (name, other) = (shown(&name), shown(other));
        return Err(at.wrong(format!("is '{name}', but '{elsewhere}' is '{other}'; keep one of them")));
    }
    *model = Some(name);
    Ok(())
}
