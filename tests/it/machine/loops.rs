//! The two loops: bootstrap, planning, phases, review, and all ways out of a phase.

use super::world::*;
use overnight_core::{answer, job::state::MEMORY_FILE};
use serde_json::json;
use std::fmt::Write;

#[test]
fn memory_todos_and_the_first_work_of_the_next_phase_come_in_one_reply() {
    let mut world = World::new();
    world.in_phase_one().work_phase().skip_log();
    let mut reply = plan_for(5);
    reply.calls.extend([done("too early"), write_file("notes/south.md", "sound"), done("it runs")]);
    world.play([reply]);
    let skipped = short(&answer!("skipped.behind_phase_end", owed = answer!("owed.look_at_plan")));
    let completed = short(&answer!("done.task_completed", number = 1, title = "Check pump 1", tasks = "4 tasks"));
    assert_eq!(
        world.log(),
        format!(
            "turn 7: write_file, todo_write, todo_complete, write_file, todo_complete\n  started\n  write_file Done: write_file workspace.md (23 bytes now).\nmemory saved\n  todo_write Done: [>] 1. Check pump 1      ← CURRENT: Checking pump 1 / [ ] 2. Check pump 2 / [ ] 3. Check pump 3 / [ ] 4. Check pump 4 / [ ] 5. Check pump 5 /  / Progress: 0/5 t…\ntodos written: 5\n  todo_complete Skipped: {skipped}\nplanning done\nPHASE 2.1 planned 'South station': 5 todos\n  started\n  write_file Done: write_file notes/south.md (5 bytes now).\n  todo_complete Done: {completed}\ntodo 1 completed: it runs\ncompaction not due\nboard Todos, in full\n"
        )
    );
}

#[test]
fn the_board_follows_the_work() {
    let mut world = World::new();
    world.in_phase_one();
    world.play([say([read_document("north.md", 1, 10), done("pump 1 is sound")])]);
    snapshot("board_executing", &world.board());
}

/// Each call has its result: what can be done is done, and nothing is called done that the model has not seen.
#[test]
fn a_reply_runs_on_over_the_end_of_a_phase() {
    let behind = || [done("fine"), read_file("instructions.md"), done("again")];
    let mut text = String::new();
    for (memory, first) in [("owed", "notes/a.md"), ("saved", MEMORY_FILE)] {
        let mut world = World::new();
        world.in_phase_one().play((0..4).map(|_| say([done("fine")]))).skip_log();
        world.play([say([write_file(first, "x")].into_iter().chain(behind()))]);
        let _ = writeln!(text, "memory {memory}:\n{}", world.log());
    }
    let mut world = World::new();
    world.in_phase_one().work_phase().play([remembered()]).play((0..4).map(|_| say([done("fine")]))).skip_log();
    world.play([say(behind().into_iter().chain([job_complete(0.9)]))]);
    let _ = writeln!(text, "the last phase:\n{}\n{}", world.log(), world.word());
    snapshot("reply_over_phase_end", &text);
}

#[test]
fn a_rewind_keeps_what_is_done_and_plans_anew_with_the_issue() {
    let mut world = World::new();
    world.in_phase_one();
    world.play([say([read_document("north.md", 1, 10), done("sound")])]);
    world
        .play([say([call("todo_rewind", json!({"issue": "north.md is in two parts"})), read_file("instructions.md")])]);
    let past = world.job.past.last().unwrap();
    let todos: Vec<String> = past
        .phase
        .todos
        .all()
        .iter()
        .map(|todo| format!("{} {} {}", todo.id, todo.status, todo.outcome.as_deref().unwrap_or("-")))
        .collect();
    assert_eq!(
        todos,
        [
            "1 completed sound",
            "2 cancelled abandoned with the phase",
            "3 cancelled abandoned with the phase",
            "4 cancelled abandoned with the phase",
            "5 cancelled abandoned with the phase"
        ]
    );
    let because = answer!("because.rewound", issue = "north.md is in two parts");
    assert!(world.board().contains(&because), "{}", world.board());
    // One todo is done, so four more are enough.
    world.play([plan_for(4)]);
    assert_eq!((world.job.phase.number, world.job.phase.attempt), (1, 2));
}

#[test]
fn the_same_call_with_the_same_result_is_reminded_of_and_then_stuck() {
    for repeated in [read_file("instructions.md"), call("todo_list", json!({})), call("read_file", json!({"pth": 1}))] {
        let mut world = World::new();
        world.in_phase_one();
        world.play((0..2).map(|_| say([repeated.clone()])));
        assert!(!world.word().contains("<reminder>"), "{}", world.word());
        world.play([say([repeated.clone()])]);
        let reminder = answer!("reminder.repeated_call", times = 3);
        assert!(
            world.word().contains(&format!("]\n<reminder>{reminder}</reminder>")),
            "{}: {}",
            repeated.name,
            world.word()
        );
        world.play([say([repeated.clone()])]);
        assert!(world.job.is_executing());
        world.play([say([repeated.clone()])]);
        assert_eq!(
            world.job.past.last().unwrap().why.issue(),
            Some("the same call gave the same result 5 times in 10 turns")
        );
        assert_eq!(world.job.past.last().unwrap().folder, "phase-01-north-station.replanned-1");
    }
}

