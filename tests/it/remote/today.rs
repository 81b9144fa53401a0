//! Models of today: what each is asked first and what it costs, what a wave of jobs has of the vendor's cache, the tier that is
//! cheap and slow, and nights in which the program is killed.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::server::{Chaos, Counts, Format, Mishap, Server, Setup};
use crate::{
    cli_run::TestDir,
    machine::world::snapshot,
    support::{cases, events},
};
use overnight_core::job::instructions::shipped::{shipped, shipped_beside};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt::Write, time::Duration};

const TASK: &str = "extract-requirements";
/// Each with its format and the table's price: input, output, read from the cache, written to it.
const MODELS: [(&str, Format, [f64; 4]); 7] = [
    ("openai:gpt-5.6-sol", Format::Responses, [4.0, 20.0, 0.4, 5.0]),
    ("openai:gpt-6-sol", Format::Responses, [2.0, 10.0, 0.2, 2.5]),
    ("anthropic:claude-opus-5-5", Format::Anthropic, [4.0, 20.0, 0.2, 5.0]),
    ("anthropic:claude-sonnet-5-5", Format::Anthropic, [2.0, 10.0, 0.2, 2.5]),
    ("gemini:gemini-3.8-flash", Format::Gemini, [0.75, 3.75, 0.075, 0.75]),
    ("openai:deepseek-flash", Format::OpenAi, [0.3, 1.2, 0.006, 0.3]),
    ("ollama:qwen3:8b", Format::Ollama, [0.0; 4]),
];

/// One model of each format.
fn wires() -> impl Iterator<Item = (&'static str, Format)> {
    let is_first = |at: usize| MODELS[..at].iter().all(|(_, format, _)| *format != MODELS[at].1);
    (0..MODELS.len()).filter(move |at| is_first(*at)).map(|at| (MODELS[at].0, MODELS[at].1))
}

fn thinking(chaos: Chaos) -> Server {
    Server::start(Setup { thinks: true, chaos, ..Setup::default() })
}

fn shown(dir: &TestDir) -> Value {
    serde_json::from_str(&dir.run_with(&[], &["show", "last", "--json"]).stdout).unwrap()
}

fn workspace(dir: &TestDir) -> std::path::PathBuf {
    dir.path().join(shown(dir)["workspace"].as_str().unwrap())
}

/// A request as the vendor gets it, without what is long: its fields, and of each what it is.
fn outline(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), outline(value))).collect(),
        Value::Array(items) if items.len() > 3 => json!([outline(&items[0]), format!("… {} in all", items.len())]),
        Value::Array(items) => items.iter().map(outline).collect(),
        Value::String(text) if text.len() > 60 => json!("…"),
        other => other.clone(),
    }
}

#[test]
fn todays_models_are_asked_as_their_vendors_want_and_cost_what_the_table_says() {
    let mut text = String::new();
    for (model, format, [input, output, cached, written]) in MODELS {
        let (server, dir) = (thinking(Chaos::none()), TestDir::new());
        let url = server.base_url(format);
        let ran =
            dir.run_with(&[], &["run", TASK, "-d", "docs", "-q", "-m", model, "--base-url", &url, "--record", "rec"]);
        assert_eq!((ran.code, ran.stderr.as_str(), server.counts().complaints), (0, "", Vec::new()), "{model}");
        let record: Value =
            serde_json::from_slice(&std::fs::read(dir.path().join("rec/turn-00001-0001.json")).unwrap()).unwrap();
        let request = &record["request"];
        let path = request["url"].as_str().unwrap().replace(url.trim_end_matches('/'), "");
        let headers: Vec<&String> = request["headers"].as_object().unwrap().keys().collect();
        let mut body = request["body"].clone();
        // The same tools for all.
        body["tools"] = outline(&body["tools"]);
        if let Some(key) = body["prompt_cache_key"].as_str().map(str::to_owned) {
            let (prefix, group) = key.rsplit_once('-').unwrap();
            assert!(prefix.starts_with("overnight-") && group.parse::<u32>().unwrap() < 8, "{key}");
            body["prompt_cache_key"] = json!("of the system prompt, and one of eight groups");
        }
        let _ = writeln!(text, "{model}: POST {path}, with {headers:?}\n{:#}\n", outline(&body));
        let mut expected = 0.0;
        for event in events(&workspace(&dir)).iter().filter(|event| event["type"] == "model_replied") {
            let of = |field: &str| event["usage"][field].as_f64().unwrap_or_default();
            let fresh = of("input") - of("cached") - of("cache_written");
            expected += fresh * input + of("output") * output + of("cached") * cached + of("cache_written") * written;
        }
        let cost = shown(&dir)["cost_usd"].as_f64().unwrap();
        assert!((cost - expected / 1e6).abs() < 1e-9, "{model}: {cost} and {expected}");
    }
    snapshot("first_requests", &text);
}

