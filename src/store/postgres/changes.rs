//! Hears what is told to all that listen (`overnight_tell` in `migrations/postgres/0003_worker.sql`), on a connection of its
//! own, opened when somebody first waits for a change.

use crate::store::queue::Changes;
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
const PAUSE: Duration = Duration::from_secs(2);

/// After so long without a word the server is asked whether it is still there: a network that swallows everything breaks no
/// connection.
const SILENCE: Duration = Duration::from_mins(1);

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(10);

/// Begins to listen, until the returned is dropped.
pub(super) fn listen(options: PgConnectOptions) -> Changes {
    let (teller, number) = watch::channel(0);
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(ANSWER)
        .connect_lazy_with(options);
    tokio::spawn(async move {
        tokio::select! {
            () = serve(&pool, &teller) => {}
            () = teller.closed() => {}
        }
    });
    Changes::new(number)
}

async fn serve(pool: &PgPool, teller: &watch::Sender<u64>) {
    loop {
        // Whatever goes wrong: the caller's slow poll goes on meanwhile, and has its own words about a database that is gone.
        let _ = hear(pool, teller).await;
        sleep(PAUSE).await;
    }
}

/// Hears until the connection is broken.
async fn hear(pool: &PgPool, teller: &watch::Sender<u64>) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    // What came before is unknown.
    raise(teller);
    loop {
        match timeout(SILENCE, listener.try_recv()).await {
            Ok(Ok(Some(_))) => raise(teller),
            Ok(Ok(None)) => return Ok(()),
            Ok(Err(error)) => return Err(error),
            Err(_) => {
                let asked = timeout(ANSWER, sqlx::query("select 1").execute(&mut listener)).await;
                asked.map_err(|_| sqlx::Error::PoolTimedOut)??;
            }
        }
    }
}

fn raise(teller: &watch::Sender<u64>) {
    teller.send_modify(|number| *number += 1);
}
