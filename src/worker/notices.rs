//! Sends notices about batches to people. Each notice is a task of its own, for which no job waits. A notice that a
//! worker had taken but not sent when it died is sent by another one, some minutes later.

use super::{config::WorkerEvent, context::WorkerContext};
use crate::{
    notify::{MOST_NEEDS, Notice, NoticeKind, NoticeNeed},
    report::words::counted,
    store::{JOBS_AT_ONCE, NoticeClaim, NoticeSubject, StoreError},
};
use overnight_core::job::{id::JobId, record::JobStatus};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{sync::watch, task::JoinSet};

/// Longer than all channels together may take.
const TOLD_WITHIN: Duration = Duration::from_mins(5);
/// The time for which a stopping worker waits for running tasks.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// The notices that are being sent.
#[derive(Debug, Default)]
pub(super) struct NoticeTasks {
    running: Mutex<JoinSet<()>>,
    failed: AtomicU64,
    /// Held while notices are being taken.
    pub(super) taking: tokio::sync::Mutex<()>,
}

impl NoticeTasks {
    fn running(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends due notices at regular intervals.
pub(super) async fn tell_on(context: Arc<WorkerContext>) {
    if context.config.notices.is_empty() {
        return;
    }
    let mut ticks = tokio::time::interval(context.config.times.sweep);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        tell(&context, false).await;
    }
}

/// Begins to send all due notices; `at_once`: also those that would be collected for a while. An outage of the database
/// is reported elsewhere, and due notices stay due.
pub(super) async fn tell(context: &Arc<WorkerContext>, at_once: bool) {
    if context.config.notices.is_empty() {
        return;
    }
    let _one_at_a_time = context.notices.taking.lock().await;
    let Ok(now) = context.store.clock().await else { return };
    let for_ms = u64::try_from(TOLD_WITHIN.as_millis()).unwrap_or(u64::MAX);
    while let Ok(Some(claim)) = context.store.claim_notice(now, at_once, for_ms).await {
        let mut running = context.notices.running();
        while running.try_join_next().is_some() {}
        running.spawn(tell_one(context.clone(), claim));
    }
}

/// Sends one notice to all targets that subscribe to its kind. If the database fails, it is sent again.
async fn tell_one(context: Arc<WorkerContext>, claim: NoticeClaim) {
    let kind = match claim.subject {
        NoticeSubject::End => NoticeKind::BatchEnded,
        NoticeSubject::Needs { .. } => NoticeKind::NeedsPerson,
    };
    let hearing = || context.config.notices.iter().filter(|target| target.hears(kind));
    let notice = match notice(&context, claim, kind).await {
        Ok(notice) => notice,
        Err(error) => return context.database_lost(&error),
    };
    // The need for a person may have ended since it was looked up.
    let is_news = kind == NoticeKind::BatchEnded || notice.need > 0;
    for target in hearing().filter(|_| is_news) {
        if let Err(why) = target.channel.tell(&notice).await {
            context.notices.failed.fetch_add(1, Ordering::SeqCst);
            let (name, way) = (notice.name.clone().unwrap_or_else(|| notice.batch.to_string()), target.channel.name());
            (context.notify)(WorkerEvent::Fault(format!(
                "the {way} that is told of batch {name} failed for good: {why}"
            )));
        }
    }
    if let Err(error) = context.store.notice_told(claim).await {
        context.database_lost(&error);
    }
}

async fn notice(context: &WorkerContext, claim: NoticeClaim, kind: NoticeKind) -> Result<Notice, StoreError> {
    let row = context.store.batch(&claim.batch.to_string()).await?;
    let standing = context.store.batch_standing(claim.batch).await?;
    let ids: Vec<JobId> = standing.iter().filter(|stands| may_need_a_person(stands.status)).map(|job| job.id).collect();
    let (mut need, mut first) = (0, Vec::new());
    for page in ids.chunks(JOBS_AT_ONCE) {
        for one in context.store.jobs(page).await?.iter().filter_map(NoticeNeed::of) {
            need += 1;
            if first.len() < MOST_NEEDS {
                first.push(one);
            }
        }
    }
    Ok(Notice::of(kind, &row, need, first))
}

fn may_need_a_person(status: JobStatus) -> bool {
    match status {
        JobStatus::Failed | JobStatus::Partial | JobStatus::Blocked | JobStatus::Held => true,
        JobStatus::Queued | JobStatus::Running | JobStatus::Waiting | JobStatus::Completed | JobStatus::Cancelled => {
            false
        }
    }
}

/// Waits for running tasks; not for long once the worker is to stop. Returns the number of failed channels.
pub(super) async fn end(context: &WorkerContext, mut stop: watch::Receiver<bool>) -> u64 {
    let mut running = std::mem::take(&mut *context.notices.running());
    let stop_grace = async {
        if stop.wait_for(|stops| *stops).await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(STOP_GRACE).await;
    };
    tokio::select! {
        () = async { while running.join_next().await.is_some() {} } => {}
        () = stop_grace => {
            let left = running.len() as u64;
            context.notices.failed.fetch_add(left, Ordering::SeqCst);
            (context.notify)(WorkerEvent::Fault(format!(
                "the worker stops before {} could be told; another worker tells it",
                counted(left, "notice")
            )));
        }
    }
    context.notices.failed.load(Ordering::SeqCst)
}