#[test]
fn five_same_calls_further_apart_than_ten_turns_are_not_stuck() {
    let mut world = World::new();
    world.in_phase_one();
    for turn in 0..14_u64 {
        let reply =
            if turn % 3 == 0 { read_file("instructions.md") } else { read_document("north.md", turn + 1, turn + 1) };
        world.play([say([reply])]);
    }
    assert!(world.job.is_executing());
}

#[test]
fn twenty_five_idle_turns_are_stuck_and_new_coverage_is_not_idle() {
    let mut world = World::new();
    world.in_phase_one();
    // New parts for a while, then never anything new, but not the same call five times in ten turns either.
    world.play((1..=10).map(|line| say([read_document("north.md", line, line + 20)])));
    world.play((0..24).map(|turn| say([read_document("north.md", 1 + turn, 1 + turn)])));
    assert!(world.job.is_executing(), "{:?}", world.job.past.last().unwrap().why);
    world.play([say([]), say([])]);
    assert_eq!(
        world.job.past.last().unwrap().why.issue(),
        Some("25 turns on one todo without any change in the workspace and without new coverage")
    );
}

#[test]
fn three_malformed_calls_running_are_stuck() {
    let torn = |place: u32| say([call("write_file", json!(format!("{{\"path\": \"a{place}")))]);
    let mut world = World::new();
    world.in_phase_one().play([torn(1)]);
    assert_eq!(
        world.results(1),
        [
            "Refused: the arguments of write_file are not a JSON object; call it again with path (string), content (string)"
        ]
    );
    world.play([torn(2), say([read_file("instructions.md")]), torn(3), torn(4)]);
    assert!(world.job.is_executing());
    world.play([torn(5)]);
    assert_eq!(world.job.past.last().unwrap().why.issue(), Some("3 calls running had malformed arguments"));
}

#[test]
fn a_todo_and_a_phase_over_their_turns_are_replanned() {
    let mut world = World::new();
    world.in_phase_one();
    world.play((0..40).map(|turn| say([write_file(&format!("notes/{turn}.md"), "x")])));
    assert_eq!(world.job.past.last().unwrap().why.issue(), Some("40 turns on one todo"));
    let because = answer!("because.limit_reached", detail = "40 turns on one todo");
    assert!(world.board().contains(&because), "{}", world.board());
    let mut spec = spec("", &[]);
    spec.instructions.limits.turns_per_phase = 12;
    let mut world = World::of(spec);
    world.in_phase_one();
    for turn in 0..12 {
        world.play([say([write_file(&format!("notes/{turn}.md"), "x")])]);
        if turn % 4 == 3 {
            world.play([say([done("done")])]);
        }
    }
    assert_eq!(world.job.past.last().unwrap().why.issue(), Some("12 turns in one phase"));
}

#[test]
fn unknown_tools_and_wrong_arguments_are_answered_with_what_to_do() {
    let mut world = World::new();
    world.in_phase_one();
    let calls = [
        call("read_fil", json!({})),
        call("teleport", json!({})),
        call("read_file", json!({"path": 3})),
        call("read_file", json!({"path": "a", "lines": 3})),
        call("todo_complete", json!([1])),
        call("todo_rewind", json!({"issue": "  "})),
        call("add_note", json!({"text": ""})),
        call("todo_list", json!({"status": "finished"})),
    ];
    // Each in a reply of its own: behind one that can't be read, others are not run.
    let results: Vec<String> = calls.into_iter().flat_map(|call| world.play([say([call])]).results(1)).collect();
    snapshot("refusals", &results.join("\n"));
}

#[test]
fn a_reply_without_a_call_is_reminded_of_the_task() {
    let mut world = World::new();
    world.in_phase_one().play([say([read_file("instructions.md"), done("fine")]), say([])]);
    let reminder = answer!("reminder.called_no_tool", number = 2);
    assert!(world.word().contains(&format!("]\n<reminder>{reminder}</reminder>")), "{}", world.word());
    world.play([say([read_file("instructions.md")])]);
    assert!(!world.word().contains("<reminder>"), "{}", world.word());
}

#[test]
fn turns_without_a_todo_change_are_reminded_of_every_ten() {
    let mut world = World::new();
    world.in_phase_one();
    let mut reminded = Vec::new();
    for turn in 1..=34_u64 {
        world.play([say([write_file(&format!("notes/{turn}.md"), "x")])]);
        if world.word().contains("<reminder>") {
            let sentence = answer!("reminder.unchanged_list", turns = turn);
            assert!(world.word().contains(&format!("<reminder>{sentence}</reminder>")), "{}", world.word());
            reminded.push(turn);
        }
    }
    assert_eq!(reminded, [11, 21, 31]);
}
