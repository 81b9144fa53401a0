//! `GET /events`: a line for each change of what a page shows (server-sent events), so that the page loads its parts anew. An
//! outage of the database and its end are changes too.

use super::{
    WebError,
    channel_body::channel_body,
    live_jobs::{LiveChange, TICK, live_journal},
    state::WebState,
};
use crate::report::read::Whereabouts;
use axum::{
    body::Bytes,
    extract::{Query, State, rejection::QueryRejection},
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use overnight_core::job::{id::JobId, time::Timestamp};
use serde::Deserialize;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::{sync::broadcast::error::RecvError, time::Instant};
use uuid::Uuid;

/// After this time without a change a line is sent all the same, so that the connection doesn't seem dead.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// The subject of the page: one job, one batch, or all.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct WatchedPart {
    job: Option<Uuid>,
    batch: Option<Uuid>,
}

impl WatchedPart {
    /// Whether a change concerns it.
    fn is_in(self, told: &Result<LiveChange, RecvError>) -> bool {
        match (told, self.job, self.batch) {
            // The receiver was late: a missed change may concern it.
            (Err(_) | Ok(LiveChange::Everything), _, _) | (Ok(LiveChange::Jobs(_)), None, None) => true,
            (Ok(LiveChange::Jobs(jobs)), Some(job), _) => jobs.iter().any(|change| change.job.0 == job),
            (Ok(LiveChange::Jobs(jobs)), None, Some(batch)) => jobs.iter().any(|change| change.batch == Some(batch)),
        }
    }
}

pub(super) async fn events(
    State(state): State<Arc<WebState>>,
    part: Result<Query<WatchedPart>, QueryRejection>,
) -> Result<Response, WebError> {
    let part = part?.0;
    let path = match part.job {
        None => None,
        Some(id) => match state.backend.job(JobId(id)).await?.ok_or_else(|| WebError::not_found("job"))?.location {
            Whereabouts::Here(path) => Some(path),
            Whereabouts::Gone(_) | Whereabouts::Stored(_) | Whereabouts::Elsewhere | Whereabouts::NotBegun => None,
        },
    };
    let place = state.streams.clone().try_acquire_owned();
    let place =
        place.map_err(|_| WebError::busy("Too many pages follow what happens: close some, or ask again later."))?;
    let mut live = state.jobs.watch().await?;
    let (sender, body) = channel_body();
    tokio::spawn(async move {
        let _place = place;
        let mut journal = journal_of(path.clone()).await;
        let mut said = Instant::now();
        let mut message = Bytes::from_static(b": watching\n\n");
        loop {
            if !message.is_empty() {
                said = Instant::now();
                if sender.send(message).await.is_err() {
                    return;
                }
            }
            let mut is_changed = tokio::select! {
                told = live.recv() => {
                    if matches!(told, Err(RecvError::Closed)) {
                        return;
                    }
                    part.is_in(&told)
                }
                () = tokio::time::sleep(TICK) => false,
                () = sender.closed() => return,
            };
            let now = journal_of(path.clone()).await;
            is_changed |= now != journal;
            journal = now;
            message = if is_changed {
                Bytes::from_static(b"event: changed\ndata: \n\n")
            } else if said.elapsed() > KEEP_ALIVE {
                Bytes::from_static(b": watching\n\n")
            } else {
                Bytes::new()
            };
        }
    });
    // A proxy that buffers lines before sending them would delay them.
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
    Ok((headers, [("x-accel-buffering", "no")], body).into_response())
}

async fn journal_of(path: Option<PathBuf>) -> Option<(u64, Timestamp)> {
    let path = path?;
    tokio::task::spawn_blocking(move || live_journal(&path)).await.ok().flatten()
}
