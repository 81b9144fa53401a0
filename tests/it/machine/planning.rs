//! Planning: what it owes, calls at the wrong time, tries and their fallbacks, the bounds on plans and todos.

use super::world::*;
use overnight_core::{
    answer,
    job::{
        event::{Event, PlanEvent},
        state::PLAN_FILE,
    },
};
use serde_json::json;

#[test]
fn memory_that_is_asked_for_twice_in_vain_is_waived() {
    let mut world = World::new();
    world.in_phase_one().work_phase().skip_log();
    assert!(!world.word().contains("<reminder>"));
    world.play([say([read_file("instructions.md")])]);
    let owed = answer!("owed.memory");
    let reminder = answer!("reminder.next_phase", owed);
    assert!(world.word().ends_with(&format!("\n<reminder>{reminder}</reminder>")), "{}", world.word());
    // What isn't asked for any more is done.
    world.play([say([done("too early"), write_file("notes/south.md", "sound"), done("it runs")])]);
    assert_eq!(world.job.memory, None);
    let ended = short(&answer!("skipped.phase_ended", owed));
    let behind_end = short(&answer!("skipped.behind_phase_end", owed));
    let completed = short(&answer!("done.task_completed", number = 1, title = "Check pump 1", tasks = "4 tasks"));
    assert_eq!(
        world.log(),
        format!(
            "turn 7: read_file\n  read_file Skipped: {ended}\nboard Planning\nturn 8: todo_complete, write_file, todo_complete\n  todo_complete Skipped: {behind_end}\nplanning fell back, memory waived\nPHASE 2.1 planned 'South station': 5 todos\n  started\n  write_file Done: write_file notes/south.md (5 bytes now).\n  todo_complete Done: {completed}\ntodo 1 completed: it runs\ncompaction not due\nboard Todos, in full\n"
        )
    );
}

/// Calls that are skipped for it don't take what planning waits for along.
#[test]
fn what_planning_waits_for_is_taken_behind_a_call_that_was_skipped() {
    let mut world = World::new();
    world.in_phase_one();
    world.play([say([
        call("todo_rewind", json!({"issue": "too coarse"})),
        read_file("instructions.md"),
        todo_write(6),
        read_file("nothing.md"),
        done("x"),
    ])]);
    assert_eq!((world.job.phase.attempt, todos_of(&world)), (2, 6));
    let results = world.results(5);
    assert_eq!(
        [1, 3, 4].map(|place| results[place].as_str()),
        [
            format!("Skipped: {}", answer!("skipped.phase_ended", owed = answer!("owed.plan"))),
            "Failed: nothing.md does not exist".to_owned(),
            format!("Skipped: {}", answer!("skipped.phase_not_shown", title = "North station"))
        ]
    );
}

#[test]
fn reads_of_the_bootstrap_that_bring_something_new_are_no_tries() {
    let read = |line| say([read_document("north.md", line, line)]);
    let mut world = World::new();
    world.play((1..=9).map(read)).play((0..3).map(|_| say([done("?")]))).play([read(10)]);
    assert!(world.job.is_bootstrap());
    world.play([read(10)]);
    assert_eq!(world.job.phase.number, 1, "to read the same again is a try");
    // But it has no more than fifteen turns.
    let mut world = World::new();
    world.play((1..=14).map(read));
    assert!(world.job.is_bootstrap());
    world.play([read(15)]);
    assert_eq!(world.job.phase.number, 1);
}

#[test]
fn after_four_tries_without_a_plan_the_system_writes_it() {
    let mut world = World::new();
    world.play([
        say([]),
        say([done("done")]),
        say([write_file(PLAN_FILE, "Let's see how it goes."), done("planned")]),
        say([read_file("nothing.md")]),
    ]);
    snapshot("plan_of_the_system", &world.files[PLAN_FILE]);
    let todos: Vec<(&str, &str)> =
        world.job.phase.todos.all().iter().map(|todo| (todo.content.as_str(), todo.active_form.as_str())).collect();
    assert_eq!(
        todos[0],
        (
            "Read north.md and record what the task asks for",
            "Working on: Read north.md and record what the task asks for"
        )
    );
}

#[test]
fn without_list_items_the_title_is_the_todo() {
    let mut world = World::new();
    world.bootstrapped("# Execution Plan\n\n## Phase 1: Look around\n\nJust look.\n");
    let todos: Vec<(&str, &str)> =
        world.job.phase.todos.all().iter().map(|todo| (todo.content.as_str(), todo.active_form.as_str())).collect();
    assert_eq!(todos, [("Look around", "Working on: Look around")]);
}

fn todos_of(world: &World) -> usize {
    world.job.phase.todos.all().len()
}

fn warnings(world: &World) -> Vec<&str> {
    let events = world.decisions.iter().flat_map(|decision| &decision.events);
    events
        .filter_map(
            |event| if let Event::Plan(PlanEvent::TodosWarned { warning }) = event { Some(&**warning) } else { None },
        )
        .collect()
}

#[test]
fn a_plan_outside_the_bounds_is_refused_once_and_then_taken() {
    let phase = |number: u32, steps: u32| {
        let steps = (1..=steps).fold(String::new(), |text, step| format!("{text}- [ ] Check pump {step}\n"));
        format!("## Phase {number}: Part {number}\n\n{steps}\n")
    };
    let plan = |sizes: &[u32]| {
        let phases: String = (1..).zip(sizes).map(|(number, steps)| phase(number, *steps)).collect();
        write_file(PLAN_FILE, &format!("# Execution Plan\n\n{phases}"))
    };
    let mut world = World::with("context: { compact: always }\n");
    world.play([say([plan(&[5, 2, 6])]), say([plan(&[5, 2, 6])])]);
    let both = answer!(
        "phase.too_short_beside",
        phase = "phase 2 'Part 2'",
        steps = "2 steps",
        min = 5,
        max = 20,
        neighbours = "phase 1 'Part 1' or phase 3 'Part 3'"
    );
    assert_eq!(warnings(&world), [both]);
    // Where all fits in one piece, nothing is gained by it.
    let mut world = World::new();
    world.play([say([plan(&[2, 1])])]);
    assert_eq!((world.job.phase.number, warnings(&world)), (1, vec![]));
}

#[test]
fn the_phase_that_is_worked_keeps_its_place_in_the_plan() {
    let mut world = World::new();
    world.in_phase_one();
    let moved = PLAN
        .replace("## Phase 1: North station", "## Phase 1: Preparation\n\n- [ ] Prepare\n\n## Phase 2: North station");
    let moved = moved.replace("Phase 3: Final", "Phase 4: Final").replace("Phase 2: South", "Phase 3: South");
    world.play([say([write_file(PLAN_FILE, &moved)])]);
    let fault = "phase 1 'North station' is being worked; keep its number and title, or call todo_rewind(issue) if it \
        can't be worked as planned";
    assert_eq!(world.results(1), [format!("Refused: {}", answer!("refused.plan_not_saved", fault))]);
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
