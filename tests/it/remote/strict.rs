//! What the newest models refuse, and what a cache serves: requests by hand.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    served::{ask, body, fixed, path},
    server::{
        Chaos,
        Format::{self, Anthropic, Gemini, Ollama, OpenAi, Responses},
        Mishap, Server, Setup,
    },
};
use serde_json::{Value, json};

/// A whole reply to a body with a model's name in it.
fn reply(server: &Server, format: Format, body: &Value) -> String {
    let mut body = body.clone();
    let mut path = path(format, false).to_owned();
    if format == Gemini {
        let model = body.as_object_mut().unwrap().remove("model");
        path = path.replace("/m:", &format!("/{}:", model.as_ref().and_then(Value::as_str).unwrap_or("m")));
    }
    ask(server, &path, &body)
}

fn refused(answer: &str, words: &str) {
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request\n") && answer.contains(words), "{words}: {answer}");
}

fn accepted(answer: &str) -> Value {
    let (head, body) = answer.split_once("\n\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\n"), "{answer}");
    serde_json::from_str(body).unwrap()
}

type Change = fn(&mut Value);

#[test]
fn what_a_model_of_today_refuses() {
    let cases: [(Format, &str, Change, &str); 32] = [
        (Responses, "m", |b| b["messages"] = json!([]), "Unknown parameter: 'messages'."),
        (Responses, "m", |b| drop(b["tools"][0].as_object_mut().unwrap().remove("strict")), "tools[0].strict"),
        (Responses, "m", |b| b["input"][2]["id"] = json!("fc_1"), "not found. Items are not persisted"),
        (Responses, "m", |b| b["input"][3]["call_id"] = json!("x"), "No tool call found"),
        (Responses, "m", |b| remove(b, "input", 3), "No tool output found for function call call_9."),
        (Responses, "m", |b| b["input"][1]["phase"] = json!("commentary"), "'input[1].phase'"),
        (Responses, "m", |b| b["input"][2]["arguments"] = json!("{"), "not a JSON object"),
        (Responses, "m", |b| b["prompt_cache_options"] = json!({}), "'prompt_cache_options' is not supported"),
        (Responses, "gpt-5.5", |b| mark(b), "prompt_cache_breakpoint"),
        (Responses, "gpt-5.5", |b| b["prompt_cache_retention"] = json!("in_memory"), "values are: '24h'"),
        (Responses, "gpt-6.2-sol", |b| b["reasoning"] = json!({"effort": "none"}), "reasoning.effort"),
        (Responses, "gpt-6-sol", |b| b["temperature"] = json!(1), "'temperature' is not supported"),
        (Responses, "gpt-6-sol", |b| b["service_tier"] = json!("cheap"), "service_tier"),
        (Responses, "gpt-6-sol", foreign, "could not be verified"),
        (Responses, "gpt-6-sol", |b| (foreign(b), b["include"] = json!([])).1, "where 'include' holds"),
        (OpenAi, "gpt-6-sol", |_| (), "Please use /v1/responses instead."),
        (OpenAi, "gpt-5.4", |b| b["reasoning_effort"] = json!("low"), "Please use /v1/responses instead."),
        (OpenAi, "gpt-5.1", |b| b["max_tokens"] = json!(9), "Use 'max_completion_tokens' instead."),
        (OpenAi, "mistral-large-4", |_| (), "\"code\":\"3230\""),
        (OpenAi, "deepseek-v4-pro", |_| (), "must be passed back to the API"),
        (Anthropic, "claude-opus-5-5", |b| b["tool_choice"] = json!({"type": "any"}), "forces tool use"),
        (Anthropic, "claude-sonnet-5", |b| b["temperature"] = json!(1), "`temperature` is not supported"),
        (Anthropic, "claude-opus-4-8", |b| b["thinking"] = json!({"type": "enabled"}), "adaptive"),
        (Anthropic, "claude-fable-5", |b| b["thinking"] = json!({"type": "disabled"}), "adaptive"),
        (Anthropic, "claude-opus-5-5", |b| b["thinking"] = json!({"type": "between_tools"}), "thinking.type"),
        (Anthropic, "m", |b| b["output_config"] = json!({"effort": "most"}), "output_config.effort"),
        (Anthropic, "m", |b| b["system"][0]["cache_control"]["ttl"] = json!("2h"), "ttl of '5m' or '1h'"),
        (
            Anthropic,
            "m",
            |b| {
                let thought = json!({"type": "thinking", "thinking": "", "signature": "x"});
                b["messages"][1]["content"].as_array_mut().unwrap().push(thought);
            },
            "The final block in an assistant message cannot be `thinking`.",
        ),
        (Gemini, "gemini-3.8-flash", |b| remove(b, "contents", 3), "missing a thought_signature"),
        (
            Gemini,
            "gemini-3.8-flash",
            |b| b["contents"][1]["parts"][0]["functionCall"]["id"] = json!("x"),
            "with its id",
        ),
        (Gemini, "m", |b| b["serviceTier"] = json!("cheap"), "service_tier"),
        (Ollama, "m", |b| b["tool_choice"] = json!("auto"), "body.tool_choice: Extra inputs are not permitted"),
    ];
    let server = Server::start(fixed(Chaos::none()));
    for (format, model, change, words) in &cases {
        let mut changed = body(*format, false);
        changed["model"] = (*model).into();
        change(&mut changed);
        refused(&reply(&server, *format, &changed), words);
    }
    assert_eq!(server.counts().complaints.len(), cases.len());
    let takes: [(Format, &str, Change); 6] = [
        (OpenAi, "gpt-6-sol", |b| b["reasoning_effort"] = json!("none")),
        (OpenAi, "gpt-5.4", |_| ()),
        (Responses, "gpt-5.6-sol", |b| {
            b["prompt_cache_options"] = json!({"mode": "explicit", "ttl": "30m"});
            mark(b);
        }),
        (Anthropic, "claude-opus-5-5", |b| {
            b["thinking"] = json!({"type": "adaptive"});
            b["output_config"] = json!({"effort": "low"});
            b["tool_choice"] = json!({"type": "auto"});
        }),
        (Anthropic, "claude-sonnet-5-5", |b| b["thinking"] = json!({"type": "between_tools"})),
        // The user's last text began another turn.
        (Gemini, "gemini-3.8-flash", |b| b["serviceTier"] = json!("flex")),
    ];
    for (format, model, change) in takes {
        let mut changed = body(format, false);
        changed["model"] = model.into();
        change(&mut changed);
        accepted(&reply(&server, format, &changed));
    }
}

