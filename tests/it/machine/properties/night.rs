//! A night of a job as data: what the model says, how tools fare, what a person does in between, and under which settings.

use super::{
    invariants::Ledger,
    replies::{Said, any_reply, plan_text},
};
use crate::machine::world::*;
use crate::support::approve;
use overnight_core::{
    job::{
        event::{CallEnd, ExaminedFiles, PreparedWrite, ToolResult},
        failure::{Failure, FailureKind},
        instructions::{Agent, CompactionPolicy, Review, SummaryBy, Verify},
        limits::Limits,
        models::ModelChoice,
        plan::Plan,
        record::HoldReason,
        state::{INSTRUCTIONS_FILE, MEMORY_FILE, PLAN_FILE, Status},
    },
    machine::effect::{Command, Effect, EffectResult, Outcome},
    message::{Reply, Stop},
    prompt::measure,
};
use proptest::prelude::*;

/// One thing that happens, and how many questions the machine may have answered before the next thing does.
#[derive(Clone, Debug)]
pub(crate) struct Happening {
    pub(crate) what: What,
    pub(crate) pace: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Say(Said, Vec<Fate>),
    Hold(HoldReason),
    Resume(u64),
    Approve,
    Feedback(usize),
    Cancel,
    Fail,
    ModelFails,
    TooLong,
    Choose,
    Open(Option<u64>),
    EditPlan(Option<u8>),
    EditMemory(Option<usize>),
    Wait(i64),
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    budget: u64,
    counted_percent: u64,
    compact: CompactionPolicy,
    by_model: bool,
    reviewed: bool,
    /// Size of a page in percent of what a read may have.
    page_percent: u64,
    cost_usd: Option<f64>,
    limits: Limits,
    bounds: (u32, u32),
    task_letters: usize,
    /// There are sub-agents and a verifier.
    is_helped: bool,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        20 => Just(Fate::Well),
        2 => (0_usize..40_000).prop_map(Fate::Fails),
        1 => Just(Fate::Interrupted),
        1 => Just(Fate::Unprepared),
    ]
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        400 => (any_reply(), proptest::collection::vec(fate(), 0..8)).prop_map(|(said, fates)| What::Say(said, fates)),
        8 => prop_oneof![Just(HoldReason::Paused), Just(HoldReason::Outage), Just(HoldReason::Disk), Just(HoldReason::Window)]
            .prop_map(What::Hold),
        8 => (0_u64..60).prop_map(What::Resume),
        3 => Just(What::Approve),
        3 => (0_usize..12_000).prop_map(What::Feedback),
        1 => Just(What::Cancel),
        1 => Just(What::Fail),
        1 => Just(What::ModelFails),
        3 => Just(What::TooLong),
        2 => Just(What::Choose),
        8 => proptest::option::of(1_u64..400).prop_map(What::Open),
        6 => proptest::option::weighted(0.9, 0_u8..11).prop_map(What::EditPlan),
        6 => proptest::option::weighted(0.9, 0_usize..40_000).prop_map(What::EditMemory),
        8 => (-100_000_i64..4_000_000).prop_map(What::Wait),
    ]
}

pub(crate) fn happenings(most: usize) -> impl Strategy<Value = Vec<Happening>> {
    let pace = prop_oneof![6 => Just(usize::MAX), 2 => 0_usize..5];
    proptest::collection::vec((what(), pace).prop_map(|(what, pace)| Happening { what, pace }), 1..most)
}

fn limits() -> impl Strategy<Value = Limits> {
    let far = |near: std::ops::Range<u64>, far: u64| prop_oneof![1 => near, 2 => Just(far)];
    (
        far(2..40, 40),
        far(3..60, 200),
        20_u64..110,
        proptest::option::weighted(0.1, 0_u64..2_000_000),
        proptest::option::weighted(0.1, 0.0..4.0),
        proptest::option::weighted(0.1, 0_u64..1_000_000),
    )
        .prop_map(|(turns_per_todo, turns_per_phase, turns, tokens, cost_usd, wall_clock_ms)| Limits {
            turns_per_todo,
            turns_per_phase,
            turns,
            tokens,
            cost_usd,
            wall_clock_ms,
            ..Limits::default()
        })
}

