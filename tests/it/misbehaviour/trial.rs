//! One job with a model that misbehaves, in a place full of things that it must not touch. Whatever the script does, each
//! trial checks what holds for all: the things around the workspace are as they were, the chain verifies, every call has one
//! result, no prompt is over its budget, and neither time nor the journal explodes.

use crate::support::{Place, drive, made, wait};
use overnight::{
    audit::verify::verify,
    model::{Model, scripted::Scripted},
    runner::{self, RunReport},
};
use overnight_core::{
    job::{
        event::{CallEnd, ConversationEvent, Decision, Event, ToolEvent, ToolResult},
        instructions,
        state::{Job, Status},
    },
    machine::effect::Command,
    message::{Message, Prompt},
    prompt::compose,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

/// What the canary outside holds; no prompt and no file of the workspace may.
pub(super) const SECRET: &str = "canary-4711-never-to-be-seen";
/// No trial of a sound program takes a tenth of it, also on a slow machine.
const MOST_TIME: Duration = Duration::from_secs(100);

pub(super) const TASK: &str = "\
---
name: task
context: { inline: never }
description: A report on the documents
coverage: 0.0
deliverables:
  - path: output/report.md
    min_words: 3
---
# Task

Write a report.
";

pub(super) const PLAN: &str = "\
# Execution Plan

## Overview

Read, then write.

## Phase 1: Reading

- [ ] Do part 1
- [ ] Do part 2
- [ ] Do part 3
- [ ] Do part 4
- [ ] Do part 5

## Phase 2: Writing

- [ ] Do part 1
- [ ] Do part 2
- [ ] Do part 3
- [ ] Do part 4
- [ ] Do part 5
";

/// Everything that one trial needs to know before it begins.
pub(super) struct Trial {
    pub(super) place: Place,
    pub(super) task: String,
    pub(super) documents: Vec<(String, Vec<u8>)>,
    /// Whether something foreign is put into the workspace, which `audit verify` is to tell.
    pub(super) is_planted: bool,
}

/// How a call came out, and what was told of it.
pub(super) type Told = (CallEnd, String);

/// A job that came to rest.
pub(super) struct Rest {
    pub(super) path: PathBuf,
    pub(super) job: Job,
    /// How the drive itself failed, where it did: nothing that a model can bring about.
    pub(super) error: Option<String>,
    /// What `audit verify` finds wrong: only what was planted.
    pub(super) faults: Vec<String>,
    pub(super) decisions: Vec<Decision>,
    pub(super) prompts: Vec<Prompt>,
}

impl Trial {
    pub(super) fn new() -> Self {
        let place = wait(Place::new());
        let put = |path: &str, text: &str| {
            let path = place.folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("outside/secret.md", SECRET);
        put("outside/folder/deep.md", SECRET);
        put("workspaces/secret.md", SECRET);
        put("workspaces/neighbour/main_plan.md", SECRET);
        put("workspaces/neighbour/output/report.md", SECRET);
        let documents = [("a.md", "# A\n\nThe server MUST answer.\n"), ("b.md", "# B\n\nA client SHOULD wait.\n")]
            .map(|(name, text)| (name.to_owned(), text.into()));
        Self { place, task: TASK.to_owned(), documents: documents.to_vec(), is_planted: false }
    }

    pub(super) fn with_task(task: &str) -> Self {
        Self { task: task.to_owned(), ..Self::new() }
    }

    /// A trial in which something foreign is put into the workspace.
    pub(super) fn planted() -> Self {
        Self { is_planted: true, ..Self::new() }
    }

    /// The folder in which everything lies.
    pub(super) fn folder(&self) -> &Path {
        self.place.folder.path()
    }

    /// Something outside of any workspace that a link may lead to.
    pub(super) fn outside(&self, path: &str) -> PathBuf {
        self.folder().join("outside").join(path)
    }

    /// Plays `replies` once; the script then ends.
    pub(super) fn play(&self, replies: &[Value]) -> Rest {
        self.play_with(replies, "stop", &mut |_, _| {})
    }

    /// Plays `replies` again and again.
    pub(super) fn repeat(&self, replies: &[Value]) -> Rest {
        self.play_with(replies, "repeat", &mut |_, _| {})
    }

    /// Plays `replies`; `each` is called after every decision, with the workspace's folder.
    pub(super) fn play_with(
        &self,
        replies: &[Value],
        then: &str,
        each: &mut (dyn FnMut(&Path, &Decision) + Send),
    ) -> Rest {
        let model = script(replies, then);
        let folder = self.folder().join("documents");
        for (name, content) in &self.documents {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let nothing = |_: &str| Err(instructions::UnreadFile("no such file".to_owned()));
        let instructions = instructions::parse("task.md", &self.task, &nothing).unwrap();
        let path = made(&self.place.workspaces(), instructions, &self.task, &[folder], &*model);
        self.drive(&path, model, None, each)
    }

    /// Goes on with the job at `path`, after `word`.
    pub(super) fn resume(&self, path: &Path, replies: &[Value], word: Option<Command>) -> Rest {
        self.drive(path, script(replies, "stop"), word, &mut |_, _| {})
    }

    fn drive(
        &self,
        path: &Path,
        model: Arc<dyn Model>,
        word: Option<Command>,
        each: &mut (dyn FnMut(&Path, &Decision) + Send),
    ) -> Rest {
        let before = self.around(path);
        let began = Instant::now();
        let mut rest = wait(self.work(path, model, word, each));
        let took = began.elapsed();
        assert!(took < MOST_TIME, "took {took:?}");
        assert_eq!(self.around(path), before, "something outside the workspace was touched");
        rest.faults = verify(path, None).err().unwrap_or_default().iter().map(ToString::to_string).collect();
        assert!(self.is_planted || rest.faults.is_empty(), "the record does not verify: {:?}", rest.faults);
        assert_sound(&rest, !self.is_planted);
        rest
    }

    async fn work(
        &self,
        path: &Path,
        model: Arc<dyn Model>,
        word: Option<Command>,
        each: &mut (dyn FnMut(&Path, &Decision) + Send),
    ) -> Rest {
        let (mut decisions, mut prompts) = (Vec::new(), Vec::new());
        let mut watch = |job: &Job, report: RunReport<'_>| match report {
            RunReport::Decided(decision) => {
                each(path, decision);
                decisions.push(decision.clone());
            }
            RunReport::Calling(_) => {
                // As the provider would count it.
                let (tokens, budget) = (job.expected_call(&job.own).input, job.spec.budget_tokens);
                let results = job.own.epoch.unanswered_tokens();
                assert!(tokens <= budget * 70 / 100 + results, "a prompt of {tokens} tokens with a budget of {budget}");
                assert!(tokens <= budget, "a prompt of {tokens} tokens with a budget of {budget}");
                prompts.push(compose::prompt(&job.own));
            }
            RunReport::Note(_) => {}
        };
        let (job, ended) = drive(&*self.place.store, path, model, word, &mut watch).await;
        let error = ended.err().map(|error| error.to_string());
        Rest { path: path.to_owned(), job, error, faults: Vec::new(), decisions, prompts }
    }

    /// Everything in the place that is neither the job's workspace nor the database: path, and content or link's end.
    fn around(&self, workspace: &Path) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.folder().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let is_database = path.file_name().unwrap().to_string_lossy().starts_with("overnight.db");
                if path == workspace || is_database {
                    continue;
                }
                let metadata = path.symlink_metadata().unwrap();
                if metadata.is_symlink() {
                    found.insert(path.clone(), fs::read_link(path).unwrap().display().to_string());
                } else if metadata.is_dir() {
                    found.insert(path.clone(), "folder".to_owned());
                    open.push(path);
                } else {
                    let content = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                    found.insert(path, format!("{:?} {content}", metadata.modified().unwrap()));
                }
            }
        }
        found
    }
}

