//! Makes the report of many jobs from their facts alone. All sums are over whole jobs, also of those that began before the report's time.

use super::{
    batch::{BatchFacts, Waiting},
    facts::{FailedAttempts, FileState, JobFacts, JobHolds, JobStanding},
    index::CollectionResult,
    needs::{Need, needs},
    spread::Spread,
    words::one_line,
};
use overnight_core::job::{
    failure::FailureKind,
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use serde::Serialize;
use std::{cmp::Reverse, collections::HashMap};

/// Version of the report's shape.
pub const FORMAT: u32 = 1;
/// Jobs that are named as the slowest and the dearest.
const MOST_NAMED: usize = 10;

/// Which jobs are in the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportFilter {
    /// Only jobs made or worked since then.
    pub since: Option<Timestamp>,
    /// Only jobs that stand so; empty: all.
    pub standings: Vec<JobStanding>,
    /// These jobs were named.
    pub named: bool,
    /// The number of waiting jobs that were left out because nothing can have happened to them since.
    pub older_waiting: u64,
}

/// What became of the jobs. Its fields are a promise; a value that isn't known is null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    pub format: u32,
    pub made: Timestamp,
    /// Only jobs made or worked since then are in it.
    pub since: Option<Timestamp>,
    /// Only jobs that stand so are in it; empty: all.
    pub statuses: Vec<&'static str>,
    pub counts: StandingCounts,
    /// The batches that these jobs belong to, the oldest first.
    pub batches: Vec<BatchFacts>,
    /// Jobs of batches that nobody works on, by what they wait for.
    pub waiting: Vec<Waiting>,
    /// Jobs of batches that failed as often as they may, or can't be repaired.
    pub given_up: Vec<JobId>,
    /// Jobs of these that were made before `since`: their numbers are those of the whole job all the same.
    pub made_before: u64,
    /// Held or interrupted jobs that the report leaves out because nothing happened to them since; null if only some jobs were asked for.
    pub older_waiting: Option<u64>,
    /// The most frequent first.
    pub reasons: Vec<ReasonCount>,
    /// Checks that were not met when their jobs ended, the most frequent first.
    pub checks_failed: Vec<FailedCheck>,
    pub confidence: Option<Spread>,
    /// Of the jobs that had a turn, and of linked ones.
    pub coverage: Option<Spread>,
    /// The most frequent first.
    pub attempts_failed: Vec<AttemptTotals>,
    pub holds: Vec<HoldTotals>,
    pub spent: TotalSpent,
    /// Longest first.
    pub slowest: Vec<JobId>,
    /// By known cost, then by tokens.
    pub dearest: Vec<JobId>,
    pub needs_person: Vec<Need>,
    pub deliverables: DeliverableCounts,
    pub collected: Option<CollectionResult>,
    /// Oldest first.
    pub jobs: Vec<JobFacts>,
}

/// The numbers of jobs by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StandingCounts {
    pub jobs: u64,
    pub completed: u64,
    pub partial: u64,
    pub blocked: u64,
    pub failed: u64,
    pub held: u64,
    pub interrupted: u64,
    pub running: u64,
    pub queued: u64,
    pub cancelled: u64,
    /// Of the completed, those that another job did before.
    pub linked: u64,
}

/// Jobs that stand so for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReasonCount {
    pub status: JobStatus,
    pub hold_reason: Option<HoldReason>,
    /// In one line.
    pub reason: String,
    pub jobs: u64,
    /// Oldest first.
    pub ids: Vec<JobId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedCheck {
    pub check: String,
    pub jobs: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AttemptTotals {
    pub kind: FailureKind,
    pub times: u64,
    pub jobs: u64,
    /// Milliseconds that were waited after them, all jobs' together.
    pub waited_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HoldTotals {
    pub reason: HoldReason,
    pub times: u64,
    pub jobs: u64,
}

/// What all jobs spent together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TotalSpent {
    pub turns: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub tokens_cached: u64,
    /// Of `tokens_in`, 0 to 1; null where there were none.
    pub cached_share: Option<f64>,
    /// Null where a price isn't known.
    pub cost_usd: Option<f64>,
    /// Of the turns whose price is known.
    pub priced_usd: f64,
    /// Jobs with turns whose price isn't known.
    pub unpriced_jobs: u64,
    /// These turns; null where a job's can't be read.
    pub unpriced_turns: Option<u64>,
    pub worked_ms: u64,
}

/// What all jobs delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeliverableCounts {
    pub jobs: u64,
    pub files: u64,
    /// As delivered.
    pub bytes: u64,
    pub changed: u64,
    pub missing: u64,
    pub unreadable: u64,
    /// On other machines.
    pub elsewhere: u64,
    /// In the workspace store.
    pub stored: u64,
}

