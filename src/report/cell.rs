//! A cell of a report's table, and the tone of a state. A tone is only a colour: the text of the cell states the same.

use super::{facts::JobStanding, needs::NeedKind};
use overnight_core::job::record::JobStatus;

/// How good a state is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither good nor bad, such as queued.
    #[default]
    Plain,
    Good,
    /// A person should look at it.
    Doubt,
    Bad,
}

impl Tone {
    pub fn of(standing: JobStanding) -> Self {
        match standing {
            JobStanding::Completed => Self::Good,
            JobStanding::Partial | JobStanding::Held | JobStanding::Interrupted => Self::Doubt,
            JobStanding::Blocked | JobStanding::Failed => Self::Bad,
            JobStanding::Running | JobStanding::Waiting | JobStanding::Queued | JobStanding::Cancelled => Self::Plain,
        }
    }

    pub fn of_status(status: JobStatus) -> Self {
        Self::of(JobStanding::of(status, false))
    }

    pub fn of_need(why: NeedKind) -> Self {
        match why {
            NeedKind::Failed | NeedKind::Blocked | NeedKind::Gone | NeedKind::Broken | NeedKind::Deliverable => {
                Self::Bad
            }
            NeedKind::Review
            | NeedKind::Held
            | NeedKind::Interrupted
            | NeedKind::Partial
            | NeedKind::Records
            | NeedKind::Confidence => Self::Doubt,
        }
    }

    /// The style class for this tone; `None` for a plain one.
    pub(super) fn key(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Good => Some("good"),
            Self::Doubt => Some("doubt"),
            Self::Bad => Some("bad"),
        }
    }
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageCell {
    /// One line that is safe to show, once it is in a table.
    pub text: String,
    pub tone: Tone,
    /// An address relative to the report's file.
    pub link: Option<String>,
}

impl From<String> for PageCell {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl PageCell {
    #[must_use]
    pub fn toned(text: String, tone: Tone) -> Self {
        Self { text, tone, link: None }
    }

    #[must_use]
    pub fn linked(text: String, link: Option<String>) -> Self {
        Self { text, tone: Tone::Plain, link }
    }
}
