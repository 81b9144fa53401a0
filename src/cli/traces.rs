//! Sends traces to the collector that the environment names, and reports failures. Without one, nothing is done.

use super::{AppContext, out};
use crate::telemetry::{Exporter, SpanSender};

/// The connection to a collector.
#[derive(Debug)]
pub(super) struct Traces {
    exporter: Option<Exporter>,
}

impl Traces {
    /// A target that can't be used is no reason to stop: it only causes a warning.
    pub(super) fn begin(app: &AppContext) -> Self {
        let exporter = match app.settings.telemetry.value.as_ref().map(Exporter::start) {
            None => None,
            Some(Ok(exporter)) => Some(exporter),
            Some(Err(error)) => {
                tell(&error.to_string());
                None
            }
        };
        Self { exporter }
    }

    pub(super) fn feed(&self) -> Option<SpanSender> {
        self.exporter.as_ref().map(Exporter::feed)
    }

    /// Ends the export. By now the work is over, and all feeds are gone.
    pub(super) async fn end(self) {
        let Some(exporter) = self.exporter else { return };
        if let Some(sentence) = exporter.finish().await {
            tell(&sentence);
        }
    }
}

fn tell(sentence: &str) {
    out::log(&out::LogMessage::new(out::LogLevel::Warn, "traces", sentence));
}
