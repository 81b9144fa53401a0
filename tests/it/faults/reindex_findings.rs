//! What else `overnight reindex` finds: rows behind or ahead, broken journals, copies, strange folders, remains of a crash, running jobs.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    script,
    test_dir::{RUN, Ran, Rows, TestDir, id, rows, tree},
};
use crate::support::{copy, wait};
use overnight::store::connect;
use overnight_core::job::id::JobId;
use serde_json::json;

/// A held job, made by the program.
pub(super) fn held(dir: &TestDir) -> JobId {
    let (code, result) = dir.json(&[&RUN[..], &["--turns", "4", "--quiet"]].concat());
    assert_eq!(code, 4);
    result["id"].as_str().unwrap().parse().unwrap()
}

const FILES: [&str; 2] = ["overnight.db", "overnight.db-wal"];

/// The database as it lies there, while nobody writes to it.
fn database(dir: &TestDir) -> [Option<Vec<u8>>; 2] {
    FILES.map(|file| std::fs::read(dir.workspaces().join(file)).ok())
}

/// Puts a database in place of the one that is there, as new files: this process may still have the old ones open.
fn put_database(dir: &TestDir, database: [Option<Vec<u8>>; 2]) {
    for file in [&FILES[..], &["overnight.db-shm"]].concat() {
        let _ = std::fs::remove_file(dir.workspaces().join(file));
    }
    for (file, content) in FILES.iter().zip(database) {
        if let Some(content) = content {
            dir.put(format!("workspaces/{file}"), content);
        }
    }
}

/// The rows of a job, from a copy: a connection of this process to the database itself would still be closing, and take
/// files away, while the test puts others there.
fn rows_now(dir: &TestDir, job: JobId) -> Rows {
    let folder = tempfile::tempdir().unwrap();
    for (file, content) in FILES.iter().zip(database(dir)) {
        if let Some(content) = content {
            std::fs::write(folder.path().join(file), content).unwrap();
        }
    }
    let url = format!("sqlite://{}", folder.path().join(FILES[0]).display());
    wait(async { rows(&*connect(&url).await.unwrap(), job).await.unwrap() })
}

#[test]
fn an_empty_folder_and_a_missing_one() {
    let dir = TestDir::new();
    let ran = dir.run(&["reindex"]);
    let stderr = "error: there is no workspaces folder at workspaces: name it with --workspaces\n".to_owned();
    assert_eq!(ran, Ran { code: 2, stdout: String::new(), stderr });
    assert!(!dir.workspaces().exists());
    std::fs::create_dir(dir.workspaces()).unwrap();
    assert_eq!(dir.run(&["reindex"]), Ran { code: 0, stdout: "0 jobs\n".to_owned(), stderr: String::new() });
}

#[test]
fn strange_things_are_passed_over_and_what_is_wrong_is_named() {
    let dir = TestDir::new();
    let [good, broken, empty, wrong] = [(); 4].map(|()| held(&dir));
    let path = |id: JobId| dir.workspace(id);
    // One byte of one line; no journal at all; another job's workspace.
    let journal = format!("workspaces/{broken}/archive/phase-00-bootstrap/journal.jsonl");
    let lines = dir.read(&journal);
    let line = lines.lines().position(|line| line.contains("two documents")).unwrap() + 1;
    dir.put(&journal, lines.replacen("two documents", "ten documents", 1));
    for file in ["journal.jsonl", "archive/phase-00-bootstrap/journal.jsonl"] {
        std::fs::remove_file(path(empty).join(file)).unwrap();
    }
    std::fs::remove_dir_all(path(wrong)).unwrap();
    copy(&path(good), &path(wrong));
    // A copy under a name of its own; folders and files of somebody else.
    copy(&path(good), &dir.workspaces().join("before-the-weekend"));
    dir.put("workspaces/notes.txt", "remember");
    dir.put("workspaces/photos/a.jpg", "a");
    std::fs::create_dir(path("01a20072-0000-7000-8000-000000000000".parse().unwrap())).unwrap();
    std::fs::remove_file(dir.workspaces().join("overnight.db")).unwrap();
    let before = tree(&dir.workspaces());

    let ran = dir.run(&["reindex"]);
    let parts = "4 jobs: 1 restored (1 held (limit)), 3 broken\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (1, parts), "{ran:?}");
    let said: Vec<&str> = ran.stderr.lines().collect();
    let at =
        format!("error: job {broken}: the journal is broken at archive/phase-00-bootstrap/journal.jsonl line {line}: ");
    assert!(said[0].starts_with(&at), "{said:#?}");
    assert!(said[1].starts_with(&format!("error: job {empty}: the journal is broken at ")), "{said:#?}");
    assert_eq!(
        said[2],
        format!("error: job {wrong}: it holds job {good}: put the right workspace there, or rename this one")
    );
    let copied = dir.workspaces().join("before-the-weekend");
    assert_eq!(
        said[3..],
        [format!("left out: {}: it holds job {good}; give it that name if it is not a copy", copied.display())]
    );
    // Nothing but the database was touched.
    assert_eq!(tree(&dir.workspaces()), before);

    let (code, result) = dir.json(&["reindex"]);
    let outcomes: Vec<&str> =
        result["jobs"].as_array().unwrap().iter().map(|job| job["outcome"].as_str().unwrap()).collect();
    assert_eq!((code, outcomes), (1, vec!["unchanged", "broken", "broken", "broken"]));
}

