//! The heartbeat: renews all leases of a worker in one statement, again and again. It has a thread, a runtime and a database
//! connection of its own, so that nothing that keeps the worker's other threads or connections busy can delay it.

use super::{
    pulse::{Reach, Tell},
    terms::Told,
    work::Desk,
};
use crate::store::Store;
use std::{
    io,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// How soon a heartbeat that failed is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// A heartbeat that goes on until [`Self::end`], or until this is dropped.
#[derive(Debug)]
pub(super) struct Heartbeat {
    stop: oneshot::Sender<()>,
    ended: oneshot::Receiver<()>,
}

impl Heartbeat {
    pub(super) fn start(desk: Arc<Desk>, reach: Arc<Reach>, tell: &Tell) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        // Whoever listens may be slow.
        let (others, tell) = (Handle::current(), tell.clone());
        let tell: Tell = Arc::new(move |told| {
            let Told::Note(sentence) = told else { return };
            let tell = tell.clone();
            others.spawn_blocking(move || tell(Told::Note(sentence)));
        });
        thread::Builder::new().name("heartbeat".to_owned()).spawn(move || {
            runtime.block_on(async {
                let store = desk.store.with_own_connection();
                tokio::select! {
                    () = beat(&desk, &*store, &reach, &tell) => {}
                    _ = stopped => {}
                }
            });
            // A name that is being looked up is not waited for.
            runtime.shutdown_background();
            let _ = end.send(());
        })?;
        Ok(Self { stop, ended })
    }

    /// Ends it. After this, no lease is renewed any more.
    pub(super) async fn end(self) {
        drop(self.stop);
        let _ = self.ended.await;
    }
}

async fn beat(desk: &Desk, store: &dyn Store, reach: &Reach, tell: &Tell) {
    let times = desk.terms.times;
    loop {
        let before = desk.roster.leases();
        let sent = Instant::now();
        let pause = match store.beat(desk.worker, times.lease_ms()).await {
            Ok(found) => {
                reach.back(tell);
                desk.metrics.beaten();
                for (id, lease) in desk.roster.beaten(sent, &before, &found) {
                    // Best effort: the next heartbeat finds it again.
                    let _ = store.give_back(id, lease, 0, None).await;
                }
                times.beat
            }
            Err(error) => {
                reach.lost(tell, &error);
                TRY_AGAIN
            }
        };
        tokio::time::sleep(pause.saturating_sub(sent.elapsed())).await;
    }
}
