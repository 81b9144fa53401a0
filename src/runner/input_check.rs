//! The task and the documents of a job that is resumed must be what they were when it was made: otherwise results of
//! something else would be called completed.

use super::{RunError, open_job::OpenJob};
use crate::workspace::known_path::JOB_FILE;
use overnight_core::job::{digest::sha256, state::INSTRUCTIONS_FILE};

/// Compares `job.yaml`, the instructions, the documents with their text, and the assets with the hashes in the journal.
pub(super) fn check(opened: &OpenJob) -> Result<(), RunError> {
    let (job, workspace) = (&opened.job, &opened.workspace);
    if job.ended().is_some() {
        return Ok(());
    }
    // A feedback that a crash kept from its file is written next.
    let is_task_owed = job.writes.iter().any(|write| write.path == INSTRUCTIONS_FILE);
    let task = (!is_task_owed).then(|| (INSTRUCTIONS_FILE.to_owned(), sha256(job.instructions.as_bytes())));
    // A text into which transcriptions of scanned pages are being inserted may be the old or the new one.
    let is_settled =
        |name: &str| job.scans.outcomes.is_some() || job.spec.scans.iter().all(|page| page.document != name);
    let documents = job.spec.documents.iter().flat_map(|document| {
        let text = is_settled(&document.name).then(|| (document.text_path(), document.text_sha256.clone()));
        std::iter::once((format!("documents/{}", document.name), document.sha256.clone())).chain(text)
    });
    let assets = job.spec.assets.iter().map(|asset| (asset.path.clone(), asset.sha256.clone()));
    let job_file = [(JOB_FILE.to_owned(), opened.spec_sha256.clone())];
    for (path, expected) in job_file.into_iter().chain(task).chain(documents).chain(assets) {
        let what = match workspace.hash(&path) {
            Ok(hash) if hash.sha256 == expected => continue,
            Ok(_) => "was changed",
            Err(error) if error.is_not_found() => "is missing",
            Err(error) => return Err(error.into()),
        };
        return Err(RunError::Request(format!(
            "{path} in the workspace of job {} {what} since the job was made: put it back as it was, or start a new job",
            job.spec.id
        )));
    }
    Ok(())
}