impl Report {
    /// Counts `jobs`; of those that are not asked for, only who waits.
    pub fn of(made: Timestamp, filter: &ReportFilter, jobs: Vec<JobFacts>) -> Self {
        let is_new = |job: &JobFacts| filter.since.is_none_or(|since| job.created >= since || job.last >= since);
        let fits = |job: &JobFacts| filter.standings.is_empty() || filter.standings.contains(&job.standing());
        let (mut jobs, others): (Vec<JobFacts>, Vec<JobFacts>) =
            jobs.into_iter().partition(|job| is_new(job) && fits(job));
        jobs.sort_by_key(|job| job.id);
        let waiting = filter.older_waiting + others.iter().filter(|job| waits(job.standing())).count() as u64;
        Self {
            format: FORMAT,
            made,
            since: filter.since,
            statuses: filter.standings.iter().map(|standing| standing.name()).collect(),
            counts: StandingCounts::of(&jobs),
            batches: Vec::new(),
            waiting: Waiting::of(&jobs),
            given_up: jobs
                .iter()
                .filter(|job| job.batch.is_some() && job.status == JobStatus::Failed)
                .map(|job| job.id)
                .collect(),
            made_before: jobs.iter().filter(|job| filter.since.is_some_and(|since| job.created < since)).count() as u64,
            older_waiting: (!filter.named && filter.standings.is_empty()).then_some(waiting),
            reasons: reasons(&jobs),
            checks_failed: checks_failed(&jobs),
            confidence: Spread::of(jobs.iter().filter_map(|job| job.confidence)),
            coverage: Spread::of(
                jobs.iter().filter(|job| job.turns > 0 || job.same_as.is_some()).map(|job| job.coverage),
            ),
            attempts_failed: attempts_failed(&jobs),
            holds: holds(&jobs),
            spent: TotalSpent::of(&jobs),
            slowest: first(&jobs, |job| job.worked_ms > 0, |a, b| b.worked_ms.cmp(&a.worked_ms)),
            dearest: first(
                &jobs,
                |job| job.turns > 0,
                |a, b| b.priced_usd.total_cmp(&a.priced_usd).then(tokens(b).cmp(&tokens(a))),
            ),
            needs_person: needs(&jobs),
            deliverables: DeliverableCounts::of(&jobs),
            collected: None,
            jobs,
        }
    }

    pub fn job(&self, id: JobId) -> Option<&JobFacts> {
        self.jobs.binary_search_by_key(&id, |job| job.id).ok().and_then(|place| self.jobs.get(place))
    }
}

/// Whether somebody has to do something before such a job goes on.
pub fn waits(standing: JobStanding) -> bool {
    match standing {
        JobStanding::Held | JobStanding::Interrupted => true,
        JobStanding::Completed
        | JobStanding::Partial
        | JobStanding::Blocked
        | JobStanding::Failed
        | JobStanding::Running
        | JobStanding::Queued
        | JobStanding::Cancelled => false,
    }
}

impl StandingCounts {
    fn of(jobs: &[JobFacts]) -> Self {
        let linked = jobs.iter().filter(|job| job.same_as.is_some()).count() as u64;
        let mut counts = Self { jobs: jobs.len() as u64, linked, ..Self::default() };
        for job in jobs {
            *match job.standing() {
                JobStanding::Completed => &mut counts.completed,
                JobStanding::Partial => &mut counts.partial,
                JobStanding::Blocked => &mut counts.blocked,
                JobStanding::Failed => &mut counts.failed,
                JobStanding::Held => &mut counts.held,
                JobStanding::Interrupted => &mut counts.interrupted,
                JobStanding::Running => &mut counts.running,
                JobStanding::Queued => &mut counts.queued,
                JobStanding::Cancelled => &mut counts.cancelled,
            } += 1;
        }
        counts
    }

    pub fn number(&self, standing: JobStanding) -> u64 {
        match standing {
            JobStanding::Completed => self.completed,
            JobStanding::Partial => self.partial,
            JobStanding::Blocked => self.blocked,
            JobStanding::Failed => self.failed,
            JobStanding::Held => self.held,
            JobStanding::Interrupted => self.interrupted,
            JobStanding::Running => self.running,
            JobStanding::Queued => self.queued,
            JobStanding::Cancelled => self.cancelled,
        }
    }
}

