//! Error messages for failed attempts: one sentence each, which names the variable, the model or the URL at fault.

use crate::model::{Failure, FailureKind};
use std::{error::Error, io};

/// The most characters of foreign words in one of our sentences.
const MOST_WORDS: usize = 300;

/// Makes the messages for one server and model; the fields are what they can name.
#[derive(Clone, Copy, Debug)]
pub(super) struct ErrorMessages<'a> {
    pub(super) url: &'a str,
    pub(super) model: &'a str,
    /// The variable that holds the key, or would.
    pub(super) variable: &'a str,
    /// Whether a key was sent.
    pub(super) with_key: bool,
}

impl ErrorMessages<'_> {
    /// The server's refusal of `kind`, with its own words.
    pub(super) fn refused(&self, kind: FailureKind, status: u16, words: &str) -> Failure {
        let Self { url, model, variable, with_key } = *self;
        let said = status_and_words(status, words);
        let reason = match kind {
            FailureKind::KeyRefused if with_key => format!(
                "{url} refuses the key in {variable} ({said}): put the right one there, or name another variable with --api-key-env"
            ),
            FailureKind::KeyRefused => format!(
                "{url} wants a key and was sent none ({said}): name the variable that holds it with --api-key-env"
            ),
            FailureKind::NotFound => {
                format!("the model '{model}' is not known at {url} ({said}): check --model and --base-url")
            }
            FailureKind::QuotaUsed => {
                format!("nothing is left on the account of the key in {variable} at {url} ({said}): top it up")
            }
            FailureKind::BadRequest => {
                format!("{url} doesn't take what it was sent for the model '{model}' ({said})")
            }
            FailureKind::ContextLength => format!("the prompt doesn't fit in the model '{model}' at {url} ({said})"),
            FailureKind::HistoryRefused => {
                format!(
                    "{url} does not take back the reasoning of this conversation ({said}): check that nothing between here and there changes requests"
                )
            }
            FailureKind::NoRoom => format!("{url} has no room at the flex tier ({said})"),
            FailureKind::RateLimited => format!("{url} asks for a pause ({said})"),
            FailureKind::Overloaded => format!("{url} is overloaded ({said})"),
            FailureKind::Server
            | FailureKind::TimedOut
            | FailureKind::Conflict
            | FailureKind::Stalled
            | FailureKind::Unreachable
            | FailureKind::BrokenStream
            | FailureKind::Unfinished
            | FailureKind::Malformed
            | FailureKind::Exhausted
            | FailureKind::Unanswered => format!("{url} failed ({said})"),
        };
        Failure::new(kind, reason).with_status(status)
    }

    /// A redirect: never followed, because the key would travel with it.
    pub(super) fn redirected(&self, status: u16, to: &str) -> Failure {
        let to = words(to.split(['?', '#']).next().unwrap_or_default());
        let to = if to.is_empty() { String::new() } else { format!(" to {to}") };
        let reason = format!("{} sends elsewhere{to} ({status}): check --base-url", self.url);
        Failure::new(FailureKind::NotFound, reason).with_status(status)
    }

    /// An error of the HTTP client, before or amid the answer.
    pub(super) fn transport(&self, error: &reqwest::Error, status: Option<u16>) -> Failure {
        let url = self.url;
        let cause = cause(error);
        // A connection that timed out is both; it is reported as a failure to connect.
        let failure = if error.is_connect() || error.is_dns() {
            let cause = if error.is_dns() {
                "no such host".to_owned()
            } else if error.is_timeout() {
                "no answer to the connection".to_owned()
            } else {
                cause
            };
            let reason = format!("{url} can't be reached ({cause}): check --base-url or whether the server runs");
            Failure::new(FailureKind::Unreachable, reason)
        } else if error.is_timeout() {
            Failure::new(FailureKind::TimedOut, format!("{url} took too long ({cause})"))
        } else if error.is_builder() {
            let reason = format!(
                "the request to {url} can't be built ({cause}): check the key in {} and --header",
                self.variable
            );
            Failure::new(FailureKind::BadRequest, reason)
        } else if status.is_some() || error.is_body() || error.is_decode() {
            Failure::new(FailureKind::BrokenStream, format!("the reply from {url} was cut off ({cause})"))
        } else {
            // is_request and the other cases: the connection existed, and ended before an answer began.
            Failure::new(FailureKind::BrokenStream, format!("{url} ended the connection before it answered ({cause})"))
        };
        Failure { status, ..failure }
    }

    /// A failure that this program detected.
    pub(super) fn failure(&self, kind: FailureKind, status: Option<u16>, what: &str) -> Failure {
        Failure { status, ..Failure::new(kind, format!("{} {what}", self.url)) }
    }
}

fn status_and_words(status: u16, said: &str) -> String {
    match words(said).as_str() {
        "" => status.to_string(),
        words => format!("{status}: {words}"),
    }
}

/// Foreign words, on one line and shortened.
pub(super) fn words(text: &str) -> String {
    let mut line = String::new();
    for (count, letter) in text.split_whitespace().collect::<Vec<_>>().join(" ").chars().enumerate() {
        if count == MOST_WORDS {
            line.push('…');
            break;
        }
        line.push(if letter.is_control() { ' ' } else { letter });
    }
    line
}

/// The innermost error, which states what happened; the outer ones only pass it on.
fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn Error = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    match innermost.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => "connection refused".to_owned(),
        Some(io::ErrorKind::ConnectionReset) => "connection reset".to_owned(),
        Some(_) | None => words(&innermost.to_string()),
    }
}
