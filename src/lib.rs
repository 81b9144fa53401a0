//! `overnight`: a phase-based runner for long document jobs with a language model.

pub mod context;
pub mod job;
pub mod store;
