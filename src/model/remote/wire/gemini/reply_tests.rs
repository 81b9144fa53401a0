//! Whole streams as the Gemini API sends them, and the replies read from them.

use super::*;
use crate::model::{
    Failure,
    remote::wire::{RawCall, RawReply},
};
use overnight_core::message::{Stop, Usage};
use proptest::prelude::*;
use std::time::Duration;

/// Reads the responses of a stream, up to the first failure.
fn hear(responses: &[Value]) -> Result<RawReply, Failure> {
    let mut decoder = Gemini.decoder();
    for response in responses {
        decoder.event(None, &response.to_string())?;
    }
    decoder.finish()
}

fn hear_whole(body: &Value) -> Result<RawReply, Failure> {
    let mut decoder = Gemini.decoder();
    decoder.whole(&body.to_string())?;
    decoder.finish()
}

fn says(parts: &Value) -> Value {
    json!({
        "candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "totalTokenCount": 100},
        "modelVersion": "gemini-x-001",
        "responseId": "r",
    })
}

fn last(parts: &Value, reason: &str) -> Value {
    json!({
        "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": reason, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 100, "cachedContentTokenCount": 70, "candidatesTokenCount": 20,
            "thoughtsTokenCount": 10, "totalTokenCount": 130,
        },
        "modelVersion": "gemini-x-001",
    })
}

fn usage() -> Usage {
    Usage { input: 100, output: 30, cached: 70, cache_written: 0, reasoning: 10 }
}

fn call(id: &str, name: &str, arguments: &str) -> RawCall {
    RawCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

fn heard(text: &str, calls: Vec<RawCall>, stop: Stop, carried: Option<Value>) -> RawReply {
    let model = "gemini-x-001".to_owned();
    RawReply { text: text.to_owned(), calls, usage: Some(usage()), stop: Some(stop), model, tier: None, carried }
}

#[test]
fn thoughts_text_and_two_calls() {
    let first =
        json!({"functionCall": {"id": "fc1", "name": "read_file", "args": {"path": "a"}}, "thoughtSignature": "c2ln"});
    let second = json!({"functionCall": {"name": "todo_list"}});
    let responses = [
        says(&json!([{"text": "Let me look.", "thought": true}])),
        says(&json!([{"text": "I "}])),
        says(&json!([{"text": "read"}, {"text": ""}, {"text": "."}])),
        says(&json!([first, second])),
        last(&json!([{"text": "", "thoughtSignature": "ZW5k"}]), "STOP"),
        // Anything after the end is no part of the reply.
        json!({"error": {"status": "INTERNAL"}}),
    ];
    let carried = json!([{"text": "I read."}, first, second, {"text": "", "thoughtSignature": "ZW5k"}]);
    let calls = vec![call("fc1", "read_file", "{\"path\":\"a\"}"), call("", "todo_list", "{}")];
    assert_eq!(hear(&responses), Ok(heard("I read.", calls, Stop::Done, Some(carried))));
}

#[test]
fn what_is_not_signed_need_not_go_back() {
    let responses =
        [says(&json!([{"text": "Hm.", "thought": true}, {"text": "Yes."}])), last(&json!([{"text": " So."}]), "STOP")];
    assert_eq!(hear(&responses), Ok(heard("Yes. So.", Vec::new(), Stop::Done, None)));
    // A signed text is never joined with another, before or after it; a signed thought is sent back.
    let parts = json!([
        {"text": "a"},
        {"text": "b", "thoughtSignature": "s"},
        {"text": "c"},
        {"text": "d", "thought": true, "thoughtSignature": "t"},
    ]);
    assert_eq!(hear(&[last(&parts, "STOP")]), Ok(heard("abc", Vec::new(), Stop::Done, Some(parts))));
}

#[test]
fn each_reason_to_finish() {
    let stop = |reason: &str| hear(&[last(&json!([{"text": "x"}]), reason)]);
    for (reason, expected) in [
        ("STOP", Stop::Done),
        ("UNEXPECTED_TOOL_CALL", Stop::Done),
        ("A_NEW_ONE", Stop::Done),
        ("MAX_TOKENS", Stop::Length),
        ("SAFETY", Stop::Refused),
        ("RECITATION", Stop::Refused),
        ("PROHIBITED_CONTENT", Stop::Refused),
        ("BLOCKLIST", Stop::Refused),
        ("SPII", Stop::Refused),
    ] {
        assert_eq!(stop(reason).map(|heard| heard.stop), Ok(Some(expected)), "{reason}");
    }
    for (reason, expected) in [
        ("MALFORMED_FUNCTION_CALL", FailureKind::Malformed),
        ("OTHER", FailureKind::Malformed),
        ("MISSING_THOUGHT_SIGNATURE", FailureKind::BadRequest),
        ("FINISH_REASON_UNSPECIFIED", FailureKind::BrokenStream),
        ("", FailureKind::BrokenStream),
    ] {
        assert_eq!(stop(reason).map_err(|failure| failure.kind), Err(expected), "{reason}");
    }
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 7}});
    let usage = Some(Usage { input: 7, ..Usage::default() });
    assert_eq!(hear(&[blocked]), Ok(RawReply { usage, stop: Some(Stop::Refused), ..RawReply::default() }));
}

