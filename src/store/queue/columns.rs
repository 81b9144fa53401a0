//! The queue's rows as read from either database.

use super::{AwaitingJob, ClaimedJob};
use crate::store::queue_entry::{Group, QueueEntry, QueuedJob};
use crate::store::{
    BatchRow, BatchTotals, HeldLease, NewBatch, StoreError,
    columns::columns,
    retry_policy::{AfterAttempt, RetryAttempts},
    row::{RowReader, control_signal},
    value::{DbId, DbTime, lease_ms, text},
};
use overnight_core::job::{id::JobId, record::JobStatus};
use serde::de::DeserializeOwned;
use serde_json::json;

columns! {
    pub(in crate::store) struct ClaimedColumns {
        id: DbId,
        lease: i64,
        batch: DbId,
        created: DbTime,
        label: Option<String>,
        sources: Option<String>,
        documents: i64,
        documents_sha256: Option<String>,
        workspace: String,
        host: Option<String>,
        attempts: i64,
        max_attempts: i64,
        wants: Option<String>,
        manifest: Option<String>,
        place_in_line: i64,
    }
}

impl ClaimedColumns {
    /// In the order of the line: neither database returns what it updated in any order.
    pub(in crate::store) fn in_line(mut rows: Vec<Self>, database: &str) -> Result<Vec<ClaimedJob>, StoreError> {
        rows.sort_by_key(|row| (row.place_in_line, row.id.0));
        rows.into_iter().map(|row| row.row(database)).collect()
    }

    fn row(self, database: &str) -> Result<ClaimedJob, StoreError> {
        let read = reader(database, self.id);
        Ok(ClaimedJob {
            id: JobId(self.id.0),
            lease: read.number("lease", self.lease)?,
            batch: self.batch.0,
            created: self.created.0,
            label: self.label.unwrap_or_default(),
            sources: self.sources.map_or(Ok(Vec::new()), |sources| json(&read, "sources", &sources))?,
            documents: read.number("documents", self.documents)?,
            documents_sha256: self.documents_sha256,
            workspace: self.workspace,
            host: self.host,
            attempts: read.number("attempts", self.attempts)?,
            max_attempts: read.number("max_attempts", self.max_attempts)?,
            wants: control_signal(self.wants.as_deref(), &read)?,
            manifest: self.manifest,
        })
    }
}

columns! {
    pub(in crate::store) struct AwaitingColumns {
        id: DbId,
        batch: DbId,
        awaits: String,
    }
}

impl AwaitingColumns {
    pub(in crate::store) fn row(self, database: &str) -> Result<AwaitingJob, StoreError> {
        let calls = json(&reader(database, self.id), "awaits", &self.awaits)?;
        Ok(AwaitingJob { id: JobId(self.id.0), batch: self.batch.0, calls })
    }
}

columns! {
    pub(in crate::store) struct EntryColumns {
        id: DbId,
        lease: i64,
        batch: DbId,
        label: Option<String>,
        sources: Option<String>,
        documents: i64,
        documents_sha256: Option<String>,
        priority: i64,
        run_after: Option<DbTime>,
        group_key: Option<String>,
        at_once: Option<i64>,
        attempts: i64,
        max_attempts: i64,
        status: String,
        hold_reason: Option<String>,
        reason: Option<String>,
        worker: Option<DbId>,
        wants: Option<String>,
        host: Option<String>,
        workspace: String,
        same_as: Option<DbId>,
    }
}

impl EntryColumns {
    pub(in crate::store) fn row(self, database: &str) -> Result<QueueEntry, StoreError> {
        let read = reader(database, self.id);
        let status: JobStatus = read.word("status", &self.status)?;
        let at_once = self.at_once.map(|number| read.number("at_once", number)).transpose()?;
        Ok(QueueEntry {
            job: QueuedJob {
                id: JobId(self.id.0),
                label: self.label.unwrap_or_default(),
                sources: self.sources.map_or(Ok(Vec::new()), |sources| json(&read, "sources", &sources))?,
                documents: read.number("documents", self.documents)?,
                documents_sha256: self.documents_sha256,
                priority: read.number("priority", self.priority)?,
                run_after: self.run_after.map(|moment| moment.0),
                group: self.group_key.zip(at_once).map(|(key, at_once)| Group { key, at_once }),
                max_attempts: read.number("max_attempts", self.max_attempts)?,
                is_held: status == JobStatus::Held,
            },
            batch: self.batch.0,
            status,
            hold_reason: self.hold_reason.map(|reason| read.word("hold_reason", &reason)).transpose()?,
            reason: self.reason,
            attempts: read.number("attempts", self.attempts)?,
            lease: read.number("lease", self.lease)?,
            worker: self.worker.map(|worker| worker.0),
            wants: control_signal(self.wants.as_deref(), &read)?,
            host: self.host,
            workspace: self.workspace,
            same_as: self.same_as.map(|id| JobId(id.0)),
        })
    }
}

columns! {
    pub(in crate::store) struct LeaseColumns {
        id: DbId,
        lease: i64,
        wants: Option<String>,
    }
}

