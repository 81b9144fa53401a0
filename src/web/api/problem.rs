//! The answers to a program in place of the requested ones.

use super::ROOT;
use crate::web::WebError;
use axum::{
    extract::Request,
    http::{
        HeaderName, StatusCode,
        header::{CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING},
    },
    middleware::Next,
    response::Response,
};

/// Headers that describe the replaced body.
const OF_BODY: [HeaderName; 5] =
    [CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING];

/// Converts every refusal below [`ROOT`] into problem details, wherever it was decided.
pub(in crate::web) async fn as_problem(request: Request, next: Next) -> Response {
    let is_ours = request.uri().path().starts_with(ROOT);
    let answer = next.run(request).await;
    if !is_ours || answer.status().is_success() || answer.status().is_redirection() {
        return answer;
    }
    let told = answer
        .extensions()
        .get::<WebError>()
        .cloned()
        .unwrap_or_else(|| WebError { status: answer.status(), sentence: sentence(answer.status()).to_owned() });
    let (mut parts, body) = told.into_problem().into_parts();
    // Headers that belong to the status: authentication, time to retry, allowed methods.
    for (name, value) in answer.headers().iter().filter(|(name, _)| !OF_BODY.contains(name)) {
        parts.headers.insert(name, value.clone());
    }
    Response::from_parts(parts, body)
}

/// The meaning of a status here, if nothing else is known.
fn sentence(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "Send a token as `Authorization: Bearer …`: `overnight token add` makes one.",
        StatusCode::TOO_MANY_REQUESTS => "Too many wrong tokens came from your address: wait a minute.",
        StatusCode::FORBIDDEN => "Your token does not allow this.",
        StatusCode::NOT_FOUND => "There is no such operation.",
        StatusCode::METHOD_NOT_ALLOWED => "There is no such operation: the header Allow names the methods.",
        StatusCode::PAYLOAD_TOO_LARGE => "What was sent is more than is taken at once.",
        StatusCode::SERVICE_UNAVAILABLE => "The answer took too long: try it again.",
        _ => "It can't be done so.",
    }
}
