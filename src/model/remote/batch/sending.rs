//! How the gathered calls of a lane are sent: primers first, where they pay, then a batch for each wave.

use super::{
    BatchHttp, NotCreated, SentCall,
    gathering::wave,
    kept,
    post_office::{CHUNK, Memory, PostOffice, SendPrimer},
    stored,
    timing::{is_late, now},
    unanswered,
};
use crate::{
    failpoint,
    model::{Failure, FailureKind},
    store::{GatheredCall, ProviderBatch},
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio::time::Instant;
use uuid::Uuid;

/// A primer costs as much as its cache write; this many calls that read the cache pay for it.
const LEAST_PRIMED: usize = 5;
/// The fewest tokens of a prefix that providers keep.
const LEAST_PREFIX: u64 = 1_024;
/// The time for which a primed prefix is relied on, out of the hour that was requested.
const PRIMED_FOR: Duration = Duration::from_mins(50);

impl PostOffice {
    /// Sends the gathered calls that are due.
    pub(super) async fn send_due(
        &self,
        http: &BatchHttp<'_>,
        memory: &mut Memory,
        prime: SendPrimer<'_>,
    ) -> Result<(), Failure> {
        loop {
            if memory.rests_until.is_some_and(|until| Instant::now() < until) {
                return Ok(());
            }
            let mut gathered = self.store.gathered(&self.lane).await.map_err(stored)?;
            let late: Vec<_> = gathered.extract_if(.., |call| is_late(call)).collect();
            let late: Vec<_> =
                late.into_iter().map(|call| (call.key, unanswered("no batch took it in its time"))).collect();
            for chunk in late.chunks(CHUNK) {
                self.store.end_handed(chunk).await.map_err(stored)?;
            }
            let wave = wave(&gathered, self.pace, self.api.most_bytes(), memory.most_tokens);
            let Some(wave) = wave else { return Ok(()) };
            let primed = self.prime(&wave, prime).await?;
            self.send(http, &wave, &primed, memory).await?;
        }
    }

    /// Has the provider cache the prefix that calls share, if that pays. Returns the cached prefixes.
    async fn prime(&self, wave: &[&GatheredCall], prime: SendPrimer<'_>) -> Result<BTreeSet<String>, Failure> {
        let mut primed = self.store.primed(&self.lane).await.map_err(stored)?;
        primed.retain(|_, until| *until > now());
        let mut alike: BTreeMap<&str, Vec<&GatheredCall>> = BTreeMap::new();
        for call in wave.iter().filter(|call| call.prefix_tokens >= LEAST_PREFIX) {
            alike.entry(&call.prefix).or_default().push(call);
        }
        alike.retain(|_, calls| calls.len() >= LEAST_PRIMED);
        for (prefix, calls) in alike {
            let first = &calls[0].key;
            if primed.contains_key(prefix) {
                continue;
            }
            let bodies = self.store.handed_bodies(std::slice::from_ref(first)).await.map_err(stored)?;
            let Some((_, body)) = bodies.into_iter().next() else { continue };
            let body: Value = serde_json::from_str(&body).unwrap_or_default();
            // If it fails, the calls are only more expensive.
            if let Ok(usd) = prime(self.api.primer(&body)).await {
                self.store.set_primer_cost(first, usd).await.map_err(stored)?;
                primed.insert(prefix.to_owned(), now().after(PRIMED_FOR));
                self.store.set_primed(&self.lane, &primed).await.map_err(stored)?;
            }
        }
        Ok(primed.into_keys().collect())
    }

    fn unmarked(&self, body: String) -> String {
        let Ok(mut fields) = serde_json::from_str::<Value>(&body) else { return body };
        self.api.unmark(&mut fields);
        fields.to_string()
    }

    async fn send(
        &self,
        http: &BatchHttp<'_>,
        wave: &[&GatheredCall],
        primed: &BTreeSet<String>,
        memory: &mut Memory,
    ) -> Result<(), Failure> {
        let keys: Vec<String> = wave.iter().map(|call| call.key.clone()).collect();
        let batch = ProviderBatch {
            id: Uuid::now_v7(),
            handle: None,
            calls: keys.len() as u64,
            tokens: wave.iter().map(|call| call.tokens).sum(),
            intended: now(),
            until: wave.iter().filter_map(|call| call.until).min(),
            is_cancelled: false,
        };
        let bodies = self.store.handed_bodies(&keys).await.map_err(stored)?;
        self.store.intend_batch(&batch, &self.lane, &keys).await.map_err(stored)?;
        failpoint::hit("batch.intended");
        let is_primed: BTreeSet<&str> =
            wave.iter().filter(|call| primed.contains(&call.prefix)).map(|call| call.key.as_str()).collect();
        let calls = bodies.into_iter().map(|(key, body)| {
            // In a batch without a primer no call reads what another one writes to the cache.
            let body = if is_primed.contains(key.as_str()) { body } else { self.unmarked(body) };
            SentCall { key, body }
        });
        let calls: Vec<SentCall> = calls.collect();
        let made = self.api.create(http, &batch.id.to_string(), &calls).await;
        failpoint::hit("batch.created");
        match made {
            Ok(handle) if !handle.is_empty() => {
                self.store.batch_created(batch.id, &handle).await.map_err(stored)?;
                memory.polls.insert(batch.id, Instant::now() + self.pace.least_poll);
                Ok(())
            }
            Ok(_) => Err(http.errors.failure(FailureKind::Malformed, None, "has not said how it names a new batch")),
            Err(NotCreated::Perhaps(failure)) => Err(failure),
            Err(NotCreated::Surely(failure)) => {
                match failure.kind {
                    // The bytes or tokens are too many for one batch.
                    FailureKind::ContextLength if batch.calls > 1 => {
                        memory.most_tokens = Some((batch.tokens / 2).max(1));
                    }
                    FailureKind::KeyRefused
                    | FailureKind::NotFound
                    | FailureKind::BadRequest
                    | FailureKind::QuotaUsed
                    | FailureKind::ContextLength => self.end_rest(batch.id, &BTreeSet::new(), &kept(&failure)).await?,
                    _ => {
                        let pause = failure.retry_after.unwrap_or(self.pace.least_poll * 4);
                        memory.rests_until = Some(Instant::now() + pause);
                    }
                }
                self.store.release_batch(batch.id).await.map_err(stored)?;
                Err(failure)
            }
        }
    }
}
