//! A job that has ended as one file: what reads it says the same, what changes it unpacks it, and no crash loses anything.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{cli_run::TestDir, commands::tree};
use regex::Regex;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// A batch of two jobs that have ended, the second with a folder in which nothing is.
fn with_ended_jobs() -> (TestDir, Vec<String>) {
    let dir = TestDir::new();
    dir.put("docs/b.md", "# B\n\nA client MUST wait. A client MUST NOT shout.\n");
    let done = |words: &[&str]| {
        let ran = dir.run_with(&[], words);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout
    };
    let submitted =
        done(&["submit", "extract-requirements", "-d", "docs", "--each", "--batch", "night", "--json", "--ids", "-q"]);
    done(&["work", "--until-empty", "-q"]);
    let submitted: Value = serde_json::from_str(&submitted).unwrap();
    let ids = submitted["manifest"].as_array().unwrap().iter().map(|row| row["job"].as_str().unwrap().to_owned());
    let ids: Vec<String> = ids.collect();
    std::fs::create_dir_all(dir.path().join("workspaces").join(&ids[1]).join("output/empty/er")).unwrap();
    (dir, ids)
}

/// The files of the jobs' folders, without their locks, which belong to the machine.
fn jobs(dir: &TestDir) -> BTreeMap<PathBuf, Vec<u8>> {
    let workspaces = dir.path().join("workspaces");
    let is_job = |path: &Path| {
        path.starts_with(&workspaces)
            && !path.ends_with(".lock")
            && path.components().count() > workspaces.components().count()
    };
    let of_database = |path: &Path| path.to_string_lossy().contains("overnight.db");
    let of_cache =
        |path: &Path| path.strip_prefix(&workspaces).is_ok_and(|below| below.to_string_lossy().starts_with('.'));
    tree(dir).into_iter().filter(|(path, _)| is_job(path) && !of_database(path) && !of_cache(path)).collect()
}

/// What all that reads says, without the moment at which it is said.
fn told(dir: &TestDir, ids: &[String]) -> Vec<String> {
    let id = ids[1].as_str();
    let commands = [
        &["show", id, "--json"][..],
        &["show", id],
        &["jobs", "--json"],
        &["audit", id],
        &["audit", id, "--json"],
        &["audit", "verify", id],
        &["audit", "verify", "--all"],
        &["audit", "prompt", id, "--turn", "1"],
        &["logs", id],
        &["export", "night", "--format", "csv"],
        &["report", "night", "--format", "markdown"],
        &["reindex"],
    ];
    let mut told: Vec<String> = commands
        .iter()
        .map(|words| {
            let ran = dir.run_with(&[], &[words, &["-q"][..]].concat());
            assert_eq!(ran.code, 0, "{words:?} {ran:?}");
            let made = |line: &&str| !line.starts_with("Made ") && !line.contains("report made");
            let lines = ran.stdout.lines().filter(made).collect::<Vec<_>>().join("\n");
            // Where a deliverable lies, and what leads there, is another place.
            let place = Regex::new(r"(\]\()[^)]*(\))|\.zip").unwrap();
            place.replace_all(&lines, "$1$2").into_owned()
        })
        .collect();
    for (words, name) in
        [(["review", "night", "-o", "pages"], "pages"), (["report", "night", "--collect", "results"], "results")]
    {
        assert_eq!(dir.run_with(&[], &[&words[..], &["-q"]].concat()).code, 0, "{words:?}");
        let files = tree(dir).into_iter().filter(|(path, _)| path.starts_with(dir.path().join(name)));
        let is_dated = |path: &Path| path.to_string_lossy().contains("index.");
        told.extend(
            files
                .filter(|(path, _)| !is_dated(path))
                .map(|(path, content)| format!("{} {}", path.display(), String::from_utf8_lossy(&content))),
        );
        std::fs::remove_dir_all(dir.path().join(name)).unwrap();
    }
    let record = dir.path().join("record.zip");
    let ran = dir.run_with(&[], &["audit", "export", id, "-o", "record.zip", "-q"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // Its files are those of the folder; the moment of the anchor may be another.
    let files = zip::ZipArchive::new(std::fs::File::open(&record).unwrap()).unwrap();
    told.push(format!("{:?}", files.file_names().collect::<Vec<_>>()));
    std::fs::remove_file(&record).unwrap();
    told
}

const PACK: [&str; 4] = ["prune", "--older-than", "0s", "--pack"];

#[test]
fn a_packed_job_is_read_as_its_folder_was() {
    let (dir, ids) = with_ended_jobs();
    let (before, said) = (jobs(&dir), told(&dir, &ids));
    let dry = dir.run_with(&[], &[&PACK[..], &["--dry-run"]].concat());
    assert!(dry.code == 0 && dry.stdout.starts_with("would pack 2 jobs") && jobs(&dir) == before, "{dry:?}");
    let ran = dir.run_with(&[], &PACK);
    assert!(ran.code == 0 && ran.stdout.starts_with("packed 2 jobs: "), "{ran:?}");
    let names: Vec<String> = ids.iter().map(|id| format!("{id}.zip")).collect();
    let left: Vec<String> =
        jobs(&dir).keys().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(left, names);
    for (before, after) in said.iter().zip(told(&dir, &ids)) {
        assert_eq!(*before, after);
    }
    assert_eq!(dir.run_with(&[], &[&PACK[..], &["--json", "-q"]].concat()).code, 0, "once more is nothing");
    // What a report links is there.
    assert_eq!(dir.run_with(&[], &["report", "night", "-o", "report.html", "-q"]).code, 0);
    let report = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    let links: Vec<&str> = report.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.len() >= 4 && links.iter().all(|link| dir.path().join(link).is_file()), "{links:?}");
    std::fs::remove_file(dir.path().join("report.html")).unwrap();
    // By itself, as an auditor gets it.
    let record = format!("./workspaces/{}", names[0]);
    assert_eq!(dir.run_with(&[], &["audit", "verify", &record]).code, 0);
    // A lost database knows it again.
    std::fs::remove_file(dir.path().join("workspaces/overnight.db")).unwrap();
    assert_eq!(dir.run_with(&[], &["reindex", "-q"]).code, 0);
    assert_eq!(dir.run_with(&[], &["show", &ids[1], "-q"]).code, 0);
    let ran = dir.run_with(&[], &["prune", "--unpack", &ids[0], &ids[1]]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "unpacked 2 jobs\n"), "{ran:?}");
    assert_eq!(jobs(&dir), before);
}

