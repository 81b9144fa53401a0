//! A document of data as text, as it stands: where it isn't what its name says.

use crate::readers::{PageSink, ReadFailure};
use crate::units::Unit;

/// Tells the text, and why it stands as it is.
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

/// Lines behind the first are moved in.
pub(super) fn indented(text: &str, indent: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines.join(&format!("\n{indent}"))
}
