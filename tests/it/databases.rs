//! A whole job writes the same rows into either database, and they tell its story.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

pub(crate) mod foreign;

use crate::{
    store::postgres_url,
    support::{Place, shipped, wait},
};
use overnight::{model::rules::Offline, runner::JobOutcome, store::JobRow};
use overnight_core::job::record::{JobStatus, PhaseRow, TodoRow};
use std::sync::Arc;

/// Rows of one job.
#[derive(Debug)]
struct Rows {
    job: JobRow,
    phases: Vec<PhaseRow>,
    todos: Vec<TodoRow>,
}

async fn rows_of_a_run(place: Place) -> Rows {
    let documents = place.folder.path().join("rules.md");
    std::fs::write(&documents, "# Rules\n\nA clerk must sign. A guest may enter.\n").unwrap();
    let (instructions, text) = shipped("extract-requirements");
    let rested = place.run(instructions, &text, &[documents], Arc::new(Offline(None))).await;
    assert_eq!(rested.outcome, JobOutcome::Ended(JobStatus::Completed));
    let id = rested.job.spec.id;
    Rows {
        job: place.store.job(id).await.unwrap().unwrap(),
        phases: place.store.phases(id).await.unwrap(),
        todos: place.store.todos(id).await.unwrap(),
    }
}

/// What doesn't differ from run to run, a line a row.
fn story(rows: &Rows) -> String {
    let state = &rows.job.state;
    let mut lines = vec![format!(
        "job: {} {} documents {} phases {}/{} turns {} coverage {} confidence {:?} lease {}",
        rows.job.job.instructions,
        state.status,
        rows.job.job.documents,
        state.phases_complete,
        state.phases_planned,
        state.turns,
        state.coverage,
        state.confidence,
        rows.job.lease,
    )];
    let paths: Vec<&str> = state.deliverables.iter().map(|file| file.path.as_str()).collect();
    lines.push(format!("deliverables: {}", paths.join(", ")));
    lines.push(format!("summary: {}", state.summary.as_deref().unwrap()));
    lines.push(format!("notes: {}", state.notes.as_deref().unwrap()));
    for phase in &rows.phases {
        assert!(phase.ended.unwrap() >= phase.started);
        lines.push(format!(
            "phase {}.{} {} '{}' {} turns {} in archive/{}",
            phase.number,
            phase.attempt,
            phase.kind,
            phase.title,
            phase.outcome,
            phase.turns,
            phase.archive.as_deref().unwrap()
        ));
    }
    for TodoRow { phase, attempt, todo } in &rows.todos {
        assert!(todo.completed.unwrap() >= todo.started.unwrap() && todo.started.unwrap() >= todo.created);
        let outcome = todo.outcome.as_deref().unwrap();
        lines.push(format!("todo {phase}.{attempt}.{} [{}] {}: {outcome}", todo.id, todo.status, todo.content));
    }
    lines.join("\n")
}

const STORY: &str = include_str!("databases/story.txt");

#[test]
fn sqlite_holds_the_whole_story() {
    let rows = wait(async { rows_of_a_run(Place::new().await).await });
    assert_eq!(story(&rows), STORY.trim_end());
    assert!(rows.job.state.completed_at.is_some() && rows.job.worker.is_none());
}

#[test]
fn postgres_holds_the_same_story() {
    let rows = wait(async { rows_of_a_run(Place::with(&postgres_url().await).await).await });
    assert_eq!(story(&rows), STORY.trim_end());
    assert!(rows.job.state.completed_at.is_some() && rows.job.worker.is_none());
}
