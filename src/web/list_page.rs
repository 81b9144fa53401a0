//! `/` and `/batches/{id}`: jobs, the newest first, with their batches.

use super::{
    WebError,
    access::Visitor,
    frame::{Frame, ShownTime, StateBadge, page, usd},
    live_jobs::{JobListing, ListedBatch, count},
    server::{PathOf, WebState},
};
use crate::{
    report::{facts::JobStanding, words::counted},
    store::{BatchTotals, JobRow, StoreError},
};
use askama::Template;
use axum::{
    Extension,
    extract::{Query, State, rejection::QueryRejection},
    response::Response,
};
use overnight_core::{amount::percent, job::record::JobStatus};
use serde::Deserialize;
use std::{collections::BTreeSet, sync::Arc};
use uuid::Uuid;

/// Jobs on a page.
const PAGE: usize = 100;
/// Batches above them.
const MOST_BATCHES: usize = 20;
const STATUSES: [JobStatus; 8] = [
    JobStatus::Running,
    JobStatus::Queued,
    JobStatus::Held,
    JobStatus::Completed,
    JobStatus::Partial,
    JobStatus::Blocked,
    JobStatus::Failed,
    JobStatus::Cancelled,
];

/// What is looked for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListQuery {
    /// A part of a job's label, instructions, model or id.
    q: String,
    status: String,
    /// From 1.
    page: usize,
}

/// A count that leads to its jobs.
struct CountLink {
    word: String,
    number: u64,
    tone: &'static str,
    href: String,
    is_chosen: bool,
}

/// A row of the batches.
struct BatchCells {
    id: Uuid,
    name: String,
    created: Option<ShownTime>,
    instructions: String,
    counts: Vec<(u64, StateBadge)>,
    jobs: u64,
    spent: String,
}

/// A row of the jobs.
struct JobCells {
    id: String,
    name: String,
    instructions: String,
    badge: StateBadge,
    reason: Option<String>,
    phase: String,
    turns: u64,
    cost: String,
    coverage: String,
    batch: Option<(Uuid, String)>,
    created: ShownTime,
    updated: ShownTime,
}

#[derive(Template)]
#[template(path = "web/list.html")]
struct ListPage<'p> {
    frame: Frame,
    heading: String,
    /// Of a batch.
    facts: Vec<(&'static str, String)>,
    batch: Option<Uuid>,
    path: String,
    events: String,
    query: &'p ListQuery,
    counts: Vec<CountLink>,
    batches: Vec<BatchCells>,
    more_batches: usize,
    jobs: Vec<JobCells>,
    /// Numbers of the first and the last job on the page, and of all that fit.
    first: usize,
    last: usize,
    found: usize,
    previous: Option<String>,
    next: Option<String>,
}