pub(crate) fn settings() -> impl Strategy<Value = Settings> {
    let window = prop_oneof![
        2 => Just((8_000_u64, 100_u64)),
        1 => (8_000_u64..16_000, 80_u64..130),
        6 => (16_000_u64..100_000, 60_u64..180),
        1 => (100_000_u64..400_000, 80_u64..140),
    ];
    let bounds = prop_oneof![3 => Just((5_u32, 20_u32)), 1 => Just((1, 3)), 1 => Just((2, 8))];
    let cost = proptest::option::of(prop_oneof![Just(0.0), 0.0..0.2]);
    (
        window,
        any::<(bool, bool, bool, bool)>(),
        1_u64..100,
        cost,
        limits(),
        bounds,
        prop_oneof![4 => 0_usize..400, 1 => 0_usize..60_000],
    )
        .prop_map(
            |(
                (budget, counted_percent),
                (always, by_model, reviewed, is_helped),
                page_percent,
                cost_usd,
                limits,
                bounds,
                letters,
            )| {
                Settings {
                    budget,
                    counted_percent,
                    compact: if always { CompactionPolicy::Always } else { CompactionPolicy::Auto },
                    by_model,
                    reviewed,
                    page_percent,
                    cost_usd,
                    limits,
                    bounds,
                    task_letters: letters,
                    is_helped,
                }
            },
        )
}

impl Settings {
    pub(crate) fn world(&self) -> World {
        let mut spec = spec("", &[("north.md", 40), ("south.md", 60)]);
        spec.budget_tokens = self.budget;
        spec.instructions.context.compact = self.compact;
        spec.instructions.context.summary = if self.by_model { SummaryBy::Model } else { SummaryBy::Digest };
        spec.instructions.review = if self.reviewed { Review::Required } else { Review::None };
        spec.instructions.limits = self.limits;
        (spec.instructions.phase.min_todos, spec.instructions.phase.max_todos) = self.bounds;
        spec.instructions.body.push_str(&"Look at every pump twice. ".repeat(self.task_letters / 26));
        if self.is_helped {
            let checker = Agent { prompt: "You check.".to_owned(), tools: Vec::new(), model: None };
            let writer = Agent { tools: vec!["write_file".to_owned(), "read_document".to_owned()], ..checker.clone() };
            spec.instructions.agents = [("checker".to_owned(), checker), ("writer".to_owned(), writer)].into();
            spec.instructions.verify = Some(Verify { rubric: "Is it true?".to_owned() });
        }
        let read = measure::room(&spec) * 20 / 100;
        let mut world = World::of(spec);
        world.counted_percent = self.counted_percent;
        world.cost_usd = self.cost_usd;
        // Sub-agents end in any order.
        world.order = if self.is_helped { self.page_percent } else { 0 };
        world.answers_later = self.page_percent.is_multiple_of(3);
        world.page_letters = usize::try_from(read * 4 * self.page_percent / 100).unwrap();
        let mut ledger = Ledger::default();
        world.invariant = Some(Box::new(move |before, decision, after| ledger.book(before, decision, after)));
        world
    }
}

/// Plays the night to its end. What is held goes on as long as a person would bother, then stays held.
pub(crate) fn play(settings: &Settings, night: &[Happening]) -> World {
    let mut world = settings.world();
    let mut bothers = 6_u32;
    // Each turn needs a reply, and a reply can be met by a hold: enough for all turns and all that is in between.
    for happening in night.iter().cycle().take(600) {
        if world.job.ended().is_some() {
            break;
        }
        match &happening.what {
            What::Say(said, fates) => {
                world.play([]);
                if world.job.ended().is_some() {
                    break;
                }
                if !world.job.is_running() {
                    if bothers == 0 {
                        break;
                    }
                    bothers -= 1;
                    go_on(&mut world, u64::from(bothers) * 5);
                    world.play([]);
                }
                if world.asks() {
                    world.fates = fates.iter().copied().collect();
                    let reply = said.reply(&world.job, world.at_work());
                    world.replies.push_back(reply);
                    world.step();
                }
            }
            beside => beside.happen(&mut world),
        }
        for _ in 0..happening.pace {
            if !world.step() {
                break;
            }
        }
    }
    world.play([]);
    rests(&world);
    world
}

