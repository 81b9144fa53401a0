//! What is said where a call gives only a part of what was asked, or nothing.

use super::ToolError;
use overnight_core::{
    amount::grouped,
    job::event::{CallEnd, ToolResult},
    prompt::bounds::ResultBound,
};

/// How much of a text is shown, in tokens, and why no more of it: `(4,812 of 11,900 tokens: one read shows at most 5,000)`.
pub(super) fn in_part(shown: u64, of: u64, bound: ResultBound, numbers: &str) -> String {
    let (shown, of, most) = (grouped(shown), grouped(of), grouped(bound.most()));
    let why = if bound.is_crowded() {
        format!("the results before it in this reply left room for {most}{numbers}")
    } else {
        format!("one read shows at most {most} in this context{numbers}")
    };
    format!("({shown} of {of} tokens: {why})")
}

/// Where the results before it in a reply leave less room than its least part needs, a read waits for the next reply.
pub(super) fn later(part: &str, tokens: u64, bound: ResultBound) -> ToolResult {
    let text = format!(
        "not run: the results before it in this reply left room for {} tokens, and {part} has {}; call it again in the next \
         reply",
        grouped(bound.left),
        grouped(tokens)
    );
    ToolResult::plain(CallEnd::Skipped, text)
}

/// Makes what the model can correct a failed result; the rest stays an error.
pub(super) fn tell_model(result: Result<ToolResult, ToolError>) -> Result<ToolResult, ToolError> {
    result.or_else(|error| error.told().map_err(ToolError::Fatal))
}
