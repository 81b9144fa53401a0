//! Models that misbehave: each job must end in the state that the contract names, within its limits, with nothing outside its
//! workspace touched.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by it")]

mod endless;
mod material;
mod paths;
mod planning;
mod sizes;
mod trial;
