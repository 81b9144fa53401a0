//! A certificate by random draws: of the results of one night, at least such a share equals what a strong model reads.
//!
//! A cheap model has answered all documents. Some are escalated: a strong model reads them, and its reading is the result. The
//! other ones are accepted. They are put into a random order ([`draw_order`]), and the strong model reads one after the other,
//! without being shown the result; where the two differ, the strong reading becomes the result. What is certified are the results
//! after that: only accepted documents that were not drawn can still differ. [`Certify::certificate`] says after any number of
//! draws how many these are at most, and may be asked after each, as `most_differing` beside this file explains. At the first look
//! at which it holds one may stop. If many differ, more draws are wanted; when all accepted documents are drawn, it is certain.
//!
//! It holds under these conditions, which the caller answers for:
//!
//! - Which documents are escalated, and the seed of the order, are settled before the first draw.
//! - Outcomes are those of the first documents of that order, without a gap. A document that couldn't be read or compared is waited
//!   for, or counts as one that differs, and a person decides on its result.
//! - It says that results equal those of the strong model, not that the strong model is right.
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

/// With fewer documents a certificate doesn't pay.
pub const FEWEST_TO_CERTIFY: u32 = 100;
/// Nor where the strong model reads a larger share of the documents than that, even if all draws agree.
const LARGEST_SHARE_READ: f64 = 0.75;
/// What a product of a share and a number of documents may be wrong by rounding.
const ROUNDING: f64 = 1e-9;

/// Why there is no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum CertifyError {
    /// The share is none that can be certified.
    #[error("the share of right results must be at least 0.5 and less than 1, not {0}")]
    Right(f64),
    /// The confidence is none.
    #[error("the confidence must be at least 0.5 and less than 1, not {0}")]
    Confidence(f64),
    /// Nothing can be said of no documents.
    #[error("there are no documents to certify")]
    NoDocuments,
    /// There can't be as many.
    #[error("{escalated} documents are escalated, of {documents}")]
    Escalated {
        /// How many are said to be.
        escalated: u32,
        /// Of so many.
        documents: u32,
    },
    /// There can't be as many.
    #[error("{drawn} documents are drawn, of {accepted} that were accepted")]
    Drawn {
        /// How many are said to be.
        drawn: usize,
        /// Of so many.
        accepted: u32,
    },
}

/// What is to be certified.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Certify {
    right: f64,
    confidence: f64,
}

/// What may be said of the results of a night after some draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Certificate {
    /// Documents of the night.
    pub documents: u32,
    /// Those of them that were escalated.
    pub escalated: u32,
    /// Accepted documents that were drawn.
    pub drawn: u32,
    /// Drawn documents in which the strong model read something else; its reading is the result now.
    pub differing: u32,
    /// Results that have to equal the strong reading.
    pub required: u32,
    /// Results that equal the strong reading at least, with the confidence that was asked for. It depends on the numbers above
    /// alone, and as a rule falls when a further draw differs.
    pub right_at_least: u32,
    /// The same as a share of all documents, in 0..=1.
    pub share_at_least: f64,
    /// Whether these are enough.
    pub holds: bool,
    /// Draws that are still needed at least: so many if the strong model agrees in all of them. 0 where it holds.
    pub still_needed: u32,
}

/// What a certificate costs at least, before anything is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CertificateForecast {
    /// Draws that are needed if the strong model agrees in all of them. For 500 documents about twice as many are needed if one of
    /// fifty differs.
    pub draws: u32,
    /// Documents that the strong model reads then: escalated and drawn ones.
    pub strong_readings: u32,
    /// Whether that is worth it: there are at least [`FEWEST_TO_CERTIFY`] documents, and the strong model reads at most three
    /// quarters of them.
    pub pays: bool,
}

impl Certify {
    /// At least the share `right` of all results is to equal the strong reading, in 0.5..1. The `confidence` is in 0.5..1, too:
    /// whatever the results of a night are, the chance that a certificate is ever given and is false is at most 1 − `confidence`,
    /// at whichever draws one looks.
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

    /// The share of all results that has to equal the strong reading.
    pub fn right(&self) -> f64 {
        self.right
    }

    /// The confidence with which that is said.
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// What may be said of a night, with so many documents, of which so many are escalated, and with what came of the drawn ones
    /// in the order of [`draw_order`]: `true` where the strong reading equals the result in every field.
    ///
    /// The same outcomes give the same certificate. It takes time in proportion to the number of documents.
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

    /// What a certificate costs at least for so many documents, of which so many are escalated.
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

    /// The smallest number of results that is at least the share.
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

/// The order in which accepted documents are drawn: their places from 0, each once, each order as likely as any other (Fisher and
/// Yates 1938, as Durstenfeld 1964 has it).
///
/// The same number and seed give the same order on any machine. But another version of the random generator may give another one,
/// so what was drawn is a fact to be kept. The seed is drawn by chance for each night and kept, too.
pub fn draw_order(accepted: u32, seed: u64) -> Vec<u32> {
    let mut random = Rng::with_seed(seed);
    let mut order: Vec<u32> = (0..accepted).collect();
    for last in (1..accepted).rev() {
        // Not `Rng::shuffle`: that draws numbers as wide as an address of the machine.
        order.swap(last as usize, random.u32(0..=last) as usize);
    }
    order
}
