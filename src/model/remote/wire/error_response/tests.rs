use super::*;

#[test]
fn a_refusal_is_known_by_its_status() {
    let kinds = [302, 400, 401, 402, 403, 404, 405, 408, 409, 413, 418, 422, 429, 500, 502, 503, 504, 529, 204, 700];
    let names: Vec<String> = kinds.iter().map(|status| format!("{status} {}", refusal(*status, "").0)).collect();
    assert_eq!(
        names.join(", "),
        "302 not_found, 400 bad_request, 401 key_refused, 402 quota_used, 403 key_refused, 404 not_found, \
         405 bad_request, 408 timed_out, 409 conflict, 413 context_length, 418 bad_request, 422 bad_request, \
         429 rate_limited, 500 server, 502 server, 503 overloaded, 504 server, 529 overloaded, 204 malformed, \
         700 malformed"
    );
}

/// Bodies in the shapes of real servers: status, body, kind, words.
#[test]
fn a_refusal_is_known_by_what_the_server_says() {
    let said = [
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens, yours has 9000.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            "context_length: This model's maximum context length is 8192 tokens, yours has 9000.",
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}"#,
            "context_length: the request exceeds the available context size, try increasing it",
        ),
        (
            500,
            r#"{"error":{"code":500,"message":"the request exceeds the available context size","type":"server_error"}}"#,
            "context_length: the request exceeds the available context size",
        ),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}"#,
            "context_length: This model's maximum context length is 4096 tokens.",
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            "context_length: prompt is too long: 210000 tokens > 200000 maximum",
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
            "context_length: The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        (
            400,
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"too many tokens\"}}","provider_name":"X"}}}"#,
            "context_length: Provider returned error: too many tokens",
        ),
        (
            413,
            r#"{"error":{"message":"Limit 6000 tokens a minute, requested 7000"}}"#,
            "context_length: Limit 6000 tokens a minute, requested 7000",
        ),
        (
            413,
            "<html><head><title>413 Request Entity Too Large</title></head><body>nginx</body></html>",
            "context_length: 413 Request Entity Too Large",
        ),
        (
            400,
            r#"{"error":{"message":"max_tokens is too large: 32768. This model supports at most 16384 completion tokens","type":"invalid_request_error","param":"max_tokens","code":null}}"#,
            "bad_request: max_tokens is too large: 32768. This model supports at most 16384 completion tokens",
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            "quota_used: You exceeded your current quota.",
        ),
        (
            429,
            r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan.","status":"RESOURCE_EXHAUSTED"}}"#,
            "rate_limited: You exceeded your current quota, please check your plan.",
        ),
        (
            429,
            r#"{"error":{"message":"This request would exceed the limit of 30,000 input tokens per minute","type":"rate_limit_error"}}"#,
            "rate_limited: This request would exceed the limit of 30,000 input tokens per minute",
        ),
        (
            429,
            r#"{"error":{"message":"Request too large for m on tokens per min (TPM): Limit 10000, Requested 12000.","type":"tokens","code":"rate_limit_exceeded"}}"#,
            "context_length: Request too large for m on tokens per min (TPM): Limit 10000, Requested 12000.",
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}"#,
            "quota_used: Your credit balance is too low to access the API.",
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
            "key_refused: API key not valid.",
        ),
        (
            404,
            r#"{"error":"model \"x\" not found, try pulling it first"}"#,
            "not_found: model \"x\" not found, try pulling it first",
        ),
        (
            422,
            r#"{"detail":[{"type":"missing","loc":["body"],"msg":"Field required","input":{"messages":"context length"}}]}"#,
            "bad_request: Field required",
        ),
        (
            400,
            r#"{"error":{"message":"Range of input length should be [1, 30720]","type":"invalid_request_error","code":"invalid_parameter_error"}}"#,
            "context_length: Range of input length should be [1, 30720]",
        ),
        (
            400,
            r#"{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large","type":"invalid_request_prompt","code":"3051"}"#,
            "context_length: Prompt contains 40000 tokens and 0 draft tokens, too large",
        ),
        (400, r#"{"error":{"code":1261,"message":"Prompt 超长"}}"#, "context_length: Prompt 超长"),
        (
            422,
            r#"{"error":"The conversation is longer than 8192 tokens"}"#,
            "context_length: The conversation is longer than 8192 tokens",
        ),
        (
            400,
            r#"{"detail":"length of prompt_tokens (33000) must be less than max_seq_len (32768)."}"#,
            "context_length: length of prompt_tokens (33000) must be less than max_seq_len (32768).",
        ),
        (413, "", "context_length: "),
        (
            400,
            "<html><body><h1>Request Entity Too Large</h1></body></html>",
            "context_length: Request Entity Too Large",
        ),
        (
            400,
            r#"{"error":{"message":"Invalid value: tool_calls of the message are more than 128 in length","type":"invalid_request_error"}}"#,
            "bad_request: Invalid value: tool_calls of the message are more than 128 in length",
        ),
        (
            429,
            r#"{"error":{"message":"The request exceeds the limit of 9000 tokens per minute"}}"#,
            "rate_limited: The request exceeds the limit of 9000 tokens per minute",
        ),
        (500, "upstream\u{1b}[31m connect\terror\nsecond line", "server: upstream [31m connect error"),
        (502, "<html>\r\n<body><h1>502 Bad Gateway</h1><hr></body></html>", "server: 502 Bad Gateway"),
        (503, r#"{"message":"no healthy upstream"}"#, "overloaded: no healthy upstream"),
        (400, r#"{"error":{"message":null}}"#, "bad_request: "),
        (
            401,
            r#"{"error":{"message":"You didn't provide an API key.","type":"invalid_request_error","code":null}}"#,
            "key_refused: You didn't provide an API key.",
        ),
        (500, r#"{"error":{"message":"odd","type":"invalid_request_error","code":500}}"#, "server: odd"),
        (500, r#"{"error":{"message":"busy","type":"overloaded_error"}}"#, "overloaded: busy"),
    ];
    for (status, body, expected) in said {
        let (kind, words) = refusal(status, body);
        assert_eq!(format!("{kind}: {words}"), expected, "{status} {body}");
    }
}

#[test]
fn an_error_within_a_reply_is_known_by_its_code() {
    let said = [
        (r#"{"code":502,"message":"Bad gateway"}"#, "server: the server answered with an error: Bad gateway"),
        (r#"{"code":429,"message":"slow"}"#, "rate_limited: the server answered with an error: slow"),
        (
            r#"{"type":"overloaded_error","message":"Overloaded"}"#,
            "overloaded: the server answered with an error: Overloaded",
        ),
        (
            r#"{"code":"rate_limit_exceeded","type":"tokens"}"#,
            "rate_limited: the server answered with an error: rate_limit_exceeded tokens",
        ),
        (
            r#"{"type":"invalid_request_error","message":"prompt is too long"}"#,
            "context_length: the server answered with an error: prompt is too long",
        ),
        (r#"{"type":"invalid_request_error","message":"no"}"#, "bad_request: the server answered with an error: no"),
        (
            r#"{"type":"rate_limit_error","message":"more input tokens a minute; reduce the length of the prompt"}"#,
            "rate_limited: the server answered with an error: more input tokens a minute; reduce the length of the prompt",
        ),
        (r#"{"code":"503","message":"busy"}"#, "overloaded: the server answered with an error: busy"),
        (r#""out of memory""#, "server: the server answered with an error: out of memory"),
        ("{}", "server: the server answered with an error that has no words"),
    ];
    for (error, expected) in said {
        let failure = in_reply(&serde_json::from_str(error).unwrap());
        assert_eq!(format!("{}: {}", failure.kind, failure.reason), expected, "{error}");
    }
}

#[test]
fn words_are_one_bounded_line() {
    let cut = words(&"ü ".repeat(5_000));
    assert_eq!((cut.chars().count(), cut.ends_with('…')), (300, true));
    assert_eq!(words(&"[".repeat(100_000)).chars().count(), 300);
    assert_eq!(words(&format!("<p>{}", "é<".repeat(100_000))), "é");
    assert_eq!(
        words(&format!(r#"{{"error":{{"metadata":{{"raw":{}}}}}}}"#, serde_json::json!("{\"error\":".repeat(50))))
            .lines()
            .count(),
        1
    );
}

proptest::proptest! {
    #[test]
    fn any_body_has_a_kind(status in proptest::num::u16::ANY, body in ".{0,200}") {
        let (_, words) = refusal(status, &body);
        assert!(words.chars().count() <= 300 && !words.contains(char::is_control), "{words:?}");
    }
}
