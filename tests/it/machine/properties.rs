//! What holds whatever a model says: random replies, with random budgets and settings, until the job rests.

use super::world::*;
use overnight::{
    context::{
        compact::local_tokens,
        compose,
        message::{Reply, Stop, ToolCall},
    },
    job::{
        event::{Decision, Event},
        instructions::{Fold, Review, SummaryBy},
        record::HoldReason,
        state::{Job, MEMORY_FILE, PLAN_FILE, Status},
        step::{Ask, Command},
        todo::TodoStatus,
    },
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A reply as data, so that a failing case can be read.
#[derive(Clone, Debug)]
struct Said {
    calls: Vec<Call>,
    stop: Stop,
    words: usize,
}

#[derive(Clone, Debug)]
enum Call {
    Done,
    Work(u8, usize),
    ReadFile(u8),
    ReadDocument(bool, u64, u64),
    Search,
    Fail,
    Todos(u32, Option<&'static str>, usize),
    Rewind(usize),
    Reset,
    NoChange,
    Plan(u8),
    Memory(usize),
    Complete(f64),
    Blocked,
    Note(usize),
    Raw(String, Value),
}

impl Call {
    fn spoken(&self) -> ToolCall {
        let text = |letters: usize| "All pumps ran well. \n".chars().cycle().take(letters).collect::<String>();
        match self {
            Self::Done => done("checked"),
            Self::Work(file, letters) => write_file(&format!("notes/{file}.md"), &text(*letters)),
            Self::ReadFile(file) => read_file(&format!("notes/{file}.md")),
            Self::ReadDocument(north, from, length) => {
                read_document(if *north { "north.md" } else { "south.md" }, *from, from + length)
            }
            Self::Search => call("search_files", json!({"pattern": "pump"})),
            Self::Fail => call("edit_file", json!({"path": "none", "old": "a", "new": "b"})),
            Self::Todos(count, status, letters) => {
                let items: Vec<Value> = (0..*count)
                    .map(|place| {
                        json!({
                            "content": format!("Check {} {place}", text(*letters / 40)),
                            "active_form": "Checking",
                            "status": if place % 3 == 1 { *status } else { None },
                            "outcome": "gone",
                            "context": text(*letters),
                        })
                    })
                    .collect();
                call("todo_write", json!({ "todos": items }))
            }
            Self::Rewind(letters) => call("todo_rewind", json!({"issue": format!("no {}", text(*letters))})),
            Self::Reset => call("archive_and_reset", json!({"reason": "lost"})),
            Self::NoChange => no_change("none"),
            Self::Plan(kind) => write_file(
                PLAN_FILE,
                match kind {
                    0 => PLAN,
                    1 => "no plan at all",
                    2 => "# Execution Plan\n\n## Phase 1: Only\n\n- [ ] one\n\n## Earlier in this phase\n- x\n",
                    _ => {
                        "# Execution Plan\n\n## Phase 1: North station\n\n- [ ] a\n\n## Phase 2: Between\n\n- [ ] b\n\n## Phase 3: South station\n\n- [ ] c\n"
                    }
                },
            ),
            Self::Memory(letters) => {
                write_file(MEMORY_FILE, &format!("# Memory\n\n## Earlier in this phase\n{}", text(*letters)))
            }
            Self::Complete(confidence) => job_complete(*confidence),
            Self::Blocked => {
                call("job_complete", json!({"summary": "no", "deliverables": [], "confidence": 0, "status": "blocked"}))
            }
            Self::Note(letters) => call("add_note", json!({"text": text(*letters)})),
            Self::Raw(name, arguments) => call(name, arguments.clone()),
        }
    }
}

fn arguments() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!("{\"path\": ")),
        Just(json!([1])),
        Just(json!({})),
        Just(json!({"path": "a", "content": 3})),
        Just(json!({"todos": [{"content": "", "active_form": ""}]})),
        Just(json!({"todos": []})),
        Just(json!({"path": "workspace.md", "old": "Memory", "new": "Mind"})),
        "[a-z{}\":]{0,12}".prop_map(Value::String),
    ]
}

