//! What moves a job: what is owed next, what a result means, and what a fact makes of the state. Above `job`, which says what
//! a job is, and `prompt`, which says what the model is shown of it.

pub mod apply;
pub mod attempts;
pub mod budget;
pub mod control;
pub mod decide;
pub mod effect;
pub mod ending;
pub mod plan_file;
pub mod planning;
