//! Calls that are too large, too deep or too many: each has its one result, bounded, and the work goes on.

use super::trial::{Trial, blocked, read, reply, write};
use overnight_core::{answer, job::event::CallEnd, tokens::estimate};
use serde_json::{Value, json};

/// Objects in objects.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!({ "a": inner }))
}

#[test]
fn arguments_nested_too_deeply_leave_the_journal_readable() {
    // The script's own reader takes no more than this.
    let replies = [reply(&[json!({"read_file": nested(60)}), json!({"read_file": nested(121)})]), blocked()];
    let trial = Trial::new();
    let rest = trial.play(&replies);
    let usage = "call it again with path (string), offset? (integer), limit? (integer)";
    assert_eq!(rest.end(), "blocked after 2 turns: It can't be done.");
    let told = rest.told(1);
    assert!(told[0].1.starts_with("unknown field `a`"), "{told:?}");
    assert_eq!(told[1].1, format!("the arguments of read_file are not a JSON object; {usage}"));
}

#[test]
fn what_a_model_says_too_much_of_is_not_repeated_to_it() {
    let long = "x".repeat(1_000_000);
    let calls = [
        json!({ long.as_str()[..1000]: {} }),
        read(&long),
        json!({"read_file": {"path": "a", long.as_str()[..1000]: 1}}),
        json!({"read_file": long}),
        json!({"read_document": {"name": long}}),
        json!({"search_files": {"pattern": format!("({long}")}}),
        json!({"list_files": {"glob": long}}),
        json!({"todo_list": {"status": long}}),
        json!({"edit_file": {"path": "a", "old": long, "new": long}}),
        json!({"job_complete": {"summary": long, "deliverables": [long], "confidence": long}}),
        json!({"todo_write": {"todos": [{"content": long, "active_form": long}]}}),
    ];
    for call in calls {
        let trial = Trial::new();
        let rest = trial.play(&[reply(&[call]), blocked()]);
        assert_eq!(rest.end(), "blocked after 2 turns: It can't be done.");
        let [(end, text)] = &rest.told(1)[..] else { panic!("not one result") };
        assert!(matches!(end, CallEnd::Refused | CallEnd::Failed), "{end:?} {text}");
        assert!(estimate(text) < 10_000 && text.contains(' '), "{} bytes: {text}", text.len());
        // The journal has what was said, and what it was understood as; what was answered hardly counts.
        assert!(rest.journal_bytes() < 4_100_000, "{} bytes of journal", rest.journal_bytes());
    }
}

#[test]
fn a_call_of_ten_megabytes_is_done_and_does_not_fill_the_prompt() {
    let content = "A line of a file that is far too long.\n".repeat(256_000);
    let replies = [reply(&[write("output/long.md", &content), read("output/long.md")]), blocked()];
    let trial = Trial::new();
    let rest = trial.play(&replies);
    assert_eq!(rest.end(), "blocked after 2 turns: It can't be done.");
    assert_eq!(rest.ends(1), [CallEnd::Done; 2]);
    assert_eq!(rest.read("output/long.md").len(), content.len());
    // The epoch has ended with it, and still the model is told how it came out.
    let opening = super::trial::text_of(&rest.prompts[1].messages[1]);
    let wrote = answer!("done.wrote", path = "output/long.md", amount = "9984000 bytes now");
    assert!(opening.contains(&wrote), "{opening}");
    assert!(opening.contains("output/long.md (lines 1-"), "{opening}");
}

#[test]
fn a_thousand_calls_in_one_reply_have_a_thousand_results() {
    let calls: Vec<Value> = (0..1_000).map(|_| read("instructions.md")).collect();
    let trial = Trial::new();
    let rest = trial.play(&[reply(&calls), blocked()]);
    assert_eq!(rest.end(), "blocked after 2 turns: It can't be done.");
    let ends = rest.ends(1);
    let done = ends.iter().filter(|end| **end == CallEnd::Done).count();
    assert_eq!(ends.len(), 1_000);
    // What doesn't fit the prompt is not run, for the model would never see it.
    assert!(ends[..done].iter().all(|end| *end == CallEnd::Done), "{ends:?}");
    assert!(ends[done..].iter().all(|end| *end == CallEnd::Skipped), "{ends:?}");
    assert!((50..800).contains(&done), "{done}");
    assert!(rest.journal_bytes() < 1_200_000, "{} bytes of journal", rest.journal_bytes());
}

