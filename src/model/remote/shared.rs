//! What all models of a process share: one HTTP client with its connections, and one endpoint for each server and key.

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

/// The client. Proxies are those of the environment (`https_proxy` and the like), which the client reads itself. Redirects
/// are not followed: a key in a header of the vendor's own would travel along.
pub(super) fn client() -> Result<&'static reqwest::Client, ModelError> {
    static CLIENT: OnceLock<reqwest::Client> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client);
    }
    let client = reqwest::Client::builder()
        // Which version is spoken must not depend on what else is built in: the workspace store's client brings HTTP/2.
        .http1_only()
        .user_agent(AGENT)
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| ModelError::Client { what: super::error_messages::words(&error.to_string()) })?;
    Ok(CLIENT.get_or_init(|| client))
}

/// The endpoint of a server and key; the first who asks says how many calls it takes.
pub(super) fn endpoint(address: &Address, key: Option<&Key>, pace: RateLimits) -> Arc<Endpoint> {
    type EndpointsByServer = BTreeMap<(String, Option<Key>), Arc<Endpoint>>;
    static KNOWN: OnceLock<Mutex<EndpointsByServer>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    // A map is whole whenever it can be locked, whoever died while holding it.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let name = || Endpoint::new(address.shown().to_owned(), pace);
    Arc::clone(known.entry((address.text(), key.cloned())).or_insert_with(name))
}
