//! Hostile input, wherever bytes of somebody else come in: each reader gives a value or an error, never a panic, and takes
//! no more than its share of time. Three ways: raw bytes, valid files that were changed at random, and inputs made to
//! drive a parser into depth or into quadratic work.
//!
//! `PROPTEST_CASES` makes random runs longer; `OVERNIGHT_HOSTILE_KB` makes the made ones larger.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by it")]

use crate::{sections, support::cases};
use overnight::{
    model::scripted::Scripted,
    workspace::{ModelPath, archive_manifest::ArchiveManifest},
};
use overnight_core::{
    job::{
        call::{ControlCall, ParsedCall, PendingCall},
        contract::{QuoteQuery, QuoteResult, RuleMemory, check_deliverable},
        event::Event,
        instructions::{self, Instructions},
        json_path::JsonPath,
        plan::Plan,
        spec::JobSpec,
        time::Timestamp,
        todo_list::{TodoList, clean},
        tool::Tool,
    },
    message::ToolCall,
    tokens::{bounded, head, tail},
};
use overnight_documents::{QuoteIndex, Unit, extract};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{path::Path, sync::LazyLock};

/// A reader and its name.
type Reader = (&'static str, fn(&[u8]));

/// Everything that reads somebody else's bytes, by name.
const READERS: [Reader; 14] = [
    ("plan", plan),
    ("instructions", |bytes| drop(read_instructions(&text(bytes)))),
    ("front matter", |bytes| drop(read_instructions(&format!("---\n{}\n---\n\nDo it.\n", text(bytes))))),
    ("schema in instructions", |bytes| drop(with_schema(&text(bytes)))),
    ("script", |bytes| drop(Scripted::parse("script.yaml", &text(bytes)))),
    ("job.yaml", |bytes| drop(serde_yaml::from_slice::<JobSpec>(bytes))),
    ("event", |bytes| drop(serde_json::from_slice::<Event>(bytes))),
    ("manifest", |bytes| drop(ArchiveManifest::parse(bytes))),
    ("path", |bytes| drop(ModelPath::parse(&text(bytes)))),
    ("arguments", tool_arguments),
    ("deliverable", deliverable),
    ("markdown", |bytes| document("a.md", bytes)),
    ("html", |bytes| document("a.html", bytes)),
    ("text", |bytes| document("a.txt", bytes)),
];

fn every_reader(bytes: &[u8]) {
    for (_, read) in READERS {
        read(bytes);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn plan(bytes: &[u8]) {
    let Ok(plan) = Plan::parse(&text(bytes)) else { return };
    let marked = plan.complete_phase(1, &[]).mark_current();
    assert!(Plan::parse(marked.text()).is_ok(), "the system's own plan can't be read:\n{:.300}", marked.text());
    let _ = Plan::check_update(&plan, &marked.without_marks().with_marks_of(&plan));
    let longer = plan.insert_after(1, "More", &["step".to_owned()]);
    assert!(Plan::parse(longer.text()).is_ok(), "the system's own plan can't be read:\n{:.300}", longer.text());
}

fn read_instructions(text: &str) -> Option<Instructions> {
    let read = instructions::parse("a.md", text, &|_| Ok("{\"type\": \"object\"}".to_owned())).ok()?;
    // What was accepted goes into the journal's first line and into job.yaml, and must come back from both.
    let line = format!("{{\"events\":[{{\"spec\":{}}}]}}", serde_json::to_string(&read).unwrap());
    let again: Value = serde_json::from_str(&line).expect("accepted instructions can be read from the journal");
    assert_eq!(serde_json::from_value::<Instructions>(again["events"][0]["spec"].clone()).unwrap(), read);
    let yaml = serde_yaml::to_string(&read).unwrap();
    assert_eq!(serde_yaml::from_str::<Instructions>(&yaml).expect("accepted instructions can be read as YAML"), read);
    Some(read)
}

fn with_schema(schema: &str) -> Option<Instructions> {
    let front = "name: a\ndescription: b\ndeliverables:\n  - path: output/a.json\n    schema: a.schema.json";
    let read =
        instructions::parse("a.md", &format!("---\n{front}\n---\n\nDo it.\n"), &|_| Ok(schema.to_owned())).ok()?;
    let line = format!("{{\"events\":[{{\"spec\":{}}}]}}", serde_json::to_string(&read).unwrap());
    assert!(serde_json::from_str::<Value>(&line).is_ok(), "an accepted schema can't be read from the journal");
    Some(read)
}

fn tool_arguments(bytes: &[u8]) {
    let value = serde_json::from_slice(bytes).unwrap_or_else(|_| Value::String(text(bytes)));
    for tool in Tool::all() {
        let said = ToolCall { id: String::new(), name: tool.name().to_owned(), arguments: value.clone() };
        if let ParsedCall::Control(ControlCall::TodoWrite(items)) = PendingCall::new(said).call
            && let Ok(todos) = TodoList::default().rewritten(&items, Timestamp::default())
        {
            let list = TodoList::new(todos, Timestamp::default());
            assert_eq!(list.rewritten(&[], Timestamp::default()).unwrap().len(), list.all().len());
        }
    }
    let text = text(bytes);
    let _ = (clean(&text), JsonPath::parse(&text), head(&text, 10), tail(&text, 10), bounded(&text, 10, "x"));
}

fn deliverable(bytes: &[u8]) {
    static WANTED: LazyLock<Instructions> = LazyLock::new(|| {
        let mut read = instructions::shipped::parse_shipped("extract-requirements").unwrap().unwrap();
        for deliverable in &mut read.deliverables {
            deliverable.min_words = Some(3);
            deliverable.forbid = vec!["TODO".to_owned(), "aa".to_owned()];
        }
        read
    });
    for wanted in &WANTED.deliverables {
        let mut asked = 0_u32;
        let mut find = |quoted: QuoteQuery<'_>| {
            asked += 1;
            if quoted.quote.len() > 3 { QuoteResult::NotFound { nearest: None } } else { QuoteResult::Found }
        };
        check_deliverable(wanted, Some(bytes), &mut find, &mut RuleMemory::default());
    }
}

fn document(name: &str, bytes: &[u8]) {
    let Ok(read) = extract(name, bytes) else { return };
    let index = QuoteIndex::new(Unit::Line, read.text.as_str());
    let quote: String = read.text.chars().filter(|letter| !letter.is_whitespace()).take(40).collect();
    let _ = (index.find(&quote, Some(1)), index.nearest("aaaaaaaaaaaaab"), index.find("aaaaaaaaaaaaab", None));
}

/// Valid files of each kind, as far as the repository has them: what a changed file is made of.
static VALID: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<Vec<u8>> = ["tests/formats", "tests/it", "samples", "instructions"]
        .iter()
        .flat_map(|folder| walkdir::WalkDir::new(root.join(folder)).sort_by_file_name())
        .map(Result::unwrap)
        .filter(|entry| {
            entry
                .path()
                .extension()
                .is_some_and(|ext| ["md", "yaml", "json", "html", "txt"].iter().any(|kind| ext == *kind))
        })
        .flat_map(|entry| sections::read(&std::fs::read_to_string(entry.path()).unwrap()))
        .map(|(_, text)| text.into_bytes())
        .filter(|bytes| bytes.len() < 40_000)
        .collect();
    let todos = json!({"todos": [{"content": "Read", "active_form": "Reading", "status": "pending", "order": 2}]});
    let requirements = json!({"requirements": [{"id": "R1", "text": "t", "quote": "q", "document": "d", "page": 1}]});
    let event = json!({"type": "phase_started", "number": 1, "attempt": 1, "kind": "planned", "title": "T", "plan_phase": 1, "todos": []});
    files.extend([todos, requirements, event].map(|value| value.to_string().into_bytes()));
    files
});

