//! `read_file` and `list_files`.

use super::{
    ToolError,
    partial::{in_part, later},
};
use crate::workspace::{Folder, KnownPath, ModelPath, Workspace};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use overnight_core::{
    answer,
    job::{
        arguments::{ListFiles, ReadFile},
        event::{CallEnd, ToolResult},
        time::moment,
    },
    prompt::{
        bounds::ResultBound,
        fence::{fenced, quoted},
    },
    tokens::{estimate, head, quarters},
};
use std::fmt::Write;

/// Bytes of the largest file that a model's tool opens.
pub(super) const MOST_BYTES: u64 = 64 << 20;
/// Bytes of a glob.
const MOST_GLOB_BYTES: usize = 1_000;
/// Files that a listing names; the rest is counted.
const MOST_LISTED: usize = 200;

/// Tokens of the lines around a file's text, beside its path.
const FRAME_TOKENS: u64 = 90;

/// Numbered lines of a file.
struct NumberedLines {
    body: String,
    last: u64,
    /// A line was too long to be shown whole.
    is_cut: bool,
}

/// The lines from `offset` to `to`, as many as `most` tokens hold, at least one.
fn numbered(text: &str, (offset, to): (u64, u64), most: u64) -> NumberedLines {
    let mut lines = NumberedLines { body: String::new(), last: offset, is_cut: false };
    let mut spent = 0;
    let first = usize::try_from(offset - 1).unwrap_or(usize::MAX);
    for (number, line) in (offset..=to).zip(text.lines().skip(first)) {
        let shown = head(line, most.saturating_sub(8));
        let numbered = format!("{number}\t{shown}\n");
        spent += quarters(&numbered);
        if number > offset && spent.div_ceil(4) > most {
            break;
        }
        lines.is_cut |= shown.len() < line.len();
        lines.body.push_str(&numbered);
        lines.last = number;
    }
    lines
}

/// Numbered lines from `offset` on, as many as the bound allows.
pub(super) fn read(workspace: &Workspace, wanted: &ReadFile, bound: ResultBound) -> Result<ToolResult, ToolError> {
    let path = parse(&wanted.path)?;
    let resolved = workspace.resolve_for_read(&path)?;
    let text = workspace.read_text_at_most(&resolved.path, MOST_BYTES)?;
    let lines = text.lines().count() as u64;
    let path = quoted(&resolved.path);
    if lines == 0 {
        return Ok(ToolResult::plain(CallEnd::Done, answer!("file.empty", path = resolved.path)));
    }
    let offset = wanted.offset.unwrap_or(1).max(1);
    if offset > lines {
        return Err(ToolError::Tell(answer!("file.ends", path = resolved.path, lines)));
    }
    let limit = wanted.limit.unwrap_or(u64::MAX).max(1);
    let to = offset.saturating_add(limit - 1).min(lines);
    let frame = FRAME_TOKENS + 2 * estimate(&path);
    let mut shown = numbered(&text, (offset, to), bound.most_whole().saturating_sub(frame));
    if shown.last < to || shown.is_cut {
        shown = numbered(&text, (offset, to), bound.most().saturating_sub(frame));
    }
    if shown.is_cut && shown.last == offset && bound.is_crowded() {
        let line = text.lines().nth(usize::try_from(offset - 1).unwrap_or(usize::MAX)).unwrap_or_default();
        return Ok(later(&format!("line {offset}"), estimate(line), bound));
    }
    let mut body = shown.body;
    let last = shown.last;
    if holds_documents(resolved.known) {
        body = fenced(&format!("file={path}"), &body);
    }
    let mut result = format!("{} (lines {offset}-{last} of {lines}):\n{body}", resolved.path);
    if shown.is_cut {
        result.push_str(&answer!("file.long_line"));
        result.push(' ');
    }
    if last < to {
        let all = text_lines(&text, offset, to);
        let part = in_part(estimate(text_lines(&text, offset, last)), estimate(all), bound, NUMBERS);
        let limit = wanted.limit.map(|_| format!(", \"limit\": {}", to - last)).unwrap_or_default();
        let what = format!("Lines {offset}-{last} of {}", asked_for((offset, to), lines));
        let call = format!("read_file({{\"path\": {path}, \"offset\": {}{limit}}})", last + 1);
        result.push_str(&answer!("part.shown", what, part, call));
    } else if last == lines {
        result.push_str(&answer!("file.end"));
    }
    result.truncate(result.trim_end_matches('\n').len());
    Ok(ToolResult::plain(CallEnd::Done, result))
}

/// The additional content of a limit on numbered lines.
pub(super) const NUMBERS: &str = ", line numbers included";

