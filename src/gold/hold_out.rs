//! Held-out cases: repeated trials of instructions on the same cases fit the instructions to these cases. Held-out
//! cases show how good they are elsewhere, and show it less with each use.

use super::gold_file::{GoldFile, HoldOut};
use overnight_core::job::{digest::sha256, time::Timestamp};
use serde::{Deserialize, Serialize};

/// A use of the held-out cases in an evaluation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldOutUse {
    pub at: Timestamp,
    pub by: String,
    /// The names of the candidates.
    pub candidates: Vec<String>,
}

impl GoldFile {
    /// Holds out the wanted share of cases. Held-out cases stay so, unless the seed changes; missing ones are drawn.
    pub(super) fn keep_back(&mut self, wanted: Option<HoldOut>) {
        if let Some(wanted) = wanted {
            if self.hold_out.is_some_and(|before| before.seed != wanted.seed) {
                self.cases.iter_mut().for_each(|case| case.held_out = false);
            }
            self.hold_out = Some(wanted);
        }
        let Some(HoldOut { share, seed }) = self.hold_out else { return };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a share of some cases"
        )]
        let most = (self.cases.len() as f64 * share).round() as usize;
        let kept = self.cases.iter().filter(|case| case.held_out).count();
        let mut drawn: Vec<(String, usize)> = self
            .cases
            .iter()
            .enumerate()
            .filter(|(_, case)| !case.held_out)
            .map(|(at, case)| (sha256(format!("{seed} {}", case.name).as_bytes()), at))
            .collect();
        drawn.sort_unstable();
        for (_, at) in drawn.into_iter().take(most.saturating_sub(kept)) {
            self.cases[at].held_out = true;
        }
    }
}