/// One change of a file: where (of a thousand), how many bytes go, what comes.
#[derive(Clone, Debug)]
struct Change {
    place: usize,
    take: usize,
    put: Vec<u8>,
    times: usize,
}

/// What has a meaning to some reader.
const PUT: &str = r###"[
"\n", "\u0000", "---\n", "\ufeff", "\u2028", "*a", "&a ", "!!x ", "<<: *a\n", "## Phase 2: x\n", "- [ ] ", "<table>",
"</p>", "\"", "{", "}", "[", "]", ":", "- ", "  ", "\t", "#", "|", "> ", "99999999999999999999", "-1", "1e999", "null",
"\r", "é", "✓ COMPLETE", "```\n"
]"###;

fn change() -> impl Strategy<Value = Change> {
    let put = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..6),
        prop::sample::select(serde_json::from_str::<Vec<String>>(PUT).unwrap()).prop_map(String::into_bytes),
    ];
    (
        0_usize..1_000,
        prop_oneof![3 => Just(0), 2 => 1_usize..4, 1 => 1_usize..2_000],
        put,
        prop_oneof![9 => Just(1), 1 => 1_usize..60],
    )
        .prop_map(|(place, take, put, times)| Change { place, take, put, times })
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let at = bytes.len() * change.place / 1_000;
        let end = bytes.len().min(at + change.take);
        bytes.splice(at..end, change.put.repeat(change.times));
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(80), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn raw_bytes_give_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        every_reader(&bytes);
    }

    #[test]
    fn odd_text_gives_a_value_or_an_error(text in "(?s)[ -~\n\t#*\\[\\]{}:&|>✓é\u{2028}]{0,300}") {
        every_reader(text.as_bytes());
    }

    #[test]
    fn changed_files_give_a_value_or_an_error(
        which in any::<prop::sample::Index>(),
        changes in proptest::collection::vec(change(), 1..6),
    ) {
        let bytes = changed(VALID[which.index(VALID.len())].clone(), &changes);
        every_reader(&bytes);
    }
}

