//! What the model is shown: messages, the five layers, the board, compaction and token counts. Pure.

pub mod message;