fn any_call() -> impl Strategy<Value = Call> {
    let names = prop_oneof![
        Just("write_file".to_owned()),
        Just("edit_file".to_owned()),
        Just("append_file".to_owned()),
        Just("todo_write".to_owned()),
        Just("todo_complete".to_owned()),
        Just("todo_list".to_owned()),
        Just("job_complete".to_owned()),
        Just("list_documents".to_owned()),
        Just("list_files".to_owned()),
        Just("generate_workspace_summary".to_owned()),
        "[a-z_]{0,14}",
    ];
    prop_oneof![
        60 => Just(Call::Done),
        60 => (0_u8..8, 0_usize..12_000).prop_map(|(file, letters)| Call::Work(file, letters)),
        40 => (0_u8..8).prop_map(Call::ReadFile),
        60 => (any::<bool>(), 1_u64..60, 0_u64..20).prop_map(|(north, from, length)| Call::ReadDocument(north, from, length)),
        5 => Just(Call::Search),
        10 => Just(Call::Fail),
        30 => (0_u32..26, prop_oneof![Just(None), Just(Some("cancelled")), Just(Some("in_progress")), Just(Some("completed"))], 0_usize..9_000)
            .prop_map(|(count, status, letters)| Call::Todos(count, status, letters)),
        1 => (0_usize..9_000).prop_map(Call::Rewind),
        1 => Just(Call::Reset),
        30 => Just(Call::NoChange),
        20 => (0_u8..4).prop_map(Call::Plan),
        20 => (0_usize..12_000).prop_map(Call::Memory),
        12 => (0.0..1.1).prop_map(Call::Complete),
        1 => Just(Call::Blocked),
        5 => (0_usize..4_000).prop_map(Call::Note),
        15 => (names, arguments()).prop_map(|(name, arguments)| Call::Raw(name, arguments)),
    ]
}

fn any_reply() -> impl Strategy<Value = Said> {
    let stop = prop_oneof![38 => Just(Stop::Done), 1 => Just(Stop::Length), 1 => Just(Stop::Refused)];
    // What a good model says, so that random jobs come further than planning.
    let good = prop_oneof![
        (0_u8..8, 0_usize..4_000).prop_map(|(file, letters)| vec![Call::Work(file, letters), Call::Done]),
        (5_u32..9).prop_map(|count| vec![Call::Memory(400), Call::NoChange, Call::Todos(count, None, 40)]),
        (1_u64..40).prop_map(|from| vec![Call::ReadDocument(true, from, 5), Call::Done]),
        Just(vec![Call::Plan(0), Call::Done, Call::ReadFile(1), Call::Done]),
    ];
    let calls = prop_oneof![
        3 => proptest::collection::vec(any_call(), 0..7),
        4 => good,
    ];
    (calls, stop, 0_usize..60).prop_map(|(calls, stop, words)| Said { calls, stop, words })
}

#[derive(Clone, Debug)]
struct Settings {
    budget: u64,
    counted_percent: u64,
    fold: bool,
    by_model: bool,
    reviewed: bool,
    /// Size of a page in percent of what a result may have.
    page_percent: u64,
}

fn settings() -> impl Strategy<Value = Settings> {
    let window = prop_oneof![
        2 => Just((8_000_u64, 100_u64)),
        6 => (16_000_u64..100_000, 80_u64..140),
    ];
    (window, any::<(bool, bool, bool)>(), 1_u64..100).prop_map(
        |((budget, counted_percent), (fold, by_model, reviewed), page_percent)| Settings {
            budget,
            counted_percent,
            fold,
            by_model,
            reviewed,
            page_percent,
        },
    )
}

