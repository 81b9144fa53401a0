
pub mod job;