#[test]
fn a_reply_without_a_reason_to_finish_is_broken_and_counts_may_come_late() {
    let text = says(&json!([{"text": "I"}]));
    for cut in [&[][..], std::slice::from_ref(&text)] {
        assert_eq!(hear(cut).map_err(|failure| failure.kind), Err(FailureKind::BrokenStream));
    }
    let mut decoder = Gemini.decoder();
    let end = json!({"candidates": [{"finishReason": "STOP"}]});
    let counts =
        json!({"usageMetadata": {"promptTokenCount": 3.0, "candidatesTokenCount": "4", "thoughtsTokenCount": -1}});
    for (event, is_complete) in
        [("", false), (&*end.to_string(), false), ("[DONE]", false), (&*counts.to_string(), true)]
    {
        decoder.event(None, event).unwrap();
        assert_eq!(decoder.is_complete(), is_complete, "{event}");
    }
    let usage = Some(Usage { input: 3, output: 4, ..Usage::default() });
    assert_eq!(decoder.finish(), Ok(RawReply { usage, stop: Some(Stop::Done), ..RawReply::default() }));
    // Cut while it thought: only the thoughts were counted.
    let thought = json!({"candidates": [{"finishReason": "MAX_TOKENS"}], "usageMetadata": {"thoughtsTokenCount": 30}});
    let usage = Some(Usage { output: 30, reasoning: 30, ..Usage::default() });
    assert_eq!(hear(&[thought]), Ok(RawReply { usage, stop: Some(Stop::Length), ..RawReply::default() }));
}

#[test]
fn a_body_that_was_not_streamed_and_one_that_holds_the_whole_stream() {
    let parts = json!([{"text": "I read."}, {"functionCall": {"name": "read_file", "args": {"path": "a"}}}]);
    let expected = Ok(heard("I read.", vec![call("", "read_file", "{\"path\":\"a\"}")], Stop::Done, None));
    assert_eq!(hear_whole(&last(&parts, "STOP")), expected);
    let stream = json!([says(&json!([parts[0]])), last(&json!([parts[1]]), "STOP")]);
    assert_eq!(hear_whole(&stream), expected);
    let kind = |body: Value| hear_whole(&body).map_err(|failure| failure.kind);
    assert_eq!(kind(json!("hello")), Err(FailureKind::Malformed));
    assert_eq!(kind(json!([1])), Err(FailureKind::Malformed));
    assert_eq!(kind(json!({})), Err(FailureKind::BrokenStream));
}

#[test]
fn an_error_says_how_long_to_wait_in_a_stream_and_in_a_refusal() {
    let details = json!([
        {"@type": "type.googleapis.com/google.rpc.Help"},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"},
    ]);
    let error =
        json!({"error": {"code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED", "details": details}});
    let expected = Failure {
        retry_after: Some(Duration::from_millis(17_500)),
        ..Failure::new(FailureKind::RateLimited, "the server answered with an error: Slow down.")
    };
    assert_eq!(Gemini.retry_after(&error.to_string()), expected.retry_after);
    assert_eq!(Gemini.retry_after(&json!([error]).to_string()), expected.retry_after);
    assert_eq!(Gemini.retry_after("<html>"), None);
    assert_eq!(hear(&[says(&json!([])), error.clone()]), Err(expected.clone()));
    assert_eq!(hear_whole(&json!([error])), Err(expected));
    for odd in ["17", "-1s", "NaNs", "1e300s", "s", ""] {
        let error = json!({"error": {"details": [{"retryDelay": odd}]}});
        assert_eq!(hear(&[error]).map_err(|failure| failure.retry_after), Err(None), "{odd}");
    }
}