/// The whole that a part was shown of: `8`, or `the 4-9 asked for`, where these don't reach to the end of all `units`.
pub(super) fn asked_for((from, to): (u64, u64), units: u64) -> String {
    if to == units { units.to_string() } else { format!("the {from}-{to} asked for") }
}

/// These lines of a text, both included.
pub(super) fn text_lines(text: &str, from: u64, to: u64) -> &str {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes());
    let place = |line: u64| usize::try_from(line).unwrap_or(usize::MAX);
    let start = if from == 1 { 0 } else { ends.nth(place(from - 2)).map_or(text.len(), |end| end + 1) };
    let end = ends.nth(place(to - from)).unwrap_or(text.len());
    text.get(start..end).unwrap_or_default()
}

/// Whether what is read there is text of documents: that of the documents themselves, or of long results that show it.
fn holds_documents(known: KnownPath) -> bool {
    match known {
        KnownPath::Under(Folder::Documents | Folder::ToolResults) => true,
        KnownPath::Under(Folder::Assets | Folder::Archive | Folder::Output)
        | KnownPath::Plan
        | KnownPath::Memory
        | KnownPath::Instructions
        | KnownPath::Summary
        | KnownPath::Progress
        | KnownPath::Todos
        | KnownPath::Quotes
        | KnownPath::Findings
        | KnownPath::Journal
        | KnownPath::JobFile
        | KnownPath::Lock
        | KnownPath::Other => false,
    }
}

/// Files below a folder with size and time.
pub(super) fn list(workspace: &Workspace, wanted: &ListFiles) -> Result<ToolResult, ToolError> {
    let path = parse(wanted.path.as_deref().unwrap_or("."))?;
    let resolved = workspace.resolve_for_read(&path)?;
    let glob = wanted.glob.as_deref().map(glob).transpose()?;
    let entries = workspace.list(&resolved.path)?;
    let fitting: Vec<_> = entries.iter().filter(|entry| matches(glob.as_ref(), &entry.path)).collect();
    if fitting.is_empty() {
        return Ok(ToolResult::plain(CallEnd::Done, answer!("file.none")));
    }
    let mut text = format!("{} files:\n", fitting.len());
    for entry in fitting.iter().take(MOST_LISTED) {
        let _ = writeln!(text, "{}  {} bytes  {}", entry.path, entry.bytes, moment(entry.modified));
    }
    if fitting.len() > MOST_LISTED {
        let _ = writeln!(text, "{}", answer!("file.more", number = fitting.len() - MOST_LISTED));
    }
    Ok(ToolResult::plain(CallEnd::Done, text.trim_end()))
}

pub(super) fn parse(path: &str) -> Result<ModelPath, ToolError> {
    ModelPath::parse(path).map_err(|error| ToolError::Tell(error.to_string()))
}

/// `*.md` means any file of that name, `output/*.md` a path from the workspace on.
pub(super) fn glob(pattern: &str) -> Result<GlobSet, ToolError> {
    let cut = pattern.floor_char_boundary(MOST_GLOB_BYTES);
    if cut < pattern.len() {
        let begin = &pattern[..pattern.floor_char_boundary(80)];
        return Err(ToolError::Tell(answer!("glob.too_long", begin, most = MOST_GLOB_BYTES)));
    }
    let whole = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    // A set, because a single glob panics if its regular expression grows too large.
    GlobBuilder::new(&whole)
        .literal_separator(true)
        .build()
        .and_then(|glob| GlobSetBuilder::new().add(glob).build())
        .map_err(|error| ToolError::Tell(answer!("glob.unreadable", glob = pattern, error)))
}

pub(super) fn matches(glob: Option<&GlobSet>, path: &str) -> bool {
    glob.is_none_or(|glob| glob.is_match(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_is_read_or_refused_in_a_sentence() {
        let said = |pattern: &str| match glob(pattern) {
            Ok(glob) => format!("{} {}", glob.is_match("output/a.md"), glob.is_match("b.json")),
            Err(error) => error.to_string(),
        };
        assert_eq!(said("*.md"), "true false");
        assert_eq!(said("{*.json,output/*}"), "true true");
        let error =
            "error parsing glob '**/{a,b': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)";
        assert_eq!(said("{a,b"), answer!("glob.unreadable", glob = "{a,b", error));
        let begin = "{".repeat(80);
        assert_eq!(said(&"{".repeat(2_000_000)), answer!("glob.too_long", begin, most = 1000));
        // None of these may panic or take long.
        for pattern in ["?", "[!a]", "{?,[!b]*}", "**/", "{{?,?},", "é*"] {
            let _ = glob(&pattern.repeat(1_000 / pattern.len()));
        }
    }
}
