//! Batches as a whole: how they stand, what they may cost, their end.

use super::statements::{BATCHES_TO_END, FIGURES};
use crate::store::{
    BatchRow, StoreError,
    connect::LAST,
    postgres::PostgresStore,
    queue::{BatchColumns, BatchFigures, Grant, figures},
    value::{DbId, at_most, count, finite, ids_beginning, text},
};
use overnight_core::job::id::JobId;
use uuid::Uuid;

impl PostgresStore {
    pub(super) async fn batch_named(&self, name: &str) -> Result<BatchRow, StoreError> {
        let newest = "select * from batches where name = $1 order by created desc, id desc limit 1";
        let named = sqlx::query_as(newest).bind(text(name)).fetch_all(&self.pool).await;
        let found: Result<Vec<BatchColumns>, _> = match (named, ids_beginning(name)) {
            (Ok(rows), _) if !rows.is_empty() => Ok(rows),
            (Err(error), _) => Err(error),
            (Ok(_), _) if name == LAST => {
                let last = "select * from batches order by created desc, id desc limit 1";
                sqlx::query_as(last).fetch_all(&self.pool).await
            }
            (Ok(none), None) => Ok(none),
            (Ok(_), Some((first, last))) => {
                sqlx::query_as("select * from batches where id between $1 and $2 order by id limit 2")
                    .bind(DbId(first))
                    .bind(DbId(last))
                    .fetch_all(&self.pool)
                    .await
            }
        };
        let mut rows = found.map_err(|error| self.failed(error))?;
        match (rows.pop(), rows.len()) {
            (None, _) => Err(StoreError::NoBatch { name: name.to_owned(), many: false }),
            (Some(batch), 0) => self.batch_row(batch).await,
            (Some(_), _) => Err(StoreError::NoBatch { name: name.to_owned(), many: true }),
        }
    }

    pub(super) async fn newest_batches(&self, limit: u32) -> Result<Vec<BatchRow>, StoreError> {
        let rows = sqlx::query_as("select * from batches order by created desc, id desc limit $1")
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await;
        self.batch_rows(rows).await
    }

    pub(super) async fn ended_batches(&self) -> Result<Vec<BatchRow>, StoreError> {
        let rows = sqlx::query_as(BATCHES_TO_END).fetch_all(&self.pool).await;
        self.batch_rows(rows).await
    }

    pub(super) async fn marked_ended(&self, batch: Uuid) -> Result<bool, StoreError> {
        let marked =
            sqlx::query_scalar("select overnight_mark_ended($1)").bind(DbId(batch)).fetch_one(&self.pool).await;
        marked.map_err(|error| self.failed(error))
    }

    pub(super) async fn reserved(&self, id: JobId, lease: u64, may_cost_usd: f64) -> Result<Grant, StoreError> {
        let reserved: Result<Option<i32>, _> = sqlx::query_scalar("select overnight_reserve($1, $2, $3)")
            .bind(DbId(id.0))
            .bind(count(lease))
            .bind(at_most(may_cost_usd))
            .fetch_one(&self.pool)
            .await;
        let reserved = reserved.map_err(|error| self.failed(error))?.ok_or(StoreError::LeaseLost { id })?;
        Ok(Grant::of(reserved.into()))
    }

    pub(super) async fn budget_set(&self, batch: Uuid, usd: Option<f64>) -> Result<(), StoreError> {
        let set = sqlx::query("update batches set budget_usd = $2 where id = $1")
            .bind(DbId(batch))
            .bind(finite(usd))
            .execute(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
        if set.rows_affected() == 0 {
            return Err(StoreError::NoBatch { name: batch.to_string(), many: false });
        }
        Ok(())
    }

    pub(super) async fn figures(&self, batch: Uuid) -> Result<BatchFigures, StoreError> {
        let rows = sqlx::query_as(FIGURES).bind(DbId(batch)).fetch_all(&self.pool).await;
        figures(rows.map_err(|error| self.failed(error))?, &self.database.name)
    }

    async fn batch_row(&self, batch: BatchColumns) -> Result<BatchRow, StoreError> {
        let figures = self.figures(batch.id().0).await?;
        batch.row(figures, &self.database.name)
    }

    async fn batch_rows(&self, rows: Result<Vec<BatchColumns>, sqlx::Error>) -> Result<Vec<BatchRow>, StoreError> {
        let rows = rows.map_err(|error| self.failed(error))?;
        let mut batches = Vec::with_capacity(rows.len());
        for row in rows {
            batches.push(self.batch_row(row).await?);
        }
        Ok(batches)
    }
}
