//! `/jobs/{id}/review`: the records beside their sources, and what a person says of them.

use super::server::WebState;
use axum::Router;
use std::sync::Arc;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
}
