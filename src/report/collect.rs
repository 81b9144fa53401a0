//! `--collect`: the deliverables of many jobs, copied into one folder with an index. Only files that the folder's own
//! index lists are ever overwritten: if a person changed a copy, or put another file in its place, this is reported,
//! and nothing is done. A folder can be collected into again; files of other jobs stay.

use super::{
    csv::csv,
    facts::{FileState, JobFacts},
    index::{CSV, CollectionResult, FORMAT, Index, IndexEntry, IndexKind, JSON},
    spooled::SpooledJobs,
    words::one_line,
};
use crate::workspace::{ModelPath, Workspace, WorkspaceError};
use overnight_core::job::{id::JobId, time::Timestamp};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

/// Bytes of an index that are read, at most.
const MOST_INDEX: u64 = 256 * 1024 * 1024;
/// Letters of the job's label or of the instructions' name in a folder's name.
const MOST_NAME: usize = 60;

/// The reason why the deliverables were not, or not all, collected.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// One sentence: the obstacle, and what to do. Nothing was written.
    #[error("{0}")]
    Refused(String),
    #[error("the deliverables can't be collected: {0}")]
    Failed(#[from] WorkspaceError),
}

/// For jobs whose workspaces are not here: the folder with their fetched deliverables, or one sentence on why there is none.
pub type FetchedFolders = BTreeMap<JobId, Result<PathBuf, String>>;

/// One copy to be made.
struct PlannedCopy<'j> {
    job: &'j JobFacts,
    fetched: Option<&'j Result<PathBuf, String>>,
    file: &'j super::facts::FileFacts,
    target: String,
}

/// Copies the deliverables of `jobs`, some of which were `fetched`, into `folder`. `short` gives the shortest unambiguous form of a job's id.
pub fn collect(
    jobs: &SpooledJobs,
    fetched: &FetchedFolders,
    folder: &Path,
    made: Timestamp,
    short: &dyn Fn(JobId) -> String,
) -> Result<CollectionResult, CollectError> {
    let shown = one_line(&folder.display().to_string());
    std::fs::create_dir_all(folder)
        .map_err(|error| CollectError::Refused(format!("the folder {shown} can't be made ({error})")))?;
    let root = Workspace::open(folder)?;
    let old = known_entries(&root, &shown)?;
    // After an interrupted collection, a path may have two entries: the earlier one, and the intended one.
    let mut known: BTreeMap<&str, Vec<&IndexEntry>> = BTreeMap::new();
    for entry in &old {
        known.entry(entry.path.as_deref().unwrap_or_default()).or_default().push(entry);
    }
    let known = |copy: &PlannedCopy<'_>| known.get(copy.target.as_str()).map_or(&[][..], Vec::as_slice);
    let folders = JobFolders::of(jobs, &old, short);
    let (mut faults, mut now, mut ids, mut intends) = (Vec::new(), BTreeSet::new(), BTreeSet::new(), Vec::new());
    for job in jobs.iter() {
        ids.insert(job.id);
        for copy in folders.copies(&job, fetched, &mut now, &mut faults) {
            if root.exists(&copy.target)? && !known(&copy).iter().any(|entry| unchanged_copy(&root, entry).is_some()) {
                return Err(CollectError::Refused(format!(
                    "{} in {shown} is not as it was collected: move it away, or name another folder",
                    one_line(&copy.target)
                )));
            }
            intends.push(entry(&job, &copy, Some(intended(&copy))));
        }
    }
    jobs.check().map_err(unread)?;
    // The index is written first, to mark the folder as ours, so that a collection can go on after a crash.
    intends.extend(old.iter().cloned());
    write_index(&root, made, None, intends)?;

    let mut entries: Vec<IndexEntry> = old.iter().filter(|entry| !ids.contains(&entry.job)).cloned().collect();
    let mut done = CollectionResult {
        folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string(),
        files: 0,
        bytes: 0,
        faults: Vec::new(),
    };
    let mut targets = BTreeSet::new();
    for job in jobs.iter() {
        if job.deliverables.is_empty() {
            entries.push(nothing(&job));
        }
        for copy in folders.copies(&job, fetched, &mut targets, &mut Vec::new()) {
            let made = match copy_one(&root, &copy)? {
                Some(made) => Some(made),
                // A file that is no longer available may have been collected before.
                None => known(&copy).iter().find_map(|before| unchanged_copy(&root, before)),
            };
            if let Some(fault) = fault(&copy, made.as_ref()) {
                faults.push(fault);
            }
            if let Some(made) = &made {
                done.files += 1;
                done.bytes += made.bytes;
            }
            entries.push(entry(&job, &copy, made));
        }
    }
    jobs.check().map_err(unread)?;
    for stale in old.iter().filter(|entry| ids.contains(&entry.job)) {
        // A job that was sent back may now deliver other files.
        if let Some(path) =
            stale.path.as_deref().filter(|path| !now.contains(*path) && unchanged_copy(&root, stale).is_some())
        {
            root.remove(path)?;
        }
    }
    // If a job's journal can no longer be read, the old index may still name its documents.
    let mut told: BTreeMap<JobId, &IndexEntry> = BTreeMap::new();
    for before in old.iter().filter(|before| !before.documents.is_empty()) {
        told.entry(before.job).or_insert(before);
    }
    for entry in entries.iter_mut().filter(|entry| entry.documents.is_empty()) {
        entry.documents = told.get(&entry.job).map(|before| before.documents.clone()).unwrap_or_default();
    }
    entries.sort_by(|a, b| (a.job, &a.delivered_path).cmp(&(b.job, &b.delivered_path)));
    let table = root.write_as(CSV, &|out| csv(&entries, out))?;
    write_index(&root, made, Some(table.sha256), entries)?;
    done.faults = faults;
    Ok(done)
}

