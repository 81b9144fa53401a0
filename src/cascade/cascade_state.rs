//! What was decided and found in a cascade, as it is kept with its first batch.

use crate::store::{Store, StoreError};
use overnight_core::{
    amount::{counted, percent},
    job::{id::JobId, instructions::CertifyWanted},
};
use overnight_evals::statistics::Certificate;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt::Write};
use uuid::Uuid;

/// A cascade. Its fields are a promise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CascadeState {
    pub cheap: String,
    pub strong: String,
    /// None: nothing is to be certified.
    pub wanted: Option<CertifyWanted>,
    /// Of the draw.
    pub seed: u64,
    /// Jobs of the first batch whose documents go to the strong model, and why.
    pub escalated: Vec<EscalatedJob>,
    /// The other jobs, in the order in which they are drawn.
    pub order: Vec<JobId>,
    pub stages: Vec<CascadeStage>,
    /// What came of the drawn jobs, in their order.
    pub drawn: Vec<DrawnJob>,
    /// What can be said after these draws.
    pub certificate: Option<Certificate>,
    /// USD of all stages so far; none where a price is not known.
    pub cost_usd: Option<f64>,
    /// USD that the strong model would have taken for every document, by what it took for those that it read.
    pub strong_usd: Option<f64>,
    pub is_over: bool,
}

/// A job that goes to the strong model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EscalatedJob {
    pub job: JobId,
    pub why: String,
}

/// A batch of jobs for the strong model: each for a job of the first batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CascadeStage {
    pub batch: Uuid,
    pub escalated: Vec<StrongJob>,
    pub drawn: Vec<StrongJob>,
}

/// A job that reads again what another has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrongJob {
    pub first: JobId,
    pub job: JobId,
}

/// What came of a draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnJob {
    pub first: JobId,
    /// Where the two readings differ, or why they can't be compared; none: they are equal.
    pub differs: Option<String>,
}

/// The cascade that was begun with a batch.
pub async fn stored_state(store: &dyn Store, batch: Uuid) -> Result<Option<CascadeState>, StoreError> {
    let text = store.cascade(batch).await?;
    // That of another version says nothing here.
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

impl CascadeState {
    /// The jobs of the strong model, by the jobs of the first batch that they read again.
    pub fn strong_jobs(&self) -> BTreeMap<JobId, JobId> {
        let jobs = self.stages.iter().flat_map(|stage| stage.escalated.iter().chain(&stage.drawn));
        jobs.map(|strong| (strong.first, strong.job)).collect()
    }

    /// How many documents the cascade is about.
    pub(super) fn documents(&self) -> u32 {
        u32::try_from(self.escalated.len() + self.order.len()).unwrap_or(u32::MAX)
    }

    /// What can be said of the results.
    pub fn told(&self) -> String {
        let (documents, wanted) = (self.documents(), self.wanted.as_ref());
        let mut told = match (&self.certificate, wanted) {
            (Some(certificate), Some(wanted)) if certificate.holds => format!(
                "at least {} of the {documents} results equal {}'s reading in every field, with {} confidence",
                percent(wanted.right),
                self.strong,
                percent(wanted.confidence)
            ),
            (Some(certificate), Some(wanted)) => format!(
                "it can't yet be said that {} of the {documents} results equal {}'s reading: {} of them do, with {} confidence",
                percent(wanted.right),
                self.strong,
                certificate.right_at_least,
                percent(wanted.confidence)
            ),
            _ => format!("{} read {documents} documents; nothing was to be certified", self.cheap),
        };
        let differing = self.drawn.iter().filter(|drawn| drawn.differs.is_some()).count();
        let _ = write!(told, ": {} escalated", self.escalated.len());
        if wanted.is_some() {
            let _ = write!(told, ", {} drawn, {differing} differed, seed {}", self.drawn.len(), self.seed);
        }
        if let (Some(cost), Some(strong)) = (self.cost_usd, self.strong_usd) {
            let _ = write!(told, ", cost {cost:.2} USD instead of about {strong:.2}");
        }
        if !self.is_over {
            let open = self.stages.last().map_or(0, |stage| stage.escalated.len() + stage.drawn.len());
            let _ = write!(told, " (not over: {} of {} still to come)", counted(open as u64, "reading"), self.strong);
        }
        told
    }
}
