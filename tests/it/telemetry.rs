//! What the program tells to programs: traces to a collector, and lines of JSON. The collector is a server on this machine
//! that keeps what it gets, or misbehaves.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::{RUN, Ran, TestDir, whole_job};
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest, common::v1::KeyValue, trace::v1::Span,
};
use opentelemetry_sdk::trace::SpanData;
use overnight::telemetry::{Exporter, TraceTarget};
use prost::Message;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

/// How the collector behaves.
#[derive(Clone, Copy)]
enum Manner {
    /// Answers with this status and body.
    Answers(u16, &'static [u8]),
    /// Takes the connection, reads, and never answers.
    Hangs,
}

/// A request as it came.
#[derive(Debug)]
struct Heard {
    first: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Heard {
    /// Who sent it, and the spans of it.
    fn read(&self) -> (Vec<KeyValue>, Vec<Span>) {
        let mut said = ExportTraceServiceRequest::decode(&self.body[..]).unwrap().resource_spans;
        assert_eq!(said.len(), 1);
        let said = said.remove(0);
        let spans = said.scope_spans.into_iter().flat_map(|scope| scope.spans).collect();
        (said.resource.unwrap().attributes, spans)
    }
}

struct Collector {
    address: String,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Collector {
    fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::default());
        let kept = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let kept = Arc::clone(&kept);
                // It ends with the connection, which ends with the program.
                std::thread::spawn(move || serve(stream, manner, &kept));
            }
        });
        Self { address, heard }
    }

    fn spans(&self) -> Vec<Span> {
        self.heard.lock().unwrap().iter().flat_map(|request| request.read().1).collect()
    }
}

/// Reads requests from one connection until it ends.
fn serve(stream: TcpStream, manner: Manner, kept: &Mutex<Vec<Heard>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if stream.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_lowercase(), value.to_owned());
        }
        let mut body = vec![0; headers["content-length"].parse().unwrap()];
        stream.read_exact(&mut body).unwrap();
        kept.lock().unwrap().push(Heard { first: first.trim_end().to_owned(), headers, body });
        match manner {
            Manner::Hangs => {}
            Manner::Answers(status, body) => {
                let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", body.len());
                stream.get_mut().write_all(&[head.as_bytes(), body].concat()).unwrap();
            }
        }
    }
}

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    dir
}

/// What a command said, without what differs from run to run.
fn steady(ran: &Ran) -> (i32, String, Vec<String>) {
    let id = ran.stdout.lines().next().unwrap().strip_prefix("job ").unwrap().split_once(':').unwrap().0.to_owned();
    let stdout = ran.stdout.lines().filter(|line| !line.starts_with("worked: ")).collect::<Vec<_>>().join("\n");
    (ran.code, stdout.replace(&id, "ID"), ran.stderr.replace(&id, "ID").lines().map(str::to_owned).collect())
}

#[test]
fn a_collector_gets_the_spans_of_the_work() {
    let collector = Collector::start(Manner::Answers(200, b""));
    let dir = dir();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hunter2%20x"),
        ("OTEL_SERVICE_NAME", "nights"),
    ];
    let ran = dir.run_with(&variables, &RUN);
    assert_eq!(steady(&ran), steady(&dir.run_with(&[], &RUN)), "nothing else changes");
    let id = ran.stdout.strip_prefix("job ").unwrap().split_once(':').unwrap().0;
    for request in collector.heard.lock().unwrap().iter() {
        assert_eq!(request.first, "POST /v1/traces HTTP/1.1");
        assert_eq!(request.headers["content-type"], "application/x-protobuf");
        assert_eq!(request.headers["api-key"], "hunter2 x");
        for secret in ["hunter2", "MUST", "must answer", "Write a report"] {
            assert!(!String::from_utf8_lossy(&request.body).contains(secret), "{secret} in {request:?}");
        }
        let (about, _) = request.read();
        let name = about.iter().find(|known| known.key == "service.name").unwrap();
        assert!(format!("{name:?}").contains("StringValue(\"nights\")"), "{name:?}");
    }
    let spans = collector.spans();
    let mut names: BTreeMap<&str, u32> = BTreeMap::new();
    let ids: BTreeSet<&[u8]> = spans.iter().map(|span| &span.span_id[..]).collect();
    assert_eq!(ids.len(), spans.len());
    for span in &spans {
        *names.entry(&span.name).or_default() += 1;
        assert_eq!(span.trace_id, uuid::Uuid::parse_str(id).unwrap().as_bytes());
        let is_whole = span.parent_span_id.is_empty() && span.name == "invoke_agent task";
        assert!(is_whole || ids.contains(&span.parent_span_id[..]), "{span:?}");
        let [start, end] = [span.start_time_unix_nano, span.end_time_unix_nano];
        assert!(start <= end && start > 1_700_000_000_000_000_000, "{span:?}");
    }
    let counted: Vec<String> = names.iter().map(|(name, count)| format!("{count} {name}")).collect();
    assert_eq!(
        counted,
        [
            "4 chat script.json",
            "1 execute_tool job_complete",
            "3 execute_tool list_documents",
            "3 execute_tool list_files",
            "4 execute_tool read_document",
            "1 execute_tool read_file",
            "12 execute_tool todo_complete",
            "3 execute_tool write_file",
            "1 invoke_agent task",
            "1 phase 0",
            "1 phase 1",
            "1 phase 2",
            "1 phase 3",
            "4 todo 1",
            "4 todo 2",
            "4 todo 3",
            "3 todo 4",
            "3 todo 5",
        ]
    );
}