/// What holds for every job, whatever its model does.
fn assert_sound(rest: &Rest, is_readable: bool) {
    // What the journal says again is what the process knew.
    if is_readable {
        let loaded = runner::load(&rest.path).unwrap();
        assert_eq!((&loaded.job.status, &loaded.job.progress), (&rest.job.status, &rest.job.progress));
    }
    let mut owed: Vec<&str> = Vec::new();
    let mut results = BTreeSet::new();
    for event in rest.decisions.iter().flat_map(|decision| &decision.events) {
        match event {
            Event::Conversation(ConversationEvent::ModelReplied { calls, .. }) => {
                assert!(owed.is_empty(), "no result for {owed:?}");
                owed.extend(calls.iter().map(|call| call.said.id.as_str()));
            }
            Event::Tool(ToolEvent::ToolReturned { call, .. }) => {
                assert!(results.insert(call.clone()), "two results for {call}");
                owed.retain(|wanted| wanted != call);
            }
            _ => {}
        }
    }
    // A job that was ended from outside may leave calls open; one that ended by itself may not.
    if !rest.job.is_running() && rest.error.is_none() {
        assert!(owed.is_empty(), "no result for {owed:?}");
    }
    for prompt in &rest.prompts {
        for message in prompt.messages() {
            assert!(!text_of(message).contains(SECRET), "the model was shown what lies outside: {message:?}");
        }
    }
}

pub(super) fn text_of(message: &Message) -> &str {
    match message {
        Message::System { text }
        | Message::User { text, .. }
        | Message::Assistant { text, .. }
        | Message::Tool { text, .. } => text,
    }
}

fn script(replies: &[Value], then: &str) -> Arc<dyn Model> {
    let text = json!({"version": 1, "replies": replies, "then": then}).to_string();
    Arc::new(Scripted::parse("script.json", &text).unwrap())
}

