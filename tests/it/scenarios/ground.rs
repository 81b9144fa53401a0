//! Where a scenario is played: a folder in memory where the system has one, with a database, workspaces, and something
//! outside of them that nobody may touch.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{case::Scenario, tree::Tree};
use crate::support::request;
use overnight::{
    audit::verify::verify,
    extraction::Extractor,
    runner,
    store::{self, Store},
};
use overnight_core::job::{id::JobId, instructions, state::INSTRUCTIONS_FILE};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

pub(crate) struct Ground {
    folder: tempfile::TempDir,
    pub(crate) store: Arc<dyn Store>,
}

/// Lies beside the workspaces: `../../outside` as seen from a workspace.
const OUTSIDE: &str = "outside/secret.txt";

/// The folder of a scenario's documents.
pub(crate) const DOCUMENTS: &str = "documents/";

impl Ground {
    pub(crate) async fn new() -> Self {
        let builder = || tempfile::Builder::new().prefix("overnight-").to_owned();
        let folder = builder().tempdir_in("/dev/shm").or_else(|_| builder().tempdir()).unwrap();
        let url = format!("sqlite://{}/database/overnight.db", folder.path().display());
        fs::create_dir(folder.path().join("database")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join(OUTSIDE), "Nobody may read or write this.\n").unwrap();
        Self { store: store::connect(&url).await.unwrap(), folder }
    }

    fn workspaces(&self) -> PathBuf {
        self.folder.path().join("workspaces")
    }

    /// Makes the scenario's job; the path of its workspace.
    pub(crate) fn begin(&self, scenario: &Scenario) -> Result<PathBuf, String> {
        let given = tempfile::tempdir().map_err(|error| error.to_string())?;
        for (path, text) in scenario.given.iter().filter(|(path, _)| path.starts_with(DOCUMENTS)) {
            let path = given.path().join(path);
            fs::create_dir_all(path.parent().unwrap())
                .and_then(|()| fs::write(&path, text))
                .map_err(|error| error.to_string())?;
        }
        let shipped = |path: &str| match path {
            INSTRUCTIONS_FILE => instructions::shipped::shipped(scenario.shipped.as_ref()?).map(str::to_owned),
            other => instructions::shipped::shipped_beside(other).ok(),
        };
        let beside = |path: &str| {
            let found = scenario.given.iter().find(|(name, _)| name == path);
            let missing = || instructions::UnreadFile(format!("{path} is not given"));
            found.map(|(_, text)| text.clone()).or_else(|| shipped(path)).ok_or_else(missing)
        };
        let text = beside(INSTRUCTIONS_FILE).map_err(|error| error.to_string())?;
        let mut instructions =
            instructions::parse(INSTRUCTIONS_FILE, &text, &beside).map_err(|error| error.to_string())?;
        // The models of most scenarios read for themselves.
        if !text.contains("inline:") {
            instructions.context.inline = instructions::InlineDocuments::Never;
        }
        let documents: Vec<PathBuf> =
            Some(given.path().join(DOCUMENTS)).into_iter().filter(|folder| folder.exists()).collect();
        let extractor = Extractor::in_process();
        let request = request(&extractor, instructions, &text, &documents, scenario.model.as_ref());
        Ok(runner::create(&self.workspaces(), &request).map_err(|error| error.to_string())?.path)
    }

    /// What verifying finds, with the line that the database saw; empty where the record is as it was left.
    pub(crate) async fn faults(&self, path: &Path) -> Result<String, String> {
        let row = self.store.job(id(path)).await.map_err(|error| error.to_string())?.ok_or("no row of the job")?;
        let anchor = (row.state.journal_seq, row.state.journal_head.as_str());
        let faults = verify(path, Some(anchor)).err().unwrap_or_default();
        Ok(faults.iter().map(|fault| fault.to_string() + "\n").collect())
    }

    pub(crate) fn nothing_outside_was_touched(&self) -> Result<(), String> {
        let mut rest = Tree::read(self.folder.path(), None);
        rest.0.retain(|path, _| !path.starts_with("workspaces/") && !path.starts_with("database/"));
        let mut expected = Tree::default();
        expected.put(OUTSIDE, b"Nobody may read or write this.\n");
        if rest == expected { Ok(()) } else { Err(format!("something outside the workspace was touched: {rest:?}")) }
    }
}

/// The job in the workspace at `path`.
pub(crate) fn id(path: &Path) -> JobId {
    JobId(path.file_name().unwrap().to_str().unwrap().parse().unwrap())
}
