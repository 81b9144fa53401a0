//! Checkpoints of many jobs at the same time in PostgreSQL: they share transactions, and neither failures nor delays.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::store::{Place, at_work, checkpoint, completed, id, new_job, phase, todo};
use overnight::store::{Store, StoreError};
use overnight_core::job::record::{Checkpoint, JobStatus, JobSummary};
use std::{collections::BTreeMap, future::Future, sync::Arc};
use tokio::task::JoinSet;
use uuid::Uuid;

const JOBS: u32 = 100;
const MINUTE: u64 = 60_000;

/// Some jobs that a worker has, each under lease 1.
async fn claimed(place: &Place) -> Arc<dyn Store> {
    let store = place.store().await;
    for number in 0..JOBS {
        store.create(&new_job(number)).await.unwrap();
        store.claim(id(number), Uuid::from_u128(7), MINUTE).await.unwrap();
    }
    store
}

/// All at once, by the number of the job.
async fn at_once<T, F>(call: impl Fn(u32) -> F) -> BTreeMap<u32, T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for number in 0..JOBS {
        let called = call(number);
        tasks.spawn(async move { (number, called.await) });
    }
    tasks.join_all().await.into_iter().collect()
}

/// A checkpoint that differs from job to job.
fn told(number: u32) -> Checkpoint {
    let state = match number % 3 {
        0 => completed(),
        _ => JobSummary { turns: number.into(), reason: Some(format!("\"{number}\" {{}} \\ é\n")), ..at_work() },
    };
    let phases = if number.is_multiple_of(4) { vec![phase(0, 1), phase(number, 2)] } else { vec![] };
    let todos = if number.is_multiple_of(5) { vec![todo(0, 1, 1), todo(number, 2, number)] } else { vec![] };
    Checkpoint { state, phases, todos }
}

async fn known(store: &dyn Store, number: u32) -> Checkpoint {
    let state = store.job(id(number)).await.unwrap().unwrap().state;
    let (phases, todos) = (store.phases(id(number)).await.unwrap(), store.todos(id(number)).await.unwrap());
    Checkpoint { state, phases, todos }
}

#[tokio::test]
async fn they_go_together() {
    let place = Place::postgres().await;
    let store = claimed(&place).await;
    // The second time repeats what freed a lease, as after a broken connection.
    for _ in 0..2 {
        let results = at_once(|number| {
            let store = store.clone();
            async move { store.checkpoint(id(number), 1, &told(number)).await }
        });
        assert_eq!(results.await, (0..JOBS).map(|number| (number, Ok(()))).collect());
        for number in 0..JOBS {
            assert_eq!(known(&*store, number).await, told(number), "{number}");
        }
    }
    let leases =
        "select concat_ws(' ', status, count(worker), count(lease_until)) from jobs group by status order by 1";
    assert_eq!(place.values(leases).await, ["completed 0 0", "running 66 66"]);
    let transactions: u32 =
        place.value("select cast(count(distinct cast(xmin as text)) as text) from jobs").await.parse().unwrap();
    assert!(transactions <= JOBS / 4, "{JOBS} checkpoints were {transactions} transactions");
}

#[tokio::test]
async fn each_hears_of_its_own() {
    let place = Place::postgres().await;
    let store = claimed(&place).await;
    store.claim(id(3), Uuid::from_u128(8), MINUTE).await.unwrap();
    let before = (known(&*store, 3).await, known(&*store, 50).await);
    let results = at_once(|number| {
        let store = store.clone();
        let mut told = told(number);
        if number == 50 {
            // PostgreSQL takes no NUL in text.
            told.state.journal_head = "a\0b".to_owned();
        }
        // Another has claimed 3, and there is no job for the last.
        let id = if number == 99 { id(1_000) } else { id(number) };
        async move { store.checkpoint(id, 1, &told).await }
    });
    for (number, result) in results.await {
        match number {
            3 => assert_eq!(result, Err(StoreError::LeaseLost { id: id(3) })),
            50 => assert!(matches!(result, Err(StoreError::Sql { .. })), "{result:?}"),
            99 => assert_eq!(result, Err(StoreError::LeaseLost { id: id(1_000) })),
            _ => assert_eq!((result, known(&*store, number).await), (Ok(()), told(number)), "{number}"),
        }
    }
    assert_eq!((known(&*store, 3).await, known(&*store, 50).await), before);
    // What was refused spoils nothing for later.
    store.checkpoint(id(50), 1, &told(50)).await.unwrap();
    assert_eq!(known(&*store, 50).await, told(50));
}

