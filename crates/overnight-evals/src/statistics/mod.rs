//! How good a candidate is, and whether another one is better, from the scores of the same documents.
//!
//! The unit is the document: values of one document are right or wrong together, so that their number says little about how
//! sure a score is. The same scores with the same seed give the same result, on any machine.

mod bootstrap;
mod candidate_verdict;
mod difference;
mod document_score;
mod score;

pub use candidate_verdict::{CandidateVerdict, SIGNIFICANCE, holm};
pub use difference::{Difference, difference};
pub use document_score::DocumentScore;
pub use score::{Score, score};
