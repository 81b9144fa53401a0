//! The parts of a job that the model is shown: the opening, the board, the tools, and the bounds that keep them small.

mod beginning;
pub mod bounds;
pub mod compact;
pub mod compose;
mod document_groups;
pub mod fence;
pub mod measure;
pub mod opening;
pub mod sub_agent_opening;
pub mod summary;
pub mod todo_board;
pub mod tools;
