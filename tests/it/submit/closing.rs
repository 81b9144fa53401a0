//! `--then`: one more job over what a batch delivered.

use super::{Arc, EACH, PathBuf, Store, TestDir, Timestamp, Value, at, json, now, sha256, wait, words};
use crate::store::{A, MINUTE, at_work, checkpoint};
use overnight::{
    batch::{BatchSettings, ClosingOutcome, DeliverableSources, close},
    extraction::Extractor,
    store::{BatchRow, ClaimedJob, QueueEntry},
};
use overnight_core::job::record::{Delivered, JobStatus, JobSummary};
use overnight_documents::{InProcess, discover};

/// A worker's part: a workspace with these files under `output/`, and the job's end.
async fn end(dir: &TestDir, store: &dyn Store, job: &ClaimedJob, status: JobStatus, files: &[(&str, &str)]) {
    let folder = format!("workspaces/{}", job.id);
    for (path, content) in files {
        dir.put(&format!("{folder}/output/{path}"), content);
    }
    let place = dir.path().join(&folder);
    std::fs::create_dir_all(&place).unwrap();
    store.set_workspace(job.id, job.lease, place.to_str().unwrap(), Some("here")).await.unwrap();
    let deliverables = files
        .iter()
        .map(|(path, content)| Delivered {
            path: format!("output/{path}"),
            sha256: sha256(content.as_bytes()),
            bytes: content.len() as u64,
        })
        .collect();
    let state = JobSummary { status, deliverables, completed_at: Some(now()), ..at_work() };
    store.checkpoint(job.id, job.lease, &checkpoint(state)).await.unwrap();
}

async fn closed(dir: &TestDir, store: &dyn Store, batch: &str) -> ClosingOutcome {
    let row: BatchRow = store.batch(batch).await.unwrap();
    let later: Timestamp = at("2099-01-01T00:00:00.000Z");
    let extractor = Arc::new(Extractor::in_process());
    let sources =
        DeliverableSources { workspaces: &dir.path().join("workspaces"), workspace_store: None, extractor: &extractor };
    close(store, &row, sources, later).await.unwrap()
}

