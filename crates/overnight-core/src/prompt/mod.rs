//! What the model is shown: messages, the five layers, the board, compaction and token counts. Pure.

pub mod compact;
pub mod compose;
pub mod fence;
pub mod layers;
pub mod summary;
pub mod todo_board;
pub mod tools;
