//! The queue as it should be, in memory.

use super::{
    entry,
    states::{Named, Stand, Step, Told, host, state, submission, time, usd},
};
use overnight::store::{ControlSignal, Enqueued, Grant, HeldLease, QueueEntry, StoreError, Swept};
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use proptest::sample::Index;
use std::collections::BTreeMap;
use uuid::Uuid;

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    jobs: Vec<Job>,
    batches: Vec<Batch>,
    groups: BTreeMap<String, u32>,
}

#[derive(Clone, Debug)]
struct Batch {
    id: Uuid,
    budget_usd: Option<f64>,
    is_ended: bool,
}

#[derive(Clone, Debug)]
struct Job {
    entry: QueueEntry,
    batch: u32,
    /// Smaller goes first.
    line: i64,
    /// Nobody renewed its lease.
    is_late: bool,
    /// As of the last checkpoint.
    turns: u64,
    turns_at_claim: u64,
    cost_usd: f64,
    has_journal: bool,
    /// What was reserved since the claim.
    may_cost_usd: f64,
}

impl Job {
    fn is_past(&self) -> bool {
        self.entry.job.run_after == Some(time(true))
    }

    fn free(&mut self, status: JobStatus) {
        self.entry.status = status;
        self.entry.worker = None;
        self.is_late = false;
    }

    fn has(&self, lease: u64) -> bool {
        self.entry.worker.is_some() && self.entry.lease == lease
    }

    fn lost(&self) -> StoreError {
        StoreError::LeaseLost { id: self.entry.job.id }
    }

    /// As it counts against the budget.
    fn counts_usd(&self) -> f64 {
        if self.entry.status == JobStatus::Running { self.cost_usd.max(self.may_cost_usd) } else { self.cost_usd }
    }

    fn start(&mut self, worker: u128) {
        self.may_cost_usd = 0.0;
        self.turns_at_claim = self.turns;
        self.free(JobStatus::Running);
        let entry = &mut self.entry;
        entry.worker = Some(Uuid::from_u128(worker));
        entry.lease += 1;
        entry.hold_reason = None;
        entry.reason = None;
        entry.job.run_after = None;
        entry.wants = entry.wants.filter(|signal| *signal == ControlSignal::Cancel);
    }

    /// Attempts that got no further, without a break: one that got further begins the count anew.
    fn attempts_in_a_row(&self) -> u32 {
        if self.turns > self.turns_at_claim { 0 } else { self.entry.attempts }
    }

    /// Without a worker again: where an attempt is lost with it, perhaps for ever.
    fn stop(&mut self, costs_attempt: bool, reason: Option<&str>, dead: &str, wait: Option<Timestamp>) {
        if costs_attempt {
            self.entry.attempts = self.attempts_in_a_row() + 1;
        }
        let is_dead = costs_attempt && self.entry.attempts >= self.entry.job.max_attempts;
        let is_paused = !is_dead && self.entry.wants == Some(ControlSignal::Pause);
        self.free(match (is_dead, is_paused) {
            (true, _) => JobStatus::Failed,
            (false, true) => JobStatus::Held,
            (false, false) => JobStatus::Queued,
        });
        let entry = &mut self.entry;
        entry.hold_reason = is_paused.then_some(HoldReason::Paused);
        entry.reason = if is_dead { Some(dead.to_owned()) } else { reason.map(str::to_owned) };
        entry.job.run_after = wait.filter(|_| !is_dead && !is_paused);
        if is_dead || is_paused {
            entry.wants = None;
        }
    }

    fn queue_again(&mut self) {
        self.free(JobStatus::Queued);
        self.entry.hold_reason = None;
        self.entry.reason = None;
        self.entry.job.run_after = None;
        self.entry.wants = self.entry.wants.filter(|signal| *signal == ControlSignal::Cancel);
    }
}

impl Model {
    pub(super) fn jobs(&self) -> u32 {
        u32::try_from(self.jobs.len()).unwrap()
    }

    pub(super) fn batches(&self) -> u32 {
        u32::try_from(self.batches.len()).unwrap()
    }

    fn has_ended(&self, batch: u32) -> bool {
        self.jobs.iter().all(|job| job.batch != batch || job.entry.status.is_end())
    }

