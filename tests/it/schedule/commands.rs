//! `overnight schedule` as a person uses it.

use super::{Cron, batch_of};
use crate::{
    cli_run::{Ran, TestDir},
    support::wait,
};
use overnight::{
    batch::on_the_wall,
    runner::now,
    store::{self, ScheduleRow, Store},
};
use overnight_core::job::{record::JobStatus, time::Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;

/// Once a year, so that the next run stays the same while a test runs.
const CRON: &str = "30 21 24 12 *";
const ZONE: &str = "Europe/Berlin";

impl TestDir {
    fn schedule(&self, arguments: &[&str]) -> Ran {
        self.run_with(&[], &[&["schedule"], arguments].concat())
    }

    fn add(&self, name: &str, flags: &[&str], words: &[&str]) -> Ran {
        self.schedule(&[&["add", name, CRON, "--timezone", ZONE], flags, &["--"], words].concat())
    }

    fn calendar(&self) -> Arc<dyn Store> {
        let path = self.path().join("workspaces/overnight.db");
        wait(store::connect(&format!("sqlite://{}", path.display()))).unwrap()
    }

    fn rows(&self) -> Vec<ScheduleRow> {
        wait(self.calendar().schedules()).unwrap()
    }
}

fn next() -> Timestamp {
    Cron::read(CRON, ZONE, now()).unwrap().after(now()).unwrap()
}

fn says(stdout: &str) -> Ran {
    Ran { code: 0, stdout: stdout.to_owned(), stderr: String::new() }
}

fn refuses(sentence: &str) -> Ran {
    Ran { code: 2, stdout: String::new(), stderr: format!("error: {sentence}\n") }
}

const WORDS: [&str; 6] = ["extract-requirements", "--documents", "docs", "--each", "--batch", "nightly"];

#[test]
fn a_schedule_is_added_listed_paused_and_removed() {
    let dir = TestDir::new();
    let there = on_the_wall(next(), chrono_tz::Europe::Berlin);
    assert!(there.ends_with("-12-24 21:30 Europe/Berlin"), "{there}");
    assert_eq!(dir.schedule(&["list"]), Ran { stderr: "there is no schedule yet\n".to_owned(), ..says("") });
    assert_eq!(dir.schedule(&["list", "--json"]), says("[]\n"));

    let added = |name: &str| says(&format!("schedule {name} is added; its next run is {there}\n"));
    assert_eq!(dir.add("nightly", &[], &WORDS), added("nightly"));
    let eager = ["--missed", "skip", "--overlap", "allow"];
    assert_eq!(dir.add("eager", &eager, &["./task.md", "--documents", "docs/a.md"]), added("eager"));
    assert_eq!(
        dir.add("nightly", &["--make-up-within", "2d"], &WORDS),
        refuses("there is a schedule nightly already: remove it first, or choose another name")
    );
    assert_eq!(
        dir.schedule(&["list"]).stdout,
        format!(
            "NAME     CRON           NEXT RUN{0}  LAST RUN  LAST BATCH  SUBMITS\n\
             eager    30 21 24 12 *  {there}  –         –           ./task.md --documents docs/a.md\n\
             nightly  30 21 24 12 *  {there}  –         –           extract-requirements --documents docs --each --batch nightly\n",
            " ".repeat(there.len() - "NEXT RUN".len())
        )
    );
    let listed: Value = serde_json::from_str(&dir.schedule(&["list", "--json"]).stdout).unwrap();
    let row = |name: &str, words: &[&str], make_up_ms: u64, may_overlap: bool| {
        let own = listed.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
        json!({
            "id": own["id"], "name": name, "cron": CRON, "timezone": ZONE, "enabled": true, "next_run": next(),
            "next_run_there": there, "last_run": null, "last_batch": null, "note": null, "make_up_ms": make_up_ms,
            "may_overlap": may_overlap, "words": words, "folder": dir.path(), "created": own["created"],
        })
    };
    assert_eq!(
        listed,
        json!([
            row("eager", &["./task.md", "--documents", "docs/a.md"], 0, true),
            row("nightly", &WORDS, 12 * 3_600_000, false),
        ])
    );

    let paused = "schedule nightly is paused; `overnight schedule resume nightly` ends the pause\n";
    assert_eq!(dir.schedule(&["pause", "nightly"]), says(paused));
    assert_eq!(dir.schedule(&["pause", "nightly"]), refuses("schedule nightly is paused already"));
    let shown = dir.schedule(&["list"]).stdout;
    assert!(shown.lines().any(|line| line.starts_with("nightly  30 21 24 12 *  paused  ")), "{shown}");
    let goes_on = format!("schedule nightly goes on; its next run is {there}\n");
    assert_eq!(dir.schedule(&["resume", "nightly"]), says(&goes_on));
    assert_eq!(dir.schedule(&["resume", "nightly"]), refuses("schedule nightly is not paused"));

    assert_eq!(dir.schedule(&["remove", "eager"]), says("schedule eager is removed; its batches stay\n"));
    let unknown = "there is no schedule 'nighly': did you mean nightly?";
    assert_eq!(dir.schedule(&["remove", "nighly"]), refuses(unknown));
    assert_eq!(
        dir.schedule(&["run", "eager"]),
        refuses("there is no schedule 'eager': `overnight schedule list` names them")
    );
    assert_eq!(dir.rows().len(), 1);
}

/// What is wrong is said at once, and nothing is written.
#[test]
fn mistakes_are_told_when_a_schedule_is_added() {
    let dir = TestDir::new();
    let cron = |name: &str, cron: &str, zone: &str| {
        dir.schedule(&[&["add", name, cron, "--timezone", zone, "--"], WORDS.as_slice()].concat())
    };
    let not_a_name = "can't be a schedule's name: it is up to 60 letters, digits, - _ and ., not beginning with -";
    let words = |words: &[&str]| dir.add("x", &[], words);
    let taken = |sentence: &str| format!("`overnight submit` doesn't take these words: {sentence}");
    for (ran, expected) in [
        (
            cron("x", "0 25 * * *", "UTC"),
            "'0 25 * * *' is not a cron expression: its hour is '25', and may be 0-23, * or several with , - and */"
                .to_owned(),
        ),
        (cron("x", "0 22 30 2 *", "UTC"), "'0 22 30 2 *' never comes: no day is like that".to_owned()),
        (
            cron("x", "@daily", "Europe/Berln"),
            "there is no time zone 'Europe/Berln': did you mean Europe/Berlin?".to_owned(),
        ),
        (cron("a b", "@daily", "UTC"), format!("'a b' {not_a_name}")),
        (cron("", "@daily", "UTC"), format!("'' {not_a_name}")),
        (
            dir.add("x", &["--make-up-within", "soon"], &WORDS),
            "--make-up-within is a time from 1m to 30d, such as 12h, not 'soon'".to_owned(),
        ),
        (
            dir.add("x", &["--make-up-within", "31d"], &WORDS),
            "--make-up-within is a time from 1m to 30d, such as 12h, not '31d'".to_owned(),
        ),
        (
            dir.add("x", &["--missed", "skip", "--make-up-within", "1h"], &WORDS),
            "--make-up-within is for --missed once: with skip, nothing is made up for".to_owned(),
        ),
        (words(&["task.md"]), taken("the following required arguments were not provided: --documents <PATH>...")),
        (words(&["task.md", "--documents", "docs", "--speed", "9"]), taken("unexpected argument '--speed' found")),
        (
            words(&["task.md", "--documents", "docs", "--dry-run"]),
            "--dry-run is for a person who waits for the answer: leave it out".to_owned(),
        ),
        (
            words(&["task.md", "--documents", "docs", "--header", "authorization=secret"]),
            "--header may hold a secret, and a schedule is stored: set headers for the workers instead".to_owned(),
        ),
        (
            words(&["task.md", "--documents", "docs", "--window", "22:00-06:00"]),
            "--window can't be read: the window '22:00-06:00' has no time zone: add one, such as 22:00-06:00 Europe/Berlin or \
             22:00-06:00 UTC"
                .to_owned(),
        ),
        (
            words(&["task.md", "--documents", "docs", "--trial", "2"]),
            "--trial needs --each: without it there is one job, which can't be tried in part".to_owned(),
        ),
    ] {
        assert_eq!(ran, refuses(&expected));
    }
    let unknown = words(&["summarise", "--documents", "docs"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""));
    assert!(unknown.stderr.starts_with("error: there are no instructions 'summarise'"), "{}", unknown.stderr);
    assert!(!dir.path().join("workspaces").exists());
}

#[test]
fn a_run_is_a_submission_wherever_it_is_made_from() {
    let dir = TestDir::new();
    let words = ["task.md", "--documents", "docs", "--each", "--batch", "nightly", "--priority", "7"];
    assert_eq!(dir.add("nightly", &[], &words).code, 0);
    // From another folder, in which there is nothing.
    let elsewhere = TestDir::new();
    std::fs::remove_dir_all(elsewhere.path().join("docs")).unwrap();
    std::fs::remove_file(elsewhere.path().join("task.md")).unwrap();
    let url = format!("sqlite://{}/workspaces/overnight.db", dir.path().display());
    let run = |flags: &[&str]| elsewhere.schedule(&[&["run", "nightly", "--database-url", &url], flags].concat());

    let ran = run(&[]);
    let [row] = &dir.rows()[..] else { unreachable!("one schedule") };
    let (at, batch) = (row.last_run.unwrap(), row.last_batch.unwrap());
    assert_eq!(ran, says(&format!("schedule nightly is run: batch {batch} with 2 jobs\n")));
    assert_eq!(batch, batch_of(row.schedule.id, at));
    assert_eq!((row.next_run, row.run, row.note.as_deref()), (Some(next()), None, None));
    let store = dir.calendar();
    let kept = wait(store.batch("nightly")).unwrap().batch;
    assert_eq!((kept.id, kept.instructions.as_str(), kept.model.as_str()), (batch, "task", "offline"));
    let jobs: Vec<(String, Vec<String>, i32, JobStatus)> = wait(store.batch_entries(batch))
        .unwrap()
        .into_iter()
        .map(|entry| (entry.job.label, entry.job.sources, entry.job.priority, entry.status))
        .collect();
    let job = |name: &str| {
        let path = dir.path().join("docs").join(name).display().to_string();
        (name.to_owned(), vec![overnight_documents::source(name, &path, &[], None)], 7, JobStatus::Queued)
    };
    assert_eq!(jobs, [job("a.md"), job("b.md")]);

    // The one before has not ended.
    let second = run(&[]);
    assert_eq!((second.code, second.stdout.as_str()), (2, ""));
    let why = format!("the batch before it, {batch}, still has 2 jobs to do; --force submits it nevertheless\n");
    assert!(second.stderr.starts_with("error: the run of ") && second.stderr.ends_with(&why), "{}", second.stderr);
    assert_eq!(dir.rows()[0].last_batch, Some(batch));
    assert_eq!(run(&["--force"]).code, 0);
    assert_ne!(dir.rows()[0].last_batch, Some(batch));
    assert_eq!(wait(store.batches(9)).unwrap().len(), 2);

    // What is gone is said, and kept for whoever looks in the morning.
    std::fs::remove_dir_all(dir.path().join("docs")).unwrap();
    let gone = run(&["--force"]);
    assert_eq!((gone.code, gone.stdout.as_str()), (2, ""));
    let sentence = gone.stderr.strip_prefix("error: ").unwrap();
    assert!(sentence.contains(dir.path().join("docs").to_str().unwrap()), "{sentence}");
    assert_eq!(dir.rows()[0].note.as_deref(), Some(sentence.trim_end()));
    let shown = dir.schedule(&["list"]).stdout;
    assert!(shown.ends_with(&format!("\nnightly: {sentence}")), "{shown}");
    assert_eq!(wait(store.batches(9)).unwrap().len(), 2);
}

/// A worker that ends when nothing is left first submits what is due.
#[test]
fn what_is_due_is_submitted_before_the_queue_is_called_empty() {
    let dir = TestDir::new();
    let submit = ["extract-requirements", "--documents", "docs", "--model", "offline"];
    assert_eq!(
        dir.schedule(&[&["add", "nightly", "0 * * * *", "--timezone", ZONE, "--"], &submit[..]].concat()).code,
        0
    );
    let [row] = &dir.rows()[..] else { panic!("{:?}", dir.rows()) };
    let planned = Timestamp::new(now().utc() - chrono::TimeDelta::hours(2));
    let store = dir.calendar();
    wait(async {
        assert!(store.pause_schedule(row.schedule.id).await.unwrap());
        assert!(store.resume_schedule(row.schedule.id, planned).await.unwrap());
    });
    let worked = dir.run_with(&[], &["work", "--until-empty"]);
    assert_eq!((worked.code, worked.stdout.as_str()), (0, "1 completed\n"), "{}", worked.stderr);
    let [row] = &dir.rows()[..] else { panic!("{:?}", dir.rows()) };
    assert_eq!((row.last_run.is_some_and(|run| run > planned), row.last_batch.is_some()), (true, true));
}
