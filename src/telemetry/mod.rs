//! Sends the work on jobs to an OpenTelemetry collector as spans. It only reads the runner's reports.
//!
//! - `spans`: spans from reports: job, phase, todo, turn, tool, as the OpenTelemetry SDK's own `SpanData`: they are
//!   made from recorded facts, with recorded times and a parent that another process may have begun
//! - `span`: the common parts of all spans
//! - `exporter`: passes them to the SDK, which sends them beside the work, and counts those that did not arrive;
//!   `collector_client`: sends them to the collector
//! - `trace`: collects and passes on the spans of one job

#[cfg(feature = "network")]
mod collector_client;
mod exporter;
mod span;
mod spans;
#[cfg(test)]
mod tests;
mod trace;

pub use exporter::{Exporter, SpanSender, TraceTarget};
pub use spans::JobSpans;
pub use trace::Trace;
