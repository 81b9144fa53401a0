//! `/bulk/{action}` and `/batches/{id}/bulk/{action}`: one action on all jobs that match a list's filter. A page asks
//! for confirmation first, with their number; if that has changed meanwhile, nothing is done.

use super::{
    WebError,
    access::Visitor,
    backend::{BulkAction, BulkOutcome, WebBackend},
    frame::{Frame, page},
    list_page::{ListQuery, list_path},
    state::{PathOf, WebState},
};
use crate::{
    report::words::counted,
    store::{AlikeJobs, JobPageQuery, Role},
};
use askama::Template;
use axum::{
    Extension, Form, Router,
    extract::{
        Query, State,
        rejection::{FormRejection, QueryRejection},
    },
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use overnight_core::job::id::JobId;
use serde::Deserialize;
use std::sync::Arc;
use uuid::Uuid;

/// Jobs that are read at once.
const PART: u32 = 1_000;

impl BulkAction {
    /// The action's name in URLs.
    fn key(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::Pause => "pause",
            Self::Resume => "resume",
        }
    }

    pub(super) fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.key() == key)
    }

    /// The text of a button: `Retry the 7 failed`.
    fn label(self, jobs: u64) -> String {
        match self {
            Self::Retry => format!("Retry the {jobs} failed"),
            Self::Cancel => format!("Cancel the {jobs} that have not ended"),
            Self::Pause => format!("Pause the {jobs} queued or running"),
            Self::Resume => format!("Resume the {jobs} paused"),
        }
    }

    /// A sentence about the effect on the jobs.
    fn effect(self) -> &'static str {
        match self {
            Self::Retry => "They are queued again with no attempt used, as `overnight retry` does it.",
            Self::Cancel => {
                "What was never begun ends at once; all others are ended by the worker that has them or next takes them, as by `overnight cancel`. What they made stays. This can't be taken back."
            }
            Self::Pause => {
                "They are held, running ones at their next turn, as by `overnight pause`, until they are resumed."
            }
            Self::Resume => "They are queued again, as `overnight resume` does it; a worker takes them.",
        }
    }

    /// The number of jobs in a group with the same state to which it applies.
    fn counted(self, alike: &AlikeJobs) -> u64 {
        let fits = |of_batch: bool| self.fits(alike.status, alike.hold_reason, of_batch);
        let parts = [(true, alike.of_batches), (false, alike.jobs - alike.of_batches)];
        parts.into_iter().filter(|(of_batch, _)| fits(*of_batch)).map(|(_, jobs)| jobs).sum()
    }
}

/// An action on all jobs that a list shows.
pub(super) struct BulkLink {
    pub(super) key: &'static str,
    pub(super) href: String,
    pub(super) label: String,
}

/// The actions that apply to any of the matching jobs.
pub(super) fn bulk_links(found: &[AlikeJobs], query: &ListQuery, path: &str) -> Vec<BulkLink> {
    let links = BulkAction::ALL.into_iter().filter_map(|action| {
        let jobs: u64 = found.iter().map(|alike| action.counted(alike)).sum();
        let href = query.first_page(&address(path, action));
        (jobs > 0).then(|| BulkLink { key: action.key(), href, label: action.label(jobs) })
    });
    links.collect()
}

/// The URL of the action, for the list at `path`.
fn address(path: &str, action: BulkAction) -> String {
    format!("{}/bulk/{}", path.trim_end_matches('/'), action.key())
}

/// The result of an action on many jobs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BulkTally {
    pub(super) done: u64,
    pub(super) asked: u64,
    pub(super) left: u64,
}

impl BulkTally {
    /// `7 jobs are queued again; a worker takes them.`
    pub(super) fn told(self, action: BulkAction) -> String {
        let (done, asked) = match action {
            BulkAction::Retry | BulkAction::Resume => ("queued again, for a worker to take", "asked to go on"),
            BulkAction::Cancel => ("cancelled", "cancelled by the worker that has them or next takes them"),
            BulkAction::Pause => ("held (paused)", "held by the worker that has them, at the next turn"),
        };
        let parts =
            [(self.done, done), (self.asked, asked), (self.left, "left as they are: they stand otherwise by now")];
        let told = parts.into_iter().filter(|(jobs, _)| *jobs > 0);
        let told: Vec<String> = told.map(|(jobs, what)| format!("{}: {what}", counted(jobs, "job"))).collect();
        if told.is_empty() { "No job fits: nothing was done.".to_owned() } else { format!("{}.", told.join("; ")) }
    }
}

#[derive(Template)]
#[template(path = "web/bulk.html")]
struct BulkPage {
    frame: Frame,
    question: String,
    which: String,
    effect: &'static str,
    address: String,
    label: String,
    jobs: u64,
    back: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct BulkForm {
    token: String,
    /// The number of jobs shown to the person.
    jobs: u64,
}

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/bulk/{action}", get(ask_of_all).post(act_on_all))
        .route("/batches/{id}/bulk/{action}", get(ask_of_batch).post(act_on_batch))
}

