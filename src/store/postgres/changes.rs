//! Listens for notifications of changes (`overnight_notify` in `migrations/postgres/0001_schema.sql`), on a connection
//! of its own, opened at the first wait for a change.

use crate::store::queue::ChangeWaiter;
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgListener, PgPoolOptions},
};
use std::time::Duration;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

const CHANNEL: &str = "overnight";

/// How long to wait before a broken connection is tried again.
const RECONNECT_AFTER: Duration = Duration::from_secs(2);

/// After this much silence the server is pinged: a network that silently drops everything breaks no connection.
const PING_AFTER: Duration = Duration::from_mins(1);

/// The timeout of the answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Begins to listen, until the returned is dropped.
pub(super) fn listen(options: PgConnectOptions) -> ChangeWaiter {
    let (sender, number) = watch::channel(0);
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(ANSWER_TIMEOUT)
        .connect_lazy_with(options);
    tokio::spawn(async move {
        tokio::select! {
            () = serve(&pool, &sender) => {}
            () = sender.closed() => {}
        }
    });
    ChangeWaiter::new(number)
}

async fn serve(pool: &PgPool, number: &watch::Sender<u64>) {
    loop {
        // Any error is ignored: the caller's slow poll continues, and reports an unreachable database itself.
        let _ = receive(pool, number).await;
        sleep(RECONNECT_AFTER).await;
    }
}

/// Receives until the connection is broken.
async fn receive(pool: &PgPool, number: &watch::Sender<u64>) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    // Earlier changes are unknown.
    announce(number);
    loop {
        match timeout(PING_AFTER, listener.try_recv()).await {
            Ok(Ok(Some(_))) => announce(number),
            Ok(Ok(None)) => return Ok(()),
            Ok(Err(error)) => return Err(error),
            Err(_) => {
                let answer = timeout(ANSWER_TIMEOUT, sqlx::query("select 1").execute(&mut listener)).await;
                answer.map_err(|_| sqlx::Error::PoolTimedOut)??;
            }
        }
    }
}

fn announce(number: &watch::Sender<u64>) {
    number.send_modify(|number| *number += 1);
}
