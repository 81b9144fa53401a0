//! Models: what answers a prompt with tool calls.

pub mod offline;
