//! Batches as a whole, in SQL.

use super::{Durability, Engine, SqlStatement};
use crate::store::{
    BatchRow, BatchStore, BatchTotals, BatchWork, Grant, JobStands, QueueEntry, RecentWork, StoreError, WaitingJobs,
    newest::LAST,
    queue::{BatchColumns, BatchFigures, EntryColumns, figures},
    row::RowReader,
    value::{DbId, DbTime, at_most, ids_beginning, values},
};
use async_trait::async_trait;
use overnight_core::job::id::JobId;
use uuid::Uuid;

/// Whether a job's batch has no budget; no row where the lease is lost.
const IS_UNBOUND: &str = "select batches.budget_usd is null
     from jobs left join batches on batches.id = jobs.batch
     where jobs.id = $1 and lease = $2 and worker is not null and status = 'running'";

/// (The inner query is asked for each open batch, by the index: a join would look at all jobs.)
const BATCHES_TO_END: &str = "select * from batches
     where ended_at is null and (
        select true from jobs where batch = batches.id and status in ('queued', 'running', 'waiting', 'held') limit 1) is null
     order by created, id";

/// The states of a batch's jobs.
const FIGURES: &str = "select status, count(*), count(same_as), sum(cost_usd),
        count(case when turns > 0 and cost_usd is null and same_as is null then 1 end)
     from jobs where batch = $1 group by status";

const WORK: &str = "select cast(coalesce(sum(turns), 0) as bigint), cast(coalesce(sum(tokens_in), 0) as bigint),
        cast(coalesce(sum(tokens_out), 0) as bigint), cast(coalesce(sum(worked_ms), 0) as bigint)
     from jobs where batch = $1";

const WAITING: &str = "select status, hold_reason, host, count(*), min(run_after)
     from jobs where batch = $1 and status in ('queued', 'waiting', 'held')
     group by status, hold_reason, host, run_after is null";

const RECENT_ENDS: &str = "select completed_at from jobs
     where batch = $1 and same_as is null and completed_at is not null
     order by completed_at desc limit $2";

/// The lower median.
const MIDDLE_WORK: &str = "select worked_ms from jobs
     where batch = $1 and status in ('completed', 'partial') and worked_ms > 0
     order by worked_ms limit 1 offset (
        select (count(*) - 1) / 2 from jobs
        where batch = $1 and status in ('completed', 'partial') and worked_ms > 0)";

const BATCH_ENTRIES: &str = "select jobs.*, job_groups.at_once
     from jobs left join job_groups on job_groups.key = jobs.group_key
     where batch = $1
     order by id";

async fn standing<E: Engine>(engine: &E, batch: Uuid) -> Result<BatchFigures, StoreError> {
    figures(engine.query(FIGURES, values![batch]).await?, engine.database())
}

async fn with_standing<E: Engine>(engine: &E, batches: Vec<BatchColumns>) -> Result<Vec<BatchRow>, StoreError> {
    let mut rows = Vec::with_capacity(batches.len());
    for batch in batches {
        let figures = standing(engine, batch.id().0).await?;
        rows.push(batch.row(figures, engine.database())?);
    }
    Ok(rows)
}

async fn newest<E: Engine>(engine: &E, limit: u32) -> Result<Vec<BatchColumns>, StoreError> {
    engine.query("select * from batches order by created desc, id desc limit $1", values![limit]).await
}

#[async_trait]
impl<E: Engine> BatchStore for E {
    async fn reserve(&self, id: JobId, lease: u64, may_cost_usd: f64) -> Result<Grant, StoreError> {
        let lost = StoreError::LeaseLost { id };
        let unbound: Vec<(bool,)> = self.query(IS_UNBOUND, values![id, lease]).await?;
        if unbound.first().ok_or_else(|| lost.clone())?.0 {
            return Ok(Grant::Granted);
        }
        let reserve = SqlStatement::new(E::RESERVE, values![id, lease, at_most(may_cost_usd)]);
        let granted: Vec<(i64,)> = self.write(vec![reserve], Durability::Soon).await?;
        granted.first().map(|(number,)| Grant::of(*number)).ok_or(lost)
    }

    async fn set_budget(&self, batch: Uuid, usd: Option<f64>) -> Result<(), StoreError> {
        let set_budget = "update batches set budget_usd = $2 where id = $1 returning id";
        let is_set = self.take_effect(set_budget, values![batch, usd], Durability::Now).await?;
        if is_set { Ok(()) } else { Err(StoreError::NoBatch { name: batch.to_string(), many: false }) }
    }

    async fn cascade(&self, batch: Uuid) -> Result<Option<String>, StoreError> {
        let rows: Vec<(Option<String>,)> =
            self.query("select cascade from batches where id = $1", values![batch]).await?;
        Ok(rows.into_iter().next().and_then(|(state,)| state))
    }

    async fn set_cascade(&self, batch: Uuid, state: &str) -> Result<(), StoreError> {
        let keep = "update batches set cascade = $2 where id = $1 returning id";
        let is_kept = self.take_effect(keep, values![batch, state], Durability::Now).await?;
        if is_kept { Ok(()) } else { Err(StoreError::NoBatch { name: batch.to_string(), many: false }) }
    }

