//! Cascades: a cheap model reads all documents of a batch; a strong one reads the doubtful ones, and blindly a random
//! draw of the rest, until the wanted confidence in a minimum number of equal results is reached.
//!
//! - `cascade_state`: decisions and outcomes, as they are kept with the batch
//! - `acceptance`: whether a result of the cheap model leaves a doubt; `same_result`: whether two readings are equal;
//!   `person_reading`: a person's verdict on a result
//! - `advance`: the next step, when the jobs of a stage have ended
//!
//! Each stage is a batch of its own. Its id is derived from the first batch's id and the stage's number, so two workers
//! that see a stage end submit one next stage between them. A stage's purpose is stored before it is submitted.

mod acceptance;
mod advance;
mod cascade_state;
mod person_reading;
mod same_result;

pub use advance::{CascadeStep, advance, read_by_person};
pub use cascade_state::{CascadeState, stored_state};
pub use same_result::compared;
