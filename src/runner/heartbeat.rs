//! The heartbeat: renews all leases of a worker in one statement at regular intervals, and receives people's requests
//! to the jobs. It has its own thread, runtime and database connection, so that busy threads or connections elsewhere
//! can't delay it.

use super::{active_jobs::ActiveJobs, clock::now, lease::WorkerTimes};
use crate::{
    batch::window::Window,
    store::{Store, StoreError},
};
use std::{
    io,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::oneshot,
};
use uuid::Uuid;

/// The pause before a failed heartbeat is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// A heartbeat that goes on until [`Self::end`], or until this is dropped.
#[derive(Debug)]
pub struct Heartbeat {
    stop: oneshot::Sender<()>,
    ended: oneshot::Receiver<()>,
}

/// The leases that a heartbeat keeps.
#[derive(Debug)]
pub struct Leases {
    /// The worker in whose name they are claimed.
    pub worker: Uuid,
    pub jobs: Arc<ActiveJobs>,
    pub times: WorkerTimes,
    /// The time window in which all the jobs may be worked.
    pub window: Option<Window>,
}

/// A runtime that may be dropped anywhere: dropping it does not wait for a pending name look-up.
struct OwnRuntime(Option<Runtime>);

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Heartbeat {
    /// `observer` is called on the heartbeat's thread with what came of each renewal, and when that was sent.
    pub fn start(
        store: &dyn Store,
        leases: Leases,
        observer: impl Fn(Instant, Result<(), &StoreError>) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let failed = |error: io::Error| StoreError::Unreachable {
            database: "for the heartbeat".to_owned(),
            detail: format!("the system gives no thread for it ({error})"),
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let store = {
            let _inside = runtime.enter();
            store.with_own_connection()
        };
        let runtime = OwnRuntime(Some(runtime));
        let (stop, until_stopped) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let beating = async move {
            tokio::select! {
                () = leases.keep(&*store, observer) => {}
                _ = until_stopped => {}
            }
        };
        let timers = move || {
            if let Some(runtime) = &runtime.0 {
                runtime.block_on(beating);
            }
            drop(runtime);
            let _ = end.send(());
        };
        thread::Builder::new().name("heartbeat".to_owned()).spawn(timers).map_err(failed)?;
        Ok(Self { stop, ended })
    }

    /// Ends it. After this, no lease is renewed any more.
    pub async fn end(self) {
        drop(self.stop);
        let _ = self.ended.await;
    }
}

impl Leases {
    async fn keep(&self, store: &dyn Store, observer: impl Fn(Instant, Result<(), &StoreError>)) {
        let times = self.times;
        let mut next = Instant::now() + times.heartbeat;
        loop {
            tokio::time::sleep(times.signals.min(next.saturating_duration_since(Instant::now()))).await;
            self.jobs.check_windows(self.window.as_ref(), now());
            let sent = Instant::now();
            if sent >= next {
                let renewed = self.renew(store, sent).await;
                next = sent + if renewed.is_ok() { times.heartbeat } else { TRY_AGAIN };
                observer(sent, renewed.as_ref().copied());
            } else if self.jobs.count() > 0 {
                match store.control_signals(self.worker).await {
                    Ok(found) => self.jobs.on_signals(&found),
                    // An unreachable database is asked again immediately.
                    Err(_) => next = sent,
                }
            }
        }
    }

    async fn renew(&self, store: &dyn Store, sent: Instant) -> Result<(), StoreError> {
        let before = self.jobs.leases();
        let found = store.heartbeat(self.worker, self.times.lease_ms()).await?;
        for (id, lease) in self.jobs.on_heartbeat(sent, &before, &found) {
            // Best effort: the next heartbeat finds it again.
            let _ = store.give_back(id, lease, 0, None).await;
        }
        Ok(())
    }
}