/// What a person does with a held job.
fn go_on(world: &mut World, more: u64) {
    match &world.job.status {
        Status::Held { reason: HoldReason::Review, .. } if more > 10 => What::Feedback(100).happen(world),
        Status::Held { reason: HoldReason::Review, .. } => What::Approve.happen(world),
        Status::Held { .. } | Status::Running | Status::Ended(_) => What::Resume(more).happen(world),
    }
}

impl What {
    /// What happens beside the model's replies.
    fn happen(&self, world: &mut World) {
        let command = match self {
            Self::Say(..) => return,
            Self::EditPlan(kind) => return edit(world, PLAN_FILE, kind.map(plan_text)),
            Self::EditMemory(letters) => {
                return edit(world, MEMORY_FILE, letters.map(|letters| "Überall Pumpen.\n".repeat(letters / 16)));
            }
            Self::Wait(ms) => {
                world.wait_ms(*ms);
                return;
            }
            Self::ModelFails => {
                world.play([]);
                if world.asks() {
                    world.model_fails("the key is not accepted");
                }
                return;
            }
            Self::TooLong => {
                world.play([]);
                if world.asks() {
                    let failure = Failure::new(FailureKind::ContextLength, "the prompt is too long");
                    world.answer_with(Outcome::Failed { failure, wait_ms: 0 });
                }
                return;
            }
            Self::Choose => Command::Choose {
                choice: ModelChoice { model: "scripted:other".to_owned(), base_url: None, api_key_env: None },
            },
            Self::Hold(reason) => Command::Hold { reason: *reason, detail: "so".to_owned() },
            Self::Resume(more) => {
                tell_edits(world);
                let (limits, spent) = (world.job.limits, world.job.totals.spent);
                Command::Resume {
                    limits: Limits {
                        turns: limits.turns.max((spent.turns + more).min(220)),
                        tokens: limits.tokens.map(|most| most + more * 20_000),
                        #[expect(clippy::cast_precision_loss, reason = "a small number")]
                        cost_usd: limits.cost_usd.map(|most| most + *more as f64 / 10.0),
                        wall_clock_ms: limits.wall_clock_ms.map(|most| most + more * 10_000),
                        ..limits
                    },
                }
            }
            Self::Approve => approve(),
            Self::Feedback(letters) => {
                let text = "Look again. ".repeat(letters / 12);
                let number = world.job.feedback.len() + 1;
                let instructions = format!("{}\n## Feedback {number}\n\n{text}\n", world.files[INSTRUCTIONS_FILE]);
                Command::Feedback { text, instructions, by: "Anna".to_owned() }
            }
            Self::Cancel => Command::Cancel,
            Self::Fail => Command::Fail { reason: "no attempt is left".to_owned() },
            Self::Open(torn_bytes) => {
                tell_edits(world);
                Command::Open { version: "0.1.0".to_owned(), model: "scripted".to_owned(), torn_bytes: *torn_bytes }
            }
        };
        let was_running = world.job.is_running();
        let is_out = world.job.is_out();
        let in_review = matches!(world.job.status, Status::Held { reason: HoldReason::Review, .. });
        let facts = world.command(command);
        // Only what is allowed changes anything: a hold of what runs, an approval or feedback of what waits for it.
        let counts = match self {
            // A job that waits for its server can still be held for another reason.
            Self::Hold(reason) => was_running || (is_out && *reason != HoldReason::Outage),
            Self::Approve | Self::Feedback(_) => in_review,
            Self::Resume(_) => !in_review,
            Self::Open(_) | Self::Choose | Self::Cancel | Self::Fail => true,
            Self::Say(..)
            | Self::EditPlan(_)
            | Self::EditMemory(_)
            | Self::Wait(_)
            | Self::ModelFails
            | Self::TooLong => unreachable!(),
        };
        assert_eq!(facts > 0, counts, "{self:?}");
    }
}

