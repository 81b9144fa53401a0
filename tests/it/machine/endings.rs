//! How a job ends or waits: completion and its checks, review by a person, limits and holds.

use super::world::*;
use crate::support::approve;
use overnight_core::{
    answer,
    job::{
        event::{Event, LifeEvent},
        record::{HoldReason, JobStatus},
        state::{INSTRUCTIONS_FILE, LAST_REVIEW_TODO, PLAN_FILE},
        todo::TodoStatus,
    },
    machine::effect::Command,
};

#[test]
fn what_was_not_done_when_a_job_ends_is_not_said_to_be_done() {
    let mut world = World::new();
    world.in_review(false).play((0..4).map(|_| say([job_complete(1.0)])));
    assert_eq!(world.status(), "partial: not met after 3 refusals: output/report.md: exists");
    let outcomes: Vec<Option<&str>> = world.job.phase.todos.all().iter().map(|todo| todo.outcome.as_deref()).collect();
    assert_eq!(outcomes, [Some("left open when the job ended"); 3]);
    assert_eq!(world.job.owed(), []);
}

#[test]
fn a_completion_completes_its_own_todo() {
    let mut world = World::new();
    world.in_review(true);
    world.play((0..2).map(|_| say([read_file("output/report.md"), done("x")]))).play([say([job_complete(0.9)])]);
    assert_eq!(world.status(), "completed");
    let last = world.job.phase.todos.all().last().unwrap();
    assert_eq!((last.content.as_str(), last.status), (LAST_REVIEW_TODO, TodoStatus::Completed));
    assert_eq!(world.job.past.last().unwrap().phase.todos.counts().completed, 3);
}

#[test]
fn what_was_not_shown_is_named_and_then_counts() {
    let mut spec = spec("", &[("north.md", 40), ("south.md", 60)]);
    spec.instructions.coverage = 1.0;
    let refused = |left: u32, parts: &str| {
        let checks = format!("- coverage: not shown yet: {parts}; read them with read_document");
        format!("Refused: {}", answer!("refused.checks_fail", left, checks))
    };
    let mut world = World::of(spec);
    world.in_review(true);
    world.play([say([
        read_document("north.md", 1, 40),
        read_document("south.md", 1, 20),
        read_document("south.md", 31, 60),
        job_complete(0.9),
    ])]);
    let seen_too_late = refused(2, "north.md lines 1-40; south.md lines 1-60");
    assert_eq!(world.results(1), [seen_too_late], "shown is only what the model has answered to");
    world.play([say([job_complete(0.9)])]);
    assert_eq!(world.results(1), [refused(1, "south.md lines 21-30")]);
    world.play([say([read_document("south.md", 21, 30)]), say([job_complete(0.9)])]);
    assert_eq!(world.status(), "completed");
}

#[test]
fn feedback_is_written_down_and_planned_for() {
    let mut world = World::with("review: required\n");
    world.in_review(false).play([say([job_complete(0.9)]), say([job_complete(0.9)]), say([job_complete(0.9)])]);
    world.files.insert("output/report.md".to_owned(), "All pumps ran well.".to_owned());
    world.play([say([job_complete(0.9)])]);
    assert!(world.is_held(HoldReason::Review), "{}", world.status());
    assert_eq!(world.command(Command::Resume { limits: world.job.limits }), 0, "a review is not resumed");
    let instructions = format!("{}\n\n## Feedback 1\n\nName the pumps.\n", world.files[INSTRUCTIONS_FILE]);
    assert_eq!(
        world.command(Command::Feedback { text: "Name the pumps.".to_owned(), instructions, by: "Anna".to_owned() }),
        1
    );
    world.play([]);
    assert!(world.files[INSTRUCTIONS_FILE].ends_with("## Feedback 1\n\nName the pumps.\n"));
    assert_eq!((world.job.refusals.counted, world.job.early_ends.in_all), (0, 0), "the counts begin anew");
    world.play([say([write_file(PLAN_FILE, &world.files[PLAN_FILE].clone())])]);
    let fault = "the feedback needs work; add at least one new phase";
    assert_eq!(world.results(1), [format!("Refused: {}", answer!("refused.plan_not_saved", fault))]);
    let plan = world.files[PLAN_FILE].replace(
        "## Phase 3: Final Review ← CURRENT",
        "## Phase 3: Name the pumps\n\n- [ ] Name them\n\n## Phase 4: Final Review",
    );
    world.play([say([write_file(PLAN_FILE, &plan), write_file("notes/names.md", "A and B"), done("named")])]);
    assert_eq!(world.job.phase.title, "Review");
}

#[test]
fn time_on_hold_is_no_time_of_work() {
    let mut spec = spec("", &[]);
    spec.instructions.limits = overnight_core::job::limits::Limits { wall_clock_ms: Some(5_000), ..Default::default() };
    let mut world = World::of(spec);
    world.play([say([read_file(INSTRUCTIONS_FILE)])]);
    world.command(Command::Hold { reason: HoldReason::Paused, detail: "lunch".to_owned() });
    world.wait_ms(3_600_000);
    world.command(Command::Resume { limits: world.job.limits });
    assert_eq!(world.job.totals.worked_ms, 2_000);
    world.play((0..9).map(|_| say([read_file("a")])));
    assert_eq!(world.job.totals.worked_ms, 6_000);
    assert_eq!(world.status(), "held limit: 5.0s of work are used; resume with --wall-clock TIME for more");
}

#[test]
fn a_held_or_ended_job_owes_nothing_and_hears_only_what_fits() {
    let mut world = World::new();
    world.in_phase_one();
    assert_eq!(world.command(approve()), 0);
    assert_eq!(world.command(Command::Hold { reason: HoldReason::Paused, detail: "x".to_owned() }), 1);
    assert_eq!(world.job.owed(), []);
    assert_eq!(world.command(Command::Hold { reason: HoldReason::Window, detail: "x".to_owned() }), 0);
    assert_eq!(world.command(Command::Cancel), 1);
    assert_eq!(world.status(), "cancelled: cancelled by a person");
    assert_eq!(world.job.ended().unwrap().status, JobStatus::Cancelled);
    for command in [
        Command::Cancel,
        approve(),
        Command::Resume { limits: world.job.limits },
        Command::Fail { reason: "x".to_owned() },
        Command::Open { version: "1".to_owned(), model: "x".to_owned(), torn_bytes: None },
    ] {
        assert_eq!(world.command(command), 0);
    }
    assert_eq!(world.job.owed(), []);
    assert_eq!(world.count(|event| matches!(event, Event::Life(LifeEvent::JobEnded { .. }))), 1);
}
