//! Pages that a model looks at: as each vendor wants an image, in the record, and refused where a model takes none.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::server::{Format, Server, Setup};
use crate::cli_run::TestDir;
use async_trait::async_trait;
use overnight::model::{Failure, Model, Request, scripted::Scripted};
use overnight_core::{
    answer,
    job::digest::sha256,
    message::{Image, Reply, Stop, Usage},
};
use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

const TASK: &str = "---\nname: look\ndescription: Looks at a page\nphase: {min_todos: 1}\nfinale: []\ncoverage: 0\n\
    deliverables: [{path: output/seen.md}]\n---\nLook at the first page.\n";
const REPLIES: &str = r##"version: 1
sees: true
replies:
  - calls:
      - write_file: {path: main_plan.md, content: "# Execution Plan\n\n## Phase 1: Look\n- [ ] Look at the page\n"}
      - view_page: {name: rooms.pdf, page: 1}
      - view_page: {name: rooms.pdf, page: 9}
  - calls:
      - write_file: {path: output/seen.md, content: "A plan of the rooms."}
      - todo_complete: {outcome: Seen}
      - job_complete: {summary: The page was seen., deliverables: [output/seen.md], confidence: 0.9}
"##;

/// Models that take images, and what their servers speak.
const WIRES: [(Format, &str); 6] = [
    (Format::OpenAi, "openai:gpt-4.1"),
    (Format::OpenAi, "openai:qwen3-vl-8b"),
    (Format::Responses, "openai:gpt-6-sol"),
    (Format::Anthropic, "anthropic:claude-opus-5-5"),
    (Format::Gemini, "gemini:gemini-4-argon"),
    (Format::Ollama, "ollama:qwen3-vl:8b"),
];

/// The model behind the server: it keeps what it was shown.
#[derive(Debug)]
struct Looker {
    says: Scripted,
    offered: Mutex<Vec<bool>>,
    shown: Mutex<Vec<Image>>,
}

impl Looker {
    fn new() -> Arc<Self> {
        let says = Scripted::parse("replies.yaml", REPLIES).unwrap();
        Arc::new(Self { says, offered: Mutex::default(), shown: Mutex::default() })
    }
}

#[async_trait]
impl Model for Looker {
    fn name(&self) -> &str {
        self.says.name()
    }

    fn window_tokens(&self) -> u64 {
        self.says.window_tokens()
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        // Who only transcribes has no tools.
        if request.prompt.tools.is_empty() {
            self.shown.lock().unwrap().extend(request.prompt.images().cloned());
            return Ok(Reply {
                text: "The rent is EUR 5.".to_owned(),
                calls: Vec::new(),
                usage: Usage { input: 900, output: 20, ..Usage::default() },
                stop: Stop::Done,
                model: String::new(),
                carried: None,
                tier: None,
                mended: Vec::new(),
            });
        }
        self.offered.lock().unwrap().push(request.prompt.tools.iter().any(|tool| tool.name == "view_page"));
        self.shown.lock().unwrap().extend(request.prompt.images().cloned());
        let turn = u64::try_from(self.offered.lock().unwrap().len()).unwrap();
        self.says.reply(Request { turn, turn_of_conversation: turn, ..request }).await
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        self.says.cost(usage)
    }
}

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.put("look.md", TASK);
    dir.put("replies.yaml", REPLIES);
    let pdf = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/standards/reading-rooms.pdf");
    fs::copy(pdf, dir.path().join("docs/rooms.pdf")).unwrap();
    dir
}

/// The only file of the workspace's `tool_results/`: its name and bytes.
fn kept(dir: &TestDir) -> (String, Vec<u8>) {
    let shown: serde_json::Value = serde_json::from_str(&dir.run(&["show", "last", "--json"]).stdout).unwrap();
    let folder = dir.path().join(shown["workspace"].as_str().unwrap()).join("tool_results");
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (file, none) = (files.next().unwrap(), files.next());
    assert_eq!(none, None);
    (file.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(file).unwrap())
}

