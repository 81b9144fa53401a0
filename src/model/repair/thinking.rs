//! Reasoning that leaked into the text: `<think>…</think>` before the answer.

/// The opening mark; if the end mark is missing, all that follows is reasoning, with nothing done.
pub(super) const OPEN: &str = "<think>";

/// The text without the reasoning at its beginning; `None` if there is none, or if it never ends.
pub(super) fn without(text: &str) -> Option<&str> {
    let (_, answer) = text.trim_start().strip_prefix(OPEN)?.split_once("</think>")?;
    Some(answer.trim_start())
}