#[test]
fn a_row_that_lags_is_brought_up_and_one_that_is_ahead_is_not_overwritten() {
    let dir = TestDir::new();
    let job = held(&dir);
    // The database of yesterday: what the job did since is in its workspace only.
    let yesterday = database(&dir);
    let workspace = dir.path("workspace of yesterday");
    copy(&dir.workspace(job), &workspace);
    assert_eq!(dir.run(&["resume", "last", "--turns", "7", "-q"]).code, 4);
    let today = database(&dir);
    let expected = rows_now(&dir, job);
    put_database(&dir, yesterday);
    let ran = dir.run(&["reindex"]);
    let stdout = "1 job: 1 updated (1 held (limit))\n".to_owned();
    assert_eq!(ran, Ran { code: 0, stdout, stderr: String::new() });
    let mut found = rows_now(&dir, job);
    assert_eq!((expected.job.lease, found.job.lease), (2, 2));
    found.job.lease = expected.job.lease;
    assert_eq!(found, expected);

    // And the other way round.
    put_database(&dir, today);
    std::fs::remove_dir_all(dir.workspace(job)).unwrap();
    copy(&workspace, &dir.workspace(job));
    let ran = dir.run(&["reindex"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "1 job: 1 ahead (1 held (limit))\n"));
    let (lines, seq) =
        (dir.read(format!("workspaces/{job}/journal.jsonl")).lines().count(), expected.job.state.journal_seq);
    assert!(
        ran.stderr.starts_with(&format!("error: job {job}: journal.jsonl line "))
            && ran.stderr.contains(&format!("the database saw line {seq} of the chain"))
            && ran.stderr.lines().count() == 1,
        "{lines} lines: {ran:?}"
    );
    assert_eq!(rows_now(&dir, job), expected);
}

#[test]
fn rows_that_were_meddled_with_say_again_what_the_workspace_says() {
    let dir = TestDir::new();
    let job = held(&dir);
    let expected = wait(async { rows(&*dir.store().await, job).await.unwrap() });
    let meddle = |sql: &'static str| {
        wait(async {
            use sqlx::Connection;
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(dir.workspaces().join("overnight.db"));
            let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        });
    };
    for sql in [
        "delete from todos where phase = 1",
        "delete from phases",
        "update todos set status = 'completed'",
        "update jobs set turns = 99",
        "update jobs set status = 'completed', hold_reason = null",
        "update jobs set workspace = '/elsewhere'",
    ] {
        meddle(sql);
        let (code, result) = dir.json(&["reindex"]);
        assert_eq!((code, &result["updated"]), (0, &json!(1)), "{sql}");
        let mut found = wait(async { rows(&*dir.store().await, job).await.unwrap() });
        assert!(found.job.lease > expected.job.lease);
        found.job.lease = expected.job.lease;
        assert_eq!(found, expected, "{sql}");
    }
}

#[test]
fn a_job_at_work_is_left_to_its_process() {
    let dir = TestDir::new();
    dir.put("task.md", script::task(script::ENDLESS));
    dir.script(&script::dawdling(1_000_000));
    let mut child = dir.working(&RUN);
    let job = std::fs::read_dir(dir.workspaces())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir())
        .map(|path| id(&path))
        .unwrap();
    // It does more than its row says: the bootstrap, whose end is written to the row, has at most 15 turns, and the todo behind it
    // has no end.
    let log = dir.workspace(job).join("notes/log.md");
    while std::fs::read_to_string(&log).unwrap_or_default().lines().count() < 40 {
        std::thread::yield_now();
    }
    // With its row, and with a new database that has none.
    for other in [None, Some("sqlite://other.db")] {
        let mut words = vec!["reindex"];
        words.extend(other.iter().flat_map(|url| ["--database-url", url]));
        let ran = dir.run(&words);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "1 job: 1 busy (1 running)\n"), "{ran:?}");
        let said = format!("left alone: job {job} is being worked on by process {} on ", child.id());
        assert!(ran.stderr.starts_with(&said) && ran.stderr.lines().count() == 1, "{ran:?}");
    }
    assert_eq!(dir.run(&["cancel", "last"]).code, 0);
    assert_eq!(child.wait().unwrap().code(), Some(5), "it kept its lease");
    let ran = dir.run(&["reindex", "--database-url", "sqlite://other.db"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "1 job: 1 restored (1 cancelled)\n"));
}

#[test]
fn what_a_crash_left_unfinished_is_swept_unless_somebody_holds_it() {
    let dir = TestDir::new();
    let good = held(&dir);
    let fresh = uuid::Uuid::now_v7().simple().to_string();
    // Long ago, by the time in their names.
    let names = [
        ".overnight-tmp-018f0000000070008000000000000001",
        ".overnight-tmp-018f0000000070008000000000000002",
        ".overnight-tmp-018f0000000070008000000000000003",
        ".overnight-tmp-mine",
        &format!(".overnight-tmp-{fresh}"),
    ];
    for name in names {
        dir.put(format!("workspaces/{name}/documents/a.md"), "half");
    }
    dir.put(format!("workspaces/{}/.lock", names[1]), "");
    let lock = std::fs::File::create(dir.workspaces().join(names[2]).join(".lock")).unwrap();
    lock.lock().unwrap();
    let ran = dir.run(&["reindex"]);
    let stdout = "1 job: 1 unchanged (1 held (limit)); 2 unfinished swept\n".to_owned();
    assert_eq!(ran, Ran { code: 0, stdout, stderr: String::new() });
    let mut left: Vec<String> = std::fs::read_dir(dir.workspaces())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with("overnight.db"))
        .collect();
    left.sort();
    let mut expected = vec![names[2].to_owned(), names[3].to_owned(), names[4].to_owned(), good.to_string()];
    expected.sort();
    assert_eq!(left, expected);
    drop(lock);
    // A run sweeps as well.
    assert_eq!(dir.run(&[&RUN[..], &["-q"]].concat()).code, 0);
    assert!(!dir.workspaces().join(names[2]).exists());
}