    async fn batches_to_end(&self) -> Result<Vec<BatchRow>, StoreError> {
        with_standing(self, self.query(BATCHES_TO_END, values![]).await?).await
    }

    async fn mark_ended(&self, batch: Uuid) -> Result<bool, StoreError> {
        self.take_effect(E::MARK_ENDED, values![batch], Durability::Now).await
    }

    async fn batch(&self, name: &str) -> Result<BatchRow, StoreError> {
        let name = name.trim();
        let named = "select * from batches where name = $1 order by created desc, id desc limit 1";
        let mut found: Vec<BatchColumns> = self.query(named, values![name]).await?;
        if found.is_empty() && name == LAST {
            found = newest(self, 1).await?;
        } else if let Some((first, last)) = ids_beginning(name).filter(|_| found.is_empty()) {
            let begin_so = "select * from batches where id between $1 and $2 order by id limit 2";
            found = self.query(begin_so, values![first, last]).await?;
        }
        let many = found.len() > 1;
        let mut rows = if many { Vec::new() } else { with_standing(self, found).await? };
        rows.pop().ok_or_else(|| StoreError::NoBatch { name: name.to_owned(), many })
    }

    async fn batches(&self, limit: u32) -> Result<Vec<BatchRow>, StoreError> {
        with_standing(self, newest(self, limit).await?).await
    }

    async fn batches_behind(&self, batch: Uuid, limit: u32) -> Result<Vec<BatchRow>, StoreError> {
        let behind = "select * from batches
             where (created, id) < (select created, id from batches where id = $1)
             order by created desc, id desc limit $2";
        with_standing(self, self.query(behind, values![batch, limit]).await?).await
    }

    async fn totals(&self, batch: Uuid) -> Result<BatchTotals, StoreError> {
        Ok(standing(self, batch).await?.totals)
    }

    async fn batch_work(&self, batch: Uuid) -> Result<BatchWork, StoreError> {
        let (turns, tokens_in, tokens_out, worked_ms): (i64, i64, i64, i64) = self.one(WORK, values![batch]).await?;
        let waiting: Vec<(String, Option<String>, Option<String>, i64, Option<DbTime>)> =
            self.query(WAITING, values![batch]).await?;
        let read = RowReader { database: self.database(), row: format!("batch {batch}") };
        let waiting = waiting.into_iter().map(|(status, hold_reason, host, jobs, until)| {
            Ok(WaitingJobs {
                status: read.word("status", &status)?,
                hold_reason: hold_reason.as_deref().map(|word| read.word("hold_reason", word)).transpose()?,
                host,
                jobs: read.number("count", jobs)?,
                until: until.map(|until| until.0),
            })
        });
        Ok(BatchWork {
            turns: turns.unsigned_abs(),
            tokens_in: tokens_in.unsigned_abs(),
            tokens_out: tokens_out.unsigned_abs(),
            worked_ms: worked_ms.unsigned_abs(),
            waiting: waiting.collect::<Result<_, _>>()?,
        })
    }

    async fn recent_work(&self, batch: Uuid, most: u32) -> Result<RecentWork, StoreError> {
        let ends: Vec<(DbTime,)> = self.query(RECENT_ENDS, values![batch, most]).await?;
        let middle: Vec<(i64,)> = self.query(MIDDLE_WORK, values![batch]).await?;
        Ok(RecentWork {
            ends: ends.into_iter().map(|(end,)| end.0).collect(),
            middle_ms: middle.first().map(|(ms,)| ms.unsigned_abs()),
        })
    }

    async fn batch_standing(&self, batch: Uuid) -> Result<Vec<JobStands>, StoreError> {
        let standing = "select id, status, hold_reason, same_as from jobs where batch = $1 order by id";
        let rows: Vec<(DbId, String, Option<String>, Option<DbId>)> = self.query(standing, values![batch]).await?;
        let row = |(id, status, hold_reason, same_as): (DbId, String, Option<String>, Option<DbId>)| {
            let read = RowReader { database: self.database(), row: format!("job {}", id.0) };
            Ok(JobStands {
                id: JobId(id.0),
                status: read.word("status", &status)?,
                hold_reason: hold_reason.as_deref().map(|word| read.word("hold_reason", word)).transpose()?,
                same_as: same_as.map(|id| JobId(id.0)),
            })
        };
        rows.into_iter().map(row).collect()
    }

    async fn batch_entries(&self, batch: Uuid) -> Result<Vec<QueueEntry>, StoreError> {
        let rows: Vec<EntryColumns> = self.query(BATCH_ENTRIES, values![batch]).await?;
        rows.into_iter().map(|row| row.row(self.database())).collect()
    }

    async fn count_batches_named(&self, name: &str) -> Result<u64, StoreError> {
        let (batches,): (i64,) = self.one("select count(*) from batches where name = $1", values![name]).await?;
        Ok(batches.unsigned_abs())
    }
}
