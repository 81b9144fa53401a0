//! Models behind HTTP: `openai:`, `anthropic:`, `gemini:`, `ollama:` and whatever speaks one of their formats.
//!
//! - `wire`: the formats' common trait, and one file for each format
//! - `http`: one attempt; `sse`: splits a stream into events; `retry_after`: how long the server asks to be left alone
//! - `batch`: batch endpoints; `later`: a model that is asked there
//! - `config`: the settings with which a model is opened
//! - `body`: decompresses bodies, and keeps a part of them; `output_room`: how long a reply may be
//! - `adaptive_timeout`: how long to wait for the first byte
//! - `error_messages`: failures as sentences; `key`: secrets, and how they stay out of those sentences
//! - `remote_model`: the model itself
//! - `address`: base URLs; `shared`: what all models of a process share; `stated_window`: the context window that a
//!   server states; `record`: attempts written to files; `understood`: turns a decoded reply into a model's reply

#[cfg(feature = "network")]
mod adaptive_timeout;
mod address;
#[cfg(feature = "network")]
mod batch;
#[cfg(feature = "network")]
mod body;
mod config;
#[cfg(feature = "network")]
mod error_messages;
#[cfg(feature = "network")]
mod http;
mod key;
#[cfg(feature = "network")]
mod later;
#[cfg(feature = "network")]
mod output_room;
#[cfg(feature = "network")]
mod record;
#[cfg(feature = "network")]
mod remote_model;
#[cfg(feature = "network")]
mod retry_after;
#[cfg(feature = "network")]
mod shared;
pub mod sse;
#[cfg(feature = "network")]
mod stated_window;
#[cfg(feature = "network")]
mod understood;
pub mod wire;

pub use config::{CallPosting, GatherPace, Timeouts};
pub use key::Key;
#[cfg(feature = "network")]
pub use remote_model::{RemoteConfig, RemoteModel, shared_endpoint};

use super::{ModelError, table::Api};
use address::Address;
use std::sync::Arc;
use wire::{Wire, anthropic::Anthropic, gemini::Gemini, ollama::Ollama, openai::OpenAi, responses::Responses};

/// The wire format in which a provider's model is asked.
pub fn wire_of(provider: &str, api: Api) -> Option<Arc<dyn Wire>> {
    Some(match (provider, api) {
        ("openai", Api::Chat) => Arc::new(OpenAi),
        ("openai", Api::Responses) => Arc::new(Responses),
        ("anthropic", _) => Arc::new(Anthropic),
        ("gemini", _) => Arc::new(Gemini),
        ("ollama", _) => Arc::new(Ollama),
        _ => return None,
    })
}

/// Whether what is sent to a server goes over networks of others unencrypted.
pub fn is_exposed(base_url: &str) -> Result<bool, ModelError> {
    Ok(Address::parse(base_url)?.is_exposed())
}
