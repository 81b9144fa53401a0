//! Why one attempt to have a reply failed, and what helps. Every kind is in one table,
//! [`FailureKind::remedy`]; who adds a kind has to say what helps.

use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// What went wrong with one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// 429: too many requests or tokens for now.
    RateLimited,
    /// The tier that was asked for has no room: it says nothing of the server, nor of other tiers.
    NoRoom,
    /// What was handed in was not answered in its time: it is asked for at once, at the standard tier.
    Unanswered,
    /// 503, 529: the provider says that it is overloaded.
    Overloaded,
    /// Any other 5xx, an error that came as a reply.
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
    /// The reply came to its own end, and what marks a whole one never came.
    Unfinished,
    /// What came is no reply: not JSON, or another shape.
    Malformed,
    /// The prompt doesn't fit in the model's window.
    ContextLength,
    /// The provider doesn't take back its reasoning with this history: it says that it belongs to another one.
    HistoryRefused,
    /// 401, 403: no key, a wrong one, or one without this right.
    KeyRefused,
    /// 404: no such model, or no such address.
    NotFound,
    /// 402, or a 429 that says that nothing is left: waiting doesn't help, paying does.
    QuotaUsed,
    /// 400, 413, 422 and all other 4xx: the provider doesn't take what it was sent.
    BadRequest,
    /// A scripted or replayed model has nothing more to say, or one that only a sub-agent needs is not there.
    Exhausted,
}

/// What helps after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The same again, later.
    Retry {
        /// It counts as a failure of the endpoint.
        is_outage: bool,
    },
    /// The same again, a few times: who always answers like that is there, and can't be understood.
    AskAgain,
    /// A shorter prompt.
    Compact,
    /// A new history, with nothing of the reasoning in it.
    Reopen,
    /// A person must change key, name or address; the job waits for that.
    Configure,
    /// Nothing: the job ends as failed.
    GiveUp,
}

impl FailureKind {
    /// What helps.
    pub fn remedy(self) -> Remedy {
        match self {
            // The endpoint answers: it asks to be left alone for a while, and is.
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

    /// As it is stored.
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
    /// Decides what helps.
    pub kind: FailureKind,
    /// Of HTTP, where there was one.
    pub status: Option<u16>,
    /// How long the provider asks to be left alone.
    pub retry_after: Option<Duration>,
    /// One sentence for a person, that names the variable or value where one is wrong. No secret is in it.
    pub reason: String,
    /// Of a reply that could not be read, what came: its beginning and its end. No secret is in it.
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

/// Failed attempts at the present turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempts {
    /// All of them.
    pub failed: u32,
    /// Those that were handed in and not answered in their time.
    pub unanswered: u32,
    /// Those whose prompt was too long.
    pub too_long: u32,
    /// Those whose reply could not be read, one after the other.
    pub unreadable: u32,
    /// Replies that the provider withheld, one after the other.
    pub withheld: u32,
}
