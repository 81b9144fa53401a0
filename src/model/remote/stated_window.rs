//! The size of a model's window according to its server: requested before a night, never by a job.

use super::{RemoteModel, shared};
use serde_json::Value;
use std::time::Duration;

/// The timeout of that request.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Bytes of a list of models that are read.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// The field's names: vLLM, OpenRouter, Groq, LM Studio, llama.cpp, Gemini, Anthropic.
const NAMES: [&str; 7] = [
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "n_ctx",
    "inputTokenLimit",
    "max_input_tokens",
];

impl RemoteModel {
    /// Tokens of the model's window, if the server states them.
    pub async fn stated_window(&self) -> Option<u64> {
        let url = self.address.url(&self.wire.about(&self.model)?);
        let client = shared::client(&self.address).ok()?;
        let mut response = client.get(url).headers(self.headers.clone()).timeout(TIMEOUT).send().await.ok()?;
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.ok()?.filter(|_| body.len() < MOST_BYTES) {
            body.extend_from_slice(&piece);
        }
        stated(&serde_json::from_slice(&body).ok()?, &self.model)
    }
}

/// From a model's own page, or from a list: of the entry of that name, or of the only one.
fn stated(body: &Value, model: &str) -> Option<u64> {
    let list = body["data"].as_array().or_else(|| body["models"].as_array());
    let entry = match list.map(Vec::as_slice) {
        None => body,
        Some([only]) => only,
        Some(entries) => entries.iter().find(|entry| entry["id"] == model || entry["name"] == model)?,
    };
    NAMES.iter().find_map(|name| [entry, &entry["meta"]].iter().find_map(|place| place[*name].as_u64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_servers_word_is_found() {
        for (body, expected) in [
            (json!({"data": [{"id": "a", "max_model_len": 1}, {"id": "m", "max_model_len": 8192}]}), Some(8192)),
            (json!({"data": [{"id": "a/m", "context_length": 4096}]}), Some(4096)),
            (json!({"data": [{"id": "m", "meta": {"n_ctx": 2048}}], "object": "list"}), Some(2048)),
            (json!({"name": "models/m", "inputTokenLimit": 1_048_576}), Some(1_048_576)),
            (json!({"id": "m", "max_input_tokens": 200_000}), Some(200_000)),
            (json!({"data": [{"id": "a", "max_model_len": 1}, {"id": "b"}]}), None),
            (json!([1]), None),
        ] {
            assert_eq!(stated(&body, "m"), expected, "{body}");
        }
    }
}
