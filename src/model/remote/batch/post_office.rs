//! The calls of one lane – a model at a server, with a key – from their submission to their answers. They are stored in
//! the database, so that the calls of all jobs and workers are sent together; one worker at a time communicates with
//! the provider. A batch is recorded before it is sent, and the provider's handle afterwards: after a crash, a batch
//! that may have been created is searched for, and nothing is sent twice.

use super::{
    BatchApi, BatchHttp, Found, GatherPace, RefusedBatch, Standing, not_done, readable, stored,
    timing::{GRACE, Times, now},
    unanswered,
};
use crate::{
    failpoint,
    model::{Failure, Remedy},
    store::{HandedCall, HandedEnd, HandedState, ProviderBatch, Store},
};
use overnight_core::job::{id::JobId, time::Timestamp};
use serde_json::Value;
use std::{
    collections::{BTreeSet, HashMap},
    future::Future,
    pin::pin,
    sync::Arc,
    time::Duration,
};
use tokio::{sync::Mutex, time::Instant};
use uuid::Uuid;

/// The duration for which a lane is held; the hold is renewed well before.
const LEASE: Duration = Duration::from_secs(30);
const RENEW: Duration = Duration::from_secs(10);
/// The number of times that incomplete results are fetched again.
const MOST_FETCHES: u32 = 3;
/// Answers that are written in one transaction.
pub(super) const CHUNK: usize = 100;
/// The time after which a newly created batch must appear in the provider's list.
const SETTLED: Duration = Duration::from_mins(1);
/// A provider may not know a batch in the first moments, nor when it has only just ended.
const NOT_KNOWN_YET: Duration = Duration::from_mins(10);

/// A call to submit.
#[derive(Debug)]
pub(in super::super) struct Gathering {
    pub(in super::super) key: String,
    pub(in super::super) job: JobId,
    pub(in super::super) prefix: String,
    pub(in super::super) prefix_tokens: u64,
    pub(in super::super) tokens: u64,
    pub(in super::super) until: Option<Timestamp>,
    pub(in super::super) body: String,
}

/// The calls of one lane.
#[derive(Debug)]
pub(in super::super) struct PostOffice {
    pub(super) store: Arc<dyn Store>,
    pub(super) lane: String,
    pub(super) api: Box<dyn BatchApi>,
    pub(super) pace: GatherPace,
    who: Uuid,
    memory: Mutex<Memory>,
}

/// State that only this process needs.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The time at which each batch is polled next.
    pub(super) polls: HashMap<Uuid, Instant>,
    /// Nothing is sent before this time.
    pub(super) rests_until: Option<Instant>,
    /// The most tokens of a batch, if the account may not have more queued.
    pub(super) most_tokens: Option<u64>,
    /// Batches that were searched for and found: one of them may be another client's.
    found: BTreeSet<Uuid>,
    /// How often the results of a batch were fetched and were incomplete.
    fetched: HashMap<Uuid, u32>,
}

