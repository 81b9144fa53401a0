//! Reasoning that leaked into the text: `<think>…</think>` before the answer.

/// How it begins; where it has no end, all that follows is thought, not done.
pub(super) const OPEN: &str = "<think>";

/// The text without the reasoning at its beginning; `None` where there is none, or where it never ends.
pub(super) fn without(text: &str) -> Option<&str> {
    let (_, answer) = text.trim_start().strip_prefix(OPEN)?.split_once("</think>")?;
    Some(answer.trim_start())
}
