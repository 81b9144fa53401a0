//! The todos of a phase: what `todo_complete` and `todo_write` refuse, and what they change.

use super::world::*;
use overnight_core::{answer, job::state::LAST_REVIEW_TODO};
use serde_json::json;

fn failing() -> overnight_core::message::ToolCall {
    call("edit_file", json!({"path": "none.md", "old": "a", "new": "b"}))
}

/// The answer to the completion of a task.
fn completed(number: u32, title: &str, tasks: &str) -> String {
    format!("Done: {}", answer!("done.task_completed", number, title, tasks))
}

#[test]
fn completion_is_refused_once_after_each_failure() {
    let refused = format!("Refused: {}", answer!("refused.look_at_failure", tool = "edit_file", number = 1));
    let mut world = World::new();
    world.in_phase_one().play([say([failing(), done("x"), done("y")])]);
    assert_eq!(
        world.results(3),
        [
            "Failed: none.md does not exist; create it with write_file",
            &refused,
            &format!("Skipped: {}", answer!("skipped.completion_not_taken"))
        ]
    );
    // A new failure is refused anew; the same one is not.
    world.play([say([failing(), done("x")]), say([done("x")])]);
    assert_eq!(world.results(2), [refused, completed(1, "Check pump 1", "4 tasks")]);
    // After a success there is nothing to look at.
    world.play([say([failing(), read_file("instructions.md"), done("x")])]);
    assert_eq!(world.results(1), [completed(2, "Check pump 2", "3 tasks")]);
}

#[test]
fn refusals_are_no_failures() {
    let mut world = World::new();
    world.in_phase_one().play([say([read_file("instructions.md"), call("read_file", json!({})), done("x")])]);
    assert_eq!(world.results(1), [completed(1, "Check pump 1", "4 tasks")]);
}

/// The reply was written in the belief that its calls would be run.
#[test]
fn nothing_is_changed_behind_a_call_that_could_not_be_read() {
    for lost in [call("wriite", json!({"path": "a.md"})), call("write_file", json!("{\"path\": \"a.m"))] {
        let mut world = World::new();
        let refused = format!("Refused: {}", answer!("skipped.unreadable_before", name = lost.name));
        let calls = [lost, read_file("instructions.md"), write_file("notes/a.md", "x"), done("x")];
        world.in_phase_one().play([say(calls)]);
        let results = world.results(3);
        assert!(results[0].starts_with("Done: "), "{}", results[0]);
        assert_eq!(results[1..], [refused.clone(), refused]);
        world.play([say([write_file("notes/a.md", "x"), done("x")])]);
        assert_eq!(world.results(1), [completed(1, "Check pump 1", "4 tasks")]);
    }
}

#[test]
fn completion_by_a_reply_without_work_is_marked() {
    let mut world = World::new();
    world.in_phase_one().play([
        say([read_file("instructions.md"), done("x"), done("y")]),
        say([call("todo_list", json!({})), done("z")]),
    ]);
    let marks: Vec<bool> = world.job.phase.todos.all().iter().map(|todo| todo.unevidenced).collect();
    assert_eq!(marks, [false, false, true, false, false]);
}

#[test]
fn todo_complete_works_without_arguments() {
    for arguments in [json!({}), json!(null), json!("")] {
        let mut world = World::new();
        world.in_phase_one().play([say([read_file("instructions.md"), call("todo_complete", arguments)])]);
        assert_eq!(world.results(1), [completed(1, "Check pump 1", "4 tasks")]);
    }
}

#[test]
fn only_job_complete_ends_the_review() {
    let mut world = World::new();
    world.in_review(true);
    world.play((0..2).map(|_| say([read_file("output/report.md"), done("x")])));
    assert_eq!(world.job.phase.todos.current().unwrap().content, LAST_REVIEW_TODO);
    for _ in 0..3 {
        world.play([say([read_file("output/report.md"), done("x")])]);
        assert_eq!(world.results(1), [format!("Refused: {}", answer!("refused.job_complete_ends_review"))]);
    }
    snapshot("board_review", &world.board());
}

#[test]
fn a_rewritten_list_keeps_what_is_done_and_what_was_done_for_the_current_todo() {
    let mut world = World::new();
    world.in_phase_one();
    world.play([say([read_document("north.md", 1, 5), done("sound"), read_document("north.md", 6, 9)])]);
    let items = ["Check pump 2", "Check valve 7"]
        .map(|content| json!({"content": content, "active_form": format!("Now: {content}")}));
    world.play([say([call("todo_write", json!({ "todos": items }))])]);
    snapshot("todo_write", &world.results(1)[0]);
    // Work for the current todo was done before the list was rewritten.
    world.play([say([done("pump 2 is sound")])]);
    assert_eq!(world.results(1), [completed(5, "Check pump 2", "1 task")]);
    assert!(!world.job.phase.todos.all()[4].unevidenced);
}

#[test]
fn rewriting_the_same_list_does_not_renew_the_turns_of_a_todo() {
    let mut world = World::new();
    world.in_phase_one();
    let mut turns = 0_u64;
    while world.job.is_executing() {
        turns += 1;
        let count = 5 + u32::try_from(turns % 4).unwrap();
        world.play([say([write_file(&format!("notes/{turns}.md"), "x"), todo_write(count)])]);
    }
    assert_eq!(world.job.past.last().unwrap().why.issue(), Some("40 turns on one todo"));
}

#[test]
fn a_list_in_which_nothing_is_open_ends_the_phase() {
    let mut world = World::new();
    world.in_phase_one();
    let items: Vec<_> = (1..=5)
        .map(|place| {
            json!({"content": format!("Check pump {place}"), "active_form": "x", "status": "cancelled", "outcome": "no such pump"})
        })
        .collect();
    world.skip_log().play([say([call("todo_write", json!({ "todos": items })), done("x")])]);
    let log = world.log();
    assert!(log.contains("PHASE ENDED done"), "{log}");
}

#[test]
fn the_todos_of_the_system_are_not_rewritten() {
    let mut world = World::new();
    world.play([say([todo_write(5)])]);
    assert_eq!(world.results(1), [format!("Refused: {}", answer!("refused.todos_of_bootstrap"))]);
}

#[test]
fn a_running_phase_takes_no_more_than_its_bound() {
    let mut world = World::new();
    world.in_phase_one().play([say([todo_write(23)])]);
    let refused = answer!("refused.too_many_tasks", tasks = 23, most = 22);
    assert_eq!(world.results(1), [format!("Refused: {refused}")]);
}

#[test]
fn a_listing_names_status_and_counts() {
    let mut world = World::new();
    world.in_phase_one().play([say([read_file("instructions.md"), done("sound")])]);
    world.play([say([call("todo_list", json!({})), call("todo_list", json!({"status": "Completed"}))])]);
    assert_eq!(
        world.results(2),
        [
            "Done: 2. Check pump 2 [in_progress]\n3. Check pump 3 [pending]\n4. Check pump 4 [pending]\n5. Check pump 5 [pending]\n1 in progress, 3 pending, 1 completed, 0 cancelled",
            "Done: 1. Check pump 1 [completed]: sound\n1 in progress, 3 pending, 1 completed, 0 cancelled"
        ]
    );
}
