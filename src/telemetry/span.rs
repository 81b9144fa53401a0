//! The common parts of all spans. They never hold text of a document or a prompt.

use opentelemetry::{
    InstrumentationScope, KeyValue, Value,
    trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use overnight_core::job::{id::JobId, time::Timestamp};
use sha2::{Digest, Sha256};
use std::time::SystemTime;

/// Characters of a text that a model chose: a title, a todo, the name of a tool.
const MOST_CHARS: usize = 200;

/// The `number`th span of the process that opened the job at `begun`. Its id follows from these; the trace is the job.
pub(super) fn span(job: JobId, begun: Timestamp, number: u64, parent: SpanId, name: String, at: Timestamp) -> SpanData {
    let mut hasher = Sha256::new();
    hasher.update(job.0.as_bytes());
    hasher.update(begun.utc().timestamp_millis().to_be_bytes());
    hasher.update(number.to_be_bytes());
    let id = hasher.finalize().iter().take(8).fold(0_u64, |id, byte| id << 8 | u64::from(*byte));
    let trace = TraceId::from_bytes(*job.0.as_bytes());
    let id = SpanId::from(id.max(1));
    SpanData {
        span_context: SpanContext::new(trace, id, TraceFlags::SAMPLED, false, TraceState::default()),
        parent_span_id: parent,
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: name.into(),
        start_time: moment(at),
        end_time: moment(at),
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::builder("overnight")
            .with_version(env!("CARGO_PKG_VERSION"))
            .build(),
    }
}

/// Adds attributes and a failure to a span.
pub(super) trait SpanExt {
    fn id(&self) -> SpanId;
    fn set(&mut self, name: &'static str, value: impl Into<Value>);
    fn text(&mut self, name: &'static str, text: &str) {
        self.set(name, short(text));
    }
    fn count(&mut self, name: &'static str, number: u64) {
        self.set(name, i64::try_from(number).unwrap_or(i64::MAX));
    }
    /// Marks it as failed, with the reason in a word.
    fn fail(&mut self, word: &str);
}

impl SpanExt for SpanData {
    fn id(&self) -> SpanId {
        self.span_context.span_id()
    }

    fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        self.attributes.push(KeyValue::new(name, value));
    }

    fn fail(&mut self, word: &str) {
        self.text("error.type", word);
        self.status = Status::error(word.to_owned());
    }
}

pub(super) fn moment(at: Timestamp) -> SystemTime {
    at.utc().into()
}

/// The beginning of a text.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
