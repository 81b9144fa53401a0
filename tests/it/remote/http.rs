//! One attempt over HTTP against servers that do as they are told: whole replies, replies cut or late at any byte, refusals
//! in every form. No key comes out anywhere.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use overnight::model::{
    Failure, FailureKind, Model, Request,
    endpoint::RateLimits,
    remote::{self, Key, RemoteConfig, RemoteModel, Timeouts},
    table::{Api, Quirks},
};
use overnight_core::{
    job::models::Tier,
    message::{Message, Prompt, Reply, Stop, ToolCall, ToolSpec, Usage},
};
use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const KEY: &str = "sk-planted/0123456789";
const SHORT: Duration = Duration::from_millis(400);
const LONG: Duration = Duration::from_secs(20);

/// What a server does with one request: it writes the pieces, one packet each, and then this.
#[derive(Clone, Debug)]
pub(super) struct Act {
    pub(super) pieces: Vec<Vec<u8>>,
    pub(super) then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// The next request may come on the same connection.
    Keep,
    Close,
    /// Nothing more comes, and nothing ends.
    Stall,
    /// Signs of life for ever.
    Ping,
}

/// A server, and what it was sent: head and body of each request, and how many connections there were.
pub(super) struct Server {
    pub(super) url: String,
    pub(super) requests: Arc<Mutex<Vec<(String, Value)>>>,
    connections: Arc<AtomicU64>,
}

impl Server {
    /// Does one act after another, and the last for ever.
    pub(super) async fn new(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let server = Self { url, requests: Arc::default(), connections: Arc::default() };
        let (requests, connections) = (Arc::clone(&server.requests), Arc::clone(&server.connections));
        tokio::spawn(async move {
            let next = Arc::new(AtomicU64::new(0));
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                connections.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(serve(stream, acts.clone(), Arc::clone(&next), Arc::clone(&requests)));
            }
        });
        server
    }

    fn model(&self, wire: &str, timeouts: Timeouts, record: Option<&Path>) -> RemoteModel {
        open(wire, &self.url, timeouts, record)
    }
}

/// Serves one connection; an end of any kind ends it.
async fn serve(
    mut stream: TcpStream,
    acts: Vec<Act>,
    next: Arc<AtomicU64>,
    requests: Arc<Mutex<Vec<(String, Value)>>>,
) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    loop {
        let mut taken = Vec::new();
        let request = loop {
            if let Some(request) = whole_request(&taken) {
                break request;
            }
            if stream.read_buf(&mut taken).await.ok()? == 0 {
                return None;
            }
        };
        // What it knows of its models, nobody asks but before a night.
        if request.0.starts_with("GET ") {
            stream.write_all(b"HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n").await.ok()?;
            continue;
        }
        requests.lock().unwrap().push(request);
        let place = usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap();
        let act = &acts[place.min(acts.len() - 1)];
        for piece in &act.pieces {
            stream.write_all(piece).await.ok()?;
            stream.flush().await.ok()?;
            tokio::task::yield_now().await;
        }
        match act.then {
            Then::Keep => {}
            Then::Close => return None,
            Then::Stall => std::future::pending().await,
            Then::Ping => loop {
                stream.write_all(b": ping\n\n").await.ok()?;
                tokio::time::sleep(Duration::from_millis(5)).await;
            },
        }
    }
}

fn whole_request(taken: &[u8]) -> Option<(String, Value)> {
    let text = String::from_utf8_lossy(taken).into_owned();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let Some(length) = length else { return Some((head.to_owned(), Value::Null)) };
    let length = length.parse::<usize>().ok()?;
    (body.len() >= length).then(|| (head.to_owned(), serde_json::from_str(body).unwrap()))
}

