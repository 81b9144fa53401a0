//! The program with a model behind HTTP: what a wrong key, name or address costs, what a budget holds, and who goes on when
//! a model doesn't.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::server::{Chaos, Format, Mishap, Server, Setup};
use crate::cli_run::{Ran, TestDir};
use overnight_core::job::instructions::shipped::shipped;
use serde_json::{Value, json};
use std::{io::ErrorKind, net::TcpListener};

const TASK: &str = "extract-requirements";

struct RemoteRun {
    dir: TestDir,
    url: String,
    /// Gone when it is `None`.
    server: Option<Server>,
}

impl RemoteRun {
    fn new(setup: Setup) -> Self {
        let server = Server::start(setup);
        Self { dir: TestDir::new(), url: server.base_url(Format::OpenAi), server: Some(server) }
    }

    fn run(&self, key: &str, more: &[&str]) -> Ran {
        let base = ["run", TASK, "-d", "docs", "-q", "--base-url", &self.url];
        let named: &[&str] = if key.is_empty() { &[] } else { &["--api-key-env", "NIGHT_KEY"] };
        self.dir.run_with(&[("NIGHT_KEY", key)], &[&base, named, more].concat())
    }

    fn again(&self, key: &str, more: &[&str]) -> Ran {
        self.dir.run_with(&[("NIGHT_KEY", key)], &[&["resume", "last", "-q"], more].concat())
    }

    fn shown(&self) -> Value {
        let shown = self.dir.run_with(&[], &["show", "last", "--json"]);
        serde_json::from_str(&shown.stdout).unwrap()
    }
}

