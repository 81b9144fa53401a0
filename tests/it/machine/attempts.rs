//! Attempts at a turn that bring no reply, and the budget before each call.

use super::world::*;
use overnight_core::{
    job::{
        failure::{Failure, FailureKind},
        limits::Limits,
        record::HoldReason,
    },
    machine::effect::{Command, EffectResult, Outcome},
    message::{Reply, Stop, Usage},
    prompt::{compose, measure::local_tokens},
};
use serde_json::json;
use std::sync::Arc;

fn failure(kind: FailureKind) -> Outcome {
    Outcome::Failed { failure: Failure::new(kind, "the server says so").with_status(500), wait_ms: 250 }
}

#[test]
fn failed_attempts_are_counted_until_a_reply_comes_and_cost_no_turn() {
    let mut world = World::new();
    world.in_phase_one().skip_log();
    let before = world.job.totals;
    for _ in 0..3 {
        world.answer_with(failure(FailureKind::Server));
    }
    assert_eq!((world.job.own.attempts.failed, world.job.totals.spent), (3, before.spent));
    world.play([say([write_file("notes/a.md", "x")])]);
    world.answer_with(failure(FailureKind::RateLimited));
    assert_eq!(
        world.log(),
        "turn 2, attempt 1: server
turn 2, attempt 2: server
turn 2, attempt 3: server
turn 2: write_file
  started
  write_file Done: write_file notes/a.md (1 bytes now).
board Todos
turn 3, attempt 1: rate_limited
"
    );
}

#[test]
fn a_prompt_that_is_too_long_is_made_shorter_once_and_the_job_is_held_after_four() {
    let mut world = World::new();
    world.page_letters = 4_000;
    world.in_phase_one();
    for page in 1..=8 {
        world.play([say([read_document("north.md", page, page)])]);
    }
    let before = local_tokens(world.at_work());
    world.answer_with(failure(FailureKind::ContextLength));
    let after = local_tokens(world.at_work());
    assert!(after < before * 6 / 10, "{before} -> {after}");
    for _ in 0..3 {
        assert!(world.job.is_running());
        world.answer_with(failure(FailureKind::ContextLength));
    }
    assert_eq!(local_tokens(world.at_work()), after, "never a loop");
    world.answer_with(failure(FailureKind::ContextLength));
    assert_eq!(world.job.job_status().1, Some(HoldReason::Limit));
}

/// Without it the prompt would be hardly shorter, and the model would never see what it asked for.
#[test]
fn a_small_result_that_the_model_has_not_seen_outlasts_a_prompt_that_is_too_long() {
    let mut world = World::new();
    world.page_letters = 800;
    world.in_phase_one();
    for page in 1..=3 {
        world.play([say([read_document("north.md", page, page)])]);
    }
    world.answer_with(failure(FailureKind::ContextLength));
    let prompt = world.prompt();
    let seen = [1, 2, 3].map(|page| prompt.contains(&format!("lines=\"{page}-{page}\">\nThe pump ran")));
    assert_eq!((world.job.own.epoch.number, seen), (2, [false, false, true]), "{prompt}");
}

/// What goes back to the vendor beside the texts.
fn sent_back(world: &World) -> String {
    serde_json::to_string(&compose::prompt(world.at_work())).unwrap()
}

#[test]
fn a_history_that_is_refused_for_its_reasoning_is_begun_anew() {
    let mut world = World::new();
    let thinking = |path: &str, thought: &str| {
        let carried = Some(Arc::new(json!({"anthropic": [{"type": "thinking", "signature": thought}]})));
        Reply { carried, ..say([write_file(path, "x")]) }
    };
    world.in_phase_one().play([thinking("notes/a.md", "seal-1"), thinking("notes/b.md", "seal-2")]);
    let sent = |world: &World| ["seal-1", "seal-2", "seal-3"].map(|thought| sent_back(world).contains(thought));
    assert_eq!(sent(&world), [true, true, false]);
    world.answer_with(failure(FailureKind::HistoryRefused));
    assert_eq!((sent(&world), world.job.own.epoch.number, world.job.is_running()), ([false; 3], 2, true));
    world.play([thinking("notes/c.md", "seal-3")]);
    assert_eq!(sent(&world), [false, false, true]);
    for is_running in [true, false] {
        world.answer_with(failure(FailureKind::HistoryRefused));
        assert_eq!((sent(&world), world.job.is_running()), ([false; 3], is_running));
    }
    assert_eq!(world.job.job_status().1, Some(HoldReason::Paused));
}

