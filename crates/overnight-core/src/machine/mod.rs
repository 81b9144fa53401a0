//! What moves a job: what is owed next, what a result means, and what a fact makes of the state. Above `job`, which says what
//! a job is, and `prompt`, which says what the model is shown of it.

mod apply;
mod attempts;
mod budget;
mod control;
mod decide;
pub mod effect;
mod ending;
mod plan_file;
pub mod planning;
