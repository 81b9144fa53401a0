//! A certificate by random draws: of the results of one night, at least such a share equals what a strong model reads.
//!
//! A cheap model has answered all documents. Some are escalated: a strong model reads them, and its reading is the
//! result. The others are accepted. In a random order ([`draw_order`]), the strong model reads them without seeing the
//! result; where the two differ, the strong reading becomes the result. What is certified are the results after that:
//! only accepted documents that were not drawn can still differ. [`Certify::certificate`] bounds their number after any
//! number of draws, and may be called after each one, as `most_differing` beside this file explains. Drawing may stop
//! once it holds. If many differ, more draws are needed; once all accepted documents are drawn, it is certain.
//!
//! The certificate holds under these conditions, for which the caller is responsible:
//!
//! - The choice of escalated documents and the seed of the order are settled before the first draw.
//! - The outcomes are those of the first documents in that order, without a gap. A document that couldn't be read or
//!   compared is waited for, or counts as one that differs, and a person decides on its result.
//! - The certificate states that results equal those of the strong model, not that the strong model is right.
//!
//! ```
//! use overnight_evals::statistics::{Certify, draw_order};
//!
//! let certify = Certify::new(0.95, 0.95)?;
//! let forecast = certify.forecast(500, 75)?;
//! assert_eq!((forecast.draws, forecast.pays), (55, true));
//! // Of 425 accepted documents these are read first. The third one differs, and gets the strong reading.
//! let first = &draw_order(425, 20_270_503)[..60];
//! let agreed: Vec<bool> = (0..first.len()).map(|place| place != 2).collect();
//! let certificate = certify.certificate(500, 75, &agreed)?;
//! assert_eq!((certificate.required, certificate.right_at_least, certificate.still_needed), (475, 463, 25));
//! # Ok::<(), overnight_evals::statistics::CertifyError>(())
//! ```

#[cfg(test)]
mod tests;

use super::most_differing::MostDiffering;
use fastrand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The minimum number of documents for which a certificate pays.
pub const FEWEST_TO_CERTIFY: u32 = 100;
/// The maximum share of documents that the strong model reads if all draws agree; above it a certificate doesn't pay.
const LARGEST_SHARE_READ: f64 = 0.75;
/// The rounding error of a product of a share and a number of documents.
const ROUNDING: f64 = 1e-9;

/// Why there is no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum CertifyError {
    /// The share can't be certified.
    #[error("the share of right results must be at least 0.5 and less than 1, not {0}")]
    Right(f64),
    /// The confidence is outside of its range.
    #[error("the confidence must be at least 0.5 and less than 1, not {0}")]
    Confidence(f64),
    /// There are no documents.
    #[error("there are no documents to certify")]
    NoDocuments,
    /// More documents are escalated than there are.
    #[error("{escalated} documents are escalated, of {documents}")]
    Escalated {
        /// The number of escalated documents that was given.
        escalated: u32,
        /// The number of documents.
        documents: u32,
    },
    /// More documents are drawn than there are accepted ones.
    #[error("{drawn} documents are drawn, of {accepted} that were accepted")]
    Drawn {
        /// The number of drawn documents that was given.
        drawn: usize,
        /// The number of accepted documents.
        accepted: u32,
    },
}

/// The statement to be certified.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Certify {
    right: f64,
    confidence: f64,
}

/// The certificate for the results of a night after some draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Certificate {
    /// Documents of the night.
    pub documents: u32,
    /// The documents that were escalated.
    pub escalated: u32,
    /// Accepted documents that were drawn.
    pub drawn: u32,
    /// Drawn documents that the strong model read differently; its reading is the result now.
    pub differing: u32,
    /// The number of results that have to equal the strong reading.
    pub required: u32,
    /// The least number of results that equal the strong reading, with the required confidence. It depends on the
    /// numbers above alone, and usually falls when a further draw differs.
    pub right_at_least: u32,
    /// The same number as a share of all documents, in 0..=1.
    pub share_at_least: f64,
    /// Whether `right_at_least` reaches `required`.
    pub holds: bool,
    /// The least number of draws still needed: enough if the strong model agrees in all of them; 0 if it holds.
    pub still_needed: u32,
}

