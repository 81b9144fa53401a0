//! The work for each todo.

use super::compare::{GAPS, found_gaps};
use super::plan::{REPORT, Task, read_until, steps};
use super::prompt_view::{ListedDocument, PromptView, blocked, call};
use super::state::{ReadingState, in_words};
use super::{reading, second_reader};
use overnight_core::job::state::{LAST_REVIEW_TODO, MEMORY_FILE, PLAN_FILE};
use overnight_core::job::tool::Tool;
use overnight_core::message::ToolCall;
use serde_json::{Value, json};
use std::fmt::Write;

/// The beginning of the bootstrap's todo.
const BOOTSTRAP: &str = "Write the plan";
const SENT_BACK: &str = "Look at what was sent back";
/// The beginning of a todo of the program that asks for the same.
const ADDRESS: &str = "Address: ";
const HOW: &str = "\n## How this was made\n\nThis was made by rules, not by a language model, for texts in English. Sentences, list \
    items and table cells are found by their words and copied word for word; nothing in them was reworded. The rules look at one \
    sentence at a time: they do not weigh what it means in its context, do not follow references to documents that were not \
    among the inputs, and do not see contradictions between statements of the same document. What stands in code, in quotations and \
    in headings was left out on purpose. A sentence that a page break cuts is taken as it stands there. Each entry names its \
    document and the page or line where it stands: whoever relies on single entries should open the document there. A language \
    model reads the same documents with more understanding; this shows how a job is done without one.\n\n";

/// The calls of the next reply.
pub(super) fn next(view: &PromptView<'_>) -> Vec<ToolCall> {
    if !view.has_tool(Tool::TodoComplete) {
        return second_reader::work(view).unwrap_or_else(|needed| needed);
    }
    let Some((todo, is_planned)) = view.todo() else { return Vec::new() };
    let calls = match todo {
        "" => Ok(vec![todo_write(&[SENT_BACK.to_owned()])]),
        _ if todo.starts_with(BOOTSTRAP) => begin(view),
        _ => go_on(view, todo),
    };
    // A phase begins once something was saved in the memory.
    let saved = is_planned.then(|| call(Tool::AppendFile, json!({"path": MEMORY_FILE, "content": "\n"})));
    saved.into_iter().chain(calls.unwrap_or_else(|needed| needed)).collect()
}

/// Continues a todo from the place stored in the memory; the error holds calls that are needed first.
fn go_on(view: &PromptView<'_>, todo: &str) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    if let Some(refusal) = view.refusal() {
        return Err(blocked(&format!("a result file can't be written: {refusal}")));
    }
    let mut state: ReadingState = serde_json::from_str(view.memory()?)
        .map_err(|_| blocked(&format!("{MEMORY_FILE} does not say any more how far the rules had come")))?;
    let (before, mut changes) = (save(&state), Vec::new());
    let then = work(view, &mut state, todo, &mut changes).unwrap_or_else(|needed| needed);
    let after = save(&state);
    // A reply's first call may be made twice, or alone, without the last one: in this order no change is made twice.
    let made = if before == after { Vec::new() } else { [vec![before], changes, vec![after]].concat() };
    Ok([made, then].concat())
}

/// Writes the empty result and the plan once the documents are in sight: that ends the bootstrap.
fn begin(view: &PromptView<'_>) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    let task = Task::of(view.opening).map_err(|reason| blocked(&reason))?;
    let reading = task.reading(&view.documents()?);
    if reading.is_empty() {
        return Err(blocked("none of the documents has readable text"));
    }
    let [records, list, report, title] = task.names();
    let mut plan = format!("# Execution Plan\n\n## Overview\n\nBy rules.\n\n## Phase 1: {title}\n\n");
    plan.extend(steps(&reading).iter().map(|step| format!("- [ ] {step}\n")));
    Ok(vec![
        write(records, &json!({list: []}).to_string()),
        write(report, &format!("# {title}\n\n")),
        save(&ReadingState::new(task)),
        write(PLAN_FILE, &plan),
    ])
}

