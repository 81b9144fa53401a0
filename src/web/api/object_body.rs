//! The body of a request: a JSON object. An array, which could also be parsed as one, with its values as the fields in
//! their order, is refused, as the API's description has no such body.

use crate::web::WebError;
use axum::{
    Json,
    extract::{FromRequest, Request},
    http::StatusCode,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The parsed content of a request.
#[derive(Debug)]
pub(super) struct ObjectBody<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for ObjectBody<T> {
    type Rejection = WebError;

    async fn from_request(request: Request, state: &S) -> Result<Self, WebError> {
        let Json(object) = Json::<Map<String, Value>>::from_request(request, state).await?;
        serde_json::from_value(Value::Object(object)).map(Self).map_err(|error| WebError {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            sentence: format!("The body of the request does not say what it should: {error}"),
        })
    }
}
