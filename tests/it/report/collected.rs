//! `--collect`: all deliverables in one folder, and nothing of anybody else's touched.

use super::{
    check,
    night::{Night, normal, tree},
};
use overnight_core::job::digest::sha256;
use serde_json::{Value, json};
use std::fs;

#[test]
fn report_collects_the_deliverables_with_an_index() {
    let night = Night::whole();
    night.level();
    let report = night.json(&["report", "--json", "--collect", "results"]);
    let collected = tree(&night.path("results"));
    check("index.csv", &normal(&night, &collected["index.csv"]));
    let index: Value = serde_json::from_str(&collected["index.json"]).unwrap();
    assert_eq!(index["csv_sha256"], json!(sha256(collected["index.csv"].as_bytes())));
    let entries = index["entries"].as_array().unwrap();

    // Each file that lies there is in the index with its own hash, and each that the index names lies there.
    let mut named = vec!["index.csv".to_owned(), "index.json".to_owned()];
    for entry in entries.iter().filter(|entry| !entry["path"].is_null()) {
        let path = entry["path"].as_str().unwrap();
        let text = &collected[path];
        assert_eq!(entry["sha256"], json!(sha256(text.as_bytes())), "{path}");
        assert_eq!(entry["bytes"], json!(text.len()), "{path}");
        named.push(path.to_owned());
    }
    named.sort();
    assert_eq!(named, collected.keys().cloned().collect::<Vec<_>>());

    // Each job that delivered something is there: from the rows.
    let rows = night.rows();
    let files = rows.iter().flat_map(|row| {
        row.state.deliverables.iter().map(|file| (row.job.id.to_string(), file.path.clone(), file.sha256.clone()))
    });
    let told = entries.iter().filter(|entry| !entry["delivered_path"].is_null()).map(|entry| {
        let word = |name: &str| entry[name].as_str().unwrap().to_owned();
        (word("job"), word("delivered_path"), word("delivered_sha256"))
    });
    assert_eq!(told.collect::<Vec<_>>(), files.collect::<Vec<_>>());
    let state = |id: String| entries.iter().find(|entry| entry["job"] == json!(id)).unwrap()["state"].clone();
    assert_eq!(state(night.changed().to_string()), json!("changed"));
    assert_eq!(state(night.gone().to_string()), json!("missing"));

    let done = &report["collected"];
    let copies = collected.iter().filter(|(path, _)| !path.starts_with("index."));
    assert_eq!(done["files"], json!(copies.clone().count()));
    assert_eq!(done["bytes"], json!(copies.map(|(_, text)| text.len()).sum::<usize>()));
    assert_eq!(
        done["faults"],
        json!([
            format!("job {}: output/report.md is missing", night.gone()),
            format!(
                "job {}: output/report.md was changed since it was delivered; it was copied as it is now",
                night.changed()
            ),
        ])
    );

    // Again, and of one job only: the same lies there, and the other jobs' files are still known.
    let text = night.says(0, &["report", "--collect", "results"]);
    assert!(text.contains("  Collected: "), "{text}");
    let again = night.json(&["report", "--json", &rows[0].job.id.to_string(), "--collect", "results"]);
    assert_eq!((&again["collected"]["files"], &again["collected"]["faults"]), (&json!(1), &json!([])));
    let mut after = tree(&night.path("results"));
    let mut index: Value = serde_json::from_str(&after.remove("index.json").unwrap()).unwrap();
    let mut before = collected.clone();
    let first: Value = serde_json::from_str(&before.remove("index.json").unwrap()).unwrap();
    index["made"] = first["made"].clone();
    assert_eq!((index, after), (first, before));

    // What was collected before its workspace went away stays.
    fs::remove_dir_all(night.workspace(rows[0].job.id)).unwrap();
    let again = night.json(&["report", "--json", &rows[0].job.id.to_string(), "--collect", "results"]);
    assert_eq!((&again["collected"]["files"], &again["collected"]["faults"]), (&json!(1), &json!([])));
    assert_eq!(tree(&night.path("results"))["index.csv"], collected["index.csv"]);
}

#[test]
fn report_collects_over_nothing_that_is_not_its_own() {
    let night = Night::new();
    night.run(0, "task", "", &super::night::usual(), &[]);
    let collect = ["report", "--collect", "results"];
    let refused = |what: &str, says: &str| {
        let before = tree(&night.path("results"));
        let sentence = night.refuses(2, &collect);
        assert!(sentence.contains(says), "{what}: {sentence}");
        assert_eq!(tree(&night.path("results")), before, "{what}");
    };
    fs::create_dir(night.path("results")).unwrap();
    fs::write(night.path("results/thesis.txt"), "Mine.").unwrap();
    refused(
        "a folder with something in it",
        "the folder results is not empty, and has no index of collected deliverables",
    );
    fs::write(night.path("results/index.json"), "{\"entries\": []}").unwrap();
    refused("another program's index", "index.json in results is not an index of collected deliverables");
    fs::write(
        night.path("results/index.json"),
        json!({"kind": "overnight collect", "format": 1, "made": "2026-11-21T00:00:00.000Z", "csv_sha256": null, "entries": [{
            "job": night.rows()[0].job.id, "status": "completed", "instructions": "task", "documents": [], "path": "../../x",
            "sha256": null, "bytes": null, "delivered_path": null, "delivered_sha256": null, "state": null,
        }]})
        .to_string(),
    )
    .unwrap();
    refused("an index that leads out", "index.json in results names paths that no collection makes");
    fs::remove_dir_all(night.path("results")).unwrap();

    // An empty folder is taken; a file beside the copies is nobody's business; one that was changed is somebody's work.
    fs::create_dir(night.path("results")).unwrap();
    night.says(0, &collect);
    fs::write(night.path("results/thesis.txt"), "Mine.").unwrap();
    night.says(0, &collect);
    let copy = tree(&night.path("results")).into_keys().find(|path| path.ends_with("/report.md")).unwrap();
    let text = fs::read_to_string(night.path("results").join(&copy)).unwrap();
    fs::write(night.path("results").join(&copy), "Mended by hand.\n").unwrap();
    refused("a changed copy", &format!("{copy} in results is not as it was collected"));
    fs::write(night.path("results").join(&copy), text).unwrap();
    let table = fs::read_to_string(night.path("results/index.csv")).unwrap();
    fs::write(night.path("results/index.csv"), format!("{table}remarks\r\n")).unwrap();
    refused("a changed table", "index.csv in results was changed since it was written");
    fs::write(night.path("results/index.csv"), table).unwrap();
    night.says(0, &collect);
    assert_eq!(fs::read_to_string(night.path("results/thesis.txt")).unwrap(), "Mine.");

    // A link in place of a copy leads nowhere.
    fs::remove_file(night.path("results").join(&copy)).unwrap();
    std::os::unix::fs::symlink(night.path("docs/a.md"), night.path("results").join(&copy)).unwrap();
    let before = fs::read_to_string(night.path("docs/a.md")).unwrap();
    let output = night.refuses(1, &collect);
    assert!(output.starts_with("error: the deliverables can't be collected: "), "{output}");
    assert_eq!(fs::read_to_string(night.path("docs/a.md")).unwrap(), before);
}
