//! `overnight submit`: the real program puts batches into the queue, and what is there then is read back from the database.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod closing;
mod families;
mod many;
mod only_fields;

use crate::{
    cli_run::{Ran, TestDir},
    store::{A, MINUTE, at, checkpoint, completed},
    support::{request, samples, settings_of, wait, words},
};
use overnight::{
    batch::{BatchSettings, Estimate},
    extraction::Extractor,
    runner::{create_as, now, open_model},
    store::{self, BatchTotals, Group, NewBatch, QueueEntry, QueuedJob, Store},
};
use overnight_core::job::{
    digest::sha256,
    instructions,
    record::{HoldReason, JobStatus, JobSummary},
    time::Timestamp,
};
use overnight_documents::source;
use serde_json::{Value, json};
use std::{path::PathBuf, sync::Arc};

/// A job for each document.
const EACH: [&str; 4] = ["./task.md", "--documents", "docs", "--each"];

impl TestDir {
    fn submit(&self, arguments: &[&str]) -> Ran {
        self.run_with(&[], &[&["submit"], arguments].concat())
    }

    /// What a submission with `--json` printed.
    fn submitted(&self, arguments: &[&str]) -> Value {
        let ids: &[&str] = if arguments.contains(&"--dry-run") { &[] } else { &["--ids"] };
        let ran = self.submit(&[arguments, &["--json"], ids].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    }

    async fn store(&self) -> Arc<dyn Store> {
        store::connect(&format!("sqlite://{}/workspaces/overnight.db", self.path().display())).await.unwrap()
    }

    /// The newest batch, and its jobs.
    fn last(&self) -> (NewBatch, Vec<QueueEntry>) {
        wait(async {
            let store = self.store().await;
            let batch = store.batch("last").await.unwrap().batch;
            let entries = store.batch_entries(batch.id).await.unwrap();
            (batch, entries)
        })
    }

    fn has_database(&self) -> bool {
        self.path().join("workspaces").exists()
    }

    /// `text` with the desk's place cut out, and ids as `batch` and `job 1`, `job 2`, …
    fn masked(&self, text: &str, batch: &str, jobs: &[&str]) -> String {
        let mut text = text.replace(&format!("{}/", self.path().display()), "").replace(batch, "BATCH");
        for (number, job) in (1..).zip(jobs) {
            text = text.replace(job, &format!("JOB-{number}"));
        }
        text
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// What the manifest says of a job that waits.
fn entry(batch: &NewBatch, job: QueuedJob) -> QueueEntry {
    QueueEntry {
        status: if job.is_held { JobStatus::Held } else { JobStatus::Queued },
        hold_reason: job.is_held.then_some(HoldReason::Paused),
        job,
        batch: batch.id,
        reason: None,
        attempts: 0,
        lease: 0,
        worker: None,
        wants: None,
        host: None,
        workspace: String::new(),
        same_as: None,
    }
}

#[test]
fn each_document_of_the_samples_is_a_job() {
    let dir = TestDir::new();
    let samples = samples();
    let folder = samples.to_str().unwrap();
    let shown = dir.submitted(&["extract-requirements", "--documents", folder, "--each", "--glob", "*.{md,txt,html}"]);
    let (batch, entries) = dir.last();

    let mut names: Vec<String> = walkdir::WalkDir::new(&samples)
        .into_iter()
        .map(Result::unwrap)
        .filter(|file| file.file_type().is_file() && file.depth() > 1)
        .filter(|file| {
            file.path().extension().is_some_and(|ending| ["md", "txt", "html"].iter().any(|kind| ending == *kind))
        })
        .map(|file| file.path().strip_prefix(&samples).unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names.len(), 6);
    let content = |name: &str| std::fs::read(samples.join(name)).unwrap();
    let rows: Vec<Value> = names
        .iter()
        .zip(&entries)
        .map(|(name, entry)| {
            json!({
                "job": entry.job.id, "label": name, "document": name, "path": format!("{folder}/{name}"),
                "sha256": sha256(&content(name)), "bytes": content(name).len(), "status": "queued", "hold_reason": null,
                "linked_to": null,
            })
        })
        .collect();
    let mut instructions = instructions::shipped::parse_shipped("extract-requirements").unwrap().unwrap();
    instructions.without_own_proof();
    let instructions_text = instructions::shipped::shipped("extract-requirements").unwrap();
    let hash = instructions.hash(instructions_text);
    let bytes: usize = names.iter().map(|name| content(name).len()).sum();
    assert_eq!(
        shown,
        json!({
            "batch": batch.id, "name": null, "created": batch.created, "instructions": "extract-requirements",
            "instructions_sha256": hash, "model": "offline", "jobs": 6, "queued": 6, "held": 0, "linked": 0,
            "documents": 6, "families": null, "bytes": bytes, "run_after": null, "time_window": null, "budget_usd": null, "then": null,
            "left_out_files": 0, "left_out": [], "duplicate_documents": 0, "duplicates": [], "manifest": rows,
        })
    );
    // The schema stands beside the instructions: another one is another demand.
    assert_ne!(hash, sha256(instructions_text.as_bytes()));
    let settings = settings_of(instructions);
    assert_eq!(
        batch,
        NewBatch {
            id: batch.id,
            created: batch.created,
            name: None,
            instructions: "extract-requirements".to_owned(),
            instructions_text: instructions_text.to_owned(),
            instructions_sha256: hash,
            model: "offline".to_owned(),
            settings: serde_json::to_value(&settings).unwrap(),
            budget_usd: None,
            time_window: None,
        }
    );
    let expected: Vec<QueueEntry> = names
        .iter()
        .zip(&entries)
        .map(|(name, found)| {
            let job = QueuedJob {
                id: found.job.id,
                label: name.clone(),
                sources: vec![format!("{name}\0{folder}/{name}")],
                documents: 1,
                documents_sha256: Some(sha256(&content(name))),
                priority: 0,
                run_after: None,
                group: None,
                max_attempts: 3,
                is_held: false,
            };
            entry(&batch, job)
        })
        .collect();
    assert_eq!(entries, expected);
}

#[test]
fn all_that_can_be_set_is_in_the_queue() {
    let dir = TestDir::new();
    dir.put("table.yaml", "version: 1\nmodels: []\n");
    let named = ["--batch", " the “night” ", "--window", "22:00-06:00 Europe/Berlin"];
    let queued = "--priority -7 --at 2099-01-02T03:04:05Z --group disk --group-limit 2 --budget-usd 7.5 \
                  --max-attempts 5 --trial 1";
    let worked = "--then summarize-documents --model openai:gpt-6-sol --base-url http://127.0.0.1:9/v1 \
                  --models table.yaml --turns 77 --header x-secret=hidden --record calls --budget-tokens 9k";
    let ran = dir.submit(&[&EACH[..], &named, &words(queued), &words(worked)].concat());
    let (batch, entries) = dir.last();
    let ids: Vec<String> = entries.iter().map(|entry| entry.job.id.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let shown = dir.masked(&ran.stdout, &batch.id.to_string(), &ids);
    let told = shown.lines().filter(|line| !line.starts_with("not before: ")).collect::<Vec<_>>().join("\n");
    assert_eq!(
        told,
        "batch BATCH: the “night”\n\
         jobs: 2 (1 queued, 1 held until the batch is resumed)\n\
         documents: 2 (67 bytes)\n\
         instructions: task, with openai:gpt-6-sol\n\
         window: 22:00-06:00 Europe/Berlin\n\
         budget: 7.5 USD\n\
         then: summarize-documents, over what the jobs delivered\n\
         next: overnight work, overnight jobs --batch BATCH\n\
         when the trial is done: overnight resume BATCH"
    );
    assert!(shown.contains("\nnot before: 2099-01-0"), "{shown}");
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            0,
            "headers may hold secrets, and are not stored: no worker sends them\n\
             --record is not stored: it belongs to who works the jobs\n"
        )
    );
    assert!(!dir.path().join("calls").exists());
    let settings: BatchSettings = serde_json::from_value(batch.settings.clone()).unwrap();
    let closing = settings.closing.as_ref().unwrap();
    assert_eq!(
        (batch.name.as_deref(), batch.budget_usd, batch.time_window.as_deref(), batch.model.as_str()),
        (Some("the “night”"), Some(7.5), Some("22:00-06:00 Europe/Berlin"), "openai:gpt-6-sol")
    );
    assert_eq!((settings.instructions.limits.turns, settings.instructions.context.budget_tokens), (77, 9_000));
    assert_eq!(settings.base_url.as_deref(), Some("http://127.0.0.1:9/v1"));
    assert_eq!(settings.models.as_deref(), Some("version: 1\nmodels: []\n"));
    assert_eq!(
        (closing.instructions.name.as_str(), closing.model.as_str()),
        ("summarize-documents", "openai:gpt-6-sol")
    );
    assert_eq!(closing.instructions.limits.turns, 77);
    assert!(!batch.settings.to_string().contains("hidden"));
    let job = |place: usize, name: &str, is_held: bool| QueuedJob {
        id: entries[place].job.id,
        label: name.to_owned(),
        sources: vec![source(name, dir.path().join("docs").join(name).to_str().unwrap(), &[], None)],
        documents: 1,
        documents_sha256: Some(sha256(&std::fs::read(dir.path().join("docs").join(name)).unwrap())),
        priority: -7,
        // What is held for the trial waits for a person, not for a time.
        run_after: (!is_held).then(|| at("2099-01-02T03:04:05.000Z")),
        group: Some(Group { key: "disk".to_owned(), at_once: 2 }),
        max_attempts: 5,
        is_held,
    };
    assert_eq!(entries, [entry(&batch, job(0, "a.md", false)), entry(&batch, job(1, "b.md", true))]);
    assert_eq!(
        wait(async { dir.store().await.totals(batch.id).await.unwrap() }),
        BatchTotals { queued: 1, held: 1, ..BatchTotals::default() }
    );
}

#[test]
fn without_each_there_is_one_job_for_all() {
    let dir = TestDir::new();
    dir.put("docs/deep/a.md", "# Another\n\nOf the same name.\n");
    dir.put("docs/scan.pdf", "%PDF-1.7");
    let shown = dir.submitted(&["./task.md", "--documents", "docs"]);
    let (batch, entries) = dir.last();
    assert_eq!((&shown["jobs"], &shown["documents"]), (&json!(1), &json!(3)));
    let documents: Vec<&str> = shown["manifest"].as_array().unwrap().iter().map(|row| text(&row["document"])).collect();
    assert_eq!(documents, ["a.md", "b.md", "deep/a.md"]);
    let job = &entries[0].job;
    assert_eq!((job.label.as_str(), job.documents), ("a.md and 2 more", 3));
    let hash = |name: &str| sha256(&std::fs::read(dir.path().join("docs").join(name)).unwrap());
    let lines: Vec<String> = documents.iter().map(|name| format!("{}  {name}\n", hash(name))).collect();
    assert_eq!(job.documents_sha256, Some(sha256(lines.concat().as_bytes())));

    // Whoever makes the workspace, wherever, has the same documents under the same names.
    let settings: BatchSettings = serde_json::from_value(batch.settings).unwrap();
    let sources: Vec<PathBuf> = job.sources.iter().map(PathBuf::from).collect();
    let model = open_model(&batch.model, &overnight::runner::ModelOptions::default()).unwrap();
    let extractor = Extractor::in_process();
    let request = request(&extractor, settings.instructions, &batch.instructions_text, &sources, &*model);
    let made = create_as(job.id, batch.created, &dir.path().join("elsewhere"), &request).unwrap();
    assert_eq!(made.documents, 3);
    for name in documents {
        let copy = std::fs::read(made.path.join("documents").join(name)).unwrap();
        assert_eq!(copy, std::fs::read(dir.path().join("docs").join(name)).unwrap(), "{name}");
    }
}

#[test]
fn a_dry_run_tells_everything_and_writes_nothing() {
    let dir = TestDir::new();
    dir.put("docs/scan.pdf", "%PDF-1.7");
    dir.put("docs/empty.txt", "\n");
    dir.put("docs/c.html", "<html><p>The keeper SHALL close the gate.</p>");
    // Nobody asks the database, wherever it is.
    let dry = "--trial 2 --dedupe --dry-run --then ./task.md --database-url postgres://nobody@127.0.0.1:1/none";
    let ran = dir.submit(&[&EACH[..], &words(dry)].concat());
    let (told, estimate): (Vec<&str>, Vec<&str>) =
        ran.stdout.split_inclusive('\n').partition(|line| !line.starts_with("estimate: "));
    assert!(estimate[0].starts_with("estimate: 21 turns, ") && estimate[0].ends_with(" for 26 tokens of text\n"));
    assert_eq!(
        (ran.code, told.concat().as_str(), ran.stderr.as_str()),
        (
            0,
            "dry run: nothing was written\n\
             jobs: 3 (2 queued, 1 held until the batch is resumed)\n\
             documents: 3 (112 bytes)\n\
             instructions: task, with offline\n\
             then: task, over what the jobs delivered\n\
             cost: about 0.00 USD, between 0.00 and 0.00\n\
             (An estimate, by how a job is worked: each part of a document is read once and stays in two prompts. At least: a \
             model that does all in few replies, with the rest of each prompt from the cache; at most: twice the estimate. The \
             closing job is not counted.)\n\
             left out: 2 files\n  \
             docs/empty.txt (no text in it)\n  \
             docs/scan.pdf (can't be read as PDF, because it is cut off before its table of objects: open \
             it in its own program and save it again, or leave it out)\n",
            "a dry run doesn't look into the database: what was done before is counted as if it were not\n"
        )
    );
    assert!(!dir.has_database());

    // With a price, the money; it is that of the tokens that are told.
    let priced = words("./task.md --documents docs --dry-run --model openai:gpt-6-sol --base-url http://127.0.0.1:9");
    let shown = dir.submitted(&priced);
    let tokens = |name: &str| shown[name].as_f64().unwrap();
    let cost = (tokens("tokens_in") * 2.0 + tokens("tokens_out") * 10.0) / 1e6;
    assert!(cost > 0.0 && (shown["cost_usd"].as_f64().unwrap() - cost).abs() < 1e-9);
    let bounds = ["cost_usd_least", "cost_usd_most"].map(|name| shown[name].as_f64().unwrap());
    assert!(0.0 < bounds[0] && bounds[0] < cost && (bounds[1] - 2.0 * cost).abs() < 1e-3, "{bounds:?}");
    let estimate = Estimate::of_job([10, 7, 9], 100_000);
    assert_eq!(
        (&shown["turns"], &shown["tokens_in"], &shown["tokens_out"]),
        (&json!(estimate.turns), &json!(estimate.input), &json!(estimate.output))
    );
    assert_eq!(
        shown,
        json!({
            "duplicates": [], "dry_run": true, "instructions": "task", "model": "openai:gpt-6-sol", "jobs": 1, "held": 0, "documents": 3,
            "families": null, "bytes": 112, "text_tokens": 26, "turns": shown["turns"], "tokens_in": shown["tokens_in"],
            "tokens_out": shown["tokens_out"], "cost_usd": shown["cost_usd"], "tier": "standard",
            "cost_usd_least": shown["cost_usd_least"], "cost_usd_most": shown["cost_usd_most"], "read_twice": null, "waits": null,
            "is_verified": false, "cost_usd_standard": shown["cost_usd"], "cost_usd_flex": null,
            "cost_usd_batch": shown["cost_usd"].as_f64().map(|usd| usd / 2.0), "budget_usd": null, "run_after": null,
            "time_window": null, "then": null, "left_out": [
                {"path": "docs/empty.txt", "why": "no text in it"},
                {"path": "docs/scan.pdf", "why": "can't be read as PDF, because it is cut off before its table of objects: open it in its own program and save it again, or leave it out"},
            ],
        })
    );
    let over = dir.submit(&[&priced[..], &["--budget-usd", "0.01"]].concat());
    assert!(over.stdout.contains(", more than the budget: jobs would be held\n"), "{}", over.stdout);
    let unknown = words("./task.md --documents docs --dry-run --model openai:mine --base-url http://127.0.0.1:9");
    let ran = dir.submit(&[&unknown[..], &["--budget-usd", "1", "--unpriced"]].concat());
    assert!(ran.stdout.contains("\ncost unknown: no price is known; give it with --models\n"), "{}", ran.stdout);
    assert!(ran.stderr.starts_with("no price is known for openai:mine: "), "{}", ran.stderr);
    assert_eq!(dir.submitted(&unknown)["cost_usd"], Value::Null);
    assert!(!dir.has_database());
}

#[test]
fn an_estimate_is_of_the_size_of_what_a_job_takes() {
    let dir = TestDir::new();
    let standards = samples().join("standards");
    let standards = standards.to_str().unwrap();
    for instructions in ["extract-requirements", "summarize-documents"] {
        let estimate = dir.submitted(&[instructions, "--documents", standards, "--dry-run"]);
        let ran = dir.run_with(&[], &["run", instructions, "--documents", standards, "--json", "--quiet"]);
        let took: Value = serde_json::from_str(&ran.stdout).unwrap();
        for name in ["turns", "tokens_in", "tokens_out"] {
            let (guess, truth) = (estimate[name].as_f64().unwrap(), took[name].as_f64().unwrap());
            assert!(guess < truth * 3.0 && truth < guess * 3.0, "{instructions}, {name}: {guess} for {truth}");
        }
    }
}

#[test]
fn what_was_done_before_is_linked() {
    let dir = TestDir::new();
    let first = dir.submitted(&["./task.md", "--documents", "docs", "--each", "--dedupe"]);
    assert_eq!((&first["queued"], &first["linked"]), (&json!(2), &json!(0)));
    let done = &first["manifest"][1]["job"];
    wait(async {
        let store = dir.store().await;
        let claimed = store.claim_next(A, "here", 2, MINUTE).await.unwrap();
        let job = claimed.iter().find(|job| json!(job.id) == *done).unwrap();
        store.checkpoint(job.id, job.lease, &checkpoint(JobSummary { ..completed() })).await.unwrap();
    });
    // The same content elsewhere and under another name, among others.
    dir.put("more/c.md", std::fs::read(dir.path().join("docs/b.md")).unwrap());
    dir.put("more/d.md", "# D\n\nNew.\n");
    let arguments = ["./task.md", "--documents", "more", "--each", "--trial", "1", "--dedupe"];
    let ran = dir.submit(&arguments);
    assert!(
        ran.stdout.contains(
            "\njobs: 2 (1 held until the batch is resumed, 1 done before and linked to the job that did them)\n"
        ),
        "{}",
        ran.stdout
    );
    let second = dir.submitted(&arguments);
    let rows: Vec<(&Value, &Value)> =
        second["manifest"].as_array().unwrap().iter().map(|row| (&row["status"], &row["linked_to"])).collect();
    assert_eq!(rows, [(&json!("completed"), done), (&json!("held"), &Value::Null)]);
    // Without the wish, and for a task that says more, all is done anew.
    assert_eq!(dir.submitted(&["./task.md", "--documents", "more", "--each"])["linked"], 0);
    let task = std::fs::read_to_string(dir.path().join("task.md")).unwrap();
    dir.put("task.md", task + "\nIn verse.\n");
    assert_eq!(dir.submitted(&["./task.md", "--documents", "more", "--each", "--dedupe"])["linked"], 0);
}

#[test]
fn what_is_attached_to_a_mail_comes_with_it() {
    let dir = TestDir::new();
    let part = "--b\r\nContent-Type: text/plain\r\n";
    let attached = "Content-Disposition: attachment; filename=\"x.txt\"\r\n";
    let mail = format!(
        "From: a@example.org\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
         {part}\r\nSee the list.\r\n{part}{attached}\r\nThe pump must stop.\r\n--b--\r\n"
    );
    dir.put("mails/m.eml", mail);
    dir.put("mails/n.md", "# N\n\nOther.\n");
    let submitted = dir.submitted(&["./task.md", "--documents", "mails", "--each", "--glob", "m.eml"]);
    let documents: Vec<&Value> = submitted["manifest"].as_array().unwrap().iter().map(|row| &row["document"]).collect();
    assert_eq!(documents, ["m.eml", "m.eml.attachments/x.txt"]);
}

#[test]
fn another_schema_is_another_demand() {
    let dir = TestDir::new();
    let task =
        "---\nname: task\ndescription: x\ndeliverables: [{ path: output/x.json, schema: x.schema.json }]\n---\nDo.\n";
    dir.put("task.md", task);
    dir.put("x.schema.json", r#"{"type": "object"}"#);
    let hash = || dir.submitted(&["./task.md", "--documents", "docs"])["instructions_sha256"].clone();
    let first = hash();
    assert_eq!(hash(), first);
    dir.put("x.schema.json", r#"{"type": "array"}"#);
    assert_ne!(hash(), first);
    // A task alone is what it says.
    dir.put("plain.md", "---\nname: plain\ndescription: x\ndeliverables: [{ path: output/x.md }]\n---\nDo.\n");
    let shown = dir.submitted(&["./plain.md", "--documents", "docs"]);
    assert_eq!(text(&shown["instructions_sha256"]), sha256(&std::fs::read(dir.path().join("plain.md")).unwrap()));
}

#[test]
fn names_are_chosen_by_patterns() {
    let dir = TestDir::new();
    for name in ["docs/in/x.md", "docs/in/deep/y.MD", "docs/in/z.txt", "docs/[odd].txt"] {
        dir.put(name, "Text.\n");
    }
    dir.put("docs/in/scan.pdf", "%PDF-1.7");
    let chosen = |patterns: &[&str]| -> Vec<String> {
        let shown =
            dir.submitted(&[&["./task.md", "--documents", "docs", "--each", "--dry-run", "--glob"], patterns].concat());
        assert_eq!(shown["left_out"], json!([]), "{patterns:?}");
        let shown = dir.submitted(&[&["./task.md", "--documents", "docs", "--each", "--glob"], patterns].concat());
        shown["manifest"].as_array().unwrap().iter().map(|row| text(&row["document"]).to_owned()).collect()
    };
    assert_eq!(chosen(&["*.md"]), ["a.md", "b.md", "in/x.md"]);
    assert_eq!(chosen(&["*.txt", "a*"]), ["[odd].txt", "a.md", "in/z.txt"]);
    assert_eq!(chosen(&["in/*.{md,txt}"]), ["in/x.md", "in/z.txt"]);
    assert_eq!(chosen(&["in/**/*.MD"]), ["in/deep/y.MD"]);
    assert_eq!(chosen(&["[[]odd].txt", "./b.md"]), ["[odd].txt", "b.md"]);
}

#[test]
fn a_script_is_found_from_any_folder() {
    let dir = TestDir::new();
    dir.script("replies.yaml", &[json!({"text": "Yes."})]);
    let shown = dir.submitted(&["./task.md", "--documents", "docs", "--model", "scripted:replies.yaml"]);
    assert_eq!(text(&shown["model"]), format!("scripted:{}", dir.path().join("replies.yaml").display()));
}

#[test]
fn what_is_wrong_is_said_in_one_sentence_and_nothing_is_written() {
    let dir = TestDir::new();
    dir.put("odd/scan.pdf", "%PDF-1.7");
    dir.put("odd/empty.md", "");
    std::fs::create_dir(dir.path().join("nothing")).unwrap();
    let long = "x".repeat(201);
    let base = ["./task.md", "--documents", "docs"];
    let pdf = "can't be read as PDF, because it is cut off before its table of objects: open it in its own program and save it again, or leave it out";
    for (arguments, sentence) in [
        (&["--trial", "1"][..], "--trial needs --each: without it there is one job, which can't be tried in part"),
        (&["--each", "--trial", "0"], "--trial must be a whole number of at least 1, not '0'"),
        (&["--priority", "101"], "--priority must be a whole number from -100 to 100, not '101'"),
        (&["--priority", "-2147483648"], "--priority must be a whole number from -100 to 100, not '-2147483648'"),
        (&["--priority", "high"], "--priority must be a whole number from -100 to 100, not 'high'"),
        (&["--max-attempts", "0"], "--max-attempts must be a whole number of at least 1, not '0'"),
        (&["--budget-usd", "0"], "--budget-usd must be an amount of more than 0 USD, such as 20 or 7.50, not '0'"),
        (&["--budget-usd", "-1"], "--budget-usd must be an amount of more than 0 USD, such as 20 or 7.50, not '-1'"),
        (&["--budget-usd", "inf"], "--budget-usd must be an amount of more than 0 USD, such as 20 or 7.50, not 'inf'"),
        (&["--group", "a"], "--group needs --group-limit: how many jobs of the group may run at once"),
        (&["--group-limit", "2"], "--group-limit needs --group: the group that it is the limit of"),
        (&["--group", " ", "--group-limit", "2"], "--group must be one line of 1 to 200 letters, not ' '"),
        (&["--group", "a", "--group-limit", "0"], "--group-limit must be a whole number of at least 1, not '0'"),
        (&["--window", " "], "--window can't be read: the window is empty: write 22:00-06:00 Europe/Berlin, or "),
        (&["--window", "22:00-06:00"], "--window can't be read: the window '22:00-06:00' has no time zone: add one, "),
        (&["--at", "2001-01-01"], "--at '2001-01-01' is over already"),
        (
            &["--at", "soon"],
            "--at 'soon' is not a time; write 22:00, 2h (from now), 2026-11-20, '2026-11-20 22:00' or 2026-11-20T22:00:00Z",
        ),
        (&["--batch", "last"], "--batch 'last' stands for the newest batch: choose another name"),
        (&["--batch", "0193"], "--batch '0193' could be the beginning of an id: put a word to it"),
        (&["--batch", "a\nb"], "--batch 'a b' has a line break or a control character: write it in one line"),
        (&["--batch", &long], "--batch has 201 letters, and 200 are the most"),
        (&["--glob", "*.pdf"], "no document has a name that fits --glob '*.pdf'"),
        (&["--glob", "a[", "b"], "--glob 'a[' is not a pattern: unclosed character class; missing ']'"),
        (&["--turns", "0"], "--turns must be at least 1, not 0"),
        (
            &["--model", "openai:gpt-4o"],
            "OPENAI_API_KEY is not set: set it, or name another variable with --api-key-env",
        ),
        (&["--model", "nobody:x"], "the model 'nobody:x' is not known: use offline, "),
        (&["--then", "nowhere"], "there are no instructions 'nowhere'"),
        (&["--documents", "missing"], "missing doesn't exist: check the path"),
        (&["--models", "missing.yaml"], "missing.yaml can't be used as models file: no such file"),
    ] {
        // Only who calls a model needs its key.
        let wants_key = sentence.starts_with("OPENAI_API_KEY");
        for dry in [&["--dry-run"][..], &[]].into_iter().filter(|dry| dry.is_empty() || !wants_key) {
            let ran = dir.submit(&[&base[..], arguments, dry].concat());
            let start = format!("error: {sentence}");
            assert!(ran.stderr.starts_with(&start), "{arguments:?}: {}", ran.stderr);
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (2, "", 1), "{arguments:?}");
        }
    }
    for (documents, sentence) in [
        ("odd", "there is no document that can be read: odd/empty.md (no text in it (the file has 0 bytes); 1 more)".to_owned()),
        ("odd/scan.pdf", format!("there is no document that can be read: odd/scan.pdf ({pdf})")),
        (
            "nothing",
            "nothing has no documents: hidden files and what .overnightignore names don't count; put files in it, or name them"
                .to_owned(),
        ),
    ] {
        let ran = dir.submit(&["./task.md", "--each", "--documents", documents]);
        assert_eq!((ran.code, ran.stderr), (2, format!("error: {sentence}\n")));
    }
    // The database may have been made; there is no batch in it.
    assert_eq!(wait(async { dir.store().await.batches(1).await.unwrap() }), vec![]);
}

/// A name means the newest batch: who gives it to another one hears of the one that it hides.
#[test]
fn a_second_batch_of_one_name_tells_of_the_first() {
    let dir = TestDir::new();
    let submit = ["extract-requirements", "--documents", "docs", "--each", "--batch", "tri"];
    let first = dir.submitted(&submit);
    let ran = dir.submit(&[&submit[..], &["--json"]].concat());
    assert_eq!(ran.code, 0);
    assert_eq!(
        ran.stderr,
        format!(
            "another batch is called 'tri' and has not ended: that name means the new one now, so call the other {}\n",
            text(&first["batch"])
        )
    );
}

/// A script that tries again after an error would queue everything twice.
#[test]
fn a_batch_whose_summary_can_not_be_written_is_queued_all_the_same() {
    let dir = TestDir::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(crate::cli_run::PROGRAM)
        .current_dir(dir.path())
        .env_clear()
        .args(["submit", "extract-requirements", "--documents", "docs", "--batch", "tri"])
        .stdout(full)
        .output()
        .unwrap();
    let (batch, _) = dir.last();
    let said = String::from_utf8(output.stderr).unwrap();
    let begins = format!("error: batch {} is in the queue, don't submit it again; but ", batch.id);
    assert!(output.status.code() == Some(1) && said.starts_with(&begins), "{said}");
}
