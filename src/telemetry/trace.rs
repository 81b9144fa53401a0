//! The spans of the work on one job, passed on as they come.

use super::{JobSpans, SpanSender};
use crate::runner::{RunReport, now};
use overnight_core::job::state::Job;

#[derive(Debug)]
pub struct Trace {
    spans: JobSpans,
    feed: SpanSender,
}

impl Trace {
    pub fn begin(feed: SpanSender, job: &Job, model: &str) -> Self {
        Self { spans: JobSpans::begin(job, model, now()), feed }
    }

    pub fn on(&mut self, job: &Job, report: &RunReport<'_>) {
        self.feed.send(self.spans.on(job, report, now));
    }

    /// The work is over. `is_broken`: not because the job came to rest.
    pub fn end(self, job: &Job, is_broken: bool) {
        self.feed.send(self.spans.finish(job, is_broken, now()));
    }
}