/// What is repeated to hurt.
const REPEATED: &str = r###"[
"[", "]", "{", "}", "(", "<", ">", "> ", "*", "**", "_", "`", "~", "|", "#", "# ", "- ", "+ ", "1. ", "&", "&#",
"&amp;", "!", "![", "![[", "[^", "\\", "\t", " ", "\n", "\r", "\u0000", "a", "é", "界", "\u202e", "\u0301", "aa ",
"[a](", "[a]: b\n", "[a][", "**a ", "*a_", "a**b", "```\n", "~~~\n", "---\n", "===\n", "a\n===\n", "- [ ] x\n",
"- [x] ", "## Phase 1\n", "## Phase 1: a\n- b\n", "**Phase 1**\n", "Phase 1: a\n", "> - ", "- > ", "1) - ", "<div>",
"</div>", "<p>", "<b>", "<table>", "<table><tr><td>", "<td>", "<li><ul>", "<!--", "<!-- a -->", "<a href='", "<svg>",
"<script>", "<select><option>", "<template>", "<math><mi>", "|a", "|a|\n", "|a|b|\n|-|-|\n", "\"", "\"a\":", "[[",
"[{\"a\":", "{\"a\":[", "{a: ", "? ", "- - ", "!!", "&a ", "*a ", "a: ", "a:\n ", "'", "%", "@", ", ", "TODO ", "$..a",
"$[*]", "a/", "../", "<?xml", "<![CDATA["
]"###;

/// Inputs made to hurt, each of about `size` bytes.
fn made(size: usize) -> Vec<(String, String)> {
    let units: Vec<String> = serde_json::from_str(REPEATED).unwrap();
    let mut all: Vec<(String, String)> =
        units.iter().map(|unit| (format!("{unit:?} repeated"), unit.repeat(size / unit.len()))).collect();
    let lines = |name: &str, line: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        for number in 1.. {
            text.push_str(&line(number));
            if text.len() >= size {
                break;
            }
        }
        (name.to_owned(), text)
    };
    all.push(lines("phases that count up", &|n| format!("## Phase {n}: Part {n}\n\n- [ ] step {n}\n\n")));
    all.push(lines("steps of one phase", &|n| {
        if n == 1 { "## Phase 1: All\n\n".to_owned() } else { format!("- [ ] step {n}\n") }
    }));
    all.push(lines("phases of one name", &|n| format!("## Phase {n}: Same ✓ COMPLETE\n")));
    all.push(lines("bold phases in a list", &|n| format!("- **Phase {n}**\n  - a\n")));
    all.push(lines("headings of falling level", &|n| format!("{} Phase {n}\n", "#".repeat(n % 7))));
    all.push(lines("keys", &|n| format!("key{n}: {n}\n")));
    all.push(lines("the same key", &|_| "name: a\n".to_owned()));
    all.push(lines("aliases of aliases", &|n| {
        if n == 1 {
            "a1: &a1 [x]\n".to_owned()
        } else {
            let before = n - 1;
            format!("a{n}: &a{n} [*a{before}, *a{before}, *a{before}]\n")
        }
    }));
    all.push(lines("merges", &|n| format!("b{n}: &b{n}\n  <<: *b{}\n", n.saturating_sub(1))));
    all.push(lines("deliverables", &|n| {
        if n == 1 {
            "name: a\ndescription: b\ndeliverables:\n".to_owned()
        } else {
            format!("  - path: output/{n}.md\n")
        }
    }));
    all.push(lines("lists, deeper and deeper", &|n| format!("{}- a\n", "  ".repeat(n % 300))));
    all.push(lines("quotes, deeper and deeper", &|n| format!("{}a\n", "> ".repeat(n % 300))));
    all.push(lines("reference definitions used", &|n| format!("[r{n}]: /u{n}\n[r{n}] [r{}]\n", n * 7 % 1_000)));
    all.push(lines("footnotes", &|n| format!("[^{n}]: a [^{}]\n", n + 1)));
    all.push(lines("a wide table", &|n| {
        if n == 1 { "|a".repeat(200) + "|\n" + &"|-".repeat(200) + "|\n" } else { "|b\n".to_owned() }
    }));
    let (columns, rows) = (size / 8, size / 6);
    all.push((
        "a table as wide as long".to_owned(),
        format!("{}\n{}\n{}", "|a".repeat(columns), "|-".repeat(columns), "|b\n".repeat(rows)),
    ));
    all.push(lines("columns that span", &|_| {
        "<table><tr><td colspan=1000 rowspan=65534>a<td rowspan=0>b</table>".to_owned()
    }));
    all.push(lines("requirements", &|n| {
        if n == 1 {
            "{\"requirements\":[{}".to_owned()
        } else {
            format!(",{{\"id\":\"R{n}\",\"quote\":\"aaaa{n}\",\"document\":\"d\",\"page\":1}}")
        }
    }));
    all.push(lines("todos", &|n| {
        if n == 1 {
            "{\"todos\":[{\"content\":\"a\",\"active_form\":\"a\"}".to_owned()
        } else {
            format!(",{{\"content\":\"a {n}\",\"active_form\":\"b\"}}")
        }
    }));
    for (_, text) in all.iter_mut().filter(|(name, _)| name == "todos" || name == "requirements") {
        text.push_str("]}");
    }
    all.push(("one long line of words".to_owned(), "aaaaaaaaaaaaa ".repeat(size / 14)));
    let half = size / 2;
    all.push(("nested arrays, closed".to_owned(), "[".repeat(half) + &"]".repeat(half)));
    all.push(("nested objects, closed".to_owned(), "{\"a\":".repeat(size / 6) + "1" + &"}".repeat(size / 6)));
    all.push(("nested elements, closed".to_owned(), "<div>".repeat(size / 11) + &"</div>".repeat(size / 11)));
    all
}

