//! The text of a data file as it is, if it isn't what its name says.

use crate::readers::{PageSink, ReadFailure};
use crate::units::Unit;

/// Reports the text, and why it is left as it is.
pub(super) fn tell(
    text: &str,
    format: &str,
    why: &dyn std::fmt::Display,
    pages: &mut dyn PageSink,
) -> Result<Unit, ReadFailure> {
    pages.note(format!("it is no valid {format} ({why}), and stands as it is"))?;
    if pages.begin(1)? {
        pages.text(text)?;
    }
    Ok(Unit::Line)
}

/// Indents all lines but the first.
pub(super) fn indented(text: &str, indent: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines.join(&format!("\n{indent}"))
}
