//! Rows as read: column by column, then checked and converted to the job's types. Both databases use the same names.

use super::{
    ControlSignal, JobRow, QueueInfo, StoreError,
    columns::columns,
    value::{DbId, DbTime},
};
use overnight_core::job::{
    id::JobId,
    record::{Delivered, JobSummary, NewJob, PhaseRow, TodoRow},
    todo::Todo,
};
use serde::{
    Deserialize,
    de::{IntoDeserializer, value::Error as WordError},
};
use sqlx::types::Json;

columns! {
    pub(super) struct JobColumns {
        id: DbId,
        created: DbTime,
        instructions: String,
        instructions_sha256: String,
        model: String,
        documents: i64,
        workspace: String,
        status: String,
        hold_reason: Option<String>,
        reason: Option<String>,
        phase_number: i64,
        phase_title: String,
        phases_planned: i64,
        phases_complete: i64,
        turns: i64,
        tokens_in: i64,
        tokens_out: i64,
        tokens_cached: i64,
        cost_usd: Option<f64>,
        worked_ms: i64,
        coverage: f64,
        summary: Option<String>,
        confidence: Option<f64>,
        notes: Option<String>,
        deliverables: Json<Vec<Delivered>>,
        completed_at: Option<DbTime>,
        approved_by: Option<String>,
        corrections: i64,
        journal_seq: i64,
        journal_head: String,
        lease: i64,
        worker: Option<DbId>,
        wants: Option<String>,
        updated: DbTime,
        batch: Option<DbId>,
        label: Option<String>,
        priority: i64,
        group_key: Option<String>,
        host: Option<String>,
        attempts: i64,
        max_attempts: i64,
        run_after: Option<DbTime>,
        same_as: Option<DbId>,
        manifest: Option<String>,
    }
}

impl JobColumns {
    /// `database` names it in an error.
    pub(super) fn row(self, database: &str) -> Result<JobRow, StoreError> {
        let read = RowReader { database, row: format!("job {}", self.id.0) };
        let queue = match self.batch {
            None => None,
            Some(batch) => Some(QueueInfo {
                batch: batch.0,
                label: self.label.unwrap_or_default(),
                priority: read.number("priority", self.priority)?,
                group: self.group_key,
                host: self.host,
                attempts: read.number("attempts", self.attempts)?,
                max_attempts: read.number("max_attempts", self.max_attempts)?,
                run_after: self.run_after.map(|moment| moment.0),
                same_as: self.same_as.map(|id| JobId(id.0)),
                manifest: self.manifest,
            }),
        };
        Ok(JobRow {
            job: NewJob {
                id: JobId(self.id.0),
                created: self.created.0,
                instructions: self.instructions,
                instructions_sha256: self.instructions_sha256,
                model: self.model,
                documents: read.number("documents", self.documents)?,
                workspace: self.workspace,
            },
            state: JobSummary {
                status: read.word("status", &self.status)?,
                hold_reason: self.hold_reason.map(|reason| read.word("hold_reason", &reason)).transpose()?,
                reason: self.reason,
                phase_number: read.number("phase_number", self.phase_number)?,
                phase_title: self.phase_title,
                phases_planned: read.number("phases_planned", self.phases_planned)?,
                phases_complete: read.number("phases_complete", self.phases_complete)?,
                turns: read.number("turns", self.turns)?,
                tokens_in: read.number("tokens_in", self.tokens_in)?,
                tokens_out: read.number("tokens_out", self.tokens_out)?,
                tokens_cached: read.number("tokens_cached", self.tokens_cached)?,
                cost_usd: self.cost_usd,
                worked_ms: read.number("worked_ms", self.worked_ms)?,
                coverage: self.coverage,
                summary: self.summary,
                confidence: self.confidence,
                notes: self.notes,
                deliverables: self.deliverables.0,
                completed_at: self.completed_at.map(|moment| moment.0),
                approved_by: self.approved_by,
                corrections: read.number("corrections", self.corrections)?,
                journal_seq: read.number("journal_seq", self.journal_seq)?,
                journal_head: self.journal_head,
            },
            lease: read.number("lease", self.lease)?,
            worker: self.worker.map(|worker| worker.0),
            wants: control_signal(self.wants.as_deref(), &read)?,
            updated: self.updated.0,
            queue,
        })
    }
}

