//! Decides when an epoch ends: by the size of the prompt, the budget, and whether the job fits in one piece.

use super::{
    bounds::{can_be_carried, given_tokens},
    measure::{as_local, local_tokens, room},
};
use crate::job::{
    conversation::Conversation,
    event::EpochCause,
    instructions::{CompactionPolicy, InlineDocuments, SummaryBy},
    spec::JobSpec,
    state::Job,
};

/// Percent of the budget at which an epoch ends.
const FULL_PERCENT: u64 = 70;
/// Percent of the room: a conversation up to this size since the last compaction is too small for another one.
const YOUNG_PERCENT: u64 = 5;
/// Percent of the room: above this size, a todo's end ends the epoch of a job that doesn't fit in one piece.
const LONG_PERCENT: u64 = 30;
/// For a job that is left in one piece: percent of the room that all its documents may have, and of the budget that its
/// prompt may have.
const FITTING_DOCUMENTS_PERCENT: u64 = 40;
const FITTING_PROMPT_PERCENT: u64 = 60;
/// Tokens of the markup around the text of a document.
const AROUND_TOKENS: u64 = 40;
/// Tokens that a message costs in addition to its text.
pub(crate) const FRAME: u64 = 4;

/// Whether the epoch can take `more` tokens before it is full. With only the opening in it, it can't get smaller.
/// Results that the job's own model has just requested may exceed the bound: they are shown once, then the epoch ends.
pub(crate) fn has_room(spec: &JobSpec, conversation: &Conversation, more: u64) -> bool {
    let budget = as_local(conversation, spec.budget_tokens);
    let tokens = local_tokens(conversation) + more;
    let unanswered = if conversation.is_own() { conversation.epoch.unanswered_tokens() } else { 0 };
    conversation.epoch.conversation_tokens() == 0
        || (tokens.saturating_sub(unanswered) <= budget * FULL_PERCENT / 100 && tokens <= budget)
}

/// Whether the epoch ends after the next reply, whatever that contains.
pub(crate) fn ends_next(spec: &JobSpec, conversation: &Conversation) -> bool {
    local_tokens(conversation) > as_local(conversation, spec.budget_tokens) * FULL_PERCENT / 100
}

/// Whether the documents leave enough room that the job needs no division: neither small phases nor compactions.
pub fn fits(spec: &JobSpec) -> bool {
    match spec.instructions.context.compact {
        CompactionPolicy::Auto => spec.document_tokens() <= room(spec) * FITTING_DOCUMENTS_PERCENT / 100,
        CompactionPolicy::Always => false,
    }
}

/// Whether the first opening has the text of all documents: it fits into the bound for documents that are given.
pub fn are_given(spec: &JobSpec) -> bool {
    let readable = spec.documents.iter().filter(|document| document.tokens > 0);
    let tokens: u64 = readable.map(|document| document.read_tokens() + AROUND_TOKENS).sum();
    let is_wanted =
        spec.instructions.context.inline == InlineDocuments::Auto && spec.instructions.readers.is_none() && fits(spec);
    is_wanted && tokens > 0 && tokens <= given_tokens(spec)
}

/// The step before the next prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compaction {
    /// The epoch goes on.
    None,
    /// A phase has ended, and the epoch goes on nevertheless.
    NotDue,
    /// The model writes the digest first.
    Digest,
    /// The epoch ends.
    Due(EpochCause),
}

/// The step that the state of the job's own epoch requires.
pub(crate) fn owed(job: &Job) -> Compaction {
    let own = &job.own;
    if own.epoch.number == 0 {
        return Compaction::Due(EpochCause::Begun);
    }
    if let Some(cause) = job.compaction.forced {
        return Compaction::Due(cause);
    }
    if !has_room(&job.spec, own, 0) {
        return Compaction::Due(EpochCause::Full);
    }
    // If a phase ended in the reply in which it began, planning comes first.
    if !job.is_executing() {
        return Compaction::None;
    }
    let (tokens, budget) = (local_tokens(own), as_local(own, job.spec.budget_tokens));
    let fits = fits(&job.spec);
    // Results that the model has requested are shown to it before the epoch ends.
    let is_shown_first = !can_be_carried(&job.spec, own);
    let said = own.epoch.conversation_tokens().saturating_sub(own.epoch.unanswered_tokens());
    if job.compaction.phase_ended {
        // If the history was cut shortly before for another reason, there is little to cut again.
        let is_young = job.spec.instructions.context.compact == CompactionPolicy::Auto
            && said <= room(&job.spec) * YOUNG_PERCENT / 100;
        let asks = job.spec.instructions.context.summary == SummaryBy::Model && !job.is_review();
        return match is_young || is_shown_first || (fits && tokens <= budget * FITTING_PROMPT_PERCENT / 100) {
            true => Compaction::NotDue,
            false if asks => Compaction::Digest,
            false => Compaction::Due(EpochCause::PhaseEnded),
        };
    }
    let is_long = own.epoch.conversation_tokens() > room(&job.spec) * LONG_PERCENT / 100;
    if job.compaction.todo_ended && !fits && is_long && !is_shown_first && !job.is_bootstrap() {
        return Compaction::Due(EpochCause::TodoEnded);
    }
    Compaction::None
}
