//! Serves a worker's metrics and health.

use super::context::WorkerContext;
use axum::{Router, extract::State, http::StatusCode, response::IntoResponse, routing::get};
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use metrics::Label;
use std::{sync::Arc, time::Duration};
use tokio::sync::Semaphore;

/// The most connections served at once. They take open files away from the jobs: others wait.
const MOST_READERS: usize = 32;

/// Answers `GET /metrics` and `GET /health` until the worker ends. (`axum::serve` bounds neither time nor number.)
pub(super) async fn serve(listener: tokio::net::TcpListener, context: Arc<WorkerContext>) {
    let timeout = context.config.times.metrics_timeout;
    let app = Router::new().route("/metrics", get(page)).route("/health", get(health)).with_state(context);
    let room = Arc::new(Semaphore::new(MOST_READERS));
    while let Ok(permit) = room.clone().acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of files, or the other side is gone: an immediate retry helps in neither case.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let service = TowerToHyperService::new(app.clone());
        tokio::spawn(async move {
            let answer = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
            // Whatever the error is, there is no one to report it to.
            let _ = tokio::time::timeout(timeout, answer).await;
            drop(permit);
        });
    }
}

async fn page(State(context): State<Arc<WorkerContext>>) -> impl IntoResponse {
    let metrics = &context.metrics;
    // An outage is visible in its own gauge.
    if let Ok(depth) = context.store.depth().await {
        for (status, jobs) in depth {
            metrics.gauge("overnight_queue_jobs", vec![Label::new("status", status.name())]).set(precise(jobs));
        }
    }
    metrics.gauge("overnight_running_jobs", Vec::new()).set(precise(context.active_jobs.count() as u64));
    for (endpoint, is_down) in context.batches.endpoints().await {
        metrics
            .gauge("overnight_endpoint_down", vec![Label::new("endpoint", endpoint)])
            .set(f64::from(u8::from(is_down)));
    }
    let is_up = metrics.is_well(context.config.times.lease);
    metrics.gauge("overnight_database_up", Vec::new()).set(f64::from(u8::from(is_up)));
    metrics.handle.run_upkeep();
    ([("content-type", "text/plain; version=0.0.4")], metrics.handle.render())
}

async fn health(State(context): State<Arc<WorkerContext>>) -> (StatusCode, &'static str) {
    if context.metrics.is_well(context.config.times.lease) {
        (StatusCode::OK, "ok\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "the database takes no heartbeat\n")
    }
}

fn precise(number: u64) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}