pub(super) async fn all(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Response, WebError> {
    let (query, listing) = (query?.0, state.jobs.now().await?);
    let frame = Frame::of(&state, &visitor);
    let batches = listing.batches.iter().take(MOST_BATCHES).map(|batch| BatchCells::of(batch, &frame)).collect();
    let rows: Vec<&Arc<JobRow>> = listing.jobs.iter().collect();
    let mut list = ListPage::of(&state, frame, &query, &listing, &rows, "/");
    list.batches = batches;
    list.more_batches = listing.batches.len().saturating_sub(MOST_BATCHES);
    page(&list)
}

pub(super) async fn batch(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Response, WebError> {
    let query = query?.0;
    let id: Uuid = id.parse().map_err(|_| WebError::not_found("batch"))?;
    let row = match state.store.batch(&id.to_string()).await {
        Ok(row) => row,
        Err(StoreError::NoBatch { .. }) => return Err(WebError::not_found("batch")),
        Err(error) => return Err(error.into()),
    };
    let listing = state.jobs.now().await?;
    let frame = Frame::of(&state, &visitor);
    let of_batch = |job: &&Arc<JobRow>| job.queue.as_ref().is_some_and(|queue| queue.batch == id);
    let rows: Vec<&Arc<JobRow>> = listing.jobs.iter().filter(of_batch).collect();
    let mut facts = vec![
        ("Submitted", frame.time(row.batch.created).person),
        ("Instructions", row.batch.instructions.clone()),
        ("Model", row.batch.model.clone()),
        ("Spent", usd(Some(row.spent_usd))),
    ];
    let budget = row.batch.budget_usd.map(|budget| ("Budget", usd(Some(budget))));
    facts.extend(budget);
    facts.extend(row.batch.time_window.clone().map(|window| ("Hours", window)));
    facts.extend(row.ended.map(|ended| ("Ended", frame.time(ended).person)));
    let mut list = ListPage::of(&state, frame, &query, &listing, &rows, &format!("/batches/{id}"));
    list.heading = row.batch.shown_name();
    (list.facts, list.batch, list.events) = (facts, Some(id), format!("/events?batch={id}"));
    page(&list)
}

impl<'p> ListPage<'p> {
    fn of(
        state: &WebState,
        frame: Frame,
        query: &'p ListQuery,
        listing: &JobListing,
        rows: &[&Arc<JobRow>],
        path: &str,
    ) -> Self {
        let mut totals = BatchTotals::default();
        for row in rows {
            count(&mut totals, row);
        }
        let fitting: Vec<&JobRow> = rows.iter().map(|row| &***row).filter(|row| query.fits(row)).collect();
        let pages = fitting.len().div_ceil(PAGE).max(1);
        let number = query.page.clamp(1, pages);
        let first = (number - 1) * PAGE;
        let shown: Vec<&JobRow> = fitting.iter().skip(first).take(PAGE).copied().collect();
        let running: Vec<&JobRow> =
            shown.iter().filter(|row| row.state.status == JobStatus::Running).copied().collect();
        let interrupted: BTreeSet<_> = state.backend.interrupted(&running).into_iter().collect();
        let jobs: Vec<JobCells> =
            shown.iter().map(|row| JobCells::of(row, interrupted.contains(&row.job.id), listing, &frame)).collect();
        let to = |page: usize| query.link(path, &query.status, page);
        Self {
            heading: "Jobs".to_owned(),
            facts: Vec::new(),
            batch: None,
            path: path.to_owned(),
            events: "/events".to_owned(),
            query,
            counts: counts(&totals, query, path),
            batches: Vec::new(),
            more_batches: 0,
            first: if jobs.is_empty() { 0 } else { first + 1 },
            last: first + jobs.len(),
            found: fitting.len(),
            previous: (number > 1).then(|| to(number - 1)),
            next: (number < pages).then(|| to(number + 1)),
            jobs,
            frame,
        }
    }
}

impl ListQuery {
    fn fits(&self, row: &JobRow) -> bool {
        let wanted = self.q.trim().to_lowercase();
        let label = row.queue.as_ref().map_or("", |queue| queue.label.as_str());
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let is_named = wanted.is_empty()
            || [label, &row.job.instructions, &row.job.model].into_iter().any(has)
            || row.job.id.to_string().starts_with(&wanted);
        is_named && (self.status.is_empty() || self.status == row.state.status.name())
    }

    /// The list at `path`, with these jobs.
    fn link(&self, path: &str, status: &str, page: usize) -> String {
        let pairs = [("q", self.q.clone()), ("status", status.to_owned()), ("page", page.to_string())];
        let told =
            pairs.into_iter().filter(|(name, value)| !value.is_empty() && (*name, value.as_str()) != ("page", "1"));
        let query = reqwest::Url::parse_with_params("http://localhost/", told);
        let query = query.ok().and_then(|url| url.query().map(str::to_owned)).unwrap_or_default();
        format!("{path}?{query}")
    }
}

fn counts(totals: &BatchTotals, query: &ListQuery, path: &str) -> Vec<CountLink> {
    let all = CountLink {
        word: "all".to_owned(),
        number: totals.all(),
        tone: "plain",
        href: query.link(path, "", 1),
        is_chosen: query.status.is_empty(),
    };
    let of_status = STATUSES.into_iter().filter(|status| totals.of(*status) > 0).map(|status| {
        let badge = StateBadge::new(JobStanding::of(status, false), None);
        CountLink {
            number: totals.of(status),
            tone: badge.tone,
            href: query.link(path, status.name(), 1),
            is_chosen: query.status == status.name(),
            word: badge.word,
        }
    });
    std::iter::once(all).chain(of_status).collect()
}

impl BatchCells {
    fn of(batch: &ListedBatch, frame: &Frame) -> Self {
        let badge = |status| StateBadge::new(JobStanding::of(status, false), None);
        let counts = STATUSES.into_iter().map(|status| (batch.totals.of(status), badge(status)));
        Self {
            id: batch.id,
            name: batch.name(),
            created: batch.about.as_ref().map(|about| frame.time(about.created)),
            instructions: batch.about.as_ref().map(|about| about.instructions.clone()).unwrap_or_default(),
            counts: counts.filter(|(number, _)| *number > 0).collect(),
            jobs: batch.jobs,
            spent: usd(Some(batch.spent_usd)),
        }
    }
}

impl JobCells {
    fn of(row: &JobRow, interrupted: bool, listing: &JobListing, frame: &Frame) -> Self {
        let (job, state) = (&row.job, &row.state);
        let label = row.queue.as_ref().map(|queue| queue.label.trim()).filter(|label| !label.is_empty());
        let name = |id: Uuid| listing.batches.iter().find(|batch| batch.id == id).map(ListedBatch::name);
        let batch = row.queue.as_ref().map(|queue| (queue.batch, name(queue.batch).unwrap_or_default()));
        let phase = if state.phases_planned == 0 {
            state.phase_title.clone()
        } else {
            format!("{} of {}: {}", state.phases_complete, state.phases_planned, state.phase_title)
        };
        Self {
            id: job.id.to_string(),
            name: label.map_or_else(|| counted(job.documents, "document"), str::to_owned),
            instructions: job.instructions.clone(),
            badge: StateBadge::of(row, interrupted),
            reason: state.reason.clone(),
            phase,
            turns: state.turns,
            cost: if state.turns == 0 { "–".to_owned() } else { usd(state.cost_usd) },
            coverage: percent(state.coverage),
            batch,
            created: frame.time(job.created),
            updated: frame.time(row.updated),
        }
    }
}
