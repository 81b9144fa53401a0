//! The number of tokens that the result of a call may have: a share of the *room*, which is the budget minus system
//! prompt and tools. All results of one reply go into the next prompt, so the rest of their common share bounds each.

use super::measure::{counted_room, room};
use crate::job::{call::ReadCall, conversation::Conversation, spec::JobSpec};

/// Percent of the room for documents that the system reads for an opening, and for all results of a sub-agent's reply.
const GIVEN_PERCENT: u64 = 25;
/// Percent of the room that the history may fill, including the results of a reply of the job's own model.
const FILLED_PERCENT: u64 = 85;
/// Percent of the room for these results if less than a quarter is left: the epoch ends, and its successor shows them.
pub(super) const CARRIED_PERCENT: u64 = 45;
/// Percent of the room for one read of a document, and for one result of another tool.
const DOCUMENT_PERCENT: u64 = 20;
const OTHER_PERCENT: u64 = 10;
/// Percent of the room under which it isn't worth while to run one more call of a reply.
const LEAST_PERCENT: u64 = 2;
/// Percent by which a text may exceed its share and still be given whole: a second call would cost more.
const OVER_PERCENT: u64 = 15;

/// The bound of one call's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultBound {
    /// Tokens that a result of its kind may have.
    pub share: u64,
    /// Tokens that the results before it in the same reply leave.
    pub left: u64,
}

impl ResultBound {
    /// The bound of `call`, if it is made next in `conversation`.
    pub fn of(spec: &JobSpec, conversation: &Conversation, call: &ReadCall) -> Self {
        let percent = match call {
            // The documents that the system reads for the first opening are chosen so that they fit there.
            ReadCall::ReadDocument(_) if conversation.epoch.number == 0 => GIVEN_PERCENT,
            _ if call.is_of_document() => DOCUMENT_PERCENT,
            _ => OTHER_PERCENT,
        };
        Self { share: room(spec) * percent / 100, left: left(spec, conversation) }
    }

    /// The bound of a call with no results before it in its reply.
    pub fn alone(share: u64) -> Self {
        Self { share, left: u64::MAX }
    }

    /// Tokens of the result at most.
    pub fn most(self) -> u64 {
        self.share.min(self.left)
    }

    /// Tokens up to which a text is given whole.
    pub fn most_whole(self) -> u64 {
        (self.share + self.share * OVER_PERCENT / 100).min(self.left)
    }

    /// Whether the results before it, not its own share, set the bound.
    pub fn is_crowded(self) -> bool {
        self.left < self.share
    }
}

/// Tokens of one answer of a control tool.
pub(crate) fn answer_tokens(spec: &JobSpec) -> u64 {
    room(spec) * OTHER_PERCENT / 100
}

/// Tokens of one read of a document.
pub(crate) fn document_tokens(room: u64) -> u64 {
    room * DOCUMENT_PERCENT / 100
}

/// Tokens for documents that the system reads for an opening, and for all results of a sub-agent's reply.
pub fn given_tokens(spec: &JobSpec) -> u64 {
    room(spec) * GIVEN_PERCENT / 100
}

/// Tokens for all results of one reply; `held` is the size of the history before it.
pub(super) fn reply_tokens(room: u64, held: u64) -> u64 {
    let left = (room * FILLED_PERCENT / 100).saturating_sub(held);
    if left >= room * GIVEN_PERCENT / 100 { left } else { room * CARRIED_PERCENT / 100 }
}

/// Tokens that the results of the newest reply so far leave for its next result.
fn left(spec: &JobSpec, conversation: &Conversation) -> u64 {
    let unanswered = conversation.epoch.unanswered_tokens();
    let all = if conversation.is_own() && conversation.epoch.number > 0 {
        reply_tokens(counted_room(spec, conversation), conversation.epoch.tokens().saturating_sub(unanswered))
    } else {
        given_tokens(spec)
    };
    all.saturating_sub(unanswered)
}

/// Tokens of the results of a reply that stand in the next opening.
pub(crate) fn carried_tokens(spec: &JobSpec, conversation: &Conversation) -> u64 {
    counted_room(spec, conversation) * CARRIED_PERCENT / 100
}

/// Whether the results of the newest reply fit into the next opening.
pub(super) fn can_be_carried(spec: &JobSpec, conversation: &Conversation) -> bool {
    conversation.epoch.unanswered_tokens() <= carried_tokens(spec, conversation)
}

/// Whether the results of the newest reply leave no room that is worth another call.
pub fn is_full(spec: &JobSpec, conversation: &Conversation) -> bool {
    conversation.epoch.unanswered_tokens() > 0 && left(spec, conversation) < room(spec) * LEAST_PERCENT / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_before_it_bounds_a_result() {
        let bounds = [u64::MAX, 1_100, 1_000, 999, 0].map(|left| ResultBound { share: 1_000, left });
        assert_eq!(bounds.map(ResultBound::most), [1_000, 1_000, 1_000, 999, 0]);
        assert_eq!(bounds.map(ResultBound::most_whole), [1_150, 1_100, 1_000, 999, 0]);
        assert_eq!(bounds.map(ResultBound::is_crowded), [false, false, false, true, true]);
    }
}