impl LeaseColumns {
    pub(in crate::store) fn by_id(rows: Vec<Self>, database: &str) -> Result<Vec<HeldLease>, StoreError> {
        let mut leases = rows.into_iter().map(|row| row.row(database)).collect::<Result<Vec<_>, _>>()?;
        leases.sort_by_key(|row| row.id);
        Ok(leases)
    }

    fn row(self, database: &str) -> Result<HeldLease, StoreError> {
        let read = reader(database, self.id);
        Ok(HeldLease {
            id: JobId(self.id.0),
            lease: read.number("lease", self.lease)?,
            wants: control_signal(self.wants.as_deref(), &read)?,
        })
    }
}

// A running job that its worker gives back, or is taken from.
columns! {
    pub(in crate::store) struct LateColumns {
        pub(in crate::store) id: DbId,
        lease: i64,
        turns: i64,
        turns_at_claim: i64,
        attempts: i64,
        max_attempts: i64,
    }
}

impl LateColumns {
    pub(in crate::store) fn attempts(&self, database: &str) -> Result<RetryAttempts, StoreError> {
        let read = reader(database, self.id);
        Ok(RetryAttempts {
            failed: read.number("attempts", self.attempts)?,
            allowed: read.number("max_attempts", self.max_attempts)?,
            turns_at_claim: read.number("turns_at_claim", self.turns_at_claim)?,
            turns: read.number("turns", self.turns)?,
        })
    }

    /// The parameters of the statement that frees the job.
    pub(in crate::store) fn released(&self, after: &AfterAttempt) -> serde_json::Value {
        json!({
            "id": self.id.0, "lease": self.lease, "turns": self.turns, "attempts": after.attempts,
            "is_given_up": after.is_given_up, "reason": after.reason.as_deref().map(text), "wait_ms": lease_ms(after.wait_ms),
        })
    }
}

columns! {
    pub(in crate::store) struct BatchColumns {
        id: DbId,
        created: DbTime,
        name: Option<String>,
        instructions: String,
        instructions_text: String,
        instructions_sha256: String,
        model: String,
        settings: String,
        budget_usd: Option<f64>,
        time_window: Option<String>,
        ended_at: Option<DbTime>,
    }
}

impl BatchColumns {
    pub(in crate::store) fn row(self, figures: BatchFigures, database: &str) -> Result<BatchRow, StoreError> {
        let read = RowReader { database, row: format!("batch {}", self.id.0) };
        Ok(BatchRow {
            batch: NewBatch {
                id: self.id.0,
                created: self.created.0,
                name: self.name,
                instructions: self.instructions,
                instructions_text: self.instructions_text,
                instructions_sha256: self.instructions_sha256,
                model: self.model,
                settings: json(&read, "settings", &self.settings)?,
                budget_usd: self.budget_usd,
                time_window: self.time_window,
            },
            spent_usd: figures.spent_usd,
            unpriced_jobs: figures.unpriced_jobs,
            ended: self.ended_at.map(|moment| moment.0),
            totals: figures.totals,
        })
    }

    pub(in crate::store) fn id(&self) -> DbId {
        self.id
    }
}

/// The state of all of a batch's jobs.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::store) struct BatchFigures {
    pub(in crate::store) totals: BatchTotals,
    pub(in crate::store) spent_usd: f64,
    pub(in crate::store) unpriced_jobs: u64,
}

/// Computed from the number of jobs in each status, the number of linked ones, their cost, and the number of jobs with
/// unknown cost.
pub(in crate::store) fn figures(
    rows: Vec<(String, i64, i64, Option<f64>, i64)>,
    database: &str,
) -> Result<BatchFigures, StoreError> {
    let read = RowReader { database, row: "a batch".to_owned() };
    let mut totals = BatchTotals::default();
    let (mut spent_usd, mut unpriced_jobs) = (0.0, 0);
    for (status, jobs, linked, cost_usd, unpriced) in rows {
        spent_usd += cost_usd.unwrap_or_default();
        unpriced_jobs += read.number::<u64>("count", unpriced)?;
        *totals.of_mut(read.word("status", &status)?) += read.number::<u64>("count", jobs)?;
        totals.linked += read.number::<u64>("count", linked)?;
    }
    Ok(BatchFigures { totals, spent_usd, unpriced_jobs })
}

fn reader(database: &str, id: DbId) -> RowReader<'_> {
    RowReader { database, row: format!("job {}", id.0) }
}

fn json<T: DeserializeOwned>(read: &RowReader<'_>, column: &str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| read.corrupt(column, text))
}

/// The number of jobs in each status.
pub(in crate::store) fn depth(rows: Vec<(String, i64)>, database: &str) -> Result<Vec<(JobStatus, u64)>, StoreError> {
    let read = RowReader { database, row: "the queue".to_owned() };
    rows.into_iter().map(|(status, jobs)| Ok((read.word("status", &status)?, read.number("jobs", jobs)?))).collect()
}