#[test]
fn todos_rewritten_without_end_do_not_pile_up() {
    use super::trial::{PLAN, bootstrap};
    let write = |round: usize| {
        let todos: Vec<Value> = (0..20)
            .map(|place| {
                let content = format!("Do part {place} of round {round}");
                json!({"content": content, "active_form": content, "context": "c".repeat(10_000)})
            })
            .collect();
        json!({"todo_write": {"todos": todos}})
    };
    let rounds: Vec<Value> = (0..100).map(write).collect();
    let trial = Trial::new();
    let rest = trial.play(&[bootstrap(PLAN), reply(&rounds), blocked()]);
    assert_eq!(rest.end(), "blocked after 3 turns: It can't be done.");
    let told = rest.told(2);
    let done = told.iter().filter(|(end, _)| *end == CallEnd::Done).count();
    assert_eq!(told[done].1, answer!("refused.list_rewritten_too_often", todos = 305));
    assert_eq!(rest.job.past[1].phase.todos.all().len(), 285);
    assert!(rest.journal_bytes() < 50_000_000, "{} bytes of journal", rest.journal_bytes());
}

#[test]
fn a_memory_of_five_megabytes_is_a_file_and_no_prompt() {
    use super::trial::{PLAN, bootstrap, text_of, work};
    let task = super::trial::TASK.replace("inline: never", "compact: always");
    let trial = Trial::with_task(&task);
    let memory = "What was found, over and over again.\n".repeat(140_000);
    let list = || json!({"list_documents": {}});
    let replies = [bootstrap(PLAN), work(list()), reply(&[write("workspace.md", &memory), list()]), blocked()];
    let rest = trial.play(&replies);
    assert_eq!(rest.end(), "blocked after 4 turns: It can't be done.");
    assert_eq!(rest.read("workspace.md").len(), memory.len());
    let opening = text_of(&rest.prompts[3].messages[1]);
    assert!(opening.contains("[cut here; the whole is in workspace.md]") && estimate(opening) < 8_500, "{opening}");
}

/// A bound so wide that a slow machine holds it, and a blow-up doesn't: each phase's end reads the plan some times.
#[test]
fn a_plan_of_two_hundred_phases_is_worked_in_time() {
    use super::trial::{bootstrap, plan_of};
    let trial = Trial::new();
    let mut replies = vec![bootstrap(&plan_of(200))];
    let calls =
        ["main_plan.md", "workspace.md"].map(|path| json!({"append_file": {"path": path, "content": "Onwards.\n"}}));
    let work =
        || reply(&[calls[0].clone(), calls[1].clone(), json!({"list_documents": {}}), json!({"todo_complete": {}})]);
    replies.extend((0..12).map(|_| work()));
    replies.push(blocked());
    let rest = trial.play(&replies);
    assert_eq!(rest.end(), "blocked after 14 turns: It can't be done.");
    assert_eq!(rest.job.past.len(), 13);
    assert!(rest.journal_bytes() < 5_000_000, "{} bytes of journal", rest.journal_bytes());
}

#[test]
fn outcomes_and_notes_of_a_megabyte_are_cut() {
    let long = "word ".repeat(200_000);
    // One at a time: behind so long a call, nothing else of its reply is run.
    let calls = [
        json!({"list_documents": {}}),
        json!({"add_note": {"text": long}}),
        json!({"add_accomplishment": {"text": long}}),
        json!({"todo_complete": {"outcome": long}}),
        json!({"todo_rewind": {"issue": long}}),
    ];
    let mut replies: Vec<_> = calls.into_iter().map(|call| reply(&[call])).collect();
    replies.push(blocked());
    let trial = Trial::new();
    let rest = trial.play(&replies);
    assert_eq!(rest.end(), "blocked after 6 turns: It can't be done.");
    for path in ["progress.md", "workspace_summary.md"] {
        assert!(rest.read(path).len() < 15_000, "{path} has {} bytes", rest.read(path).len());
    }
    // Five megabytes were said; the cut texts are facts beside them.
    assert!(rest.journal_bytes() < 4_100_000, "{} bytes of journal", rest.journal_bytes());
}
