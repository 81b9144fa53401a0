//! The heartbeat: renews all leases of a worker in one statement, again and again. It has a thread, a runtime and a database
//! connection of its own, so that nothing that keeps the worker's other threads or connections busy can delay it.

use super::{
    background::{DatabaseHealth, EventSink},
    claimed_job::WorkerContext,
    config::WorkerEvent,
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

/// Renews the leases until [`Self::end`], or until it is dropped.
#[derive(Debug)]
pub(super) struct Heartbeat {
    stop: oneshot::Sender<()>,
    ended: oneshot::Receiver<()>,
}

impl Heartbeat {
    pub(super) fn start(
        context: Arc<WorkerContext>,
        health: Arc<DatabaseHealth>,
        notify: &EventSink,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        // Whoever listens may be slow.
        let (others, notify) = (Handle::current(), notify.clone());
        let notify: EventSink = Arc::new(move |event| {
            let WorkerEvent::Note(sentence) = event else { return };
            let notify = notify.clone();
            others.spawn_blocking(move || notify(WorkerEvent::Note(sentence)));
        });
        thread::Builder::new().name("heartbeat".to_owned()).spawn(move || {
            runtime.block_on(async {
                let store = context.store.with_own_connection();
                tokio::select! {
                    () = renew_leases(&context, &*store, &health, &notify) => {}
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

async fn renew_leases(context: &WorkerContext, store: &dyn Store, health: &DatabaseHealth, notify: &EventSink) {
    let times = context.config.times;
    loop {
        let before = context.active_jobs.leases();
        let sent = Instant::now();
        let pause = match store.heartbeat(context.worker, times.lease_ms()).await {
            Ok(found) => {
                health.back(notify);
                context.metrics.on_heartbeat();
                for (id, lease) in context.active_jobs.on_heartbeat(sent, &before, &found) {
                    // Best effort: the next heartbeat finds it again.
                    let _ = store.give_back(id, lease, 0, None).await;
                }
                times.heartbeat
            }
            Err(error) => {
                health.lost(notify, &error);
                TRY_AGAIN
            }
        };
        tokio::time::sleep(pause.saturating_sub(sent.elapsed())).await;
    }
}
