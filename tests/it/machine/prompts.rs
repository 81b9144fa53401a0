//! What stands in every prompt. The prompts of each kind of step are in `tests/scenarios`, of the turns that `prompts` names.

use super::world::*;
use overnight_core::{job::state::INSTRUCTIONS_FILE, prompt::compose};

#[test]
fn tools_and_system_prompt() {
    let tools: Vec<String> = compose::prompt(World::new().at_work())
        .tools
        .iter()
        .map(|tool| format!("{}: {}\n  {}\n", tool.name, tool.description, tool.parameters))
        .collect();
    snapshot("prompt_fixed_part", &format!("{}\n\n{}", compose::system_prompt(), tools.concat()));
}

#[test]
fn a_task_that_has_a_heading_like_feedback_is_not_cut_there() {
    let mut world = World::new();
    let said = "Name the pumps.";
    let long = "Count each of them. ".repeat(20_000);
    let task = format!("# Task\n\n## Feedback of customers\n\n{long}\n\n## Feedback 1\n\n{said}\n");
    world.files.insert(INSTRUCTIONS_FILE.to_owned(), task);
    world.job.feedback.push(said.to_owned());
    let text = world.play([]).prompt();
    assert!(
        text.contains("## Feedback of customers\n\nCount each") && text.contains("## Feedback 1\n\nName the pumps.")
    );
}
