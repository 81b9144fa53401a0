//! A packed workspace: the job's record, one ZIP beside the place of the folder, which is read like the folder. The ZIP
//! is the one that `overnight audit export` writes; its folder `workspace/` is read here. Nothing is written into it: a
//! process that works on the job unpacks it first.
//!
//! If both exist, the folder counts: a crash came between the naming of one and the removal of the other, and both are
//! complete then.

use super::{
    error::WorkspaceError,
    files::{FolderEntry, Workspace},
    fsync,
};
use crate::failpoint;
use overnight_core::job::time::Timestamp;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, BufReader, Read, Seek},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};
use zip::ZipArchive;

/// The folder of a record that holds the workspace.
pub const RECORD_WORKSPACE: &str = "workspace";
/// The ending of a packed workspace's name.
pub const PACKED: &str = "zip";

/// The place of the packed workspace whose folder is at `path`.
pub fn packed_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(PACKED);
    path.with_file_name(name)
}

/// Whether there is a workspace at `path`: its folder, or its record.
pub fn is_there(path: &Path) -> bool {
    path.is_dir() || packed_path(path).is_file()
}

/// The files of a record's workspace.
#[derive(Debug)]
pub(super) struct PackedRecord {
    zip: Mutex<ZipArchive<BufReader<File>>>,
    /// Path → place in the ZIP, and bytes.
    files: BTreeMap<String, (usize, u64)>,
    folders: BTreeSet<String>,
    modified: Timestamp,
}

impl PackedRecord {
    /// The record that is in the file at `path`.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Self::of(File::open(path)?)
    }

    fn of(file: File) -> io::Result<Self> {
        let modified =
            file.metadata()?.modified().map_or_else(|_| Timestamp::default(), |at| Timestamp::new(at.into()));
        let mut zip = ZipArchive::new(BufReader::new(file))?;
        let (mut files, mut folders) = (BTreeMap::new(), BTreeSet::from([".".to_owned()]));
        for place in 0..zip.len() {
            let entry = zip.by_index_raw(place)?;
            let name = entry.name()?;
            let Some(path) = name.strip_prefix(RECORD_WORKSPACE).and_then(|path| path.strip_prefix('/')) else {
                continue;
            };
            let is_folder = path.ends_with('/');
            let path = path.trim_end_matches('/');
            // This program writes no entry that leads outside, or has two names.
            if path.is_empty() || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
                continue;
            }
            let above = path.match_indices('/').map(|(end, _)| path[..end].to_owned());
            folders.extend(above.chain(is_folder.then(|| path.to_owned())));
            if !is_folder {
                files.insert(path.to_owned(), (place, entry.size()));
            }
        }
        if files.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "there is no workspace in it"));
        }
        Ok(Self { zip: Mutex::new(zip), files, folders, modified })
    }

    /// The internal name of a path.
    fn name(path: &str) -> &str {
        let name = path.trim_start_matches("./").trim_end_matches('/');
        if name.is_empty() { "." } else { name }
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        let name = Self::name(path);
        self.files.contains_key(name) || self.folders.contains(name)
    }

    pub(super) fn entry(&self, path: &str) -> io::Result<FolderEntry> {
        let name = Self::name(path);
        match self.files.get(name) {
            Some((_, bytes)) => Ok(FolderEntry { path: path.to_owned(), bytes: *bytes, modified: self.modified }),
            None if self.folders.contains(name) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// A file as a stream: unpacked into an unnamed file, because a reader may seek in it.
    pub(super) fn stream(&self, path: &str) -> io::Result<(File, u64)> {
        let FolderEntry { bytes, .. } = self.entry(path)?;
        let mut unpacked = tempfile::tempfile()?;
        self.copy(Self::name(path), &mut |content| io::copy(content, &mut unpacked).map(drop))?;
        unpacked.rewind()?;
        Ok((unpacked, bytes))
    }

    fn copy(&self, name: &str, take: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> io::Result<()> {
        let (place, _) = self.files.get(name).ok_or(io::ErrorKind::NotFound)?;
        let mut zip = self.zip.lock().unwrap_or_else(PoisonError::into_inner);
        // Reading to the end compares the checksum.
        take(&mut zip.by_index(*place)?)
    }

    /// All files in `folder` and below.
    pub(super) fn list(&self, folder: &str) -> impl Iterator<Item = FolderEntry> {
        let name = Self::name(folder).to_owned();
        let is_below =
            move |path: &str| name == "." || path.strip_prefix(&*name).is_some_and(|rest| rest.starts_with('/'));
        let within = self.files.iter().filter(move |(path, _)| is_below(path));
        let modified = self.modified;
        within.map(move |(path, (_, bytes))| FolderEntry { path: path.clone(), bytes: *bytes, modified })
    }

    /// Names of the folders directly in `folder`.
    pub(super) fn folders(&self, folder: &str) -> Vec<String> {
        let name = Self::name(folder);
        let inside = self.folders.iter().filter_map(|path| match path.rsplit_once('/') {
            Some((above, last)) => (above == name).then_some(last),
            None => (name == "." && path != ".").then_some(path.as_str()),
        });
        inside.map(str::to_owned).collect()
    }

    /// Empty folders.
    pub(super) fn empty_folders(&self) -> Vec<String> {
        let is_empty = |folder: &&String| {
            let has = |path: &String| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
            *folder != "." && !self.files.keys().any(has) && !self.folders.iter().any(has)
        };
        self.folders.iter().filter(is_empty).cloned().collect()
    }
}

/// Brings back the folder at `path` from its record, which then goes; false: there is no record. A crash leaves the record,
/// or the folder, or both, each of them whole.
pub fn unpack(path: &Path) -> Result<bool, WorkspaceError> {
    let record = packed_path(path);
    let shown = record.display().to_string();
    let failed = |error| WorkspaceError::from_io("unpack", &shown, error);
    let file = match File::open(&record) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed(error)),
    };
    // One at a time: the second process finds the result of the first.
    file.lock().map_err(failed)?;
    let own = file.metadata().map_err(failed)?;
    let is_same = |found: std::fs::Metadata| (found.dev(), found.ino()) == (own.dev(), own.ino());
    if !std::fs::metadata(&record).is_ok_and(is_same) {
        return Ok(path.is_dir());
    }
    if !path.is_dir() {
        let packed = PackedRecord::of(file.try_clone().map_err(failed)?).map_err(failed)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = Workspace::create_temporary(parent)?;
        if let Err(error) = packed.write_all(&folder) {
            // Best effort: remains are swept, and the first error is the one to report.
            let _ = folder.discard();
            return Err(error);
        }
        failpoint::hit("unpack.written");
        folder.install(&path.file_name().unwrap_or_default().to_string_lossy())?;
        failpoint::hit("unpack.named");
    }
    std::fs::remove_file(&record).map_err(failed)?;
    sync_parent(path).map_err(failed)?;
    Ok(true)
}

impl PackedRecord {
    fn write_all(&self, into: &Workspace) -> Result<(), WorkspaceError> {
        for folder in &self.folders {
            into.make_folder(folder).map_err(|error| WorkspaceError::from_io("unpack", folder, error))?;
        }
        for name in self.files.keys() {
            let mut written = Ok(());
            let copied = self.copy(name, &mut |content| {
                written = into.write_from(name, content).map(drop);
                Ok(())
            });
            written?;
            copied.map_err(|error| WorkspaceError::from_io("unpack", name, error))?;
        }
        Ok(())
    }
}

/// Has the names in the folder that holds `path` on the disk.
pub fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = File::open(parent)?;
    fsync::counted(|| folder.sync_all())
}
