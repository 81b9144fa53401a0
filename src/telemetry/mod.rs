//! What a job's work looks like to an OpenTelemetry collector: a reader of the runner's reports; it decides nothing.
//!
//! - `span`: one stretch of work, with its name, its parent and what is known of it
//! - `spans`: spans from reports: job, phase, todo, turn, tool
//! - `otlp`: spans as OTLP says them in JSON
//! - `exporter`: sends them, beside the work
//! - `trace`: the spans of one job, on their way there
//!
//! Why not the OpenTelemetry crates: a span here is made from recorded facts, with times that are facts too, and a parent
//! that another process may have begun; the SDK is made for spans that are opened and closed while the code runs, on a clock
//! and in a context of its own, and with its exporter it would bring two dozen crates more for one documented request.

mod exporter;
mod otlp;
mod span;
mod spans;
#[cfg(test)]
mod tests;
mod trace;

pub use exporter::{Exporter, Feed, Target};
pub use otlp::request;
pub use span::{Kind, Span, SpanId, Value};
pub use spans::Spans;
pub use trace::Trace;
