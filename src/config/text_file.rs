//! Reads a short text file that a person names, with errors that a person understands.

use overnight_core::job::instructions::MAX_BYTES;
use std::{fs, io, path::Path};

/// Reads a text file as long as instructions may be; the error is a fragment behind the file's name and a colon.
pub fn text_file(path: &Path) -> Result<String, String> {
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => format!("it can't be read ({error})"),
    };
    let meta = fs::metadata(path).map_err(refused)?;
    if meta.is_dir() {
        return Err("it is a folder; name a file in it".to_owned());
    }
    if !meta.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if meta.len() > MAX_BYTES as u64 {
        return Err(format!("it has {} bytes, and {MAX_BYTES} are allowed", meta.len()));
    }
    let bytes = fs::read(path).map_err(refused)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("it is not UTF-8 text (byte {at} can't be read); save it as UTF-8")
    })
}
