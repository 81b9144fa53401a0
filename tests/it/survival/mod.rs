//! The program killed wherever it can be, and what is left: jobs that end as if nothing had happened.
//!
//! - `test_dir`: a folder to work in, and the program run there
//! - `act`: a command on a job, how it goes undisturbed, and how a person gets to its end after a crash
//! - `leftovers`: all that a job leaves behind, without what differs from run to run
//! - `failpoints`: killed at every place of `src/failpoint.rs`; `later`: the same of calls that are answered
//!   later; `kills`: killed and stopped at any moment

mod act;
#[cfg(feature = "failpoints")]
mod failpoints;
mod kills;
#[cfg(feature = "failpoints")]
mod later;
mod leftovers;
mod test_dir;
