//! The errors of a plan: one sentence each, with the line, what is wrong there and what was expected. Lines are those
//! of the text that was given to [`Plan::parse`](super::Plan::parse), counted from 1.

use super::{MAX_BYTES, MAX_PHASES, MAX_TITLE};

/// Why a text is not taken as a plan, or not as the next version of a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant has its sentence")]
pub enum PlanError {
    #[error(
        "line {line}: no phase found in {lines} lines; expected headings like `## Phase 1: Title`, each followed by steps like `- [ ] step`"
    )]
    NoPhases { line: usize, lines: usize },
    #[error("line {line}: phase {number} is already on line {first}; expected every phase number once, in order")]
    NumberTwice { line: usize, first: usize, number: u32 },
    #[error(
        "line {line}: phase {number} comes after phase {previous} of line {previous_line}; expected the phases in the order in which they are worked, numbered from 1"
    )]
    OutOfOrder { line: usize, number: u32, previous: u32, previous_line: usize },
    #[error("line {line}: this is phase {count}; expected at most {MAX_PHASES} phases, so join small ones")]
    TooManyPhases { line: usize, count: usize },
    #[error(
        "line {line}: the phase's title has {chars} characters; expected at most {MAX_TITLE}, with the details below the heading"
    )]
    TitleTooLong { line: usize, chars: usize },
    #[error("line 1: the plan has {bytes} bytes; expected at most {MAX_BYTES}")]
    TooLong { bytes: usize },
    #[error("line {line}: phase {number} has no title; expected `## Phase {number}: Title`")]
    NoTitle { line: usize, number: u32 },
    #[error(
        "line {line}: '{text}' can't be read as a phase; expected a heading like `## Phase 1: Title`, with its number"
    )]
    NotNamed { line: usize, text: String },
    #[error("line {line}: the code or HTML that begins here is not closed; expected its end in the plan")]
    NotClosed { line: usize },
    #[error("line 1: the plan can't be read; expected phases as `## Phase 1: Title` with flat lists of steps")]
    NotRead,
    #[error(
        "line {line}: phase {number} '{title}' is complete and can't be changed, but {change}; expected it exactly as it was"
    )]
    CompletedChanged { line: usize, number: u32, title: String, change: String },
    #[error(
        "line {line}: phase {number} '{title}' is complete and is missing here; expected all completed phases to stay in the plan"
    )]
    CompletedMissing { line: usize, number: u32, title: String },
    #[error(
        "line {line}: phase {number} '{title}' is marked complete, but it has not been worked; expected the mark to be left to the system"
    )]
    NotWorked { line: usize, number: u32, title: String },
}
