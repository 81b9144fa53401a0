//! Nights on which all goes well, or is put right by waiting a moment.

use super::{Batching, Format, Night, Place, Setup, Tier, ToldReply, completed, with_each_vendor};
use crate::store::on_both;
use std::collections::{BTreeMap, BTreeSet};

/// The same deliverables in as many turns. The calls of all jobs that wait go together, and each conversation begins in a
/// batch, which costs half.
#[tokio::test]
async fn a_night_in_batches_delivers_the_same() {
    with_each_vendor(async |format| {
        let night = Night::of(format, Batching::default()).await;
        night.submit().await;
        night.gather().await;
        assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
        let replies = night.ended_well().await;
        assert_eq!(night.server.batches().created.first(), Some(&3));
        for (label, replies) in &replies {
            let mut begun = BTreeSet::new();
            for reply in replies.iter().filter(|reply| begun.insert(reply.conversation)) {
                assert_eq!(reply.tier, Tier::Batch, "{label}: conversation {}", reply.conversation);
            }
        }
        assert_eq!(night.why_left().await.len(), 0);

        let usual = Night::of(format, Batching::default()).await;
        usual.submit().await;
        assert_eq!(usual.desk.work(Tier::Standard).await, completed(3));
        let usual_replies = usual.ended_well().await;
        assert_eq!(usual.server.batches().created, Vec::<usize>::new());
        assert_eq!(night.delivered().await, usual.delivered().await);
        let turns = |replies: &BTreeMap<String, Vec<ToldReply>>| {
            replies.iter().map(|(label, replies)| (label.clone(), replies.len())).collect::<Vec<_>>()
        };
        assert_eq!(turns(&replies), turns(&usual_replies));
    })
    .await;
}

/// What was created without a word of it is found in the vendor's list, behind batches of others, and is not sent again.
#[tokio::test]
async fn creations_whose_answers_are_lost_are_found() {
    with_each_vendor(async |format| {
        let batching = Batching { loses_creations: 2, others: 3, page: 2, ..Batching::default() };
        let night = Night::of(format, batching).await;
        night.submit().await;
        assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
        night.ended_well().await;
        assert_eq!(night.server.batches().lost, 2);
    })
    .await;
}

/// A batch that isn't known in its first moments is asked about again, and so are results that are refused at first.
#[tokio::test]
async fn what_is_refused_for_a_moment_is_asked_for_again() {
    with_each_vendor(async |format| {
        let night = Night::of(format, Batching { early_404: 2, early_403: 2, ..Batching::default() }).await;
        night.submit().await;
        assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
        night.ended_well().await;
    })
    .await;
}

/// Results that don't say whose they are stand in the order of the calls.
#[tokio::test]
async fn results_without_keys_are_told_apart_by_their_places() {
    let night = Night::of(Format::Gemini, Batching { without_keys: true, ..Batching::default() }).await;
    night.submit().await;
    night.gather().await;
    assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
    night.ended_well().await;
}

/// On each database.
async fn a_night_with_a_lost_creation(place: Place) {
    let batching = Batching { loses_creations: 1, ..Batching::default() };
    let night = Night::new(place, Format::Responses, Setup { batching: Some(batching), ..Setup::default() }).await;
    night.submit().await;
    night.gather().await;
    assert_eq!(night.desk.work(Tier::Batch).await, completed(3));
    night.ended_well().await;
    let counts = night.server.batches();
    assert_eq!((counts.created.first(), counts.lost), (Some(&3), 1));
}

on_both! {
    a_night_with_a_lost_creation
}