/// `items` with equal keys put together, the most frequent first, equal ones in the order in which they came.
fn grouped<T>(items: impl IntoIterator<Item = T>, key: impl Fn(&T) -> String) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for item in items {
        let place = *places.entry(key(&item)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups.sort_by_key(|group| Reverse(group.len()));
    groups
}

fn reasons(jobs: &[JobFacts]) -> Vec<ReasonCount> {
    // Whose work a linked job shows is told with that job.
    let jobs = jobs.iter().filter(|job| job.same_as.is_none());
    let with_reason = jobs.filter_map(|job| Some((job, one_line(job.reason.as_deref()?))));
    let groups = grouped(with_reason, |(job, reason)| {
        format!("{} {} {reason}", job.status, job.hold_reason.map_or("", HoldReason::name))
    });
    let reasons = groups.into_iter().filter_map(|group| {
        let (job, reason) = group.first()?;
        Some(ReasonCount {
            status: job.status,
            hold_reason: job.hold_reason,
            reason: reason.clone(),
            jobs: group.len() as u64,
            ids: group.iter().map(|(job, _)| job.id).collect(),
        })
    });
    reasons.collect()
}

fn checks_failed(jobs: &[JobFacts]) -> Vec<FailedCheck> {
    let checks = jobs.iter().flat_map(|job| {
        let mut names: Vec<String> = job.checks_failed.iter().map(|check| one_line(&check.name)).collect();
        names.sort();
        names.dedup();
        names
    });
    let groups = grouped(checks, Clone::clone).into_iter();
    groups
        .filter_map(|group| Some(FailedCheck { jobs: group.len() as u64, check: group.into_iter().next()? }))
        .collect()
}

fn attempts_failed(jobs: &[JobFacts]) -> Vec<AttemptTotals> {
    let mut sums: Vec<AttemptTotals> = Vec::new();
    for attempts in jobs.iter().flat_map(|job| &job.attempts_failed) {
        let FailedAttempts { kind, times, waited_ms } = *attempts;
        match sums.iter_mut().find(|sum| sum.kind == kind) {
            Some(sum) => {
                sum.times += times;
                sum.jobs += 1;
                sum.waited_ms = sum.waited_ms.saturating_add(waited_ms);
            }
            None => sums.push(AttemptTotals { kind, times, jobs: 1, waited_ms }),
        }
    }
    sums.sort_by_key(|sum| (Reverse(sum.times), sum.kind.name()));
    sums
}

fn holds(jobs: &[JobFacts]) -> Vec<HoldTotals> {
    let mut sums: Vec<HoldTotals> = Vec::new();
    for JobHolds { reason, times } in jobs.iter().flat_map(|job| &job.holds).copied() {
        match sums.iter_mut().find(|sum| sum.reason == reason) {
            Some(sum) => {
                sum.times += times;
                sum.jobs += 1;
            }
            None => sums.push(HoldTotals { reason, times, jobs: 1 }),
        }
    }
    sums.sort_by_key(|sum| (Reverse(sum.times), sum.reason.name()));
    sums
}

impl TotalSpent {
    fn of(jobs: &[JobFacts]) -> Self {
        let sum = |of: fn(&JobFacts) -> u64| jobs.iter().fold(0_u64, |sum, job| sum.saturating_add(of(job)));
        let (tokens_in, tokens_cached) = (sum(|job| job.tokens_in), sum(|job| job.tokens_cached));
        let unpriced = || jobs.iter().filter(|job| job.cost_usd.is_none() && job.turns > 0);
        let priced_usd = money(jobs.iter().map(|job| job.priced_usd).sum());
        Self {
            turns: sum(|job| job.turns),
            tokens_in,
            tokens_out: sum(|job| job.tokens_out),
            tokens_cached,
            cached_share: share(tokens_cached, tokens_in),
            cost_usd: (unpriced().count() == 0).then_some(priced_usd),
            priced_usd,
            unpriced_jobs: unpriced().count() as u64,
            unpriced_turns: unpriced().map(|job| job.unpriced_turns).sum(),
            worked_ms: sum(|job| job.worked_ms),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share for people, of far fewer than 2^52 tokens")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A sum of money without what adding binary fractions leaves behind: to the thousandth of a millionth of a USD.
fn money(sum: f64) -> f64 {
    let rounded = (sum * 1e9).round() / 1e9;
    // An empty sum of floating numbers is -0.
    if rounded == 0.0 { 0.0 } else { rounded }
}

impl DeliverableCounts {
    fn of(jobs: &[JobFacts]) -> Self {
        let mut sums = Self::default();
        for job in jobs.iter().filter(|job| !job.deliverables.is_empty()) {
            sums.jobs += 1;
            for file in &job.deliverables {
                sums.files += 1;
                sums.bytes = sums.bytes.saturating_add(file.bytes);
                match file.state {
                    FileState::AsDelivered => {}
                    FileState::Changed => sums.changed += 1,
                    FileState::Missing => sums.missing += 1,
                    FileState::Unreadable => sums.unreadable += 1,
                    FileState::Elsewhere => sums.elsewhere += 1,
                    FileState::Stored => sums.stored += 1,
                }
            }
        }
        sums
    }
}

/// The first in an order, equal ones oldest first.
fn first(
    jobs: &[JobFacts],
    counts: impl Fn(&&JobFacts) -> bool,
    order: impl Fn(&JobFacts, &JobFacts) -> std::cmp::Ordering,
) -> Vec<JobId> {
    let mut jobs: Vec<&JobFacts> = jobs.iter().filter(counts).collect();
    jobs.sort_by(|a, b| order(a, b));
    jobs.iter().take(MOST_NAMED).map(|job| job.id).collect()
}

/// What the model read and wrote.
pub fn tokens(job: &JobFacts) -> u64 {
    job.tokens_in.saturating_add(job.tokens_out)
}

#[cfg(test)]
mod tests;
