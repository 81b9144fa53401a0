//! Counts the jobs of a report, one by one: each is counted once, and then written to a temporary file.

use super::{
    AttemptTotals, Called, DeliverableCounts, FORMAT, FailedCheck, HoldTotals, PageCounts, ReasonCount, Report,
    ReportFilter, StandingCounts, TotalSpent, tokens, waits,
};
use crate::{
    report::{
        batch::Waiting,
        facts::{FailedAttempts, FileState, JobFacts, JobHolds},
        needs::{Need, of_job},
        spooled::SpooledJobs,
        spread::Spread,
        words::{one_line, short},
    },
    workspace::lock,
};
use overnight_core::job::{
    answered::PaidRole,
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeSet, HashMap},
    hash::Hash,
    io,
    path::Path,
};

/// Jobs that are named as the slowest and the dearest, at most.
const MOST_NAMED: usize = 10;

/// The counts so far.
#[derive(Debug)]
pub struct ReportCounter<'f> {
    made: Timestamp,
    filter: &'f ReportFilter,
    counts: StandingCounts,
    jobs: SpooledJobs,
    /// Waiting jobs that are not in the report.
    others_waiting: u64,
    waiting: Vec<Waiting>,
    here: String,
    given_up: Vec<JobId>,
    made_before: u64,
    reasons: Grouped<(&'static str, Option<&'static str>, String), ReasonCount>,
    checks: Grouped<String, FailedCheck>,
    confidence: Vec<f64>,
    coverage: Vec<f64>,
    attempts: Vec<AttemptTotals>,
    holds: Vec<HoldTotals>,
    spent: TotalSpent,
    paid: Vec<PaidRole>,
    slowest: Vec<(u64, JobId)>,
    dearest: Vec<((f64, u64), JobId)>,
    needs: Vec<Need>,
    deliverables: DeliverableCounts,
    page: PageCounts,
    notes: Grouped<String, (String, u64, JobId)>,
    documents: BTreeSet<String>,
    have_documents: bool,
    have_labels: bool,
    have_neither: bool,
}

/// Counts by a key, in the order in which the keys first occurred.
#[derive(Debug)]
struct Grouped<K, V> {
    places: HashMap<K, usize>,
    groups: Vec<V>,
}

impl<K: Eq + Hash, V> Grouped<K, V> {
    fn new() -> Self {
        Self { places: HashMap::new(), groups: Vec::new() }
    }

    fn add(&mut self, key: K, new: impl FnOnce(&K) -> V, count: impl FnOnce(&mut V)) {
        if !self.places.contains_key(&key) {
            self.groups.push(new(&key));
        }
        let newest = self.groups.len().saturating_sub(1);
        let place = *self.places.entry(key).or_insert(newest);
        if let Some(group) = self.groups.get_mut(place) {
            count(group);
        }
    }
}

impl<'f> ReportCounter<'f> {
    /// Large data goes to a temporary file in the folder `aside`.
    pub fn new(made: Timestamp, filter: &'f ReportFilter, aside: &Path) -> Self {
        Self {
            made,
            filter,
            counts: StandingCounts::default(),
            jobs: SpooledJobs::new(aside),
            others_waiting: filter.older_waiting,
            waiting: Vec::new(),
            here: lock::host(),
            given_up: Vec::new(),
            made_before: 0,
            reasons: Grouped::new(),
            checks: Grouped::new(),
            confidence: Vec::new(),
            coverage: Vec::new(),
            attempts: Vec::new(),
            holds: Vec::new(),
            spent: TotalSpent { unpriced_turns: Some(0), ..TotalSpent::default() },
            paid: Vec::new(),
            slowest: Vec::new(),
            dearest: Vec::new(),
            needs: Vec::new(),
            deliverables: DeliverableCounts::default(),
            page: PageCounts::default(),
            notes: Grouped::new(),
            documents: BTreeSet::new(),
            have_documents: true,
            have_labels: true,
            have_neither: true,
        }
    }