/// Collects the `changes` of files that a todo asks for, and returns the calls that follow them.
fn work(
    view: &PromptView<'_>,
    state: &mut ReadingState,
    todo: &str,
    changes: &mut Vec<ToolCall>,
) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    let outcome = match (todo, read_until(todo)) {
        _ if todo == SENT_BACK || todo.starts_with(ADDRESS) => return send_back(view, state, todo),
        (LAST_REVIEW_TODO, _) => return Ok(vec![finish(state)]),
        (REPORT, _) => {
            report(view, state, changes)?;
            "the report is written".to_owned()
        }
        (_, Some(until)) => {
            let mut documents = view.documents()?;
            documents.retain(|one| state.added.is_empty() || state.added.iter().any(|name| name == one.name));
            let reading = state.task.reading(&documents);
            reading::work(view, state, &reading, until, changes)?;
            format!("{} entries so far", state.entries)
        }
        (_, None) => "left as it is: rules know only the steps of their own plan".to_owned(),
    };
    Ok(vec![call(Tool::ReadFile, json!({"path": PLAN_FILE})), call(Tool::TodoComplete, json!({"outcome": outcome}))])
}

/// A person has sent the result back: documents that have not been read become todos.
fn send_back(view: &PromptView<'_>, state: &mut ReadingState, todo: &str) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    let mut new = view.documents()?;
    new.retain(|document| document.line.contains(", 0 % shown)"));
    let reading = state.task.reading(&new);
    let mut todos = vec![todo.to_owned()];
    if !reading.is_empty() {
        if state.task == Task::Audit {
            let why = "these rules weigh all documents against each other at once";
            return Err(blocked(&format!("{why}: make a new job of the old and the new documents")));
        }
        todos.extend(steps(&reading));
        (state.read, state.is_reported) = (0, false);
        state.added = reading.into_iter().map(|one| one.name).collect();
    }
    let outcome = "rules read what is new, and understand nothing of what a person writes";
    Ok(vec![todo_write(&todos), call(Tool::TodoComplete, json!({"outcome": outcome}))])
}

/// Ends the report, once; the first time with how it was made.
fn report(view: &PromptView<'_>, state: &mut ReadingState, changes: &mut Vec<ToolCall>) -> Result<(), Vec<ToolCall>> {
    let ([records, _, report, _], documents) = (state.task.names(), view.documents()?);
    let mut text = match state.task {
        _ if state.is_reported => return Ok(()),
        Task::Extract | Task::Summarise => "\n".to_owned(),
        Task::Audit => match view.file(GAPS) {
            Err(needed) if needed[0].name != Tool::JobComplete.name() => return Err(needed),
            gaps => gaps
                .map_or_else(|_| "The gaps are too many to be listed here.\n\n".to_owned(), |gaps| found_gaps(&gaps)),
        },
    };
    let _ = write!(text, "{} entries are in {records}: {}.\n\n", state.entries, in_words(&state.totals));
    text += "All documents:\n\n";
    let reading = state.task.reading(&documents);
    for ListedDocument { name, line } in documents {
        let work = reading.iter().find(|other| other.name == name).map(|other| other.work.told());
        let remarks = line.split_once(" % shown)").unwrap_or_default().1;
        let _ = writeln!(text, "- {}: {name}{remarks}", work.unwrap_or("Not read"));
    }
    text += if state.added.is_empty() { HOW } else { "\n" };
    changes.push(call(Tool::AppendFile, json!({"path": report, "content": text})));
    state.is_reported = true;
    Ok(())
}

/// `job_complete`: its checks state what is missing.
fn finish(state: &ReadingState) -> ToolCall {
    let ([records, _, report, _], entries, totals) = (state.task.names(), state.entries, in_words(&state.totals));
    let english = " They know English words only: must, shall, should, may, required and their like.";
    let hint = if entries == 0 { english } else { "" };
    call(
        Tool::JobComplete,
        json!({
            "summary": format!("The offline rules read all readable text and recorded {entries} entries ({totals}).{hint}"),
            "deliverables": [records, report],
            "confidence": 0.8,
            "notes": "Made by rules, without a language model: wording is exact, meaning was not weighed.",
        }),
    )
}

fn todo_write(todos: &[String]) -> ToolCall {
    let todos: Vec<Value> = todos.iter().map(|todo| json!({"content": todo, "active_form": todo})).collect();
    call(Tool::TodoWrite, json!({ "todos": todos }))
}

fn write(path: &str, content: &str) -> ToolCall {
    call(Tool::WriteFile, json!({"path": path, "content": content}))
}

fn save(state: &ReadingState) -> ToolCall {
    // A plain tree of strings and numbers; writing it can't fail.
    write(MEMORY_FILE, &serde_json::to_string(state).unwrap_or_default())
}
