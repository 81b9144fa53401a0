//! A primer: a short request that begins like the calls of a batch. Calls of a cold batch don't see what its other
//! calls write to the provider's cache; after a primer they find their common prefix there.

use serde_json::{Value, json};

/// The primer's message.
const ASKED: &str = "Answer with the one word OK.";
/// Tokens of its reply: the fewest that OpenAI's Responses take.
const TOKENS: u64 = 16;

/// A primer for a body whose messages are in a list, which begins with the system prompt if that is a message.
pub(super) fn of_messages(body: &Value, list: &str) -> Value {
    let mut primer = body.clone();
    let messages = super::items(&body[list]);
    let system = messages.iter().take_while(|one| matches!(super::field(one, "role"), "system" | "developer"));
    let asked = json!({ "role": "user", "content": ASKED });
    primer[list] = system.cloned().chain([asked]).collect();
    for name in ["max_output_tokens", "max_completion_tokens", "max_tokens"] {
        if body.get(name).is_some() {
            primer[name] = json!(TOKENS);
        }
    }
    primer
}

/// The same for Gemini, whose system prompt is a separate field.
pub(super) fn of_contents(body: &Value) -> Value {
    let mut primer = body.clone();
    primer["contents"] = json!([{ "role": "user", "parts": [{ "text": ASKED }] }]);
    primer["generationConfig"]["maxOutputTokens"] = json!(TOKENS);
    primer
}
