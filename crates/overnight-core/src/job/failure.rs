//! The reasons why an attempt to get a reply failed, and the remedies. All kinds are in one table,
//! [`FailureKind::remedy`]; a new kind must get its remedy there.

use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// The kind of failure of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// 429: too many requests or tokens for now.
    RateLimited,
    /// The requested tier has no capacity: this says nothing about the server or other tiers.
    NoRoom,
    /// A submitted call was not answered in time: it is asked again at once, at the standard tier.
    Unanswered,
    /// 503, 529: the provider says that it is overloaded.
    Overloaded,
    /// Any other 5xx, or an error that was sent as a reply.
    Server,
    /// 408, or no answer within the time of one model call.
    TimedOut,
    /// 409.
    Conflict,
    /// The stream began and then nothing more came for too long.
    Stalled,
    /// No connection: refused, no such host, TLS.
    Unreachable,
    /// The connection was lost before the reply was complete.
    BrokenStream,
    /// The reply ended without the marker of a complete one.
    Unfinished,
    /// The response is no reply: not JSON, or another shape.
    Malformed,
    /// The prompt doesn't fit in the model's window.
    ContextLength,
    /// The provider refuses its own reasoning in this history: it says that it belongs to another one.
    HistoryRefused,
    /// 401, 403: no key, a wrong one, or one without this right.
    KeyRefused,
    /// 404: no such model, or no such address.
    NotFound,
    /// 402, or a 429 that says that nothing is left: waiting doesn't help, paying does.
    QuotaUsed,
    /// 400, 413, 422 and all other 4xx: the provider rejects the request.
    BadRequest,
    /// A scripted or replayed model has no reply left, or a model that only a sub-agent needs is unavailable.
    Exhausted,
}

/// The remedy after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Send the same request again, later.
    Retry {
        /// Whether it counts as a failure of the endpoint.
        is_outage: bool,
    },
    /// Send the same request a few times: an endpoint that always answers like this is up, but can't be understood.
    AskAgain,
    /// Send a shorter prompt.
    Compact,
    /// Begin a new history without the reasoning.
    Reopen,
    /// A person must change key, name or address; the job waits for that.
    Configure,
    /// Nothing: the job ends as failed.
    GiveUp,
}

impl FailureKind {
    /// The remedy for this kind.
    pub fn remedy(self) -> Remedy {
        match self {
            // The endpoint answers: it asks for a pause, and gets it.
            Self::RateLimited | Self::NoRoom | Self::Unanswered => Remedy::Retry { is_outage: false },
            Self::Overloaded
            | Self::Server
            | Self::TimedOut
            | Self::Conflict
            | Self::Stalled
            | Self::Unreachable
            | Self::BrokenStream => Remedy::Retry { is_outage: true },
            Self::Unfinished | Self::Malformed => Remedy::AskAgain,
            Self::ContextLength => Remedy::Compact,
            Self::HistoryRefused => Remedy::Reopen,
            Self::KeyRefused | Self::NotFound | Self::QuotaUsed | Self::BadRequest => Remedy::Configure,
            Self::Exhausted => Remedy::GiveUp,
        }
    }

    /// The name, as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::NoRoom => "no_room",
            Self::Unanswered => "unanswered",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::TimedOut => "timed_out",
            Self::Conflict => "conflict",
            Self::Stalled => "stalled",
            Self::Unreachable => "unreachable",
            Self::BrokenStream => "broken_stream",
            Self::Unfinished => "unfinished",
            Self::Malformed => "malformed",
            Self::ContextLength => "context_length",
            Self::HistoryRefused => "history_refused",
            Self::KeyRefused => "key_refused",
            Self::NotFound => "not_found",
            Self::QuotaUsed => "quota_used",
            Self::BadRequest => "bad_request",
            Self::Exhausted => "exhausted",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One failed attempt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// The kind, which decides the remedy.
    pub kind: FailureKind,
    /// The status of HTTP, if there was one.
    pub status: Option<u16>,
    /// The pause for which the provider asks.
    pub retry_after: Option<Duration>,
    /// One sentence for a person, which names the variable or value that is wrong, if any. It contains no secret.
    pub reason: String,
    /// The beginning and the end of a reply that could not be read. They contain no secret.
    pub received: Option<String>,
}

impl Failure {
    /// A failure without HTTP status and without a time to wait.
    pub fn new(kind: FailureKind, reason: impl Into<String>) -> Self {
        Self { kind, status: None, retry_after: None, reason: reason.into(), received: None }
    }

    /// The same with the status of the response.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }
}

/// Replies in a row that the provider may withhold: after three, it would withhold the next one too.
pub(crate) const MOST_WITHHELD: u32 = 3;

/// Failed attempts at the present turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempts {
    /// All failed attempts.
    pub failed: u32,
    /// Submitted calls that were not answered in time.
    pub unanswered: u32,
    /// Attempts whose prompt was too long.
    pub too_long: u32,
    /// Attempts in a row whose reply could not be read.
    pub unreadable: u32,
    /// Replies in a row that the provider withheld.
    pub withheld: u32,
}
