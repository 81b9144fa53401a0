//! Checkpoints of one process go through one connection, one transaction after the other. Those requested while a
//! transaction is in progress go into the next one together: with hundreds of active jobs, the server is called once,
//! and its disk awaited once, not once for each. A checkpoint that finds no transaction in progress starts immediately.

use super::{
    CALL, Database,
    cached_connection::CachedConnection,
    rows,
    statements::{CHECKPOINT, CHECKPOINT_OF_JOBS, NOTIFY_OF_ROOM},
};
use crate::{
    failpoint,
    store::{
        StoreError,
        sql::{SqlStatement, checkpoint_values},
        value::{DbId, values},
    },
};
use overnight_core::job::{id::JobId, record::Checkpoint};
use sqlx::{PgConnection, PgPool};
use std::collections::BTreeSet;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use uuid::Uuid;

/// The most checkpoints in one transaction, so that the first doesn't wait forever.
const MOST_PER_COMMIT: usize = 128;

/// Many rows are found one by one, by their ids and in the given order, which no two transactions lock in different
/// orders; the plan for that is made once. A row that another process keeps locked doesn't delay all others for long.
const SETTINGS: &str = "set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off; \
    set plan_cache_mode = force_generic_plan; set lock_timeout = '2s'";

/// Hands checkpoints over to the task that commits them in groups.
#[derive(Debug)]
pub(super) struct GroupCommit {
    queue: mpsc::UnboundedSender<PendingCheckpoint>,
    database: String,
}

/// A checkpoint to be written, and the caller that waits for it.
#[derive(Debug)]
struct PendingCheckpoint {
    id: JobId,
    lease: u64,
    checkpoint: Checkpoint,
    done: oneshot::Sender<Result<(), StoreError>>,
}

impl PendingCheckpoint {
    fn is_awaited(&self) -> bool {
        !self.done.is_closed()
    }

    /// Sends the caller its result. A caller that is gone doesn't need it.
    fn answer(self, result: Result<bool, StoreError>) {
        let lost = StoreError::LeaseLost { id: self.id };
        let _ = self.done.send(result.and_then(|written| if written { Ok(()) } else { Err(lost) }));
    }
}

impl GroupCommit {
    pub(super) fn new(pool: PgPool, database: Database) -> Self {
        let (queue, pending) = mpsc::unbounded_channel();
        let name = database.name.clone();
        tokio::spawn(CommitLoop { pool, database, cached: CachedConnection::default() }.serve(pending));
        Self { queue, database: name }
    }

