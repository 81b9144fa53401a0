//! Batches of empty jobs, in a database of their own.

use crate::server::Server;
use overnight::store::{NewBatch, QueuedJob, Store, connect};
use overnight_core::job::{
    digest::ZERO,
    id::JobId,
    record::{Checkpoint, JobStatus, JobSummary},
    time::Timestamp,
};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use std::{cell::Cell, sync::Arc};
use tokio::runtime::Runtime;
use uuid::Uuid;

/// Longer than any part takes.
pub(crate) const LEASE_MS: u64 = 3_600_000;

/// How often everything is measured: the middle one counts.
pub(crate) const RUNS: usize = 3;

pub(crate) struct Ground {
    pub(crate) server: Server,
    pub(crate) runtime: Runtime,
    databases: Cell<u32>,
}

impl Ground {
    pub(crate) fn new(server: Server) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Self { server, runtime, databases: Cell::new(0) }
    }

    /// The URL of a new, empty database.
    pub(crate) fn database(&self) -> String {
        self.databases.set(self.databases.get() + 1);
        let name = format!("bench_{}", self.databases.get());
        let server = self.server.url();
        self.runtime.block_on(sql(&format!("{server}/postgres"), &format!("create database {name}")));
        format!("{server}/{name}")
    }
}

/// Runs SQL past the program.
pub(crate) async fn sql(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
}

/// A number that SQL tells.
pub(crate) async fn number(url: &str, sql: &str) -> i64 {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut connection).await.unwrap()
}

pub(crate) async fn stores(url: &str, count: usize) -> Vec<Arc<dyn Store>> {
    let mut stores = Vec::with_capacity(count);
    for _ in 0..count {
        stores.push(connect(url).await.unwrap());
    }
    stores
}

/// A batch of so many jobs.
pub(crate) async fn submit(store: &dyn Store, jobs: usize, budget_usd: Option<f64>) -> Uuid {
    let created: Timestamp = serde_json::from_value("2026-11-21T22:00:00.000Z".into()).unwrap();
    let batch = NewBatch {
        id: Uuid::now_v7(),
        created,
        name: None,
        instructions: "load".to_owned(),
        instructions_text: String::new(),
        instructions_sha256: ZERO.to_owned(),
        model: "offline".to_owned(),
        settings: serde_json::Value::Null,
        budget_usd,
        time_window: None,
    };
    let jobs: Vec<QueuedJob> = (0..jobs)
        .map(|number| QueuedJob {
            id: JobId(Uuid::now_v7()),
            label: format!("contract {number}.pdf"),
            sources: vec![format!("in/contracts/contract {number}.pdf")],
            documents: 1,
            documents_sha256: None,
            priority: 0,
            run_after: None,
            group: None,
            max_attempts: 3,
            is_held: false,
        })
        .collect();
    store.submit(&batch, &jobs, false).await.unwrap();
    batch.id
}

/// What a job without any work leaves at its end.
pub(crate) fn end() -> Checkpoint {
    Checkpoint { state: state(JobStatus::Completed), phases: Vec::new(), todos: Vec::new() }
}

pub(crate) fn state(status: JobStatus) -> JobSummary {
    JobSummary {
        status,
        hold_reason: None,
        reason: None,
        phase_number: 1,
        phase_title: "Extraction".to_owned(),
        phases_planned: 8,
        phases_complete: 1,
        turns: 1,
        tokens_in: 4_000,
        tokens_out: 200,
        tokens_cached: 0,
        cost_usd: None,
        worked_ms: 1,
        coverage: 1.0,
        summary: None,
        confidence: None,
        notes: None,
        deliverables: Vec::new(),
        completed_at: None,
        approved_by: None,
        corrections: 0,
        journal_seq: 1,
        journal_head: ZERO.to_owned(),
    }
}
