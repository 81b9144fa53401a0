//! Checkpoints of one process go through one connection, one transaction after the other. What is asked for while a
//! transaction is under way goes into the next one together: with hundreds of jobs at work the server is asked once, and its
//! disk waited for once, not once for each. A checkpoint that finds nothing under way goes at once.

use super::{CALL, Database, checkpoint, group, kept::Kept};
use crate::{crash, store::StoreError};
use overnight_core::job::{id::JobId, record::Checkpoint};
use sqlx::{Connection, PgConnection, PgPool};
use std::collections::BTreeSet;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use uuid::Uuid;

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
            match self.transact(&asked).await {
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
                let result = self.transact(std::slice::from_ref(&asked)).await;
                asked.answer(result.map(|written| !written.is_empty()).map_err(|failure| failure.error));
            }
        }
    }

    /// The ids of those that were written; the others have lost their leases. The connection is kept when that went well. One
    /// that broke since it was last used is replaced once: a checkpoint can be repeated.
    async fn transact(&mut self, asked: &[Asked]) -> Result<BTreeSet<Uuid>, Failure> {
        let worked = timeout(CALL, async {
            let (connection, is_new) = self.kept.connection(&self.pool).await?;
            match self.transact_on(connection, is_new, asked).await {
                Err(error) if !is_new && is_broken(&error) => {
                    let connection = self.pool.acquire().await?.detach();
                    self.transact_on(connection, true, asked).await
                }
                done => done,
            }
        });
        match worked.await {
            Ok(Ok(written)) => Ok(written),
            Ok(Err(error)) => Err(Failure { is_of_one: is_of_one(&error), error: self.database.failed(error) }),
            Err(_) => Err(Failure { is_of_one: false, error: self.database.silent(CALL) }),
        }
    }

    async fn transact_on(
        &mut self,
        mut connection: PgConnection,
        is_new: bool,
        asked: &[Asked],
    ) -> Result<BTreeSet<Uuid>, sqlx::Error> {
        if is_new {
            sqlx::raw_sql(SETTINGS).execute(&mut connection).await?;
        }
        let written = match asked {
            [one] => alone(&mut connection, one).await?.then_some(one.id.0).into_iter().collect(),
            many => {
                crash::point("store.commit.before");
                let written = group::write(&mut connection, many).await?;
                crash::point("store.commit.done");
                written
            }
        };
        self.kept.put_back(connection);
        Ok(written)
    }
}

async fn alone(connection: &mut PgConnection, asked: &Asked) -> Result<bool, sqlx::Error> {
    if asked.checkpoint.phases.is_empty() && asked.checkpoint.todos.is_empty() {
        // One statement is a transaction of its own.
        crash::point("store.commit.before");
        let written = checkpoint::write(connection, asked.id, asked.lease, &asked.checkpoint).await?;
        crash::point("store.commit.done");
        return Ok(written);
    }
    let mut transaction = connection.begin().await?;
    let written = checkpoint::write(&mut transaction, asked.id, asked.lease, &asked.checkpoint).await?;
    crash::point("store.commit.before");
    transaction.commit().await?;
    crash::point("store.commit.done");
    Ok(written)
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

/// The connection is gone, perhaps since long before.
fn is_broken(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(error) => {
            error.code().is_some_and(|code| code.starts_with("08") || code.starts_with("57P"))
        }
        _ => false,
    }
}
