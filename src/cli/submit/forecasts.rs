//! The expected effort for the jobs of a submission: turns, tokens and USD, by role.

use super::assignment::Assignment;
use crate::{
    batch::{Forecast, PART_TURNS},
    model::Model,
};
use serde::Serialize;
use std::sync::Arc;

/// Converts a model to the same model at some tier.
type AtTier<'t> = &'t dyn Fn(&Arc<dyn Model>) -> Arc<dyn Model>;

/// Pixels of a scanned page of A4.
const SCAN: (u32, u32) = (1_240, 1_754);

/// The number of replies that must wait for the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Waits {
    /// If the job's own model reads everything.
    pub(super) one_after_the_other: u64,
    pub(super) side_by_side: u64,
    /// Parts for the readers.
    pub(super) parts: u64,
}

/// The expected effort of jobs, by role.
#[derive(Clone, Copy, Default)]
pub(super) struct Forecasts {
    /// The job's own model.
    pub(super) work: Forecast,
    /// The second readers.
    pub(super) reading: Forecast,
    /// The readers of parts.
    pub(super) part_reading: Forecast,
    /// For the longest job, if readers work side by side.
    pub(super) waits: Option<Waits>,
    /// The verifier.
    pub(super) verification: Forecast,
    /// The transcribers of scanned pages, and their second readers.
    pub(super) vision: Forecast,
    pub(super) second_vision: Forecast,
}

impl Forecasts {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            work: self.work.and(other.work),
            reading: self.reading.and(other.reading),
            part_reading: self.part_reading.and(other.part_reading),
            waits: self.waits.max(other.waits),
            verification: self.verification.and(other.verification),
            vision: self.vision.and(other.vision),
            second_vision: self.second_vision.and(other.second_vision),
        }
    }

    /// USD at least, likely and at most; `None` if a price is unknown.
    pub(super) fn cost(&self, assignment: &Assignment, at_tier: AtTier<'_>) -> Option<[f64; 3]> {
        let roles = &assignment.instructions.models;
        let named = |name: &Option<String>| named(assignment, name.as_deref());
        let parts = [
            (&self.work, &assignment.models.first),
            (&self.reading, named(&roles.second_reader)),
            (&self.part_reading, named(&roles.readers)),
            (&self.verification, named(&roles.verify)),
            (&self.vision, named(&roles.vision)),
            (&self.second_vision, named(&roles.vision_second)),
        ];
        let worked = parts.into_iter().filter(|(forecast, _)| **forecast != Forecast::default());
        worked.map(|(forecast, model)| forecast.cost(&*at_tier(model))).try_fold([0.0; 3], |sum, cost| {
            let cost = cost?;
            Some([sum[0] + cost[0], sum[1] + cost[1], sum[2] + cost[2]])
        })
    }
}

/// The model of that name; without a name, the job's own.
fn named<'a>(assignment: &'a Assignment, name: Option<&str>) -> &'a Arc<dyn Model> {
    let models = &assignment.models;
    name.and_then(|name| models.named.get(name)).unwrap_or(&models.first)
}

/// The expected effort of one job over documents of these `tokens`, `scans` of whose pages are scanned.
pub(super) fn forecasts(assignment: &Assignment, tokens: &[u64], scans: u64) -> Forecasts {
    let (budget, instructions) = (assignment.budget_tokens, &assignment.instructions);
    let text = tokens.iter().copied().fold(0, u64::saturating_add);
    let mut forecasts = Forecasts { work: Forecast::of_job(tokens.iter().copied(), budget), ..Forecasts::default() };
    if scans > 0 {
        let image =
            |name: &Option<String>| named(assignment, name.as_deref()).image_tokens(SCAN.0, SCAN.1).unwrap_or_default();
        forecasts.vision = Forecast::of_scans(scans, image(&instructions.models.vision));
        if instructions.models.vision_second.is_some() {
            forecasts.second_vision = Forecast::of_scans(scans, image(&instructions.models.vision_second));
        }
    }
    if let Some(readers) = &instructions.readers {
        let own = Forecast::of_job([], budget);
        let parts = readers.parts_for(text, readers.part_tokens);
        let rounds = parts.div_ceil(readers.parallel.into());
        forecasts.waits = Some(Waits {
            one_after_the_other: forecasts.work.likely.turns,
            side_by_side: own.likely.turns + rounds * PART_TURNS,
            parts,
        });
        forecasts.part_reading = Forecast::of_readers(parts, text, budget);
        forecasts.work = own;
    }
    if let Some(wanted) = &instructions.second_reader {
        let (readers, settling) = Forecast::of_second_reading(text, wanted.share, budget);
        (forecasts.reading, forecasts.work) = (readers, forecasts.work.and(settling));
    }
    if instructions.verify.is_some() {
        forecasts.verification = Forecast::of_verification(text, budget);
    }
    forecasts
}
