//! Who waits for something to do hears of what may be something to do, and of nothing else.

use super::{
    A, B, FUTURE, MINUTE, Place, at_work, batch, batch_id, checkpoint, completed, expire, id, on_both, queued,
};
use overnight::store::{ControlSignal, Group, JobTarget, QueuedJob};
use overnight_core::job::record::{HoldReason, JobStatus};
use sqlx::postgres::PgListener;
use std::time::Duration;

/// Longer than any change takes to be told.
const LONG: Duration = Duration::from_mins(1);

async fn whoever_waits_hears_of_each_change(place: Place) {
    let store = place.store().await;
    let other = place.store().await;
    // What was before is unknown.
    assert!(store.changed(LONG).await);
    let whole = JobTarget::Batch(batch_id(1));
    let change = async |which: usize| match which {
        0 => {
            let jobs = [queued(1), QueuedJob { is_held: true, ..queued(2) }];
            assert_eq!(other.submit(&batch(1), &jobs, false).await.unwrap().jobs, 2);
        }
        1 => assert_eq!(other.resume(whole).await, Ok(1)),
        2 => {
            assert_eq!(other.claim_next(A, "here", 2, MINUTE).await.unwrap().len(), 2);
            assert_eq!(other.give_back(id(1), 1, 0, Some("it broke")).await, Ok(JobStatus::Queued));
        }
        3 => other.send_signal(id(2), ControlSignal::Pause).await.unwrap(),
        4 => assert_eq!(other.hold(whole, HoldReason::Paused, None).await, Ok(1)),
        5 => {
            expire(&place, 2).await;
            assert_eq!(other.sweep().await.unwrap().paused, [id(2)]);
        }
        6 => assert_eq!(other.cancel(whole).await, Ok(2)),
        7 => {
            place.sql("update jobs set status = 'failed'").await;
            assert_eq!(other.retry(whole).await, Ok(2));
        }
        8 => {
            let columns = "id, name, created, cron, timezone, submission";
            let values = format!("'{}', 'n', '{FUTURE}', '', '', '{{}}'", batch_id(1));
            place.sql(format!("insert into schedules ({columns}) values ({values})")).await;
        }
        9 => place.sql("update schedules set last_run = created").await,
        _ => place.sql("delete from schedules").await,
    };
    for which in 0..=10 {
        // While it waits, and before it waits.
        if which % 2 == 0 {
            change(which).await;
            assert!(store.changed(LONG).await, "change {which}");
        } else {
            let (told, ()) = tokio::join!(store.changed(LONG), change(which));
            assert!(told, "change {which}");
        }
    }
    // Its own changes count too; a wait that was given up has heard of none.
    assert_eq!(store.hold(whole, HoldReason::Paused, None).await, Ok(2));
    let told = tokio::select! {
        biased;
        told = store.changed(LONG) => told,
        () = std::future::ready(()) => false,
    };
    assert!(told || store.changed(LONG).await);
    // Then nothing more comes, and the time passes.
    assert!(!store.changed(Duration::ZERO).await);
    assert!(!store.changed(Duration::from_millis(20)).await);
}

/// How often others were told of a change meanwhile.
struct Told<'a> {
    place: &'a Place,
    listener: Option<PgListener>,
    before: u32,
}

impl<'a> Told<'a> {
    async fn since_now(place: &'a Place) -> Self {
        let mut told = Self { place, listener: None, before: 0 };
        if place.url.starts_with("postgres") {
            let mut listener = PgListener::connect(&place.url).await.unwrap();
            listener.listen("overnight").await.unwrap();
            told.listener = Some(listener);
        } else {
            told.before = told.number().await;
        }
        told
    }

    async fn number(&self) -> u32 {
        self.place.value("select cast(number as text) from queue_changes").await.parse().unwrap()
    }

    /// Since the last call.
    async fn times(&mut self) -> u32 {
        let Some(listener) = &mut self.listener else {
            let now = self.number().await;
            return now - std::mem::replace(&mut self.before, now);
        };
        // What was told before comes before this.
        self.place.sql("notify overnight, 'up to here'").await;
        let mut times = 0;
        while listener.recv().await.unwrap().payload() != "up to here" {
            times += 1;
        }
        times
    }
}

