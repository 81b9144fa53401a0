//! A job's replies played again, over the same documents and over others.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::TestDir;
use serde_json::{Value, json};

/// The reasons why jobs need a person, as the report has them.
fn needs(dir: &TestDir) -> Value {
    let report: Value = serde_json::from_str(&dir.run(&["report", "--json"]).stdout).unwrap();
    report["needs_person"].as_array().unwrap().iter().map(|need| json!([need["why"], need["detail"]])).collect()
}

#[test]
fn a_replay_over_other_documents_is_named_and_its_empty_result_needs_a_person() {
    let dir = TestDir::new();
    dir.put("other/c.md", "# C\n\nThe valve MUST be closed at night.\n");
    let instructions = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions");
    let run = |documents: &str, model: &str| {
        let arguments = ["run", "extract-requirements", "-d", documents, "--model", model];
        dir.run_with(&[("OVERNIGHT_INSTRUCTIONS", instructions)], &arguments)
    };
    assert_eq!(run("docs", "offline").code, 0);
    let same = run("docs", "replay:last");
    assert_eq!((same.code, same.stderr.contains("other documents")), (0, false), "{same:?}");
    assert_eq!(needs(&dir), json!([]));
    let other = run("other", "replay:last");
    let warning = " repeats what was said of other documents: 1 document of this job (c.md, for one) it has not seen";
    assert!(
        other.stderr.lines().any(|line| line.starts_with("warning: replay:") && line.ends_with(warning)),
        "{other:?}"
    );
    let refused = "the result has no record: 2 records were refused when they were added: 0 were mended and written, 2 are not in the result";
    assert_eq!((other.code, needs(&dir)), (0, json!([["records", refused]])), "{other:?}");
}
