//! The program with a model behind HTTP: what the doctor finds, what a wrong key, model or URL says, where a job goes on.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    http::{Act, Server, answer},
    server::{Format, Server as ModelServer, Setup},
};
use crate::cli_run::{PROGRAM, TestDir};
use overnight::model::scripted::Scripted;
use regex::Regex;
use serde_json::{Value, json};
use std::{path::Path, process::Command, sync::Arc};

const JSON: &str = "content-type: application/json\r\n";
const KEY: &str = "sk-planted/0123456789";

/// Exit code, stdout and stderr.
async fn run(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String, String) {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(folder).env_clear().envs(environment.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// A reply with these calls of `note`, after so many tokens of prompt.
fn reply(calls: usize, tokens: u64) -> Act {
    let call = |number: usize| {
        let function = json!({"name": "note", "arguments": "{\"text\": \"one\"}"});
        json!({"id": format!("c{number}"), "type": "function", "function": function})
    };
    let calls: Vec<Value> = (0..calls).map(call).collect();
    let stop = if calls.is_empty() { "stop" } else { "tool_calls" };
    let message =
        json!({"role": "assistant", "content": "ready", "reasoning_content": "First one.", "tool_calls": calls});
    let choice = json!({"index": 0, "message": message, "finish_reason": stop});
    let usage = json!({"prompt_tokens": tokens, "completion_tokens": 9,
        "completion_tokens_details": {"reasoning_tokens": 7}});
    answer("200 OK", JSON, &json!({"model": "small-1", "choices": [choice], "usage": usage}).to_string())
}

/// Checks as `ok name: detail`.
fn lines(checks: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let shown = |check: &Value| {
        let mark = if check["passed"] == json!(true) { "ok" } else { "failed" };
        format!("{mark} {}: {}", text(&check["name"]), text(&check["detail"]))
    };
    checks.as_array().unwrap().iter().map(shown).collect()
}

#[tokio::test]
async fn what_is_wrong_with_a_model_is_said_with_what_to_do() {
    let refused = |status: &str, words: &str| answer(status, JSON, &json!({"error": {"message": words}}).to_string());
    let call = "ok call: small-1 answers";
    let tools = "ok tools: they are called, with the table's tool choice (not told which)";
    let parallel = "ok parallel: several calls come in one reply";
    let cache = "ok cache: none of the 6000 tokens that were sent again were read from it, as the server counts";
    let window = "ok window: not known, taken for 128000 tokens: add `window_tokens` for this model to the models file";
    let price = |took: &str| {
        format!(
            "ok price: not known (this took {took} out): jobs count tokens only, and a limit on the cost is refused; add `price` for this model to the models file"
        )
    };
    let back = "results of calls go back, and with them what came of the model's reasoning";
    for (acts, requests, expected) in [
        (
            vec![reply(0, 6000), reply(1, 6000), reply(0, 6100)],
            3,
            vec![
                call.to_owned(),
                "failed tools: with the table's tool choice (not told which): it answered with text and called no tool; add `tool_choice: required` for this model to the models file".to_owned(),
                "ok parallel: one call comes at a time: jobs take more turns".to_owned(),
                format!("ok turns: {back} (14 tokens)"),
                cache.to_owned(),
                window.to_owned(),
                price("18100 tokens in and 27"),
            ],
        ),
        (
            vec![reply(0, 6000)],
            2,
            vec![
                call.to_owned(),
                "failed tools: with the table's tool choice (not told which): it answered with text and called no tool; jobs can't be worked with it; use another model, or a server that can call tools".to_owned(),
                window.to_owned(),
                price("12000 tokens in and 18"),
            ],
        ),
        (
            vec![reply(2, 1000), reply(0, 6000)],
            2,
            vec![
                call.to_owned(),
                tools.to_owned(),
                parallel.to_owned(),
                format!("ok turns: {back} (14 tokens)"),
                cache.replace("6000", "1000"),
                "failed window: 128000 tokens are taken for it, and of a prompt of about 5604 the server read 1000: it cuts prompts off and doesn't say so; start the server with a larger window, or use another model".to_owned(),
                price("7000 tokens in and 18"),
            ],
        ),
        (
            vec![reply(2, 6000), refused("400 No", "no such field")],
            2,
            vec![
                call.to_owned(),
                tools.to_owned(),
                parallel.to_owned(),
                format!("failed turns: {back} (7 tokens); then turn 2 failed (URL doesn't take what it was sent for the model 'night' (400: no such field)): jobs can't be worked with it; use another model or server"),
                window.to_owned(),
                price("6000 tokens in and 9"),
            ],
        ),
        (
            vec![refused("400 No", "This model's maximum context length is 4096 tokens")],
            1,
            vec!["failed window: 128000 tokens are taken for it, and a prompt of about 5604 is too long (the prompt doesn't fit in the model 'night' at URL (400: This model's maximum context length is 4096 tokens)); start the server with a larger window, or use another model".to_owned()],
        ),
        (vec![refused("500 No", "no grammar")], 2, vec!["failed call: URL failed (500: no grammar); try again later".to_owned()]),
        (
            vec![refused("401 No", &format!("wrong key {KEY}"))],
            1,
            vec!["failed call: URL refuses the key in NIGHT_KEY (401: wrong key ***): put the right one there, or name another variable with --api-key-env".to_owned()],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::new(acts).await;
        let arguments =
            ["doctor", "--json", "--model", "openai:night", "--base-url", &server.url, "--api-key-env", "NIGHT_KEY"];
        let (code, stdout, stderr) = run(folder.path(), &arguments, &[("NIGHT_KEY", KEY)]).await;
        let found = lines(&serde_json::from_str::<Value>(&stdout).unwrap()["checks"]);
        let found: Vec<String> = found[6..].iter().map(|line| line.replace(&server.url, "URL")).collect();
        assert_eq!((code, found, server.requests.lock().unwrap().len()), (1, expected, requests), "{stderr}");
        assert!(!format!("{stdout}{stderr}").contains("planted"));
    }
}

/// A server whose model does what the trial asks for, again and again.
fn able(key: Option<&str>) -> ModelServer {
    let script = json!({"version": 1, "then": "repeat", "replies": [
        {"calls": [{"note": {"text": "one"}}, {"wait": {"seconds": 2}}]},
        {"calls": [{"note": {"text": "three"}}]},
        {"text": "ready"},
    ]});
    let model = Arc::new(Scripted::parse("script", &script.to_string()).unwrap());
    ModelServer::start(Setup { model, key: key.map(str::to_owned), ..Setup::default() })
}

const MODELS: &str = "version: 1\nmodels:\n  - match: \"*:night\"\n    window_tokens: 200000\n    tool_choice: auto\n    price: { dated: \"2026-11-25\", input: 1, output: 2 }\n";

/// Without the counts of the prefix, which differ from format to format.
fn counted(told: &str) -> String {
    let replaced =
        |pattern: &str, text: &str, with: &str| Regex::new(pattern).unwrap().replace_all(text, with).into_owned();
    replaced(r"\b\d{4,5} tokens", &replaced(r"\d+% of", told, "N% of"), "N tokens")
}

#[test]
fn a_model_is_tried_with_a_conversation_as_a_job_has_it() {
    let plain = "results of calls go back; no reasoning came with the calls";
    let signed = "results of calls go back, and with them what came of the model's reasoning (120 tokens)";
    let (cached, uncached) = (
        "N% of the N tokens that were sent again were read from it",
        "none of the N tokens that were sent again were read from it, as the server counts",
    );
    let (few, more) = ("38 out and cost 0.0172", "158 out and cost 0.0175");
    for (format, provider, turns, cache, spent) in [
        (Format::OpenAi, "openai", plain, cached, few),
        (Format::Anthropic, "anthropic", plain, cached, few),
        (Format::Gemini, "gemini", signed, cached, more),
        (Format::Ollama, "ollama", plain, uncached, "38 out and cost 0.0173"),
    ] {
        let (server, dir) = (able(None), TestDir::new());
        dir.put("models.yaml", MODELS);
        let (name, url) = (format!("{provider}:night"), server.base_url(format));
        let ran = dir.run_with(&[], &["doctor", "-m", &name, "--base-url", &url, "--models", "models.yaml"]);
        let told = counted(&ran.stdout);
        let found: Vec<&str> = told.lines().skip_while(|line| !line.contains(" model: ")).collect();
        let expected = format!(
            "ok     model: {name} can be used; 200000 tokens fit in it\n\
             ok     call: night answers\n\
             ok     tools: they are called, with the table's tool choice (auto)\n\
             ok     parallel: several calls come in one reply\n\
             ok     turns: {turns}\n\
             ok     cache: {cache}\n\
             ok     window: 200000 tokens, by the table\n\
             ok     price: this took N tokens in and {spent} USD, at 1 USD per million tokens in and 2 out, as of 2026-11-25"
        );
        assert_eq!((ran.code, found.join("\n")), (0, expected));
        let counts = server.counts();
        assert_eq!((counts.requests, counts.complaints), (3, Vec::new()));
    }
}

#[test]
fn every_model_of_the_night_is_tried_and_one_that_fails_is_told() {
    let (server, dir) = (able(Some("sk-right")), TestDir::new());
    let url = server.base_url(Format::OpenAi);
    let variables = [("NIGHT_KEY", "sk-right"), ("DAY_KEY", "sk-wrong"), ("OVERNIGHT_DOCUMENTS_OCR", "never")];
    let run = |words: &[&str]| dir.run_with(&variables, words);
    let task = std::fs::read_to_string(dir.path().join("task.md")).unwrap();
    let with = "---\nmodel: openai:night\nfallback: [offline]\n";
    dir.put("instructions/second.md", task.replacen("---\n", with, 1).replace("name: task", "name: second"));
    dir.put("models.yaml", MODELS);
    dir.put("overnight.yaml", format!("base_url: {url}\napi_key_env: NIGHT_KEY\nmodels_file: models.yaml\n"));
    let night = ["--timezone", "UTC", "--", "second", "-d", "docs"];
    let day = ["submit", "task", "-d", "docs", "--batch", "day", "-m", "openai:night", "--api-key-env", "DAY_KEY"];
    dir.put("instructions/task.md", task);
    for (words, code) in [
        (&["submit", "second", "-d", "docs", "--batch", "night"][..], 0),
        (&day, 0),
        (&[&["schedule", "add", "nightly", "@daily"], &night[..]].concat(), 0),
        (&[&["schedule", "add", "paused", "@daily"], &night[..], &["-m", "openai:third"]].concat(), 0),
        (&["schedule", "pause", "paused"], 0),
        (&["schedule", "add", "gone", "@daily", "--timezone", "UTC", "--", "task", "-d", "docs"], 0),
        (&["run", "task", "-d", "docs", "-q", "-m", "openai:gone", "--base-url", "http://127.0.0.1:1/v1"], 2),
    ] {
        let ran = run(words);
        assert_eq!(ran.code, code, "{ran:?}");
    }
    std::fs::remove_file(dir.path().join("instructions/task.md")).unwrap();
    let ran = run(&["doctor", "--all"]);
    let from = ran.stdout.find("failed schedule").unwrap();
    let job = dir.workspace();
    let job = job.file_name().unwrap().to_str().unwrap();
    let told = ran.stdout[from..].replace(&url, "URL/").replace(url.trim_end_matches('/'), "URL").replace(job, "JOB");
    let told = counted(&told);
    let tried = "\
ok     model: openai:night can be used; 200000 tokens fit in it
ok     call: night answers
ok     tools: they are called, with the table's tool choice (auto)
ok     parallel: several calls come in one reply
ok     turns: results of calls go back; no reasoning came with the calls
ok     cache: N% of the N tokens that were sent again were read from it
ok     window: 200000 tokens, by the table
ok     price: this took N tokens in and 38 out and cost 0.0172 USD, at 1 USD per million tokens in and 2 out, as of 2026-11-25";
    let expected = format!("\
failed schedule: gone: there are no instructions 'task', neither as instructions/task.md nor with the program: known are extract-requirements, summarize-documents, audit-policy, extract-invoices, extract-contracts, second

openai:night at URL/, key in NIGHT_KEY (instructions second, schedule nightly, batch 'night')
{tried}

offline (instructions second, schedule nightly, batch 'night')
ok     model: offline can be used; 1000000 tokens fit in it

openai:gone at http://127.0.0.1:1/v1 (job JOB)
ok     model: openai:gone can be used; 128000 tokens fit in it
failed call: http://127.0.0.1:1/v1 can't be reached (connection refused): check --base-url or whether the server runs

openai:night at URL/, key in DAY_KEY (batch 'day')
ok     model: openai:night can be used; 200000 tokens fit in it
failed call: URL refuses the key in DAY_KEY (401: API key not valid. Please pass a valid API key.): put the right one there, or name another variable with --api-key-env
");
    assert_eq!((ran.code, told), (1, expected), "{}", ran.stderr);
    let found: Value = serde_json::from_str(&run(&["doctor", "--all", "--json"]).stdout).unwrap();
    let brief = |model: &Value| json!([model["model"], model["api_key_env"], model["used_by"], model["passed"]]);
    let users = ["instructions second", "schedule nightly", "batch 'night'"];
    let expected = json!([
        ["openai:night", "NIGHT_KEY", users, true],
        ["offline", null, users, true],
        ["openai:gone", null, [format!("job {job}")], false],
        ["openai:night", "DAY_KEY", ["batch 'day'"], false],
    ]);
    assert_eq!(json!(found["models"].as_array().unwrap().iter().map(brief).collect::<Vec<_>>()), expected);
    assert_eq!(found["passed"], false);
}

#[tokio::test]
async fn what_is_missing_or_wrong_is_one_sentence_before_the_night() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.md"), "# A\n\nThe system shall work.\n").unwrap();
    let model = ["run", "extract-requirements", "-d", "a.md", "--model"];
    let none: &[(&str, &str)] = &[];
    for (arguments, environment, sentence) in [
        (
            &["openai:gpt-4o"][..],
            none,
            "OPENAI_API_KEY is not set: set it, or name another variable with --api-key-env",
        ),
        (
            &["anthropic:claude-x", "--api-key-env", "NIGHT_KEY"],
            &[("NIGHT_KEY", " "), ("ANTHROPIC_API_KEY", KEY)],
            "NIGHT_KEY is not set: set it, or name another variable with --api-key-env",
        ),
        (
            &["openai:x", "--base-url", "localhost:8080"],
            none,
            "--base-url must begin with http:// or https://, not 'localhost'",
        ),
        (
            &["gemini:x", "--api-key-env", "A"],
            &[("A", "sk-planted\n0123")],
            "the key in A has characters that can't be sent: check it for blanks and line ends",
        ),
        (&["ollama:x", "--models", "none.yaml"], none, "none.yaml can't be used as models file: no such file"),
    ] {
        let found = run(folder.path(), &[&model, arguments].concat(), environment).await;
        assert_eq!(found, (2, String::new(), format!("error: {sentence}\n")));
    }
}

#[test]
fn a_key_goes_over_plain_http_to_private_networks_only() {
    let dir = TestDir::new();
    let run = |words: &[&str], more: &[(&str, &str)]| {
        let variables = [&[("NIGHT_KEY", KEY), ("OVERNIGHT_MODEL", "openai:night")], more].concat();
        dir.run_with(&variables, words)
    };
    let job = |more: &[&str]| {
        let ran =
            run(&[&["run", "./task.md", "-d", "docs", "--base-url", "http://models.example/v1"], more].concat(), &[]);
        assert_eq!(ran.stdout, "");
        (ran.code, ran.stderr)
    };
    let refused = |what: &str| {
        (
            2,
            format!(
                "error: {what} would go to http://models.example/v1 unencrypted, for all on the way to read: use https://, or allow it with \
                 --allow-http\n"
            ),
        )
    };
    assert_eq!(job(&["--api-key-env", "NIGHT_KEY"]), refused("the key in NIGHT_KEY"));
    assert_eq!(job(&["--header", "x-key=planted"]), refused("the header x-key"));
    // Opened and not called.
    let opened = |url: &str, key: &[&str], more: &[(&str, &str)]| {
        let ran = run(&[&["doctor", "--json", "--base-url", url], key].concat(), more);
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        found["checks"].as_array().unwrap().iter().find(|check| check["name"] == "model").unwrap()["passed"]
            == json!(true)
    };
    let key = ["--api-key-env", "NIGHT_KEY"];
    assert!(!opened("http://models.example/v1", &key, &[]));
    assert!(opened("http://models.example/v1", &key, &[("OVERNIGHT_ALLOW_HTTP", "true")]));
    assert!(opened("http://models.example/v1", &[&key[..], &["--allow-http"]].concat(), &[]));
    assert!(opened("http://models.example/v1", &[], &[]));
    assert!(opened("https://models.example/v1", &key, &[]));
    assert!(opened("http://10.1.2.3:8000/v1", &key, &[]));
}
