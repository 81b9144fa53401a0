//! The first page: the task and its result, a table of the phases, what people did, and how to check the record.

use super::{RecordAnchor, format, phase_page};
use crate::audit::{
    people::PersonAct,
    timeline::{PhaseRecord, Timeline},
    verify::{RecordFault, Verified},
};
use askama::Template;
use overnight_core::{
    amount::{counted, grouped, percent},
    job::{
        answered::list_models, contract::Check, finding::Finding, instructions::Review, refused_records::RefusedRecord,
        reviewed::corrected_path, state::Job, time::duration,
    },
};

#[derive(Debug, Template)]
#[template(path = "audit/export/record.html")]
pub(super) struct OverviewPage<'t> {
    title: String,
    /// Name → what it is.
    facts: Vec<(&'static str, String)>,
    phases: Vec<PhaseOverview>,
    people: Vec<ActLine>,
    deliverables: Vec<FileLine>,
    checks: &'t [Check],
    findings: Vec<FindingLine>,
    refused: &'t [RefusedRecord],
    documents: Vec<DocumentLine>,
    summary: Option<&'t str>,
    notes: Option<&'t str>,
    anchor: String,
    verified: String,
    faults: Vec<String>,
    /// There is a page for the events after the last phase.
    has_rest: bool,
}

#[derive(Debug)]
struct PhaseOverview {
    link: String,
    title: String,
    outcome: String,
    read: Vec<String>,
    decided: String,
    written: Vec<String>,
    models: String,
    turns: String,
    cost: String,
    time: String,
}

#[derive(Debug)]
struct ActLine {
    at: String,
    who: String,
    what: String,
    comment: String,
    phase: u32,
}

#[derive(Debug)]
struct FileLine {
    path: String,
    link: Option<String>,
    /// The file beside it that has the corrections, and a link to that file.
    corrected: Option<(String, Option<String>)>,
    bytes: String,
    sha256: String,
}

#[derive(Debug)]
struct FindingLine {
    text: String,
    settled: String,
}

#[derive(Debug)]
struct DocumentLine {
    name: String,
    about: String,
    shown: String,
    sha256: String,
}

/// Parts and files, at most, that a row of the table names.
const MOST_NAMED: usize = 6;

impl<'t> OverviewPage<'t> {
    pub(super) fn new(
        timeline: &'t Timeline,
        anchor: &RecordAnchor,
        verified: &Result<Verified, Vec<RecordFault>>,
        has_rest: bool,
    ) -> Self {
        let job = &timeline.job;
        let ending = job.decided_ending();
        let completion = ending.and_then(|ending| ending.completion.as_ref());
        let (verified, faults) = match verified {
            Ok(verified) => (
                format!(
                    "When this record was made, {} of the journal, {} and {} were as they were left.",
                    counted(verified.lines, "line"),
                    counted(verified.archives, "archive"),
                    counted(verified.files, "file")
                ),
                Vec::new(),
            ),
            Err(faults) => (
                "When this record was made, not all was as it was left.".to_owned(),
                faults.iter().map(ToString::to_string).collect(),
            ),
        };
        let link = |path: &str| format::link(&format!("{}/{path}", super::layout::WORKSPACE));
        let deliverables = ending.map_or(&[][..], |ending| &ending.deliverables).iter().map(|file| FileLine {
            link: link(&file.path),
            corrected: job.corrections().any(|finding| finding.file.as_deref() == Some(&*file.path)).then(|| {
                let path = corrected_path(&file.path);
                (path.clone(), link(&path))
            }),
            path: file.path.clone(),
            bytes: grouped(file.bytes),
            sha256: file.sha256.clone(),
        });
        let documents = job.spec.documents.iter().map(|document| DocumentLine {
            name: document.name.clone(),
            about: format!(
                "{}, {}, {}",
                document.format,
                counted(document.units, document.unit_name()),
                document.reader
            ),
            shown: percent(job.own.coverage.share(document)),
            sha256: document.sha256.clone(),
        });
        Self {
            title: format!("Record of job {}", job.spec.id),
            facts: facts(timeline),
            phases: timeline.phases.iter().map(|phase| phase_line(timeline, phase)).collect(),
            people: timeline.people.iter().map(act_line).collect(),
            deliverables: deliverables.collect(),
            checks: ending.map_or(&[], |ending| &ending.checks),
            findings: job.proof.findings.iter().map(finding_line).collect(),
            refused: job.refused.open(),
            documents: documents.collect(),
            summary: completion.map(|completion| completion.summary.as_str()),
            notes: completion.and_then(|completion| completion.notes.as_deref()),
            anchor: anchor.told(),
            verified,
            faults,
            has_rest,
        }
    }
}