/// How many spans of each name each trace has; the traces in no order.
fn counted(spans: &[Span]) -> Vec<BTreeMap<String, u32>> {
    let mut traces: BTreeMap<&[u8], BTreeMap<String, u32>> = BTreeMap::new();
    for span in spans {
        *traces.entry(&span.trace_id).or_default().entry(span.name.clone()).or_default() += 1;
    }
    let mut traces: Vec<_> = traces.into_values().collect();
    traces.sort_unstable();
    traces
}

#[test]
fn a_workers_jobs_have_the_spans_that_run_gives() {
    let [worked, ran] = [(); 2].map(|()| Collector::start(Manner::Answers(200, b"")));
    let dir = TestDir::new();
    let to = |collector: &Collector, arguments: &[&str]| {
        let told = dir.run_with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address)], arguments);
        assert_eq!(told.code, 0, "{}", told.stderr);
        assert!(!told.stderr.contains("spans did not reach"), "{}", told.stderr);
    };
    to(&worked, &["submit", "extract-requirements", "--documents", "docs", "--each"]);
    assert_eq!(worked.spans(), []);
    to(&worked, &["work", "--until-empty", "--concurrency", "2"]);
    for document in ["docs/a.md", "docs/b.md"] {
        to(&ran, &["run", "extract-requirements", "--documents", document]);
    }
    let expected = counted(&ran.spans());
    assert_eq!((expected.len(), counted(&worked.spans())), (2, expected));
}

#[test]
fn a_collector_that_misbehaves_is_told_of_once_and_changes_nothing() {
    let expected = steady(&dir().run_with(&[], &RUN));
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let cases = [
        (Collector::start(Manner::Hangs).address, "it did not answer in time"),
        (format!("http://{gone}"), "no connection"),
        (
            Collector::start(Manner::Answers(400, b"no")).address,
            "it answers with 400 (OTLP as protobuf over HTTP is what is sent)",
        ),
        (
            Collector::start(Manner::Answers(302, b"")).address,
            "it answers with 302 (OTLP as protobuf over HTTP is what is sent)",
        ),
    ];
    std::thread::scope(|scope| {
        for (address, why) in &cases {
            let expected = &expected;
            scope.spawn(move || {
                let ran = dir().run_with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", address)], &RUN);
                let (code, stdout, mut stderr) = steady(&ran);
                let said = stderr.pop().unwrap();
                assert_eq!(&(code, stdout, stderr), expected);
                let (lost, rest) = said.split_once(" of ").unwrap();
                assert_eq!(rest, format!("{lost} spans did not reach {address}/v1/traces: {why}"));
            });
        }
        scope.spawn(more_than_it_takes);
    });
    // `partial_success { rejected_spans: 2 }`
    let part = Collector::start(Manner::Answers(200, &[0x0a, 2, 0x08, 2]));
    let ran = dir().run_with(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &part.address)], &RUN);
    let said = ran.stderr.lines().last().unwrap();
    assert!(said.starts_with("2 of ") && said.ends_with(": it took only a part of them"), "{said}");
    // What can't be an address is no reason not to work; who asked for silence gets it.
    let odd = [("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317")];
    let ran = dir().run_with(&odd, &RUN);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.stderr.lines().filter(|line| line.contains("no traces are sent")).count(), 1, "{}", ran.stderr);
    let quiet = dir().run_with(&odd, &[&RUN[..], &["--quiet"]].concat());
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
}