/// A thought that this server never had.
fn foreign(body: &mut Value) {
    let thought = json!({"type": "reasoning", "id": "rs_x", "summary": [], "encrypted_content": "x"});
    body["input"].as_array_mut().unwrap().insert(2, thought);
}

fn remove(body: &mut Value, field: &str, place: usize) {
    body[field].as_array_mut().unwrap().remove(place);
}

fn mark(body: &mut Value) {
    body["input"][1]["content"][0]["prompt_cache_breakpoint"] = json!({"mode": "explicit"});
}

/// A conversation of one user's message, in which the model's name stands.
fn opening(format: Format, model: &str) -> Value {
    let mut body = body(format, false);
    body["model"] = model.into();
    let (field, kept) = match format {
        OpenAi | Ollama => ("messages", 2),
        Responses => ("input", 2),
        Anthropic => ("messages", 1),
        Gemini => ("contents", 1),
    };
    body[field].as_array_mut().unwrap().truncate(kept);
    body
}

/// Asks, and puts the reply as it came and the results of its calls behind.
fn turn(server: &Server, format: Format, body: &mut Value) {
    let replied = accepted(&reply(server, format, body));
    let field = match format {
        Responses => "input",
        Gemini => "contents",
        OpenAi | Anthropic | Ollama => "messages",
    };
    let new = match format {
        OpenAi => {
            let message = replied["choices"][0]["message"].clone();
            let results = calls(
                &message["tool_calls"],
                |call| json!({"role": "tool", "tool_call_id": call["id"], "content": "done"}),
            );
            [vec![message], results].concat()
        }
        Responses => {
            let mut items = replied["output"].as_array().unwrap().clone();
            let results = calls(
                &items.iter().filter(|item| item["call_id"].is_string()).cloned().collect(),
                |call| json!({"type": "function_call_output", "call_id": call["call_id"], "output": "done"}),
            );
            for item in items.iter_mut().filter(|item| item["type"] != "reasoning") {
                item.as_object_mut().unwrap().remove("id");
            }
            [items, results].concat()
        }
        Anthropic => {
            let used = replied["content"].as_array().unwrap().iter().filter(|block| block["type"] == "tool_use");
            let results = calls(
                &used.cloned().collect(),
                |call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": "done"}),
            );
            vec![
                json!({"role": "assistant", "content": replied["content"]}),
                json!({"role": "user", "content": results}),
            ]
        }
        Gemini => {
            let content = &replied["candidates"][0]["content"];
            let called = content["parts"].as_array().unwrap().iter().filter_map(|part| part.get("functionCall"));
            let results = calls(&called.cloned().collect(), |call| {
                let response = json!({"id": call["id"], "name": call["name"], "response": {"result": "done"}});
                json!({ "functionResponse": response })
            });
            vec![content.clone(), json!({"role": "user", "parts": results})]
        }
        Ollama => {
            let results = calls(
                &replied["message"]["tool_calls"],
                |call| json!({"role": "tool", "tool_name": call["function"]["name"], "content": "done"}),
            );
            [vec![replied["message"].clone()], results].concat()
        }
    };
    body[field].as_array_mut().unwrap().extend(new);
}

