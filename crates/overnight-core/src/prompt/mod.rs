//! What the model is shown: messages, the five layers, the board, compaction and token counts. Pure.

pub mod compact;
pub mod compose;
pub mod conversation;
pub mod fence;
pub mod layers;
pub mod message;
pub mod todo_board;
pub mod tokens;
pub mod tools;
