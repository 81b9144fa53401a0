//! Workers in SQL.

use super::{Durability, Engine, SqlStatement};
use crate::store::{
    HeldLease, StoreError, WorkerStore,
    queue::LeaseColumns,
    value::{lease_ms, values},
};
use async_trait::async_trait;
use uuid::Uuid;

const REGISTER_WORKER: &str =
    "insert into workers (id, host, pid, has_workspace_store, started, seen) values ($1, $2, $3, $4, {now}, {now})
     on conflict (id) do update set seen = excluded.seen
     returning id";

/// (A person's own process has a lease and is not enlisted.)
const AT_WORK: &str = "select count(*) from (
        select id from workers where seen > {ago 1 minute}
        union select worker from jobs where status = 'running' and worker is not null and lease_until > {start}
     ) as at_work";

const HEARTBEAT: &str = "{first}update workers set seen = {now} where id = $1{then}
     update jobs set lease_until = {from_now $2}
     where id in (select id from jobs where worker = $1 and status = 'running'{lock})
     returning id, lease, wants";

const SIGNALS: &str =
    "select id, lease, wants from jobs where worker = $1 and wants is not null and status = 'running'";

#[async_trait]
impl<E: Engine> WorkerStore for E {
    async fn register_worker(&self, worker: Uuid, host: &str, pid: u32, has_store: bool) -> Result<(), StoreError> {
        self.take_effect(REGISTER_WORKER, values![worker, host, pid, has_store], Durability::Soon).await.map(drop)
    }

    async fn forget_worker(&self, worker: Uuid) -> Result<(), StoreError> {
        self.take_effect("delete from workers where id = $1", values![worker], Durability::Soon).await.map(drop)
    }

    async fn workers_at_work(&self) -> Result<u64, StoreError> {
        let (workers,): (i64,) = self.one(AT_WORK, values![]).await?;
        Ok(workers.unsigned_abs())
    }

    async fn heartbeat(&self, worker: Uuid, for_ms: u64) -> Result<Vec<HeldLease>, StoreError> {
        let heartbeat = SqlStatement::new(HEARTBEAT, values![worker, lease_ms(for_ms)]);
        let rows: Vec<LeaseColumns> = self.write(vec![heartbeat], Durability::Soon).await?;
        LeaseColumns::by_id(rows, self.database())
    }

    async fn control_signals(&self, worker: Uuid) -> Result<Vec<HeldLease>, StoreError> {
        LeaseColumns::by_id(self.query(SIGNALS, values![worker]).await?, self.database())
    }
}
