//! The runner's message before a model call: the opening of a new epoch, or the board with the newest result.

use crate::{
    amount::grouped,
    job::{
        event::{BoardKind, ConversationEvent, EpochCause, Event},
        state::{Job, Progress},
    },
    prompt::{
        bounds,
        compact::{self, Compaction, FRAME},
        measure, opening, todo_board,
    },
    tokens::estimate,
};
use std::fmt::Write;

impl Job {
    /// Whether a message is due: the opening of an epoch, or a board that was not shown yet.
    pub(super) fn has_word(&self) -> bool {
        if !self.own.epoch.is_complete() {
            return true;
        }
        if self.progress == Progress::Digesting {
            return self.compaction.forced.is_some();
        }
        match compact::owed(self) {
            Compaction::Due(_) | Compaction::NotDue => true,
            Compaction::None | Compaction::Digest => false,
        }
    }

    /// The runner's message before a model call: a new epoch if one is due, else the board with the newest result.
    pub(super) fn word_of_the_runner(&self) -> Event {
        let kind = match &self.progress {
            Progress::Planning(_) => BoardKind::Planning,
            Progress::Executing
            | Progress::Digesting
            | Progress::Archiving { .. }
            | Progress::Summarising { .. }
            | Progress::Examining { .. }
            | Progress::Closing { .. } => BoardKind::Todos,
        };
        let opening = |cause, digest| opening::event(self, cause, digest, measure::counted_room(&self.spec, &self.own));
        if self.progress == Progress::Digesting {
            let is_answered = !self.own.epoch.is_complete();
            let digest = self.own.epoch.last_reply().map(str::trim).filter(|text| is_answered && !text.is_empty());
            return opening(self.compaction.forced.unwrap_or(EpochCause::PhaseEnded), digest);
        }
        match compact::owed(self) {
            Compaction::Due(cause) => opening(cause, None),
            Compaction::NotDue => Event::Conversation(ConversationEvent::CompactionNotDue {
                prompt_tokens: measure::local_tokens(&self.own),
                document_tokens: self.spec.document_tokens(),
            }),
            due @ (Compaction::None | Compaction::Digest) => {
                let (board, tokens) = self.board(kind, due == Compaction::Digest);
                if compact::has_room(&self.spec, &self.own, tokens) { board } else { opening(EpochCause::Full, None) }
            }
        }
    }

    /// The board with the newest result, in full unless the epoch has it, or the request for a digest; and its tokens.
    fn board(&self, kind: BoardKind, is_digest: bool) -> (Event, u64) {
        let (kind, board) = if is_digest {
            (BoardKind::Digest, Some(todo_board::digest_request()))
        } else {
            (kind, Some(todo_board::render(self)).filter(|board| self.own.epoch.board() != Some(board)))
        };
        let mut line = todo_board::status_line(self);
        if compact::ends_next(&self.spec, &self.own) {
            let reply = grouped(bounds::carried_tokens(&self.spec, &self.own));
            let last_look =
                include_str!("../../../../instructions/runner/last_look.md").trim().replace("{{reply}}", &reply);
            let _ = write!(line, "\n<reminder>{last_look}</reminder>");
        }
        let tokens = FRAME + estimate(&line) + board.as_deref().map_or(0, estimate);
        (Event::Conversation(ConversationEvent::BoardShown { conversation: 0, kind, board, line, tokens }), tokens)
    }
}
