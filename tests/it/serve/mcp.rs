//! The Model Context Protocol: over HTTP with a token, and on standard input and output.

use super::{PROGRAM, Served, TestDir, api::Caller, worked};
use reqwest::{
    Method, StatusCode,
    header::{ACCEPT, CONTENT_TYPE},
};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

/// One request after the other on standard input; the answers by their numbers.
fn spoken(dir: &TestDir, flags: &[&str], requests: &[(&str, Value)]) -> Vec<Value> {
    let mut command = Command::new(PROGRAM);
    command.current_dir(dir.path()).env_clear().env("PATH", "/usr/bin:/bin").arg("mcp").args(flags);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut input, mut lines) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    let mut ask = |id: usize, method: &str, params: &Value| {
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).unwrap();
        let line = lines.next().unwrap().unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let server = ask(0, "initialize", &hello);
    assert_eq!(server["result"]["serverInfo"]["name"], "overnight");
    let answers = requests.iter().enumerate().map(|(place, (method, params))| ask(place + 1, method, params)).collect();
    drop(input);
    assert!(child.wait().unwrap().success());
    answers
}

fn called(name: &str, arguments: &Value) -> (&'static str, Value) {
    ("tools/call", json!({"name": name, "arguments": arguments}))
}

/// The text of a tool's answer, and whether it is an error.
fn told(answer: &Value) -> (String, bool) {
    let result = &answer["result"];
    (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == true)
}

#[test]
fn an_agent_looks_at_jobs_and_reads_their_documents() {
    let (dir, ids) = worked();
    let job = &ids[1];
    let resource = format!("overnight://jobs/{job}/documents/plain%2Emd");
    let answers = spoken(
        &dir,
        &[],
        &[
            ("tools/list", json!({})),
            called("getJob", &json!({"id": job})),
            called("listJobs", &json!({"limit": 1, "status": "completed"})),
            called("getJobDoubts", &json!({"id": job})),
            ("resources/list", json!({})),
            ("resources/read", json!({"uri": resource})),
            called("submitBatch", &json!({"instructions": "extract-requirements", "paths": ["x"]})),
            called("getJob", &json!({})),
            called("getJob", &json!({"id": "nowhere"})),
        ],
    );
    let tools = answers[0]["result"]["tools"].as_array().unwrap();
    let get_job = tools.iter().find(|tool| tool["name"] == "getJob").unwrap();
    assert_eq!((tools.len(), &get_job["inputSchema"]["required"]), (10, &json!(["id"])));
    let shown: Value = serde_json::from_str(&told(&answers[1]).0).unwrap();
    assert_eq!(shown, serde_json::from_str::<Value>(&dir.run_with(&[], &["show", job, "--json"]).stdout).unwrap());
    let listed: Value = serde_json::from_str(&told(&answers[2]).0).unwrap();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    assert!(!told(&answers[3]).1);
    let resources = answers[4]["result"]["resources"].as_array().unwrap();
    assert!(resources.iter().any(|one| one["uri"] == resource.as_str()), "{resources:?}");
    assert_eq!(answers[5]["result"]["contents"][0]["text"], "# Plain\n\nA guest must leave.\n");
    let refused = [&answers[6], &answers[7], &answers[8]].map(told);
    assert_eq!(
        refused,
        [
            ("This needs the role operator, and your token has reader.".to_owned(), true),
            ("the argument id is missing: it is a text".to_owned(), true),
            ("There is no such job.".to_owned(), true),
        ]
    );
}

#[test]
fn over_http_an_agent_has_the_role_of_its_token() {
    let dir = TestDir::new();
    dir.put("in/one.md", "# One\n\nA guest must leave.\n");
    let served = Served::start(&dir, &["--mcp", "--documents-root", "in"]);
    let ask = |caller: &Caller<'_>| {
        let (method, params) =
            called("submitBatch", &json!({"instructions": "extract-requirements", "paths": ["one.md"]}));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = caller.request(Method::POST, "/mcp").header(ACCEPT, "application/json, text/event-stream");
        let request = request.header("mcp-protocol-version", "2025-06-18").header(CONTENT_TYPE, "application/json");
        let answer = request.body(body.to_string()).send().unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        told(&serde_json::from_str(&answer.text().unwrap()).unwrap())
    };
    let [reviewer, operator] = ["reviewer", "operator"].map(|role| Caller::new(&dir, &served, role, role));
    let reader = Caller::new(&dir, &served, "reader", "reader");
    assert_eq!(ask(&reader), ("This needs the role operator, and your token has reader.".to_owned(), true));
    assert_eq!(ask(&reviewer), ("This needs the role operator, and your token has reviewer.".to_owned(), true));
    let (batch, is_error) = ask(&operator);
    assert!(!is_error && batch.contains("\"queued\":1"), "{batch}");
    assert_eq!(operator.get("/api/v1/batches")["items"].as_array().unwrap().len(), 1);
    let only_shows = Served::start(&dir, &["--mcp", "--read-only"]);
    let elsewhere = Caller { served: &only_shows, ..operator };
    assert_eq!(ask(&elsewhere), ("This server only shows: it was started with --read-only.".to_owned(), true));
    // Without the flag there is no such address.
    let other = Served::start(&dir, &[]);
    assert_eq!(other.get("/mcp").status(), StatusCode::NOT_FOUND);
}