fn unread(error: io::Error) -> CollectError {
    WorkspaceError::from_io("read", "what was written aside", error).into()
}

/// The entries of the folder's index. A folder that is neither empty nor ours is refused.
fn known_entries(root: &Workspace, shown: &str) -> Result<Vec<IndexEntry>, CollectError> {
    let refused = |why: &str| Err(CollectError::Refused(format!("{why}: name a new folder, or an empty one")));
    if !root.exists(JSON)? {
        let is_empty = std::fs::read_dir(root.path()).is_ok_and(|mut items| items.next().is_none());
        return if is_empty {
            Ok(Vec::new())
        } else {
            refused(&format!("the folder {shown} is not empty, and has no index of collected deliverables"))
        };
    }
    let index = root.stream(JSON).ok().and_then(|(file, _)| {
        serde_json::from_reader::<_, Index>(io::BufReader::new(io::Read::take(file, MOST_INDEX))).ok()
    });
    let Some(index) = index else {
        return refused(&format!("{JSON} in {shown} is not an index of collected deliverables"));
    };
    if index.format != FORMAT {
        return refused(&format!("the index in {shown} has format {}, and this version knows {FORMAT}", index.format));
    }
    if index.entries.iter().filter_map(|entry| entry.path.as_deref()).any(|path| ModelPath::parse(path).is_err()) {
        return refused(&format!("{JSON} in {shown} names paths that no collection makes"));
    }
    let is_changed = match (&index.csv_sha256, root.exists(CSV)?) {
        (Some(sha256), true) => root.hash(CSV).ok().is_none_or(|found| found.sha256 != *sha256),
        // The index has no hash after an interrupted collection: the file may be that of the previous one.
        (Some(_), false) | (None, _) => false,
    };
    if is_changed {
        return Err(CollectError::Refused(format!(
            "{CSV} in {shown} was changed since it was written: move it away, or name another folder"
        )));
    }
    Ok(index.entries)
}

/// The jobs' folders within the target folder.
struct JobFolders(BTreeMap<JobId, String>);

impl JobFolders {
    /// Jobs keep their folders; a new job gets an unused one.
    fn of(jobs: &SpooledJobs, old: &[IndexEntry], short: &dyn Fn(JobId) -> String) -> Self {
        let (mut taken, mut of_job) = (BTreeSet::new(), BTreeMap::new());
        for entry in old {
            if let Some((folder, _)) = entry.path.as_deref().and_then(|path| path.split_once('/')) {
                taken.insert(folder.to_owned());
                of_job.insert(entry.job, folder.to_owned());
            }
        }
        for job in jobs.iter() {
            let folder = of_job.entry(job.id).or_insert_with(|| {
                let name = slug(job.called());
                let usual = format!("{}-{name}", short(job.id));
                if taken.contains(&usual) { format!("{}-{name}", job.id) } else { usual }
            });
            taken.insert(folder.clone());
        }
        Self(of_job)
    }

    /// The copies for a job's deliverables, and faults of invalid ones; `targets` are used paths, and get this job's.
    fn copies<'j>(
        &self,
        job: &'j JobFacts,
        fetched: &'j FetchedFolders,
        targets: &mut BTreeSet<String>,
        faults: &mut Vec<String>,
    ) -> Vec<PlannedCopy<'j>> {
        let folder = self.0.get(&job.id).map_or("", String::as_str);
        let mut copies = Vec::new();
        for file in &job.deliverables {
            let below = file.path.strip_prefix("output/").unwrap_or(&file.path);
            let target = format!("{folder}/{below}");
            // The contract allows no other path; a manipulated row or journal might.
            match ModelPath::parse(&target) {
                Ok(_) if targets.insert(target.clone()) => {
                    copies.push(PlannedCopy { job, fetched: fetched.get(&job.id), file, target });
                }
                Ok(_) => faults.push(format!("job {}: {} is named twice", job.id, one_line(&file.path))),
                Err(error) => faults.push(format!("job {}: {error}", job.id)),
            }
        }
        copies
    }
}