async fn ask_of_all(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(action): PathOf<String>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Response, WebError> {
    ask(&state, &visitor, None, &action, &query?.0).await
}

async fn ask_of_batch(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf((id, action)): PathOf<(String, String)>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Response, WebError> {
    let batch = state.batch(&id).await?.batch.id;
    ask(&state, &visitor, Some(batch), &action, &query?.0).await
}

async fn act_on_all(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(action): PathOf<String>,
    query: Result<Query<ListQuery>, QueryRejection>,
    form: Result<Form<BulkForm>, FormRejection>,
) -> Result<Response, WebError> {
    let form = form?.0;
    visitor.must_be(Role::Operator)?;
    visitor.check_form(Some(&form.token))?;
    act(&state, None, &action, &query?.0, form.jobs).await
}

async fn act_on_batch(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf((id, action)): PathOf<(String, String)>,
    query: Result<Query<ListQuery>, QueryRejection>,
    form: Result<Form<BulkForm>, FormRejection>,
) -> Result<Response, WebError> {
    let form = form?.0;
    visitor.must_be(Role::Operator)?;
    visitor.check_form(Some(&form.token))?;
    let batch = state.batch(&id).await?.batch.id;
    act(&state, Some(batch), &action, &query?.0, form.jobs).await
}

/// Asks for confirmation, with the number of jobs.
async fn ask(
    state: &WebState,
    visitor: &Visitor,
    batch: Option<Uuid>,
    action: &str,
    query: &ListQuery,
) -> Result<Response, WebError> {
    visitor.must_be(Role::Operator)?;
    let action = named(action)?;
    let found = state.store.job_counts(&query.fitting(batch)?).await?;
    let parts = found.iter().map(|alike| (action.counted(alike), alike)).filter(|(jobs, _)| *jobs > 0);
    let parts: Vec<String> = parts
        .map(|(jobs, alike)| match alike.hold_reason {
            Some(reason) => format!("{jobs} {} ({reason})", alike.status),
            None => format!("{jobs} {}", alike.status),
        })
        .collect();
    let jobs = found.iter().map(|alike| action.counted(alike)).sum();
    let path = list_path(batch);
    let label = action.label(jobs);
    page(&BulkPage {
        frame: Frame::of(state, visitor),
        question: format!("{label}?"),
        which: format!(
            "{}: {}.",
            query.told_of(batch.is_some()),
            if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
        ),
        effect: action.effect(),
        address: query.first_page(&address(&path, action)),
        label,
        jobs,
        back: query.first_page(&path),
    })
}

fn named(action: &str) -> Result<BulkAction, WebError> {
    BulkAction::of_key(action).ok_or_else(|| WebError::not_found("action"))
}

/// Performs it on all matching jobs, if their number is the one shown to the person, and redirects to the list.
async fn act(
    state: &WebState,
    batch: Option<Uuid>,
    action: &str,
    query: &ListQuery,
    told: u64,
) -> Result<Response, WebError> {
    let action = named(action)?;
    let jobs = fitting(state, &query.fitting(batch)?, action).await?;
    let now = jobs.len() as u64;
    if now != told {
        return Err(WebError::conflict(format!(
            "Nothing was done: the list has changed since the page was made, and it would be {} now instead of {told}. Look at the list again.",
            counted(now, "job")
        )));
    }
    let backend = state.backend.clone();
    // It runs to its end even if the browser doesn't wait for it.
    let tally = tokio::spawn(async move { act_on(&*backend, action, &jobs).await }).await??;
    let BulkTally { done, asked, left } = tally;
    let back = query.first_page(&list_path(batch));
    Ok(Redirect::to(&format!("{back}&did={}&done={done}&asked={asked}&left={left}", action.key())).into_response())
}

/// The matching jobs to which the action applies.
async fn fitting(state: &WebState, wanted: &JobPageQuery, action: BulkAction) -> Result<Vec<JobId>, WebError> {
    let mut jobs = Vec::new();
    let mut skipped = 0;
    loop {
        let (rows, found) = state.store.job_page(&JobPageQuery { skipped, most: PART, ..wanted.clone() }).await?;
        let fits = rows.iter().filter(|row| action.fits(row.state.status, row.state.hold_reason, row.queue.is_some()));
        jobs.extend(fits.map(|row| row.job.id));
        skipped += u64::from(PART);
        if skipped >= found {
            return Ok(jobs);
        }
    }
}

async fn act_on(backend: &dyn WebBackend, action: BulkAction, jobs: &[JobId]) -> Result<BulkTally, WebError> {
    let mut tally = BulkTally::default();
    for job in jobs {
        match backend.act(action, *job).await {
            Ok(BulkOutcome::Done) => tally.done += 1,
            Ok(BulkOutcome::Asked) => tally.asked += 1,
            Ok(BulkOutcome::Unchanged) => tally.left += 1,
            Err(error) => {
                let all = jobs.len();
                let did = tally.done + tally.asked + tally.left;
                return Err(WebError { sentence: format!("After {did} of {all} jobs: {error}"), ..error });
            }
        }
    }
    Ok(tally)
}