fn calls(calls: &Value, result: fn(&Value) -> Value) -> Vec<Value> {
    calls.as_array().unwrap().iter().map(result).collect()
}

#[test]
fn thoughts_come_back_as_they_were_or_not_at_all() {
    let server = Server::start(Setup { thinks: true, ..fixed(Chaos::none()) });
    let asked = |format: Format| {
        let mut body = opening(format, format.strictest());
        for _ in 0..4 {
            turn(&server, format, &mut body);
        }
        body
    };
    let bodies = Format::ALL.map(asked);
    assert_eq!(server.counts().complaints, Vec::<String>::new());
    let cases: [(usize, Change, &str); 14] = [
        (0, |b| drop(b["messages"][2].as_object_mut().unwrap().remove("reasoning_content")), "must be passed back"),
        (4, |b| b["input"].as_array_mut().unwrap().swap(3, 4), "without its required following item"),
        (4, |b| remove(b, "input", 3), "without its required following item"),
        (4, |b| b["input"][2]["encrypted_content"] = json!("first"), "could not be verified"),
        (4, |b| b["input"][2]["encrypted_content"] = Value::Null, "Items are not persisted"),
        (4, |b| b["input"][2]["id"] = json!("rs_other"), "could not be verified"),
        (1, |b| b["system"][0]["text"] = json!("Be long."), "bound to a different conversation"),
        (1, |b| b["tools"][0]["description"] = json!("Writes."), "bound to a different conversation"),
        (1, |b| b["messages"][2]["content"][0]["content"] = json!("cut"), "bound to a different conversation"),
        // A gap: the second reply's are gone, the first one's are there.
        (1, |b| b["messages"][3]["content"].as_array_mut().unwrap().retain(|b| b["type"] != "thinking"), "bound to"),
        (1, |b| b["messages"][1]["content"][0]["thinking"] = json!("other"), "Invalid `signature`"),
        (1, |b| b["messages"][1]["content"][0]["signature"] = json!("other"), "Invalid `signature`"),
        (2, |b| b["contents"][1]["parts"][1]["thoughtSignature"] = json!("other"), "Thought signature is not valid."),
        (2, |b| b["model"] = json!("gemini-3.8-flash"), "Thought signature is not valid."),
    ];
    for (number, change, words) in cases {
        let mut changed = bodies[number].clone();
        change(&mut changed);
        refused(&reply(&server, Format::ALL[number], &changed), words);
    }
    let takes: [(usize, Change); 5] = [
        (4, |b| b["input"].as_array_mut().unwrap().retain(|item| item["type"] != "reasoning")),
        (1, |b| {
            // What may change.
            b["system"][0].as_object_mut().unwrap().remove("cache_control");
            b["max_tokens"] = json!(9);
            b["output_config"] = json!({"effort": "max"});
            b["tool_choice"] = json!({"type": "none"});
        }),
        // The oldest are left out.
        (1, |b| b["messages"][1]["content"].as_array_mut().unwrap().retain(|b| b["type"] != "thinking")),
        // An older model is bound to nothing.
        (1, |b| {
            b["model"] = json!("claude-opus-4-8");
            b["system"][0]["text"] = json!("Be long.");
        }),
        (2, |b| b["contents"][1]["parts"][1]["thoughtSignature"] = json!("skip_thought_signature_validator")),
    ];
    for (number, change) in takes {
        let mut changed = bodies[number].clone();
        change(&mut changed);
        accepted(&reply(&server, Format::ALL[number], &changed));
    }
}

