//! What the tests of whole jobs share: a job made and driven in a folder of its own, with its own SQLite database.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::sections;
use overnight::{
    batch::BatchSettings,
    extraction::Extractor,
    model::Model,
    runner::{self, JobOutcome, JobRunner, NewJobRequest, OpenJob, RunError, RunReport},
    store::{self, Store},
};
use overnight_core::{
    job::{
        event::Decision,
        instructions::{self, Instructions},
        left_out::LeftOut,
        state::Job,
    },
    machine::effect::Command,
};
use proptest::prelude::ProptestConfig;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A folder with a database and workspaces, gone when dropped.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: Arc<dyn Store>,
}

/// Anna accepts the result.
pub(crate) fn approve() -> Command {
    Command::Approve { by: "Anna".to_owned(), comment: None, seen: None }
}

/// A job that came to rest.
pub(crate) struct Rested {
    pub(crate) path: PathBuf,
    pub(crate) outcome: JobOutcome,
    pub(crate) job: Job,
    pub(crate) decisions: Vec<Decision>,
}

impl Place {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/overnight.db", folder.path().display());
        Self { store: store::connect(&url).await.unwrap(), folder }
    }

    /// A folder for workspaces, with the database at `url`.
    pub(crate) async fn with(url: &str) -> Self {
        Self { store: store::connect(url).await.unwrap(), folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn workspaces(&self) -> PathBuf {
        self.folder.path().join("workspaces")
    }

    /// Makes a job and works it until it rests.
    pub(crate) async fn run(
        &self,
        instructions: Instructions,
        text: &str,
        documents: &[PathBuf],
        model: Arc<dyn Model>,
    ) -> Rested {
        let path = self.make(instructions, text, documents, &model);
        self.resume(&path, model, None).await
    }

    /// Makes a job; its workspace.
    pub(crate) fn make(
        &self,
        instructions: Instructions,
        text: &str,
        documents: &[PathBuf],
        model: &Arc<dyn Model>,
    ) -> PathBuf {
        made(&self.workspaces(), instructions, text, documents, &**model)
    }

    /// Opens the job at `path`, gives it `word`, and works it until it rests.
    pub(crate) async fn resume(&self, path: &Path, model: Arc<dyn Model>, word: Option<Command>) -> Rested {
        self.try_resume(path, model, word).await.unwrap()
    }

    /// As `resume`; the drive itself may fail.
    pub(crate) async fn try_resume(
        &self,
        path: &Path,
        model: Arc<dyn Model>,
        word: Option<Command>,
    ) -> Result<Rested, RunError> {
        let mut decisions = Vec::new();
        let mut watch = |_: &Job, report: RunReport<'_>| {
            if let RunReport::Decided(decision) = report {
                decisions.push(decision.clone());
            }
        };
        let (job, outcome) = drive(&*self.store, path, model, word, &mut watch).await;
        Ok(Rested { path: path.to_owned(), outcome: outcome?, job, decisions })
    }
}

/// A request for a job, and nothing else than it needs.
pub(crate) fn request<'r>(
    extractor: &'r Extractor,
    instructions: Instructions,
    instructions_text: &'r str,
    documents: &'r [PathBuf],
    model: &'r dyn Model,
) -> NewJobRequest<'r> {
    NewJobRequest {
        extractor,
        instructions,
        instructions_text,
        documents,
        own: &[],
        model,
        eyes: None,
        base_url: None,
        api_key_env: None,
        models: None,
        earlier: None,
    }
}

/// Makes a job; its workspace.
pub(crate) fn made(
    workspaces: &Path,
    instructions: Instructions,
    text: &str,
    documents: &[PathBuf],
    model: &dyn Model,
) -> PathBuf {
    runner::create(workspaces, &request(&Extractor::in_process(), instructions, text, documents, model)).unwrap().path
}