    /// Counts a job, whose id must be later than those counted before; a job outside the report is only counted if it
    /// waits. Returns whether it is in the report.
    pub fn add(&mut self, job: &JobFacts) -> io::Result<bool> {
        let is_new = self.filter.since.is_none_or(|since| job.created >= since || job.last >= since);
        let fits = self.filter.standings.is_empty() || self.filter.standings.contains(&job.standing());
        if !(is_new && fits) {
            self.others_waiting += u64::from(waits(job.standing()));
            return Ok(false);
        }
        self.counts.add(job);
        if let Some(waiting) = Waiting::of(job) {
            waiting.add_to(&mut self.waiting, &self.here);
        }
        if job.batch.is_some() && job.summary.status == JobStatus::Failed {
            self.given_up.push(job.id);
        }
        self.made_before += u64::from(self.filter.since.is_some_and(|since| job.created < since));
        self.count_reasons(job);
        self.confidence.extend(job.summary.confidence);
        if job.summary.turns > 0 || job.same_as.is_some() {
            self.coverage.push(job.summary.coverage);
        }
        self.count_attempts(job);
        self.spent.add(job);
        job.paid.iter().for_each(|paid| paid.add_to(&mut self.paid));
        if job.summary.worked_ms > 0 {
            rank(&mut self.slowest, job.summary.worked_ms, job.id, u64::cmp);
        }
        if job.summary.turns > 0 {
            let order = |a: &(f64, u64), b: &(f64, u64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            rank(&mut self.dearest, (job.priced_usd, tokens(job)), job.id, order);
        }
        self.deliverables.add(job);
        self.count_for_page(job);
        self.jobs.push(job)?;
        Ok(true)
    }

    fn count_reasons(&mut self, job: &JobFacts) {
        // The reason of a linked job is counted with the job that did the work.
        if let Some(reason) = job.summary.reason.as_deref().filter(|_| job.same_as.is_none()) {
            let (status, hold_reason) = (job.summary.status, job.summary.hold_reason);
            let key = (status.name(), hold_reason.map(HoldReason::name), one_line(reason));
            let new = |(_, _, reason): &(_, _, String)| {
                let (reason, ids) = (reason.clone(), Vec::new());
                ReasonCount { status, hold_reason, reason, jobs: 0, ids }
            };
            self.reasons.add(key, new, |reason| {
                reason.jobs += 1;
                reason.ids.push(job.id);
            });
        }
        let names: BTreeSet<String> = job.checks_failed.iter().map(|check| one_line(&check.name)).collect();
        for name in names {
            let new = |check: &String| FailedCheck { check: check.clone(), jobs: 0 };
            self.checks.add(name, new, |failed| failed.jobs += 1);
        }
    }

    fn count_attempts(&mut self, job: &JobFacts) {
        for FailedAttempts { kind, times, waited_ms } in job.attempts_failed.iter().copied() {
            match self.attempts.iter_mut().find(|sum| sum.kind == kind) {
                Some(sum) => {
                    sum.times += times;
                    sum.jobs += 1;
                    sum.waited_ms = sum.waited_ms.saturating_add(waited_ms);
                }
                None => self.attempts.push(AttemptTotals { kind, times, jobs: 1, waited_ms }),
            }
        }
        for JobHolds { reason, times } in job.holds.iter().copied() {
            match self.holds.iter_mut().find(|sum| sum.reason == reason) {
                Some(sum) => {
                    sum.times += times;
                    sum.jobs += 1;
                }
                None => self.holds.push(HoldTotals { reason, times, jobs: 1 }),
            }
        }
    }

    fn count_for_page(&mut self, job: &JobFacts) {
        let page = &mut self.page;
        let needs = of_job(job);
        if needs.is_empty() {
            page.unneeding.add(job);
        } else {
            page.needing += 1;
        }
        self.needs.extend(needs);
        self.have_documents &= job.document().is_some();
        self.have_labels &= job.label().is_some();
        self.have_neither &= job.label().is_none() && job.document().is_none();
        self.documents.extend(job.document().map(str::to_owned));
        page.of_batches += u64::from(job.batch.is_some());
        if let Some(times) = job.attempts.filter(|times| *times > 0) {
            page.lost_attempts.0 += u64::from(times);
            page.lost_attempts.1 += 1;
        }
        page.parts_not_read += job.not_read.len() as u64;
        page.not_read += u64::from(!job.not_read.is_empty());
        page.parts_recognised += job.recognised.len() as u64;
        page.without_records += u64::from(job.is_told_without_records());
        page.proofs += u64::from(job.proof.is_some());
        page.refused += u64::from(job.refused_records.is_some());
        page.doubtful += u64::from(job.doubts > 0);
        let said = job.summary.notes.as_deref().filter(|notes| job.same_as.is_none() && says_something(notes));
        if let Some(note) = said.map(short) {
            self.notes.add(note, |note| (note.clone(), 0, job.id), |(_, times, _)| *times += 1);
        }
    }

    pub fn finish(self) -> Report {
        let Self { filter, mut reasons, mut checks, mut attempts, mut holds, mut needs, mut page, .. } = self;
        reasons.groups.sort_by_key(|reason| Reverse(reason.jobs));
        checks.groups.sort_by_key(|check| Reverse(check.jobs));
        attempts.sort_by_key(|sum| (Reverse(sum.times), sum.kind.name()));
        holds.sort_by_key(|sum| (Reverse(sum.times), sum.reason.name()));
        // The most pressing first, and among equals the oldest job's.
        needs.sort_by_key(|need| (need.why, need.job));
        page.notes = self.notes.groups;
        page.are_documents = self.documents.len() as u64 == self.counts.jobs;
        page.called = match (self.have_documents, self.have_labels, self.have_neither) {
            (true, _, _) => Called::Document,
            (false, true, _) => Called::Label,
            (false, false, true) => Called::Instructions,
            (false, false, false) => Called::Name,
        };
        Report {
            format: FORMAT,
            made: self.made,
            since: filter.since,
            statuses: filter.standings.iter().map(|standing| standing.name()).collect(),
            counts: self.counts,
            batches: Vec::new(),
            waiting: Waiting::in_order(self.waiting),
            given_up: self.given_up,
            made_before: self.made_before,
            older_waiting: (!filter.named && filter.standings.is_empty()).then_some(self.others_waiting),
            reasons: reasons.groups,
            checks_failed: checks.groups,
            confidence: Spread::of(self.confidence),
            coverage: Spread::of(self.coverage),
            attempts_failed: attempts,
            holds,
            spent: self.spent.rounded(),
            paid: self
                .paid
                .into_iter()
                .map(|paid| PaidRole {
                    priced_usd: money(paid.priced_usd),
                    standard_usd: money(paid.standard_usd),
                    ..paid
                })
                .collect(),
            slowest: self.slowest.into_iter().map(|(_, id)| id).collect(),
            dearest: self.dearest.into_iter().map(|(_, id)| id).collect(),
            needs_person: needs,
            deliverables: self.deliverables,
            collected: None,
            jobs: self.jobs,
            page,
        }
    }
}

impl TotalSpent {
    fn add(&mut self, job: &JobFacts) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.turns, job.summary.turns);
        add(&mut self.tokens_in, job.summary.tokens_in);
        add(&mut self.tokens_out, job.summary.tokens_out);
        add(&mut self.tokens_cached, job.summary.tokens_cached);
        add(&mut self.worked_ms, job.summary.worked_ms);
        self.priced_usd += job.priced_usd;
        if job.summary.cost_usd.is_none() && job.summary.turns > 0 {
            self.unpriced_jobs += 1;
            self.unpriced_turns = self.unpriced_turns.zip(job.unpriced_turns).map(|(sum, more)| sum + more);
        }
    }

    fn rounded(self) -> Self {
        let priced_usd = money(self.priced_usd);
        Self {
            cached_share: share(self.tokens_cached, self.tokens_in),
            cost_usd: (self.unpriced_jobs == 0).then_some(priced_usd),
            priced_usd,
            ..self
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share for people, of far fewer than 2^52 tokens")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A sum of money without rounding errors of binary fractions: to the thousandth of a millionth of a USD.
fn money(sum: f64) -> f64 {
    let rounded = (sum * 1e9).round() / 1e9;
    // A sum may be -0.
    if rounded == 0.0 { 0.0 } else { rounded }
}

impl DeliverableCounts {
    fn add(&mut self, job: &JobFacts) {
        self.jobs += u64::from(!job.deliverables.is_empty());
        for file in &job.deliverables {
            self.files += 1;
            self.bytes = self.bytes.saturating_add(file.bytes);
            match file.state {
                FileState::AsDelivered => {}
                FileState::Changed => self.changed += 1,
                FileState::Missing => self.missing += 1,
                FileState::Unreadable => self.unreadable += 1,
                FileState::Elsewhere => self.elsewhere += 1,
                FileState::Stored => self.stored += 1,
            }
        }
    }
}

/// Inserts a job into a list of the largest ones; of equal ones, the oldest comes first.
fn rank<K>(first: &mut Vec<(K, JobId)>, key: K, id: JobId, order: impl Fn(&K, &K) -> Ordering) {
    let place = first.partition_point(|(other, _)| order(other, &key) != Ordering::Less);
    if place < MOST_NAMED {
        first.insert(place, (key, id));
        first.truncate(MOST_NAMED);
    }
}

/// Whether the notes have any content: models often write that there are none.
fn says_something(notes: &str) -> bool {
    let said = notes.trim().trim_end_matches('.').to_lowercase();
    !["", "none", "no", "no notes", "n/a", "-"].contains(&said.as_str())
}
