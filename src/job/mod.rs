//! The pure machine: what a job is, what it owes next, and what an answer means. No file, clock or socket is touched here.

pub mod contract;
pub mod digest;
pub mod id;
pub mod instructions;
pub mod limits;
pub mod record;
pub mod time;
pub mod todo;
