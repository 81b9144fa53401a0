//! A job that is run from Rust, with a model of one's own:
//!
//! ```text
//! cargo run --example embed
//! ```
//!
//! The model here knows its replies beforehand, by the number of the turn. A real one would send `request.prompt` to a
//! server and read its reply; what may go wrong with that has a kind in `FailureKind`.

use async_trait::async_trait;
use overnight::{
    extraction::Extractor,
    model::{Failure, FailureKind, Model, Request},
    runner::{self, JobOutcome, JobRunner, NewJobRequest, OpenJob},
    store,
};
use overnight_core::{
    job::{instructions, state::Job},
    machine::effect::Command,
    message::{Reply, Stop, ToolCall, Usage},
};
use serde_json::{Value, json};
use std::{error::Error, fs, path::Path, sync::Arc};

const INSTRUCTIONS: &str = "---
name: pumps
description: What happened to the pumps
finale: []
deliverables:
  - path: output/report.md
---
Say in output/report.md what happened to each pump.
";
const DOCUMENT: &str = "# North station\n\nPump 1 ran all night.\nPump 2 failed at three.\n";
const PLAN: &str = "# Execution Plan\n\n## Phase 1: Report\n\n- [ ] Read north.md\n- [ ] Write the report\n";

/// A model that needs no server.
#[derive(Debug)]
struct Clerk;

#[async_trait]
impl Model for Clerk {
    fn name(&self) -> &'static str {
        "clerk"
    }

    fn window_tokens(&self) -> u64 {
        100_000
    }

    fn cost(&self, _: &Usage) -> Option<f64> {
        Some(0.0)
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        let calls = match request.turn {
            // The plan ends the bootstrap, and its first task is begun in the same reply.
            1 => vec![
                call("write_file", json!({ "path": "main_plan.md", "content": PLAN })),
                call("read_document", json!({ "name": "north.md" })),
            ],
            // The work: with the last task done, the review begins.
            2 => vec![
                call("todo_complete", json!({ "outcome": "a log of two pumps" })),
                call("write_file", json!({ "path": "output/report.md", "content": "Pump 1 ran, pump 2 failed.\n" })),
                call("todo_complete", json!({ "outcome": "the report is written" })),
                call(
                    "job_complete",
                    json!({ "summary": "One report.", "deliverables": ["output/report.md"], "confidence": 0.9 }),
                ),
            ],
            _ => return Err(Failure::new(FailureKind::Exhausted, "the clerk has no more to say")),
        };
        Ok(Reply {
            text: String::new(),
            calls,
            usage: Usage::default(),
            stop: Stop::Done,
            model: "clerk".to_owned(),
            carried: None,
            tier: None,
            mended: Vec::new(),
        })
    }
}

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall { id: String::new(), name: name.to_owned(), arguments }
}

/// Runs one job below `folder` until it rests: how it came to rest, and what it delivered.
pub(crate) async fn run(folder: &Path) -> Result<(JobOutcome, String), Box<dyn Error>> {
    let document = folder.join("north.md");
    fs::write(&document, DOCUMENT)?;
    let model: Arc<dyn Model> = Arc::new(Clerk);
    let store = store::connect(&format!("sqlite://{}", folder.join("overnight.db").display())).await?;
    let request = NewJobRequest {
        instructions: instructions::parse("pumps.md", INSTRUCTIONS, &|path| {
            Err(instructions::UnreadFile(format!("there is no {path}")))
        })?,
        instructions_text: INSTRUCTIONS,
        documents: &[document],
        own: &[],
        extractor: &Extractor::in_process(),
        model: &*model,
        eyes: None,
        base_url: None,
        api_key_env: None,
        models: None,
        earlier: None,
    };
    let created = runner::create(&folder.join("workspaces"), &request)?;
    let mut job = OpenJob::open(&created.path, None)?;
    job.claim(&*store).await?;
    let (_keep, stop) = tokio::sync::watch::channel(false);
    let mut watch = |_: &Job, _: runner::RunReport<'_>| {};
    let opening = Command::Open { version: "embed".to_owned(), model: "clerk".to_owned(), torn_bytes: None };
    let outcome = JobRunner::new(&*store, model, stop, &mut watch).with_commands(vec![opening]).run(&mut job).await?;
    store.close().await;
    Ok((outcome, fs::read_to_string(created.path.join("output/report.md"))?))
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "an example shows what came of it")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (outcome, report) = run(folder.path()).await?;
    println!("{outcome:?}\n{report}");
    Ok(())
}