    pub(super) fn batch_of(&self, job: u32) -> u32 {
        self.jobs[job as usize].batch
    }

    /// The number of a job, and its lease.
    pub(super) fn pick(&self, index: Index) -> (u32, u64) {
        let job = index.index(self.jobs.len());
        (u32::try_from(job).unwrap(), self.jobs[job].entry.lease)
    }

    /// Who names the present lease has the job as a rule; a zombie may come to any.
    pub(super) fn pick_for(&self, index: Index, lease: Named) -> (u32, u64) {
        let running: Vec<usize> = match lease {
            Named::Present => (0..self.jobs.len()).filter(|&job| self.jobs[job].entry.worker.is_some()).collect(),
            Named::Before => Vec::new(),
        };
        if running.is_empty() {
            return self.pick(index);
        }
        let job = running[index.index(running.len())];
        (u32::try_from(job).unwrap(), self.jobs[job].entry.lease)
    }

    pub(super) fn known(&self) -> (Vec<QueueEntry>, BTreeMap<JobId, u64>, BTreeMap<Uuid, Stand>) {
        let mut entries: Vec<QueueEntry> = self.jobs.iter().map(|job| job.entry.clone()).collect();
        for entry in &mut entries {
            entry.job.is_held = entry.status == JobStatus::Held;
            if let Some(group) = &mut entry.job.group {
                group.at_once = self.groups[&group.key];
            }
        }
        let stands = (0..).zip(&self.batches).map(|(number, batch)| {
            let spent_usd = self.jobs.iter().filter(|job| job.batch == number).map(|job| job.cost_usd).sum();
            (batch.id, (spent_usd, batch.budget_usd, batch.is_ended))
        });
        let turns = self.jobs.iter().map(|job| (job.entry.job.id, job.turns));
        (entries, turns.collect(), stands.collect())
    }

    fn picked(&mut self, index: Index) -> &mut Job {
        let job = index.index(self.jobs.len());
        &mut self.jobs[job]
    }

    fn picked_for(&mut self, index: Index, lease: Named) -> &mut Job {
        let (job, _) = self.pick_for(index, lease);
        &mut self.jobs[job as usize]
    }

    /// The jobs that a person means.
    fn meant(&mut self, index: Index, whole: bool) -> impl Iterator<Item = &mut Job> {
        let at = index.index(self.jobs.len());
        let batch = self.jobs[at].batch;
        let meant = move |(number, job): &(usize, &mut Job)| if whole { job.batch == batch } else { *number == at };
        self.jobs.iter_mut().enumerate().filter(meant).map(|(_, job)| job)
    }

