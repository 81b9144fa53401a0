//! `/` and `/batches/{id}`: jobs, the newest first, with their batches.

use super::{
    WebError,
    access::Visitor,
    backend::BulkAction,
    bulk_page::{BulkLink, BulkTally, bulk_links},
    frame::{Frame, ShownTime, StateBadge, page},
    state::{PathOf, WebState},
};
use crate::{
    report::{facts::JobStanding, words::counted},
    store::{BatchHead, BatchRow, BatchTotals, JobPageQuery, JobRow},
};
use askama::Template;
use axum::{
    Extension,
    extract::{Query, State, rejection::QueryRejection},
    response::Response,
};
use overnight_core::{
    amount::{cost, percent},
    job::record::JobStatus,
};
use serde::Deserialize;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};
use uuid::Uuid;

/// Jobs on a page.
const PAGE: u64 = 100;
/// Batches above them.
const MOST_BATCHES: u32 = 20;
const STATUSES: [JobStatus; 9] = [
    JobStatus::Running,
    JobStatus::Waiting,
    JobStatus::Queued,
    JobStatus::Held,
    JobStatus::Completed,
    JobStatus::Partial,
    JobStatus::Blocked,
    JobStatus::Failed,
    JobStatus::Cancelled,
];

/// The filter of the list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListQuery {
    /// A part of a job's label, instructions, model or id.
    q: String,
    status: String,
    /// From 1.
    page: u64,
    /// The action just performed, and the number of its jobs.
    did: String,
    done: u64,
    asked: u64,
    left: u64,
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
    created: ShownTime,
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
    /// Facts about a batch.
    facts: Vec<(&'static str, String)>,
    batch: Option<Uuid>,
    path: String,
    events: String,
    query: &'p ListQuery,
    counts: Vec<CountLink>,
    told: Option<String>,
    /// The actions on all matching jobs.
    actions: Vec<BulkLink>,
    batches: Vec<BatchCells>,
    more_batches: u64,
    jobs: Vec<JobCells>,
    /// Numbers of the first and the last job on the page, and of all that fit.
    first: u64,
    last: u64,
    found: u64,
    previous: Option<String>,
    next: Option<String>,
}

