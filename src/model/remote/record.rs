//! `--record`: one JSON file for each attempt, for bug reports. No secret is in it.

use super::{
    error_messages::words,
    http::ObservedResponse,
    key::{Secrets, is_secret_name},
    wire::RawReply,
};
use crate::model::{Failure, ModelError};
use chrono::{DateTime, Utc};
use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

/// Names that are tried for one file: other processes may record into the same folder.
const MOST_NAMES: u64 = 100_000;

/// Writes attempts into a folder.
#[derive(Debug)]
pub(super) struct Recorder {
    folder: PathBuf,
    count: AtomicU64,
    failed: AtomicBool,
}

/// The record of one attempt, from its beginning to its end.
#[derive(Debug)]
pub(super) struct AttemptRecord<'a> {
    pub(super) began: DateTime<Utc>,
    pub(super) turn: u64,
    pub(super) url: &'a str,
    pub(super) sent_headers: &'a HeaderMap,
    pub(super) sent: &'a Value,
    pub(super) observed: &'a ObservedResponse,
    pub(super) outcome: &'a Result<RawReply, Failure>,
}

impl Recorder {
    /// Creates the folder immediately: a wrong folder should be noticed before the night.
    pub(super) fn new(folder: &Path) -> Result<Self, ModelError> {
        fs::create_dir_all(folder).map_err(|error| ModelError::Record {
            folder: folder.display().to_string(),
            what: words(&error.to_string()),
        })?;
        Ok(Self { folder: folder.to_owned(), count: AtomicU64::new(0), failed: AtomicBool::new(false) })
    }

    /// Writes one file. A failure is no reason to fail the call: it is given back once, as one sentence.
    pub(super) fn write(&self, attempted: &AttemptRecord<'_>, secrets: &Secrets) -> Option<String> {
        let mut value = attempted.value();
        secrets.hide_in_value(&mut value);
        let written = serde_json::to_vec_pretty(&value).map_err(io::Error::other).and_then(|mut text| {
            text.push(b'\n');
            self.file(attempted.turn)?.write_all(&text)
        });
        let error = written.err()?;
        let is_first = !self.failed.swap(true, Ordering::Relaxed);
        is_first.then(|| format!("the recording in {} can't be written ({error})", self.folder.display()))
    }

    /// A new file, named by turn and a number.
    fn file(&self, turn: u64) -> io::Result<fs::File> {
        for _ in 0..MOST_NAMES {
            let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
            let path = self.folder.join(format!("turn-{turn:05}-{number:04}.json"));
            match OpenOptions::new().write(true).create_new(true).open(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => return other,
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }
}

impl AttemptRecord<'_> {
    fn value(&self) -> Value {
        let body = self.observed.body.as_deref().unwrap_or_default();
        let failure = self.outcome.as_ref().err().map(|failure| {
            json!({
                "kind": failure.kind,
                "retry_after_seconds": failure.retry_after.map(|pause| pause.as_secs_f64()),
                "reason": failure.reason,
            })
        });
        json!({
            "version": 1,
            "program": concat!("overnight ", env!("CARGO_PKG_VERSION")),
            "began": self.began.to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
            "took_ms": (Utc::now() - self.began).num_milliseconds(),
            "turn": self.turn,
            "request": {"method": "POST", "url": self.url, "headers": shown(self.sent_headers), "body": self.sent},
            "answer": {
                "status": self.observed.status,
                "headers": shown(&self.observed.headers),
                "body": String::from_utf8_lossy(body),
            },
            "failure": failure,
        })
    }
}

/// Headers, with values that may be secret left out.
fn shown(headers: &HeaderMap) -> Map<String, Value> {
    let mut shown = Map::new();
    for (name, value) in headers {
        let is_secret = value.is_sensitive() || (is_secret_name(name.as_str()) && !name.as_str().contains("ratelimit"));
        let value = if is_secret { "***".into() } else { String::from_utf8_lossy(value.as_bytes()) };
        shown.insert(name.to_string(), Value::from(value));
    }
    shown
}