    pub(super) fn apply(&mut self, number: usize, step: &Step) -> Told {
        match step {
            Step::Submit { jobs, link_done } => {
                let (batch, jobs) = submission(self.batches(), self.jobs(), jobs);
                let before = self.jobs.clone();
                let mut submitted = Enqueued { jobs: jobs.len() as u64, linked: 0 };
                let mut words: BTreeMap<String, u32> = BTreeMap::new();
                for mut job in jobs {
                    if let Some(group) = &job.group {
                        let word = words.entry(group.key.clone()).or_insert(group.at_once);
                        *word = group.at_once.min(*word);
                    }
                    let minutes = i64::from(self.batches());
                    let line = minutes * 60_000 - i64::from(job.priority) * 3_600_000;
                    // The newest of those that did the work.
                    let does = |old: &&Job| {
                        old.entry.status == JobStatus::Completed
                            && old.entry.same_as.is_none()
                            && old.entry.job.documents_sha256 == job.documents_sha256
                    };
                    let done = before.iter().rev().find(does).filter(|_| *link_done);
                    if done.is_some() {
                        job.run_after = None;
                        job.is_held = false;
                        submitted.linked += 1;
                    }
                    let mut entry = QueueEntry { batch: batch.id, ..entry(job) };
                    if let Some(done) = done {
                        entry.status = JobStatus::Completed;
                        entry.reason = Some(format!("done before by job {}", done.entry.job.id));
                        entry.workspace.clone_from(&done.entry.workspace);
                        entry.host.clone_from(&done.entry.host);
                        entry.same_as = Some(done.entry.job.id);
                    }
                    let batch = self.batches();
                    self.jobs.push(Job {
                        entry,
                        batch,
                        line,
                        is_late: false,
                        turns: 0,
                        turns_at_claim: 0,
                        cost_usd: 0.0,
                        has_journal: false,
                        may_cost_usd: 0.0,
                    });
                }
                self.groups.extend(words);
                self.batches.push(Batch { id: batch.id, budget_usd: batch.budget_usd, is_ended: false });
                Told::Enqueued(submitted)
            }
            Step::Claim { worker, host: on, most } => Told::Claimed(self.claim(*worker, &host(*on), *most)),
            Step::ClaimByName { job, worker } => {
                let job = self.picked(*job);
                if job.entry.status.is_end() {
                    return Told::Lease(Err(StoreError::Ended { id: job.entry.job.id, status: job.entry.status }));
                }
                job.start(*worker);
                Told::Lease(Ok(job.entry.lease))
            }
            Step::Beat { worker } => {
                let mine = |job: &&mut Job| job.entry.worker == Some(Uuid::from_u128(*worker));
                let beaten = self.jobs.iter_mut().filter(mine).map(|job| {
                    job.is_late = false;
                    HeldLease { id: job.entry.job.id, lease: job.entry.lease, wants: job.entry.wants }
                });
                Told::HeldLease(beaten.collect())
            }
            Step::Renew { job, lease } => {
                let job = self.picked_for(*job, *lease);
                if !job.has(lease.number(job.entry.lease)) {
                    return Told::Done(Err(job.lost()));
                }
                job.is_late = false;
                Told::Done(Ok(()))
            }
            Step::Place { job, lease, host: on } => {
                let job = self.picked_for(*job, *lease);
                if !job.has(lease.number(job.entry.lease)) {
                    return Told::Done(Err(job.lost()));
                }
                job.entry.workspace = format!("at {number}");
                job.entry.host = on.map(host);
                Told::Done(Ok(()))
            }
            Step::WakeAt { job, lease, is_past } => {
                let job = self.picked_for(*job, *lease);
                if !job.has(lease.number(job.entry.lease)) {
                    return Told::Done(Err(job.lost()));
                }
                job.entry.job.run_after = Some(time(*is_past));
                Told::Done(Ok(()))
            }
            Step::Checkpoint { job, lease, status, hold, quarters } => {
                let job = self.picked_for(*job, *lease);
                if !job.has(lease.number(job.entry.lease)) {
                    return Told::Done(Err(job.lost()));
                }
                let state = state(*status, *hold, *quarters, number);
                if *status != JobStatus::Running {
                    job.free(*status);
                }
                job.turns = state.turns;
                job.cost_usd = state.cost_usd.unwrap_or_default();
                job.has_journal = true;
                job.entry.hold_reason = state.hold_reason;
                job.entry.reason = state.reason;
                // A pause that has come is not wished for any more.
                let is_paused = state.hold_reason == Some(HoldReason::Paused);
                let is_heard = |signal| status.is_end() || (is_paused && signal == ControlSignal::Pause);
                job.entry.wants = job.entry.wants.filter(|signal| !is_heard(*signal));
                Told::Done(Ok(()))
            }
            Step::GiveBack { job, lease, at_once, is_failed } => {
                let job = self.picked_for(*job, *lease);
                if !job.has(lease.number(job.entry.lease)) {
                    return Told::Status(Err(job.lost()));
                }
                let dead = format!("given up after attempt {}: it broke", job.attempts_in_a_row() + 1);
                let wait = (!at_once).then(|| time(false));
                job.stop(*is_failed, is_failed.then_some("it broke"), &dead, wait);
                Told::Status(Ok(job.entry.status))
            }
            Step::Want { job, signal } => {
                let entry = &mut self.picked(*job).entry;
                if entry.status.is_end() {
                    return Told::Done(Err(StoreError::Ended { id: entry.job.id, status: entry.status }));
                }
                entry.wants = entry.wants.filter(|signal| *signal == ControlSignal::Cancel).or(Some(*signal));
                Told::Done(Ok(()))
            }
            Step::Wanted { job, lease } => {
                let job = self.picked_for(*job, *lease);
                let is_known = lease.number(job.entry.lease) == job.entry.lease;
                Told::ControlSignal(if is_known { Ok(job.entry.wants) } else { Err(job.lost()) })
            }
            Step::LeaseRunsOut { job } => {
                let job = self.picked_for(*job, Named::Present);
                job.is_late = job.entry.worker.is_some();
                Told::Nothing
            }
            Step::TimeComes { job } => {
                let run_after = &mut self.picked(*job).entry.job.run_after;
                *run_after = run_after.map(|_| time(true));
                Told::Nothing
            }
            Step::Sweep => Told::Swept(self.sweep()),
            Step::Hold { job, whole, reason, until } => {
                let mut count = 0;
                for job in self.meant(*job, *whole) {
                    if job.entry.status == JobStatus::Queued {
                        job.free(JobStatus::Held);
                        job.entry.hold_reason = Some(*reason);
                        job.entry.reason = None;
                        let until = until.map(time);
                        job.entry.job.run_after =
                            until.map(|until| job.entry.job.run_after.map_or(until, |at| at.max(until)));
                        count += 1;
                    } else if job.entry.status == JobStatus::Running
                        && job.entry.wants.is_none()
                        && *reason == HoldReason::Paused
                    {
                        job.entry.wants = Some(ControlSignal::Pause);
                        count += 1;
                    }
                }
                Told::Count(count)
            }
            Step::Resume { job, whole } => {
                let mut count = 0;
                for job in self.meant(*job, *whole) {
                    if job.entry.status == JobStatus::Held && job.entry.hold_reason != Some(HoldReason::Review) {
                        job.queue_again();
                        count += 1;
                    } else if job.entry.status == JobStatus::Running && job.entry.wants == Some(ControlSignal::Pause) {
                        job.entry.wants = None;
                        count += 1;
                    }
                }
                Told::Count(count)
            }
            Step::Retry { job, whole } => {
                let mut count = 0;
                for job in self.meant(*job, *whole).filter(|job| job.entry.status == JobStatus::Failed) {
                    job.queue_again();
                    job.entry.attempts = 0;
                    count += 1;
                }
                if count > 0 {
                    let batch = self.picked(*job).batch;
                    self.batches[batch as usize].is_ended = false;
                }
                Told::Count(count)
            }
            Step::Cancel { job, whole } => {
                let mut count = 0;
                for job in self.meant(*job, *whole).filter(|job| !job.entry.status.is_end()) {
                    let is_free = job.entry.status != JobStatus::Running;
                    if is_free && !job.has_journal && job.entry.workspace.is_empty() {
                        job.queue_again();
                        job.free(JobStatus::Cancelled);
                        job.entry.reason = Some("cancelled before it was begun".to_owned());
                        job.entry.wants = None;
                    } else if job.entry.status == JobStatus::Held {
                        job.queue_again();
                        job.entry.wants = Some(ControlSignal::Cancel);
                    } else if job.entry.wants != Some(ControlSignal::Cancel) {
                        job.entry.wants = Some(ControlSignal::Cancel);
                        job.entry.job.run_after = job.entry.job.run_after.filter(|_| !is_free);
                    } else {
                        continue;
                    }
                    count += 1;
                }
                Told::Count(count)
            }
            Step::Wishes { worker } => {
                let mine = |job: &&Job| job.entry.worker == Some(Uuid::from_u128(*worker));
                let wished = self.jobs.iter().filter(mine).filter(|job| job.entry.wants.is_some());
                let wished = wished.map(|job| &job.entry);
                Told::HeldLease(
                    wished.map(|job| HeldLease { id: job.job.id, lease: job.lease, wants: job.wants }).collect(),
                )
            }
            Step::KeepHeld => {
                let mut kept = Vec::new();
                for job in self.jobs.iter_mut().filter(|job| job.entry.hold_reason == Some(HoldReason::Outage)) {
                    job.entry.job.run_after = Some(time(false));
                    kept.push(job.entry.job.id);
                }
                Told::Jobs(kept)
            }
            Step::Reserve { job, lease, quarters } => {
                let (at, present) = self.pick_for(*job, *lease);
                let job = &self.jobs[at as usize];
                if !job.has(lease.number(present)) {
                    return Told::Granted(Err(job.lost()));
                }
                let Some(budget) = self.batches[job.batch as usize].budget_usd else {
                    return Told::Granted(Ok(Grant::Granted));
                };
                let others = self.jobs.iter().filter(|other| other.batch == job.batch);
                let others: Vec<&Job> = others.filter(|other| other.entry.job.id != job.entry.job.id).collect();
                let own = job.cost_usd.max(usd(*quarters));
                let may_cost: f64 = others.iter().map(|other| other.counts_usd()).sum();
                let spent: f64 = others.iter().map(|other| other.cost_usd).sum();
                if usd(*quarters) <= job.may_cost_usd || may_cost + own <= budget {
                    self.jobs[at as usize].may_cost_usd = usd(*quarters);
                    return Told::Granted(Ok(Grant::Granted));
                }
                Told::Granted(Ok(if spent + own <= budget { Grant::Later } else { Grant::Spent }))
            }
            Step::SetBudget { job, quarters } => {
                let batch = self.picked(*job).batch;
                self.batches[batch as usize].budget_usd = quarters.map(usd);
                Told::Done(Ok(()))
            }
            Step::EndBatches => {
                let open =
                    (0..).zip(&self.batches).filter(|(number, batch)| !batch.is_ended && self.has_ended(*number));
                Told::Batches(open.map(|(_, batch)| batch.id).collect())
            }
            Step::MarkEnded { job } => {
                let batch = self.picked(*job).batch;
                let may_be = self.has_ended(batch);
                let batch = &mut self.batches[batch as usize];
                let is_marked = may_be && !batch.is_ended;
                batch.is_ended |= is_marked;
                Told::Marked(is_marked)
            }
        }
    }

