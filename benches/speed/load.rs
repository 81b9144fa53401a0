//! The load: phases of 8 todos with 3 turns each. A todo is worked by reading some 6 KB of a document, writing a note of
//! 1 KB, and completing it. Documents, task and script are made here, so that the program can be run on them as well.

use overnight::{
    extraction::Extractor,
    model::{Model, scripted::Scripted},
    runner::{self, JobOutcome, JobRunner, NewJobRequest, OpenJob, RunReport},
    store::{self, Store},
};
use overnight_core::{
    job::{
        event::Decision,
        instructions::{self, Instructions},
        state::Job,
    },
    machine::effect::Command,
};
use serde_json::{Value, json};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::TempDir;

/// Todos of a phase.
pub(crate) const TODOS: usize = 8;
/// Bytes that one reading shows, and lines of that many bytes.
const RESULT_BYTES: usize = 6_000;
const LINE_BYTES: usize = 100;
const NOTE_BYTES: usize = 1_000;

/// How a note of 1 KB is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notes {
    /// `append_file` to the phase's file under `output/`: a change on the disk.
    Appended,
    /// `add_note`: kept by the runner.
    Added,
}

/// What is to be worked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) phases: usize,
    pub(crate) notes: Notes,
}

const TASK: &str = "\
---
name: load
description: Notes on every part of every document
deliverables:
  - path: output/report.md
    min_words: 10
---
# Task

Read every document, part by part. Write down of each part what it demands, and report at the end.
";

impl Load {
    pub(crate) fn new(phases: usize) -> Self {
        Self { phases, notes: Notes::Appended }
    }

    /// Puts `task.md`, `docs/` and `script.yaml` into `folder`.
    pub(crate) fn put(self, folder: &Path) {
        let documents = folder.join("docs");
        std::fs::create_dir_all(&documents).unwrap();
        for phase in 1..=self.phases {
            std::fs::write(documents.join(document(phase)), text(phase)).unwrap();
        }
        std::fs::write(folder.join("task.md"), TASK).unwrap();
        std::fs::write(folder.join("script.yaml"), self.script()).unwrap();
    }

    /// The replies of the whole job: one that a model could have given.
    pub(crate) fn script(self) -> String {
        json!({"version": 1, "replies": self.replies()}).to_string()
    }

    fn replies(self) -> Vec<Value> {
        let report = "output/report.md";
        let mut replies = vec![reply(&[json!({"write_file": {"path": "main_plan.md", "content": self.plan()}})])];
        for phase in 1..=self.phases {
            for todo in 1..=TODOS {
                let lines = RESULT_BYTES / LINE_BYTES;
                let (from, to) = ((todo - 1) * lines + 1, todo * lines);
                let read = json!({"read_document": {"name": document(phase), "from": from, "to": to}});
                // The memory is owed at the end of a phase, and comes with the first work of the next one.
                let learned = format!("- phase {} is about document {}\n", phase - 1, phase - 1);
                let memory = json!({"append_file": {"path": "workspace.md", "content": learned}});
                replies.push(if phase > 1 && todo == 1 { reply(&[memory, read]) } else { reply(&[read]) });
                replies.push(reply(&[self.note(phase, todo)]));
                let outcome = format!("{lines} demands noted, {from} to {to}; none contradicts another");
                replies.push(reply(&[json!({"todo_complete": {"outcome": outcome}})]));
            }
        }
        let words = "Every part of every document was read, and what it demands is noted beside this report.\n";
        replies.push(reply(&[
            json!({"write_file": {"path": report, "content": words}}),
            json!({"job_complete": {"summary": "All was read.", "deliverables": [report], "confidence": 0.9}}),
        ]));
        replies
    }

    fn note(self, phase: usize, todo: usize) -> Value {
        let mut text = format!("- Part {todo} of document {phase}:");
        while text.len() < NOTE_BYTES {
            let _ = write!(text, " article {} is entered by a clerk,", (text.len() * 37 + todo * 11) % 997);
        }
        match self.notes {
            Notes::Appended => {
                json!({"append_file": {"path": format!("output/notes-{phase:02}.md"), "content": format!("{text}\n")}})
            }
            Notes::Added => json!({"add_note": {"text": text}}),
        }
    }