#[test]
fn replies_that_are_withheld_hold_the_job_after_three_in_a_row() {
    let mut world = World::new();
    let withheld = || Reply { stop: Stop::Refused, text: "I cannot.".to_owned(), ..say([]) };
    world.in_phase_one().play([withheld(), withheld(), say([write_file("notes/a.md", "x")]), withheld(), withheld()]);
    assert!(world.job.is_running());
    world.play([withheld()]);
    assert!(world.is_held(HoldReason::Paused));
    world.command(Command::Resume { limits: world.job.limits });
    world.play([withheld(), withheld()]);
    assert!(world.job.is_running());
}

#[test]
fn replies_that_cant_be_read_hold_the_job_after_three_in_a_row_and_are_no_outage() {
    for kind in [FailureKind::Malformed, FailureKind::Unfinished] {
        let mut world = World::new();
        world.in_phase_one();
        for kind in [kind, kind, FailureKind::Server, kind, kind] {
            world.answer_with(failure(kind));
            assert!(world.job.is_running());
        }
        world.answer_with(failure(kind));
        assert!(world.is_held(HoldReason::Paused));
        world.command(Command::Resume { limits: world.job.limits });
        world.answer_with(failure(kind));
        assert!(world.job.is_running());
    }
}

#[test]
fn what_a_person_must_mend_holds_the_job() {
    for kind in [FailureKind::KeyRefused, FailureKind::NotFound, FailureKind::QuotaUsed, FailureKind::BadRequest] {
        let mut world = World::new();
        world.in_phase_one().answer_with(failure(kind));
        assert_eq!(world.job.job_status().1, Some(HoldReason::Paused), "{kind}");
    }
}

#[test]
fn a_job_that_waits_for_its_server_hears_probes_pauses_and_the_way_on_and_nothing_else() {
    let mut world = World::new();
    world.in_phase_one();
    world.command(Command::Hold { reason: HoldReason::Outage, detail: "the server is down".to_owned() });
    assert!(world.job.is_out());
    world.skip_log().answer_with(failure(FailureKind::Unreachable));
    assert_eq!(world.command(Command::Hold { reason: HoldReason::Outage, detail: String::new() }), 0);
    assert_eq!(world.job.decide(world.job.last_at, world.next_id(), Outcome::Done(EffectResult::Now)), []);
    world.command(Command::Resume { limits: world.job.limits });
    assert_eq!(world.job.own.attempts.failed, 0);
    world.command(Command::Hold { reason: HoldReason::Outage, detail: "down again".to_owned() });
    world.command(Command::Hold { reason: HoldReason::Paused, detail: "paused by a person".to_owned() });
    assert_eq!(world.job.job_status().1, Some(HoldReason::Paused));
    assert_eq!(world.job.decide(world.job.last_at, world.next_id(), failure(FailureKind::Server)), []);
}

#[test]
fn the_next_call_has_to_fit_in_the_budget() {
    let mut world = World::new();
    world.cost_usd = Some(0.5);
    world.in_phase_one();
    let spent = world.job.totals.spent;
    assert_eq!((spent.turns, spent.cost_usd), (1, 0.5));
    let expected = world.job.expected_call(&world.job.own);
    assert_eq!(expected, Usage { input: local_tokens(world.at_work()), output: 50, ..Usage::default() });
    let tokens = expected.input + expected.output;
    let with = |tokens, cost_usd| Limits { tokens, cost_usd, ..Limits::default() };
    for (limits, told) in [
        (with(None, None), None),
        (with(Some(spent.tokens() + tokens), Some(1.0)), None),
        (
            with(Some(spent.tokens() + tokens - 1), None),
            Some(format!(
                "{} of {} tokens are used, and the next call needs about {tokens}; resume with --tokens N for more",
                spent.tokens(),
                spent.tokens() + tokens - 1
            )),
        ),
        (
            with(None, Some(0.99)),
            Some(
                "0.5000 of 0.99 USD are used, and the next call costs about 0.5000; resume with --cost USD for more"
                    .to_owned(),
            ),
        ),
    ] {
        world.command(Command::Resume { limits });
        let over = |cost| world.job.over_budget(&expected, cost).map(|cause| cause.to_string());
        assert_eq!(over(Some(0.5)), told);
        assert_eq!(over(None), told.filter(|told| told.contains("tokens")));
    }
}
