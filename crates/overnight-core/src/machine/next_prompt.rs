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

/// Whether a message is due: the opening of an epoch, or a board that was not shown yet.
pub(super) fn has_word(job: &Job) -> bool {
    if !job.own.epoch.is_complete() {
        return true;
    }
    if job.progress == Progress::Digesting {
        return job.compaction.forced.is_some();
    }
    match compact::owed(job) {
        Compaction::Due(_) | Compaction::NotDue => true,
        Compaction::None | Compaction::Digest => false,
    }
}

/// The runner's message before a model call: a new epoch if one is due, else the board with the newest result.
pub(super) fn word_of_the_runner(job: &Job) -> Event {
    let kind = match &job.progress {
        Progress::Planning(_) => BoardKind::Planning,
        Progress::Executing
        | Progress::Digesting
        | Progress::Archiving { .. }
        | Progress::Summarising { .. }
        | Progress::Examining { .. }
        | Progress::Closing { .. } => BoardKind::Todos,
    };
    let opening = |cause, digest| opening::event(job, cause, digest, measure::counted_room(&job.spec, &job.own));
    if job.progress == Progress::Digesting {
        let is_answered = !job.own.epoch.is_complete();
        let digest = job.own.epoch.last_reply().map(str::trim).filter(|text| is_answered && !text.is_empty());
        return opening(job.compaction.forced.unwrap_or(EpochCause::PhaseEnded), digest);
    }
    match compact::owed(job) {
        Compaction::Due(cause) => opening(cause, None),
        Compaction::NotDue => Event::Conversation(ConversationEvent::CompactionNotDue {
            prompt_tokens: measure::local_tokens(&job.own),
            document_tokens: job.spec.document_tokens(),
        }),
        due @ (Compaction::None | Compaction::Digest) => {
            let (board, tokens) = board(job, kind, due == Compaction::Digest);
            if compact::has_room(&job.spec, &job.own, tokens) { board } else { opening(EpochCause::Full, None) }
        }
    }
}

/// The board with the newest result, in full unless the epoch has it, or the request for a digest; and its tokens.
fn board(job: &Job, kind: BoardKind, is_digest: bool) -> (Event, u64) {
    let (kind, board) = if is_digest {
        (BoardKind::Digest, Some(todo_board::digest_request()))
    } else {
        (kind, Some(todo_board::render(job)).filter(|board| job.own.epoch.board() != Some(board)))
    };
    let mut line = todo_board::status_line(job);
    if compact::ends_next(&job.spec, &job.own) {
        let reply = grouped(bounds::carried_tokens(&job.spec, &job.own));
        let last_look =
            include_str!("../../../../instructions/runner/last_look.md").trim().replace("{{reply}}", &reply);
        let _ = write!(line, "\n<reminder>{last_look}</reminder>");
    }
    let tokens = FRAME + estimate(&line) + board.as_deref().map_or(0, estimate);
    (Event::Conversation(ConversationEvent::BoardShown { conversation: 0, kind, board, line, tokens }), tokens)
}