#[test]
fn what_a_cache_serves_is_what_the_vendor_would() {
    let ask = |server: &Server, format: Format, body: &Value| {
        let before = server.counts();
        accepted(&reply(server, format, body));
        let after = server.counts();
        (after.shared - before.shared, after.cached - before.cached)
    };
    let long = |text: &str| text.repeat(600);
    // Marks: what was marked is found again from the next mark, but not over more than twenty blocks.
    let server = Server::start(fixed(Chaos::none()));
    let mut body = opening(Anthropic, "claude-opus-5-5");
    body["messages"][0]["content"] =
        json!([{"type": "text", "text": long("Begin. "), "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(ask(&server, Anthropic, &body), (0, 0));
    let blocks = |count: usize| -> Vec<Value> {
        (0..count).map(|number| json!({"type": "text", "text": format!("More {number}.")})).collect()
    };
    for (count, is_found) in [(19, true), (20, false)] {
        let mut more = body.clone();
        more["system"][0].as_object_mut().unwrap().remove("cache_control");
        let first = more["messages"][0]["content"][0].as_object_mut().unwrap();
        first.remove("cache_control");
        more["messages"][0]["content"].as_array_mut().unwrap().extend(blocks(count));
        more["messages"][0]["content"][count]["cache_control"] = json!({"type": "ephemeral"});
        let (shared, cached) = ask(&server, Anthropic, &more);
        assert!(shared > 1000 && (cached > 1000) == is_found, "{count}: {cached} of {shared}");
        body["tools"][0]["description"] = json!("Reads anew.");
        ask(&server, Anthropic, &body);
    }
    // OpenAI: by the key; a tail that changes is lost from 5.6 on, unless what stands before it is marked.
    for (model, is_explicit, served) in
        [("gpt-5.1", false, true), ("gpt-6-sol", false, false), ("gpt-6-sol", true, true)]
    {
        let server = Server::start(fixed(Chaos::none()));
        let mut body = opening(Responses, model);
        body["input"][1]["content"][0]["text"] = long("Begin. ").into();
        body["input"].as_array_mut().unwrap().push(json!({"role": "user", "content": "Tail."}));
        body["prompt_cache_key"] = "one".into();
        if is_explicit {
            mark(&mut body);
        }
        assert_eq!(ask(&server, Responses, &body), (0, 0));
        body["input"][2]["content"] = "Other.".into();
        let (shared, cached) = ask(&server, Responses, &body);
        assert!(shared > 1000 && (cached > 1000) == served, "{model}: {cached} of {shared}");
        assert_eq!(server.counts().served() > 0.9, served);
        body["prompt_cache_key"] = "two".into();
        assert_eq!(ask(&server, Responses, &body).1, 0);
    }
}

#[test]
fn a_tier_without_room_and_a_thought_that_is_bound_elsewhere_hit_what_they_can() {
    let server = Server::start(fixed(Chaos::only(Mishap::NoFlex, 90, 1)));
    let mut body = opening(Responses, "gpt-6-sol");
    accepted(&reply(&server, Responses, &body));
    body["service_tier"] = "flex".into();
    let replies: Vec<String> = (0..40).map(|_| reply(&server, Responses, &body)).collect();
    let busy =
        replies.iter().filter(|reply| reply.starts_with("HTTP/1.1 429") && reply.contains("Resource Unavailable"));
    assert!((30..40).contains(&busy.count()), "{:?}", server.counts().mishaps);
    assert!(replies.iter().any(|reply| reply.contains("\"service_tier\":\"flex\"")));

    let chaos = Chaos::only(Mishap::Bound, 100, 1).at_most(1);
    let server = Server::start(Setup { thinks: true, ..fixed(chaos) });
    let mut body = opening(Anthropic, "claude-opus-5-5");
    turn(&server, Anthropic, &mut body);
    refused(&reply(&server, Anthropic, &body), "bound to a different conversation");
    turn(&server, Anthropic, &mut body);
    assert_eq!(server.counts().complaints, Vec::<String>::new());
}
