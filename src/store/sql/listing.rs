//! Jobs for lists, in SQL.

use super::{Engine, SqlStatement};
use crate::store::{
    AlikeJobs, BatchHead, BatchTotals, JobChange, JobChanges, JobPageQuery, JobRow, ListStore, StoreError,
    queue::depth,
    row::{JobColumns, RowReader},
    value::{DbId, DbTime, Value, values},
};
use async_trait::async_trait;
use overnight_core::job::{id::JobId, record::HoldReason};
use std::collections::{BTreeSet, HashMap};
use uuid::Uuid;

/// The most changes that are listed one by one.
const MOST_CHANGES: usize = 5_000;

const CHANGES: &str = "select base.horizon, changed.id, changed.batch, changed.change
     from (select {horizon} as horizon) as base
     left join jobs as changed
        on changed.change >= (case when $1 < 0 then base.horizon else $1 end) and changed.change {before_ceiling}
     limit $2";

/// Conditions and their parameters.
fn conditions(wanted: &JobPageQuery) -> (String, Vec<Value>) {
    let mut given = Vec::new();
    let mut place = |value: Vec<Value>| {
        given.extend(value);
        format!("${}", given.len())
    };
    let mut sql = "where true".to_owned();
    if let Some(batch) = wanted.batch {
        sql.extend([" and batch = ", &place(values![batch])]);
    }
    if let Some(status) = wanted.status {
        sql.extend([" and status = ", &place(values![status.name()])]);
    }
    if wanted.needs_review {
        sql.extend([" and status = 'held' and hold_reason = ", &place(values![HoldReason::Review.name()])]);
    }
    if let Some(since) = wanted.since {
        sql.extend([" and created >= ", &place(values![since])]);
    }
    if let Some(behind) = wanted.behind {
        sql.extend([" and (created, id) < (select created, id from jobs where id = ", &place(values![behind]), ")"]);
    }
    let text = wanted.text.trim();
    if !text.is_empty() {
        // Both databases ignore the case of ASCII letters at least; other letters match if a word has the same case.
        let escaped = |text: &str| text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        let forms: BTreeSet<String> =
            [text.to_owned(), text.to_lowercase(), text.to_uppercase()].iter().map(|form| escaped(form)).collect();
        let beginning = place(values![format!("{}%", escaped(&text.to_lowercase()))]);
        let mut any = vec![format!("cast(id as text) like {beginning} escape '\\'")];
        for form in forms {
            let within = place(values![format!("%{form}%")]);
            for column in ["label", "instructions", "model"] {
                any.push(format!("{column} {{like}} {within} escape '\\'"));
            }
        }
        sql.extend([" and (", &any.join(" or "), ")"]);
    }
    (sql, given)
}

#[async_trait]
impl<E: Engine> ListStore for E {
    async fn job_page(&self, wanted: &JobPageQuery) -> Result<(Vec<JobRow>, u64), StoreError> {
        let (fitting, given) = conditions(wanted);
        let count = SqlStatement::new(format!("select count(*) from jobs {fitting}"), given.clone());
        let found: Vec<(i64,)> = self.read(count).await?;
        let (most, skipped) = (wanted.most, wanted.skipped);
        let page = format!("select * from jobs {fitting} order by created desc, id desc limit {most} offset {skipped}");
        let rows: Vec<JobColumns> = self.read(SqlStatement::new(page, given)).await?;
        let rows = rows.into_iter().map(|row| row.row(self.database())).collect::<Result<_, _>>()?;
        Ok((rows, found.first().map_or(0, |(found,)| found.unsigned_abs())))
    }

    async fn job_counts(&self, wanted: &JobPageQuery) -> Result<Vec<AlikeJobs>, StoreError> {
        let (fitting, given) = conditions(wanted);
        let alike = format!(
            "select status, hold_reason, count(*), count(batch) from jobs {fitting} group by status, hold_reason \
             order by status, hold_reason"
        );
        let rows: Vec<(String, Option<String>, i64, i64)> = self.read(SqlStatement::new(alike, given)).await?;
        let read = RowReader { database: self.database(), row: "the jobs".to_owned() };
        let count = |(status, hold_reason, jobs, of_batches): (String, Option<String>, i64, i64)| {
            Ok(AlikeJobs {
                status: read.word("status", &status)?,
                hold_reason: hold_reason.map(|reason| read.word("hold_reason", &reason)).transpose()?,
                jobs: jobs.unsigned_abs(),
                of_batches: of_batches.unsigned_abs(),
            })
        };
        rows.into_iter().map(count).collect()
    }

    async fn job_totals(&self) -> Result<BatchTotals, StoreError> {
        let counted = self.query("select status, count(*) from jobs group by status", values![]).await?;
        let mut totals = BatchTotals::default();
        for (status, jobs) in depth(counted, self.database())? {
            *totals.of_mut(status) += jobs;
        }
        Ok(totals)
    }

    async fn all_ids(&self) -> Result<Vec<Uuid>, StoreError> {
        let ids: Vec<(DbId,)> = self.query("select id from jobs union all select id from batches", values![]).await?;
        Ok(ids.into_iter().map(|(id,)| id.0).collect())
    }

    async fn count_batches(&self) -> Result<u64, StoreError> {
        let (batches,): (i64,) = self.one("select count(*) from batches", values![]).await?;
        Ok(batches.unsigned_abs())
    }

    async fn batch_heads(&self, ids: Vec<Uuid>) -> Result<HashMap<Uuid, BatchHead>, StoreError> {
        let heads = "select id, name, created, instructions from batches where id {in_list $1}";
        let rows: Vec<(DbId, Option<String>, DbTime, String)> = self.query(heads, values![ids]).await?;
        let head = |(id, name, created, instructions): (DbId, Option<String>, DbTime, String)| {
            (id.0, BatchHead { name, created: created.0, instructions })
        };
        Ok(rows.into_iter().map(head).collect())
    }

    async fn job_changes(&self, since: Option<u64>) -> Result<JobChanges, StoreError> {
        let since = since.map_or(-1, |number| i64::try_from(number).unwrap_or(i64::MAX));
        let most = u64::try_from(MOST_CHANGES).unwrap_or_default() + 1;
        let statement = SqlStatement::new(CHANGES, values![since, most]);
        let rows: Vec<(i64, Option<DbId>, Option<DbId>, Option<i64>)> = self.read(statement).await?;
        let read = RowReader { database: self.database(), row: "the changes of jobs".to_owned() };
        let mut changes = JobChanges { is_cut: rows.len() > MOST_CHANGES, ..JobChanges::default() };
        for (horizon, id, batch, number) in rows {
            changes.horizon = read.number("horizon", horizon)?;
            if let Some((id, number)) = id.zip(number) {
                let number = read.number("change", number)?;
                changes.rows.push(JobChange { job: JobId(id.0), batch: batch.map(|batch| batch.0), number });
            }
        }
        Ok(changes)
    }
}
