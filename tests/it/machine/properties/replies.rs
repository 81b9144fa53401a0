//! Replies as data, so that a failing case can be read: what an able model says at the step it is at, mixed with nonsense.

use crate::machine::world::*;
use overnight_core::job::conversation::Conversation;
use overnight_core::{
    job::{
        state::{Job, LAST_REVIEW_TODO, MEMORY_FILE, PLAN_FILE, Progress},
        sub_agent_role::SubAgentRole,
    },
    message::{Reply, Stop, ToolCall},
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// One reply.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) calls: Vec<Call>,
    pub(crate) stop: Stop,
    pub(crate) words: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Call {
    /// Whatever an able model would do at this step, so many letters long.
    Able(u32, usize),
    Done,
    Work(u8, usize),
    Append(u8, usize),
    Edit(u8),
    ReadFile(u8),
    ReadDocument(bool, u64, u64),
    Search,
    Fail,
    Todos(u32, Option<&'static str>, usize, Option<u32>),
    TodoList(&'static str),
    Rewind(usize),
    Reset,
    Records,
    Check,
    Plan(u8),
    Memory(usize),
    Complete(f64),
    Blocked,
    Delegate(bool),
    Settle,
    Note(usize),
    Raw(String, Value),
}

fn text(letters: usize) -> String {
    "All pumps ran well. \n".chars().cycle().take(letters).collect()
}

/// Plans that a model may save or a person may leave behind.
pub(crate) fn plan_text(kind: u8) -> String {
    match kind {
        0 | 1 => PLAN.to_owned(),
        2 => "no plan at all".to_owned(),
        3 => "# Execution Plan\n\n## Phase 1: Only\n\n- [ ] one\n\n## Earlier in this phase\n- x\n".to_owned(),
        4 => "# Execution Plan\n\n## Phase 1: North station\n\n- [ ] a\n\n## Phase 2: Between\n\n- [ ] b\n\n## Phase 3: South station\n\n- [ ] c\n".to_owned(),
        5 => "# Execution Plan\n\n## Phase 1: North station ✓ COMPLETE\n\n- [x] a\n\n## Phase 2: More ✓ COMPLETE\n\n- [x] b\n".to_owned(),
        6 => PLAN.replace("Phase 1", "Phase 2"),
        7 => format!("{PLAN}\n## Phase 4: Late\n\n- [ ] more\n"),
        8 => String::new(),
        9 => "## Phase 9: ///\n- [ ] \n\n## Phase 10: ---\n".to_owned(),
        _ => {
            let steps: String = (1..30).fold(String::new(), |steps, step| steps + &format!("- [ ] step {step} of many\n"));
            (1..12).fold("# Execution Plan\n".to_owned(), |plan, phase| {
                plan + &format!("\n## Phase {phase}: North station\n\n{steps}")
            })
        }
    }
}

impl Call {
    /// The calls of a reply at this state.
    fn spoken(&self, job: &Job, asked: &Conversation) -> Vec<ToolCall> {
        vec![match self {
            Self::Able(count, letters) => return able(job, asked, *count, *letters),
            Self::Done => done("checked"),
            Self::Delegate(writes) => {
                let agent = if *writes { "writer" } else { "checker" };
                call("delegate", json!({"agent_type": agent, "task": "Look at the pumps."}))
            }
            Self::Settle => call("settle_finding", json!({"id": "v1.1", "reason": "It is said."})),
            Self::Work(file, letters) => write_file(&format!("notes/{file}.md"), &text(*letters)),
            Self::Append(file, letters) => {
                call("append_file", json!({"path": format!("notes/{file}.md"), "content": text(*letters)}))
            }
            Self::Edit(file) => {
                call("edit_file", json!({"path": format!("notes/{file}.md"), "old": "All pumps", "new": "Most pumps"}))
            }
            Self::ReadFile(file) => read_file(&format!("notes/{file}.md")),
            Self::ReadDocument(north, from, length) => {
                read_document(if *north { "north.md" } else { "south.md" }, *from, from + length)
            }
            Self::Search => call("search_files", json!({"pattern": "pump"})),
            Self::Fail => call("edit_file", json!({"path": "none", "old": "a", "new": "b"})),
            Self::Todos(count, status, letters, id) => {
                let items: Vec<Value> = (0..*count)
                    .map(|place| {
                        json!({
                            "content": format!("Check {} {place}", text(*letters / 40)),
                            "active_form": "Checking",
                            "status": if place % 3 == 1 { *status } else { None },
                            "outcome": text(*letters / 3),
                            "context": text(*letters),
                            "id": id.map(|id| id + place),
                            "order": id,
                        })
                    })
                    .collect();
                call("todo_write", json!({ "todos": items }))
            }
            Self::TodoList(status) => call("todo_list", json!({"status": status})),
            Self::Rewind(letters) => call("todo_rewind", json!({"issue": format!("no {}", text(*letters))})),
            Self::Reset => call("archive_and_reset", json!({"reason": "lost"})),
            Self::Records => call("add_records", json!({"path": "output/report.md", "records": [{"a": 1}]})),
            Self::Check => call("check_deliverables", json!({})),
            Self::Plan(kind) => write_file(PLAN_FILE, &plan_text(*kind)),
            Self::Memory(letters) => {
                write_file(MEMORY_FILE, &format!("# Memory\n\n## Earlier in this phase\n{}", text(*letters)))
            }
            Self::Complete(confidence) => job_complete(*confidence),
            Self::Blocked => {
                call("job_complete", json!({"summary": "no", "deliverables": [], "confidence": 0, "status": "blocked"}))
            }
            Self::Note(letters) => call("add_note", json!({"text": text(*letters)})),
            Self::Raw(name, arguments) => call(name, arguments.clone()),
        }]
    }
}

/// What a model that understands its step does there: all that is owed, and work behind it.
fn able(job: &Job, asked: &Conversation, count: u32, letters: usize) -> Vec<ToolCall> {
    let turn = job.totals.spent.turns;
    match &asked.role {
        Some(SubAgentRole::Verifier { .. }) if letters.is_multiple_of(3) => {
            let fault = json!({"text": "A pump is missing.", "document": "north.md", "quote": "All pumps"});
            return vec![call("verdict", json!({"verdict": "reject", "findings": [fault]}))];
        }
        Some(SubAgentRole::Verifier { .. }) => return vec![call("verdict", json!({"verdict": "accept"}))],
        Some(_) => {
            let page = read_document("north.md", turn % 40 + 1, turn % 40 + 3);
            let note = write_file(&format!("helpers/{}/notes.md", asked.number), &text(letters));
            return vec![
                if turn.is_multiple_of(3) { page } else { note },
                call("report", json!({"text": text(letters)})),
            ];
        }
        None => {}
    }
    let memory = || write_file(MEMORY_FILE, &format!("# Memory of turn {turn}\n\n{}", text(letters)));
    let work = if turn.is_multiple_of(2) {
        read_document("north.md", turn % 40 + 1, turn % 40 + 3)
    } else {
        write_file(&format!("notes/turn-{turn}.md"), &text(letters))
    };
    match &job.progress {
        Progress::Planning(planning) => {
            let mut calls = Vec::new();
            if planning.owes_memory {
                calls.push(memory());
            }
            match (&job.plan, job.next_planned()) {
                // Feedback needs a new phase.
                (Some(plan), None) => {
                    let next = plan.phases().iter().map(|phase| phase.number).max().unwrap_or(0) + 1;
                    let text = format!("{}\n## Phase {next}: Mend of turn {turn}\n\n- [ ] mend\n", plan.text());
                    calls.push(write_file(PLAN_FILE, &text));
                }
                (Some(_), Some(_)) if planning.owes_plan || count.is_multiple_of(3) => {
                    calls.push(todo_write(count.clamp(5, 20)));
                }
                (Some(_), Some(_)) | (None, _) => {}
            }
            calls.push(work);
            calls
        }
        Progress::Executing => {
            let todos = &job.phase.todos;
            if todos.current().is_some_and(|todo| todo.content == LAST_REVIEW_TODO) {
                return vec![write_file("output/report.md", "All pumps ran well."), job_complete(0.9)];
            }
            if job.is_bootstrap() {
                return vec![read_document("south.md", 1, 9), write_file(PLAN_FILE, PLAN), work];
            }
            let mut calls = vec![work, done(&format!("turn {turn}"))];
            if count.is_multiple_of(2) {
                // The whole phase in one reply, with what it owes and the next one's first work.
                calls.insert(1, memory());
                calls.extend(todos.open().skip(1).map(|todo| done(&format!("{} checked", todo.id))));
                calls.push(read_document("south.md", turn % 60 + 1, turn % 60 + 2));
            }
            calls
        }
        Progress::Archiving { .. }
        | Progress::Summarising { .. }
        | Progress::Examining { .. }
        | Progress::Digesting
        | Progress::Closing { .. } => Vec::new(),
    }
}

impl Said {
    pub(crate) fn reply(&self, job: &Job, asked: &Conversation) -> Reply {
        Reply {
            text: "word ".repeat(self.words),
            stop: self.stop,
            ..say(self.calls.iter().flat_map(|call| call.spoken(job, asked)))
        }
    }
}

/// Arguments of every shape, such as models give and such as none should.
fn arguments() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!("{\"path\": ")),
        Just(json!([1])),
        Just(json!({})),
        Just(json!({"path": "a", "content": 3})),
        Just(json!({"path": "", "content": ""})),
        Just(json!({"name": "north.md", "from": 0, "to": 0})),
        Just(json!({"name": "north.md", "from": u64::MAX, "to": 1})),
        Just(json!({"todos": [{"content": "", "active_form": ""}]})),
        Just(json!({"todos": []})),
        Just(json!({"todos": [{"content": "═══", "active_form": "x", "id": u32::MAX, "order": u32::MAX}]})),
        Just(json!({"path": "workspace.md", "old": "Memory", "new": "Mind"})),
        Just(json!({"path": "main_plan.md", "old": "- [ ]", "new": "- [x]"})),
        any::<f64>().prop_map(|number| json!({"path": "a", "offset": number})),
        (1_usize..140).prop_map(|depth| (0..depth).fold(json!(1), |inner, _| json!([inner]))),
        (1_usize..140).prop_map(|depth| (0..depth).fold(json!({}), |inner, _| json!({"path": inner}))),
        (0_usize..60_000).prop_map(|letters| json!({"path": text(letters), "content": text(letters)})),
        "[a-z{}\":]{0,12}".prop_map(Value::String),
        "\\PC{0,40}".prop_map(|text| json!({ "text": text, "reason": text, "path": text })),
    ]
}

