//! All writes of this process go through one connection with its own thread, one transaction after the other, so that
//! none waits for another inside SQLite, and none is left half done while the callers' threads are busy. Writes
//! requested while a transaction is in progress go into the next one together (group commit): with hundreds of active
//! jobs the disk is awaited once, not once for each.
//!
//! A write is one statement as a rule, with its conditions in it, that gives a row where it took effect: the client library hands
//! each over to the connection's thread and back, which costs more than the statement itself.

use super::failed;
use crate::{
    failpoint,
    store::{StoreError, sql::Durability},
};
use sqlx::{
    AssertSqlSafe, Connection, SqliteConnection,
    sqlite::{SqliteArguments, SqliteRow},
};
use std::{io, sync::Mutex, thread};
use tokio::{
    runtime::Builder,
    sync::{mpsc, oneshot},
};

/// The most writes in one transaction, so that the first doesn't wait forever.
const MOST_PER_COMMIT: usize = 64;

/// SQL for this database, with its parameters.
#[derive(Debug)]
pub(super) struct WriteCommand {
    pub(super) sql: String,
    pub(super) arguments: SqliteArguments,
}

/// Hands writes over to the thread of the connection.
#[derive(Debug)]
pub(super) struct SqliteWriter {
    queue: Mutex<Option<mpsc::UnboundedSender<PendingWrite>>>,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
    database: String,
}

struct PendingWrite {
    commands: Vec<WriteCommand>,
    durability: Durability,
    done: oneshot::Sender<Result<Vec<SqliteRow>, StoreError>>,
}

impl SqliteWriter {
    /// `connection` waits for the disk at each commit.
    pub(super) fn new(connection: SqliteConnection, database: String) -> io::Result<Self> {
        let (queue, asked) = mpsc::unbounded_channel();
        let (end, ended) = oneshot::channel();
        let writer_thread = WriterThread { connection, database: database.clone(), is_full: true };
        let runtime = Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("sqlite".to_owned()).spawn(move || {
            runtime.block_on(writer_thread.serve(asked));
            let _ = end.send(());
        })?;
        Ok(Self { queue: Mutex::new(Some(queue)), ended: Mutex::new(Some(ended)), database })
    }

    /// Writes nothing: of a database that is only read.
    pub(super) fn none(database: String) -> Self {
        Self { queue: Mutex::default(), ended: Mutex::default(), database }
    }

    /// Stops writing; returns when the connection is closed.
    pub(super) async fn close(&self) {
        drop(self.queue.lock().ok().and_then(|mut queue| queue.take()));
        let ended = self.ended.lock().ok().and_then(|mut ended| ended.take());
        if let Some(ended) = ended {
            // A thread that has ended has no connection any more.
            let _ = ended.await;
        }
    }

    /// Runs all commands in one transaction, and returns all their rows.
    pub(super) async fn rows(
        &self,
        commands: Vec<WriteCommand>,
        durability: Durability,
    ) -> Result<Vec<SqliteRow>, StoreError> {
        failpoint::hit("store.commit.before");
        let (done, answered) = oneshot::channel();
        let gone =
            || StoreError::Unreachable { database: self.database.clone(), detail: "the program is ending".to_owned() };
        let queue = self.queue.lock().ok().and_then(|queue| queue.clone()).ok_or_else(gone)?;
        queue.send(PendingWrite { commands, durability, done }).map_err(|_| gone())?;
        drop(queue);
        let result = answered.await.map_err(|_| gone())?;
        failpoint::hit("store.commit.done");
        result
    }
}

/// The thread's side: the connection, and its present setting.
struct WriterThread {
    connection: SqliteConnection,
    database: String,
    /// It waits for the disk at each commit.
    is_full: bool,
}

impl WriterThread {
    /// Serves until no sender is left.
    async fn serve(mut self, mut asked: mpsc::UnboundedReceiver<PendingWrite>) {
        let mut writes = Vec::with_capacity(MOST_PER_COMMIT);
        while asked.recv_many(&mut writes, MOST_PER_COMMIT).await > 0 {
            let rows = if writes.len() > 1 { self.write_group(&writes).await.ok() } else { None };
            if let Some(rows) = rows {
                answer(&mut writes, rows.into_iter().map(Ok));
                continue;
            }
            // There is one write only, or one of them failed and the group with it. Alone, each gets its own error only.
            let mut results = Vec::with_capacity(writes.len());
            for write in &writes {
                results.push(self.alone(write).await);
            }
            answer(&mut writes, results);
        }
        // The program ends; acknowledged writes are on the disk.
        let _ = self.connection.close().await;
    }

    async fn alone(&mut self, write: &PendingWrite) -> Result<Vec<SqliteRow>, StoreError> {
        let result = match &write.commands[..] {
            // In one go.
            [command] => match self.wait_for_disk(write.durability == Durability::Now).await {
                Ok(()) => {
                    let sql = format!("begin immediate; {}; commit", command.sql);
                    run(&mut self.connection, sql, &command.arguments).await
                }
                Err(error) => Err(error),
            },
            _ => self.transact(std::slice::from_ref(write)).await.map(|rows| rows.into_iter().flatten().collect()),
        };
        self.unless_failed(result).await
    }

    async fn write_group(&mut self, writes: &[PendingWrite]) -> Result<Vec<Vec<SqliteRow>>, StoreError> {
        let result = self.transact(writes).await;
        self.unless_failed(result).await
    }

    async fn transact(&mut self, writes: &[PendingWrite]) -> Result<Vec<Vec<SqliteRow>>, sqlx::Error> {
        self.wait_for_disk(writes.iter().any(|write| write.durability == Durability::Now)).await?;
        sqlx::query("begin immediate").execute(&mut self.connection).await?;
        let mut all = Vec::with_capacity(writes.len());
        for write in writes {
            let mut rows = Vec::new();
            for command in &write.commands {
                rows.extend(run(&mut self.connection, command.sql.clone(), &command.arguments).await?);
            }
            all.push(rows);
        }
        sqlx::query("commit").execute(&mut self.connection).await?;
        Ok(all)
    }

    /// Has commits wait for the disk, or not. Can't be changed within a transaction.
    async fn wait_for_disk(&mut self, is_full: bool) -> Result<(), sqlx::Error> {
        if self.is_full != is_full {
            let pragma = if is_full { "pragma synchronous = full" } else { "pragma synchronous = normal" };
            sqlx::query(pragma).execute(&mut self.connection).await?;
            self.is_full = is_full;
        }
        Ok(())
    }

    /// A transaction that failed halfway is still open, unless the failure has ended it, as a full disk does.
    async fn unless_failed<T>(&mut self, result: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        if result.is_err() {
            let _ = sqlx::query("rollback").execute(&mut self.connection).await;
        }
        result.map_err(|error| failed(&self.database, error))
    }
}

async fn run(
    connection: &mut SqliteConnection,
    sql: String,
    arguments: &SqliteArguments,
) -> Result<Vec<SqliteRow>, sqlx::Error> {
    // All rows are fetched, because only then are all statements run.
    sqlx::query_with(AssertSqlSafe(sql), arguments.clone()).fetch_all(connection).await
}

/// Sends each caller its result. A caller that is gone doesn't need it.
fn answer(writes: &mut Vec<PendingWrite>, results: impl IntoIterator<Item = Result<Vec<SqliteRow>, StoreError>>) {
    for (write, result) in writes.drain(..).zip(results) {
        let _ = write.done.send(result);
    }
}