#[test]
fn a_wrong_key_or_name_is_one_sentence_and_the_job_goes_on_when_it_is_right() {
    let setup = Setup { key: Some("sk-right".to_owned()), known: Some("able-agent".to_owned()), ..Setup::default() };
    let remote = RemoteRun::new(setup);
    for (key, model, wrong) in
        [("sk-wrong", "openai:able-agent", "NIGHT_KEY"), ("sk-right", "openai:abel-agent", "abel-agent")]
    {
        let ran = remote.run(key, &["-m", model]);
        let shown = remote.shown();
        assert_eq!((ran.code, ran.stderr.lines().count(), ran.stdout.as_str()), (2, 1, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(wrong) && !ran.stderr.contains("sk-"), "{}", ran.stderr);
        assert_eq!(
            (&shown["status"], &shown["hold_reason"], &shown["turns"]),
            (&"held".into(), &"paused".into(), &0.into())
        );
    }
    let ran = remote.again("sk-right", &["-m", "openai:able-agent", "--base-url", &remote.url]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

/// A key that may go to a server nearby in plain HTTP doesn't go to a proxy on its way.
#[test]
fn no_proxy_sees_a_key_for_a_server_nearby() {
    let remote = RemoteRun::new(Setup { key: Some("sk-right".to_owned()), ..Setup::default() });
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let through = format!("http://{}", proxy.local_addr().unwrap());
    let words = ["run", TASK, "-d", "docs", "-q", "--base-url", &remote.url, "--api-key-env", "NIGHT_KEY"];
    let ran = remote.dir.run_with(
        &[("NIGHT_KEY", "sk-right"), ("http_proxy", &through), ("all_proxy", &through), ("no_proxy", "")],
        &[&words[..], &["-m", "openai:able-agent", "--wall-clock", "1m"]].concat(),
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(proxy.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn a_budget_is_overrun_by_no_call_and_a_larger_one_goes_on() {
    let remote = RemoteRun::new(Setup::default());
    remote.dir.put(
        "models.yaml",
        "version: 1\nmodels:\n  - match: \"openai:able-agent\"\n    price: { dated: \"2026-11-22\", input: 100, output: 100 }\n",
    );
    let ran = remote.run("", &["-m", "openai:able-agent", "--models", "models.yaml", "--cost", "1"]);
    let shown = remote.shown();
    assert_eq!((ran.code, &shown["hold_reason"]), (4, &"budget".into()), "{}", ran.stderr);
    let cost = shown["cost_usd"].as_f64().unwrap();
    assert!((0.3..=1.0).contains(&cost), "{cost}");
    // The server's address and the table of models are the job's own, and nothing is asked of either again.
    std::fs::remove_file(remote.dir.path().join("models.yaml")).unwrap();
    let ran = remote.again("", &["--cost", "1000"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(remote.shown()["cost_usd"].as_f64().unwrap() > 1.0);
}

/// Has `work` done, and pauses the job as soon as it waits for its server.
fn paused_when_out(remote: &RemoteRun, work: impl FnOnce() -> Ran + Send) {
    let (ran, asked) = std::thread::scope(|scope| {
        let work = scope.spawn(work);
        let is_out = || {
            let shown = remote.dir.run_with(&[], &["show", "last", "--json"]);
            serde_json::from_str::<Value>(&shown.stdout).is_ok_and(|shown| shown["hold_reason"] == "outage")
        };
        while !is_out() && !work.is_finished() {}
        let asked = remote.dir.run_with(&[], &["pause", "last"]);
        (work.join().unwrap(), asked)
    });
    assert_eq!((ran.code, asked.code), (4, 0), "{} {}", ran.stderr, asked.stderr);
    let shown = remote.shown();
    assert_eq!((&shown["status"], &shown["hold_reason"]), (&"held".into(), &"paused".into()));
}

#[test]
fn a_pause_is_heard_while_the_server_is_down() {
    let remote = RemoteRun::new(Setup { chaos: Chaos::only(Mishap::Error500, 100, 1), ..Setup::default() });
    paused_when_out(&remote, || remote.run("", &["-m", "openai:able-agent"]));
}

#[test]
fn a_server_that_has_answered_the_job_before_and_is_down_when_it_is_resumed_is_waited_for() {
    let mut remote = RemoteRun::new(Setup::default());
    assert_eq!(remote.run("", &["-m", "openai:able-agent", "--turns", "3"]).code, 4);
    remote.server = None;
    paused_when_out(&remote, || remote.again("", &["--turns", "500"]));
    // An address that is typed anew, and wrong, is a slip.
    let ran = remote.again("", &["--base-url", "http://127.0.0.1:1/v1"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}

#[test]
fn another_model_goes_on_where_the_first_refuses_the_key() {
    let remote = RemoteRun::new(Setup { key: Some("sk-right".to_owned()), ..Setup::default() });
    let text = shipped("summarize-documents").unwrap().replacen("---\n", "---\nfallback: [offline]\n", 1);
    remote.dir.put("sum.md", text);
    let schemas = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions/schemas");
    for file in std::fs::read_dir(schemas).unwrap().map(Result::unwrap) {
        remote.dir.put(&format!("schemas/{}", file.file_name().to_str().unwrap()), std::fs::read(file.path()).unwrap());
    }
    let call = [
        "run",
        "./sum.md",
        "-d",
        "docs",
        "-q",
        "-m",
        "openai:able-agent",
        "--base-url",
        &remote.url,
        "--api-key-env",
        "NIGHT_KEY",
    ];
    let ran = remote.dir.run_with(&[("NIGHT_KEY", "sk-wrong")], &call);
    assert_eq!((ran.code, &remote.shown()["status"]), (0, &"completed".into()), "{}", ran.stderr);
}

#[test]
fn another_model_goes_on_where_the_first_is_not_there() {
    let dir = TestDir::new();
    let text = unproved(shipped(TASK).unwrap()).replacen("---\n", "---\nfallback: [offline]\n", 1);
    dir.put("extract.md", text);
    let schema = "schemas/requirements.schema.json";
    dir.put(schema, std::fs::read(format!("{}/instructions/{schema}", env!("CARGO_MANIFEST_DIR"))).unwrap());
    // A port that nobody listens at: it was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let ran = dir.run_with(&[], &["run", "./extract.md", "-d", "docs", "-m", "openai:gone", "--base-url", &url]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("openai:gone is left (") && ran.stderr.contains("; offline goes on\n"),
        "{}",
        ran.stderr
    );
    let shown: Value = serde_json::from_str(&dir.run_with(&[], &["show", "last", "--json"]).stdout).unwrap();
    assert_eq!(shown["status"], "completed");
    // The attempt that led to it is on record.
    let archive = std::path::Path::new(shown["workspace"].as_str().unwrap()).join("archive/phase-00-bootstrap");
    let journal = std::fs::read_to_string(archive.join("journal.jsonl")).unwrap();
    assert_eq!(
        journal.matches(r#"{"type":"attempt_failed","turn":1,"attempt":1,"kind":"unreachable""#).count(),
        1,
        "{journal}"
    );
}

#[test]
fn a_jobs_server_stays_whatever_the_model_and_its_key_goes_nowhere_else() {
    let setup = || Setup { key: Some("sk-right".to_owned()), ..Setup::default() };
    let (remote, other) = (RemoteRun::new(setup()), Server::start(setup()));
    let url = other.base_url(Format::OpenAi);
    // What is configured when a job is resumed, and the keys of others, are not this job's.
    let keys = [("NIGHT_KEY", "sk-right"), ("ANTHROPIC_API_KEY", "sk-vendor"), ("OVERNIGHT_BASE_URL", url.as_str())];
    let again = |more: &[&str]| remote.dir.run_with(&keys, &[&["resume", "last", "-q"], more].concat());
    let json = |words: &[&str]| -> Value {
        serde_json::from_str(&remote.dir.run_with(&[], &[words, &["--json"]].concat()).stdout).unwrap()
    };
    assert_eq!(remote.run("sk-right", &["-m", "openai:one", "--turns", "1"]).code, 4);
    assert_eq!(again(&["-m", "openai:two", "--turns", "2"]).code, 4);
    let turns = |model: &str, turns: u64| json!({"model": model, "answered_as": null, "tier": "standard", "left_flex": null, "turns": turns});
    let models = json!([turns("openai:one", 1), turns("openai:two", 1)]);
    for told in [
        &json(&["show", "last"])["models"],
        &json(&["audit", "last"])["models"],
        &json(&["audit", "last", "--phase", "0"])[0]["phase"]["models"],
        &json(&["report"])["jobs"][0]["models"],
    ] {
        assert_eq!(*told, models);
    }
    for words in [&["show", "last"][..], &["audit", "last"], &["audit", "last", "--phase", "0"], &["report"]] {
        let told = remote.dir.run_with(&[], words).stdout;
        assert!(told.contains("openai:one (1 turn), openai:two (1 turn)"), "{told}");
    }
    // The model that was chosen stays as well.
    assert_eq!(again(&["--turns", "3"]).code, 4);
    assert_eq!(json(&["show", "last"])["models"][1], turns("openai:two", 2));
    // A model of another provider is asked for at the same server, without its provider's key.
    assert_eq!(again(&["-m", "anthropic:three", "--turns", "4"]).code, 4);
    assert_eq!(json(&["show", "last"])["models"][2], turns("anthropic:three", 1));
    // Another server is another that must be named, with its own key.
    assert_eq!(other.counts().requests, 0);
    let ran = again(&["-m", "openai:two", "--base-url", &url, "--turns", "500"]);
    assert!(ran.code == 2 && ran.stderr.contains("wants a key and was sent none"), "{}", ran.stderr);
    let ran = again(&["--base-url", "default", "--turns", "500"]);
    let sentence = "error: OPENAI_API_KEY is not set: set it, or name another variable with --api-key-env\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (2, sentence));
    let ran = again(&["--base-url", &url, "--api-key-env", "NIGHT_KEY", "--turns", "500"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn a_providers_own_server_is_not_left_for_anothers_unless_that_is_said() {
    let dir = TestDir::new();
    // Nobody is there: an address that never answered is wrong, and no outage.
    assert_eq!(dir.run_with(&[], &["run", TASK, "-d", "docs", "-q", "-m", "ollama:one"]).code, 2);
    let keys = [("OPENAI_API_KEY", "sk-vendor")];
    let ran = dir.run_with(&keys, &["resume", "last", "-q", "-m", "openai:two"]);
    assert!(ran.code == 2 && ran.stderr.contains("at another server than the one that has the documents"), "{ran:?}");
}

#[test]
fn a_fallback_is_sought_at_the_jobs_server() {
    let remote = RemoteRun::new(Setup { known: Some("second".to_owned()), ..Setup::default() });
    let text = unproved(shipped(TASK).unwrap()).replacen("---\n", "---\nfallback: [\"openai:second\"]\n", 1);
    remote.dir.put("extract.md", text);
    let schema = "schemas/requirements.schema.json";
    remote.dir.put(schema, std::fs::read(format!("{}/instructions/{schema}", env!("CARGO_MANIFEST_DIR"))).unwrap());
    let call = ["run", "./extract.md", "-d", "docs", "-q", "-m", "openai:first", "--base-url", &remote.url];
    let ran = remote.dir.run_with(&[("OPENAI_API_KEY", "sk-vendor")], &call);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(remote.shown()["models"][0]["model"], "openai:second");
}

/// Instructions without second reader and verifier, which a fallback to the rules could not be.
fn unproved(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines.filter(|line| !line.starts_with("second_reader:") && !line.starts_with("verify:")).collect()
}

/// Who gives no price is told no sum, and can't have one held.
#[test]
fn a_cost_that_nobody_knows_is_told_as_such() {
    let remote = RemoteRun::new(Setup::default());
    let base = ["run", TASK, "-d", "docs", "--base-url", &remote.url, "-m", "openai:able-agent"];
    let ran = remote.dir.run_with(&[], &base);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = |text: &str, what: &str| text.lines().any(|line| line.contains(what) && line.contains("cost unknown"));
    assert!(told(&ran.stdout, "worked: "), "{}", ran.stdout);
    for (command, what) in
        [("show last", "tokens: "), ("jobs", "extract"), ("audit last", " all "), ("report last", "done, ")]
    {
        let shown = remote.dir.run_with(&[], &command.split(' ').collect::<Vec<_>>()).stdout;
        assert!(told(&shown, what), "{command}: {shown}");
    }
    assert_eq!(remote.shown()["cost_usd"], Value::Null);
}

#[test]
fn a_held_job_takes_no_limit_that_no_price_can_hold() {
    let remote = RemoteRun::new(Setup::default());
    assert_eq!(remote.run("", &["-m", "openai:able-agent", "--turns", "1"]).code, 4);
    let ran = remote.again("", &["--turns", "500", "--cost", "5"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: no price is known for openai:able-agent, so that "), "{}", ran.stderr);
    let ran = remote.again("", &["--turns", "500", "--cost", "5", "--unpriced"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}
