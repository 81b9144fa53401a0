//! A folder to work in, and the program run there with one database or another.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]
#![expect(clippy::print_stdout, reason = "a test that fails tells what it keeps")]

use crate::{
    cli_run::PROGRAM,
    support::{files, wait},
};
use overnight::store::{self, QueueEntry};
use overnight_core::job::record::JobStatus;
use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// A folder that is kept when the test fails.
pub(super) struct Folder(TempDir);

impl Folder {
    /// With as many documents as there are to be jobs, each with words of its own.
    pub(super) fn new(jobs: usize) -> Self {
        let folder = TempDir::with_prefix("overnight-chaos.").unwrap();
        fs::create_dir(folder.path().join("docs")).unwrap();
        let words = ["MUST", "SHALL", "SHOULD", "MAY", "MUST NOT"];
        for job in 0..jobs {
            let mut text = format!("# Document {job}\n\n");
            for part in 0..2 + job % 5 {
                let word = words[(job + part) % words.len()];
                let _ = writeln!(text, "The part {part} of {job} {word} hold for {} hours.\n", part + 1);
            }
            fs::write(folder.path().join(format!("docs/d{job:04}.md")), text).unwrap();
        }
        Self(folder)
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.disable_cleanup(true);
            println!("kept in {}", self.0.path().display());
        }
    }
}

/// The program in a folder, with one database, and workspaces in a folder `name`.
pub(super) struct TestDir {
    folder: PathBuf,
    pub(super) url: String,
    name: &'static str,
}

/// What a job came to: its status, and the bytes of each file under `output/`.
#[derive(PartialEq, Eq)]
pub(super) struct Left {
    pub(super) status: JobStatus,
    pub(super) files: BTreeMap<String, Vec<u8>>,
}

impl TestDir {
    pub(super) fn new(folder: &Folder, url: String, name: &'static str) -> Self {
        Self { folder: folder.path().to_owned(), url, name }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words).current_dir(&self.folder).env_clear().stdin(Stdio::null());
        command.env("OVERNIGHT_DATABASE_URL", &self.url).env("OVERNIGHT_WORKSPACES", self.path(self.name));
        command
    }

    /// Runs a command that must end well.
    pub(super) fn run(&self, words: &[&str]) {
        let output = self.command(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    }

    /// A job for each document, with the model at `base_url`.
    pub(super) fn submit(&self, base_url: &str) {
        let what = ["submit", "extract-requirements", "--documents", "docs", "--each", "--batch", self.name];
        self.run(&[&what[..], &["-m", "openai:able-agent", "--base-url", base_url]].concat());
    }

    pub(super) fn entries(&self) -> Vec<QueueEntry> {
        wait(async {
            let store = store::connect(&self.url).await.unwrap();
            let batch = store.batch(self.name).await.unwrap().batch.id;
            store.batch_entries(batch).await.unwrap()
        })
    }

    /// What all jobs came to, by their documents.
    pub(super) fn left(&self) -> BTreeMap<String, Left> {
        let left = |entry: QueueEntry| {
            let files = files(&self.folder.join(&entry.workspace).join("output"));
            (entry.job.label, Left { status: entry.status, files })
        };
        self.entries().into_iter().map(left).collect()
    }
}
