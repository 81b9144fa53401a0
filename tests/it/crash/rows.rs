//! What the database holds of one job, without what differs from run to run: leases, times, hashes, the openings.

use crate::scenarios::{ground::id, mask::Mask};
use overnight::store::Store;
use overnight_core::job::record::{PhaseRow, TodoRow};
use std::{fmt::Write, path::Path};

/// The job's rows as text.
pub(crate) async fn told(store: &dyn Store, path: &Path, mask: &Mask) -> Result<String, String> {
    let failed = |error: overnight::store::StoreError| error.to_string();
    let id = id(path);
    let row = store.job(id).await.map_err(failed)?.ok_or("no row of the job")?;
    let mut state = row.state;
    state.journal_seq = mask.seq(state.journal_seq);
    state.worked_ms = 0;
    let mut text = format!("{state:#?}\nworked on: {}\nwish: {:?}\n", row.worker.is_some(), row.wants);
    for phase in store.phases(id).await.map_err(failed)? {
        let PhaseRow { number, attempt, kind, title, outcome, issue, turns, tokens_in, tokens_out, .. } = &phase;
        let _ = writeln!(
            text,
            "phase {number}.{attempt} {kind} '{title}' {outcome} {issue:?} turns {turns} tokens {tokens_in} {tokens_out} cost {:?} ended {} archive {:?}",
            phase.cost_usd,
            phase.ended.is_some(),
            phase.archive
        );
    }
    for TodoRow { phase, attempt, todo } in store.todos(id).await.map_err(failed)? {
        let _ = writeln!(text, "todo {phase}.{attempt}.{}: {todo:?}", todo.id);
    }
    // Times as values print otherwise than as text.
    let times = regex::Regex::new(r"Timestamp\([^)]*\)").map_err(|error| error.to_string())?;
    Ok(mask.text(&times.replace_all(&text, "<time>")))
}
