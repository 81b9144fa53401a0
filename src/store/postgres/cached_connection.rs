//! A cached connection for the most frequent calls. The pool asks the server before and after each use whether
//! the connection is alive: three round trips for one statement, and as many switches of processes on both sides.

use super::CONNECT;
use sqlx::{Connection, PgConnection, PgPool};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// A connection that was idle for this long is checked before it is used again.
const TRUSTED: Duration = Duration::from_secs(1);

/// Taken for each use, and returned only after success: a caller that is dropped half way must leave no connection in
/// an unknown state.
#[derive(Debug, Default)]
pub(super) struct CachedConnection(Option<(PgConnection, Instant)>);

impl CachedConnection {
    /// The connection, if it still exists. `None`: the caller opens one.
    async fn take(&mut self) -> Option<PgConnection> {
        let (mut connection, used) = self.0.take()?;
        if used.elapsed() < TRUSTED {
            return Some(connection);
        }
        matches!(timeout(CONNECT, connection.ping()).await, Ok(Ok(()))).then_some(connection)
    }

    /// The connection, or a new one, and whether it is new.
    pub(super) async fn connection(&mut self, pool: &PgPool) -> Result<(PgConnection, bool), sqlx::Error> {
        match self.take().await {
            Some(connection) => Ok((connection, false)),
            None => Ok((pool.acquire().await?.detach(), true)),
        }
    }

    pub(super) fn put_back(&mut self, connection: PgConnection) {
        self.0 = Some((connection, Instant::now()));
    }

    pub(super) async fn close(self) {
        if let Some((connection, _)) = self.0 {
            // Closing without a goodbye does no harm.
            let _ = timeout(CONNECT, connection.close()).await;
        }
    }
}