/// CPU time of this thread in milliseconds: what others on the machine do doesn't count.
fn cpu_ms() -> u128 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<u128>().unwrap() / 1_000_000
}

/// A reader that takes four times the input in more than about four times the time is quadratic or worse. Small times say
/// nothing; a reader that is slow in proportion is allowed, one that is slow beyond that is not.
#[test]
fn made_inputs_take_time_in_proportion() {
    let kb: usize = std::env::var("OVERNIGHT_HOSTILE_KB").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    let mut slow = Vec::new();
    let (small, large) = (made(kb * 256), made(kb * 1_024));
    for ((name, small), (_, large)) in small.iter().zip(&large) {
        for (reader, read) in READERS {
            let time = |input: &str| {
                let start = cpu_ms();
                read(input.as_bytes());
                cpu_ms() - start
            };
            let long = time(large);
            if long > 60 + 2 * kb as u128 {
                let short = time(small);
                let again = time(large).min(long);
                if again > short.max(3) * 9 || again > 100 * kb as u128 {
                    slow.push(format!("{reader} reading {name}: {short} ms, then {again} ms for four times as much"));
                }
            }
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

/// Depth where a format's own parser allows some: what is accepted can be stored and read again.
#[test]
fn schemas_and_scripts_of_any_depth_are_refused_or_kept() {
    for depth in [10, 50, 60, 90, 100, 110, 118, 120, 122, 124, 126, 127, 128, 200] {
        let schema = (0..depth).fold(json!({}), |inner, _| json!({"not": inner})).to_string();
        with_schema(&schema);
        let inline = "{\"not\": ".repeat(depth) + "{}" + &"}".repeat(depth);
        read_instructions(&format!(
            "---\nname: a\ndescription: b\ndeliverables:\n  - path: output/a.json\n    schema: {inline}\n---\n\nDo it.\n"
        ));
        let _ = Scripted::parse("s", &format!("version: 1\nreplies:\n  - calls: [{{read_file: {inline}}}]\n"));
    }
}

#[test]
fn a_script_can_repeat_for_as_long_as_numbers_go() {
    let most = u64::MAX;
    let script = format!("version: 1\nreplies:\n  - {{text: a, times: {most}}}\n  - {{text: b, times: {most}}}\n");
    assert!(Scripted::parse("s", &script).is_ok());
}
