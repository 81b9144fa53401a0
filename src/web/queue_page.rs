//! `/batches/{id}/queue`: the jobs of a batch in order of doubt, for a person who goes through them: which are open,
//! approved, corrected or sent back, which have no record, and which files were left out.

use super::{
    WebError,
    access::Visitor,
    backend::FoundJob,
    frame::{Frame, StateBadge, page},
    state::{PathOf, WebState},
};
use crate::{
    batch::BatchSettings,
    cascade::{CascadeState, stored_state},
    export::TableFormat,
    review::{JobReview, QueuedReview, page_query},
    runner::ReviewAction,
    store::{JobPageQuery, JobRow, ReaderAssignment},
};
use askama::Template;
use axum::{
    Extension, Form, Router,
    extract::{
        Query, State,
        rejection::{FormRejection, QueryRejection},
    },
    http::{
        HeaderValue,
        header::{CONTENT_DISPOSITION, CONTENT_TYPE},
    },
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use overnight_core::job::{
    id::JobId,
    left_out::LeftOutFile,
    record::{HoldReason, JobStatus},
    seen_result::{ApprovalWay, SeenResult},
};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};
use uuid::Uuid;

/// Jobs of a batch that are put in order.
const MOST_JOBS: u32 = 5_000;
/// A field counts as missed if this many other documents have it, and at most one in `RARE` documents lacks it.
const LEAST_OTHERS: usize = 4;
const RARE: usize = 5;
/// The work that a job requires from a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum QueueMark {
    /// There is a result without a decision.
    Open,
    /// It continues with a person's feedback.
    SentBack,
    /// It has no result: it waits, is being worked, has failed or was cancelled.
    NoResult,
    /// Another job did the same before, and its result is decided on there.
    DoneBefore,
    Approved,
}

impl QueueMark {
    const ALL: [Self; 5] = [Self::Open, Self::SentBack, Self::NoResult, Self::DoneBefore, Self::Approved];

    /// The name in URLs.
    fn key(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::SentBack => "sent-back",
            Self::NoResult => "no-result",
            Self::DoneBefore => "done-before",
            Self::Approved => "approved",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::SentBack => "sent back",
            Self::NoResult => "without a result",
            Self::DoneBefore => "done before",
            Self::Approved => "approved",
        }
    }

    fn tone(self) -> &'static str {
        match self {
            Self::Open => "doubt",
            Self::SentBack => "busy",
            Self::NoResult | Self::DoneBefore => "quiet",
            Self::Approved => "good",
        }
    }
}

/// A job of the queue.
#[derive(Clone, Debug)]
pub(super) struct QueueRow {
    job: JobId,
    title: String,
    mark: QueueMark,
    state: StateBadge,
    reason: Option<String>,
    review: Option<Arc<QueuedReview>>,
    /// A field that it lacks and nearly all other documents of the batch have: the beginning of a sentence.
    unlike: Option<String>,
    /// A cascade's certificate requires that it is read.
    is_drawn: bool,
    /// The people who are to read it.
    readers: Vec<String>,
}

impl QueueRow {
    /// Whether it is open and nothing of it is doubtful.
    fn is_clear(&self) -> bool {
        let is_done = self.review.as_ref().is_some_and(|review| review.is_clear());
        self.mark == QueueMark::Open && !self.is_drawn && is_done && self.reason.is_none() && self.unlike.is_none()
    }

    /// The link of its row: to its records, or else to its page.
    fn address(&self) -> String {
        match self.mark {
            QueueMark::Open | QueueMark::Approved => format!("/jobs/{}/review{}", self.job, page_query(1, true)),
            QueueMark::SentBack | QueueMark::NoResult | QueueMark::DoneBefore => format!("/jobs/{}", self.job),
        }
    }
}

/// The jobs to show, and the one after which the next is searched for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct QueueQuery {
    mark: String,
    after: String,
    /// Only what this person is to read.
    #[serde(rename = "for")]
    reader: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct QueueForm {
    token: String,
    /// The number of jobs shown to the person.
    jobs: usize,
}

