//! `/jobs/{id}/prompts/{turn}`: exactly the prompt that the model got at a turn, rebuilt from the journal.

use super::{
    WebError,
    access::Visitor,
    frame::{Frame, page},
    state::{PathOf, WebState},
};
use crate::audit::prompt::{Rebuilt, prompt};
use askama::Template;
use axum::{Extension, extract::State, response::Response};
use overnight_core::message::{Message, ToolSpec, with_images};
use std::{fmt::Write, sync::Arc};

/// A message under its heading.
struct MessageBlock {
    heading: String,
    text: String,
}

/// A tool as it was described to the model.
struct ToolBlock {
    name: String,
    description: String,
    schema: String,
}

#[derive(Template)]
#[template(path = "web/prompt.html")]
struct PromptPage {
    frame: Frame,
    id: String,
    turn: u64,
    tools: Vec<ToolBlock>,
    messages: Vec<MessageBlock>,
    recorded_sha256: String,
    is_same: bool,
}

pub(super) async fn prompts(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf((id, turn)): PathOf<(String, String)>,
) -> Result<Response, WebError> {
    let found = state.find(&id).await?;
    let turn: u64 = turn.parse().map_err(|_| WebError::not_found("turn"))?;
    let workspace = WebState::own_workspace(&found)?;
    let rebuilt = tokio::task::spawn_blocking(move || prompt(&workspace, turn)).await??;
    page(&PromptPage::of(Frame::of(&state, &visitor), found.row.job.id.to_string(), turn, &rebuilt))
}

impl PromptPage {
    fn of(frame: Frame, id: String, turn: u64, rebuilt: &Rebuilt) -> Self {
        let count = rebuilt.prompt.messages.len();
        let messages = (1..).zip(rebuilt.prompt.messages());
        Self {
            frame,
            id,
            turn,
            tools: rebuilt.prompt.tools.iter().map(ToolBlock::of).collect(),
            messages: messages.map(|(number, message)| MessageBlock::of(message, number, count)).collect(),
            recorded_sha256: rebuilt.recorded_sha256.clone(),
            is_same: rebuilt.is_same(),
        }
    }
}

impl ToolBlock {
    fn of(tool: &ToolSpec) -> Self {
        Self {
            name: tool.name.clone(),
            description: tool.description.clone(),
            schema: serde_json::to_string_pretty(&tool.parameters).unwrap_or_default(),
        }
    }
}

impl MessageBlock {
    fn of(message: &Message, number: usize, count: usize) -> Self {
        let (who, text) = match message {
            Message::System { text } => ("system".to_owned(), text.clone()),
            Message::User { text, images } => ("user".to_owned(), with_images(text, images)),
            Message::Assistant { text, calls, .. } => {
                let text = calls.iter().fold(text.clone(), |mut text, call| {
                    let _ = write!(text, "\n[{}] {} {}", call.id, call.name, call.arguments);
                    text
                });
                ("assistant".to_owned(), text.trim_start().to_owned())
            }
            Message::Tool { call, name, text, images } => {
                (format!("result of [{call}] {name}"), with_images(text, images))
            }
        };
        Self { heading: format!("{number} of {count}: {who}"), text }
    }
}
