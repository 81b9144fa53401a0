//! `search_files`: ripgrep's own search over the workspace's files and the documents' text.

use super::{
    ToolError,
    files::{MOST_BYTES, glob, matches, parse},
    library::{Library, unit},
};
use crate::{
    context::{catalogue::SearchFiles, fence::fenced, tokens::head},
    documents::Unit,
    job::{
        event::{CallEnd, ToolResult},
        spec::DocumentEntry,
        state::Job,
    },
    workspace::Workspace,
};
use grep_regex::RegexMatcherBuilder;
use grep_searcher::{Searcher, SearcherBuilder, sinks::Lossy};
use std::fmt::Write;

/// Matches that a result shows; the rest is counted.
const MOST_MATCHES: usize = 100;
/// Tokens of one line shown.
const LINE_TOKENS: u64 = 120;

struct Hit {
    /// Its line is text of a document.
    is_material: bool,
    place: String,
    line: String,
}

/// Lines that match, with file (or document) and line.
pub(super) fn search(
    job: &Job,
    workspace: &Workspace,
    library: &mut Library,
    wanted: &SearchFiles,
) -> Result<ToolResult, ToolError> {
    let matcher = RegexMatcherBuilder::new()
        .case_smart(true)
        .line_terminator(Some(b'\n'))
        .size_limit(4 << 20)
        .build(&wanted.pattern)
        .map_err(|error| {
            ToolError::Tell(format!(
                "the pattern can't be read as a regular expression ({error}); escape special characters with \\"
            ))
        })?;
    let mut searcher = SearcherBuilder::new().line_number(true).build();
    let glob = wanted.glob.as_deref().map(glob).transpose()?;
    let mut hits = Vec::new();
    let mut total = 0;
    let mut look = |searcher: &mut Searcher, text: &str, is_material: bool, place: &dyn Fn(u64) -> String| {
        let found = searcher.search_slice(
            &matcher,
            text.as_bytes(),
            Lossy(|number, line| {
                total += 1;
                if hits.len() < MOST_MATCHES {
                    let line = head(line.trim(), LINE_TOKENS).to_owned();
                    hits.push(Hit { is_material, place: place(number), line });
                }
                Ok(true)
            }),
        );
        found.map_err(|error| ToolError::Tell(format!("the search failed ({error})")))
    };
    let path = parse(wanted.path.as_deref().unwrap_or("."))?;
    let named = path.as_str();
    let is_document_path = named == "documents" || named.starts_with("documents/");
    if path.is_root() || is_document_path {
        let wanted_name = named.strip_prefix("documents/").unwrap_or("");
        for document in &job.spec.documents {
            let inside = !is_document_path || is_below(&document.name, wanted_name);
            if inside
                && (matches(glob.as_ref(), &document.name)
                    || matches(glob.as_ref(), &format!("documents/{}", document.name)))
            {
                let text = library.text(workspace, document)?;
                look(&mut searcher, &text.whole, true, &|line| place_in(document, &text.whole, line))?;
            }
        }
    }
    if !is_document_path {
        let resolved = workspace.resolve_for_read(&path)?;
        let files: Vec<String> = if workspace.metadata(&resolved.path).is_ok() && resolved.path != "." {
            vec![resolved.path]
        } else {
            workspace.list(&resolved.path)?.into_iter().map(|entry| entry.path).collect()
        };
        for path in files.iter().filter(|path| is_searched(path) && matches(glob.as_ref(), path)) {
            // A file that isn't text, or is too large, has no lines to show.
            if let Ok(text) = workspace.read_text_at_most(path, MOST_BYTES) {
                let is_material = path.starts_with("tool_results/");
                look(&mut searcher, &text, is_material, &|line| format!("{path}:{line}"))?;
            }
        }
    }
    Ok(ToolResult::plain(CallEnd::Done, listed(&hits, total)))
}

/// The documents are searched by their text, and the runner's own record is no place to look for results.
fn is_searched(path: &str) -> bool {
    !path.starts_with("documents/") && !path.starts_with("archive/") && path != "journal.jsonl" && path != ".lock"
}

fn is_below(name: &str, folder: &str) -> bool {
    let folder = folder.strip_prefix(".text/").unwrap_or(folder);
    folder.is_empty()
        || name == folder
        || folder.strip_suffix(".txt") == Some(name)
        || name.starts_with(&format!("{folder}/"))
}

/// `spec.txt page 3 line 12`, or `spec.md:120` where there are no pages.
fn place_in(document: &DocumentEntry, text: &str, line: u64) -> String {
    match unit(document) {
        Unit::Line => format!("{}:{line}", document.name),
        Unit::Page => {
            let before: usize =
                text.split_inclusive('\n').take(usize::try_from(line - 1).unwrap_or(usize::MAX)).map(str::len).sum();
            let page = text[..before].matches('\u{c}').count() + 1;
            format!("{} page {page}", document.name)
        }
    }
}

fn listed(hits: &[Hit], total: usize) -> String {
    if total == 0 {
        return "No matches.".to_owned();
    }
    let mut text = format!("{total} matches:\n");
    for group in hits.chunk_by(|one, next| one.is_material == next.is_material) {
        let lines: String = group.iter().map(|hit| format!("{}: {}\n", hit.place, hit.line)).collect();
        if group[0].is_material {
            text.push_str(&fenced("lines=\"found\"", &lines));
        } else {
            text.push_str(&lines);
        }
    }
    if total > hits.len() {
        let _ = writeln!(text, "and {} more; narrow the pattern, the path or the glob", total - hits.len());
    }
    text.trim_end().to_owned()
}
