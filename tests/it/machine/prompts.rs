//! The whole prompt of each kind of step, to be read as a model reads it.

use super::world::*;
use overnight::{
    context::{compose, layers},
    job::{
        state::{INSTRUCTIONS_FILE, MEMORY_FILE},
        step::Command,
    },
};
use serde_json::json;

#[test]
fn tools_and_system_prompt() {
    let tools: Vec<String> = compose::prompt(&World::new().job)
        .tools
        .iter()
        .map(|tool| format!("{}: {}\n  {}\n", tool.name, tool.description, tool.parameters))
        .collect();
    snapshot("prompt_fixed_part", &format!("{}\n\n{}", compose::system_prompt(), tools.concat()));
}

#[test]
fn the_first_turn() {
    snapshot("prompt_bootstrap", &World::new().prompt());
}

#[test]
fn executing_with_folded_results() {
    let mut world = World::new();
    world.page_letters = 2_000;
    world.in_phase_one();
    world.play([say([read_document("north.md", 1, 10), done("pump 1 is sound")])]);
    world.play([say([read_file(INSTRUCTIONS_FILE)]), say([])]);
    snapshot("prompt_executing", &world.prompt());
}

#[test]
fn update_memory() {
    let mut world = World::new();
    world.bootstrapped(PLAN);
    snapshot("prompt_update_memory", &world.prompt());
}

#[test]
fn update_plan_after_a_rewind() {
    let mut world = World::new();
    world.in_phase_one();
    world.play([say([call("todo_rewind", json!({"issue": "north.md is in two parts"}))])]);
    world.play([say([write_file(MEMORY_FILE, "# Memory\n\nnorth.md is in two parts.")])]);
    snapshot("prompt_update_plan_rewound", &world.prompt());
}

#[test]
fn create_todos() {
    let mut world = World::new();
    world.bootstrapped(PLAN).play([say([no_change("nothing yet"), no_change("it holds")])]);
    snapshot("prompt_create_todos", &world.board());
}

#[test]
fn review() {
    let mut world = World::new();
    world.in_review(true);
    snapshot("prompt_review", &world.prompt());
}

#[test]
fn planning_for_feedback() {
    let mut world = World::with("review: required\n");
    world.in_review(true).play([say([job_complete(0.9)])]);
    let text = "Name the pumps.".to_owned();
    let instructions = format!("{}\n\n## Feedback 1\n\n{text}\n", world.files[INSTRUCTIONS_FILE]);
    world.command(Command::Feedback { text, instructions });
    world.play([say([no_change("nothing")])]);
    snapshot("prompt_update_plan_feedback", &world.prompt());
}

#[test]
fn a_task_that_has_a_heading_like_feedback_is_not_cut_there() {
    let world = World::new();
    let mut job = world.job.clone();
    let said = "Name the pumps.";
    let long = "Count each of them. ".repeat(20_000);
    job.instructions = format!("# Task\n\n## Feedback of customers\n\n{long}\n\n## Feedback 1\n\n{said}\n");
    job.feedback.push(said.to_owned());
    let text = layers::compacted(&job, None, None);
    assert!(
        text.contains("## Feedback of customers\n\nCount each") && text.contains("## Feedback 1\n\nName the pumps.")
    );
}
