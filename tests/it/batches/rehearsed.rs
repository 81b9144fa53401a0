//! A night that is rehearsed with the offline model, which is given a price; and a job whose workspace is lost on the way.

use super::{TestDir, Value, fs};

const PRICES: &str = "version: 1
models:
  - match: offline
    price: {dated: 2026-01-31, input: 3, output: 15}
";
const SUBMIT: [&str; 9] =
    ["submit", "extract-requirements", "--documents", "docs", "--each", "--batch", "night", "--models", "prices.yaml"];

impl TestDir {
    /// With a few small documents, and a price.
    fn priced() -> Self {
        let dir = Self::new();
        fs::create_dir(dir.path("docs")).unwrap();
        for number in 1..=3 {
            let text = format!("# Rules {number}\n\nClerk {number} MUST sign. A guest MAY enter.\n");
            fs::write(dir.path(&format!("docs/{number}.md")), text).unwrap();
        }
        fs::write(dir.path("prices.yaml"), PRICES).unwrap();
        dir
    }

    #[track_caller]
    fn done(&self, words: &[&str]) -> String {
        let output = self.output(words);
        assert_eq!(output.status.code(), Some(0), "{words:?} {output:?}");
        self.steady(&String::from_utf8(output.stdout).unwrap())
    }

    fn spent(&self) -> f64 {
        self.json(&["show", "night", "--json"])["spent_usd"].as_f64().unwrap()
    }
}

/// What the three documents cost without a bound.
fn cost() -> f64 {
    let dir = TestDir::priced();
    dir.done(&SUBMIT);
    assert_eq!(dir.done(&["work", "--until-empty"]), "3 completed\n");
    dir.spent()
}

#[test]
fn a_budget_is_rehearsed_with_a_price_for_offline() {
    let dir = TestDir::priced();
    let told = dir.done(&[&SUBMIT[..], &["--dry-run"]].concat());
    let about = told.lines().find_map(|line| line.strip_prefix("cost: about ")).unwrap();
    assert!(about.split(' ').next().unwrap().parse::<f64>().unwrap() > 0.0, "{told}");

    let whole = cost();
    assert!(whole > 0.0);
    let budget = whole / 2.0;
    dir.done(&[&SUBMIT[..], &["--budget-usd", &budget.to_string()]].concat());
    assert_eq!(dir.output(&["work", "--until-empty"]).status.code(), Some(4));
    let shown = dir.json(&["show", "night", "--json"]);
    assert!(shown["held"].as_u64().unwrap() > 0, "{shown}");
    assert!(shown["waits_for"].as_array().unwrap().iter().any(|sum| sum["hold_reason"] == "budget"), "{shown}");
    let spent = dir.spent();
    assert!(spent > 0.0 && spent <= budget, "{spent} of {budget}");

    dir.done(&["resume", "night", "--budget-usd", &(2.0 * whole).to_string()]);
    dir.done(&["work", "--until-empty"]);
    assert_eq!(dir.json(&["show", "night", "--json"])["completed"], 3);
    assert!(dir.spent() > budget && dir.spent() < 2.0 * whole);
}

#[test]
fn without_a_price_offline_costs_nothing_and_nothing_else_can_be_said_of_it() {
    let dir = TestDir::priced();
    dir.done(&SUBMIT[..7]);
    dir.done(&["work", "--until-empty"]);
    assert!(dir.spent().abs() < f64::EPSILON);
    fs::write(dir.path("prices.yaml"), "version: 1\nmodels:\n  - match: offline\n    window_tokens: 9000\n").unwrap();
    let refused = dir.refuses(2, &SUBMIT);
    assert!(refused.contains("prices.yaml:4") && refused.contains("window_tokens"), "{refused}");
}

#[test]
fn a_job_whose_workspace_is_lost_is_begun_anew() {
    let dir = TestDir::priced();
    for name in ["1.md", "2.md"] {
        fs::remove_file(dir.path("docs").join(name)).unwrap();
    }
    dir.done(&[&SUBMIT[..], &["--budget-usd", &(cost() / 6.0).to_string()]].concat());
    assert_eq!(dir.output(&["work", "--until-empty"]).status.code(), Some(4));
    let job = |field: &str| {
        let jobs = dir.json(&["jobs", "--batch", "night", "--json"]);
        let job = jobs.as_array().map_or(&jobs["jobs"][0], |jobs| &jobs[0]);
        job[field].clone()
    };
    let text = |value: Value| value.as_str().unwrap().to_owned();
    let id = text(job("id"));
    assert_eq!(text(job("hold_reason")), "budget");
    // Its workspace is here: it is not failed, and is gone on with.
    assert_eq!(dir.refuses(2, &["retry", &id]), format!("error: job {id} has not failed: it is held\n"));
    let workspace = dir.path("workspaces").join(&id);
    fs::rename(&workspace, dir.path("lost")).unwrap();
    dir.done(&["resume", "night", "--budget-usd", "100"]);
    let output = dir.output(&["work", "--until-empty"]);
    let said = dir.steady(&String::from_utf8(output.stderr).unwrap());
    let why = format!(
        "held (paused): its workspace is not at DESK/workspaces/{id}: put it back there and resume the job, or `overnight \
         retry {id}` has it done from its beginning\n"
    );
    assert!(said.contains(&why), "{said}");
    assert_eq!(dir.json(&["show", &id, "--json"])["next"][0], format!("overnight retry {id}"));
    // A batch is not begun anew as a whole.
    assert!(dir.refuses(2, &["retry", "night"]).contains("no job of batch 'night' has failed"));
    assert_eq!(
        dir.says(0, &["retry", &id]),
        format!(
            "job {id}: its workspace is gone, and it is queued again from its beginning; a worker takes it (`overnight work`)\n"
        )
    );
    assert_eq!(dir.done(&["work", "--until-empty"]), "1 completed\n");
    assert!(workspace.join("output").is_dir());
    assert_eq!(dir.refuses(2, &["retry", &id]), format!("error: job {id} has not failed: it is completed\n"));
    let verified = dir.done(&["audit", "verify", &id]);
    assert!(!verified.is_empty());
}
