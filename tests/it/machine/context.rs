//! What the prompt costs and how it is kept small: the bounds of results and boards, and where an epoch ends.

use super::world::*;
use overnight_core::{
    answer,
    job::event::{ConversationEvent, EpochCause, Event, PhaseEvent},
    prompt::{compose, measure::local_tokens, tools::ToolList},
};
use serde_json::json;

/// What every prompt costs before anything is said, at four bytes a token.
#[test]
fn the_fixed_part_is_small() {
    let tools: usize =
        ToolList::usual().specs.clone().iter().map(|tool| serde_json::to_string(tool).unwrap().len()).sum();
    let tokens = (tools + compose::system_prompt().len()).div_ceil(4);
    assert!(tokens < 2_600, "{tokens} tokens");
}

/// A history that has grown to its share of the budget is begun anew, with what the model has not answered to.
#[test]
fn a_full_context_opens_the_next_epoch() {
    let mut spec = spec("context: { budget_tokens: 20000 }\n", &[("north.md", 60)]);
    spec.instructions.limits.turns_per_todo = 400;
    let mut world = World::of(spec);
    world.page_letters = 3_000;
    world.in_phase_one();
    let mut most = 0;
    for turn in 0..60_u64 {
        let mut reply = say([read_document("north.md", 1 + turn, 1 + turn)]);
        reply.text = format!("Part {turn} is sound. {}", "And more. ".repeat(20));
        let epochs = world.job.own.epoch.number;
        world.play([reply]);
        most = most.max(local_tokens(world.at_work()));
        if world.job.own.epoch.number > epochs {
            let prompt = world.prompt();
            assert_eq!(compose::prompt(world.at_work()).messages.len(), 2);
            assert!(local_tokens(world.at_work()) < 8_000, "turn {turn}");
            assert!(prompt.contains(&format!("lines=\"{0}-{0}\">\nThe pump", turn + 1)), "{prompt}");
            assert!(prompt.contains("\n## This task so far\n"), "{prompt}");
        }
    }
    let full = world.count(|event| {
        matches!(event, Event::Conversation(ConversationEvent::EpochOpened { cause: EpochCause::Full, .. }))
    });
    assert!((3..12).contains(&full), "{full}");
    // At 70 %; the last result before may go beyond, and is seen.
    assert!((13_000..=15_000).contains(&most), "{most}");
}

#[test]
fn a_reply_gets_no_more_results_than_the_model_will_see() {
    let mut spec = spec("context: { budget_tokens: 8000 }\n", &[("north.md", 40)]);
    spec.instructions.coverage = 0.0;
    let mut world = World::of(spec);
    world.page_letters = 1_000;
    world.in_phase_one();
    world.play([say((1..=20).map(|line| read_document("north.md", line, line)))]);
    let results = world.results(20);
    let ran = results.iter().filter(|text| text.starts_with("Done")).count();
    assert!((1..20).contains(&ran), "{ran}");
    assert_eq!(results[19], format!("Skipped: {}", answer!("skipped.context_full")));
    assert_eq!(world.prompt().matches("</document").count(), ran, "all that was run is seen");
}

/// What the model has written in the reply is taken, however long its reads were.
#[test]
fn writes_behind_reads_that_fill_the_context_are_run() {
    let mut spec = spec("context: { budget_tokens: 8000 }\n", &[("north.md", 40)]);
    spec.instructions.coverage = 0.0;
    let mut world = World::of(spec);
    world.page_letters = 1_000;
    world.in_phase_one();
    let reads = (1..=20).map(|line| read_document("north.md", line, line));
    let written = write_file("output/notes.md", "# Notes\n\nThe pump is sound.\n");
    world.play([say(reads.chain([written]))]);
    let results = world.results(21);
    assert_eq!(results[19], format!("Skipped: {}", answer!("skipped.context_full")));
    assert!(results[20].starts_with("Done"), "{}", results[20]);
}

