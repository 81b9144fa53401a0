//! The program with a model behind HTTP: what the doctor finds, what a wrong key, model or URL says, where a job goes on.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::http::{Server, answer};
use serde_json::{Value, json};
use std::{path::Path, process::Command};

const PROGRAM: &str = env!("CARGO_BIN_EXE_overnight");
const KEY: &str = "sk-planted/0123456789";

/// Exit code, stdout and stderr.
async fn run(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String, String) {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(folder).env_clear().envs(environment.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn reply(calls: usize) -> String {
    let call = |number: usize| {
        let function = json!({"name": "note", "arguments": "{\"text\": \"ready\"}"});
        json!({"id": format!("c{number}"), "type": "function", "function": function})
    };
    let calls: Vec<Value> = (0..calls).map(call).collect();
    let stop = if calls.is_empty() { "stop" } else { "tool_calls" };
    let message = json!({"role": "assistant", "content": "ready", "tool_calls": calls});
    let choice = json!({"index": 0, "message": message, "finish_reason": stop});
    json!({"model": "small-1", "choices": [choice], "usage": {"prompt_tokens": 90, "completion_tokens": 9}}).to_string()
}

/// The lines of the model, as `ok name: detail`.
fn lines(found: &str) -> Vec<String> {
    let found: Value = serde_json::from_str(found).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let shown = |check: &Value| {
        let mark = if check["passed"] == json!(true) { "ok" } else { "failed" };
        format!("{mark} {}: {}", text(&check["name"]), text(&check["detail"]))
    };
    found["checks"].as_array().unwrap().iter().skip(3).map(shown).collect()
}

#[tokio::test]
async fn the_doctor_tries_a_model_and_says_what_to_do() {
    let json = "content-type: application/json\r\n";
    let called = |calls| answer("200 OK", json, &reply(calls));
    let refused = || answer("500 No", json, "{\"error\": {\"message\": \"no grammar\"}}");
    let window = "ok window: not known, taken for 128000 tokens: add `window_tokens` for this model to the models file";
    let price = "ok price: not known: jobs count tokens only, and --cost can't hold them; add `price` for this model to the models file";
    let opened = "ok model: openai:night can be used; 128000 tokens fit in it";
    for (acts, code, expected) in [
        (
            vec![called(1), called(1), refused(), called(2)],
            0,
            vec![
                opened.to_owned(),
                "ok server: it answers".to_owned(),
                "ok key: it is accepted".to_owned(),
                "ok name: small-1 answers, with 9 tokens".to_owned(),
                "ok tools: they are called, with the table's tool choice (not told which)".to_owned(),
                "ok required: works".to_owned(),
                "ok auto: doesn't work, and isn't used (URL failed (500: no grammar))".to_owned(),
                "ok parallel: several calls come in one reply".to_owned(),
                window.to_owned(),
                price.to_owned(),
            ],
        ),
        (
            vec![called(0), called(1), called(0), called(1)],
            1,
            vec![
                opened.to_owned(),
                "ok server: it answers".to_owned(),
                "ok key: it is accepted".to_owned(),
                "ok name: small-1 answers, with 9 tokens".to_owned(),
                "failed tools: with the table's tool choice (not told which): it answered with text and called no tool; add `tool_choice: required` for this model to the models file".to_owned(),
                "ok required: works".to_owned(),
                "failed auto: doesn't work (it answered with text and called no tool)".to_owned(),
                "ok parallel: one call comes at a time: jobs take more turns".to_owned(),
                window.to_owned(),
                price.to_owned(),
            ],
        ),
        (
            vec![answer("401 No", json, &format!("{{\"error\": \"wrong key {KEY}\"}}"))],
            1,
            vec![
                opened.to_owned(),
                "ok server: it answers".to_owned(),
                "failed key: URL refuses the key in NIGHT_KEY (401: wrong key ***): put the right one there, or name another variable with --api-key-env".to_owned(),
                window.to_owned(),
                price.to_owned(),
            ],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::new(acts).await;
        let arguments =
            ["doctor", "--json", "--model", "openai:night", "--base-url", &server.url, "--api-key-env", "NIGHT_KEY"];
        let (found, stdout, stderr) = run(folder.path(), &arguments, &[("NIGHT_KEY", KEY), ("OVERNIGHT_DOCUMENTS_OCR", "never")]).await;
        let first = "ok documents: no other programs help (`documents.ocr` is `never`)".to_owned();
        let others = expected.into_iter().map(|line| line.replace("URL", &server.url));
        let expected: Vec<String> = std::iter::once(first).chain(others).collect();
        assert_eq!((found, lines(&stdout)), (code, expected), "{stderr}");
        assert!(!format!("{stdout}{stderr}").contains("planted"));
    }
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
