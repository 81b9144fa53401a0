//! Documents that come to a job which has a result already: they are copied in as at the job's beginning, and only they are
//! new to read.

use super::{RunError, create, duplicates, review_job::ReviewError};
use crate::{extraction::Extractor, workspace::Workspace};
use overnight_core::job::{spec::DocumentEntry, state::Job};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Documents that the feedback names one by one.
const MOST_NAMED: usize = 30;

/// The documents that a person adds.
#[derive(Clone, Debug)]
pub struct NewDocuments {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Files and folders of this program; in a folder they don't count as documents.
    pub own: Vec<PathBuf>,
    pub extractor: Arc<Extractor>,
}

impl NewDocuments {
    /// Copies them into the job's workspace, with their texts. The journal doesn't know them yet.
    pub(super) fn copy_into(&self, job: &Job, workspace: &Workspace) -> Result<Vec<DocumentEntry>, ReviewError> {
        let own = [self.own.clone(), vec![workspace.path().to_owned()]].concat();
        let found = overnight_documents::discover(&self.paths, &own, &*self.extractor).map_err(RunError::from)?;
        let known = |name: &str| job.spec.documents.iter().any(|document| document.name == name);
        if let Some(twice) = found.documents.iter().find(|found| known(&found.name)) {
            return Err(ReviewError::Refused(format!(
                "the job has a document {} already: name the new one otherwise",
                twice.name
            )));
        }
        let budget = job.spec.budget_tokens;
        let copied = create::copy_all(workspace, &found.documents, budget, (&self.extractor, false));
        let has_text = |documents: &Vec<DocumentEntry>| documents.iter().any(|document| document.tokens > 0);
        if !copied.as_ref().is_ok_and(has_text) {
            found.documents.iter().for_each(|document| Self::remove(workspace, &document.name));
        }
        let documents = copied?;
        if !has_text(&documents) {
            let left_out: Vec<&(PathBuf, String)> = found.unfit.iter().chain(&found.left_out).collect();
            let why = left_out.first().map(|(path, why)| format!(": {} ({why})", shown(path))).unwrap_or_default();
            return Err(ReviewError::Refused(format!("there is no new document with text that can be read{why}")));
        }
        let mut all = [job.spec.documents.clone(), documents].concat();
        duplicates::note(&mut all[..]);
        Ok(all.split_off(job.spec.documents.len()))
    }

    /// Removes all files of a document that isn't in the journal.
    pub(super) fn remove(workspace: &Workspace, name: &str) {
        for path in [format!("documents/{name}"), format!("documents/.text/{name}.txt")] {
            let _ = workspace.remove(&path);
        }
    }

    /// The job's instructions about them.
    pub(super) fn told(documents: &[DocumentEntry]) -> String {
        let mut text = "Documents were added to the job:".to_owned();
        for document in documents.iter().take(MOST_NAMED) {
            let (count, unit) = (document.units, document.unit_name());
            let _ = write!(text, "\n- {} ({count} {unit}{})", document.name, if count == 1 { "" } else { "s" });
        }
        if documents.len() > MOST_NAMED {
            let _ = write!(text, "\n- and {} more, which list_documents names", documents.len() - MOST_NAMED);
        }
        text + "\nRead them, and bring the deliverables up to date. What was read before need not be read again."
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
