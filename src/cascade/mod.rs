//! Cascades: a cheap model reads all documents of a batch, a strong one those that leave a doubt, and blind a random draw of the
//! rest, until it can be said with the wanted confidence how many results are as the strong model reads them.
//!
//! - `cascade_state`: what was decided and found, as it is kept with the batch
//! - `acceptance`: whether a result of the cheap model leaves a doubt; `same_result`: whether two readings are equal;
//!   `person_reading`: what a person made of a result
//! - `advance`: the next step, when the jobs of a stage have ended
//!
//! Each stage is a batch of its own, whose id is derived from the first one's and its number: two workers that see a stage end
//! submit one next stage between them. What a stage is for is written down before it is submitted.

mod acceptance;
mod advance;
mod cascade_state;
mod person_reading;
mod same_result;

pub use advance::{CascadeStep, advance, read_by_person};
pub use cascade_state::{CascadeState, stored_state};
pub use same_result::compared;
