//! The ZIP, and the list of its files. The same files give the same bytes: no file times are stored. The ZIP gets its
//! name once it is complete, so no partial file is left if a signature or a time-stamp fails.

use super::{RecordError, layout::SCRIPT_FILE};
use crate::{
    runner::now,
    workspace::{Workspace, files::temporary_name, hash},
};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;
use zip::{CompressionMethod, DateTime, ZipWriter, write::SimpleFileOptions};

/// From this size on a file needs the wide form of ZIP.
const LARGE: u64 = 0xFFFF_0000;

/// A ZIP that is being written under a temporary name; it is removed if it is not finished.
#[derive(Debug)]
pub(super) struct RecordZip {
    path: PathBuf,
    file: NamedTempFile,
    zip: ZipWriter<BufWriter<File>>,
    /// Name → SHA-256.
    pub listed: BTreeMap<String, String>,
}

impl RecordZip {
    pub(super) fn new(path: &Path) -> Result<Self, RecordError> {
        if path.symlink_metadata().is_ok() {
            return Err(RecordError::Exists { path: path.display().to_string() });
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Named like all temporary files, and locked: after a crash, the sweep removes it as an orphan.
        Workspace::sweep_at_times(folder, now());
        let file = tempfile::Builder::new().prefix(&temporary_name()).rand_bytes(0).tempfile_in(folder);
        let file = file.map_err(|cause| failed(path, cause))?;
        // On a file system without locks, the sweep goes by the file's age.
        let _ = file.as_file().lock();
        let zip = ZipWriter::new(BufWriter::new(file.reopen().map_err(|cause| failed(path, cause))?));
        Ok(Self { path: path.to_owned(), file, zip, listed: BTreeMap::new() })
    }

    /// Adds a file of `bytes` bytes, and its hash to the list.
    pub(super) fn add(&mut self, name: &str, content: &mut dyn Read, bytes: u64) -> Result<(), RecordError> {
        let mode = if name == SCRIPT_FILE { 0o755 } else { 0o644 };
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(mode)
            .large_file(bytes >= LARGE);
        let added = self.zip.start_file(name, options).map_err(io::Error::from);
        let hash =
            added.and_then(|()| hash::copy(content, &mut self.zip)).map_err(|cause| failed(&self.path, cause))?;
        self.listed.insert(name.to_owned(), hash.sha256);
        Ok(())
    }

    /// Adds a folder with nothing in it, which no list names.
    pub(super) fn add_folder(&mut self, name: &str) -> Result<(), RecordError> {
        let options = SimpleFileOptions::default().last_modified_time(DateTime::default());
        self.zip.add_directory(name, options).map_err(|error| failed(&self.path, error.into()))
    }

    /// The same for a text.
    pub(super) fn add_text(&mut self, name: &str, text: &[u8]) -> Result<(), RecordError> {
        self.add(name, &mut &*text, text.len() as u64)
    }

    /// Completes the ZIP, syncs it to disk and gives it its name. Returns its size.
    pub(super) fn finish(self) -> Result<u64, RecordError> {
        let Self { path, file, zip, listed: _ } = self;
        let written = zip.finish().map_err(io::Error::from).and_then(|mut zip| {
            zip.flush()?;
            zip.get_ref().sync_all()?;
            Ok(zip.get_ref().metadata()?.len())
        });
        let bytes = written.map_err(|cause| failed(&path, cause))?;
        file.persist_noclobber(&path).map_err(|failure| match failure.error.kind() {
            io::ErrorKind::AlreadyExists => RecordError::Exists { path: path.display().to_string() },
            _ => failed(&path, failure.error),
        })?;
        Ok(bytes)
    }
}

fn failed(path: &Path, cause: io::Error) -> RecordError {
    RecordError::Write { path: path.display().to_string(), cause }
}

/// A list of files as `sha256sum` writes and reads it.
pub(super) fn manifest(listed: &BTreeMap<String, String>) -> String {
    let line = |(name, hash): (&String, &String)| {
        let escaped = name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
        let mark = if escaped == *name { "" } else { "\\" };
        format!("{mark}{hash}  {escaped}\n")
    };
    listed.iter().map(line).collect()
}

/// Name and hash of each line of such a list; `None` for a line that is malformed.
pub(super) fn read_manifest(text: &str) -> impl Iterator<Item = Option<(String, String)>> {
    text.lines().map(|line| {
        let (escaped, line) = line.strip_prefix('\\').map_or((false, line), |line| (true, line));
        let (hash, name) = line.split_once("  ").filter(|(hash, _)| hash.len() == 64)?;
        let mut plain = String::new();
        let mut letters = name.chars();
        while let Some(letter) = letters.next() {
            plain.push(match (letter, escaped) {
                ('\\', true) => match letters.next()? {
                    'n' => '\n',
                    'r' => '\r',
                    other => other,
                },
                (letter, _) => letter,
            });
        }
        Some((plain, hash.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_written_as_sha256sum_does() {
        let hash = "a".repeat(64);
        let listed = BTreeMap::from(["b c", "d\\e\nf"].map(|name| (name.to_owned(), hash.clone())));
        let text = manifest(&listed);
        assert_eq!(text, format!("{hash}  b c\n\\{hash}  d\\\\e\\nf\n"));
        assert_eq!(read_manifest(&text).collect::<Option<BTreeMap<_, _>>>(), Some(listed));
        assert!(read_manifest("abc  d").any(|line| line.is_none()));
    }
}