#[test]
fn what_a_person_says_of_a_packed_job_unpacks_it() {
    let (dir, ids) = with_ended_jobs();
    assert_eq!(dir.run_with(&[], &PACK).code, 0);
    let ran = dir.run_with(&[], &["approve", &ids[0], "--as", "R. Reader"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let there = |name: &str| dir.path().join("workspaces").join(name).exists();
    let folder_and_record = |id: &str| (there(id), there(&format!("{id}.zip")));
    assert_eq!((folder_and_record(&ids[0]), folder_and_record(&ids[1])), ((true, false), (false, true)));
    assert_eq!(dir.run_with(&[], &["audit", "verify", &ids[0]]).code, 0);
    assert_eq!(dir.run_with(&[], &PACK).code, 0);
    let audit = dir.run_with(&[], &["audit", &ids[0], "-q"]).stdout;
    assert!(audit.contains("R. Reader"), "{audit}");
}

#[test]
fn a_job_that_has_not_ended_or_was_changed_is_left_as_it_is() {
    let (dir, ids) = with_ended_jobs();
    dir.put(&format!("workspaces/{}/output/extra.md", ids[0]), "more");
    let before = jobs(&dir);
    let ran = dir.run_with(&[], &PACK);
    assert!(ran.code == 1 && ran.stderr.contains("it is not as it was left: output/extra.md: added"), "{ran:?}");
    let mine = |all: BTreeMap<PathBuf, Vec<u8>>| -> Vec<_> {
        all.into_iter().filter(|(path, _)| path.to_string_lossy().contains(&ids[0])).collect()
    };
    assert_eq!(mine(jobs(&dir)), mine(before));
}

/// Killed at each place of packing and unpacking: the folder or the record is whole, and the next attempt brings it to its end.
#[cfg(feature = "failpoints")]
#[test]
fn a_crash_leaves_the_folder_or_the_record_whole() {
    let (dir, ids) = with_ended_jobs();
    let (id, before) = (ids[0].as_str(), jobs(&dir));
    let points = [
        ("pack.named", &PACK[..]),
        ("pack.checked", &PACK),
        ("pack.aside", &PACK),
        ("unpack.written", &["prune", "--unpack", "night"]),
        ("unpack.named", &["prune", "--unpack", "night"]),
        ("file.new.half", &["prune", "--unpack", "night"]),
        ("workspace.named", &["prune", "--unpack", "night"]),
    ];
    for (point, words) in points {
        if words != PACK {
            assert_eq!(dir.run_with(&[], &PACK).code, 0, "{point}");
        }
        let ran = dir.run_with(&[("FAILPOINTS", &format!("{point}=return"))], words);
        assert_eq!(ran.code, -1, "{point}: it lives: {ran:?}");
        let verified = dir.run_with(&[], &["audit", "verify", id]);
        assert_eq!(verified.code, 0, "{point}: {verified:?}");
        let ended = dir.run_with(&[], words);
        assert_eq!(ended.code, 0, "{point}: {ended:?}");
        let back = dir.run_with(&[], &["prune", "--unpack", "night"]);
        assert_eq!(back.code, 0, "{point}: {back:?}");
        let mut found = jobs(&dir);
        // What a crash left under another name is swept when it is a minute old.
        found.retain(|path, _| !path.to_string_lossy().contains(".overnight-"));
        assert_eq!(found.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>(), "{point}");
        assert_eq!(found, before, "{point}");
    }
}

#[test]
fn what_a_killed_export_left_is_swept_by_the_next_prune() {
    let (dir, ids) = with_ended_jobs();
    let workspaces = dir.path().join("workspaces");
    let left = |at: u64| {
        let moment = uuid::Timestamp::from_unix(uuid::NoContext, at, 0);
        let path = workspaces.join(format!(".overnight-tmp-{}", uuid::Uuid::new_v7(moment).simple()));
        std::fs::write(&path, b"half of a record").unwrap();
        path
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let (old, held, young) = (left(now - 3_600), left(now - 3_601), left(now));
    let writer = std::fs::File::open(&held).unwrap();
    writer.lock().unwrap();
    assert_eq!(dir.run_with(&[], &["prune", "--older-than", "0s", "--pack", "-q"]).code, 0);
    assert_eq!([old, held, young].map(|path| path.exists()), [false, true, true]);
    assert!(workspaces.join(format!("{}.zip", ids[0])).exists());
}
