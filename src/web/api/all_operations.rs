//! All operations: their routes, and the document that describes them, `/openapi.json`.

use super::{ROOT, batches, jobs, operations::ApiRoutes, review, submission};
use crate::web::state::WebState;
use axum::{
    Router,
    body::Bytes,
    http::{HeaderValue, header::CONTENT_TYPE},
    response::IntoResponse,
    routing::get,
};
use serde_json::Value;
use std::sync::Arc;

/// All operations.
#[derive(Debug)]
pub(in crate::web) struct ApiOperations {
    pub(in crate::web) plain: Router<Arc<WebState>>,
    /// The operations that take uploads.
    pub(in crate::web) uploads: Router<Arc<WebState>>,
    /// The OpenAPI document.
    pub(in crate::web) document: Value,
}

/// Assembles all operations.
pub(in crate::web) fn operations() -> ApiOperations {
    let mut api = ApiRoutes::default();
    jobs::add(&mut api);
    batches::add(&mut api);
    review::add(&mut api);
    submission::add(&mut api);
    let document = api.document();
    let body = Bytes::from(document.to_string());
    let shown = move || async move {
        ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body.clone()).into_response()
    };
    let plain = api.plain.route(&format!("{ROOT}/openapi.json"), get(shown));
    ApiOperations { plain, uploads: api.uploads, document }
}