/// The minimum cost of a certificate, before anything is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CertificateForecast {
    /// Draws that are needed if the strong model agrees in all of them. For 500 documents about twice as many are
    /// needed if one of fifty differs.
    pub draws: u32,
    /// Documents that the strong model then reads: escalated and drawn ones.
    pub strong_readings: u32,
    /// Whether a certificate pays: there are at least [`FEWEST_TO_CERTIFY`] documents, and the strong model reads at
    /// most three quarters of them.
    pub pays: bool,
}

impl Certify {
    /// Requires that at least the share `right` of all results equals the strong reading, in 0.5..1. The `confidence`
    /// is in 0.5..1, too: whatever a night's results are, a false certificate is ever given with a chance of at most 1
    /// − `confidence`, at whichever draws one looks.
    pub fn new(right: f64, confidence: f64) -> Result<Self, CertifyError> {
        let is_possible = |share: f64| (0.5..1.0).contains(&share);
        if !is_possible(right) {
            return Err(CertifyError::Right(right));
        }
        if !is_possible(confidence) {
            return Err(CertifyError::Confidence(confidence));
        }
        Ok(Self { right, confidence })
    }

    /// The required share of results that equal the strong reading.
    pub fn right(&self) -> f64 {
        self.right
    }

    /// The required confidence.
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// The certificate for a night of `documents`, of which `escalated` are escalated. `agreed` has the outcomes of the
    /// draws in the order of [`draw_order`]: `true` if the strong reading equals the result in every field.
    ///
    /// The same outcomes give the same certificate. The running time is proportional to the number of documents.
    pub fn certificate(&self, documents: u32, escalated: u32, agreed: &[bool]) -> Result<Certificate, CertifyError> {
        let accepted = accepted(documents, escalated)?;
        if u32::try_from(agreed.len()).is_ok_and(|drawn| drawn <= accepted) {
            let mut bound = MostDiffering::new(accepted, self.confidence);
            for agreed in agreed {
                bound.draw(!agreed);
            }
            Ok(self.of(documents, escalated, bound))
        } else {
            Err(CertifyError::Drawn { drawn: agreed.len(), accepted })
        }
    }

    /// The minimum cost of a certificate for so many documents, of which so many are escalated.
    pub fn forecast(&self, documents: u32, escalated: u32) -> Result<CertificateForecast, CertifyError> {
        let draws = self.certificate(documents, escalated, &[])?.still_needed;
        let strong_readings = escalated + draws;
        let is_cheap = f64::from(strong_readings) <= LARGEST_SHARE_READ * f64::from(documents);
        Ok(CertificateForecast { draws, strong_readings, pays: documents >= FEWEST_TO_CERTIFY && is_cheap })
    }

    fn of(&self, documents: u32, escalated: u32, bound: MostDiffering) -> Certificate {
        let required = self.required(documents);
        let right_at_least = documents - bound.left();
        let mut further = bound;
        while !further.leaves_at_most(documents - required) {
            further.draw(false);
        }
        Certificate {
            documents,
            escalated,
            drawn: bound.drawn(),
            differing: bound.differing(),
            required,
            right_at_least,
            share_at_least: f64::from(right_at_least) / f64::from(documents),
            holds: right_at_least >= required,
            still_needed: further.drawn() - bound.drawn(),
        }
    }

    /// The smallest number of results that reaches the share.
    fn required(&self, documents: u32) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between 0 and the documents"
        )]
        let required = (self.right * f64::from(documents) - ROUNDING).ceil() as u32;
        required
    }
}

fn accepted(documents: u32, escalated: u32) -> Result<u32, CertifyError> {
    if documents == 0 {
        return Err(CertifyError::NoDocuments);
    }
    documents.checked_sub(escalated).ok_or(CertifyError::Escalated { escalated, documents })
}

/// The order in which accepted documents are drawn: their places from 0, each once, and each order is equally likely
/// (Fisher and Yates 1938, in the version of Durstenfeld 1964).
///
/// The same number and seed give the same order on any machine. Another version of the random generator may not, so the
/// drawn documents have to be stored. So is the seed, which is chosen at random for each night.
pub fn draw_order(accepted: u32, seed: u64) -> Vec<u32> {
    let mut random = Rng::with_seed(seed);
    let mut order: Vec<u32> = (0..accepted).collect();
    for last in (1..accepted).rev() {
        // `Rng::shuffle` isn't used, because it draws numbers as wide as an address of the machine.
        order.swap(last as usize, random.u32(0..=last) as usize);
    }
    order
}