fn facts(timeline: &Timeline) -> Vec<(&'static str, String)> {
    let job = &timeline.job;
    let (spec, totals) = (&job.spec, &job.totals);
    let (status, hold, reason) = job.job_status();
    let hold = hold.map(|hold| format!(" ({hold})")).unwrap_or_default();
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let mut facts = vec![
        ("Result", format!("{status}{hold}{reason}")),
        (
            "Asked",
            format!(
                "{}, instructions {} (sha256 {})",
                format::moment(spec.created),
                spec.instructions.name,
                spec.instructions_sha256
            ),
        ),
        (
            "Documents",
            format!("{}, {} shown", counted(spec.documents.len() as u64, "document"), {
                percent(job.own.coverage.total(&spec.documents))
            }),
        ),
        ("Models", list_models(&job.answered.models, &spec.model)),
        (
            "Spent",
            format!(
                "{}, {} tokens in, {} out, {}, {} of work",
                counted(totals.spent.turns, "turn"),
                grouped(totals.spent.usage.input),
                grouped(totals.spent.usage.output),
                format::cost(totals.spent.cost()),
                duration(totals.worked_ms)
            ),
        ),
        ("Approved", approved(job)),
    ];
    facts.extend(job.proof_result().map(|proof| ("Proof", proof.told())));
    facts.extend(job.refused.counts().map(|refused| ("Refused records", refused.told())));
    facts.push(("Last decision", format!("line {} of the journal, {}", timeline.seq, format::moment(job.last_at))));
    facts
}

/// By whom, and when.
fn approved(job: &Job) -> String {
    let told = job.reviewed.approvals.iter().map(|approval| {
        let comment = approval.comment.as_ref().map(|comment| format!(": {comment}")).unwrap_or_default();
        format!("by {}, {}{comment}", approval.by.as_deref().unwrap_or("a person"), format::moment(approval.at))
    });
    let told: Vec<String> = told.collect();
    if !told.is_empty() {
        return told.join("; ");
    }
    match job.spec.instructions.review {
        Review::None => "by nobody; the instructions ask for no review".to_owned(),
        Review::Required => "by nobody so far".to_owned(),
    }
}

fn act_line(act: &PersonAct) -> ActLine {
    ActLine {
        at: format::moment(act.at),
        who: act.who.clone(),
        what: act.what.clone(),
        comment: act.comment.clone().unwrap_or_default(),
        phase: act.phase,
    }
}

fn phase_line(timeline: &Timeline, phase: &PhaseRecord) -> PhaseOverview {
    let named = |all: &mut dyn Iterator<Item = String>, count: usize| {
        let mut some: Vec<String> = all.take(MOST_NAMED).collect();
        if count > MOST_NAMED {
            some.push(format!("{} more", count - MOST_NAMED));
        }
        some
    };
    let spec = &timeline.job.spec;
    let sub_agents =
        phase.shown_to_sub_agents.iter().map(|part| format!("{} (to a sub-agent)", format::part(spec, part)));
    let mut read = phase.shown.iter().map(|part| format::part(spec, part)).chain(sub_agents);
    let mut written = phase.files.iter().map(|file| file.path.clone());
    let issue = phase.issue.as_ref().map(|issue| format!(": {issue}")).unwrap_or_default();
    PhaseOverview {
        link: format!("record/{}", phase_page::name(phase)),
        title: phase_page::title(phase),
        outcome: format!("{}{issue}", phase.outcome_told()),
        read: named(&mut read, phase.shown.len() + phase.shown_to_sub_agents.len()),
        decided: format!("{} of {} done", phase.todos_completed, counted(phase.todos.len() as u64, "todo")),
        written: named(&mut written, phase.files.len()),
        models: list_models(&phase.models, "none"),
        turns: phase.spent.turns.to_string(),
        cost: format::cost(phase.spent.cost_usd),
        time: format::moment(phase.started),
    }
}

fn finding_line(finding: &Finding) -> FindingLine {
    let settled = finding
        .settled
        .as_ref()
        .map(|settled| format!("{}, by {}, {}", settled.settlement.told(), settled.by, format::moment(settled.at)));
    FindingLine { text: finding.told(), settled: settled.unwrap_or_else(|| "open".to_owned()) }
}
