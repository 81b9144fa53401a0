//! Texts in files that spreadsheets open.

/// Spreadsheets interpret a cell that begins like this as a formula, even within quotes; an apostrophe makes it text.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Whether a spreadsheet may take a text for a formula.
///
/// ```
/// assert!(overnight_core::spreadsheet::is_formula("＝1+1.md"));
/// ```
pub fn is_formula(text: &str) -> bool {
    text.starts_with(FORMULA)
}

/// A text that no spreadsheet takes for a formula.
///
/// ```
/// assert_eq!(overnight_core::spreadsheet::defused("=1+1".to_owned()), "'=1+1");
/// ```
pub fn defused(text: String) -> String {
    if is_formula(&text) { format!("'{text}") } else { text }
}
