//! What stands in every prompt. The prompts of each kind of step are in `tests/scenarios`, of the turns that `prompts` names.

use super::world::*;
use overnight_core::prompt::{compose, layers};

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
