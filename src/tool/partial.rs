//! Messages for a call that returns only a part of what was requested, or nothing.

use super::ToolError;
use overnight_core::{
    amount::grouped,
    answer,
    job::event::{CallEnd, ToolResult},
    prompt::bounds::ResultBound,
};

/// The shown part of a text in tokens, and the reason: `(4,812 of 11,900 tokens: one read shows at most 5,000)`.
pub(super) fn in_part(shown: u64, of: u64, bound: ResultBound, numbers: &str) -> String {
    let (shown, of, most) = (grouped(shown), grouped(of), grouped(bound.most()));
    if bound.is_crowded() {
        answer!("part.crowded", shown, of, most, numbers)
    } else {
        answer!("part.bounded", shown, of, most, numbers)
    }
}

/// A read waits for the next reply if earlier results of this reply leave too little room for its smallest part.
pub(super) fn later(part: &str, tokens: u64, bound: ResultBound) -> ToolResult {
    let (left, tokens) = (grouped(bound.left), grouped(tokens));
    ToolResult::plain(CallEnd::Skipped, answer!("skipped.no_room", left, part, tokens))
}

/// Converts errors that the model can correct into a failed result; the rest stay errors.
pub(super) fn tell_model(result: Result<ToolResult, ToolError>) -> Result<ToolResult, ToolError> {
    result.or_else(|error| error.told().map_err(ToolError::Fatal))
}
