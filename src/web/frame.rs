//! The common parts of all pages: the frame around them, and the format of states, amounts and times.

use super::{WebError, access::Visitor, state::WebState};
use crate::{
    report::facts::JobStanding,
    store::{JobRow, Role},
};
use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use overnight_core::job::{record::HoldReason, time::Timestamp};

/// The data above every page.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Nothing can be reviewed or done.
    pub(super) read_only: bool,
    /// Nothing can be submitted, and no actions on jobs are possible.
    pub(super) only_reviews: bool,
    /// The person who acts; `None` if the proxy names no one.
    pub(super) reviewer: Option<String>,
    pub(super) form_token: String,
    minute: fn(Timestamp) -> String,
}

/// A state as a page shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StateBadge {
    pub(super) word: String,
    /// The class of its colour.
    pub(super) tone: &'static str,
}

/// A moment as a page shows it.
#[derive(Clone, Debug)]
pub(super) struct ShownTime {
    pub(super) machine: String,
    pub(super) person: String,
}

impl Frame {
    pub(super) fn of(state: &WebState, visitor: &Visitor) -> Self {
        Self {
            read_only: !visitor.may(Role::Reviewer),
            only_reviews: !visitor.may(Role::Operator),
            reviewer: visitor.name.clone(),
            form_token: visitor.form_token.clone(),
            minute: state.config.minute,
        }
    }

    pub(super) fn time(&self, at: Timestamp) -> ShownTime {
        ShownTime { machine: at.to_string(), person: (self.minute)(at) }
    }
}

impl StateBadge {
    pub(super) fn of(row: &JobRow, interrupted: bool) -> Self {
        Self::new(JobStanding::of(row.state.status, interrupted), row.state.hold_reason)
    }

    pub(super) fn new(standing: JobStanding, hold: Option<HoldReason>) -> Self {
        let tone = match standing {
            JobStanding::Completed => "good",
            JobStanding::Partial | JobStanding::Blocked | JobStanding::Held | JobStanding::Interrupted => "doubt",
            JobStanding::Failed => "bad",
            JobStanding::Running | JobStanding::Waiting => "busy",
            JobStanding::Queued | JobStanding::Cancelled => "quiet",
        };
        let word = hold.map_or_else(|| standing.to_string(), |reason| format!("{standing} ({reason})"));
        Self { word, tone }
    }
}

/// The page as an answer.
pub(super) fn page(template: &impl Template) -> Result<Response, WebError> {
    Ok(Html(template.render()?).into_response())
}
