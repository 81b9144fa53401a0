//! Planning: wrong steps, tries and their fallbacks, the bounds on todos.

use super::world::*;
use overnight_core::job::{
    event::Event,
    state::{MEMORY_FILE, PLAN_FILE},
};
use serde_json::json;

#[test]
fn a_call_at_the_wrong_step_is_told_which_step_this_is() {
    let mut world = World::new();
    world.bootstrapped(PLAN);
    let wrong = || {
        say([
            todo_write(5),
            done("x"),
            call("todo_rewind", json!({"issue": "x"})),
            call("archive_and_reset", json!({"reason": "x"})),
            write_file(PLAN_FILE, PLAN),
            job_complete(1.0),
        ])
    };
    world.play([wrong()]);
    let mut text = format!("update_memory:\n{}\n\n", world.results(6).join("\n"));
    world.play([say([no_change("nothing"), todo_write(5), done("x")])]);
    text.push_str(&(["update_plan:\n", &world.results(2).join("\n"), "\n\n"].concat()));
    world.play([say([no_change("it holds"), no_change("again"), done("x")])]);
    text.push_str(&(["create_todos:\n", &world.results(2).join("\n"), "\n\n"].concat()));
    world.play([say([todo_write(5)]), say([no_change("nothing"), job_complete(1.0)])]);
    text.push_str(&(["execute:\n", &world.results(2).join("\n"), "\n"].concat()));
    snapshot("wrong_steps", &text);
}

#[test]
fn after_four_tries_each_step_falls_back() {
    let mut world = World::new();
    world.bootstrapped(PLAN).skip_log();
    // Nothing useful, in all three steps.
    world.play((0..12).map(|_| say([done("?")])));
    assert!(world.job.is_executing());
    let contents: Vec<&str> = world.job.phase.todos.all().iter().map(|todo| todo.content.as_str()).collect();
    assert_eq!(contents, ["Read north.md", "Note its faults"]);
    assert_eq!(world.job.phase.todos.current().unwrap().active_form, "Working on: Read north.md");
    assert_eq!(world.job.memory, None);
    let steps: Vec<String> = world.log().lines().filter(|line| !line.starts_with(' ')).map(str::to_owned).collect();
    assert_eq!(
        steps,
        [
            "turn 4: todo_complete",
            "turn 5: todo_complete",
            "turn 6: todo_complete",
            "turn 7: todo_complete",
            "step update_memory: fell back",
            "turn 8: todo_complete",
            "turn 9: todo_complete",
            "turn 10: todo_complete",
            "turn 11: todo_complete",
            "step update_plan: fell back",
            "turn 12: todo_complete",
            "turn 13: todo_complete",
            "turn 14: todo_complete",
            "turn 15: todo_complete",
            "step create_todos: fell back",
            "PHASE 1.1 planned 'North station': 2 todos",
            "context compacted",
        ]
    );
}

#[test]
fn a_step_that_is_not_done_yet_is_reminded_of() {
    let mut world = World::new();
    world.bootstrapped(PLAN).play([say([])]);
    assert!(
        world.board().starts_with("<reminder>The step update_memory is not done yet: save workspace.md "),
        "{}",
        world.board()
    );
}

#[test]
fn ten_reading_turns_come_on_top_of_the_tries() {
    let mut world = World::new();
    world.bootstrapped(PLAN);
    world.play((1..=10).map(|line| say([read_document("north.md", line, line)])));
    world.play((0..3).map(|_| say([done("?")])));
    assert_eq!(world.count(|event| matches!(event, Event::StepEnded { .. })), 0);
    world.play([say([read_document("north.md", 11, 11)])]);
    assert_eq!(world.count(|event| matches!(event, Event::StepEnded { .. })), 1);
}

#[test]
fn where_there_is_no_plan_the_system_writes_one() {
    let mut world = World::new();
    // Bootstrap without a plan: each task is claimed done, at the second time of asking.
    world.play((0..10).map(|_| say([done("done")])));
    assert!(world.job.planning().is_some());
    world.play([say([no_change("nothing")]), say([no_change("nothing")])]);
    assert_eq!(
        world.results(1),
        [
            "Refused: there is no plan yet: write main_plan.md with phases (`## Phase 1: Title` and a task list under each)"
        ]
    );
    world.play((0..3).map(|_| say([])));
    snapshot("plan_of_the_system", &world.files[PLAN_FILE]);
    world.play([say([todo_write(5)])]);
    assert_eq!(world.job.phase.title, "Work through north.md to south.md");
}

#[test]
fn without_list_items_the_title_is_the_todo() {
    let mut world = World::new();
    world.bootstrapped("# Execution Plan\n\n## Phase 1: Look around\n\nJust look.\n");
    world.play([say([no_change("x"), no_change("x")])]).play((0..4).map(|_| say([])));
    let todos: Vec<(&str, &str)> =
        world.job.phase.todos.all().iter().map(|todo| (todo.content.as_str(), todo.active_form.as_str())).collect();
    assert_eq!(todos, [("Look around", "Working on: Look around")]);
}

