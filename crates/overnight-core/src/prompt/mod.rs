//! What the model is shown of a job: the opening, the board, the tools, and what keeps them small.

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
