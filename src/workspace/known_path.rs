//! Identifies a path: as one of the workspace's known files or folders, by identity (device and inode), not by
//! spelling, so that hard links, symbolic links and case-insensitive file systems don't hide a protected file; and
//! whether the model may write it. Spelling, ignoring case, only counts for a path that doesn't exist yet.

use super::{
    error::WorkspaceError,
    files::Workspace,
    model_path::{ModelPath, PathError, fold_case},
};
use cap_std::fs::{Dir, Metadata, MetadataExt};
use std::io;

/// The file with the job's specification; it is written once.
pub const JOB_FILE: &str = "job.yaml";

/// The folders that the contract names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    Documents,
    Assets,
    Archive,
    ToolResults,
    Output,
}

impl Folder {
    pub const ALL: [Self; 5] = [Self::Documents, Self::Assets, Self::Archive, Self::ToolResults, Self::Output];

    /// Its name in the workspace.
    pub fn name(self) -> &'static str {
        match self {
            Self::Documents => "documents",
            Self::Assets => "assets",
            Self::Archive => "archive",
            Self::ToolResults => "tool_results",
            Self::Output => "output",
        }
    }
}

/// The file or folder of the contract that a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownPath {
    Plan,
    Memory,
    Instructions,
    Summary,
    Progress,
    Todos,
    Quotes,
    Findings,
    Journal,
    JobFile,
    Lock,
    /// The folder itself, or anything below it.
    Under(Folder),
    /// The model's own.
    Other,
}

impl KnownPath {
    pub(crate) const FILES: [Self; 11] = [
        Self::Plan,
        Self::Memory,
        Self::Instructions,
        Self::Summary,
        Self::Progress,
        Self::Todos,
        Self::Quotes,
        Self::Findings,
        Self::Journal,
        Self::JobFile,
        Self::Lock,
    ];

    /// The file's name in the workspace; `None` where it isn't one certain file.
    pub fn file(self) -> Option<&'static str> {
        match self {
            Self::Plan => Some("main_plan.md"),
            Self::Memory => Some("workspace.md"),
            Self::Instructions => Some("instructions.md"),
            Self::Summary => Some("workspace_summary.md"),
            Self::Progress => Some("progress.md"),
            Self::Todos => Some("todos.md"),
            Self::Quotes => Some("quotes.jsonl"),
            Self::Findings => Some("findings.jsonl"),
            Self::Journal => Some("journal.jsonl"),
            Self::JobFile => Some(JOB_FILE),
            Self::Lock => Some(".lock"),
            Self::Under(_) | Self::Other => None,
        }
    }

    /// The reason why the model can't write it, and the alternative; `None` if it can.
    pub fn read_only(self) -> Option<&'static str> {
        match self {
            Self::Plan | Self::Memory | Self::Other | Self::Under(Folder::Output) => None,
            Self::Instructions => Some("it is the task as it was given; write what you learn about it to workspace.md"),
            Self::Summary => Some("it is generated; call generate_workspace_summary()"),
            Self::Progress => Some("it is kept for you; call add_accomplishment(text) or todo_complete(outcome)"),
            Self::Todos => Some("it is kept for you; call todo_write(todos) or todo_complete()"),
            Self::Findings => Some("it is kept for you; call settle_finding(id, reason), or correct the deliverable"),
            Self::Quotes => Some("it is written when quotes are checked; put quotes into your deliverables"),
            Self::Journal | Self::JobFile | Self::Lock => {
                Some("it is the runner's record; write your own files under output/, or notes to workspace.md")
            }
            Self::Under(Folder::Documents) => {
                Some("documents/ holds the inputs and is read-only; write results under output/")
            }
            Self::Under(Folder::Assets) => Some("assets/ holds what the job depends on; write results under output/"),
            Self::Under(Folder::Archive) => {
                Some("archive/ is the record of finished phases; write results under output/")
            }
            Self::Under(Folder::ToolResults) => {
                Some("tool_results/ is filled with long tool results; write results under output/")
            }
        }
    }
}

/// The resolved target of a model's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The real path, links followed, known names in their own spelling; `.` for the workspace itself. For [`Workspace::read`] and the like.
    pub path: String,
    pub known: KnownPath,
}

