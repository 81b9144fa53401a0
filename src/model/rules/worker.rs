//! What to do at each board.

use super::calls::{blocked, call, complete, documents, write};
use super::plan::{EXTRACT, SENT_BACK, TodoKind, added, plan, step, task};
use super::prompt_view::{Board, ListedDocument, PromptView};
use super::state::{ReadingState, in_words};
use super::{reading, report};
use overnight_core::job::state::{MEMORY_FILE, PLAN_FILE};
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
        Board::Todo(content, open) => todo(view, content, *open),
        Board::Bootstrap => new_plan(view),
        Board::Finish => finish(view),
        Board::Planning(first, is_owed, lacks_todos) => {
            let mut calls = match first.as_str() {
                // A phase is wanted that no plan has.
                "" if *lacks_todos => vec![todo_write([SENT_BACK.to_owned()].into_iter())],
                _ => todo(view, first, 0).unwrap_or_else(|needed| needed),
            };
            if *is_owed && !calls.iter().any(|call| call.name == "write_file" && call.arguments["path"] == MEMORY_FILE)
            {
                calls.insert(
                    0,
                    call("append_file", json!({"path": MEMORY_FILE, "content": "\nThe next phase begins.\n"})),
                );
            }
            Ok(calls)
        }
        Board::Other => Ok(Vec::new()),
    }
}

/// What the todo `content` asks for; so many are open with it.
fn todo(view: &PromptView<'_>, content: &str, open: usize) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    match step(content) {
        Some(TodoKind::Start(task)) => Ok(report::start(task)),
        Some(TodoKind::Read(work, segments)) => reading::work(view, work, &segments),
        Some(TodoKind::Report(task)) => report::work(view, task, true),
        Some(TodoKind::Addition(task)) => report::work(view, task, false),
        Some(TodoKind::SentBack) => sent_back(view, content, open),
        None => Ok(looked(open, "looked at").into()),
    }
}

/// A person has sent the result back: documents that nobody has read become todos, and the report goes on behind its end.
fn sent_back(view: &PromptView<'_>, content: &str, open: usize) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    let is_new = |document: &ListedDocument| document.is_new && document.units > 0;
    let new: Vec<ListedDocument> = documents(view)?.into_iter().filter(is_new).collect();
    if new.is_empty() {
        return Ok(looked(open, "not done: these rules don't understand what a person writes").into());
    }
    let task = task(view.task()).map_err(|reason| vec![blocked(&reason.to_string())])?;
    let Some(steps) = added(task, &new) else {
        return Err(vec![blocked(
            "these rules weigh all documents against each other at once: make a new job of the old and the new documents",
        )]);
    };
    let mut state = ReadingState::recall(view)?;
    let heading = "\n## Added documents\n";
    let heading = match task {
        _ if *task == EXTRACT => format!("{heading}\n| document | statements | of these |\n|---|---|---|\n"),
        _ => heading.to_owned(),
    };
    let append = state.append(view, task.report, &heading);
    let todos = todo_write([content.to_owned()].into_iter().chain(steps));
    Ok(append.into_iter().chain([state.save(), todos, complete("they are to be read now")]).collect())
}

/// Writes the plan once the documents are in sight: that ends the bootstrap.
fn new_plan(view: &PromptView<'_>) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    let documents = documents(view)?;
    if documents.iter().all(|document| document.units == 0) {
        return Err(vec![blocked("none of the documents has readable text")]);
    }
    let task = task(view.task()).map_err(|reason| vec![blocked(&reason.to_string())])?;
    Ok(vec![write(PLAN_FILE, &plan(task, &documents))])
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

fn todo_write(todos: impl Iterator<Item = String>) -> ToolCall {
    let todos: Vec<Value> = todos.map(|todo| json!({"content": todo, "active_form": todo})).collect();
    call("todo_write", json!({ "todos": todos }))
}
