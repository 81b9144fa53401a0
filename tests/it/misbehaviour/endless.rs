//! Models that never get anywhere: silent, unknowing, repeating, rewinding. No script of theirs may take a job past its
//! limits, and the end says why it could not be done.

use super::trial::{Trial, complete, done, read, reply, text, todos, write};
use overnight_core::answer;
use serde_json::{Value, json};

/// The end of a job whose model repeats `replies` for ever.
fn end(replies: &[Value]) -> String {
    Trial::new().repeat(replies).end()
}

/// The ending of a job that was stuck again and again for the same reason, with the plan that the system wrote for it.
fn stuck(turns: u64, why: &str) -> String {
    format!("blocked after {turns} turns: re-planned too often: phase 1 stuck: {why} (4 times)")
}

const IDLE: &str = "25 turns on one todo without any change in the workspace and without new coverage";
const REPEATED: &str = "the same call gave the same result 5 times in 10 turns";
const MALFORMED: &str = "3 calls running had malformed arguments";

#[test]
fn no_tool_call_ever() {
    assert_eq!(end(&[text("Thinking.")]), stuck(110, IDLE));
    assert_eq!(end(&[text("")]), stuck(110, IDLE));
    let withheld = "held (paused) after 3 turns: the provider withheld 3 replies, one after the other: change the words of \
                    the instructions, name a `fallback`, or resume with another --model";
    assert_eq!(end(&[json!({"text": "I can't help with that.", "stop": "refused"})]), withheld);
}

#[test]
fn replies_that_are_always_cut() {
    let replies = [json!({"calls": [read("instructions.md")], "stop": "length"})];
    let trial = Trial::new();
    let rest = trial.repeat(&replies);
    assert_eq!(rest.end(), stuck(30, REPEATED));
    let cut = answer!("skipped.reply_cut");
    assert!(rest.results().iter().all(|result| result.text == cut));
}

#[test]
fn tools_that_do_not_exist() {
    assert_eq!(end(&[reply(&[json!({"launch_rocket": {"to": "moon"}})])]), stuck(30, REPEATED));
    // A new name each time is no repetition, and no work either.
    let names: Vec<Value> = (0..40).map(|number| reply(&[json!({ format!("tool_{number}"): {} })])).collect();
    assert_eq!(end(&names), stuck(110, IDLE));
    let trial = Trial::new();
    let rest = trial.repeat(&[reply(&[json!({"Read_File": {"path": "instructions.md"}})])]);
    assert_eq!(rest.end(), stuck(30, REPEATED));
    assert_eq!(rest.told(1)[0].1, "there is no tool named 'Read_File'; did you mean read_file?");
}

#[test]
fn arguments_that_can_not_be_read() {
    for malformed in [json!("instructions.md"), json!(["instructions.md"]), json!(7), json!(true), json!(null)] {
        assert_eq!(end(&[reply(&[json!({ "read_file": malformed })])]), stuck(21, MALFORMED));
    }
    for wrong in [json!({}), json!({"path": 7}), json!({"path": "instructions.md", "mode": "r"})] {
        assert_eq!(end(&[reply(&[json!({ "read_file": wrong })])]), stuck(30, REPEATED));
    }
}

#[test]
fn the_same_call_for_ever() {
    assert_eq!(end(&[reply(&[read("instructions.md")])]), stuck(27, REPEATED));
    assert_eq!(end(&[reply(&[read("instructions.md")]), reply(&[json!({"list_documents": {}})])]), stuck(43, REPEATED));
    assert_eq!(end(&[reply(&[write("output/report.md", "one two three")])]), stuck(27, REPEATED));
    assert_eq!(end(&[reply(&[json!({"add_note": {"text": "again"}})])]), stuck(30, REPEATED));
    assert_eq!(end(&[reply(&[todos(0)])]), stuck(36, REPEATED));
}

#[test]
fn todo_complete_and_nothing_else() {
    // Every todo is done without evidence, every planning step falls back, and the review is never completed.
    let why = format!("phase 3 stuck: {REPEATED} (4 times)");
    assert_eq!(end(&[reply(&[done()])]), format!("blocked after 44 turns: re-planned too often: {why}"));
}

#[test]
fn job_complete_before_the_review() {
    assert_eq!(end(&[reply(&[complete(&json!(1), &json!([]))])]), stuck(30, REPEATED));
    let fifty: Vec<Value> = (0..50).map(|_| complete(&json!(1), &json!([]))).collect();
    assert_eq!(end(&[reply(&fifty)]), stuck(11, &REPEATED.replace('5', "50")));
}

#[test]
fn rewinds_and_resets_without_end() {
    let rewound = "blocked after 13 turns: re-planned too often: phase 0 rewound: no; phase 1 rewound: no (4 times)";
    assert_eq!(end(&[reply(&[json!({"todo_rewind": {"issue": "no"}})])]), rewound);
    let reset = rewound.replace("rewound: ", "reset: ");
    assert_eq!(end(&[reply(&[json!({"archive_and_reset": {"reason": "no"}})])]), reset);
}

#[test]
fn a_todo_list_rewritten_for_ever() {
    // New todos each time, so that no todo ever grows old: the phase's own limit ends it.
    let rewrite = |round: usize| {
        let todos: Vec<Value> = (0..5)
            .map(|place| json!({"content": format!("Part {place} of {round}"), "active_form": "Working on it"}))
            .collect();
        reply(&[json!({"todo_write": {"todos": todos}})])
    };
    let replies: Vec<Value> = (0..1_000).map(rewrite).collect();
    let trial = Trial::with_task(&super::trial::TASK.replace("coverage: 0.0", "coverage: 0.0\nlimits: { turns: 300 }"));
    let rest = trial.repeat(&replies);
    assert_eq!(rest.end(), "held (limit) after 300 turns: 300 turns are used; resume with --turns N for more");
    assert!(rest.journal_bytes() < 20_000_000, "{} bytes of journal", rest.journal_bytes());
    assert!(rest.job.phase.todos.all().len() <= 300);
}
