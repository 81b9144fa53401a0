//! A model whose price nobody knows: a budget that can't hold is refused before anything is made, and a cost is told as not
//! known.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{cli_run::TestDir, support::words};
use serde_json::Value;

const MINE: &str = "-d docs -m openai:mine --base-url http://127.0.0.1:9";

fn refused(model: &str, usd: &str) -> String {
    format!(
        "error: no price is known for {model}, so that the limit of {usd} USD can't be held: give the price with --models, or --unpriced to go on without holding it\n"
    )
}

/// Jobs, batches and schedules that there are.
fn made(dir: &TestDir) -> [usize; 3] {
    let count = |arguments: &[&str]| {
        let listed: Value = serde_json::from_str(&dir.run(arguments).stdout).unwrap();
        listed.as_array().unwrap().len()
    };
    let batches = dir.run(&["jobs", "--batch", "last", "--json"]).code == 0;
    [count(&["jobs", "--json"]), usize::from(batches), count(&["schedule", "list", "--json"])]
}

#[test]
fn a_budget_that_no_price_can_hold_is_refused_before_anything_is_made() {
    let dir = TestDir::new();
    let task = |keys: &str| {
        format!(
            "---\nname: task\ndescription: A report\n{keys}deliverables:\n  - path: output/report.md\n---\n# Task\n\nWrite a report.\n"
        )
    };
    dir.put("limited.md", task("limits: { cost_usd: 3 }\n"));
    dir.put("fallback.md", task("fallback: [\"openai:other\"]\n"));
    dir.put("verified.md", task("models: { verify: \"openai:judge\" }\nverify: { rubric: rubric.md }\n"));
    dir.put("rubric.md", "Is it right?\n");
    let all = [
        (format!("run task.md {MINE} --cost 5"), "openai:mine", "5.00"),
        (format!("run limited.md {MINE}"), "openai:mine", "3.00"),
        (format!("run ./task.md {MINE} --cost 5 --dry-run"), "openai:mine", "5.00"),
        (
            "run fallback.md -d docs -m offline --base-url http://127.0.0.1:9 --cost 5".to_owned(),
            "openai:other",
            "5.00",
        ),
        (
            "run verified.md -d docs -m offline --base-url http://127.0.0.1:9 --cost 5".to_owned(),
            "openai:judge",
            "5.00",
        ),
        (format!("submit ./task.md {MINE} --budget-usd 7.5"), "openai:mine", "7.50"),
        (format!("submit ./limited.md {MINE}"), "openai:mine", "3.00"),
        (format!("submit ./task.md {MINE} --budget-usd 7.5 --dry-run"), "openai:mine", "7.50"),
        (
            format!("schedule add nightly @daily --timezone UTC -- ./task.md {MINE} --budget-usd 7.5"),
            "openai:mine",
            "7.50",
        ),
    ];
    for (command, model, usd) in &all {
        let ran = dir.run(&words(command));
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (2, "", refused(model, usd)), "{command}");
    }
    let settings = format!("run task.md {MINE}");
    let ran = dir.run_with(&[("OVERNIGHT_COST_USD", "2")], &words(&settings));
    assert_eq!((ran.code, ran.stderr), (2, refused("openai:mine", "2.00")));
    assert_eq!(made(&dir), [0, 0, 0]);

    // Nobody asked for a limit, or who did knows that it doesn't hold, or the price is known.
    dir.put(
        "prices.yaml",
        "version: 1\nmodels:\n  - match: openai:mine\n    price: {dated: \"2026-01-31\", input: 3, output: 15}\n",
    );
    for more in ["", " --budget-usd 7.5 --unpriced", " --budget-usd 7.5 --models prices.yaml"] {
        let ran = dir.run(&words(&format!("submit ./task.md {MINE} -q{more}")));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{more}");
    }
    let ran =
        dir.run_with(&[("OVERNIGHT_UNPRICED", "true")], &words(&format!("submit ./limited.md {MINE} -q --batch mine")));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(made(&dir), [4, 1, 0]);

    let ran = dir.run(&["resume", "mine", "--budget-usd", "9"]);
    assert_eq!((ran.code, ran.stderr), (2, refused("openai:mine", "9.00")));
    let ran = dir.run(&["resume", "mine", "--budget-usd", "9", "--unpriced"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(dir.run(&["show", "mine"]).stdout.contains(" of a budget of 9.00\n"));
}