    fn plan(self) -> String {
        let mut plan = "# Execution Plan\n\n## Overview\n\nOne document a phase, then the report.\n".to_owned();
        for phase in 1..=self.phases {
            let _ = write!(plan, "\n## Phase {phase}: Document {phase}\n\n");
            for todo in 1..=TODOS {
                let _ = writeln!(plan, "- [ ] Read part {todo} of {} and note what it demands", document(phase));
            }
        }
        plan
    }

    /// Turns of the whole job.
    pub(crate) fn turns(self) -> usize {
        self.replies().len()
    }
}

fn text(phase: usize) -> String {
    let mut text = String::new();
    for line in 0..TODOS * RESULT_BYTES / LINE_BYTES {
        let mut one = format!("{phase}.{line} A clerk must enter the receipt of article {} in the ledger", line * 7);
        while one.len() < LINE_BYTES - 6 {
            let _ = write!(one, " {}", (line * 31 + one.len() * 17) % 1000);
        }
        let _ = writeln!(text, "{one}.");
    }
    text
}

fn reply(calls: &[Value]) -> Value {
    json!({ "calls": calls })
}

fn document(phase: usize) -> String {
    format!("document-{phase:02}.md")
}

/// Where a job is worked: a folder with a load, a database and workspaces; gone when dropped.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) store: Arc<dyn Store>,
}

impl Place {
    /// In memory where the system has a place for that: for what isn't about waiting for the disk.
    pub(crate) async fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        Self::within(if memory.is_dir() { memory } else { Path::new(env!("CARGO_TARGET_TMPDIR")) }).await
    }

    pub(crate) async fn within(parent: &Path) -> Self {
        let folder = TempDir::new_in(parent).unwrap();
        let url = format!("sqlite://{}/workspaces/overnight.db", folder.path().display());
        Self { store: store::connect(&url).await.unwrap(), folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a job of the load that lies here; `limits` are lines of the task's front matter.
    pub(crate) fn create(&self, limits: &str, model: &dyn Model) -> PathBuf {
        let text = TASK.replace("---\n# Task", &format!("{limits}---\n# Task"));
        let instructions: Instructions =
            instructions::parse("task.md", &text, &|_| Err(instructions::UnreadFile("no such file".to_owned())))
                .unwrap();
        let documents = [self.path().join("docs")];
        let request = NewJobRequest {
            extractor: &Extractor::in_process(),
            instructions,
            instructions_text: &text,
            documents: &documents,
            own: &[],
            model,
            eyes: None,
            base_url: None,
            api_key_env: None,
            models: None,
            earlier: None,
        };
        runner::create(&self.path().join("workspaces"), &request).unwrap().path
    }

    /// Works the job at `path` until it rests, as the command line does.
    pub(crate) async fn work(
        &self,
        path: &Path,
        model: Arc<dyn Model>,
        watch: &mut (dyn FnMut(&Job, &Decision) + Send),
    ) -> JobOutcome {
        let mut session = OpenJob::open(path, None).unwrap();
        session.claim(&*self.store).await.unwrap();
        let open = Command::Open { version: "bench".to_owned(), model: model.name().to_owned(), torn_bytes: None };
        session.command(open).unwrap();
        let (_keep, stop) = tokio::sync::watch::channel(false);
        let mut watch = |job: &Job, report: RunReport<'_>| {
            if let RunReport::Decided(decision) = report {
                watch(job, decision);
            }
        };
        JobRunner::new(&*self.store, model, stop, &mut watch).run(&mut session).await.unwrap()
    }
}

/// The load's script as a model.
pub(crate) fn model(load: Load) -> Arc<dyn Model> {
    Arc::new(Scripted::parse("script.yaml", &load.script()).unwrap())
}

/// Runs an async body as the program does: on one thread.
pub(crate) fn wait<T>(body: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(body)
}