#[test]
fn the_closing_job_has_what_the_others_delivered() {
    let dir = TestDir::new();
    dir.put("docs/in/a.md", "# Again\n");
    dir.put("docs/blocked.md", "# Blocked\n");
    let then = "--batch night --then summarize-documents --priority 4 --max-attempts 2 --budget-usd 3 --turns 55";
    let window = ["--window", "22:00-06:00 Europe/Berlin"];
    let shown = dir.submitted(&[&EACH[..], &words(then), &window].concat());
    assert_eq!(shown["then"], json!("summarize-documents"));
    wait(async {
        let store = dir.store().await;
        let jobs = store.claim_next(A, "here", 9, MINUTE).await.unwrap();
        let labels: Vec<&str> = jobs.iter().map(|job| job.label.as_str()).collect();
        assert_eq!(labels, ["a.md", "b.md", "blocked.md", "in/a.md"]);
        end(&dir, &*store, &jobs[0], JobStatus::Completed, &[("report.md", "One."), ("deep/more.json", "{}")]).await;
        end(&dir, &*store, &jobs[1], JobStatus::Partial, &[("report.md", "Two.")]).await;
        assert_eq!(closed(&dir, &*store, "night").await, ClosingOutcome::TooEarly);
        end(&dir, &*store, &jobs[2], JobStatus::Blocked, &[("report.md", "Not this.")]).await;
        end(
            &dir,
            &*store,
            &jobs[3],
            JobStatus::Completed,
            &[("report.md", "Three."), ("gone.md", "x"), ("scan.pdf", "%PDF-1.7")],
        )
        .await;
        let (changed, last) = (dir.path().join("workspaces").join(jobs[1].id.to_string()), jobs[3].id);
        std::fs::write(changed.join("output/report.md"), "Two, mended.").unwrap();
        std::fs::remove_file(dir.path().join(format!("workspaces/{last}/output/gone.md"))).unwrap();

        let ClosingOutcome::Submitted { batch, job, documents, notes } = closed(&dir, &*store, "night").await else {
            unreachable!("it was asked for, and there is something")
        };
        assert_eq!(documents, 4);
        assert_eq!(
            notes,
            [
                format!(
                    "job {}: output/report.md was changed since it was delivered, and is taken as it is now",
                    jobs[1].id
                ),
                format!("job {last}: output/gone.md is left out: it is not in the job's workspace"),
                format!(
                    "job {last}: output/scan.pdf is left out: can't be read as PDF, because it is cut off before its table of objects: open it in its own program and save it again, or leave it out"
                ),
            ]
        );
        let row = store.batch("night, then").await.unwrap();
        let first = store.batch("night").await.unwrap().batch;
        assert_eq!((row.batch.id, row.batch.created), (batch, at("2099-01-01T00:00:00.000Z")));
        assert_eq!((row.batch.instructions.as_str(), row.batch.model.as_str()), ("summarize-documents", "offline"));
        // What the first batch has left of its 3 USD.
        assert_eq!((row.batch.budget_usd, row.batch.time_window), (Some(2.5), first.time_window));
        let settings: BatchSettings = serde_json::from_value(row.batch.settings).unwrap();
        assert_eq!((settings.instructions.limits.turns, settings.closing), (55, None));
        let manifest: Vec<QueueEntry> = store.batch_entries(batch).await.unwrap();
        let queued = &manifest[0].job;
        assert_eq!(
            (manifest.len(), queued.id, queued.priority, queued.max_attempts, queued.documents, queued.is_held),
            (1, job, 4, 2, 4, false)
        );
        // Each report under the name of its document.
        let sources: Vec<PathBuf> = queued.sources.iter().map(PathBuf::from).collect();
        let found: Vec<(String, String)> = discover(&sources, &[], &InProcess)
            .unwrap()
            .documents
            .into_iter()
            .map(|found| (found.name, std::fs::read_to_string(found.path).unwrap()))
            .collect();
        let expected = [
            ("a.md/deep/more.json", "{}"),
            ("a.md/report.md", "One."),
            ("b.md/report.md", "Two, mended."),
            ("in/a.md/report.md", "Three."),
        ];
        assert_eq!(found, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));

        // Another worker that finds the batch ended, later.
        assert!(
            matches!(closed(&dir, &*store, "night").await, ClosingOutcome::Submitted { batch: again, .. } if again == batch)
        );
        assert_eq!(store.batch_entries(batch).await.unwrap(), manifest);
        assert_eq!(closed(&dir, &*store, "night, then").await, ClosingOutcome::NotAsked);
    });
    // Who asks for the batch hears of it, and has its result with the others'.
    let told = |words: &[&str]| -> Value {
        let ran = dir.run_with(&[], &[words, &["--json"]].concat());
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| unreachable!("{ran:?}"))
    };
    let closing = &told(&["show", "night"])["closing"];
    assert_eq!((&closing["status"], &closing["batch"]), (&json!("queued"), &told(&["show", "night, then"])["batch"]));
    let report = told(&["report", "night"]);
    let names: Vec<&Value> = report["batches"].as_array().unwrap().iter().map(|batch| &batch["name"]).collect();
    assert_eq!(names, ["night", "night, then"]);
    assert!(report["jobs"].as_array().unwrap().iter().any(|job| job["id"] == closing["job"]));
}

#[test]
fn a_linked_job_brings_what_the_first_one_delivered() {
    let dir = TestDir::new();
    dir.submitted(&["./task.md", "--documents", "docs", "--each", "--batch", "first"]);
    wait(async {
        let store = dir.store().await;
        for job in store.claim_next(A, "here", 9, MINUTE).await.unwrap() {
            end(&dir, &*store, &job, JobStatus::Completed, &[("report.md", &format!("Of {}.", job.label))]).await;
        }
    });
    dir.submitted(&[&EACH[..], &words("--dedupe --batch second --then ./task.md")].concat());
    wait(async {
        let store = dir.store().await;
        let ClosingOutcome::Submitted { batch, documents: 2, notes, .. } = closed(&dir, &*store, "second").await else {
            unreachable!("all of it is linked")
        };
        assert_eq!(notes, Vec::<String>::new());
        let sources: Vec<PathBuf> =
            store.batch_entries(batch).await.unwrap()[0].job.sources.iter().map(PathBuf::from).collect();
        let names: Vec<String> =
            discover(&sources, &[], &InProcess).unwrap().documents.into_iter().map(|found| found.name).collect();
        assert_eq!(names, ["a.md/report.md", "b.md/report.md"]);
    });
}

#[test]
fn a_batch_that_delivered_nothing_has_no_closing_job() {
    let dir = TestDir::new();
    dir.submitted(&["./task.md", "--documents", "docs", "--batch", "night", "--then", "./task.md"]);
    wait(async {
        let store = dir.store().await;
        let jobs = store.claim_next(A, "here", 9, MINUTE).await.unwrap();
        end(&dir, &*store, &jobs[0], JobStatus::Failed, &[]).await;
        assert_eq!(closed(&dir, &*store, "night").await, ClosingOutcome::Nothing { notes: vec![] });
        assert_eq!(store.batches(9).await.unwrap().len(), 1);
    });
}
