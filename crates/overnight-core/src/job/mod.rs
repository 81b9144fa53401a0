//! What a job is: what was asked, the facts, and the state that they say. Nothing here decides, and nothing is shown to a model.

pub mod call;
pub mod contract;
pub mod coverage;
pub mod digest;
pub mod effort;
pub mod ending;
pub mod epoch;
pub mod event;
pub mod failure;
pub mod hold_cause;
pub mod id;
pub mod instructions;
pub mod left_out;
pub mod limits;
pub mod models;
pub mod pages;
pub mod part;
pub mod plan;
pub mod ranges;
pub mod record;
pub mod rows;
pub mod spec;
pub mod state;
pub mod time;
pub mod todo;
pub mod todo_list;