/// Has a new process open the job at `path`, give it `word`, and work it until it rests: the job, and how that went.
pub(crate) async fn drive(
    store: &dyn Store,
    path: &Path,
    model: Arc<dyn Model>,
    word: Option<Command>,
    watch: &mut (dyn FnMut(&Job, RunReport<'_>) + Send),
) -> (Job, Result<JobOutcome, RunError>) {
    let mut session = OpenJob::open(path, None).unwrap();
    session.claim(store).await.unwrap();
    let open = Command::Open { version: "test".to_owned(), model: model.name().to_owned(), torn_bytes: None };
    for command in [Some(open), word].into_iter().flatten() {
        session.command(command).unwrap();
    }
    let (_keep, stop) = tokio::sync::watch::channel(false);
    let outcome = JobRunner::new(store, model, stop, watch).run(&mut session).await;
    (session.job.clone(), outcome)
}

/// Shipped instructions with their text.
pub(crate) fn shipped(name: &str) -> (Instructions, String) {
    let text = instructions::shipped::shipped(name).unwrap().to_owned();
    (instructions::shipped::parse_shipped(name).unwrap().unwrap(), text)
}

pub(crate) fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")
}

/// Runs an async test body, or a part of one: all parts share a runtime, as a database lives in the one that opened it.
pub(crate) fn wait<T>(body: impl Future<Output = T>) -> T {
    thread_local! {
        // Never dropped: the end of a thread is too late for it.
        static RUNTIME: &'static tokio::runtime::Runtime =
            Box::leak(Box::new(tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()));
    }
    RUNTIME.with(|runtime| runtime.block_on(body))
}

/// How many cases a property gets: `few`, or as many as `PROPTEST_CASES` says, for a long run.
pub(crate) fn cases(few: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// Copies a folder with all that is in it to `to`, which is made where it is missing.
pub(crate) fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from).into_iter().map(Result::unwrap) {
        let place = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(place).unwrap();
        } else {
            std::fs::copy(entry.path(), place).unwrap();
        }
    }
}

/// Compares what `show` makes of each case in `tests/formats/FILE` with the section `expected` behind it, which is missing where
/// it makes nothing. `UPDATE=1` rewrites the expectations.
pub(crate) fn corpus(file: &str, least: usize, show: &dyn Fn(&str, &str) -> String) {
    const EXPECTED: &str = "expected";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(file);
    let golden = std::fs::read_to_string(&path).unwrap();
    let mut found = Vec::new();
    for (name, text) in sections::read(&golden).into_iter().filter(|(name, _)| name != EXPECTED) {
        let shown = if name.is_empty() { String::new() } else { show(&name, &text) };
        found.push((name, text));
        found.extend(Some((EXPECTED.to_owned(), shown)).filter(|(_, shown)| !shown.is_empty()));
    }
    assert!(found.len() >= least, "cases are missing: there are {} sections in {file}", found.len());
    let found = sections::write(&found);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &found).unwrap();
        return;
    }
    let diff = similar::TextDiff::from_lines(golden.as_str(), found.as_str());
    assert!(found == golden, "{}", diff.unified_diff().context_radius(9).header(file, "found"));
}

/// The words of a command line in which none has a space.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Every file below `folder` with its content.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let all =
        walkdir::WalkDir::new(folder).into_iter().filter_map(Result::ok).filter(|entry| entry.file_type().is_file());
    let name = |path: &Path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
    all.map(|entry| (name(entry.path()), std::fs::read(entry.path()).unwrap())).collect()
}

/// Compares `text` with the file `name` below `tests/it`. `UPDATE=1` rewrites it.
#[track_caller]
pub(crate) fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{name} differs; UPDATE=1 rewrites it. It is now:\n{text}");
}

/// Instructions as they are submitted, and nothing else.
pub(crate) fn settings_of(instructions: Instructions) -> BatchSettings {
    BatchSettings {
        eval: None,
        instructions,
        base_url: None,
        api_key_env: None,
        models: None,
        closing: None,
        left_out: LeftOut::default(),
        only: None,
        cascade: None,
    }
}

/// What a property is tried with: so many cases, and no file of failures.
pub(crate) fn property(few: u32) -> ProptestConfig {
    ProptestConfig { cases: cases(few), max_shrink_iters: 24, failure_persistence: None, ..ProptestConfig::default() }
}

/// A white picture of so many pixels, as a PNG.
pub(crate) fn white_png(width: u32, height: u32) -> Vec<u8> {
    let mut png = std::io::Cursor::new(Vec::new());
    let white = image::GrayImage::from_pixel(width, height, image::Luma([255]));
    white.write_to(&mut png, image::ImageFormat::Png).unwrap();
    png.into_inner()
}

/// All events of a job, read from the bytes of its journal's files.
pub(crate) fn events(workspace: &Path) -> Vec<Value> {
    let files = walkdir::WalkDir::new(workspace).into_iter().map(Result::unwrap);
    let journals =
        files.filter(|file| file.file_name() == "journal.jsonl").map(|file| std::fs::read(file.path()).unwrap());
    let mut lines: Vec<Value> = journals
        .flat_map(|text| text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>())
        .filter_map(|line| serde_json::from_slice(&line).ok())
        .collect();
    lines.sort_by_key(|line| line["seq"].as_u64().unwrap());
    lines.iter().flat_map(|line| line["events"].as_array().unwrap().clone()).collect()
}