impl Rest {
    /// Status, turns and reason in one line.
    pub(super) fn end(&self) -> String {
        let turns = self.job.totals.spent.turns;
        if let Some(error) = &self.error {
            return format!("error after {turns} turns: {error}");
        }
        match &self.job.status {
            Status::Running => format!("running after {turns} turns"),
            Status::Held { reason, detail } => format!("held ({reason}) after {turns} turns: {detail}"),
            Status::Ended(ending) => {
                format!("{} after {turns} turns: {}", ending.status, ending.reason.as_deref().unwrap_or("-"))
            }
        }
    }

    /// The results of all calls, in order.
    pub(super) fn results(&self) -> Vec<&ToolResult> {
        let events = self.decisions.iter().flat_map(|decision| &decision.events);
        events
            .filter_map(|event| match event {
                Event::Tool(ToolEvent::ToolReturned { result, .. }) => Some(result),
                _ => None,
            })
            .collect()
    }

    /// How the calls of turn `turn` came out, one word each.
    pub(super) fn ends(&self, turn: u64) -> Vec<CallEnd> {
        self.told(turn).into_iter().map(|(end, _)| end).collect()
    }

    /// How the calls of turn `turn` came out, with the results' texts.
    pub(super) fn told(&self, turn: u64) -> Vec<Told> {
        let prefix = format!("call_{turn}_");
        let events = self.decisions.iter().flat_map(|decision| &decision.events);
        events
            .filter_map(|event| match event {
                Event::Tool(ToolEvent::ToolReturned { call, result, .. }) if call.starts_with(&prefix) => {
                    Some((result.end, result.text.clone()))
                }
                _ => None,
            })
            .collect()
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path.join(path)).unwrap()
    }

    /// Bytes of the whole journal, archived parts and all.
    pub(super) fn journal_bytes(&self) -> u64 {
        let size = |path: PathBuf| path.metadata().map_or(0, |metadata| metadata.len());
        let archives = fs::read_dir(self.path.join("archive")).into_iter().flatten();
        let parts: u64 = archives.map(|entry| size(entry.unwrap().path().join("journal.jsonl"))).sum();
        parts + size(self.path.join("journal.jsonl"))
    }
}

pub(super) fn text(text: &str) -> Value {
    json!({ "text": text })
}

pub(super) fn reply(calls: &[Value]) -> Value {
    json!({ "calls": calls })
}

pub(super) fn read(path: &str) -> Value {
    json!({"read_file": {"path": path}})
}

pub(super) fn write(path: &str, content: &str) -> Value {
    json!({"write_file": {"path": path, "content": content}})
}

pub(super) fn done() -> Value {
    json!({"todo_complete": {}})
}

/// The whole bootstrap in one turn.
pub(super) fn bootstrap(plan: &str) -> Value {
    reply(&[write("main_plan.md", plan)])
}

pub(super) fn todos(count: usize) -> Value {
    let todos: Vec<Value> = (1..=count)
        .map(|which| json!({"content": format!("Do part {which}"), "active_form": format!("Doing part {which}")}))
        .collect();
    json!({"todo_write": {"todos": todos}})
}

/// Five todos done; the first with `first` as its work.
fn worked(first: Value) -> Vec<Value> {
    let list = || json!({"list_documents": {}});
    vec![first, done(), list(), done(), list(), done(), list(), done(), list(), done()]
}

/// The same as a turn.
pub(super) fn work(first: Value) -> Value {
    reply(&worked(first))
}

/// Behind a phase's end: memory, and the five todos of the next.
pub(super) fn next(first: Value) -> Value {
    reply(&[vec![write("workspace.md", "# Memory\n")], worked(first)].concat())
}

pub(super) fn complete(confidence: &Value, deliverables: &Value) -> Value {
    json!({"job_complete": {"summary": "It is done.", "deliverables": deliverables, "confidence": confidence}})
}

/// A job up to its review, in three turns; the next turn is the review's first.
pub(super) fn until_review() -> Vec<Value> {
    vec![
        bootstrap(PLAN),
        work(json!({"list_documents": {}})),
        next(write("output/report.md", "The server must answer.\n")),
    ]
}

/// The job ends in this turn.
pub(super) fn blocked() -> Value {
    let arguments = json!({"summary": "It can't be done.", "deliverables": [], "confidence": 0, "status": "blocked"});
    reply(&[json!({"job_complete": arguments})])
}

/// A plan of `count` phases, one step each.
pub(super) fn plan_of(count: usize) -> String {
    use std::fmt::Write;
    (1..=count).fold(String::new(), |mut plan, number| {
        let _ = write!(plan, "## Phase {number}: Part {number}\n\n- [ ] Work\n\n");
        plan
    })
}
