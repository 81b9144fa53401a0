//! `list_documents` and `read_document`. Document text is delimited and named as such: what stands in it is material.

use super::{
    ToolError,
    library::{Library, named},
};
use crate::{
    context::{
        catalogue::ReadDocument,
        fence::{mark_of, quoted},
        tokens::estimate,
    },
    job::{
        event::{CallEnd, Shown, ToolResult},
        state::Job,
    },
    workspace::Workspace,
};
use std::fmt::Write;

/// Every document with its length and the share that was read.
pub(super) fn list(job: &Job) -> ToolResult {
    let documents = &job.spec.documents;
    let tokens: u64 = documents.iter().map(|document| document.tokens).sum();
    let mut text = format!("{} documents, about {tokens} tokens:\n", documents.len());
    for document in documents {
        let share = job.coverage.share(document) * 100.0;
        let unit = document.unit();
        let _ = write!(
            text,
            "{} ({}, {} {unit}s, about {} tokens, {share:.0} % read)",
            document.name, document.format, document.units, document.tokens
        );
        if !document.notes.is_empty() {
            let _ = write!(text, " [{}]", document.notes.join("; "));
        }
        text.push('\n');
    }
    ToolResult::plain(CallEnd::Done, text.trim_end())
}

/// Pages or lines from `from` on, as many as `most` tokens hold.
pub(super) fn read(
    job: &Job,
    workspace: &Workspace,
    library: &mut Library,
    wanted: &ReadDocument,
    most: u64,
) -> Result<ToolResult, ToolError> {
    let document = named(&job.spec, &wanted.name)?;
    let unit = document.unit();
    if document.units == 0 {
        return Ok(ToolResult::plain(CallEnd::Done, format!("{} has no readable text.", document.name)));
    }
    let from = wanted.from.unwrap_or(1).max(1);
    let to = wanted.to.unwrap_or(document.units).min(document.units);
    if from > document.units {
        return Err(ToolError::Tell(format!(
            "{} ends at {unit} {}; ask for an earlier one",
            document.name, document.units
        )));
    }
    if from > to {
        return Err(ToolError::Tell(format!("from ({from}) lies after to ({to}); ask for from <= to")));
    }
    let text = library.text(workspace, document)?;
    let mut body = String::new();
    let mut tokens = 60;
    let mut last = from;
    for number in from..=to {
        let shown = if document.paged {
            format!("[page {number}]\n{}\n", text.range(number, number).trim_end_matches('\n'))
        } else {
            format!("{number}\t{}\n", text.range(number, number))
        };
        tokens += estimate(&shown);
        if tokens > most && number > from {
            break;
        }
        body.push_str(&shown);
        last = number;
    }
    let (mark, name) = (mark_of(&document.text_sha256), quoted(&document.name));
    let mut result = format!(
        "<document {mark} name={name} {unit}s=\"{from}-{last}\" of=\"{}\">\n{body}</document {mark}>\n",
        document.units
    );
    if last < document.units {
        let _ = write!(result, "To go on: read_document(name: {name}, from: {})", last + 1);
    } else {
        result.push_str("This is the end of the document.");
    }
    Ok(ToolResult {
        shown: Some(Shown { document: document.name.clone(), from, to: last }),
        ..ToolResult::plain(CallEnd::Done, result)
    })
}
