//! Scanned pages come first: all are transcribed side by side, and compared, before the job reads anything.

use crate::job::{
    conversation::{Conversation, HelperEnd, HelperRole},
    event::Event,
    state::Job,
};

/// Replies of a transcriber: one is enough; a model that calls tools which it doesn't have is told so.
const MOST_REPLIES: u64 = 3;

impl Job {
    /// Transcribers begin, one for each page that nobody has read.
    pub(super) fn owed_to_scans(&self) -> Option<Vec<Event>> {
        let roles = self.unread_pages();
        let start = |(number, role)| self.start_helper_as(number, role, "");
        (!roles.is_empty()).then(|| (self.helpers_begun + 1..).zip(roles).flat_map(start).collect())
    }

    /// The end of a transcriber, where its page is read, or can't be.
    pub(super) fn owed_by_transcriber(&self, helper: &Conversation) -> Option<Vec<Event>> {
        if helper.turns == 0 || !helper.calls.pending.is_empty() {
            return None;
        }
        if helper.effort.silent {
            let said = helper.epoch.last_reply().unwrap_or_default();
            let end = if helper.is_cut { HelperEnd::Unfinished } else { HelperEnd::Reported };
            return Some(self.end_helper(helper, end, said));
        }
        (helper.turns >= MOST_REPLIES).then(|| self.end_helper(helper, HelperEnd::TurnsUsed, ""))
    }

    /// Whether a helper only transcribes.
    pub(super) fn is_transcriber(helper: &Conversation) -> bool {
        matches!(helper.role, Some(HelperRole::Transcriber { .. }))
    }
}