    /// Writes a checkpoint where the lease is still held.
    pub(super) async fn write(&self, id: JobId, lease: u64, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let (done, answered) = oneshot::channel();
        let gone =
            || StoreError::Unreachable { database: self.database.clone(), detail: "the program is ending".to_owned() };
        self.queue.send(PendingCheckpoint { id, lease, checkpoint: checkpoint.clone(), done }).map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

/// The task's side: the connection, and the source of a new one.
struct CommitLoop {
    pool: PgPool,
    database: Database,
    cached: CachedConnection,
}

impl CommitLoop {
    /// Serves until no sender is left.
    async fn serve(mut self, mut pending: mpsc::UnboundedReceiver<PendingCheckpoint>) {
        let mut waiting = Vec::new();
        while pending.recv_many(&mut waiting, MOST_PER_COMMIT).await > 0 {
            while !waiting.is_empty() {
                // A job's second checkpoint is never written with its first.
                let mut ids = BTreeSet::new();
                let different = waiting.iter().take_while(|pending| ids.insert(pending.id.0)).count();
                let rest = waiting.split_off(different);
                self.write(std::mem::replace(&mut waiting, rest)).await;
            }
        }
        self.cached.close().await;
    }

    async fn write(&mut self, mut pending: Vec<PendingCheckpoint>) {
        pending.retain(PendingCheckpoint::is_awaited);
        if pending.len() > 1 {
            pending.sort_unstable_by_key(|pending| pending.id.0);
            match self.transact(&pending).await {
                Ok(written) => {
                    for pending in pending {
                        let is_written = written.contains(&pending.id.0);
                        pending.answer(Ok(is_written));
                    }
                    return;
                }
                // When written alone, each gets only its own error.
                Err(CommitFailure { is_of_one: true, .. }) => {}
                Err(CommitFailure { error, .. }) => {
                    for pending in pending {
                        pending.answer(Err(error.clone()));
                    }
                    return;
                }
            }
        }
        for pending in pending {
            if pending.is_awaited() {
                let result = self.transact(std::slice::from_ref(&pending)).await;
                pending.answer(result.map(|written| !written.is_empty()).map_err(|failure| failure.error));
            }
        }
    }

    /// The ids of those that were written; the others have lost their leases. The connection is kept when that went well. One
    /// that broke since it was last used is replaced once: a checkpoint can be repeated.
    async fn transact(&mut self, pending: &[PendingCheckpoint]) -> Result<BTreeSet<Uuid>, CommitFailure> {
        let worked = timeout(CALL, async {
            let (connection, is_new) = self.cached.connection(&self.pool).await?;
            match self.transact_on(connection, is_new, pending).await {
                Err(error) if !is_new && is_broken(&error) => {
                    let connection = self.pool.acquire().await?.detach();
                    self.transact_on(connection, true, pending).await
                }
                done => done,
            }
        });
        match worked.await {
            Ok(Ok(written)) => Ok(written),
            Ok(Err(error)) => Err(CommitFailure { is_of_one: is_of_one(&error), error: self.database.failed(error) }),
            Err(_) => Err(CommitFailure { is_of_one: false, error: self.database.silent(CALL) }),
        }
    }

    async fn transact_on(
        &mut self,
        mut connection: PgConnection,
        is_new: bool,
        pending: &[PendingCheckpoint],
    ) -> Result<BTreeSet<Uuid>, sqlx::Error> {
        if is_new {
            sqlx::raw_sql(SETTINGS).execute(&mut connection).await?;
        }
        failpoint::hit("store.commit.before");
        let written = write(&mut connection, pending).await?;
        failpoint::hit("store.commit.done");
        self.cached.put_back(connection);
        Ok(written)
    }
}

/// Writes the checkpoints, of which no two are of one job, and returns the ids of those whose leases are still held.
async fn write(connection: &mut PgConnection, pending: &[PendingCheckpoint]) -> Result<BTreeSet<Uuid>, sqlx::Error> {
    let checkpoints: Vec<_> =
        pending.iter().map(|pending| (pending.id, Some(pending.lease), &pending.checkpoint)).collect();
    let mut values = checkpoint_values(&checkpoints);
    let mut template = CHECKPOINT;
    if checkpoints.iter().all(|(_, _, checkpoint)| checkpoint.phases.is_empty() && checkpoint.todos.is_empty()) {
        template = CHECKPOINT_OF_JOBS;
        values.truncate(1);
    }
    let written: Vec<(DbId, bool)> = rows(&mut *connection, &SqlStatement::new(template, values)).await?;
    let make_room: Vec<Uuid> = written.iter().filter(|(_, makes_room)| *makes_room).map(|(id, _)| id.0).collect();
    if !make_room.is_empty() {
        let _: Vec<()> = rows(connection, &SqlStatement::new(NOTIFY_OF_ROOM, values![make_room])).await?;
    }
    Ok(written.into_iter().map(|(id, _)| id.0).collect())
}

/// Why a transaction failed, and whether a single one of its checkpoints may be the cause.
struct CommitFailure {
    error: StoreError,
    is_of_one: bool,
}

fn is_of_one(error: &sqlx::Error) -> bool {
    match error {
        // The connection is broken, or the server is short of something, shutting down or too slow: that is for all.
        sqlx::Error::Database(error) => {
            !error.code().is_some_and(|code| matches!(code.get(..2), Some("08" | "53" | "57")))
        }
        sqlx::Error::Encode(_) => true,
        _ => false,
    }
}

/// The connection is broken, perhaps for a long time.
fn is_broken(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(error) => {
            error.code().is_some_and(|code| code.starts_with("08") || code.starts_with("57P"))
        }
        _ => false,
    }
}