async fn a_night_of_work_tells_nobody_but_of_what_may_be_claimed(place: Place) {
    let store = place.store().await;
    let mut told = Told::since_now(&place).await;
    let group = Some(Group { key: "a".to_owned(), at_once: 1 });
    let mut jobs: Vec<QueuedJob> = (1..=4).map(queued).collect();
    jobs.extend([5, 6].map(|number| QueuedJob { group: group.clone(), ..queued(number) }));
    store.submit(&batch(1), &jobs, true).await.unwrap();
    assert_eq!(told.times().await, 1);
    // Nothing new: no second time.
    store.submit(&batch(1), &jobs, true).await.unwrap();
    assert_eq!(told.times().await, 0);

    store.register_worker(A, "here", 1, false).await.unwrap();
    assert_eq!(store.claim_next(A, "here", 9, MINUTE).await.unwrap().len(), 5);
    assert_eq!(store.claim_next(B, "here", 9, MINUTE).await.unwrap().len(), 0);
    store.heartbeat(A, MINUTE).await.unwrap();
    store.renew(id(1), 1, MINUTE).await.unwrap();
    store.set_workspace(id(1), 1, "workspaces/one", None).await.unwrap();
    store.checkpoint(id(1), 1, &checkpoint(at_work())).await.unwrap();
    store.reserve(id(1), 1, 0.25).await.unwrap();
    store.checkpoint(id(1), 1, &checkpoint(completed())).await.unwrap();
    assert_eq!(store.sweep().await, Ok(overnight::store::Swept::default()));
    let whole = JobTarget::Batch(batch_id(1));
    assert_eq!(store.resume(whole).await, Ok(0));
    assert_eq!(store.retry(whole).await, Ok(0));
    assert_eq!(store.cancel(JobTarget::Job(id(1))).await, Ok(0));
    assert_eq!(store.hold(JobTarget::Job(id(1)), HoldReason::Paused, None).await, Ok(0));
    store.batches_to_end().await.unwrap();
    store.mark_ended(batch_id(1)).await.unwrap();
    store.forget_worker(A).await.unwrap();
    assert_eq!(told.times().await, 0);

    // The end of a job of a group makes room for the next.
    store.checkpoint(id(5), 1, &checkpoint(completed())).await.unwrap();
    assert_eq!(told.times().await, 1);
    assert_eq!(store.cancel(whole).await, Ok(4));
    assert_eq!(told.times().await, 1);
}

#[tokio::test]
async fn a_broken_connection_is_made_anew() {
    let place = Place::postgres().await;
    let store = place.store().await;
    assert!(store.changed(LONG).await);
    assert!(!store.changed(Duration::ZERO).await);
    place.sql("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()").await;
    // Something may have come meanwhile.
    assert!(store.changed(LONG).await);
    place.store().await.submit(&batch(1), &[queued(1)], false).await.unwrap();
    assert!(store.changed(LONG).await);
}

/// What is written into a file that nobody else can open is lost.
#[tokio::test]
async fn nothing_is_claimed_from_a_file_that_was_removed_or_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("overnight.db");
    let url = format!("sqlite://{}", path.display());
    let store = overnight::store::connect(&url).await.unwrap();
    store.submit(&batch(1), &[queued(1), queued(2)], false).await.unwrap();
    assert_eq!(store.claim_next(A, "here", 1, MINUTE).await.unwrap().len(), 1);
    let removed = overnight::store::StoreError::Connect {
        database: path.display().to_string(),
        detail:
            "its file was removed or replaced while it was in use: start again, and `overnight reindex` brings back \
                 what the workspaces know"
                .to_owned(),
    };
    std::fs::remove_file(&path).unwrap();
    assert_eq!(store.claim_next(A, "here", 1, MINUTE).await, Err(removed.clone()));
    let _new = overnight::store::connect(&url).await.unwrap();
    assert_eq!(store.claim_next(A, "here", 1, MINUTE).await, Err(removed));
}

on_both! {
    whoever_waits_hears_of_each_change
    a_night_of_work_tells_nobody_but_of_what_may_be_claimed
}
