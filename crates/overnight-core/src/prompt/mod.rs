//! What the model is shown of a job: the layers, the board, the tools, and what keeps them small.

pub mod bounds;
pub mod compact;
pub mod compose;
pub mod fence;
pub mod layers;
pub mod summary;
pub mod todo_board;
pub mod tools;
