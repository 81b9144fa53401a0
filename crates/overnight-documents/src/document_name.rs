//! The rules for names of documents.

use crate::error::DocumentError;
use crate::forbidden_names::is_device;

/// A folder beside documents in which their texts are stored.
const TEXT_FOLDER: &str = ".text";
/// The longest part of a name, in bytes: with `.txt`, for its text, it must still be a valid name.
const MAX_NAME_BYTES: usize = 255 - ".txt".len();
/// The longest name with its folders, in bytes: below another folder it must still be a valid path.
const MAX_PATH_BYTES: usize = 2_048;

/// Checks whether `name`, with `/` between its parts, can be a document's name on any system, in any folder; the error
/// is the rule that it breaks.
pub fn check_name(name: &str) -> Result<(), DocumentError> {
    let bad = |why: String| Err(DocumentError::BadName { name: name.to_owned(), why });
    if name.len() > MAX_PATH_BYTES {
        return bad(format!("it has {} bytes with its folders, and {MAX_PATH_BYTES} is the most", name.len()));
    }
    for part in name.split('/') {
        if part.is_empty() {
            return bad("a part of it is empty".into());
        }
        if part.chars().any(char::is_control) {
            return bad("it has a control character".into());
        }
        if let Some(sign) = part.chars().find(|c| matches!(c, '\\' | ':')) {
            return bad(format!("`{sign}` stands in it"));
        }
        if part.ends_with('.') {
            return bad(format!("{part:?} ends with a dot"));
        }
        if part.len() > MAX_NAME_BYTES {
            return bad(format!("a part of it has {} bytes, and {MAX_NAME_BYTES} is the most", part.len()));
        }
        if is_device(part) {
            return bad(format!("{part:?} is a device on Windows"));
        }
    }
    let first = name.split('/').next().unwrap_or(name);
    if first.eq_ignore_ascii_case(TEXT_FOLDER) {
        return bad(format!("{TEXT_FOLDER} holds the documents' extracted text"));
    }
    Ok(())
}