#[test]
fn a_page_goes_over_each_wire_and_into_the_record() {
    for (format, model) in WIRES {
        let (dir, looker) = (dir(), Looker::new());
        let server = Server::start(Setup { model: looker.clone(), ..Setup::default() });
        let url = server.base_url(format);
        let ran = dir.run(&["run", "look.md", "-d", "docs", "-q", "-m", model, "--base-url", &url]);
        assert_eq!((ran.code, server.counts().complaints), (0, Vec::<String>::new()), "{model}: {}", ran.stderr);
        let (name, bytes) = kept(&dir);
        let shown = looker.shown.lock().unwrap().clone();
        let sha256 = sha256(&bytes);
        // 150 dots per inch of an A4 page.
        let expected =
            Image { sha256: sha256.clone(), media: "image/png".into(), width: 1240, height: 1754, tokens: 0 };
        assert_eq!((shown, name), (vec![expected], format!("{sha256}.png")), "{model}");
        let prompt = dir.run(&["audit", "prompt", "last", "--turn", "2"]).stdout;
        assert!(prompt.contains(&format!("[image, 1240×1754 pixels: tool_results/{sha256}.png]")), "{prompt}");
        let not_painted = answer!("page.not_painted", what = "page 9", name = "\"rooms.pdf\"", refusal = "");
        assert!(prompt.contains(&not_painted), "{prompt}");
        assert_eq!(dir.run(&["audit", "verify", "last"]).code, 0);
        assert_eq!(dir.run(&["audit", "export", "last", "-o", "record.zip"]).code, 0);
        let record = fs::read(dir.path().join("record.zip")).unwrap();
        let name = format!("{sha256}.png");
        assert!(record.windows(name.len()).any(|window| window == name.as_bytes()), "{model}");
    }
}

#[test]
fn a_scanned_page_goes_over_each_wire() {
    for (format, model) in WIRES {
        let (dir, looker) = (dir(), Looker::new());
        dir.put("docs/scan.png", crate::scans::picture("scan.png"));
        let server = Server::start(Setup { model: looker.clone(), ..Setup::default() });
        let url = server.base_url(format);
        let ran = dir.run(&["run", "look.md", "-d", "docs", "-q", "-m", model, "--base-url", &url]);
        assert_eq!((ran.code, server.counts().complaints), (0, Vec::<String>::new()), "{model}: {}", ran.stderr);
        let shown: Vec<_> = looker.shown.lock().unwrap().iter().map(|image| (image.width, image.height)).collect();
        assert_eq!(shown, [(600, 400), (1240, 1754)], "{model}");
        assert_eq!(dir.run(&["audit", "verify", "last"]).code, 0);
    }
}

#[test]
fn who_takes_no_images_is_not_offered_them_and_asked_nothing_behind_one() {
    // The second sees, and there is nothing to look at.
    for (model, documents) in [("openai:able-agent", "docs"), ("openai:qwen3-vl-8b", "docs/a.md")] {
        let (dir, looker) = (dir(), Looker::new());
        let server = Server::start(Setup { model: looker.clone(), ..Setup::default() });
        let url = server.base_url(Format::OpenAi);
        let ran = dir.run(&["run", "look.md", "-d", documents, "-q", "-m", model, "--base-url", &url]);
        assert_eq!((ran.code, looker.offered.lock().unwrap().clone()), (0, vec![false; 2]), "{}", ran.stderr);
    }
    let (dir, server) = (dir(), Server::start(Setup::default()));
    let url = server.base_url(Format::OpenAi);
    dir.run(&["run", "look.md", "-d", "docs", "-q", "-m", "scripted:replies.yaml", "--turns", "1"]);
    let ran = dir.run(&["resume", "last", "-q", "--turns", "9", "-m", "openai:able-agent", "--base-url", &url]);
    assert_eq!((ran.code, server.counts().requests), (2, 0), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("openai:able-agent takes no images, and the job has looked at pages"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_job_that_was_killed_when_the_image_was_written_goes_on_with_the_same_one() {
    let dir = dir();
    let run = ["run", "look.md", "-d", "docs", "-q", "-m", "scripted:replies.yaml"];
    assert_ne!(dir.run_with(&[("FAILPOINTS", "page.painted=return")], &run).code, 0);
    let before = kept(&dir);
    assert_eq!(dir.run(&["audit", "verify", "last"]).code, 0);
    assert_eq!((dir.run(&["resume", "last", "-q"]).code, kept(&dir) == before), (0, true));
    assert_eq!(dir.run(&["audit", "verify", "last"]).code, 0);
}
