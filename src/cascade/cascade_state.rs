//! The decisions and outcomes of a cascade, as they are kept with its first batch.

use crate::store::{Store, StoreError};
use overnight_core::{
    amount::{counted, percent},
    job::{
        id::JobId,
        instructions::{CertifyWanted, DrawReader},
        time::Timestamp,
    },
};
use overnight_evals::statistics::Certificate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};
use uuid::Uuid;

/// A cascade. Its fields are a promise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CascadeState {
    pub cheap: String,
    pub strong: String,
    /// `None`: nothing is to be certified.
    pub wanted: Option<CertifyWanted>,
    /// Seed of the draw.
    pub seed: u64,
    /// Jobs of the first batch whose documents go to the strong model, and why.
    pub escalated: Vec<EscalatedJob>,
    /// The other jobs, in the order in which they are drawn.
    pub order: Vec<JobId>,
    pub stages: Vec<CascadeStage>,
    /// When the draw was settled. Reviews before that time don't count as readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Timestamp>,
    /// The number of jobs at the beginning of `order` that are for people to read.
    #[serde(default)]
    pub for_people: usize,
    /// The outcomes of the drawn jobs, in their order.
    pub drawn: Vec<DrawnJob>,
    /// The certificate after these draws.
    pub certificate: Option<Certificate>,
    /// USD of all stages so far; null if a price is not known.
    pub cost_usd: Option<f64>,
    /// Estimated USD of the strong model for every document, by its cost for those that it read.
    pub strong_usd: Option<f64>,
    pub is_over: bool,
}

/// A job that goes to the strong model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EscalatedJob {
    pub job: JobId,
    pub why: String,
}

/// A batch of jobs for the strong model: each for a job of the first batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CascadeStage {
    pub batch: Uuid,
    pub escalated: Vec<StrongJob>,
    pub drawn: Vec<StrongJob>,
}

/// A job that reads the document of another job again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StrongJob {
    pub first: JobId,
    pub job: JobId,
}

/// The outcome of a draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DrawnJob {
    pub first: JobId,
    /// Where the two readings differ, or why they can't be compared; none: they are equal.
    pub differs: Option<String>,
    /// The person who read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The cascade of its first batch.
pub async fn stored_state(store: &dyn Store, batch: Uuid) -> Result<Option<CascadeState>, StoreError> {
    let text = store.cascade(batch).await?;
    // A state of another version is ignored.
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

impl CascadeState {
    /// The jobs of the strong model, by the jobs of the first batch that they read again.
    pub fn strong_jobs(&self) -> BTreeMap<JobId, JobId> {
        let jobs = self.stages.iter().flat_map(|stage| stage.escalated.iter().chain(&stage.drawn));
        jobs.map(|strong| (strong.first, strong.job)).collect()
    }

    /// The number of documents in the cascade.
    pub(super) fn documents(&self) -> u32 {
        u32::try_from(self.escalated.len() + self.order.len()).unwrap_or(u32::MAX)
    }

    /// Whether people read what is drawn.
    pub(super) fn is_read_by_people(&self) -> bool {
        self.wanted.is_some_and(|wanted| wanted.by == DrawReader::Person)
    }

    /// The drawn jobs whose results a person has still to read, in the order of the draw.
    pub fn unread(&self) -> impl Iterator<Item = JobId> {
        let drawn = self.order.iter().take(self.for_people).copied();
        drawn.filter(|job| self.drawn.iter().all(|read| read.first != *job))
    }

    /// A sentence on the results.
    pub fn told(&self) -> String {
        let mut told = match (&self.certificate, self.wanted.as_ref()) {
            (Some(certificate), Some(wanted)) => self.certified(certificate, wanted),
            (None, Some(_)) => format!("{} read {} documents", self.cheap, self.documents()),
            (_, None) => format!("{} read {} documents; nothing was to be certified", self.cheap, self.documents()),
        };
        let differing = self.drawn.iter().filter(|drawn| drawn.differs.is_some()).count();
        let _ = write!(told, ": {} escalated", self.escalated.len());
        if self.wanted.is_some() {
            let differed = if self.is_read_by_people() { "not right" } else { "differed" };
            let _ = write!(told, ", {} drawn, {differing} {differed}, seed {}", self.drawn.len(), self.seed);
        }
        if let (Some(cost), Some(strong)) = (self.cost_usd, self.strong_usd) {
            let _ = write!(told, ", cost {cost:.2} USD instead of about {strong:.2}");
        }
        if !self.is_over {
            let unread = self.unread().count() as u64;
            let open = match self.stages.last() {
                _ if unread > 0 => format!("{} drawn for people to read", counted(unread, "result")),
                Some(stage) => {
                    let open = (stage.escalated.len() + stage.drawn.len()) as u64;
                    format!("{} of {} still to come", counted(open, "reading"), self.strong)
                }
                None => "nothing is submitted yet".to_owned(),
            };
            let _ = write!(told, " (not over: {open})");
        }
        told
    }

    /// States how many results equal the readings. Escalated results are not covered by a person: nobody has seen them.
    fn certified(&self, certificate: &Certificate, wanted: &CertifyWanted) -> String {
        let (right, confidence) = (percent(wanted.right), percent(wanted.confidence));
        let (of, equal) = match wanted.by {
            DrawReader::Model => {
                (format!("the {} results", self.documents()), format!("equal {}'s reading", self.strong))
            }
            DrawReader::Person => {
                let readers: BTreeSet<&str> = self.drawn.iter().filter_map(|drawn| drawn.by.as_deref()).collect();
                let readers: Vec<&str> = readers.into_iter().collect();
                let of = format!("the {} results of {} that were not escalated", self.order.len(), self.cheap);
                (of, format!("are as {} read them", readers.join(" and ")))
            }
        };
        if certificate.holds {
            return format!("at least {right} of {of} {equal} in every field, with {confidence} confidence");
        }
        let least = certificate.right_at_least;
        format!("it can't yet be said that {right} of {of} {equal}: {least} of them do, with {confidence} confidence")
    }
}