fn any_call() -> impl Strategy<Value = Call> {
    let names = prop_oneof![
        Just("write_file".to_owned()),
        Just("edit_file".to_owned()),
        Just("append_file".to_owned()),
        Just("read_file".to_owned()),
        Just("read_document".to_owned()),
        Just("todo_write".to_owned()),
        Just("todo_complete".to_owned()),
        Just("todo_list".to_owned()),
        Just("job_complete".to_owned()),
        Just("list_documents".to_owned()),
        Just("list_files".to_owned()),
        Just("add_note".to_owned()),
        Just("report".to_owned()),
        Just("verdict".to_owned()),
        Just("generate_workspace_summary".to_owned()),
        "[a-z_]{0,14}",
    ];
    let status = prop_oneof![Just(None), Just(Some("cancelled")), Just(Some("in_progress")), Just(Some("completed"))];
    prop_oneof![
        40 => (1_u32..22, 0_usize..3_000).prop_map(|(count, letters)| Call::Able(count, letters)),
        30 => Just(Call::Done),
        30 => (0_u8..8, 0_usize..12_000).prop_map(|(file, letters)| Call::Work(file, letters)),
        10 => (0_u8..8, 0_usize..6_000).prop_map(|(file, letters)| Call::Append(file, letters)),
        5 => (0_u8..8).prop_map(Call::Edit),
        30 => (0_u8..8).prop_map(Call::ReadFile),
        40 => (any::<bool>(), 1_u64..60, 0_u64..20).prop_map(|(north, from, length)| Call::ReadDocument(north, from, length)),
        5 => Just(Call::Search),
        10 => Just(Call::Fail),
        20 => (0_u32..26, status, 0_usize..9_000, proptest::option::of(0_u32..4))
            .prop_map(|(count, status, letters, id)| Call::Todos(count, status, letters, id)),
        3 => prop_oneof![Just("all"), Just("cancelled"), Just("none")].prop_map(Call::TodoList),
        2 => (0_usize..9_000).prop_map(Call::Rewind),
        1 => Just(Call::Reset),
        5 => Just(Call::Records),
        10 => Just(Call::Check),
        10 => (0_u8..11).prop_map(Call::Plan),
        10 => (0_usize..12_000).prop_map(Call::Memory),
        8 => (0.0..1.1).prop_map(Call::Complete),
        1 => Just(Call::Blocked),
        6 => any::<bool>().prop_map(Call::Delegate),
        3 => Just(Call::Settle),
        5 => (0_usize..4_000).prop_map(Call::Note),
        15 => (names, arguments()).prop_map(|(name, arguments)| Call::Raw(name, arguments)),
    ]
}

pub(crate) fn any_reply() -> impl Strategy<Value = Said> {
    let stop = prop_oneof![58 => Just(Stop::Done), 1 => Just(Stop::Length), 1 => Just(Stop::Refused)];
    // What an able model says, so that random jobs come further than planning.
    let able = (5_u32..9, 0_usize..3_000).prop_map(|(count, letters)| vec![Call::Able(count, letters)]);
    let calls = prop_oneof![
        3 => proptest::collection::vec(any_call(), 0..7),
        1 => proptest::collection::vec(any_call(), 0..40),
        10 => able,
    ];
    let words = prop_oneof![40 => 0_usize..60, 1 => 0_usize..40_000];
    (calls, stop, words).prop_map(|(calls, stop, words)| Said { calls, stop, words })
}
