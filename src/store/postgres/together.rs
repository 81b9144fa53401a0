//! Checkpoints of one process go through one connection, one transaction after the other. What is asked for while a
//! transaction is under way goes into the next one together: with hundreds of jobs at work the server is asked once, and its
//! disk waited for once, not once for each. A checkpoint that finds nothing under way goes at once.

use super::{CALL, Database, checkpoint, group, kept::Kept};
use crate::{
    crash,
    job::{id::JobId, record::Checkpoint},
    store::StoreError,
};
use sqlx::{Connection, PgConnection, PgPool};
use std::collections::BTreeSet;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

/// Checkpoints in one transaction at most, so that the first doesn't wait for ever.
const MOST_TOGETHER: usize = 128;

/// Many rows are found one by one, by their ids and in the order in which they are given, which no two transactions lock in
/// different orders; a plan for that is made once. A row that somebody else keeps locked doesn't hold up all others for long.
const SETTINGS: &str = "set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off; \
    set plan_cache_mode = force_generic_plan; set lock_timeout = '2s'";

/// Whoever has this can write checkpoints.
#[derive(Debug)]
pub(super) struct Together {
    queue: mpsc::UnboundedSender<Asked>,
}

/// A checkpoint, and who waits for it.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) id: JobId,
    pub(super) lease: u64,
    pub(super) checkpoint: Checkpoint,
    done: oneshot::Sender<Result<(), StoreError>>,
}

impl Asked {
    fn is_awaited(&self) -> bool {
        !self.done.is_closed()
    }

    /// Who isn't there any more doesn't need it.
    fn answer(self, result: Result<bool, StoreError>) {
        let lost = StoreError::LeaseLost { id: self.id };
        let _ = self.done.send(result.and_then(|written| if written { Ok(()) } else { Err(lost) }));
    }
}

impl Together {
    pub(super) fn new(pool: PgPool, database: Database) -> Self {
        let (queue, asked) = mpsc::unbounded_channel();
        tokio::spawn(Line { pool, database, kept: Kept::default() }.serve(asked));
        Self { queue }
    }

    /// Writes a checkpoint where the lease is still held.
    pub(super) async fn write(&self, id: JobId, lease: u64, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let (done, told) = oneshot::channel();
        let gone = || StoreError::Unreachable { database: String::new(), detail: "the program is ending".to_owned() };
        self.queue.send(Asked { id, lease, checkpoint: checkpoint.clone(), done }).map_err(|_| gone())?;
        told.await.map_err(|_| gone())?
    }
}

/// The connection, and where to get another.
struct Line {
    pool: PgPool,
    database: Database,
    kept: Kept,
}

impl Line {
    /// Serves until nobody can ask any more.
    async fn serve(mut self, mut asked: mpsc::UnboundedReceiver<Asked>) {
        let mut waiting = Vec::new();
        while asked.recv_many(&mut waiting, MOST_TOGETHER).await > 0 {
            while !waiting.is_empty() {
                // A job's second checkpoint is never written with its first.
                let mut ids = BTreeSet::new();
                let different = waiting.iter().take_while(|asked| ids.insert(asked.id.0)).count();
                let rest = waiting.split_off(different);
                self.write(std::mem::replace(&mut waiting, rest)).await;
            }
        }
        self.kept.close().await;
    }

    async fn write(&mut self, mut asked: Vec<Asked>) {
        asked.retain(Asked::is_awaited);
        if asked.len() > 1 {
            asked.sort_unstable_by_key(|asked| asked.id.0);
            match self.together(&asked).await {
                Ok(written) => {
                    for asked in asked {
                        let is_written = written.contains(&asked.id.0);
                        asked.answer(Ok(is_written));
                    }
                    return;
                }
                // Alone, each hears of its own failure only.
                Err(Failure { is_of_one: true, .. }) => {}
                Err(Failure { error, .. }) => {
                    for asked in asked {
                        asked.answer(Err(error.clone()));
                    }
                    return;
                }
            }
        }
        for asked in asked {
            if asked.is_awaited() {
                let result = self.alone(&asked).await;
                asked.answer(result.map_err(|failure| failure.error));
            }
        }
    }

    async fn alone(&mut self, asked: &Asked) -> Result<bool, Failure> {
        self.on(async |connection: &mut PgConnection| {
            if asked.checkpoint.phases.is_empty() && asked.checkpoint.todos.is_empty() {
                // One statement is a transaction of its own.
                crash::point("store.commit.before");
                let written = checkpoint::write(connection, asked.id, asked.lease, &asked.checkpoint).await;
                crash::point("store.commit.done");
                return written;
            }
            let mut transaction = connection.begin().await?;
            let written = checkpoint::write(&mut transaction, asked.id, asked.lease, &asked.checkpoint).await?;
            crash::point("store.commit.before");
            transaction.commit().await?;
            crash::point("store.commit.done");
            Ok(written)
        })
        .await
    }

    /// The ids of those that were written; the others have lost their leases.
    async fn together(&mut self, asked: &[Asked]) -> Result<BTreeSet<uuid::Uuid>, Failure> {
        self.on(async |connection: &mut PgConnection| {
            crash::point("store.commit.before");
            let written = group::write(connection, asked).await;
            crash::point("store.commit.done");
            written
        })
        .await
    }

    /// Does something on the connection, which is kept when that went well.
    async fn on<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, Failure> {
        let worked = timeout(CALL, async {
            let (mut connection, is_new) = self.kept.connection(&self.pool).await?;
            if is_new {
                sqlx::raw_sql(SETTINGS).execute(&mut connection).await?;
            }
            let done = work(&mut connection).await?;
            self.kept.put_back(connection);
            Ok(done)
        });
        match worked.await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(Failure { is_of_one: is_of_one(&error), error: self.database.failed(error) }),
            Err(_) => Err(Failure { is_of_one: false, error: self.database.silent(CALL) }),
        }
    }
}

/// Why a transaction failed, and whether one of its checkpoints may have spoilt it for all.
struct Failure {
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