/// A queue that is full loses spans, and nothing else.
fn more_than_it_takes() {
    let collector = Collector::start(Manner::Hangs);
    let target =
        TraceTarget { url: collector.address.clone(), headers: Vec::new(), allows_http: false, resource: Vec::new() };
    let exporter = Exporter::start(&target).unwrap();
    let span = |number: u64| SpanData {
        span_context: SpanContext::new(
            TraceId::from(1),
            SpanId::from(number),
            TraceFlags::SAMPLED,
            false,
            TraceState::default(),
        ),
        parent_span_id: SpanId::INVALID,
        parent_span_is_remote: false,
        span_kind: SpanKind::Client,
        name: "chat".into(),
        start_time: std::time::UNIX_EPOCH,
        end_time: std::time::UNIX_EPOCH,
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: opentelemetry_sdk::trace::SpanEvents::default(),
        links: opentelemetry_sdk::trace::SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: opentelemetry::InstrumentationScope::default(),
    };
    exporter.feed().send((1..=5_000).map(span).collect());
    let said = crate::support::wait(exporter.finish());
    let expected = format!("5000 of 5000 spans did not reach {}/: it did not answer in time", collector.address);
    assert_eq!(said.as_deref(), Some(expected.as_str()));
}

#[test]
fn lines_of_json_tell_what_lines_of_text_tell() {
    let (code, stdout, text) = steady(&dir().run_with(&[], &RUN));
    for (variables, more) in
        [(&[][..], &["--log-format", "json"][..]), (&[("OVERNIGHT_LOG_FORMAT", "json")][..], &[][..])]
    {
        let ran = dir().run_with(variables, &[&RUN[..], more].concat());
        let id = ran.stdout.strip_prefix("job ").unwrap().split_once(':').unwrap().0.to_owned();
        let (json_code, json_stdout, lines) = steady(&ran);
        assert_eq!((json_code, &json_stdout), (code, &stdout), "the result stays as it is");
        let lines: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (ended, lines) = lines.split_last().unwrap();
        assert_eq!(
            (&ended["event"], &ended["rest"], &ended["level"]),
            (&json!("rested"), &json!("completed"), &json!("info"))
        );
        let messages: Vec<&str> = lines.iter().map(|line| line["message"].as_str().unwrap()).collect();
        assert_eq!(messages, text.iter().map(|line| line.trim()).collect::<Vec<_>>());
        let mut moments = Vec::new();
        for line in lines {
            assert_eq!((&line["job"], &line["level"]), (&json!("ID"), &json!("info")), "{id}: {line}");
            moments.push(chrono::DateTime::parse_from_rfc3339(line["at"].as_str().unwrap()).unwrap());
        }
        assert!(moments.is_sorted(), "{moments:?}");
        let mut first = lines[4].clone();
        for name in ["at", "tokens"] {
            assert!(!first[name].is_null(), "{first}");
            first[name] = json!("…");
        }
        assert_eq!(
            first,
            json!({
                "at": "…", "level": "info", "job": "ID", "event": "todo_completed",
                "message": "[3/5] Read instructions.md: done by the system",
                "phase": 0, "attempt": 1, "todo": 3, "turn": 0, "tokens": "…", "cost": 0.0,
            })
        );
    }
}

#[test]
fn errors_are_lines_of_json_too() {
    let dir = dir();
    dir.put("wrong.yaml", "colour: red\n");
    let as_json = ("OVERNIGHT_LOG_FORMAT", "json");
    for (variables, arguments, expected) in [
        (&[][..], &["show", "ffff", "--log-format", "json"][..], "no jobs yet: "),
        (&[][..], &["jobs", "--log-format=json", "--config", "wrong.yaml"], "wrong.yaml:1: unknown key 'colour'"),
        (&[as_json][..], &["jobs", "--config", "wrong.yaml"], "wrong.yaml:1: unknown key 'colour'"),
        (&[][..], &["jobs", "--log-format", "json", "--colour"], "unexpected argument '--colour' found"),
        (&[as_json][..], &["jobs", "--log-format", "xml"], "--log-format must be text or json, not 'xml'"),
    ] {
        let ran = dir.run_with(variables, arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        if arguments.contains(&"xml") {
            assert!(ran.stderr.contains(expected), "{}", ran.stderr);
            continue;
        }
        let line: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!((&line["level"], &line["event"], &line["job"]), (&json!("error"), &json!("error"), &Value::Null));
        assert!(line["message"].as_str().unwrap().starts_with(expected), "{line}");
    }
}
