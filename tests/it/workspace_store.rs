//! Workspaces in an object store: workers with separate folders, one of which is killed, and the other goes on. Against a
//! folder and against a server that speaks S3's protocol (`workspace_store/bucket.rs`).

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod bucket;
mod delivered;
mod gate;
mod gc;
mod lost;
mod pruned;

use crate::{
    cli_run::{PROGRAM, Ran, TestDir},
    store::Place,
    support::{files, wait},
};
use bucket::Bucket;
use gate::Gate;
use overnight::{store::QueueEntry, workspace_store::ManifestKey};
use overnight_core::job::{id::JobId, record::JobStatus};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{LazyLock, atomic::Ordering},
    time::Duration,
};

const DOCUMENTS: [(&str, &str); 3] = [
    ("docs/a.md", "# A\n\nThe server MUST answer within 2 s.\n\n## More\n\nIt SHOULD be polite.\n"),
    ("docs/b.md", "# B\n\nA client SHOULD wait. It MUST NOT shout.\n"),
    ("docs/c.md", "# C\n\nThe door SHALL be shut at night.\n"),
];

/// What a night that nobody disturbs delivers, by job.
static UNDISTURBED: LazyLock<BTreeMap<String, BTreeMap<String, Vec<u8>>>> = LazyLock::new(|| {
    let night = Night::in_a_folder();
    night.work("alone");
    let entries = night.entries().into_iter();
    entries.map(|(label, (entry, _))| (label, files(&Path::new(&entry.workspace).join("output")))).collect()
});

/// Two workers' folders, a database and a store.
struct Night {
    dir: TestDir,
    place: Place,
    bucket: Option<Bucket>,
    address: String,
}

impl Night {
    fn with(place: Place, dir: TestDir, bucket: Option<Bucket>, address: String) -> Self {
        for (path, text) in DOCUMENTS {
            dir.put(path, text);
        }
        let night = Self { dir, place, bucket, address };
        let submitted =
            night.run(&["submit", "extract-requirements", "--documents", "docs", "--each", "--batch", "night"]);
        assert_eq!(submitted.code, 0, "{}", submitted.stderr);
        night
    }

    fn in_a_folder() -> Self {
        Self::in_a_folder_with(Place::sqlite())
    }

    fn in_a_folder_with(place: Place) -> Self {
        let dir = TestDir::new();
        let address = format!("file://{}/store", dir.path().display());
        Self::with(place, dir, None, address)
    }

    fn in_a_bucket() -> Self {
        Self::with(Place::sqlite(), TestDir::new(), Some(Bucket::start()), "s3://nights/some/place".to_owned())
    }