#[test]
fn refusals_are_told_apart_by_status_and_words() {
    use FailureKind::{
        BadRequest, ContextLength, KeyRefused, NotFound, Overloaded, QuotaUsed, RateLimited, Server, TimedOut,
    };
    let (invalid, exhausted) = ("INVALID_ARGUMENT", "RESOURCE_EXHAUSTED");
    let minute = "You exceeded your current quota, please check your plan and billing details. \
                  Quota exceeded for metric: generate_content_requests, limit: 05 Please retry in 17.5s.";
    let never = "You exceeded your current quota, please check your plan and billing details. \
                 Quota exceeded for metric: free_tier_requests, limit: 0, model: gemini-x";
    let long = "The input token count (1500000) exceeds the maximum number of tokens allowed (1048576).";
    for (status, name, message, expected) in [
        (429, exhausted, minute, RateLimited),
        (429, exhausted, "Resource has been exhausted (e.g. check quota).", RateLimited),
        (429, exhausted, never, QuotaUsed),
        (429, exhausted, "Your prepayment credits are depleted. Please manage your billing.", QuotaUsed),
        (503, "UNAVAILABLE", "The model is overloaded. Please try again later.", Overloaded),
        (500, "INTERNAL", "An internal error has occurred.", Server),
        (504, "DEADLINE_EXCEEDED", "The request timed out.", TimedOut),
        (400, invalid, long, ContextLength),
        (400, invalid, "API key not valid. Please pass a valid API key.", KeyRefused),
        (400, invalid, "Unknown name \"x\": Cannot find field.", BadRequest),
        (400, "FAILED_PRECONDITION", "User location is not supported for the API use.", BadRequest),
        (401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", KeyRefused),
        (403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers.", KeyRefused),
        (404, "NOT_FOUND", "models/gemini-y is not found for API version v1beta", NotFound),
        (418, "A_NEW_ONE", "I am a teapot.", BadRequest),
    ] {
        let body = json!({"error": {"code": status, "message": message, "status": name}});
        assert_eq!(Gemini.refusal(status, &body.to_string()), (expected, message.to_owned()), "{message}");
        assert_eq!(Gemini.refusal(status, &json!([body]).to_string()).0, expected, "{message}");
    }
    assert_eq!(Gemini.refusal(502, "Bad gateway"), (Server, "Bad gateway".to_owned()));
    assert_eq!(Gemini.refusal(403, ""), (KeyRefused, String::new()));
}

#[test]
fn a_hostile_stream_is_a_failure_and_nothing_deep_is_carried() {
    let many: Vec<Value> = (0..300).map(|_| json!({"functionCall": {"name": "x"}})).collect();
    assert_eq!(hear(&[says(&json!(many))]).map_err(|failure| failure.kind), Err(FailureKind::Malformed));
    let mut decoder = Gemini.decoder();
    for data in ["<html>", "{\"candidates\":", "7", &"[".repeat(10_000)] {
        assert_eq!(decoder.event(None, data).map_err(|failure| failure.kind), Err(FailureKind::Malformed));
    }
    let deep = (0..80).fold(json!(1), |inner, _| json!([inner]));
    let part = json!({"functionCall": {"name": "x", "args": {"deep": deep}}, "thoughtSignature": "s"});
    let calls = vec![call("", "x", &part["functionCall"]["args"].to_string())];
    assert_eq!(hear(&[last(&json!([part]), "STOP")]), Ok(heard("", calls, Stop::Done, None)));
}

fn any_response() -> impl Strategy<Value = Value> {
    let words = ["STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "[DONE]", "UNAVAILABLE", "17s"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|yes| json!(yes)),
        any::<i64>().prop_map(|n| json!(n)),
        any::<f64>().prop_map(|n| json!(n)),
        prop::sample::select(words.to_vec()).prop_map(|word| json!(word)),
        ".{0,8}".prop_map(|text| json!(text)),
    ];
    let fields =
        ["candidates", "content", "parts", "text", "thought", "thoughtSignature", "functionCall", "args", "name"];
    let more =
        ["finishReason", "usageMetadata", "promptTokenCount", "promptFeedback", "blockReason", "error", "details"];
    let field = prop::sample::select([&fields[..], &more].concat());
    let tree = leaf.prop_recursive(4, 32, 6, move |inner| {
        let map = prop::collection::btree_map(field.clone(), inner.clone(), 0..6);
        prop_oneof![prop::collection::vec(inner, 0..4).prop_map(Value::Array), map.prop_map(|map| json!(map))]
    });
    (tree.clone(), tree, any::<bool>()).prop_map(|(inner, mut outer, is_deep)| {
        if is_deep {
            outer = json!({"candidates": [{"content": {"parts": [inner]}, "finishReason": outer}]});
        }
        outer
    })
}

proptest! {
    #[test]
    fn whatever_comes_gives_a_reply_with_an_end_or_a_failure(responses in prop::collection::vec(any_response(), 0..12)) {
        if let Ok(heard) = hear(&responses) {
            prop_assert!(heard.stop.is_some());
        }
        for response in &responses {
            if let Ok(heard) = hear_whole(response) {
                prop_assert!(heard.stop.is_some());
            }
        }
    }
}