fn open(wire: &str, url: &str, timeouts: Timeouts, record: Option<&Path>) -> RemoteModel {
    let key = Key::new(KEY);
    RemoteModel::new(RemoteConfig {
        wire: remote::wire_of(wire, Api::Chat).unwrap(),
        provider: wire.to_owned(),
        model: "org/small:1".to_owned(),
        base_url: url.to_owned(),
        key: key.clone(),
        key_variable: "NIGHT_KEY".to_owned(),
        headers: vec![("x-project".to_owned(), "night".to_owned()), ("x-token".to_owned(), "also-planted".to_owned())],
        quirks: Quirks::default(),
        endpoint: remote::shared_endpoint(url, key.as_ref(), RateLimits::default()).unwrap(),
        timeouts,
        tier: Tier::Standard,
        standard: None,
        posting: None,
        record: record.map(Path::to_owned),
    })
    .unwrap()
}

fn patient() -> Timeouts {
    Timeouts { first_byte: LONG, idle: LONG, whole: LONG }
}

fn prompt() -> Prompt {
    let tool = |name: &str, field: &str| ToolSpec {
        name: name.to_owned(),
        description: "A tool.".to_owned(),
        parameters: json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}),
    };
    Prompt::new(
        Arc::from([tool("note", "text"), tool("read_file", "path")]),
        vec![Message::System { text: "Be brief.".to_owned() }, Message::user("Note it.")],
    )
}

async fn ask(model: &RemoteModel) -> Result<Reply, Failure> {
    model
        .reply(Request {
            prompt: &prompt(),
            turn: 3,
            conversation: 0,
            turn_of_conversation: 3,
            received: &AtomicU64::new(0),
        })
        .await
}

fn act(text: &str, then: Then) -> Act {
    Act { pieces: vec![text.as_bytes().to_vec()], then }
}

pub(super) fn answer(status: &str, headers: &str, body: &str) -> Act {
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    act(&format!("{head}{body}"), Then::Keep)
}

/// A reply of two calls, in the format's own stream, and where in it the mark of its end is whole.
fn stream(wire: &str) -> (&'static str, String) {
    let event = |value: Value| format!("data: {value}\n\n");
    let named = |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
    match wire {
        "openai" => {
            let chunk = |delta: Value, stop: Option<&str>| {
                event(json!({"model": "small-1", "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]}))
            };
            let call = |index: u64, id: &str, name: &str, arguments: &str| {
                let function = json!({"name": name, "arguments": arguments});
                chunk(
                    json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}),
                    None,
                )
            };
            let usage =
                json!({"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 60}});
            let text = [
                chunk(json!({"role": "assistant", "content": "Größe: "}), None),
                chunk(json!({"content": "5 €"}), None),
                call(0, "c1", "note", "{\"text\":"),
                event(json!({"model": "small-1", "choices": [{"index": 0, "delta": {"tool_calls": [
                    {"index": 0, "function": {"arguments": " \"ä\"}"}}]}, "finish_reason": null}]})),
                call(1, "c2", "read_file", "{\"path\": \"b.md\"}"),
                chunk(json!({}), Some("tool_calls")),
                event(json!({"model": "small-1", "choices": [], "usage": usage})),
                "data: [DONE]\n\n".to_owned(),
            ];
            ("text/event-stream", text.concat())
        }
        "anthropic" => {
            let start = |index: u64, block: Value| {
                named(json!({"type": "content_block_start", "index": index, "content_block": block}))
            };
            let delta = |index: u64, delta: Value| {
                named(json!({"type": "content_block_delta", "index": index, "delta": delta}))
            };
            let stop = |index: u64| named(json!({"type": "content_block_stop", "index": index}));
            let input = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
            let usage = json!({"input_tokens": 40, "cache_read_input_tokens": 60, "output_tokens": 1});
            let text = [
                named(json!({"type": "message_start", "message": {"model": "small-1", "usage": usage}})),
                start(0, json!({"type": "text", "text": ""})),
                delta(0, json!({"type": "text_delta", "text": "Größe: 5 €"})),
                stop(0),
                start(1, json!({"type": "tool_use", "id": "c1", "name": "note", "input": {}})),
                delta(1, input("{\"text\":")),
                delta(1, input(" \"ä\"}")),
                stop(1),
                start(2, json!({"type": "tool_use", "id": "c2", "name": "read_file", "input": {}})),
                delta(2, input("{\"path\": \"b.md\"}")),
                stop(2),
                named(
                    json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}}),
                ),
                named(json!({"type": "message_stop"})),
            ];
            ("text/event-stream", text.concat())
        }
        other => unreachable!("{other}"),
    }
}