/// A todo is not called done behind work for whose result there was no room.
#[test]
fn nothing_is_completed_behind_a_call_that_was_not_run() {
    let mut spec = spec("context: { budget_tokens: 8000 }\n", &[("north.md", 40)]);
    spec.instructions.coverage = 0.0;
    let mut world = World::of(spec);
    world.page_letters = 1_200;
    world.in_phase_one();
    let completed =
        |world: &World| world.count(|event| matches!(event, Event::Phase(PhaseEvent::TodoCompleted { .. })));
    let before = completed(&world);
    let reads = (1..=20).map(|line| read_document("north.md", line, line));
    world.play([say(reads.chain([call("todo_complete", json!({}))]))]);
    let results = world.results(21);
    let skipped = answer!("skipped.not_run_before", name = "read_document");
    assert_eq!(results[20], format!("Skipped: {skipped}"));
    assert_eq!(completed(&world), before);
    world.play([say([read_document("north.md", 20, 20), call("todo_complete", json!({}))])]);
    assert_eq!(completed(&world), before + 1);
}

#[test]
fn the_board_is_bounded_however_much_stands_in_the_list() {
    let mut world = World::with("context: { budget_tokens: 8000 }\n");
    world.in_phase_one();
    for round in 0..12 {
        let items: Vec<_> = (0..20)
            .map(|place| {
                json!({
                    "content": format!("Round {round}, task {place}: {}", "very ".repeat(80)),
                    "active_form": "w ".repeat(200),
                    "context": "x ".repeat(9_000),
                    "completion_criteria": "y ".repeat(9_000),
                })
            })
            .collect();
        world.play([say([call("todo_write", json!({ "todos": items }))])]);
    }
    let board = world.board();
    let tokens = overnight_core::tokens::estimate(&board);
    assert!(tokens < 1_100, "{tokens}: {board}");
    // One line for those that are not shown.
    let shown = board.lines().filter(|line| line.starts_with("[-] ")).count() - 1;
    let number = world.job.phase.todos.counts().cancelled - shown;
    assert!(board.contains(&answer!("board.cancelled_earlier", number, file = "todos.md")), "{board}");
    assert!(local_tokens(world.at_work()) < 5_600, "{}", local_tokens(world.at_work()));
}

#[test]
fn the_model_writes_the_digest_where_it_is_asked_to() {
    let mut world = World::with("context: { summary: model, compact: always }\n");
    world.in_phase_one();
    let mut reply = say([read_file("instructions.md")]);
    reply.text = "North has two pumps.".to_owned();
    world.play([reply]);
    assert!(!world.prompt().contains("<reminder>"), "{}", world.prompt());
    // Without calls, as asked, there is nothing to remind of either.
    let mut world = World::with("context: { summary: model, compact: always }\n");
    world.in_phase_one().play([say([])]);
    assert!(!world.prompt().contains("<reminder>"), "{}", world.prompt());
}

/// What one reply reads may fill the context; the model sees all of it, is told that it sees it once, and what it reads then stands in
/// the next opening. What has no room there counts as not shown.
#[test]
fn what_fills_the_context_is_seen_once() {
    let mut spec = spec("context: { budget_tokens: 20000 }\n", &[("north.md", 60)]);
    spec.instructions.coverage = 0.0;
    let mut world = World::of(spec);
    world.page_letters = 3_000;
    world.in_phase_one();
    let epoch = world.job.own.epoch.number;
    world.play([say((1..=15).map(|page| read_document("north.md", page, page)))]);
    assert_eq!(world.job.own.epoch.number, epoch, "all of it is in one prompt");
    let ran = world.results(15).iter().filter(|text| text.starts_with("Done")).count();
    let tokens = local_tokens(world.at_work());
    assert!((14_500..17_500).contains(&tokens) && ran > 10, "{ran} reads, {tokens} tokens");
    let last_look = include_str!("../../../instructions/runner/last_look.md").split("{{").next().unwrap().trim();
    assert!(world.prompt().contains(&format!("<reminder>{last_look}")), "{}", world.prompt());
    let more = u64::try_from(ran).unwrap();
    world.play([say((1..=15).map(|page| read_document("north.md", more + page, more + page)))]);
    assert_eq!(world.job.own.epoch.number, epoch + 1);
    let shown = world.prompt().matches("</document").count();
    let pages = u32::try_from(ran + shown).unwrap();
    let seen = world.job.coverage_shown().total(&world.job.spec.documents);
    assert!(shown > 5 && local_tokens(world.at_work()) < 15_000, "{shown}");
    assert!((seen - f64::from(pages) / 60.0).abs() < 1e-9, "{seen}: {pages} of 60");
}