impl Settings {
    fn world(&self) -> World {
        let mut spec = spec("", &[("north.md", 40), ("south.md", 60)]);
        spec.budget_tokens = self.budget;
        spec.instructions.context.fold = if self.fold { Fold::Todo } else { Fold::None };
        spec.instructions.context.summary = if self.by_model { SummaryBy::Model } else { SummaryBy::Digest };
        spec.instructions.review = if self.reviewed { Review::Required } else { Review::None };
        spec.instructions.limits.turns = 150;
        let mut world = World::of(spec);
        world.counted_percent = self.counted_percent;
        world.page_letters = usize::try_from(self.budget * 4 / 100 * 4 * self.page_percent / 100).unwrap();
        world.invariant = after_each_decision;
        world
    }
}

/// The budget as it would be counted here, by the ratio that the last reply showed.
fn local_budget(job: &Job) -> u64 {
    let budget = job.spec.budget_tokens;
    job.totals.counted.map_or(budget, |(counted, local)| budget * local / counted)
}

fn after_each_decision(job: &Job, decision: &Decision) {
    let running = job.phase.todos.all().iter().filter(|todo| todo.status == TodoStatus::InProgress).count();
    assert!(running <= 1, "{running} todos in progress");
    let is_compaction = |event: &Event| {
        matches!(event, Event::ContextMasked { .. } | Event::TurnsFolded { .. } | Event::ContextCompacted { .. })
    };
    if decision.events.iter().any(is_compaction) {
        let (tokens, budget) = (local_tokens(job), local_budget(job));
        assert!(tokens * 2 < budget, "{tokens} of {budget} tokens after a compaction");
    }
}

fn replies(said: &[Said]) -> impl Iterator<Item = Reply> + '_ {
    said.iter().cycle().map(|said| Reply {
        text: "word ".repeat(said.words),
        stop: said.stop,
        ..say(said.calls.iter().map(Call::spoken))
    })
}

/// Every fact goes through its stored form, and the state that follows makes the same prompts, byte for byte.
fn rebuilt(decisions: &[Decision]) -> Job {
    let mut job: Option<Job> = None;
    for decision in decisions {
        let events: Vec<Event> = decision
            .events
            .iter()
            .map(|event| {
                let stored = serde_json::to_string(event).unwrap();
                let read: Event = serde_json::from_str(&stored).unwrap();
                assert_eq!(&read, event, "{stored}");
                read
            })
            .collect();
        let decision = Decision { at: decision.at, events };
        match &mut job {
            None => job = Job::begin(&decision),
            Some(job) => {
                if let Some(Event::ModelReplied { prompt_sha256, turn, .. }) = decision.events.first() {
                    let prompt = compose::prompt(job);
                    assert_eq!(&compose::prompt_sha256(&prompt), prompt_sha256, "the prompt of turn {turn}");
                }
                job.apply_all(&decision);
            }
        }
    }
    job.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_replies_lead_to_rest_by_way_of_the_rules(
        said in proptest::collection::vec(any_reply(), 1..40),
        settings in settings(),
    ) {
        let mut world = settings.world();
        // 150 turns are allowed; the machine must have come to rest by then, whatever was said.
        world.play(replies(&said).take(160));
        prop_assert!(!world.job.is_running(), "{:?} after {} turns", world.job.progress, world.job.totals.spent.turns);
        prop_assert_eq!(world.job.next(), Ask::Nothing);
        if let Status::Held { reason: HoldReason::Review, .. } = &world.job.status {
            world.command(Command::Approve);
            world.play([]);
            prop_assert!(world.job.ended().is_some());
        }
        let mut last = 0;
        let mut folders = std::collections::BTreeSet::new();
        for event in world.decisions.iter().flat_map(|decision| &decision.events) {
            if let Event::PhaseStarted { number, .. } = event {
                prop_assert!(*number >= last, "phase {} after {}", number, last);
                last = *number;
            }
            if let Event::PhaseEnded { folder, .. } = event {
                prop_assert!(folders.insert(folder.clone()), "{} is archived twice", folder);
            }
        }
        let again = rebuilt(&world.decisions);
        prop_assert_eq!(compose::prompt_sha256(&compose::prompt(&again)), compose::prompt_sha256(&compose::prompt(&world.job)));
        prop_assert_eq!(again.status, world.job.status);
    }
}
