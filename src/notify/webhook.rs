//! Sends a notice to a web address, with a signature that proves its origin.

use super::{
    NoticeKind,
    channel::{TRY_TIMEOUT, chain},
};
use crate::model::remote::Key;
use hmac::{Hmac, KeyInit, Mac};
use overnight_core::job::digest::hex;
use sha2::Sha256;

/// HMAC-SHA-256 of the body's bytes under the secret, in hexadecimal digits.
const SIGNATURE: &str = "x-overnight-signature";
const EVENT: &str = "x-overnight-event";

/// One attempt.
pub(super) async fn post(url: &str, secret: Option<&Key>, kind: NoticeKind, body: String) -> Result<(), String> {
    // A redirect would pass the notice on to another address.
    let client = reqwest::Client::builder()
        .http1_only()
        .timeout(TRY_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| chain(&error))?;
    let mut request = client.post(url).header("content-type", "application/json").header(EVENT, kind.name());
    if let Some(secret) = secret {
        request = request.header(SIGNATURE, signature(secret, body.as_bytes())?);
    }
    let response = request.body(body).send().await.map_err(|error| chain(&error.without_url()))?;
    if response.status().is_success() { Ok(()) } else { Err(format!("it answered {}", response.status())) }
}

fn signature(secret: &Key, body: &[u8]) -> Result<String, String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()).map_err(|error| error.to_string())?;
    mac.update(body);
    Ok(format!("sha256={}", hex(&mac.finalize().into_bytes())))
}