columns! {
    pub(super) struct PhaseColumns {
        number: i64,
        attempt: i64,
        kind: String,
        title: String,
        outcome: String,
        issue: Option<String>,
        turns: i64,
        tokens_in: i64,
        tokens_out: i64,
        cost_usd: Option<f64>,
        started: DbTime,
        ended: Option<DbTime>,
        archive: Option<String>,
    }
}

impl PhaseColumns {
    pub(super) fn row(self, database: &str) -> Result<PhaseRow, StoreError> {
        let read = RowReader { database, row: format!("phase {}", self.number) };
        Ok(PhaseRow {
            number: read.number("number", self.number)?,
            attempt: read.number("attempt", self.attempt)?,
            kind: self.kind,
            title: self.title,
            outcome: self.outcome,
            issue: self.issue,
            turns: read.number("turns", self.turns)?,
            tokens_in: read.number("tokens_in", self.tokens_in)?,
            tokens_out: read.number("tokens_out", self.tokens_out)?,
            cost_usd: self.cost_usd,
            started: self.started.0,
            ended: self.ended.map(|moment| moment.0),
            archive: self.archive,
        })
    }
}

columns! {
    pub(super) struct TodoColumns {
        phase: i64,
        attempt: i64,
        id: i64,
        content: String,
        active_form: String,
        status: String,
        context: Option<String>,
        completion_criteria: Option<String>,
        agent_type: Option<String>,
        position: i64,
        outcome: Option<String>,
        unevidenced: bool,
        created: DbTime,
        started: Option<DbTime>,
        completed: Option<DbTime>,
    }
}

impl TodoColumns {
    pub(super) fn row(self, database: &str) -> Result<TodoRow, StoreError> {
        let read = RowReader { database, row: format!("todo {} of phase {}", self.id, self.phase) };
        Ok(TodoRow {
            phase: read.number("phase", self.phase)?,
            attempt: read.number("attempt", self.attempt)?,
            todo: Todo {
                id: read.number("id", self.id)?,
                content: self.content,
                active_form: self.active_form,
                status: read.word("status", &self.status)?,
                context: self.context,
                completion_criteria: self.completion_criteria,
                agent_type: self.agent_type,
                order: read.number("position", self.position)?,
                outcome: self.outcome,
                unevidenced: self.unevidenced,
                created: self.created.0,
                started: self.started.map(|moment| moment.0),
                completed: self.completed.map(|moment| moment.0),
            },
        })
    }
}

/// Reads the columns of one row, or reports one that can't be read.
pub(super) struct RowReader<'a> {
    pub(super) database: &'a str,
    pub(super) row: String,
}

impl RowReader<'_> {
    pub(super) fn number<T: TryFrom<i64>>(&self, column: &str, number: i64) -> Result<T, StoreError> {
        T::try_from(number).map_err(|_| self.corrupt(column, &number.to_string()))
    }

    pub(super) fn word<'de, T: Deserialize<'de>>(&self, column: &str, word: &'de str) -> Result<T, StoreError> {
        let source: serde::de::value::StrDeserializer<'de, WordError> = word.into_deserializer();
        T::deserialize(source).map_err(|_| self.corrupt(column, word))
    }

    pub(super) fn corrupt(&self, column: &str, value: &str) -> StoreError {
        StoreError::Corrupt {
            database: self.database.to_owned(),
            detail: format!("{} has {column} '{value}'", self.row),
        }
    }
}

/// The column `wants`.
pub(super) fn control_signal(word: Option<&str>, read: &RowReader<'_>) -> Result<Option<ControlSignal>, StoreError> {
    match word {
        None => Ok(None),
        Some("cancel") => Ok(Some(ControlSignal::Cancel)),
        Some("pause") => Ok(Some(ControlSignal::Pause)),
        Some(other) => Err(read.corrupt("wants", other)),
    }
}