#[test]
fn what_cannot_be_read_as_a_plan_is_refused_with_the_line() {
    let mut world = World::new();
    world.in_phase_one().work_phase();
    world.play([say([no_change("x")])]);
    world.play([say([
        write_file(PLAN_FILE, "Let's see how it goes."),
        write_file(PLAN_FILE, "# Execution Plan\n\n## Phase 1: Else\n\n- [ ] a\n\n## Phase 2: South\n\n- [ ] b\n"),
    ])]);
    snapshot("refused_plans", &world.results(2).join("\n"));
    assert!(world.files[PLAN_FILE].contains("North station ✓ COMPLETE"));
}

fn todos_of(world: &World) -> usize {
    world.job.phase.todos.all().len()
}

#[test]
fn todos_within_the_tolerance_pass_with_a_warning() {
    for (count, warning) in
        [(4, Some("4 todos, fewer than 5")), (5, None), (20, None), (22, Some("22 todos, more than 20"))]
    {
        let mut world = World::new();
        world.bootstrapped(PLAN).play([plan_for(count)]);
        assert_eq!(todos_of(&world), count as usize);
        let warnings: Vec<&str> = world
            .decisions
            .iter()
            .flat_map(|decision| &decision.events)
            .filter_map(|event| if let Event::TodosWarned { warning } = event { Some(warning.as_str()) } else { None })
            .collect();
        assert_eq!(warnings, warning.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn too_few_todos_are_refused_twice_and_then_accepted() {
    let mut world = World::new();
    world.bootstrapped(PLAN).play([plan_for(3), say([todo_write(3)])]);
    assert_eq!(
        world.results(1),
        ["Refused: 3 todos are too few: a phase has 5 to 20; divide the work into smaller tasks"]
    );
    assert!(world.job.planning().is_some());
    world.skip_log().play([say([todo_write(3)])]);
    assert_eq!(todos_of(&world), 3);
    assert!(world.log().contains("todos warned: 3 todos, fewer than 5\n"));
}

#[test]
fn too_many_todos_are_refused_twice_and_then_cut_with_the_rest_as_the_next_phase() {
    let mut world = World::new();
    world.bootstrapped(PLAN).play([plan_for(23), say([todo_write(23)])]);
    assert_eq!(
        world.results(1),
        ["Refused: 23 todos are too many: a phase has 5 to 20; keep the rest for the next phase"]
    );
    world.play([say([todo_write(23)])]);
    assert_eq!(todos_of(&world), 20);
    snapshot("plan_with_cut_phase", &world.files[PLAN_FILE]);
}

#[test]
fn all_cut_at_the_first_list_without_an_open_todo() {
    let mut world = World::new();
    world.bootstrapped(PLAN).play([plan_for(0)]);
    assert_eq!(world.results(1), ["Refused: the list has no open todo; give the next phase's tasks"]);
}

#[test]
fn what_a_person_wrote_into_plan_and_memory_counts_from_the_next_examine_step() {
    let mut world = World::new();
    world.in_phase_one();
    world.files.insert(MEMORY_FILE.to_owned(), "By hand.".to_owned());
    world.files.insert(PLAN_FILE.to_owned(), PLAN.replace("South station", "West station"));
    world.work_phase();
    assert_eq!(world.job.memory.as_deref(), Some("By hand."));
    world.play([plan_for(5)]);
    assert_eq!(world.job.phase.title, "West station");
}

#[test]
fn the_phase_that_is_worked_keeps_its_place_in_the_plan() {
    let mut world = World::new();
    world.in_phase_one();
    let moved = PLAN
        .replace("## Phase 1: North station", "## Phase 1: Preparation\n\n- [ ] Prepare\n\n## Phase 2: North station");
    let moved = moved.replace("Phase 3: Final", "Phase 4: Final").replace("Phase 2: South", "Phase 3: South");
    world.play([say([write_file(PLAN_FILE, &moved)])]);
    assert_eq!(
        world.results(1),
        [
            "Refused: main_plan.md is not saved: phase 1 'North station' is being worked; keep its number and title, or call todo_rewind(issue) if it can't be worked as planned"
        ]
    );
    // A person may do it all the same: what was worked is marked, wherever it stands.
    world.files.insert(PLAN_FILE.to_owned(), moved);
    world.work_phase();
    let states: Vec<String> = world
        .job
        .plan
        .as_ref()
        .unwrap()
        .phases()
        .iter()
        .map(|phase| format!("{}: {:?}", phase.title, phase.state))
        .collect();
    assert_eq!(
        states,
        ["Preparation: Current", "North station: Complete", "South station: Open", "Final Review: Open"]
    );
}

#[test]
fn a_plan_that_a_person_broke_is_replaced_by_the_last_good_one() {
    let mut world = World::new();
    world.in_phase_one();
    world.files.insert(PLAN_FILE.to_owned(), "nothing".to_owned());
    world.work_phase();
    assert!(world.files[PLAN_FILE].contains("## Phase 2: South station ← CURRENT"), "{}", world.files[PLAN_FILE]);
}
