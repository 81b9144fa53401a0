//! A short text file that a person names, with errors in terms that the person knows.

use overnight_core::job::instructions::MAX_BYTES;
use std::{fs, io, path::Path};

/// The reason why a text file can't be used: a fragment that follows the file's name and a colon.
#[derive(Debug, thiserror::Error)]
pub enum TextFileError {
    #[error("no such file")]
    NotFound,
    #[error("it can't be read ({0})")]
    Unreadable(io::Error),
    #[error("it is a folder; name a file in it")]
    Folder,
    #[error("it is not a regular file")]
    NotRegular,
    #[error("it has {bytes} bytes, and {MAX_BYTES} are allowed")]
    TooLong { bytes: u64 },
    #[error("it is not UTF-8 text (byte {at} can't be read); save it as UTF-8")]
    NotUtf8 { at: usize },
}

impl From<io::Error> for TextFileError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { Self::NotFound } else { Self::Unreadable(error) }
    }
}

/// Reads a text file, up to the size allowed for instructions.
pub fn text_file(path: &Path) -> Result<String, TextFileError> {
    let meta = fs::metadata(path)?;
    if meta.is_dir() {
        return Err(TextFileError::Folder);
    }
    if !meta.is_file() {
        return Err(TextFileError::NotRegular);
    }
    if meta.len() > MAX_BYTES as u64 {
        return Err(TextFileError::TooLong { bytes: meta.len() });
    }
    let bytes = fs::read(path)?;
    String::from_utf8(bytes).map_err(|error| TextFileError::NotUtf8 { at: error.utf8_error().valid_up_to() })
}
