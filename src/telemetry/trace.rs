//! The spans of the work on one job, handed over as they come.

use super::{Feed, Spans};
use crate::runner::{Report, now};
use overnight_core::job::state::Job;

#[derive(Debug)]
pub struct Trace {
    spans: Spans,
    feed: Feed,
}

impl Trace {
    pub fn begin(feed: Feed, job: &Job, model: &str) -> Self {
        Self { spans: Spans::begin(job, model, now()), feed }
    }

    pub fn on(&mut self, job: &Job, report: &Report<'_>) {
        self.feed.send(self.spans.on(job, report, now));
    }

    /// The work is over. `is_broken`: not because the job came to rest.
    pub fn end(self, job: &Job, is_broken: bool) {
        self.feed.send(self.spans.finish(job, is_broken, now()));
    }
}
