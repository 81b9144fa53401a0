//! The server of `overnight serve`: jobs and batches as live pages, and people's actions on them. Pages are made here,
//! from the functions that the commands use; data that only the command line has (settings, places of workspaces, how
//! to submit a batch) comes from a [`WebBackend`].
//!
//! *Invariants*: nothing is answered without the token, and nothing is changed by a GET. Every text of a page is
//! escaped by its template. A file is sent only if it is in a list that was read: no path is built from a request.
//! Blocking work runs beside the async threads.
//!
//! - `server`: addresses, layers, connections; `state`: what all pages share; `access`: tokens, host, form token; `wrong_tokens`; `web_error`: what is answered instead of a page
//! - `backend`: the interface to the program; `live_jobs`: changes, read once for all viewers; `events`: sends them
//! - `list_page`: jobs and batches; `job_page`: one job, from its `job_record`; `prompt_page`; `files`: what a workspace holds
//! - `bulk_page`: one action on all jobs that a list shows; `evaluation_page`: what golden sets say of candidates
//! - `queue_page`: the jobs of a batch in order of doubt, from `kept_reviews`; `review_page`: records, and what a person says of them; `viewings`: what they had in view; `submit_page`, `uploads`: a new batch
//! - `api`: the same for programs; `mcp`: for agents
//! - `frame`: what all pages have in common; `channel_body`: an answer in pieces

mod access;
mod api;
mod backend;
mod bulk_page;
mod channel_body;
mod evaluation_page;
mod events;
mod files;
mod frame;
mod job_page;
mod job_record;
mod kept_reviews;
mod list_page;
mod live_jobs;
mod mcp;
mod prompt_page;
mod queue_page;
mod review_page;
mod server;
mod state;
mod submit_page;
mod uploads;
mod viewings;
mod web_error;
mod wrong_tokens;

pub use backend::{BulkAction, BulkOutcome, EvaluatedSet, FoundJob, RequestTarget, WantedBatch, WebBackend};
pub use server::{ServeError, serve, serve_agent};
pub use state::WebConfig;
pub use uploads::sweep;
pub use web_error::WebError;
