//! Batches that expire, are stuck, or are refused in whole or in part: what they have done is used, and the rest goes on its way.

use super::{
    Batching, DOCUMENTS, Format, Night, PATIENCE, Place, QUICK, Setup, Tier, ToldReply, completed, firsts,
    firsts_in_batches, with_each_vendor,
};
use overnight::store::JobTarget;
use overnight_core::job::{id::JobId, instructions::BatchUntil, record::JobStatus};
use std::{collections::BTreeMap, time::Duration};
use tokio::{sync::watch, time::timeout};

/// Every second call of a batch that comes to no good end is done; Gemini gives nothing of it.
fn done_of_three(format: Format) -> usize {
    if format == Format::Gemini { 0 } else { 2 }
}

/// What an expired batch has done is used; the rest is asked for at once.
#[tokio::test]
async fn what_an_expired_batch_has_done_is_used() {
    with_each_vendor(async |format| {
        let night = Night::of(format, Batching { expiring: 1, ..Batching::default() }).await;
        night.submit().await;
        night.gather().await;
        assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
        let replies = night.ended_well().await;
        let counts = night.server.batches();
        assert_eq!((counts.created.first(), counts.expired), (Some(&3), 1));
        assert_eq!(firsts_in_batches(&replies), done_of_three(format), "{replies:#?}");
        // The tier is not left for it.
        assert_eq!(night.why_left().await.len(), 0);
    })
    .await;
}

/// A batch that would take too long is cancelled so early that what it has done can be used.
#[tokio::test]
async fn a_stuck_batch_is_given_up_in_time() {
    with_each_vendor(async |format| {
        let night = Night::of(format, Batching { stuck: 1, ..Batching::default() }).await;
        night.submit_all(&DOCUMENTS, Some(BatchUntil::AfterMs(30_000))).await;
        assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
        let replies = night.ended_well().await;
        let counts = night.server.batches();
        assert!(counts.cancelled > 0, "{counts:#?}");
        // How many first calls come together is a matter of time: every second one of the first batch is not done. So is whether
        // there is time for these in another batch.
        let stuck = counts.created[0];
        let missing = if format == Format::Gemini { stuck } else { stuck / 2 };
        let is_of_first = |reply: &&ToldReply| reply.batch.as_ref().is_some_and(|name| name.ends_with("0001"));
        assert_eq!(replies.values().flatten().filter(is_of_first).count(), stuck - missing, "{replies:#?} {counts:#?}");
        let used = firsts_in_batches(&replies);
        assert!((3 - missing..=3).contains(&used), "{used} {replies:#?} {counts:#?}");
    })
    .await;
}

/// What was sent for jobs that are all cancelled is cancelled at the provider; as long as one of them waits, it is not.
#[tokio::test]
async fn a_batch_that_no_job_waits_for_is_cancelled() {
    with_each_vendor(async |format| {
        let night = Night::of(format, Batching { stuck: 1, ..Batching::default() }).await;
        night.submit().await;
        night.gather().await;
        let (stopper, stop) = watch::channel(false);
        let worker = night.desk.worker(night.desk.model(Tier::Batch, QUICK), true, stop);
        let people = async {
            let a_moment = || tokio::time::sleep(Duration::from_millis(10));
            while night.server.batches().created.is_empty() {
                a_moment().await;
            }
            let jobs: Vec<JobId> = night.entries().await.values().map(|entry| entry.job.id).collect();
            for job in &jobs[1..] {
                assert_eq!(night.desk.store.cancel(JobTarget::Job(*job)).await, Ok(1));
            }
            while night.entries().await.values().filter(|entry| entry.status == JobStatus::Cancelled).count() < 2 {
                a_moment().await;
            }
            assert_eq!(night.server.batches().cancelled, 0);
            assert_eq!(night.desk.store.cancel(JobTarget::Job(jobs[0])).await, Ok(1));
            while night.server.batches().cancelled == 0 {
                a_moment().await;
            }
            stopper.send_replace(true);
        };
        let (summary, ()) = timeout(PATIENCE, async { tokio::join!(worker.run(), people) }).await.unwrap();
        assert_eq!(summary.unwrap().ended, BTreeMap::from([("cancelled", 3)]));
        let counts = night.server.batches();
        assert_eq!((counts.created, counts.cancelled), (vec![3], 1));
        assert_eq!(night.server.counts().complaints, Vec::<String>::new());
    })
    .await;
}

