//! What random nights have found, as plain cases.

use super::replies::plan_text;
use crate::machine::world::*;
use overnight_core::{
    answer,
    job::{
        event::{ConversationEvent, Decision, EpochCause, Event},
        record::HoldReason,
        state::{Job, MEMORY_FILE, PLAN_FILE},
    },
    machine::effect::{Command, EffectResult, Outcome},
    message::Reply,
    prompt::{compose, measure::room},
    tokens::estimate,
};
use serde_json::{Value, json};

/// The journal's lines, written and read again.
fn again(world: &World) -> Job {
    let mut job: Option<Job> = None;
    for decision in &world.decisions {
        let line = json!({"seq": 1, "at": decision.at, "lease": 1, "prev": "", "events": decision.events}).to_string();
        let read: Value = serde_json::from_str(&line).unwrap();
        let events: Vec<Event> = serde_json::from_value(read["events"].clone()).unwrap();
        let decision = Decision { at: decision.at, events };
        match &mut job {
            None => job = Job::begin(&decision),
            Some(job) => job.apply_all(&decision),
        }
    }
    job.unwrap()
}

#[test]
fn an_answer_that_comes_when_nothing_is_owed_means_nothing() {
    let mut world = World::new();
    world.in_phase_one().command(Command::Hold { reason: HoldReason::Paused, detail: "so".to_owned() });
    let late = |world: &World| {
        let reply = Reply { ..say([done("late")]) };
        [
            EffectResult::Now,
            EffectResult::Reply {
                reply,
                cost_usd: None,
                standard_usd: None,
                batch: None,
                prompt_sha256: String::new(),
            },
        ]
        .map(|answer| world.job.decide(moment(0), world.next_id(), Outcome::Done(answer)))
    };
    assert_eq!(late(&world), [Vec::new(), Vec::new()]);
    world.command(Command::Cancel);
    assert_eq!(late(&world), [Vec::new(), Vec::new()]);
}

#[test]
fn no_result_of_the_machine_is_larger_than_a_result_may_be() {
    let mut world = World::with("context: { budget_tokens: 20000 }\n");
    let most = room(&world.job.spec) / 10;
    let long = "Check the pump and its valve again. ".repeat(300);
    let todos: Vec<Value> = (0..20)
        .map(|place| json!({"content": format!("Check {place} {}", &long[..400]), "active_form": "Checking"}))
        .collect();
    world.in_phase_one().play([say([
        call("todo_write", json!({ "todos": todos })),
        call("todo_list", json!({"status": "all"})),
        call("read_file", json!({"path": {"a": long}, "offset": 1})),
        call("read_file", json!({"path": "x", "offset": long})),
        call(&long, json!({})),
    ])]);
    for result in world.results(5) {
        assert!(estimate(&result) <= most + 32, "{} tokens: {result:.200}", estimate(&result));
    }
}

#[test]
fn arguments_of_any_depth_can_be_read_again_from_the_journal() {
    for depth in [1, 60, 100, 115, 120, 125, 127] {
        let mut world = World::new();
        let deep = (0..depth).fold(json!({}), |inner, _| json!({ "path": inner }));
        world.in_phase_one().play([say([call("read_file", deep)]), say([done("x")])]);
        let job = again(&world);
        assert_eq!(compose::prompt(&job.own), compose::prompt(&world.job.own));
    }
}

#[test]
fn numbers_keep_every_bit_in_the_journal() {
    let mut world = World::new();
    world.cost_usd = Some(0.108_418_219_117_169_6);
    world.in_phase_one();
    for number in [0.1 + 0.2, 122.416_294_033_786_58, 8.41e21, 5e-324, 2.225_073_858_507_201e-308] {
        world.play([say([call("read_file", json!({ "path": "x", "offset": number }))])]);
    }
    let job = again(&world);
    assert_eq!(format!("{job:?}"), format!("{:?}", world.job));
}