#[tokio::test]
async fn a_jobs_second_comes_after_its_first() {
    let place = Place::postgres().await;
    let store = claimed(&place).await;
    let results = at_once(|number| {
        let store = store.clone();
        async move {
            let first = checkpoint(JobSummary { turns: 1, ..at_work() });
            let second = checkpoint(JobSummary { turns: 2, ..at_work() });
            let last = checkpoint(completed());
            // Asked for in this order, without waiting for the one before.
            tokio::join!(
                store.checkpoint(id(number), 1, &first),
                store.checkpoint(id(number), 1, &second),
                store.checkpoint(id(number), 1, &last),
            )
        }
    });
    assert_eq!(results.await, (0..JOBS).map(|number| (number, (Ok(()), Ok(()), Ok(())))).collect());
    for number in 0..JOBS {
        assert_eq!(known(&*store, number).await, checkpoint(completed()), "{number}");
    }
}

#[tokio::test]
async fn who_goes_away_takes_nobody_along() {
    let place = Place::postgres().await;
    let store = claimed(&place).await;
    let results = at_once(|number| {
        let store = store.clone();
        async move {
            let told = told(number);
            let written = store.checkpoint(id(number), 1, &told);
            if number % 2 == 0 {
                return written.await;
            }
            tokio::select! {
                biased;
                result = written => result,
                () = std::future::ready(()) => Ok(()),
            }
        }
    });
    assert_eq!(results.await, (0..JOBS).map(|number| (number, Ok(()))).collect());
    // One after all others, whether they were still awaited or not.
    store.checkpoint(id(1), 1, &told(1)).await.unwrap();
    for number in (0..JOBS).filter(|number| number % 2 == 0 || *number == 1) {
        assert_eq!(known(&*store, number).await, told(number), "{number}");
    }
}

/// Somebody else's transaction holds on to one row for longer than a worker can wait.
#[tokio::test]
async fn a_row_that_is_locked_holds_up_its_own_job_only() {
    let place = Place::postgres().await;
    let store = claimed(&place).await;
    let (locked, told_locked) = tokio::sync::oneshot::channel::<()>();
    let (free, freed) = tokio::sync::oneshot::channel::<()>();
    let url = place.url.clone();
    let holder = tokio::spawn(async move {
        use sqlx::Connection;
        let mut connection = sqlx::PgConnection::connect(&url).await.unwrap();
        let mut transaction = connection.begin().await.unwrap();
        sqlx::query("select 1 from jobs where id = $1 for update")
            .bind(id(40).0)
            .execute(&mut *transaction)
            .await
            .unwrap();
        locked.send(()).unwrap();
        freed.await.unwrap();
    });
    told_locked.await.unwrap();
    let results = at_once(|number| {
        let store = store.clone();
        async move { store.checkpoint(id(number), 1, &checkpoint(at_work())).await }
    });
    for (number, result) in results.await {
        if number == 40 {
            assert!(result.is_err_and(|error| error.retryable()));
        } else {
            assert_eq!(result, Ok(()), "{number}");
        }
    }
    assert_eq!(store.job(id(40)).await.unwrap().unwrap().state.status, JobStatus::Running);
    free.send(()).unwrap();
    holder.await.unwrap();
    store.checkpoint(id(40), 1, &told(40)).await.unwrap();
}
