//! Compares the results of two runs over the same documents: which values are the same, and which are not.
//!
//! - `run_records`: the records of a run, by its documents, in a temporary file
//! - `pairs`: which documents, and which records of a document, are the same; `same_value`: which values are
//! - `run_comparison`: the result of the comparison, field by field

mod pairs;
mod run_comparison;
mod run_records;
mod same_value;

pub use run_comparison::{ChangeKind, FieldComparison, ListComparison, RunComparison, ValueChange, compare_runs};
pub use run_records::{CompareError, RunInstructions, RunJob, RunRecords};