/// Sends a primer and returns its cost in USD, if known.
pub(in super::super) type SendPrimer<'a> = &'a (dyn Fn(Value) -> PrimerSent<'a> + Send + Sync);
type PrimerSent<'a> = std::pin::Pin<Box<dyn Future<Output = Result<Option<f64>, Failure>> + Send + 'a>>;

impl PostOffice {
    pub(in super::super) fn new(store: Arc<dyn Store>, lane: String, api: Box<dyn BatchApi>, pace: GatherPace) -> Self {
        Self { store, lane, api, pace, who: Uuid::now_v7(), memory: Mutex::default() }
    }

    /// The most bytes of one call.
    pub(in super::super) fn most_bytes(&self) -> u64 {
        self.api.most_bytes() / 2
    }

    /// The interval at which the lane is tended.
    pub(in super::super) fn every(&self) -> Duration {
        self.pace.quiet.min(self.pace.least_poll) / 2
    }

    /// The longest wait for an answer.
    pub(in super::super) fn within(&self, until: Option<Timestamp>) -> Duration {
        let longest = self.api.expires_after() + GRACE;
        until.map_or(longest, |until| Duration::from_millis(until.millis_since(now())).min(longest))
    }

    pub(in super::super) async fn hand_in(&self, call: Gathering) -> Result<(), Failure> {
        let Gathering { key, job, prefix, prefix_tokens, tokens, until, body } = call;
        let mut body: Value = serde_json::from_str(&body).unwrap_or_default();
        self.api.prepare(&mut body, &prefix);
        let (lane, body) = (self.lane.clone(), body.to_string());
        let call = HandedCall { key, job, lane, prefix, prefix_tokens, tokens, until, body };
        self.store.hand_in(&call).await.map_err(stored)
    }

    pub(in super::super) async fn ended(&self, keys: &[String]) -> Result<BTreeSet<String>, Failure> {
        self.store.no_longer_waiting(keys).await.map_err(stored)
    }

    pub(in super::super) async fn state(&self, key: &str) -> Result<HandedState, Failure> {
        self.store.handed_state(key).await.map_err(stored)
    }

    pub(in super::super) async fn forget(&self, keys: &[String]) -> Result<(), Failure> {
        self.store.forget_handed(keys).await.map_err(stored)
    }

    /// Cancels the batches of which no call is waited for any more. (Single calls of a batch can't be cancelled at any provider.)
    pub(in super::super) async fn withdraw(&self, http: &BatchHttp<'_>) -> Result<(), Failure> {
        for batch in self.store.unwanted_batches(&self.lane).await.map_err(stored)? {
            if let Some(handle) = &batch.handle {
                self.api.cancel(http, handle).await?;
                self.store.batch_cancelled(batch.id).await.map_err(stored)?;
            }
        }
        Ok(())
    }

    /// Sends gathered calls, polls batches and takes in answers, as far as due; nothing while another worker does it.
    pub(in super::super) async fn tend(&self, http: &BatchHttp<'_>, prime: SendPrimer<'_>) -> Result<(), Failure> {
        let mut memory = self.memory.lock().await;
        let lease = u64::try_from(LEASE.as_millis()).unwrap_or(u64::MAX);
        if !self.store.hold_lane(&self.lane, self.who, lease).await.map_err(stored)? {
            return Ok(());
        }
        let mut work = pin!(self.work(http, &mut memory, prime));
        let done = loop {
            tokio::select! {
                done = &mut work => break done,
                () = tokio::time::sleep(RENEW) => {
                    if !self.store.hold_lane(&self.lane, self.who, lease).await.map_err(stored)? {
                        return Ok(());
                    }
                }
            }
        };
        self.store.free_lane(&self.lane, self.who).await.map_err(stored)?;
        done
    }

    async fn work(&self, http: &BatchHttp<'_>, memory: &mut Memory, prime: SendPrimer<'_>) -> Result<(), Failure> {
        let mut fault = Ok(());
        let open = self.store.open_batches(&self.lane).await.map_err(stored)?;
        let is_open = |id: &Uuid| open.iter().any(|batch| batch.id == *id);
        memory.polls.retain(|id, _| is_open(id));
        memory.found.retain(is_open);
        memory.fetched.retain(|id, _| is_open(id));
        for batch in &open {
            fault = fault.and(self.look_after(http, batch, memory).await);
        }
        fault.and(self.send_due(http, memory, prime).await)
    }

    /// Polls a batch, and acts on its state.
    async fn look_after(
        &self,
        http: &BatchHttp<'_>,
        batch: &ProviderBatch,
        memory: &mut Memory,
    ) -> Result<(), Failure> {
        let age = Duration::from_millis(now().millis_since(batch.intended));
        let times = Times::of(batch, self.api.expires_after());
        let is_over = now() >= times.over;
        let Some(handle) = &batch.handle else {
            return self.look_for(http, batch, age, memory).await;
        };
        if !batch.is_cancelled && now() >= times.gives_up {
            // If it can no longer be cancelled, it has ended, which is found out immediately.
            let _ = self.api.cancel(http, handle).await;
            self.store.batch_cancelled(batch.id).await.map_err(stored)?;
            memory.polls.remove(&batch.id);
        }
        let is_given_up = now() >= times.gives_up;
        if !is_over && memory.polls.get(&batch.id).is_some_and(|at| Instant::now() < *at) {
            return Ok(());
        }
        let pause = (age / 10).clamp(self.pace.least_poll, self.pace.most_poll);
        // A cancelled batch ends in a moment, and there isn't much time to fetch it.
        let pause = if is_given_up { Duration::ZERO } else { pause };
        memory.polls.insert(batch.id, Instant::now() + pause);
        let taken = match self.api.poll(http, handle).await {
            Ok((Standing::Working, _)) => Ok(false),
            Ok((Standing::Ended { outcome }, polled)) => self.take_in(http, batch, (&outcome, &polled), memory).await,
            Ok((Standing::Refused(refused), _)) => self.on_refused(http, batch, refused, memory).await.map(|()| true),
            Err(failure) if failure.status == Some(404) && age < NOT_KNOWN_YET => Ok(false),
            Err(failure) if failure.status == Some(404) => {
                return self.give_up(batch, &format!("the provider knows batch {handle} no more")).await;
            }
            Err(failure) => Err(failure),
        };
        match taken {
            Ok(true) => {
                // A size that was too much once may be accepted again later.
                memory.most_tokens = memory.most_tokens.map(|tokens| tokens.saturating_add(tokens / 4));
                Ok(())
            }
            Ok(false) | Err(_) if is_over => {
                self.give_up(batch, &format!("batch {handle} was not answered by {}", times.over)).await
            }
            taken => taken.map(drop),
        }
    }

    /// Gives up a batch: its calls without an answer fail.
    async fn give_up(&self, batch: &ProviderBatch, why: &str) -> Result<(), Failure> {
        self.end_rest(batch.id, &BTreeSet::new(), &unanswered(why)).await?;
        self.store.batch_ended(batch.id, "given up").await.map_err(stored)
    }

    /// Searches for a batch of which it is unknown whether it was created.
    async fn look_for(
        &self,
        http: &BatchHttp<'_>,
        batch: &ProviderBatch,
        age: Duration,
        memory: &mut Memory,
    ) -> Result<(), Failure> {
        let next = memory.polls.entry(batch.id).or_insert_with(Instant::now);
        if Instant::now() < *next {
            return Ok(());
        }
        *next = Instant::now() + self.pace.least_poll;
        let known = self.store.known_handles().await.map_err(stored)?;
        let keys = self.store.calls_of_batch(batch.id).await.map_err(stored)?;
        match self.api.find(http, batch, &known, &keys).await {
            Ok(Found::There(handle)) => {
                memory.found.insert(batch.id);
                self.store.batch_created(batch.id, &handle).await.map_err(stored)
            }
            Ok(Found::NotThere) if age >= SETTLED => self.store.release_batch(batch.id).await.map_err(stored),
            Ok(Found::NotThere | Found::Unsure) => Ok(()),
            // The server accepts batches, but can't list them.
            Err(failure) if failure.kind.remedy() == Remedy::Configure && age >= NOT_KNOWN_YET => {
                self.give_up(batch, &format!("whether its batch was created can't be found out: {failure}")).await
            }
            Err(failure) => Err(failure),
        }
    }

    /// Takes the answers of a batch in that is over. False: they can't be read yet.
    async fn take_in(
        &self,
        http: &BatchHttp<'_>,
        batch: &ProviderBatch,
        (outcome, polled): (&str, &Value),
        memory: &mut Memory,
    ) -> Result<bool, Failure> {
        let keys = self.store.calls_of_batch(batch.id).await.map_err(stored)?;
        let ends = match self.api.results(http, polled, &keys).await {
            Ok(ends) => ends,
            // Files may be refused for a moment after the end.
            Err(failure) if matches!(failure.status, Some(403 | 404)) => return Ok(false),
            Err(failure) => return Err(failure),
        };
        let ours: BTreeSet<&String> = keys.iter().collect();
        let (ends, others): (Vec<_>, Vec<_>) = ends.into_iter().partition(|(key, _)| ours.contains(key));
        let ends: Vec<_> = ends.into_iter().map(|(key, end)| (key, readable(end))).collect();
        if ends.is_empty() && !others.is_empty() && memory.found.remove(&batch.id) {
            // It was taken for the batch that was searched for, and is another client's. (Results of a batch that we
            // have created are paid for; sending it again would mean paying again.)
            self.store.release_batch(batch.id).await.map_err(stored)?;
            return Ok(true);
        }
        for chunk in ends.chunks(CHUNK) {
            self.store.end_handed(chunk).await.map_err(stored)?;
            failpoint::hit("batch.answered");
        }
        let answered: BTreeSet<String> = ends.into_iter().map(|(key, _)| key).collect();
        // A file that is empty or cut off may be complete another time; its content is paid for.
        let fetched = memory.fetched.entry(batch.id).or_default();
        if answered.len() < keys.len() && *fetched < MOST_FETCHES {
            *fetched += 1;
            memory.polls.insert(batch.id, Instant::now() + self.pace.least_poll);
            return Ok(false);
        }
        self.end_rest(batch.id, &answered, &not_done("it is missing among the results")).await?;
        self.store.batch_ended(batch.id, outcome).await.map_err(stored)?;
        Ok(true)
    }

    /// Ends those calls of a batch that have no answer with `end`.
    pub(super) async fn end_rest(&self, id: Uuid, answered: &BTreeSet<String>, end: &HandedEnd) -> Result<(), Failure> {
        let keys = self.store.calls_of_batch(id).await.map_err(stored)?;
        let rest: Vec<_> =
            keys.into_iter().filter(|key| !answered.contains(key)).map(|key| (key, end.clone())).collect();
        for chunk in rest.chunks(CHUNK) {
            self.store.end_handed(chunk).await.map_err(stored)?;
        }
        Ok(())
    }

    /// Handles a batch of which the provider accepted nothing.
    async fn on_refused(
        &self,
        http: &BatchHttp<'_>,
        batch: &ProviderBatch,
        refused: RefusedBatch,
        memory: &mut Memory,
    ) -> Result<(), Failure> {
        let RefusedBatch { reason, is_too_much, lines } = refused;
        let told = |what: &str| http.refused(400, &serde_json::json!({ "error": { "message": what } }));
        if is_too_much && batch.calls > 1 {
            memory.most_tokens = Some((batch.tokens / 2).max(1));
            memory.rests_until = Some(Instant::now() + self.pace.least_poll);
        } else if is_too_much && self.store.open_batches(&self.lane).await.map_err(stored)?.len() > 1 {
            // The batches queued before it have to end first.
            memory.rests_until = Some(Instant::now() + self.pace.most);
        } else if is_too_much {
            self.end_rest(batch.id, &BTreeSet::new(), &unanswered(&reason)).await?;
        } else if lines.is_empty() {
            self.end_rest(batch.id, &BTreeSet::new(), &told(&reason)).await?;
        } else {
            let keys = self.store.calls_of_batch(batch.id).await.map_err(stored)?;
            let at_fault = lines.iter().filter_map(|(place, what)| Some((keys.get(*place)?.clone(), told(what))));
            let at_fault: Vec<_> = at_fault.collect();
            if at_fault.is_empty() {
                // If it were sent again unchanged, it would be refused again.
                self.end_rest(batch.id, &BTreeSet::new(), &told(&reason)).await?;
            }
            self.store.end_handed(&at_fault).await.map_err(stored)?;
        }
        self.store.release_batch(batch.id).await.map_err(stored)
    }
}