/// The reason why a path of a model can't be used. Each is reported to the model.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error(transparent)]
    Refused(#[from] PathError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

type FileIdentity = (u64, u64);

impl Workspace {
    /// Finds the readable target of `path`: everything in the workspace but `.lock`. A missing target is an error.
    pub fn resolve_for_read(&self, path: &ModelPath) -> Result<ResolvedPath, ResolveError> {
        if path.is_root() {
            return Ok(ResolvedPath { path: ".".into(), known: KnownPath::Other });
        }
        let real =
            self.root().and_then(|root| root.canonicalize(path.as_str())).map_err(|error| refusal(path, error))?;
        let real = real.to_str().ok_or_else(|| WorkspaceError::NotText { path: path.as_str().into() })?;
        if real.is_empty() || real == "." {
            return Ok(ResolvedPath { path: ".".into(), known: KnownPath::Other });
        }
        let resolved = self.classify(real, &self.trace(real)?)?;
        if resolved.known == KnownPath::Lock {
            return Err(PathError::Unreadable(path.shown()).into());
        }
        Ok(resolved)
    }

    /// Finds the writable target of `path`: an existing file, or one that can be created. Links on the way are refused.
    pub fn resolve_for_write(&self, path: &ModelPath) -> Result<ResolvedPath, ResolveError> {
        let spelled = path.as_str();
        let names = spelled.split('/').count();
        if path.is_root() {
            return Err(WorkspaceError::IsFolder { path: ".".into() }.into());
        }
        let trace = self.trace(spelled)?;
        if trace.iter().any(|metadata| metadata.file_type().is_symlink()) {
            return Err(PathError::Link(path.shown()).into());
        }
        let resolved = self.classify(spelled, &trace)?;
        if let Some(why) = resolved.known.read_only() {
            return Err(PathError::ReadOnly { path: path.shown(), why }.into());
        }
        match trace.last() {
            Some(last) if trace.len() == names && last.is_dir() => {
                return Err(WorkspaceError::IsFolder { path: spelled.into() }.into());
            }
            Some(last) if trace.len() == names && !last.is_file() => {
                return Err(WorkspaceError::NotAFile { path: spelled.into() }.into());
            }
            Some(last) if trace.len() < names && !last.is_dir() => {
                return Err(WorkspaceError::NotAFolder { path: spelled.into() }.into());
            }
            Some(_) | None => {}
        }
        // It doesn't exist yet, but has a known name: a file can't replace a known folder, nor a folder a known file.
        if matches!(resolved.known, KnownPath::Under(folder) if resolved.path == folder.name()) {
            return Err(WorkspaceError::IsFolder { path: spelled.into() }.into());
        }
        if resolved.known.file().is_some() && names > 1 && trace.len() < names {
            return Err(WorkspaceError::NotAFolder { path: spelled.into() }.into());
        }
        Ok(resolved)
    }

    /// The entries at the names of `path`, from the first on, up to a missing one or one that is not a folder.
    fn trace(&self, path: &str) -> Result<Vec<Metadata>, WorkspaceError> {
        let mut trace = Vec::new();
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        for end in ends {
            match self.root().and_then(|root| root.symlink_metadata(&path[..end])) {
                Ok(metadata) => {
                    let is_folder = metadata.is_dir();
                    trace.push(metadata);
                    if !is_folder {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(WorkspaceError::from_io("look at", path, error)),
            }
        }
        Ok(trace)
    }

    /// Identifies `path`; `trace` holds the entries on the way.
    fn classify(&self, path: &str, trace: &[Metadata]) -> Result<ResolvedPath, WorkspaceError> {
        let names: Vec<&str> = path.split('/').collect();
        if let Some(last) = trace.last().filter(|last| !last.is_dir() && self.may_be_a_known_file(&names, trace, last))
        {
            let identity = identity(last);
            for known in KnownPath::FILES {
                if let Some(name) = known.file()
                    && self
                        .root()
                        .and_then(|root| root.metadata(name))
                        .is_ok_and(|metadata| self::identity(&metadata) == identity)
                {
                    return Ok(ResolvedPath { path: name.into(), known });
                }
            }
        }
        for folder in Folder::ALL {
            let Ok(metadata) = self.root().and_then(|root| root.metadata(folder.name())) else {
                continue;
            };
            if let Some(at) = trace.iter().position(|met| identity(met) == identity(&metadata)) {
                let path = [&[folder.name()], &names[at + 1..]].concat().join("/");
                let known = match folder {
                    Folder::Output => self.linked(trace, Folder::Output)?,
                    Folder::Documents | Folder::Assets | Folder::Archive | Folder::ToolResults => {
                        KnownPath::Under(folder)
                    }
                };
                return Ok(ResolvedPath { path, known });
            }
        }
        let first = fold_case(names[0]);
        if let Some(known) = KnownPath::FILES.into_iter().find(|known| known.file() == Some(first.as_str())) {
            return Ok(ResolvedPath { path: path.into(), known });
        }
        if let Some(folder) = Folder::ALL.into_iter().find(|folder| folder.name() == first) {
            let path = [&[folder.name()], &names[1..]].concat().join("/");
            return Ok(ResolvedPath { path, known: KnownPath::Under(folder) });
        }
        let known = match self.linked(trace, Folder::Output)? {
            KnownPath::Under(Folder::Output) => KnownPath::Other,
            known => known,
        };
        Ok(ResolvedPath { path: path.into(), known })
    }

    /// Whether comparing with each known file is worthwhile: they are all in the workspace's own folder, so a file with
    /// only one name, in another folder, is none of them.
    fn may_be_a_known_file(&self, names: &[&str], trace: &[Metadata], last: &Metadata) -> bool {
        let is_root = |root: Metadata| trace.iter().any(|met| identity(met) == identity(&root));
        names.len() == 1 || last.nlink() > 1 || self.root().and_then(Dir::dir_metadata).map_or(true, is_root)
    }

    /// The protected folder in which the same file lies under another name (a hard link), else `Under(otherwise)`.
    fn linked(&self, trace: &[Metadata], otherwise: Folder) -> Result<KnownPath, WorkspaceError> {
        let Some(last) = trace.last().filter(|last| last.is_file() && last.nlink() > 1) else {
            return Ok(KnownPath::Under(otherwise));
        };
        for folder in [Folder::Documents, Folder::Assets, Folder::Archive, Folder::ToolResults] {
            let mut found = false;
            self.walk(folder.name(), &mut |met| found |= met.identity == Some(identity(last)))?;
            if found {
                return Ok(KnownPath::Under(folder));
            }
        }
        Ok(KnownPath::Under(otherwise))
    }
}

fn identity(metadata: &Metadata) -> FileIdentity {
    (metadata.dev(), metadata.ino())
}

/// The meaning of a failure to follow a path. For a path that leads outside the capability library reports "no
/// permission", without a code of the system, because the system was never called.
fn refusal(path: &ModelPath, error: io::Error) -> ResolveError {
    if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        PathError::LeadsOut(path.shown()).into()
    } else {
        WorkspaceError::from_io("follow", path.as_str(), error).into()
    }
}

#[cfg(test)]
mod tests;
