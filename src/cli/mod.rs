//! The command line: shows and asks; every job is run by the runner.

mod error;
mod office;

pub use error::{CliError, exit};
pub use office::Office;
