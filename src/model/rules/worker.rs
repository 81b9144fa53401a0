//! What to do at each board, and calls as the rules make them.

use super::plan::{TodoKind, plan, step, task};
use super::prompt_view::{Board, ListedDocument, PromptView};
use super::state::{ReadingState, in_words};
use super::{reading, report};
use overnight_core::job::event::PlanStep;
use overnight_core::job::state::{INSTRUCTIONS_FILE, PLAN_FILE};
use overnight_core::message::ToolCall;
use serde_json::{Value, json};

/// The calls of the next reply.
pub(super) fn next(view: &PromptView<'_>) -> Vec<ToolCall> {
    answer(view).unwrap_or_else(|needed| needed)
}

/// The same; an error are calls that are needed first.
fn answer(view: &PromptView<'_>) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    match &view.board {
        // What is recorded from here on would hide what is missing.
        Board::Todo(..) | Board::Finish if let Some(refusal) = view.refusal() => {
            Err(vec![blocked(&format!("a result file can't be written: {refusal}"))])
        }
        Board::Todo(content, open) => match step(content) {
            Some(TodoKind::Start(task)) => Ok(report::start(task)),
            Some(TodoKind::Read(work, segments)) => reading::work(view, work, &segments),
            Some(TodoKind::Report(task)) => report::work(view, task),
            None if view.has_plan => Ok(looked(*open, "looked at").into()),
            None => new_plan(view, *open),
        },
        Board::Finish => finish(view),
        Board::Planning(PlanStep::UpdatePlan) if !view.has_plan => new_plan(view, 0),
        Board::Planning(PlanStep::UpdateMemory | PlanStep::UpdatePlan) => {
            Ok(vec![call("no_change", json!({"reason": "it holds"}))])
        }
        Board::Planning(PlanStep::CreateTodos) => {
            let steps = PromptView::next_steps(&file(view, PLAN_FILE)?);
            let todo = |step: &String| json!({"content": step, "active_form": format!("Working on: {step}")});
            Ok(vec![call("todo_write", json!({"todos": steps.iter().map(todo).collect::<Vec<Value>>()}))])
        }
        Board::Other => Ok(Vec::new()),
    }
}

/// The documents, or the call that lists more of them.
pub(super) fn documents(view: &PromptView<'_>) -> Result<Vec<ListedDocument>, Vec<ToolCall>> {
    let list = |from: u64| call("list_documents", json!({"from": from}));
    view.listing().map_err(|next| vec![next.map_or_else(|| too_long("the list of documents"), list)])
}

/// The text of a file that was read in this todo, or the call that reads on.
pub(super) fn file(view: &PromptView<'_>, path: &str) -> Result<String, Vec<ToolCall>> {
    view.file(path).map_err(|next| vec![next.map_or_else(|| too_long(path), |line| read(path, line))])
}

fn too_long(what: &str) -> ToolCall {
    blocked(&format!(
        "{what} is too long for these rules to keep it in sight: divide the documents among several jobs \
         (submit --each makes a job of each)"
    ))
}

/// Writes the plan once the task and the documents are in sight, and completes the todos of the bootstrap.
fn new_plan(view: &PromptView<'_>, open: usize) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    let (instructions, documents) = match (file(view, INSTRUCTIONS_FILE), documents(view)) {
        (Ok(instructions), Ok(documents)) => (instructions, documents),
        (one, other) => return Err(one.err().into_iter().chain(other.err()).flatten().collect()),
    };
    if documents.iter().all(|document| document.units == 0) {
        return Err(vec![blocked("none of the documents has readable text")]);
    }
    let task = task(&instructions).map_err(|reason| vec![blocked(&reason.to_string())])?;
    let mut calls = vec![write(PLAN_FILE, &plan(task, &documents))];
    calls.extend((1..=open).flat_map(|line| looked(line, "the plan is written, and each phase has its steps")));
    Ok(calls)
}

/// Completes a todo that asks for nothing new with a look at the plan: from another line each time, as a call that is
/// repeated with the same result is taken for going in circles.
fn looked(line: usize, outcome: &str) -> [ToolCall; 2] {
    [call("read_file", json!({"path": PLAN_FILE, "offset": line})), complete(outcome)]
}

/// `job_complete`: what is missing is for its checks to say.
fn finish(view: &PromptView<'_>) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    let state = ReadingState::recall(view)?;
    let (entries, totals) = (state.entries, in_words(&state.totals));
    let mut summary = format!("The offline rules read all readable text and recorded {entries} entries ({totals}).");
    if entries == 0 {
        summary.push_str(" They know English words only: must, shall, should, may, required and their like.");
    }
    let outputs: Vec<&String> = state.lines.keys().filter(|path| path.starts_with("output/")).collect();
    let notes = "Made by rules, without a language model: wording is exact, meaning was not weighed.";
    let end = json!({"summary": summary, "deliverables": outputs, "confidence": 0.8, "notes": notes});
    Ok(vec![call("job_complete", end)])
}

pub(super) fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall { id: String::new(), name: name.to_owned(), arguments }
}

pub(super) fn complete(outcome: &str) -> ToolCall {
    call("todo_complete", json!({"outcome": outcome}))
}

/// Ends the job for a reason that the rules can't mend.
pub(super) fn blocked(reason: &str) -> ToolCall {
    call("job_complete", json!({"summary": reason, "deliverables": [], "confidence": 0.0, "status": "blocked"}))
}

pub(super) fn write(path: &str, content: &str) -> ToolCall {
    call("write_file", json!({"path": path, "content": content}))
}

pub(super) fn read(path: &str, line: u64) -> ToolCall {
    call("read_file", json!({"path": path, "offset": line}))
}