/// A call that the vendor doesn't take is asked for at the standard tier, and its job stays there; the others are answered in
/// batches.
#[tokio::test]
async fn a_wrong_call_is_asked_for_alone_and_the_others_stay() {
    with_each_vendor(async |format| {
        let night = Night::of(format, Batching { wrong_line: Some(2), ..Batching::default() }).await;
        night.submit().await;
        night.gather().await;
        assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
        let replies = night.ended_well().await;
        assert_eq!(firsts_in_batches(&replies), 2, "{replies:#?}");
        let left = night.why_left().await;
        let (label, why) = left.first_key_value().unwrap();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(why.starts_with("refused at the batch tier: "), "{why}");
        assert!(replies[label].iter().all(|reply| reply.tier == Tier::Standard), "{replies:#?}");
        let counts = night.server.batches();
        // OpenAI takes nothing of such a batch: the other calls are sent once more.
        let is_openai = matches!(format, Format::OpenAi | Format::Responses);
        let expected: &[usize] = if is_openai { &[3, 2] } else { &[3] };
        assert_eq!((&counts.created[..expected.len()], counts.failed), (expected, u64::from(is_openai)));
    })
    .await;
}

/// Too many tokens in line: the same calls go in smaller batches.
#[tokio::test]
async fn too_much_for_one_batch_goes_in_smaller_ones() {
    for format in [Format::Responses, Format::OpenAi] {
        let night = Night::of(format, Batching { most_calls: Some(2), ..Batching::default() }).await;
        night.submit().await;
        night.gather().await;
        assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
        let replies = night.ended_well().await;
        let counts = night.server.batches();
        assert!(counts.failed > 0, "{counts:#?}");
        assert_eq!(counts.created[..4], [3, 1, 1, 1]);
        assert_eq!(firsts(&replies), [Tier::Batch; 3]);
    }
}

/// What is too much by itself is asked for at once.
#[tokio::test]
async fn a_call_that_is_too_much_by_itself_is_asked_for_at_once() {
    let night = Night::of(Format::Responses, Batching { most_tokens: Some(1), ..Batching::default() }).await;
    night.submit().await;
    night.gather().await;
    assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
    let replies = night.ended_well().await;
    let counts = night.server.batches();
    assert_eq!((&counts.created[..4], counts.in_batches.len()), (&[3, 1, 1, 1][..], 0));
    assert_eq!(firsts(&replies), [Tier::Standard; 3]);
}

/// A server that has no batch endpoint, as most that speak OpenAI's format: the tier is left with the first answer.
#[tokio::test]
async fn a_server_without_batches_is_asked_at_once() {
    let night = Night::new(Place::sqlite(), Format::OpenAi, Setup::default()).await;
    night.submit().await;
    night.gather().await;
    assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
    let replies = night.ended_well().await;
    assert!(replies.values().flatten().all(|reply| reply.tier == Tier::Standard), "{replies:#?}");
    let left = night.why_left().await;
    assert_eq!(left.keys().map(String::as_str).collect::<Vec<_>>(), DOCUMENTS.map(|(label, _)| label));
    assert!(left.values().all(|why| why.starts_with("refused at the batch tier: ")), "{left:?}");
}

/// A call that no batch can take before its time is over is asked for at once, and nothing waits for it.
#[tokio::test]
async fn with_its_time_over_nothing_is_sent() {
    let night = Night::of(Format::Anthropic, Batching::default()).await;
    night.submit_all(&DOCUMENTS, Some(BatchUntil::AfterMs(1))).await;
    assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
    let replies = night.ended_well().await;
    assert_eq!(firsts(&replies), [Tier::Standard; 3]);
    assert_eq!(night.server.batches().created, Vec::<usize>::new());
    for (label, entry) in night.entries().await {
        assert_eq!((entry.status, entry.attempts), (JobStatus::Completed, 0), "{label}");
    }
}

/// Results that come to nothing once are fetched again: they are paid for.
#[tokio::test]
async fn rubbish_in_place_of_results_is_fetched_again() {
    with_each_vendor(async |format| {
        let night = Night::of(format, Batching { rubbish: 1, ..Batching::default() }).await;
        night.submit().await;
        night.gather().await;
        assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
        assert_eq!(firsts_in_batches(&night.ended_well().await), 3);
    })
    .await;
}

/// Results that name other calls are paid for, too: nothing is sent a second time to a batch endpoint that answers so.
#[tokio::test]
async fn results_of_nobody_are_not_paid_again_and_again() {
    with_each_vendor(async |format| {
        if format == Format::Gemini {
            return;
        }
        let night = Night::of(format, Batching { foreign: true, ..Batching::default() }).await;
        night.submit().await;
        night.gather().await;
        assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
        // Asked at once, each is answered: paid twice, and no more.
        let counts = night.server.batches();
        assert!(!counts.in_batches.is_empty() && counts.in_batches.values().all(|paid| *paid == 1), "{counts:#?}");
    })
    .await;
}