#[derive(Template)]
#[template(path = "web/queue.html")]
struct QueuePage {
    frame: Frame,
    batch: Uuid,
    name: String,
    marks: Vec<(QueueMark, usize)>,
    chosen: Option<QueueMark>,
    rows: Vec<QueueRow>,
    /// The first open one.
    next: Option<String>,
    clear: usize,
    drawn: usize,
    all: u64,
    /// The person whose rows are shown, if only theirs are.
    reader: Option<String>,
    /// The people with results to read, and how many of those are open.
    readers: Vec<(String, usize)>,
    left_out: Vec<LeftOutFile>,
    more_left_out: u64,
}

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/batches/{id}/queue", get(queue))
        .route("/batches/{id}/next", get(next))
        .route("/batches/{id}/approve", post(approve_clear))
        .route("/batches/{id}/table.xlsx", get(table))
        .route("/batches/{id}/report.html", get(report))
}

/// A batch with its jobs, the most doubtful first.
struct BatchQueue {
    id: Uuid,
    name: String,
    rows: Vec<QueueRow>,
    all: u64,
    left_out: Vec<LeftOutFile>,
    left_out_files: u64,
}

impl BatchQueue {
    /// The whole queue, or the part that one person is to read.
    async fn read(state: &WebState, id: &str, reader: Option<&str>) -> Result<Self, WebError> {
        let batch = state.batch(id).await?.batch;
        let id = batch.id;
        let left_out = BatchSettings::left_out(&batch.settings);
        let wanted = JobPageQuery { batch: Some(id), most: MOST_JOBS, ..JobPageQuery::default() };
        let (jobs, all) = state.store.job_page(&wanted).await?;
        let mut rows = Vec::new();
        let mut assignments: HashMap<JobId, Vec<ReaderAssignment>> = HashMap::new();
        for one in state.store.assignments(id).await? {
            assignments.entry(one.job).or_default().push(one);
        }
        let cascade = stored_state(state.store.as_ref(), id).await?;
        let drawn: HashSet<JobId> = cascade.iter().flat_map(CascadeState::unread).collect();
        for row in jobs {
            let is_drawn = drawn.contains(&row.job.id);
            let row = queue_row(state, row).await?;
            // A job approved before the draw is open again: a certificate covers only results that were read for it.
            let is_open = is_drawn && matches!(row.mark, QueueMark::Open | QueueMark::Approved);
            let mark = if is_open { QueueMark::Open } else { row.mark };
            let assigned = assignments.get(&row.job).map_or(&[][..], Vec::as_slice);
            // A result that two people read needs a judgement from each of them.
            let own = assigned.iter().find(|one| one.twice && reader == Some(one.reviewer.as_str()));
            let is_judged =
                own.is_some_and(|own| row.review.iter().any(|it| it.judgements.contains_key(&own.reviewer)));
            let mark = if own.is_some() && !is_judged && mark == QueueMark::Approved { QueueMark::Open } else { mark };
            let readers: Vec<String> = assigned.iter().map(|one| one.reviewer.clone()).collect();
            if reader.is_none_or(|reader| readers.iter().any(|name| name == reader)) {
                rows.push(QueueRow { mark, is_drawn, readers, ..row });
            }
        }
        let order = |row: &QueueRow| {
            let doubt = row.review.as_ref().map(|review| review.order());
            (row.mark, !row.is_drawn, row.is_clear(), doubt, row.title.clone())
        };
        mark_unlike(&mut rows);
        rows.sort_by_cached_key(order);
        let (left_out_files, left_out) = (left_out.files, left_out.first);
        Ok(Self { id, name: batch.shown_name(), rows, all, left_out, left_out_files })
    }

    /// The open job after this one, or else the first open one.
    fn next(&self, after: &str) -> Option<&QueueRow> {
        let is_open = |row: &&QueueRow| row.mark == QueueMark::Open && row.job.to_string() != after;
        let place = self.rows.iter().position(|row| row.job.to_string() == after);
        let behind = place.and_then(|place| self.rows[place..].iter().find(is_open));
        behind.or_else(|| self.rows.iter().find(is_open))
    }
}

