//! The conditions for a submission with a cascade, and whether the cascade saves money.

use super::assignment::Assignment;
use crate::{
    cascade::compared,
    cli::{CliError, out},
};
use overnight_core::job::instructions::{DrawReader, Instructions};
use overnight_evals::statistics::{Certify, FEWEST_TO_CERTIFY};

/// Refuses an invalid cascade.
pub(super) fn check(assignment: &Assignment, is_each: bool) -> Result<(), CliError> {
    let Some(cascade) = &assignment.instructions.cascade else { return Ok(()) };
    if !is_each {
        return Err(CliError::usage("a cascade is for the documents of a batch: add --each"));
    }
    if assignment.model() != cascade.cheap {
        return Err(CliError::usage(format!(
            "the instructions' cascade begins with {}, not with {}: leave --model out, or change the cascade",
            cascade.cheap,
            assignment.model()
        )));
    }
    if cascade.certify.is_some() && compared(&assignment.instructions).next().is_none() {
        return Err(CliError::usage(
            "certify compares JSON deliverables, and the instructions have none: leave certify out, or add one",
        ));
    }
    Ok(())
}

/// Reports the minimum number of the strong model's readings for the certificate, and warns if that does not pay.
pub(super) fn note_cost(instructions: &Instructions, jobs: usize) {
    let Some(wanted) = instructions.cascade.as_ref().and_then(|cascade| cascade.certify) else { return };
    let jobs = u32::try_from(jobs).unwrap_or(u32::MAX);
    let forecast = Certify::new(wanted.right, wanted.confidence).and_then(|certify| certify.forecast(jobs, 0));
    let Ok(forecast) = forecast else { return };
    if wanted.by == DrawReader::Person {
        out::note(&format!(
            "the cascade's certificate takes {} of {jobs} results read by people, if all of them are right, and more for each that is not",
            forecast.draws
        ));
        return;
    }
    if forecast.pays {
        out::note(&format!(
            "the cascade's certificate takes {} of {jobs} documents read by both models, if none of them differs, and more for each that does",
            forecast.draws
        ));
    } else if jobs < FEWEST_TO_CERTIFY {
        out::note(&format!(
            "with {jobs} documents the cascade's certificate does not pay: below {FEWEST_TO_CERTIFY} the strong model reads most of them"
        ));
    } else {
        out::note(&format!(
            "the cascade's certificate does not pay: the strong model would read {} of {jobs} documents",
            forecast.strong_readings
        ));
    }
}
