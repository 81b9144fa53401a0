//! `overnight`: a phase-based runner for long document jobs with a language model.

pub mod audit;
pub mod cli;
pub mod config;
pub mod context;
pub mod documents;
pub mod job;
pub mod model;
pub mod runner;
pub mod store;
pub mod tool;
pub mod workspace;
