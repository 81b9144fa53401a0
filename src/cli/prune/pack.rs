//! `overnight prune --pack` and `--unpack`: packs jobs that have ended into one file each, and unpacks them.

use crate::{
    audit::export::{
        RecordAnchor,
        pack::{PackedSize, pack},
    },
    blocking::run_blocking,
    cli::{
        AppContext, CliError, exit, out, progress::counted, prune::ended_jobs, queue::DatabaseJob,
        workspace_store::bytes,
    },
    store::{JOBS_AT_ONCE, JobFilter},
    workspace::{Workspace, packed::unpack},
};
use overnight_core::job::id::JobId;
use serde_json::json;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
use uuid::Uuid;

/// Jobs that are packed at the same time.
const MOST_AT_ONCE: usize = 8;

/// The results for the jobs.
#[derive(Debug, Default)]
struct Done {
    jobs: BTreeMap<JobId, PackedSize>,
    /// Workspaces that were left as they are, and why.
    left: Vec<String>,
}

/// Packs the jobs that ended at least `least` milliseconds ago and whose folders are here.
pub(super) async fn pack_jobs(app: &AppContext, least: u64, dry: bool, as_json: bool) -> Result<u8, CliError> {
    let (mut done, mut batches) = (Done::default(), BTreeMap::new());
    for page in app.store.job_ids(&JobFilter::default()).await?.chunks(JOBS_AT_ONCE) {
        let jobs = ended_jobs(app, page, least).await?;
        let mut folders = Vec::new();
        for known in jobs.iter().filter(|known| known.same_as().is_none() && !known.is_unbegun() && !known.is_stored())
        {
            let Ok(path) = app.workspace(known) else { continue };
            if Workspace::open(&path).is_ok_and(|workspace| workspace.is_packed()) {
                continue;
            }
            let is_closing_to_come = match &known.queue {
                Some(queue) => has_closing_to_come(app, queue.batch, &mut batches).await?,
                None => false,
            };
            if is_closing_to_come {
                done.left.push(format!(
                    "left as it is: job {} (the closing job of its batch has still to read what it delivered)",
                    known.id()
                ));
                continue;
            }
            folders.push((known, path));
        }
        if dry {
            let size = |path: &PathBuf| {
                let entries = Workspace::open(path).and_then(|workspace| workspace.list("."));
                entries.map_or(0, |entries| entries.iter().map(|entry| entry.bytes).sum())
            };
            let sizes = folders.iter().map(|(known, path)| (known.id(), PackedSize { before: size(path), after: 0 }));
            done.jobs.extend(sizes);
        } else {
            let url = app.settings.database_url.value.reveal();
            run_blocking(|| pack_all(&folders, url, &mut done));
        }
    }
    tell(&done, dry, as_json)
}

/// Whether a batch's closing job has still to end, which reads the deliverables in place. `known`: earlier results.
async fn has_closing_to_come(
    app: &AppContext,
    batch: Uuid,
    known: &mut BTreeMap<Uuid, bool>,
) -> Result<bool, CliError> {
    if let Some(is_to_come) = known.get(&batch) {
        return Ok(*is_to_come);
    }
    let row = app.store.batch(&batch.to_string()).await?;
    let is_done = match app.closing(&row).await? {
        Some(closing) => closing.status().is_end(),
        // It is submitted when the batch is marked as ended.
        None => row.ended.is_some() || row.batch.settings.get("closing").is_none_or(serde_json::Value::is_null),
    };
    known.insert(batch, !is_done);
    Ok(!is_done)
}

fn pack_all(folders: &[(&DatabaseJob, PathBuf)], url: &str, done: &mut Done) {
    let next = AtomicUsize::new(0);
    let shared = Mutex::new(done);
    let at_once = thread::available_parallelism().map_or(1, usize::from).min(MOST_AT_ONCE);
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some((known, path)) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (id, row) = (known.id(), &known.row);
                    let anchor = if row.state.journal_seq > 0 {
                        RecordAnchor::known(row.state.journal_seq, &row.state.journal_head, row.updated, url)
                    } else {
                        RecordAnchor::none()
                    };
                    let packed = pack(path, id, &anchor);
                    let mut done = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    match packed {
                        Ok(Some(size)) => drop(done.jobs.insert(id, size)),
                        Ok(None) => {}
                        Err(error) => done.left.push(format!("left as it is: job {id} ({error})")),
                    }
                }
            });
        }
    });
}

fn tell(done: &Done, dry: bool, as_json: bool) -> Result<u8, CliError> {
    for left in &done.left {
        out::note(&out::one_line(left));
    }
    let before: u64 = done.jobs.values().map(|size| size.before).sum();
    let after: u64 = done.jobs.values().map(|size| size.after).sum();
    let ids: Vec<&JobId> = done.jobs.keys().collect();
    let shown = json!({
        "dry_run": dry, "jobs": ids, "bytes_before": before, "bytes_after": (!dry).then_some(after),
        "left": done.left.len(),
    });
    out::answer(as_json, &shown, || {
        let jobs = counted(done.jobs.len() as u64, "job");
        if dry {
            format!("would pack {jobs}, whose files have {}\n", bytes(before))
        } else {
            format!("packed {jobs}: {} of files are {} now\n", bytes(before), bytes(after))
        }
    })?;
    Ok(if done.left.is_empty() { exit::COMPLETED } else { exit::FAILED })
}

/// Brings back the folders of the jobs that a person named.
pub(super) async fn unpack_jobs(app: &AppContext, names: &[String], as_json: bool) -> Result<u8, CliError> {
    let (mut unpacked, mut left) = (Vec::new(), 0_u64);
    for page in app.named_ids(names).await?.chunks(JOBS_AT_ONCE) {
        for job in app.jobs_with(page).await?.iter().filter(|job| job.same_as().is_none() && !job.is_unbegun()) {
            let Ok(path) = app.workspace(job) else { continue };
            match run_blocking(|| unpack(&path)) {
                Ok(true) => unpacked.push(job.id()),
                Ok(false) => {}
                Err(error) => {
                    left += 1;
                    out::note(&out::one_line(&format!("left as it is: job {} ({error})", job.id())));
                }
            }
        }
    }
    out::answer(as_json, &json!({"jobs": unpacked, "left": left}), || {
        format!("unpacked {}\n", counted(unpacked.len() as u64, "job"))
    })?;
    Ok(if left == 0 { exit::COMPLETED } else { exit::FAILED })
}