/// A person edits a file, at a moment when no tool is at it.
fn edit(world: &mut World, path: &str, text: Option<String>) {
    if world.job.conversations().any(|one| one.calls.prepared.is_some()) || !world.job.writes.is_empty() {
        return;
    }
    match text {
        Some(text) => drop(world.files.insert(path.to_owned(), text)),
        None => drop(world.files.remove(path)),
    }
}

/// What a person has edited is told when the job is taken up; a plan that can't be read is put back first.
fn tell_edits(world: &mut World) {
    let job = &world.job;
    if job.ended().is_some() || job.conversations().any(|one| one.calls.prepared.is_some()) || !job.writes.is_empty() {
        return;
    }
    let memory = world.files.get(MEMORY_FILE).cloned();
    let read = world.files.get(PLAN_FILE).map(|text| Plan::parse(text));
    let plan = match (&job.plan, read) {
        (Some(known), None | Some(Err(_))) => {
            let text = known.text().to_owned();
            world.files.insert(PLAN_FILE.to_owned(), text);
            None
        }
        (None, None) => None,
        (None, Some(Err(_))) => {
            world.files.remove(PLAN_FILE);
            None
        }
        (known, Some(Ok(plan))) => {
            let is_same = known.as_ref().map(Plan::text) == world.files.get(PLAN_FILE).map(String::as_str);
            (!is_same).then_some(plan)
        }
    };
    if plan.is_some() || memory != world.job.memory {
        world.command(Command::Edited { plan, memory });
    }
}

/// A job that is held or ended owes nothing, and no answer that comes late changes it; an end is left by nothing.
fn rests(world: &World) {
    let job = &world.job;
    if job.is_running() {
        let asks = job.owed().iter().any(|owed| owed.effect == Effect::Model);
        assert!(asks || job.submitted().count() > 0, "it waits for the model");
        return;
    }
    assert_eq!(job.owed(), []);
    let at = moment(world.clock_ms);
    let reply = Reply { stop: Stop::Done, ..say([done("late")]) };
    for late in [
        EffectResult::Now,
        EffectResult::Reply { reply, cost_usd: None, standard_usd: None, batch: None, prompt_sha256: String::new() },
        EffectResult::Prepared(
            PreparedWrite { before: None, after: String::new(), records: None, mended: Vec::new() },
            None,
        ),
        EffectResult::Tool(ToolResult::plain(CallEnd::Done, "late"), None),
        EffectResult::Archived { manifest_sha256: String::new() },
        EffectResult::Summarised { sha256: String::new() },
        EffectResult::Examined(ExaminedFiles::default()),
        EffectResult::Written,
        EffectResult::Checked {
            checks: Vec::new(),
            states: Vec::new(),
            deliverables: Vec::new(),
            quotes: None,
            lists: None,
        },
    ] {
        assert_eq!(job.decide(at, world.next_id(), Outcome::Done(late.clone())), [], "{late:?} came late");
    }
    // A job that is held because its server is down has the server probed.
    if !job.is_out() {
        let late = Outcome::Failed { failure: Failure::new(FailureKind::Exhausted, "late"), wait_ms: 0 };
        assert_eq!(job.decide(at, world.next_id(), late), [], "a failure came when nothing was owed");
    }
    if job.ended().is_some() {
        // What people say of a result is told in `endings.rs`; a job without one takes nothing of it.
        let words =
            [approve(), Command::Feedback { text: String::new(), instructions: String::new(), by: "Anna".to_owned() }];
        for command in words.into_iter().filter(|_| !job.has_result()).chain([
            Command::Cancel,
            Command::Fail { reason: String::new() },
            Command::Resume { limits: job.limits },
            Command::Hold { reason: HoldReason::Paused, detail: String::new() },
            Command::Edited { plan: None, memory: Some("late".to_owned()) },
            Command::Open { version: String::new(), model: String::new(), torn_bytes: None },
        ]) {
            assert_eq!(job.command(at, command.clone()), [], "{command:?} after the end");
        }
    }
}
