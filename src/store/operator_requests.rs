//! What a person asks of the queue beside its daily work.

use super::StoreError;
use async_trait::async_trait;
use overnight_core::job::id::JobId;

/// How many batches have a name.
pub(super) const COUNT_BATCHES_NAMED: &str = "select count(*) from batches where name = $1";

/// What would be worked on without a person, and only on other machines, by machine.
pub(super) const ELSEWHERE: &str = "select host, count(*) from jobs
     where batch is not null and host <> $1 and (status = 'queued' or (status = 'held' and run_after is not null))
     group by host
     order by host";

/// What commands for people need of the queue, and workers don't.
#[async_trait]
pub trait OperatorRequests: Send + Sync {
    /// How many batches are called `name`.
    async fn count_batches_named(&self, name: &str) -> Result<u64, StoreError>;

    /// How many jobs wait for a worker on another machine than `host`, because it has their workspaces; by machine.
    async fn elsewhere(&self, host: &str) -> Result<Vec<(String, u64)>, StoreError>;

    /// Queues a held job of a batch as if nobody had ever worked on it: with no workspace, no attempt and no record, for any
    /// worker. For a job whose workspace is gone. False, with nothing written, where it isn't held, has no workspace or has
    /// one in a workspace store. What it has cost is counted until its first checkpoint.
    async fn restart_from_nothing(&self, id: JobId) -> Result<bool, StoreError>;
}