/// Makes `name` usable as a part of a folder's name.
fn slug(name: &str) -> String {
    let letters = name
        .chars()
        .take(MOST_NAME)
        .map(|letter| if letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_') { letter } else { '-' });
    let slug: String = letters.collect();
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "job".to_owned() } else { slug.to_owned() }
}

/// The hash and size of a copy.
struct CopiedFile {
    sha256: String,
    bytes: u64,
}

/// The copy that an index entry names, if it is unchanged.
fn unchanged_copy(root: &Workspace, entry: &IndexEntry) -> Option<CopiedFile> {
    let found = root.hash(entry.path.as_deref()?).ok()?;
    // A copy with the delivered content is ours too, even after an interrupted collection.
    let is_known = [&entry.sha256, &entry.delivered_sha256].into_iter().flatten().any(|sha256| *sha256 == found.sha256);
    is_known.then_some(CopiedFile { sha256: found.sha256, bytes: found.bytes })
}

fn intended(copy: &PlannedCopy<'_>) -> CopiedFile {
    CopiedFile { sha256: copy.file.sha256.clone(), bytes: copy.file.bytes }
}

/// Copies one file, and hashes it on the way. `None`: it can't be read.
fn copy_one(root: &Workspace, copy: &PlannedCopy<'_>) -> Result<Option<CopiedFile>, CollectError> {
    let place = match (copy.fetched, copy.file.state) {
        (Some(Ok(place)), _) => place,
        // A file at the path that another machine states is not the same file here.
        (Some(Err(_)), _) | (None, FileState::Elsewhere | FileState::Stored) => return Ok(None),
        (None, FileState::AsDelivered | FileState::Changed | FileState::Missing | FileState::Unreadable) => {
            Path::new(&copy.job.workspace)
        }
    };
    let Ok((mut source, _)) = Workspace::open(place).and_then(|workspace| workspace.stream(&copy.file.path)) else {
        return Ok(None);
    };
    let written = root.write_from(&copy.target, &mut source as &mut dyn io::Read)?;
    Ok(Some(CopiedFile { sha256: written.sha256, bytes: written.bytes }))
}

fn state(copy: &PlannedCopy<'_>, made: Option<&CopiedFile>) -> FileState {
    match made {
        Some(made) if made.sha256 == copy.file.sha256 => FileState::AsDelivered,
        Some(_) => FileState::Changed,
        None if copy.file.state == FileState::Unreadable => FileState::Unreadable,
        None if copy.file.state == FileState::Elsewhere => FileState::Elsewhere,
        // The store was searched, and doesn't have it.
        None if copy.file.state == FileState::Stored && !matches!(copy.fetched, Some(Ok(_))) => FileState::Stored,
        None => FileState::Missing,
    }
}

fn fault(copy: &PlannedCopy<'_>, made: Option<&CopiedFile>) -> Option<String> {
    let what = match state(copy, made) {
        FileState::AsDelivered => return None,
        FileState::Changed => "was changed since it was delivered; it was copied as it is now",
        FileState::Missing => "is missing",
        FileState::Unreadable => "can't be read",
        FileState::Elsewhere => "is on another machine: collect it there",
        FileState::Stored => match copy.fetched {
            Some(Err(why)) => &format!("can't be had: {why}"),
            Some(Ok(_)) | None => {
                "is in the workspace store: name that with --workspace-store, or OVERNIGHT_WORKSPACE_STORE"
            }
        },
    };
    Some(format!("job {}: {} {what}", copy.job.id, one_line(&copy.file.path)))
}

fn entry(job: &JobFacts, copy: &PlannedCopy<'_>, made: Option<CopiedFile>) -> IndexEntry {
    IndexEntry {
        delivered_path: Some(copy.file.path.clone()),
        delivered_sha256: Some(copy.file.sha256.clone()),
        state: Some(state(copy, made.as_ref())),
        path: made.is_some().then(|| copy.target.clone()),
        bytes: made.as_ref().map(|made| made.bytes),
        sha256: made.map(|made| made.sha256),
        ..nothing(job)
    }
}

fn nothing(job: &JobFacts) -> IndexEntry {
    IndexEntry {
        job: job.id,
        label: job.label.clone(),
        status: job.standing().name().to_owned(),
        instructions: job.instructions.clone(),
        documents: job.document_names.clone(),
        path: None,
        sha256: None,
        bytes: None,
        delivered_path: None,
        delivered_sha256: None,
        state: None,
    }
}

fn write_index(
    root: &Workspace,
    made: Timestamp,
    csv_sha256: Option<String>,
    entries: Vec<IndexEntry>,
) -> Result<(), CollectError> {
    let index = Index { kind: IndexKind::Collect, format: FORMAT, made, csv_sha256, entries };
    root.write_as(JSON, &|out| {
        serde_json::to_writer_pretty(&mut *out, &index)?;
        out.write_all(b"\n")
    })?;
    Ok(())
}
