//! The result files: how they begin, and how the report ends.

use super::calls::{complete, documents, file, write};
use super::compare::{GAPS, POLICIES};
use super::plan::{AUDIT, EXTRACT, SUMMARISE, Task, sides};
use super::prompt_view::{ListedDocument, PromptView};
use super::state::{ReadingState, in_words};
use overnight_core::message::ToolCall;
use std::fmt::Write;

const HOW: &str = "## How this was made\n\nThis was made by rules, not by a language model, for texts in English. Sentences, \
    list items and table cells are found by their words and copied word for word; nothing in them was reworded. The rules look \
    at one sentence at a time: they do not weigh what it means in its context, do not follow references to documents that \
    were not among the inputs, and do not see contradictions between statements of the same document. What stands in code \
    and in quotations was left out on purpose, and so were headings. A sentence that a page break cuts is taken as it stands \
    there. Each entry names its document and the page or line where it stands, so that it can be looked up; whoever relies on \
    single entries should open the document at the place named. A language model reads the same documents with more \
    understanding; this shows how a job is done without one.\n";

/// The result files, empty, and the memory that says so.
pub(super) fn start(task: &'static Task) -> Vec<ToolCall> {
    let files = match task {
        _ if *task == EXTRACT => vec![
            (task.records, "{\"requirements\": [\n]}\n"),
            (task.report, "# Normative statements\n\n| document | statements | of these |\n|---|---|---|\n"),
        ],
        _ if *task == SUMMARISE => vec![
            (task.records, "{\"points\": [\n]}\n"),
            (task.report, "# Summary\n\nThe key sentences of each document, in the order of the text.\n"),
        ],
        _ => vec![(task.records, "{\"findings\": [\n]}\n"), (POLICIES, ""), (GAPS, ""), (task.report, "")],
    };
    let lines = files.iter().map(|(path, text)| ((*path).to_owned(), text.lines().count() as u64)).collect();
    let mut calls: Vec<ToolCall> = files.iter().map(|(path, text)| write(path, text)).collect();
    calls.extend([ReadingState { lines, ..ReadingState::default() }.save(), complete("the result files are there")]);
    calls
}

/// Ends the report, once; the first time with how it was made.
pub(super) fn work(view: &PromptView<'_>, task: &'static Task, is_first: bool) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    let mut state = ReadingState::recall(view)?;
    if state.document == task.report {
        return Ok(vec![complete("the report is written")]);
    }
    let documents = documents(view)?;
    let mut text = if *task == AUDIT { findings(view, &documents)? } else { String::new() };
    let _ = write!(text, "\n{} entries are in {}: {}.\n\n", state.entries, task.records, in_words(&state.totals));
    let unread: Vec<&ListedDocument> =
        documents.iter().filter(|one| one.units == 0 || !one.remarks.is_empty()).collect();
    if !unread.is_empty() {
        text.push_str("Not read:\n\n");
        text.extend(unread.iter().map(|one| format!("- {}: {}\n", one.name, one.remarks.replace("not read: ", ""))));
        text.push('\n');
    }
    if is_first {
        text.push_str(HOW);
    }
    let append = state.append(view, task.report, &text);
    // What is read last is the report: it is not written again.
    task.report.clone_into(&mut state.document);
    Ok(append.into_iter().chain([state.save(), complete("the report is written")]).collect())
}

/// What an audit found, the contradictions first; or the calls that show it.
fn findings(view: &PromptView<'_>, documents: &[ListedDocument]) -> Result<String, Vec<ToolCall>> {
    let (standards, policies) = sides(documents);
    let mut text = "# Policies against standards\n".to_owned();
    for (side, documents) in [("Standards", standards), ("Policies", policies)] {
        let names: Vec<String> = documents.into_iter().map(|document| document.name).collect();
        let _ = write!(text, "\n{side}, read to their end: {}.\n", names.join(", "));
    }
    if view.file(GAPS) == Err(None) {
        return Ok(text + "\nThe gaps are too many to be listed here.\n");
    }
    let gaps = file(view, GAPS)?;
    for verdict in ["contradicted", "missing", "partial"] {
        let found: Vec<&str> = gaps.lines().filter_map(|line| line.strip_prefix(verdict)).collect();
        let _ = write!(text, "\n## {} {verdict}\n\n", found.len());
        text.extend(found.iter().map(|line| format!("-{line}\n")));
    }
    Ok(text)
}