pub(super) async fn all(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Response, WebError> {
    let query = query?.0;
    let frame = Frame::of(&state, &visitor);
    let batches = state.store.batches(MOST_BATCHES).await?;
    let (all, shown) = (state.store.count_batches().await?, batches.len() as u64);
    let cells = batches.iter().map(|row| BatchCells::of(row, &frame)).collect();
    let totals = state.store.job_totals().await?;
    let mut list = ListPage::of(&state, frame, &query, totals, None).await?;
    (list.batches, list.more_batches) = (cells, all.saturating_sub(shown));
    page(&list)
}

pub(super) async fn batch(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Response, WebError> {
    let query = query?.0;
    let row = state.batch(&id).await?;
    let id = row.batch.id;
    let frame = Frame::of(&state, &visitor);
    let mut facts = vec![
        ("Submitted", frame.time(row.batch.created).person),
        ("Instructions", row.batch.instructions.clone()),
        ("Model", row.batch.model.clone()),
        ("Spent", row.cost_told()),
    ];
    let budget = row.batch.budget_usd.map(|budget| ("Budget", cost(Some(budget))));
    facts.extend(budget);
    facts.extend(row.batch.time_window.clone().map(|window| ("Hours", window)));
    facts.extend(row.ended.map(|ended| ("Ended", frame.time(ended).person)));
    let mut list = ListPage::of(&state, frame, &query, row.totals, Some(id)).await?;
    list.heading = row.batch.shown_name();
    (list.facts, list.batch, list.events) = (facts, Some(id), format!("/events?batch={id}"));
    page(&list)
}

impl<'p> ListPage<'p> {
    async fn of(
        state: &WebState,
        frame: Frame,
        query: &'p ListQuery,
        totals: BatchTotals,
        batch: Option<Uuid>,
    ) -> Result<Self, WebError> {
        let path = &list_path(batch);
        let mut number = query.page.max(1);
        let mut wanted = JobPageQuery {
            skipped: (number - 1).saturating_mul(PAGE),
            most: u32::try_from(PAGE).unwrap_or(u32::MAX),
            ..query.fitting(batch)?
        };
        let (mut shown, found) = state.store.job_page(&wanted).await?;
        let pages = found.div_ceil(PAGE).max(1);
        if number > pages {
            // The list has become shorter: its last page.
            number = pages;
            wanted.skipped = (number - 1) * PAGE;
            shown = state.store.job_page(&wanted).await?.0;
        }
        let actions = if frame.only_reviews {
            Vec::new()
        } else {
            bulk_links(&state.store.job_counts(&wanted).await?, query, path)
        };
        let first = (number - 1) * PAGE;
        let of_batches: BTreeSet<Uuid> = shown.iter().filter_map(|row| Some(row.queue.as_ref()?.batch)).collect();
        let heads = state.store.batch_heads(of_batches.into_iter().collect()).await?;
        let running = shown.iter().filter(|row| row.state.status == JobStatus::Running).cloned().collect();
        let interrupted: BTreeSet<_> = state.backend.interrupted(running).await?.into_iter().collect();
        let cells = shown.iter().map(|row| JobCells::of(row, interrupted.contains(&row.job.id), &heads, &frame));
        let jobs: Vec<JobCells> = cells.collect();
        let to = |page: u64| query.link(path, &query.status, page);
        Ok(Self {
            heading: "Jobs".to_owned(),
            facts: Vec::new(),
            batch: None,
            path: path.to_owned(),
            events: "/events".to_owned(),
            query,
            counts: counts(&totals, query, path),
            told: query.told(),
            actions,
            batches: Vec::new(),
            more_batches: 0,
            first: if jobs.is_empty() { 0 } else { first + 1 },
            last: first + jobs.len() as u64,
            found,
            previous: (number > 1).then(|| to(number - 1)),
            next: (number < pages).then(|| to(number + 1)),
            jobs,
            frame,
        })
    }
}

impl ListQuery {
    /// The jobs that fit, of a batch or of all.
    pub(super) fn fitting(&self, batch: Option<Uuid>) -> Result<JobPageQuery, WebError> {
        let status = STATUSES.into_iter().find(|status| status.name() == self.status);
        if status.is_none() && !self.status.is_empty() {
            return Err(WebError::not_found("status"));
        }
        Ok(JobPageQuery { batch, status, text: self.q.clone(), ..JobPageQuery::default() })
    }

    /// A description of the filter.
    pub(super) fn told_of(&self, of_batch: bool) -> String {
        let mut told = if of_batch { "Of the batch's jobs" } else { "Of all jobs" }.to_owned();
        if !self.status.is_empty() {
            told.extend([", those that are ", &self.status]);
        }
        if !self.q.trim().is_empty() {
            told.extend([", with '", self.q.trim(), "' in document, instructions, model or id"]);
        }
        told
    }

    /// A sentence on the action just performed.
    fn told(&self) -> Option<String> {
        let Self { done, asked, left, .. } = *self;
        BulkAction::of_key(&self.did).map(|action| BulkTally { done, asked, left }.told(action))
    }

    /// The list of all that fit, at `path`.
    pub(super) fn first_page(&self, path: &str) -> String {
        self.link(path, &self.status, 1)
    }

    /// The list at `path`, with these jobs.
    fn link(&self, path: &str, status: &str, page: u64) -> String {
        let pairs = [("q", self.q.clone()), ("status", status.to_owned()), ("page", page.to_string())];
        let told =
            pairs.into_iter().filter(|(name, value)| !value.is_empty() && (*name, value.as_str()) != ("page", "1"));
        let query = url::Url::parse_with_params("http://localhost/", told);
        let query = query.ok().and_then(|url| url.query().map(str::to_owned)).unwrap_or_default();
        format!("{path}?{query}")
    }
}

/// The path of the list of a batch's jobs, or of all jobs.
pub(super) fn list_path(batch: Option<Uuid>) -> String {
    batch.map_or_else(|| "/".to_owned(), |id| format!("/batches/{id}"))
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
    fn of(row: &BatchRow, frame: &Frame) -> Self {
        let badge = |status| StateBadge::new(JobStanding::of(status, false), None);
        let counts = STATUSES.into_iter().map(|status| (row.totals.of(status), badge(status)));
        Self {
            id: row.batch.id,
            name: row.batch.shown_name(),
            created: frame.time(row.batch.created),
            instructions: row.batch.instructions.clone(),
            counts: counts.filter(|(number, _)| *number > 0).collect(),
            jobs: row.totals.all(),
            spent: row.cost_told(),
        }
    }
}

impl JobCells {
    fn of(row: &JobRow, interrupted: bool, heads: &HashMap<Uuid, BatchHead>, frame: &Frame) -> Self {
        let (job, state) = (&row.job, &row.state);
        let label = row.queue.as_ref().map(|queue| queue.label.trim()).filter(|label| !label.is_empty());
        let name = |id: Uuid| heads.get(&id).and_then(|head| head.name.clone()).unwrap_or_else(|| id.to_string());
        let batch = row.queue.as_ref().map(|queue| (queue.batch, name(queue.batch)));
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
            cost: if state.turns == 0 { "–".to_owned() } else { cost(state.cost_usd) },
            coverage: percent(state.coverage),
            batch,
            created: frame.time(job.created),
            updated: frame.time(row.updated),
        }
    }
}
