//! Cases that are kept back: whoever tries instructions again and again on the same cases fits them to these cases. What was kept
//! back tells how good they are elsewhere, and less so each time that it is looked at.

use super::gold_file::{GoldFile, HoldOut};
use overnight_core::job::{digest::sha256, time::Timestamp};
use serde::{Deserialize, Serialize};

/// Once that kept-back cases were evaluated on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldOutUse {
    pub at: Timestamp,
    pub by: String,
    /// The names of the candidates.
    pub candidates: Vec<String>,
}

impl GoldFile {
    /// Keeps back as many cases as are wanted: those that are kept back stay so, unless it is another seed, and new ones are drawn.
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