fn streamed(wire: &str) -> String {
    let (kind, body) = stream(wire);
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}")
}

fn expected() -> Reply {
    let call =
        |id: &str, name: &str, arguments: Value| ToolCall { id: id.to_owned(), name: name.to_owned(), arguments };
    Reply {
        text: "Größe: 5 €".to_owned(),
        calls: vec![call("c1", "note", json!({"text": "ä"})), call("c2", "read_file", json!({"path": "b.md"}))],
        usage: Usage { input: 100, output: 20, cached: 60, ..Usage::default() },
        stop: Stop::Done,
        model: "small-1".to_owned(),
        carried: None,
        tier: None,
        mended: Vec::new(),
    }
}

fn failure(kind: FailureKind, status: Option<u16>, reason: &str) -> Failure {
    Failure { status, ..Failure::new(kind, reason) }
}

#[tokio::test]
async fn a_call_is_sent_as_it_must_be_and_its_connection_serves_the_next() {
    let (kind, body) = stream("openai");
    let chunked = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    let server = Server::new(vec![act(&chunked, Then::Keep)]).await;
    let model = server.model("openai", patient(), None);
    let received = AtomicU64::new(0);
    for turn in 1..=3 {
        let reply = model
            .reply(Request {
                prompt: &prompt(),
                turn,
                conversation: 0,
                turn_of_conversation: turn,
                received: &received,
            })
            .await;
        assert_eq!(reply, Ok(expected()));
        // The connection is given back by a task of its own.
        while server.requests.lock().unwrap().len() as u64 != turn {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(received.load(Ordering::Relaxed), 3 * body.len() as u64);
    assert_eq!(server.connections.load(Ordering::Relaxed), 1);
    let (head, sent) = server.requests.lock().unwrap()[0].clone();
    let has = |line: &str| assert!(head.lines().any(|sent| sent == line), "{line} in {head}");
    has("POST /v1/chat/completions HTTP/1.1");
    has("content-type: application/json");
    has(&format!("authorization: Bearer {KEY}"));
    has(&format!("user-agent: overnight/{}", env!("CARGO_PKG_VERSION")));
    has("x-project: night");
    assert_eq!(sent["model"], json!("org/small:1"));
    assert_eq!((model.name(), model.window_tokens()), ("openai:org/small:1", 128_000));
}

#[tokio::test]
async fn a_stream_cut_anywhere_is_the_whole_reply_or_a_broken_stream() {
    for wire in ["openai", "anthropic"] {
        let whole = streamed(wire);
        let start = whole.find("\r\n\r\n").unwrap() + 4;
        let cuts: Vec<usize> = (start..whole.len()).collect();
        let acts = cuts.iter().map(|cut| Act { pieces: vec![whole.as_bytes()[..*cut].to_vec()], then: Then::Close });
        let server = Server::new(acts.collect()).await;
        let model = server.model(wire, patient(), None);
        let mut broken = 0;
        for cut in &cuts {
            match ask(&model).await {
                // Behind the mark of the end only counts of tokens can still be lost.
                Ok(reply) => assert_eq!(Reply { usage: expected().usage, mended: Vec::new(), ..reply }, expected()),
                Err(failure) => {
                    broken += 1;
                    let is_broken = matches!(failure.kind, FailureKind::BrokenStream | FailureKind::Unfinished);
                    assert_eq!((is_broken, failure.status), (true, Some(200)), "{cut} {failure}");
                }
            }
        }
        assert!(broken > cuts.len() / 2, "{wire}: {broken} of {}", cuts.len());
    }
}

#[tokio::test]
async fn a_stream_in_two_packets_is_the_same_reply_wherever_they_part() {
    for wire in ["openai", "anthropic"] {
        let whole = streamed(wire);
        let start = whole.find("\r\n\r\n").unwrap() + 4;
        let acts = (start..whole.len()).map(|cut| {
            let (one, two) = whole.as_bytes().split_at(cut);
            Act { pieces: vec![one.to_vec(), two.to_vec()], then: Then::Close }
        });
        let server = Server::new(acts.collect()).await;
        let model = server.model(wire, patient(), None);
        for cut in start..whole.len() {
            assert_eq!(ask(&model).await, Ok(expected()), "{wire} {cut}");
        }
    }
}

#[tokio::test]
async fn what_comes_too_late_is_told_from_what_never_began() {
    let whole = streamed("openai");
    let head = &whole[..whole.find("\r\n\r\n").unwrap() + 4];
    let begun = &whole[..whole.find("\n\ndata: ").unwrap() + 2];
    // The end of a reply isn't waited for.
    let complete = whole.clone();
    let quick = Timeouts { first_byte: SHORT, idle: SHORT, whole: LONG };
    let url = |server: &Server| server.url.clone();
    for (text, then, timeouts, expected_failure) in [
        ("", Then::Stall, quick, Some((FailureKind::TimedOut, None, "sent no answer within 0.4 s"))),
        (head, Then::Stall, quick, Some((FailureKind::TimedOut, Some(200), "sent no byte of a reply within 0.4 s"))),
        (
            begun,
            Then::Stall,
            quick,
            Some((FailureKind::Stalled, Some(200), "began a reply and then sent nothing for 0.4 s")),
        ),
        (begun, Then::Ping, quick, Some((FailureKind::Stalled, Some(200), "sent nothing but signs of life for 0.4 s"))),
        (
            begun,
            Then::Ping,
            Timeouts { whole: SHORT, ..patient() },
            Some((FailureKind::TimedOut, Some(200), "did not finish its reply within 0.4 s")),
        ),
        (&complete, Then::Stall, patient(), None),
    ] {
        let server = Server::new(vec![act(text, then)]).await;
        let found = ask(&server.model("openai", timeouts, None)).await;
        let expected = match expected_failure {
            Some((kind, status, reason)) => Err(failure(kind, status, &format!("{} {reason}", url(&server)))),
            None => Ok(expected()),
        };
        assert_eq!(found, expected);
    }
}

const NO_REPLY: &str = "URL answered with what is no reply: check --base-url, and what stands between here and there";

#[tokio::test]
async fn refusals_are_told_with_their_variable_model_or_url_and_their_pause() {
    let error = |words: &str| json!({"error": {"message": words}}).to_string();
    let json = "content-type: application/json\r\n";
    let pause = |header: &str| format!("{json}{header}\r\n");
    let date = pause("date: Sun, 22 Nov 2026 03:00:00 GMT\r\nretry-after: Sun, 22 Nov 2026 03:00:07 GMT");
    for (status, headers, body, kind, pause, reason) in [
        (
            "401 Unauthorized",
            json,
            error(&format!("wrong key {KEY} or also-planted")),
            FailureKind::KeyRefused,
            None,
            "URL refuses the key in NIGHT_KEY (401: wrong key *** or ***): put the right one there, or name another variable with --api-key-env",
        ),
        (
            "404 Not Found",
            json,
            error("no such model"),
            FailureKind::NotFound,
            None,
            "the model 'org/small:1' is not known at URL (404: no such model): check --model and --base-url",
        ),
        (
            "429 Too Many Requests",
            &pause("retry-after: 0.25"),
            error("slowly"),
            FailureKind::RateLimited,
            Some(250),
            "URL asks for a pause (429: slowly)",
        ),
        (
            "429 Too Many Requests",
            &date,
            String::new(),
            FailureKind::RateLimited,
            Some(7_000),
            "URL asks for a pause (429)",
        ),
        (
            "429 Too Many Requests",
            &pause("retry-after-ms: 7200000\r\nretry-after: 1"),
            error("slowly"),
            FailureKind::RateLimited,
            Some(3_600_000),
            "URL asks for a pause (429: slowly)",
        ),
        ("503 Unavailable", json, error("busy"), FailureKind::Overloaded, None, "URL is overloaded (503: busy)"),
        (
            "302 Found",
            "location: http://other.example/login?token=x\r\n",
            String::new(),
            FailureKind::NotFound,
            None,
            "URL sends elsewhere to http://other.example/login (302): check --base-url",
        ),
        (
            "200 OK",
            "content-type: text/html\r\n",
            "<!doctype html><title>Welcome</title>".to_owned(),
            FailureKind::Malformed,
            None,
            "URL answered with a page, not with a reply: check --base-url",
        ),
        ("200 OK", "content-type: text/plain\r\n", "OK".to_owned(), FailureKind::Malformed, None, NO_REPLY),
        ("200 OK", json, "null\n".to_owned(), FailureKind::Malformed, None, NO_REPLY),
    ] {
        let server = Server::new(vec![answer(status, headers, &body)]).await;
        let found = ask(&server.model("openai", patient(), None)).await;
        let expected = Failure {
            kind,
            status: status[..3].parse().ok(),
            retry_after: pause.map(Duration::from_millis),
            reason: reason.replace("URL", &server.url),
            received: (kind == FailureKind::Malformed).then_some(body),
        };
        assert_eq!(found, Err(expected));
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_at_once() {
    // A port that was free a moment ago.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let reason = format!("{url} can't be reached (connection refused): check --base-url or whether the server runs");
    let found = ask(&open("openai", &url, patient(), None)).await;
    assert_eq!(found, Err(failure(FailureKind::Unreachable, None, &reason)));

    // It takes the request and hangs up.
    let server = Server::new(vec![act("", Then::Close)]).await;
    let found = ask(&server.model("openai", patient(), None)).await.unwrap_err();
    assert_eq!((found.kind, found.status), (FailureKind::BrokenStream, None), "{found}");
    assert!(found.reason.starts_with(&format!("{} ended the connection before it answered (", server.url)), "{found}");
}

#[tokio::test]
async fn what_is_too_large_is_not_read() {
    let piece = format!("data: {}\n\n", json!({"choices": [], "padding": "x".repeat(1 << 20)}));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_owned();
    let pieces = std::iter::once(head).chain(std::iter::repeat_n(piece, 40)).map(String::into_bytes).collect();
    let refusal = answer("400 Bad Request", "content-type: text/plain\r\n", &"no ".repeat(1 << 20));
    let server = Server::new(vec![Act { pieces, then: Then::Close }, refusal]).await;
    let model = server.model("openai", patient(), None);
    let received = AtomicU64::new(0);
    let found = model
        .reply(Request { prompt: &prompt(), turn: 1, conversation: 0, turn_of_conversation: 1, received: &received })
        .await
        .unwrap_err();
    assert_eq!((found.kind, found.status), (FailureKind::Malformed, Some(200)), "{found}");
    assert!(received.load(Ordering::Relaxed) < 34 << 20);
    let found = ask(&model).await.unwrap_err();
    assert_eq!((found.kind, found.status), (FailureKind::BadRequest, Some(400)));
    assert!(found.reason.len() < 1_000, "{found}");
}

#[tokio::test]
async fn a_key_comes_out_nowhere_whatever_a_server_does_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let echo = |text: &str| {
        let function = json!({"name": "note", "arguments": json!({"text": text}).to_string()});
        let message = json!({"role": "assistant", "content": text, "tool_calls": [{"id": text, "type": "function", "function": function}]});
        json!({"model": text, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).to_string()
    };
    let json = "content-type: application/json\r\n";
    // Piece by piece, so that no single event holds it.
    let pieces: String = KEY
        .chars()
        .map(|letter| {
            let delta = json!({"content": letter.to_string()});
            format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
        })
        .collect::<Vec<_>>()
        .concat();
    let streamed = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{pieces}data: {}\n\ndata: [DONE]\n\n",
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    );
    let event = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {}\n\n",
        json!({"error": {"message": format!("{}{KEY}", "x".repeat(290)), "code": 500}})
    );
    let server = Server::new(vec![
        answer("200 OK", &format!("{json}x-echo: {KEY}\r\nset-cookie: also-planted\r\n"), &echo(KEY)),
        answer("200 OK", json, &echo("also-planted")),
        act(&streamed, Then::Close),
        act(&event, Then::Close),
        answer("401 No", json, &format!("{}{KEY}", "x".repeat(290))),
        answer("302 Found", &format!("location: http://h/{KEY}\r\n"), ""),
        act("nonsense\r\n\r\n", Then::Close),
    ])
    .await;
    let model = server.model("openai", patient(), Some(folder.path()));
    let mut seen = format!("{model:?}");
    let mut kinds = Vec::new();
    for _ in 0..7 {
        let outcome = ask(&model).await;
        kinds.push(outcome.as_ref().err().map(|failure| failure.kind));
        let _ = write!(seen, "{outcome:?}");
    }
    assert_eq!(
        kinds,
        [
            None,
            None,
            None,
            Some(FailureKind::Server),
            Some(FailureKind::KeyRefused),
            Some(FailureKind::NotFound),
            Some(FailureKind::BrokenStream)
        ]
    );
    let mut files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let recorded: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    assert_eq!(recorded.len(), 7);
    for text in recorded.iter().chain([&seen]) {
        // The stream's single letters are the one thing that nobody can find in what was recorded as it came.
        assert!(!text.contains("planted"), "{text}");
    }
    let first: Value = serde_json::from_str(&recorded[0]).unwrap();
    assert_eq!(files[0].file_name().unwrap(), "turn-00003-0001.json");
    assert_eq!(
        (&first["turn"], &first["request"]["url"], &first["request"]["headers"], &first["answer"]["status"]),
        (
            &json!(3),
            &json!(format!("{}/chat/completions", server.url)),
            &json!({"authorization": "***", "content-type": "application/json", "x-project": "***", "x-token": "***"}),
            &json!(200)
        )
    );
    assert_eq!(first["answer"]["body"], json!(echo("***")));
    let refused: Value = serde_json::from_str(&recorded[4]).unwrap();
    assert_eq!(refused["failure"]["kind"], json!("key_refused"));
}

#[tokio::test]
async fn a_recording_that_fails_is_told_once_and_fails_no_call() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new(vec![act(&streamed("openai"), Then::Close)]).await;
    let path = folder.path().join("calls");
    let model = server.model("openai", patient(), Some(&path));
    std::fs::remove_dir(&path).unwrap();
    let note = format!("the recording in {} can't be written (No such file or directory (os error 2))", path.display());
    assert_eq!(ask(&model).await, Ok(Reply { mended: vec![note], ..expected() }));
    assert_eq!(ask(&model).await, Ok(expected()));
}

#[test]
fn who_calls_the_same_server_with_the_same_key_shares_an_endpoint() {
    let shared = |url: &str, key: Option<&str>| {
        remote::shared_endpoint(url, key.and_then(Key::new).as_ref(), RateLimits::default()).unwrap()
    };
    let one = shared("http://shared.example/v1", Some("a"));
    assert!(Arc::ptr_eq(&one, &shared("http://shared.example/v1/", Some("a"))));
    assert!(!Arc::ptr_eq(&one, &shared("http://shared.example/v1", Some("b"))));
    assert!(!Arc::ptr_eq(&one, &shared("http://shared.example/v1", None)));
    assert!(!Arc::ptr_eq(&one, &shared("http://shared.example/v2", Some("a"))));
}
