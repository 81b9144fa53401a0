//! What the model is shown: messages, the five layers, the board, compaction and token counts. Pure.

pub mod board;
pub mod catalogue;
pub mod compact;
pub mod compose;
pub mod conversation;
pub mod fence;
pub mod layers;
pub mod message;
pub mod tokens;