/// Marks each job that lacks a field in all records which nearly all others have: it may have been missed.
fn mark_unlike(rows: &mut [QueueRow]) {
    let mut counts: HashMap<String, [usize; 2]> = HashMap::new();
    for review in rows.iter().filter_map(|row| row.review.as_ref()) {
        for (nth, names) in [&review.filled, &review.lacking].into_iter().enumerate() {
            for name in names {
                counts.entry(name.clone()).or_default()[nth] += 1;
            }
        }
    }
    for row in rows.iter_mut().filter(|row| row.mark == QueueMark::Open) {
        let unlike = row.review.iter().flat_map(|review| &review.lacking).find_map(|name| {
            let [filled, lacking] = counts[name];
            let is_rare = filled >= LEAST_OTHERS && lacking * RARE <= filled + lacking;
            is_rare.then(|| format!("{name} is not there, and {filled} other documents have it"))
        });
        row.unlike = unlike;
    }
}

async fn queue_row(state: &WebState, row: JobRow) -> Result<QueueRow, WebError> {
    let label = row.queue.as_ref().map(|queue| queue.label.trim().to_owned()).filter(|label| !label.is_empty());
    let badge = StateBadge::of(&row, false);
    let is_ended = matches!(row.state.status, JobStatus::Completed | JobStatus::Partial | JobStatus::Blocked);
    let is_reviewed = is_ended || row.state.status == JobStatus::Held;
    let review = match state.reviews.get(&row) {
        Some(known) => Some(known),
        None if is_reviewed => match state.backend.job(row.job.id).await? {
            Some(found) => read(state, &row, found).await?,
            None => None,
        },
        None => None,
    };
    let mark = match &review {
        _ if row.queue.as_ref().is_some_and(|queue| queue.same_as.is_some()) => QueueMark::DoneBefore,
        _ if row.state.approved_by.is_some() => QueueMark::Approved,
        Some(review) if review.is_approved => QueueMark::Approved,
        Some(review) if review.has_result => QueueMark::Open,
        Some(review) if review.sent_back > 0 => QueueMark::SentBack,
        Some(_) | None => QueueMark::NoResult,
    };
    let title = label.or_else(|| review.as_ref().map(|review| review.title.clone()));
    let reason = row.state.reason.clone().filter(|_| row.state.status != JobStatus::Completed);
    let reason = reason.filter(|_| row.state.hold_reason != Some(HoldReason::Review));
    Ok(QueueRow {
        job: row.job.id,
        title: title.unwrap_or_else(|| row.job.instructions.clone()),
        mark,
        state: badge,
        reason,
        review,
        unlike: None,
        is_drawn: false,
        readers: Vec::new(),
    })
}

/// Reads the review of a job whose record is here; none if another job did it, or its record can't be read.
async fn read(state: &WebState, row: &JobRow, found: FoundJob) -> Result<Option<Arc<QueuedReview>>, WebError> {
    let Ok(path) = WebState::own_workspace(&found) else { return Ok(None) };
    let read = tokio::task::spawn_blocking(move || JobReview::read_records(&path)).await?;
    let review = read.ok().map(|review| Arc::new(QueuedReview::of(&review)));
    if let Some(review) = &review {
        state.reviews.keep(row, review);
    }
    Ok(review)
}

