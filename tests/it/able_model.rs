//! What an able model does: replies that reach over what they could not foresee.

use crate::machine::world::{World, done, job_complete, read_file, remembered, say, write_file};
use overnight_core::{answer, job::state::MEMORY_FILE};

#[test]
fn outcomes_stay_with_their_todos_behind_a_failed_call() {
    let mut world = World::new();
    world.in_phase_one().play([say([read_file("nope.md"), done("first"), done("second")])]);
    assert_eq!(
        world.results(3),
        [
            "Failed: nope.md does not exist".to_owned(),
            format!("Refused: {}", answer!("refused.look_at_failure", tool = "read_file", number = 1)),
            format!("Skipped: {}", answer!("skipped.completion_not_taken")),
        ]
    );
    world.play([say([done("first"), done("second"), done("third")])]);
    let outcomes: Vec<Option<&str>> = world.job.phase.todos.all().iter().map(|todo| todo.outcome.as_deref()).collect();
    assert_eq!(outcomes, [Some("first"), Some("second"), Some("third"), None, None]);
}

#[test]
fn job_complete_behind_the_last_todo_is_checked_at_once() {
    let mut world = World::new();
    world.in_phase_one().work_phase().play([remembered()]);
    let all = (1..=5).map(|todo| done(&format!("pump {todo}")));
    world.play([say([write_file("output/report.md", "All pumps ran well.")]
        .into_iter()
        .chain(all)
        .chain([job_complete(0.9)]))]);
    assert_eq!(world.status(), "completed");
    assert_eq!(world.job.past.len(), 4);
}

#[test]
fn job_complete_waits_where_a_call_before_it_failed() {
    let mut world = World::new();
    world.in_phase_one().work_phase().play([say([write_file(MEMORY_FILE, "# Memory\n"), read_file("nope.md")])]);
    let all = (1..=5).map(|todo| done(&format!("pump {todo}")));
    let report = write_file("output/report.md", "All pumps ran well.");
    world.play([say([read_file("nope.md"), report].into_iter().chain(all).chain([job_complete(0.9)]))]);
    let skipped = answer!("skipped.look_first", name = "read_file", what = "failed");
    assert_eq!(world.results(1), [format!("Skipped: {skipped}")]);
    world.play([say([job_complete(0.9)])]);
    assert_eq!(world.status(), "completed");
}
