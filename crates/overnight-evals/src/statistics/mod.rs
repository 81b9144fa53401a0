//! How good a candidate is, and whether another one is better, from the scores of the same documents; and how many results of a
//! night equal those of a better model, from random draws.
//!
//! The unit is the document: the values of one document are right or wrong together, so that their number indicates
//! little about the certainty of a score. The same scores with the same seed give the same result, on any machine.

mod bootstrap;
mod candidate_verdict;
mod certificate;
mod difference;
mod document_score;
mod kappa;
mod most_differing;
mod score;

pub use candidate_verdict::{CandidateVerdict, SIGNIFICANCE, holm};
pub use certificate::{Certificate, CertificateForecast, Certify, CertifyError, FEWEST_TO_CERTIFY, draw_order};
pub use difference::{Difference, difference};
pub use document_score::DocumentScore;
pub use kappa::cohens_kappa;
pub use score::{Score, score};
