//! Resources shared by all models of a process: one HTTP client with its connections, one endpoint per server and key.

use super::{address::Address, key::Key};
use crate::model::{
    ModelError,
    endpoint::{Endpoint, RateLimits},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

const CONNECT: Duration = Duration::from_secs(10);
const AGENT: &str = concat!("overnight/", env!("CARGO_PKG_VERSION"));

/// The client for a server. Proxies are those of the environment (`https_proxy` and the like), which the client reads itself; but a
/// server nearby that is spoken to in plain HTTP is reached directly, because a proxy might be far, and would see the key. Redirects
/// are not followed: a key in a header of the vendor's own would travel along.
pub(super) fn client(address: &Address) -> Result<&'static reqwest::Client, ModelError> {
    static CLIENTS: [OnceLock<reqwest::Client>; 2] = [const { OnceLock::new() }; 2];
    let is_direct = address.is_plain_nearby();
    let kept = &CLIENTS[usize::from(is_direct)];
    if let Some(client) = kept.get() {
        return Ok(client);
    }
    let builder = reqwest::Client::builder()
        // The HTTP version must not depend on other built-in parts: the workspace store's client brings HTTP/2.
        .http1_only()
        .user_agent(AGENT)
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none());
    let builder = if is_direct { builder.no_proxy() } else { builder };
    let client = builder
        .build()
        .map_err(|error| ModelError::Client { what: super::error_messages::words(&error.to_string()) })?;
    Ok(kept.get_or_init(|| client))
}

/// The endpoint of a server and key; the first caller sets its limits.
pub(super) fn endpoint(address: &Address, key: Option<&Key>, pace: RateLimits) -> Arc<Endpoint> {
    type EndpointsByServer = BTreeMap<(String, Option<Key>), Arc<Endpoint>>;
    static KNOWN: OnceLock<Mutex<EndpointsByServer>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    // The map is consistent whenever it can be locked, even if a holder of the lock panicked.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let name = || Endpoint::new(address.shown().to_owned(), pace);
    Arc::clone(known.entry((address.text(), key.cloned())).or_insert_with(name))
}