/// The longest wait is that of the server: with nine refusals of ten, a job is not done at the cheap tier in its time.
#[test]
fn a_tier_without_room_costs_no_attempt_and_is_left_when_time_runs_out() {
    let chaos = Chaos::only(Mishap::NoFlex, 90, 7);
    let (server, dir) = (thinking(chaos), TestDir::new());
    let url = server.base_url(Format::Responses);
    let run = ["run", TASK, "-d", "docs", "-q", "-m", "openai:gpt-5.6-sol", "--base-url", &url];
    let ran = dir.run_with(&[], &[&run[..], &["--tier", "flex", "--wall-clock", "32s"]].concat());
    let counts = server.counts();
    assert_eq!((ran.code, counts.complaints), (0, Vec::new()), "{}", ran.stderr);
    assert!(counts.mishaps["NoFlex"] > 2, "{:?}", counts.mishaps);
    let shown = shown(&dir);
    let last = shown["models"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&shown["status"], &last["tier"], &last["left_flex"]),
        (&json!("completed"), &json!("standard"), &json!("the end of its time is near"))
    );
    let told = dir.run_with(&[], &["show", "last"]).stdout;
    assert!(told.contains("the cheaper tier was left: the end of its time is near"), "{told}");
    assert!(!events(&workspace(&dir)).iter().any(|event| event["type"] == "held"));
}

#[test]
fn a_refused_thought_begins_a_new_history_and_costs_nothing_else() {
    let (server, dir) = (thinking(Chaos::only(Mishap::Bound, 30, 7)), TestDir::new());
    let url = server.base_url(Format::Anthropic);
    let run = ["run", TASK, "-d", "docs", "-q", "-m", "anthropic:claude-opus-5-5", "--base-url", &url];
    let ran = dir.run_with(&[], &run);
    assert_eq!((ran.code, server.counts().complaints), (0, Vec::new()), "{}", ran.stderr);
    let refused = events(&workspace(&dir)).iter().filter(|event| event["kind"] == "history_refused").count() as u64;
    assert_eq!((refused > 0, Some(&refused)), (true, server.counts().mishaps.get("Bound")));
}

/// `cases` jobs over one set of instructions, four at a time: what the server's cache could serve, it did.
#[test]
fn a_wave_of_jobs_is_served_from_the_vendors_cache() {
    let jobs = cases(24);
    for (model, format) in wires() {
        let (server, dir) = (thinking(Chaos::none()), TestDir::new());
        for job in 0..jobs {
            dir.put(
                &format!("many/{job}.md"),
                format!("# Contract {job}\n\nParty {job} MUST pay within {job} days.\n"),
            );
        }
        let url = server.base_url(format);
        let submitted = ["submit", TASK, "-d", "many", "--each", "-m", model, "--base-url", &url, "-q"];
        assert_eq!(dir.run_with(&[], &submitted).code, 0);
        let worked = dir.run_with(&[], &["work", "--until-empty", "--concurrency", "4", "-q"]);
        let counts = server.counts();
        assert_eq!((worked.code, counts.complaints.clone()), (0, Vec::new()), "{model}: {}", worked.stderr);
        println!("{model}: {:.4} of {} shared tokens", counts.served(), counts.shared);
        let Counts { requests, completed, .. } = counts;
        assert_eq!(requests, completed);
        // What a vendor's cache doesn't take (too short, at another machine) is not the program's doing; ollama has none.
        assert!(format == Format::Ollama || counts.served() >= 0.95, "{model}: {}", counts.served());
    }
}