    fn variables<'v>(&'v self, more: &[(&'v str, &'v str)]) -> Vec<(&'v str, &'v str)> {
        let mut variables = self.bucket.as_ref().map(Bucket::variables).unwrap_or_default();
        variables.push(("OVERNIGHT_DATABASE_URL", &self.place.url));
        variables.extend(more);
        variables
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.dir.run_with(&self.variables(&[]), arguments)
    }

    /// Runs a command that works with the store, with `--json`.
    fn told(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--workspace-store", &self.address, "--json"]].concat());
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    }

    fn worker<'a>(&'a self, folder: &'a str) -> Vec<&'a str> {
        let place = ["--workspace-store", self.address.as_str(), "--workspaces", folder];
        [&["work", "--until-empty", "--concurrency", "1", "--json", "--quiet"], &place[..]].concat()
    }

    /// Works until nothing is left: the summary.
    fn work(&self, folder: &str) -> Value {
        let ran = self.run(&self.worker(folder));
        let summary: Value = serde_json::from_str(&ran.stdout).unwrap();
        let code = if summary["held"] == json!({}) { 0 } else { 4 };
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""));
        summary
    }

    /// A worker that dies at a place of the program.
    fn die(&self, folder: &str, points: &str) {
        let ran = self.dir.run_with(&self.variables(&[("FAILPOINTS", points)]), &self.worker(folder));
        assert_eq!((ran.code, ran.stdout.as_str()), (-1, ""), "{points}: {}", ran.stderr);
    }

    fn start(&self, folder: &str, points: &str) -> Child {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.dir.path()).env_clear().envs(self.variables(&[("FAILPOINTS", points)]));
        command.args(self.worker(folder)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// A worker that has put workspaces into the store three times, and stands at the gate on its way to the fourth.
    fn stands_before_its_fourth_upload(&self, gate: &Gate) -> Child {
        let list = self.dir.path().join("pointed");
        let points = format!(
            "workspace_store.pointed=return({});workspace_store.blocks=3*off->1*{}",
            list.display(),
            gate.action()
        );
        let worker = self.start("first", &points);
        for _ in 0..1200 {
            if std::fs::read_to_string(&list).unwrap_or_default().lines().count() == 3 {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        worker
    }

    fn sql(&self, sql: &'static str) {
        wait(self.place.sql(sql));
    }

    /// What a sweep does when the lease has run out, without the wait.
    fn take_away(&self) {
        self.sql("update jobs set status = 'queued', lease = lease + 1, worker = null, lease_until = null where status = 'running'");
    }

    /// The jobs by label, each with the manifest that the database points to.
    fn entries(&self) -> BTreeMap<String, (QueueEntry, Option<ManifestKey>)> {
        wait(async {
            let store = self.place.store().await;
            let batch = store.batch("night").await.unwrap().batch.id;
            let mut keys: BTreeMap<JobId, Option<String>> = store.manifests().await.unwrap().into_iter().collect();
            let entries = store.batch_entries(batch).await.unwrap();
            entries
                .into_iter()
                .map(|entry| {
                    let key = keys.remove(&entry.job.id).unwrap().map(|key| ManifestKey::parse(&key).unwrap());
                    (entry.job.label.clone(), (entry, key))
                })
                .collect()
        })
    }

    fn running(&self) -> Option<(JobId, Option<ManifestKey>)> {
        let mut running = self.entries().into_values().filter(|(entry, _)| entry.status == JobStatus::Running);
        running.next().map(|(entry, key)| (entry.job.id, key))
    }

    /// Everything in the store by name.
    fn stored(&self) -> BTreeSet<String> {
        match &self.bucket {
            Some(bucket) => {
                let objects = bucket.objects.lock().unwrap();
                objects.keys().map(|key| key.strip_prefix("some/place/").unwrap().to_owned()).collect()
            }
            None => files(&self.dir.path().join("store")).into_keys().collect(),
        }
    }

    /// The jobs have ended once each, with the deliverables of a night that nobody disturbed, and an unbroken record.
    fn is_as_undisturbed(&self) {
        let entries = self.entries();
        assert_eq!(entries.keys().collect::<Vec<_>>(), UNDISTURBED.keys().collect::<Vec<_>>());
        for (label, (entry, key)) in entries {
            assert_eq!((entry.status, entry.host), (JobStatus::Completed, None), "{label}");
            assert!(key.is_some(), "{label}");
            assert_eq!(files(&Path::new(&entry.workspace).join("output")), UNDISTURBED[&label], "{label}");
            let verified = self.run(&["audit", "verify", &entry.workspace]);
            assert_eq!(verified.code, 0, "{label}: {}{}", verified.stdout, verified.stderr);
            // What the store has of it in the end is all of it.
            let id = entry.job.id.to_string();
            self.told(&["fetch", &id, "--into", &format!("fetched/{id}")]);
            let mut worked = files(Path::new(&entry.workspace));
            let mut fetched = files(&self.dir.path().join("fetched").join(&id));
            worked.remove(".lock");
            fetched.remove(".lock");
            assert!(worked == fetched, "{label}: {:?} and {:?}", worked.keys(), fetched.keys());
        }
    }
}

/// Number and lease of each line of the journal.
fn lines(workspace: &Path) -> BTreeMap<u64, u64> {
    files(workspace)
        .into_iter()
        .filter(|(name, _)| name.ends_with("journal.jsonl"))
        .flat_map(|(_, text)| {
            let lines: Vec<Value> = text
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(|line| serde_json::from_slice(line).unwrap())
                .collect();
            lines
        })
        .map(|line| (line["seq"].as_u64().unwrap(), line["lease"].as_u64().unwrap()))
        .collect()
}

/// Killed anywhere on the way of a checkpoint, a worker's jobs are finished by another, in a folder of its own, from the
/// last checkpoint.
fn killed_and_taken_over(night: &dyn Fn() -> Night, points: &[&str]) {
    for points in points {
        let night = night();
        night.die("first", points);
        let (id, key) = night.running().unwrap();
        night.take_away();
        let summary = night.work("second");
        assert_eq!(summary["lost"], 0, "{points}: {summary}");
        let second = night.dir.path().join("second").join(id.to_string());
        if let Some(key) = key {
            let lines = lines(&second);
            let begun = lines.iter().find(|(_, lease)| **lease > 1).map(|(seq, _)| *seq);
            assert_eq!(begun, Some(key.seq + 1), "{points}: goes on after the line that the store has");
            assert_eq!(lines.keys().copied().collect::<Vec<_>>(), (1..=lines.len() as u64).collect::<Vec<_>>());
        }
        night.is_as_undisturbed();
    }
}

#[test]
fn another_worker_goes_on_from_a_folder() {
    killed_and_taken_over(
        &Night::in_a_folder,
        &[
            "workspace_store.blocks=return",
            "workspace_store.manifest=2*off->return",
            "workspace_store.pointed=3*off->return",
            "checkpoint.done=7*off->return",
            "journal.append.half=30*off->return",
        ],
    );
}

#[test]
fn another_worker_goes_on_with_the_other_database() {
    let night = || Night::in_a_folder_with(wait(Place::postgres()));
    killed_and_taken_over(&night, &["workspace_store.manifest=3*off->return", "checkpoint.done=6*off->return"]);
}

#[test]
fn a_zombie_leaves_nothing_that_counts_with_the_other_database() {
    a_zombie_leaves_nothing_that_counts(&Night::in_a_folder_with(wait(Place::postgres())));
}

#[test]
fn another_worker_goes_on_from_a_bucket() {
    killed_and_taken_over(
        &Night::in_a_bucket,
        &["workspace_store.blocks=6*off->return", "workspace_store.pointed=9*off->return"],
    );
}

/// Who comes back to find that others went on, keeps what it has aside and goes on from theirs.
#[test]
fn a_left_behind_workspace_is_moved_aside() {
    let night = Night::in_a_folder();
    night.die("first", "workspace_store.pointed=3*off->return");
    let (id, _) = night.running().unwrap();
    night.take_away();
    night.die("second", "workspace_store.pointed=3*off->return");
    assert_eq!(night.running().unwrap().0, id);
    night.take_away();
    night.work("first");
    let aside = std::fs::read_dir(night.dir.path().join("first/earlier-tries")).unwrap().count();
    assert_eq!(aside, 1);
    night.is_as_undisturbed();
    // Who comes back and is not behind goes on with what it has.
    let night = Night::in_a_folder();
    night.die("first", "checkpoint.done=5*off->return");
    night.take_away();
    night.work("first");
    assert!(!night.dir.path().join("first/earlier-tries").exists());
    night.is_as_undisturbed();
}

/// A worker that stands still past its lease can only leave what nobody points to, and gc takes just that.
fn a_zombie_leaves_nothing_that_counts(night: &Night) {
    let gate = Gate::new(night.dir.path());
    let mut zombie = night.stands_before_its_fourth_upload(&gate);
    let (id, key) = night.running().unwrap();
    night.take_away();
    night.work("second");
    let key = key.unwrap();
    let (_, pointed) = night.entries().into_values().find(|(entry, _)| entry.job.id == id).unwrap();
    let pointed = pointed.unwrap();
    assert!(pointed.seq > key.seq);
    gate.open();
    let woken = output(&mut zombie);
    let summary: Value = serde_json::from_slice(&woken).unwrap();
    assert_eq!(summary["lost"], 1, "{summary}");
    let (_, now) = night.entries().into_values().find(|(entry, _)| entry.job.id == id).unwrap();
    assert_eq!(now.as_ref(), Some(&pointed));
    let its: Vec<String> =
        night.stored().into_iter().filter(|name| name.starts_with(&format!("manifests/{id}/1-"))).collect();
    let late: Vec<&String> = its.iter().filter(|name| ManifestKey::parse(name).unwrap().seq > key.seq).collect();
    assert_eq!(late.len(), 1, "{its:?}");

    let all = night.stored();
    let would = night.told(&["gc", "--grace", "0s", "--dry-run"]);
    assert_eq!(night.stored(), all);
    let young = night.told(&["gc"]);
    if night.bucket.is_none() {
        assert_eq!((&young["blocks"], &young["manifests"]), (&json!(0), &json!(0)));
        let mut did = night.told(&["gc", "--grace", "0s"]);
        did["dry_run"] = json!(true);
        assert_eq!(did, would);
    }
    let left = night.stored();
    assert!(!left.contains(late[0]));
    let kept: BTreeSet<String> = night.entries().into_values().map(|(_, key)| key.unwrap().to_string()).collect();
    assert_eq!(left.iter().filter(|name| name.starts_with("manifests/")).cloned().collect::<BTreeSet<_>>(), kept);
    assert_eq!(night.told(&["gc", "--grace", "0s"])["blocks"], 0);
    night.is_as_undisturbed();
}

/// What a worker printed until its end.
fn output(worker: &mut Child) -> Vec<u8> {
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut worker.stdout.take().unwrap(), &mut text).unwrap();
    worker.wait().unwrap();
    text
}

#[test]
fn a_zombie_leaves_nothing_that_counts_in_a_folder() {
    a_zombie_leaves_nothing_that_counts(&Night::in_a_folder());
}

#[test]
fn a_zombie_leaves_nothing_that_counts_in_a_bucket() {
    a_zombie_leaves_nothing_that_counts(&Night::in_a_bucket());
}

/// A damaged block is refused by its name, and the job waits for a person; nothing half restored is left.
#[test]
fn a_damaged_block_is_refused() {
    let night = Night::in_a_folder();
    night.die("first", "workspace_store.pointed=3*off->return");
    let (id, key) = night.running().unwrap();
    let store = night.dir.path().join("store");
    let manifest: Value = serde_json::from_slice(&std::fs::read(store.join(key.unwrap().as_str())).unwrap()).unwrap();
    let hash = manifest["files"]["instructions.md"][0]["sha256"].as_str().unwrap();
    let name = format!("objects/{}/{hash}", &hash[..2]);
    let mut block = std::fs::read(store.join(&name)).unwrap();
    block[0] ^= 1;
    std::fs::write(store.join(&name), &block).unwrap();
    night.take_away();
    let summary = night.work("second");
    assert_eq!((&summary["held"], &summary["ended"]), (&json!({"paused": 1}), &json!({"completed": 2})), "{summary}");
    let (entry, _) = night.entries().into_values().find(|(entry, _)| entry.job.id == id).unwrap();
    let expected =
        format!("{name} in the workspace store {} is damaged: its hash is not the one in its name", night.address);
    assert_eq!((entry.status, entry.reason), (JobStatus::Held, Some(expected)));
    let left: Vec<PathBuf> = std::fs::read_dir(night.dir.path().join("second"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.ends_with(id.to_string()) || path.to_string_lossy().contains(".overnight-tmp-"))
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new());
    // Mended, it goes on.
    block[0] ^= 1;
    std::fs::write(store.join(&name), &block).unwrap();
    assert_eq!(night.run(&["resume", "night"]).code, 0);
    night.work("second");
    night.is_as_undisturbed();
}

/// A worker that has no store can't go on with what lies in one: it leaves that to those that have it.
#[test]
fn a_worker_without_the_store_leaves_its_jobs_alone() {
    let night = Night::in_a_folder();
    night.die("first", "workspace_store.pointed=3*off->return");
    let (id, _) = night.running().unwrap();
    night.take_away();
    let lease = || night.entries().into_values().find(|(entry, _)| entry.job.id == id).unwrap().0.lease;
    let before = lease();
    let ran = night.run(&["work", "--until-empty", "--quiet", "--workspaces", "second"]);
    assert_eq!((ran.code, lease()), (0, before), "{}", ran.stderr);
    night.work("third");
    for (label, (entry, _)) in night.entries() {
        assert_eq!(files(&Path::new(&entry.workspace).join("output")), UNDISTURBED[&label], "{label}");
    }
}

/// While the store doesn't answer, jobs go on, and none is said to have ended before the store has it.
#[test]
fn no_end_is_told_before_the_store_has_it() {
    let night = Night::in_a_bucket();
    let bucket = night.bucket.as_ref().unwrap();
    bucket.is_busy.store(true, Ordering::SeqCst);
    let mut worker = night.start("first", "");
    let mut held = None;
    for _ in 0..1200 {
        held = night.entries().into_values().map(|(entry, _)| entry).find(|entry| entry.status == JobStatus::Held);
        if held.is_some() {
            break;
        }
        assert!(night.entries().values().all(|(entry, key)| !entry.status.is_end() && key.is_none()));
        std::thread::sleep(Duration::from_millis(100));
    }
    let held = held.unwrap();
    let reason = held.reason.unwrap();
    assert!(reason.starts_with("the workspace store s3://nights/some/place doesn't answer: "), "{reason}");
    assert!(!reason.contains("planted"), "{reason}");
    assert!(held.job.run_after.is_some(), "it goes on by itself");
    bucket.is_busy.store(false, Ordering::SeqCst);
    night.sql("update jobs set run_after = '2020-01-01T00:00:00.000Z' where status = 'held'");
    let summary: Value = serde_json::from_slice(&output(&mut worker)).unwrap();
    assert_eq!(summary["ended"], json!({"completed": 3}), "{summary}");
    night.is_as_undisturbed();
}

/// Old workspaces give their room back, and can still be shown; nothing that has not ended is touched.
#[test]
fn old_workspaces_are_pruned() {
    let night = Night::in_a_folder();
    night.die("first", "checkpoint.done=30*off->return");
    let unended: Vec<JobId> = night
        .entries()
        .into_values()
        .filter(|(entry, _)| !entry.status.is_end())
        .map(|(entry, _)| entry.job.id)
        .collect();
    let ended: Vec<(JobId, String)> = night
        .entries()
        .into_values()
        .filter(|(entry, _)| entry.status.is_end())
        .map(|(entry, _)| (entry.job.id, entry.workspace))
        .collect();
    assert!(!ended.is_empty() && !unended.is_empty());
    let before = files(&night.dir.path().join("first"));
    let pruned = |arguments: &[&str]| {
        let ran = night.run(&[&["prune", "--json"], arguments].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        serde_json::from_str::<Value>(&ran.stdout).unwrap()
    };
    assert_eq!(pruned(&["--older-than", "90d"]), json!({"dry_run": false, "jobs": [], "bytes": 0, "left": 0}));
    let mut would = pruned(&["--older-than", "0s", "--dry-run"]);
    assert_eq!(files(&night.dir.path().join("first")), before);
    let did = pruned(&["--older-than", "0s", "--yes"]);
    would["dry_run"] = json!(false);
    assert_eq!(did, would);
    let after = files(&night.dir.path().join("first"));
    let gone: BTreeMap<&String, &Vec<u8>> = before.iter().filter(|(name, _)| !after.contains_key(*name)).collect();
    assert_eq!(did["bytes"], gone.values().map(|content| content.len()).sum::<usize>());
    let is_record = |name: &str| name.ends_with("/pruned.json");
    assert!(after.iter().all(|(name, content)| is_record(name) || before[name] == *content));
    for name in gone.keys() {
        let (job, rest) = name.split_once('/').unwrap();
        assert!(ended.iter().any(|(id, _)| id.to_string() == job), "{name}");
        assert!(
            !["output", "archive", "job.yaml", "journal.jsonl"].contains(&rest.split('/').next().unwrap()),
            "{name}"
        );
    }
    for (id, workspace) in &ended {
        assert!(!Path::new(workspace).join("documents").exists());
        assert_eq!(night.run(&["show", &id.to_string()]).code, 0);
    }
    assert_eq!(pruned(&["--older-than", "0s"])["jobs"], json!([]));
    pruned(&["--older-than", "0s", "--archives", "--yes"]);
    for (_, workspace) in &ended {
        let mut left: Vec<_> = std::fs::read_dir(workspace)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [".lock", "job.yaml", "output", "pruned.json"]);
    }
}
