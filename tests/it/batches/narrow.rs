//! A terminal of 80 columns: document, status and reason are told there, whatever else there is no room for.

use super::{A, MINUTE, PAST, TestDir, batch, check, id, queued, wait};
use crate::store::{at_work, checkpoint, completed};
use overnight::store::QueuedJob;
use overnight_core::job::record::{HoldReason, JobStatus, JobSummary};

#[test]
fn tables_keep_what_tells_most_at_80_columns() {
    let dir = TestDir::new();
    let named = |number: u32| QueuedJob {
        label: format!("contracts/2026/north/supplier agreements, signed/agreement {number} (final).docx"),
        ..queued(number)
    };
    dir.submit(&batch(1, Some("night")), &(11..=62).map(named).collect::<Vec<_>>());
    wait(async {
        dir.store.claim_next(A, "there", 6, MINUTE).await.unwrap();
        for (number, state) in [
            (11, completed()),
            (
                12,
                JobSummary {
                    status: JobStatus::Failed,
                    reason: Some(format!("no text {}", "was got ".repeat(20))),
                    ..completed()
                },
            ),
            (
                13,
                JobSummary {
                    status: JobStatus::Held,
                    hold_reason: Some(HoldReason::Review),
                    reason: Some("read it".to_owned()),
                    ..at_work()
                },
            ),
            (14, completed()),
            (15, completed()),
        ] {
            let state = JobSummary { turns: 30, worked_ms: 90_000, cost_usd: Some(0.25), ..state };
            dir.store.set_workspace(id(number), 1, "/there/x", Some("there")).await.unwrap();
            dir.store.checkpoint(id(number), 1, &checkpoint(state)).await.unwrap();
        }
    });
    dir.sql(&format!(
        "update jobs set completed_at = '{PAST}' where completed_at is not null; update jobs set updated = '{PAST}'"
    ));
    assert!(dir.on_terminal("jobs").ends_with("\n2 more: --limit 52 shows them\n"));
    let status = "--status failed,held,completed,running";
    let shown = [format!("jobs {status}"), format!("report night {status}"), "watch --once".to_owned()].map(|words| {
        let text = dir.on_terminal(&words);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(words.starts_with("report") || widest <= Some(80), "{words}: {widest:?}");
        let text = text.lines().filter(|line| !line.starts_with("Made ")).collect::<Vec<_>>().join("\n");
        format!("$ overnight {words}\n{text}\n\n")
    });
    check("narrow.txt", &shown.concat());
}
