//! Extrapolates from a trial to all documents.

use crate::{
    cli::{AppContext, progress::amount, settings},
    config::Flags,
};
use overnight_core::{
    amount::cost,
    job::{record::JobStatus, time::duration},
};

/// The expected effort for all documents, given that the trial that has just ended took `tried` of them and came to a
/// result; `None` if it didn't, or if there are no more documents.
pub(super) async fn forecast(flags: Flags, tried: u64, all: u64) -> Option<String> {
    let app = AppContext::read(settings(&flags).ok()?).await.ok()?;
    let trial = app.job("last").await.ok()?.row.state;
    let has_result = matches!(trial.status, JobStatus::Completed | JobStatus::Partial);
    let of_all = |part: u64| part.saturating_mul(all) / tried.max(1);
    #[expect(clippy::cast_precision_loss, reason = "numbers of documents, far fewer than 2^52")]
    let usd = trial.cost_usd.map(|usd| usd * all as f64 / tried.max(1) as f64);
    (has_result && all > tried).then(|| {
        format!(
            "as the trial went, all {all} documents take about {} tokens, {} and {}, one after the other",
            amount(of_all(trial.tokens_in.saturating_add(trial.tokens_out))),
            cost(usd),
            duration(of_all(trial.worked_ms))
        )
    })
}