async fn queue(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
    query: Result<Query<QueueQuery>, QueryRejection>,
) -> Result<Response, WebError> {
    let query = query?.0;
    let reader = Some(query.reader).filter(|name| !name.is_empty());
    let batch = BatchQueue::read(&state, &id, reader.as_deref()).await?;
    let chosen = QueueMark::ALL.into_iter().find(|mark| mark.key() == query.mark);
    let count = |mark: QueueMark| batch.rows.iter().filter(|row| row.mark == mark).count();
    let marks = QueueMark::ALL.into_iter().map(|mark| (mark, count(mark))).filter(|(_, count)| *count > 0).collect();
    let next = batch.next("").map(QueueRow::address);
    let clear = batch.rows.iter().filter(|row| row.is_clear()).count();
    let drawn = batch.rows.iter().filter(|row| row.is_drawn).count();
    let more_left_out = batch.left_out_files.saturating_sub(batch.left_out.len() as u64);
    let mut readers: BTreeMap<String, usize> = BTreeMap::new();
    for row in &batch.rows {
        for name in &row.readers {
            *readers.entry(name.clone()).or_default() += usize::from(row.mark == QueueMark::Open);
        }
    }
    let is_shown = |row: &QueueRow| chosen.is_none_or(|chosen| row.mark == chosen);
    page(&QueuePage {
        frame: Frame::of(&state, &visitor),
        batch: batch.id,
        name: batch.name,
        marks,
        chosen,
        rows: batch.rows.into_iter().filter(is_shown).collect(),
        next,
        clear,
        drawn,
        all: batch.all,
        readers: if reader.is_some() { Vec::new() } else { readers.into_iter().collect() },
        reader,
        left_out: batch.left_out,
        more_left_out,
    })
}

/// Leads to the records of the next open job, or back to the queue.
async fn next(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
    query: Result<Query<QueueQuery>, QueryRejection>,
) -> Result<Response, WebError> {
    // A person with assigned results goes through those.
    let batch = state.batch(&id).await?.batch.id;
    let assigned = state.store.assignments(batch).await?;
    let reader = visitor.name.as_deref().filter(|name| assigned.iter().any(|one| one.reviewer == *name));
    let batch = BatchQueue::read(&state, &id, reader).await?;
    let to = batch.next(&query?.0.after).map_or_else(|| format!("/batches/{}/queue", batch.id), QueueRow::address);
    Ok(Redirect::to(&to).into_response())
}

/// Approves all open results without a doubt, if their number is the one shown to the person.
async fn approve_clear(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
    form: Result<Form<QueueForm>, FormRejection>,
) -> Result<Response, WebError> {
    let form = form?.0;
    visitor.check_form(Some(&form.token))?;
    let by = visitor.named()?;
    let batch = BatchQueue::read(&state, &id, None).await?;
    let clear: Vec<JobId> = batch.rows.iter().filter(|row| row.is_clear()).map(|row| row.job).collect();
    if clear.len() != form.jobs {
        return Err(WebError::conflict("The batch has changed since you opened the queue: look at it again."));
    }
    for job in clear {
        let found = state.find(&job.to_string()).await?;
        let path = WebState::own_workspace(&found)?;
        let seen = Some(Box::new(SeenResult::unopened(ApprovalWay::Together)));
        state.backend.review(&found, &path, &by, ReviewAction::Approve { comment: None, seen }).await?;
    }
    Ok(Redirect::to(&format!("/batches/{}/queue", batch.id)).into_response())
}

/// The table of all records, as `overnight export` writes it.
async fn table(State(state): State<Arc<WebState>>, PathOf(id): PathOf<String>) -> Result<Response, WebError> {
    let batch = state.batch(&id).await?.batch.id.to_string();
    let bytes = state.backend.table(&batch, TableFormat::Xlsx).await?;
    let bytes = bytes.ok_or_else(|| WebError::conflict("No job of this batch has a list of records yet."))?;
    let name = HeaderValue::from_static("attachment; filename=\"records.xlsx\"");
    let kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    Ok(([(CONTENT_TYPE, HeaderValue::from_static(kind)), (CONTENT_DISPOSITION, name)], bytes).into_response())
}

/// The report of the batch, a file.
async fn report(State(state): State<Arc<WebState>>, PathOf(id): PathOf<String>) -> Result<Response, WebError> {
    let html = state.backend.report(state.batch(&id).await?.batch.id).await?;
    let name = HeaderValue::from_static("attachment; filename=\"report.html\"");
    Ok(([(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")), (CONTENT_DISPOSITION, name)], html)
        .into_response())
}
