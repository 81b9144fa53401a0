//! `GET /events`: a line for each change of what a page shows (server-sent events), so that the page loads its parts anew. An
//! outage of the database and its end are changes too.

use super::{
    WebError,
    channel_body::channel_body,
    live_jobs::{JobListing, TICK},
    server::WebState,
};
use crate::{
    report::read::Whereabouts,
    store::JobRow,
    workspace::{Workspace, chain::LIVE},
};
use axum::{
    body::Bytes,
    extract::{Query, State, rejection::QueryRejection},
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use overnight_core::job::{id::JobId, time::Timestamp};
use serde::Deserialize;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;
use uuid::Uuid;

/// After so long without a change a line is sent all the same, so that nobody takes the connection for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// What the page shows: one job, one batch, or all.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct WatchedPart {
    job: Option<Uuid>,
    batch: Option<Uuid>,
}

/// What is compared to see a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartVersion {
    All(u64),
    Batch(usize, Option<Timestamp>),
    /// The row's time; size and time of the live journal.
    Job(Option<Timestamp>, Option<(u64, Timestamp)>),
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
    let mut listing = state.jobs.watch();
    let first = state.jobs.now().await?;
    let (sender, body) = channel_body();
    tokio::spawn(async move {
        let mut seen = (first.is_old, version(part, &first, path.clone()).await);
        let mut said = Instant::now();
        let mut line = Bytes::from_static(b": watching\n\n");
        loop {
            if !line.is_empty() {
                said = Instant::now();
                if sender.send(line).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                changed = listing.changed() => if changed.is_err() { return },
                () = tokio::time::sleep(TICK) => {}
                () = sender.closed() => return,
            }
            let current = listing.borrow_and_update().clone();
            let now = (current.is_old, version(part, &current, path.clone()).await);
            line = if now != seen {
                seen = now;
                Bytes::from_static(b"event: changed\ndata: \n\n")
            } else if said.elapsed() > KEEP_ALIVE {
                Bytes::from_static(b": watching\n\n")
            } else {
                Bytes::new()
            };
        }
    });
    // A proxy that gathers lines before it sends them would hold them back.
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
    Ok((headers, [("x-accel-buffering", "no")], body).into_response())
}

async fn version(part: WatchedPart, listing: &JobListing, path: Option<PathBuf>) -> PartVersion {
    if let Some(id) = part.job {
        let row = listing.jobs.iter().find(|row| row.job.id.0 == id).map(|row| row.updated);
        let journal = match path {
            None => None,
            Some(path) => tokio::task::spawn_blocking(move || live_journal(&path)).await.ok().flatten(),
        };
        return PartVersion::Job(row, journal);
    }
    match part.batch {
        None => PartVersion::All(listing.version),
        Some(batch) => {
            let of_batch = |row: &&Arc<JobRow>| row.queue.as_ref().is_some_and(|of| of.batch == batch);
            let rows = || listing.jobs.iter().filter(of_batch);
            PartVersion::Batch(rows().count(), rows().map(|row| row.updated).max())
        }
    }
}

/// Size and time of the live journal: another for each line.
pub(super) fn live_journal(path: &Path) -> Option<(u64, Timestamp)> {
    let entry = Workspace::open(path).ok()?.metadata(LIVE).ok()?;
    Some((entry.bytes, entry.modified))
}
