//! What stands in one place of a report's table, and the tone in which a state is told. A tone is colour only: the word says it too.

use super::{facts::JobStanding, needs::NeedKind};
use overnight_core::job::record::JobStatus;

/// How good a state is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither good nor bad, such as queued.
    #[default]
    Plain,
    Good,
    /// Somebody should look at it.
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
            NeedKind::Review | NeedKind::Held | NeedKind::Interrupted | NeedKind::Partial | NeedKind::Confidence => {
                Self::Doubt
            }
        }
    }

    /// The class of what is told in it; none where it is plain.
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
    /// One safe line, once it is in a table.
    pub text: String,
    pub tone: Tone,
    /// An address, seen from the report's file.
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