    fn claim(&mut self, worker: u128, on: &str, most: u32) -> Vec<(JobId, u64, u32, Option<ControlSignal>)> {
        let mut running: BTreeMap<String, u32> = BTreeMap::new();
        for job in &mut self.jobs {
            if job.entry.status == JobStatus::Queued && job.is_past() {
                job.entry.job.run_after = None;
            }
            if let (JobStatus::Running, Some(group)) = (job.entry.status, &job.entry.job.group) {
                *running.entry(group.key.clone()).or_default() += 1;
            }
        }
        let mut line: Vec<&mut Job> = self
            .jobs
            .iter_mut()
            .filter(|job| job.entry.status == JobStatus::Queued && job.entry.job.run_after.is_none())
            .filter(|job| job.entry.host.as_deref().is_none_or(|host| host == on))
            .collect();
        line.sort_by_key(|job| (job.line, job.entry.job.id));
        let mut claimed = Vec::new();
        for job in line {
            if claimed.len() == most as usize {
                break;
            }
            if let Some(group) = &job.entry.job.group {
                let running = running.entry(group.key.clone()).or_default();
                if *running >= self.groups[&group.key] {
                    continue;
                }
                *running += 1;
            }
            job.start(worker);
            claimed.push((job.entry.job.id, job.entry.lease, job.entry.attempts, job.entry.wants));
        }
        claimed
    }

    fn sweep(&mut self) -> Swept {
        let mut swept = Swept::default();
        for job in &mut self.jobs {
            let id = job.entry.job.id;
            if job.entry.status == JobStatus::Running && job.is_late {
                let dead = "given up: each time, the worker that had it died or stopped answering; `overnight retry` queues it again";
                let wait = (job.attempts_in_a_row() > 0).then(|| time(false));
                job.stop(true, None, dead, wait);
                job.entry.lease += 1;
                let list = match job.entry.hold_reason {
                    Some(_) => &mut swept.paused,
                    None if job.entry.status == JobStatus::Failed => &mut swept.dead,
                    None => &mut swept.requeued,
                };
                list.push(id);
            } else if job.entry.status == JobStatus::Held && job.is_past() {
                job.queue_again();
                swept.woken.push(id);
            }
        }
        swept
    }
}
