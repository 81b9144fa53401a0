//! `overnight models`, and what is said of models that retire.

use crate::cli_run::{Ran, TestDir, whole_job};
use chrono::{Days, NaiveDate, Utc};
use serde_json::{Value, json};

const TABLE: &str = r#"version: 1
models:
  - match: "openai:night-{large,small}*"
    window_tokens: 64k
    output_tokens: 4k
    api: responses
    reasoning: { levels: [low, high] }
    flex: 0.5
    price:
      - { dated: 2026-11-01, input: 8, output: 9 }
      - { from: 2026-11-02, dated: 2026-11-01, input: 2, output: 10.5, cached: 0.2 }
    retires: 2099-01-31
  - match: "openai:night-plain"
    tool_choice: auto
  - match: "ollama:*"
    price: { dated: 2026-11-01, input: 1, output: 2, cached: 0.1, cache_written: 1.25 }
"#;

fn ran(code: i32, stdout: &str, stderr: &str) -> Ran {
    Ran { code, stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}

#[test]
fn what_is_known_of_models_is_listed_with_what_is_ones_own() {
    let dir = TestDir::new();
    dir.put("mine.yaml", TABLE);
    let models = |words: &[&str]| dir.run_with(&[], &[&["models", "--models", "mine.yaml"], words].concat());
    let own = "\
MATCH                WINDOW  REPLY  IN/OUT/READ/WRITTEN  RETIRES
openai:night-large*   64.0k   4.0k  2/10.5/0.2/–         2099-01-31
  responses; effort low|high; flex 0.5; priced 2026-11-01
  by your table: api, flex, output_tokens, price, reasoning, retires, window_tokens
openai:night-small*   64.0k   4.0k  2/10.5/0.2/–         2099-01-31
  responses; effort low|high; flex 0.5; priced 2026-11-01
  by your table: api, flex, output_tokens, price, reasoning, retires, window_tokens
openai:night-plain   128.0k   8.1k  –                    –
  no price is known
  by your table: tool_choice
";
    assert_eq!(models(&["night"]), ran(0, own, ""));
    let ollama = "\
MATCH        WINDOW  REPLY  IN/OUT/READ/WRITTEN  RETIRES
ollama:tiny   32.7k   4.0k  1/2/0.1/1.25         –
  priced 2026-11-01
  by your table: price
";
    assert_eq!(models(&["ollama:tiny"]), ran(0, ollama, ""));
    let none = "nothing is known of such a model: `overnight models` lists all, and --models adds others\n";
    assert_eq!(models(&["nobody:x"]), ran(0, "", none));
    assert_eq!(models(&["nobody:x", "--json", "-q"]), ran(0, "[]\n", ""));
    let shown: Value = serde_json::from_str(&models(&["openai:night-small", "--json"]).stdout).unwrap();
    assert_eq!(
        shown,
        json!([{
            "match": "openai:night-small*", "window_tokens": 64_000, "output_tokens": 4_000,
            "input_usd": 2.0, "output_usd": 10.5, "cached_usd": 0.2, "cache_written_usd": null,
            "price_dated": "2026-11-01", "api": "responses", "reasoning": ["low", "high"], "flex": 0.5, "batch": null,
            "retires": "2099-01-31",
            "overridden": ["api", "flex", "output_tokens", "price", "reasoning", "retires", "window_tokens"],
        }])
    );
    // All that is shipped fits a terminal of 80 columns.
    let all = dir.run_with(&[], &["models"]).stdout;
    let widest = all.lines().max_by_key(|line| line.chars().count()).unwrap();
    assert!(widest.chars().count() <= 80, "{widest}");
}

#[test]
fn a_model_that_retires_is_told_before_the_night() {
    let dir = TestDir::new();
    let today = Utc::now().date_naive();
    let (soon, past) = (today + Days::new(14), today - Days::new(1));
    let retires = |name: &str, day: NaiveDate| format!("  - match: \"openai:{name}\"\n    retires: {day}\n");
    let days = [("soon", soon), ("past", past), ("today", today), ("later", today + Days::new(15))];
    let entries: String = days.iter().map(|(name, day)| retires(name, *day)).collect();
    dir.put("mine.yaml", format!("version: 1\nmodels:\n{entries}"));
    dir.script("script.json", &whole_job());
    dir.put(
        "task.md",
        "---\nname: task\ndescription: A report\nfallback: [\"openai:later\", \"openai:soon\"]\ndeliverables:\n  - path: output/report.md\n---\n# Task\n\nWrite a report.\n",
    );
    let todo = "name another one with --model or in the instructions; `overnight models` lists them";
    let soon = format!("openai:soon retires on {soon}, in 14 days: {todo}\n");
    let past = format!("openai:past retired on {past}: {todo}\n");
    let told = |words: &[&str]| {
        let variables = [("OPENAI_API_KEY", "sk-never-sent"), ("OVERNIGHT_MODELS_FILE", "mine.yaml")];
        let ran = dir.run_with(&variables, words);
        let lines = ran.stderr.split_inclusive('\n').filter(|line| line.contains(" retire"));
        (ran.code, lines.collect::<String>(), ran.stdout)
    };
    let on = ["./task.md", "--documents", "docs", "--model"];
    for (verb, model, more, expected) in [
        (&["run"][..], "scripted:script.json", &[][..], soon.clone()),
        (&["run"], "openai:past", &["--dry-run"], format!("{past}{soon}")),
        (&["submit"], "openai:past", &["--dry-run"], format!("{past}{soon}")),
        (&["submit"], "openai:past", &["--each"], format!("{past}{soon}")),
        (&["schedule", "add", "n", "@daily", "--timezone", "UTC", "--"], "openai:past", &[], format!("{past}{soon}")),
    ] {
        let (code, lines, _) = told(&[verb, &on, &[model], more].concat());
        assert_eq!((code, lines), (0, expected), "{verb:?} {more:?}");
    }
    for (model, code, line) in [
        ("openai:past", 1, format!("failed retirement: {past}")),
        ("openai:today", 1, format!("failed retirement: openai:today retires today, on {today}: {todo}\n")),
        ("openai:soon", 0, format!("ok     retirement: {soon}")),
        ("openai:later", 0, String::new()),
    ] {
        dir.put("overnight.yaml", format!("model: {model}\n"));
        let (found, lines, stdout) = told(&["doctor"]);
        let said: String = stdout.split_inclusive('\n').filter(|at| at.contains(" retire")).collect();
        assert_eq!((found, said, lines), (code, line, String::new()), "{model}");
    }
}