/// Killed again and again at any moment, each job comes to its end, and no request is one that the vendor would refuse.
#[test]
fn jobs_of_every_wire_outlive_kills() {
    for (model, format) in wires() {
        for round in 0..cases(2) {
            let (server, dir) = (
                Server::start(Setup { thinks: true, delay: Duration::from_millis(15), ..Setup::default() }),
                TestDir::new(),
            );
            let url = server.base_url(format);
            let mut words = vec!["run", TASK, "-d", "docs", "-q", "-m", model, "--base-url", &url];
            let mut kills = 0;
            for kill in 0..8 {
                let wait = Duration::from_millis(u64::from(
                    fastrand::Rng::with_seed(u64::from(round * 8 + kill)).u32(20..400),
                ));
                if !dir.killed_after(&words, wait) {
                    break;
                }
                kills += 1;
                if dir.run_with(&[], &["jobs", "--json"]).stdout.trim() != "[]" {
                    words = vec!["resume", "last", "-q"];
                }
            }
            let ran = dir.run_with(&[], &words);
            let jobs: Vec<Value> = serde_json::from_str(&dir.run_with(&[], &["jobs", "--json"]).stdout).unwrap();
            let ends: BTreeMap<String, usize> = jobs.iter().fold(BTreeMap::new(), |mut ends, job| {
                *ends.entry(job["status"].as_str().unwrap().to_owned()).or_default() += 1;
                ends
            });
            let complaints = server.counts().complaints;
            assert_eq!(
                (ran.code, &ends["completed"], complaints),
                (0, &1, Vec::new()),
                "{model}, {kills} kills: {}",
                ran.stderr
            );
            let verified = dir.run_with(&[], &["audit", "verify", "--all"]);
            assert_eq!(verified.code, 0, "{}", verified.stdout);
        }
    }
}

/// A batch whose documents are read a second time in part: what it costs lies in the range of the dry run, and a budget that
/// is too small for it is not overrun by a cent.
#[test]
fn a_second_reading_costs_what_the_dry_run_says_and_keeps_to_the_budget() {
    let jobs = cases(12);
    let (server, dir) = (Server::start(Setup::default()), TestDir::new());
    for job in 0..jobs {
        let mut text = format!("# Contract {job}\n");
        for part in 1..=120 {
            let _ = write!(text, "\n## Part {part}\n\nParty {job} MUST pay part {part}.\n");
        }
        dir.put(&format!("many/{job}.md"), text);
    }
    let (whole, in_part) = ("output/requirements.json }", "output/requirements.json, share: 0.2 }");
    let text =
        shipped(TASK).unwrap().replace(whole, in_part).replace("verify: { rubric: rubrics/requirements.md }\n", "");
    dir.put("instructions/twice.md", text);
    let schema = "schemas/requirements.schema.json";
    dir.put(&format!("instructions/{schema}"), shipped_beside(schema).unwrap());
    let url = server.base_url(Format::Responses);
    let words =
        ["submit", "twice", "-d", "many", "--each", "-m", "openai:gpt-6-sol", "--base-url", &url, "-q", "--json"];
    let read = |more: &[&str]| -> Value {
        serde_json::from_str(&dir.run_with(&[], &[&words[..], more].concat()).stdout).unwrap()
    };
    let dry = read(&["--dry-run"]);
    assert_eq!(dry["read_twice"], 0.2);
    let range = ["cost_usd_least", "cost_usd_most"].map(|name| dry[name].as_f64().unwrap());
    let submitted = read(&[]);
    let spent = |batch: &Value| {
        let report = dir.run_with(&[], &["report", batch.as_str().unwrap(), "--json"]).stdout;
        let report: Value = serde_json::from_str(&report).unwrap();
        (report["spent"]["cost_usd"].as_f64().unwrap(), report["counts"].clone(), report["jobs"].clone())
    };
    assert_eq!(dir.run_with(&[], &["work", "--until-empty", "--concurrency", "4", "-q"]).code, 0);
    let (cost, counts, done) = spent(&submitted["batch"]);
    assert_eq!(counts["completed"], jobs);
    assert!(range[0] <= cost && cost <= range[1], "{cost} is not within {range:?}");
    let mut shares = done.as_array().unwrap().iter().map(|job| job["proof"]["reading"]["share"].as_f64().unwrap());
    assert!(shares.all(|share| (0.2..0.45).contains(&share)), "{done}");
    let budget = cost / 2.0;
    let small = read(&["--budget-usd", &format!("{budget:.4}")]);
    assert_ne!(dir.run_with(&[], &["work", "--until-empty", "--concurrency", "4", "-q"]).code, 0);
    let (cost, counts, _) = spent(&small["batch"]);
    assert!(cost <= budget && counts["held"].as_u64().unwrap() > 0, "{cost} of {budget}, {counts}");
}
