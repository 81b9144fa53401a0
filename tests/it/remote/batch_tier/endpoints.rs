//! The server's batch endpoints by hand: what no vendor takes is refused in its words, and kept as a complaint.

use super::{Batching, Server, Setup};
use crate::remote::served::ask;
use serde_json::{Value, json};

const OPENAI: &str = "/v1/batches";
const ANTHROPIC: &str = "/v1/messages/batches";
const GEMINI: &str = "/v1beta/models/m:batchGenerateContent";

/// A batch of Anthropic's, of calls that are all the same but for their names.
fn requests(keys: &[&str]) -> Value {
    let params = json!({"model": "m", "max_tokens": 16, "messages": [{"role": "user", "content": "Begin."}]});
    let request = |key: &&str| json!({"custom_id": key, "params": params});
    json!({"requests": keys.iter().map(request).collect::<Vec<_>>()})
}

/// One of Gemini's.
fn batch(keys: &[&str]) -> Value {
    let call = json!({"contents": [{"role": "user", "parts": [{"text": "Begin."}]}]});
    let request = |key: &&str| json!({"request": call, "metadata": {"key": key}});
    let requests = keys.iter().map(request).collect::<Vec<_>>();
    json!({"batch": {"displayName": "mine", "inputConfig": {"requests": {"requests": requests}}}})
}

#[test]
fn what_no_vendor_takes_for_a_batch_is_refused_in_its_words() {
    let server = Server::start(Setup { batching: Some(Batching::default()), ..Setup::default() });
    let mut streamed = requests(&["one"]);
    streamed["requests"][0]["params"]["stream"] = json!(false);
    let mut short = requests(&["one"]);
    short["requests"][0]["params"].as_object_mut().unwrap().remove("max_tokens");
    let mut unnamed = batch(&["one"]);
    unnamed["batch"].as_object_mut().unwrap().remove("displayName");
    let mut odd = batch(&["one"]);
    odd["batch"]["inputConfig"]["files"] = json!([]);
    let created = json!({"input_file_id": "file-1", "endpoint": "/v1/responses", "completion_window": "24h"});
    let without = |name: &str| {
        let mut body = created.clone();
        body.as_object_mut().unwrap().remove(name);
        body
    };
    let mut named = created.clone();
    named["metadata"] = json!({"number": 7});
    let cases = [
        (OPENAI, without("input_file_id"), "Missing required parameter: 'input_file_id'."),
        (OPENAI, without("completion_window"), "Missing required parameter: 'completion_window'."),
        (OPENAI, named, "Invalid 'metadata'"),
        (OPENAI, created.clone(), "No such File object: file-1"),
        ("/v1/files", json!({}), "Could not parse multipart form"),
        (ANTHROPIC, requests(&[]), "requests: List should have from 1"),
        (ANTHROPIC, requests(&["a b"]), "requests.0.custom_id: String should match pattern"),
        (ANTHROPIC, requests(&["one", "one"]), "requests.1.custom_id: custom_id must be unique"),
        (ANTHROPIC, streamed, "requests.0.params.stream: not supported in batches"),
        (ANTHROPIC, short, "requests.0.params.max_tokens: Field required"),
        (GEMINI, unnamed, "batch.display_name"),
        (GEMINI, odd, "Unknown name \\\"files\\\""),
        (GEMINI, batch(&["one", "one"]), "'one' is there twice"),
    ];
    for (path, body, words) in &cases {
        let answered = ask(&server, path, body);
        assert!(answered.starts_with("HTTP/1.1 400 Bad Request\n"), "{words}: {answered}");
        assert!(answered.contains(words), "{words}: {answered}");
    }
    assert_eq!(server.counts().complaints.len(), cases.len());
    assert_eq!(server.batches().created, Vec::<usize>::new());
    // What is right is taken.
    assert!(ask(&server, ANTHROPIC, &requests(&["one", "two"])).contains("\"processing_status\":\"in_progress\""));
    assert!(ask(&server, GEMINI, &batch(&["one"])).contains("\"state\":\"BATCH_STATE_PENDING\""));
    assert_eq!((server.batches().created, server.counts().complaints.len()), (vec![2, 1], cases.len()));
}