#[test]
fn a_todo_cannot_be_renamed_to_what_is_completed() {
    let mut world = World::new();
    world.in_phase_one().play([say([write_file("notes/1.md", "x"), done("x")])]);
    let named = |id: Option<u32>| json!({"content": "Check pump 1", "active_form": "Checking", "id": id});
    world.play([say([call("todo_write", json!({"todos": [named(Some(2))]}))])]);
    assert_eq!(
        world.results(1),
        ["Refused: todo 1: 'Check pump 1' was closed before; word it differently if it is new work"]
    );
}

#[test]
fn an_end_answers_the_calls_that_wait() {
    for command in [Command::Cancel, Command::Fail { reason: "no attempt is left".to_owned() }] {
        let mut world = World::new();
        world.in_phase_one();
        world.replies.push_back(say([read_file("a"), write_file("b", "c")]));
        world.step();
        world.command(command);
        let skipped = format!("Skipped: {}", answer!("skipped.job_ended"));
        assert_eq!(world.results(2), [skipped.clone(), skipped]);
    }
}

/// The board of planning is there to be answered, whether or not something is owed.
#[test]
fn planning_waits_for_a_reply_to_its_board() {
    let mut world = World::new();
    let completions = (1..=5).map(|place| done(&format!("{place} checked")));
    let work = [write_file(MEMORY_FILE, "Pumps matter.")];
    world.in_phase_one().play([say(work.into_iter().chain(completions))]);
    assert!(world.job.planning().is_some() && world.prompt().contains("PLANNING"), "{}", world.prompt());
    world.play([say([todo_write(6), write_file("notes/south.md", "x"), done("pump 1")])]);
    assert_eq!((world.job.phase.number, world.job.phase.todos.counts().completed), (2, 1));
    assert_eq!(world.job.phase.todos.all().len(), 6);
}

/// A phase may end in the reply in which it began: planning comes before the digest and before any compaction.
#[test]
fn a_phase_that_ends_where_it_began_is_planned_on_first() {
    let mut world = World::with("context: { summary: model, compact: always }\n");
    world.play([say([write_file(PLAN_FILE, PLAN), call("todo_rewind", json!({"issue": "no"}))])]);
    assert!(world.job.planning().is_some() && world.prompt().contains("PLANNING"), "{}", world.prompt());
}

/// Where a server counts far more than is estimated here, an opening is all that fits: it is sent, not opened anew for ever.
#[test]
fn an_opening_is_sent_however_much_the_provider_counts() {
    let mut world = World::with("context: { budget_tokens: 8000 }\n");
    world.counted_percent = 350;
    world.in_phase_one().play((1..5).map(|line| say([read_document("north.md", line, line)])));
    assert!(world.asks());
    assert_eq!(
        world.count(|event| matches!(
            event,
            Event::Conversation(ConversationEvent::EpochOpened { cause: EpochCause::Full, .. })
        )),
        5
    );
}

/// A plan that a person has put on the disk counts, although it needs no mark of the system: else its phases come for ever.
#[test]
fn a_plan_that_was_edited_to_its_end_leads_to_the_review() {
    let mut world = World::new();
    world.in_phase_one();
    world.files.insert(PLAN_FILE.to_owned(), plan_text(5));
    world.play([say((1..=5).map(|place| done(&format!("{place} checked"))))]);
    assert!(world.job.is_review(), "{}", world.log());
}

/// What was handed in stays handed in while the job is held; its answer is for when it goes on.
#[test]
fn an_answer_waits_for_a_job_that_is_held() {
    let mut world = World::new();
    world.answers_later = true;
    world.play([]);
    assert!(world.job.submitted().count() == 1 && world.asks());
    world.command(Command::Hold { reason: HoldReason::Paused, detail: "paused by a person".to_owned() });
    assert!(world.job.submitted().count() == 1 && !world.asks() && !world.step());
    let limits = world.job.limits;
    world.command(Command::Resume { limits });
    assert!(world.asks());
}
