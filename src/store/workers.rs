//! Workers: which ones exist, and the leases that each still has.

use super::{ControlSignal, StoreError};
use async_trait::async_trait;
use overnight_core::job::id::JobId;
use uuid::Uuid;

/// A job that a worker still has, as its heartbeat finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldLease {
    pub id: JobId,
    pub lease: u64,
    pub wants: Option<ControlSignal>,
}

/// The database, as the register of workers.
#[async_trait]
pub trait WorkerStore: Send + Sync + std::fmt::Debug {
    /// Registers a worker, or registers it again. `worker` is new for each process. Only a worker with a workspace
    /// store (`has_store`) gets jobs whose workspace is there.
    async fn register_worker(&self, worker: Uuid, host: &str, pid: u32, has_store: bool) -> Result<(), StoreError>;

    /// Forgets a worker that stops. Its jobs should be given back before.
    async fn forget_worker(&self, worker: Uuid) -> Result<(), StoreError>;

    /// The number of workers that were seen within the last minute, or have a lease that has not expired.
    async fn workers_at_work(&self) -> Result<u64, StoreError>;

    /// Renews all leases of a worker, and returns those it still has, by id. Any other is lost: stop, and write nothing
    /// more. Count the new deadline from when this was sent.
    async fn heartbeat(&self, worker: Uuid, for_ms: u64) -> Result<Vec<HeldLease>, StoreError>;

    /// The running jobs of a worker that have a control signal, by id. Cheap enough for every second.
    async fn control_signals(&self, worker: Uuid) -> Result<Vec<HeldLease>, StoreError>;
}
