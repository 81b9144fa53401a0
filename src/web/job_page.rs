//! `/jobs/{id}`: one job: its state, its result, its phases with their todos, plan and turns, and its record.

use super::{
    WebError,
    access::Visitor,
    backend::FoundJob,
    frame::{Frame, ShownTime, StateBadge, page},
    job_record::{JobRecord, RecordedTurn},
    state::{PathOf, WebState},
};
use crate::{
    audit::{people::PersonAct, timeline::PhaseRecord},
    report::words::counted,
};
use askama::Template;
use axum::{Extension, extract::State, response::Response};
use overnight_core::{
    amount::{COST_UNKNOWN, cost, grouped, percent},
    job::{
        answered::list_models,
        contract::Check,
        ending::Ending,
        finding::{Finding, Settled},
        id::JobId,
        reviewed::corrected_path,
        state::Job,
        time::duration,
        todo::TodoStatus,
    },
};
use std::{collections::BTreeSet, sync::Arc};
use uuid::Uuid;

/// Turns of a phase that are listed; the rest is counted.
const MOST_TURNS: usize = 500;
/// Documents that are listed.
const MOST_DOCUMENTS: usize = 100;

/// A todo as the page lists it.
struct TodoCells {
    content: String,
    status: TodoStatus,
    outcome: String,
    unevidenced: bool,
}

/// A line of a changed plan, with the class of its colour.
struct PlanLine {
    class: &'static str,
    text: String,
}

struct TurnCells {
    number: u64,
    at: ShownTime,
    model: String,
    calls: String,
    tokens: String,
    cost: String,
}

struct PhaseBlock {
    key: String,
    title: String,
    outcome: String,
    issue: Option<String>,
    is_open: bool,
    facts: Vec<(&'static str, String)>,
    todos: Vec<TodoCells>,
    plan: Vec<PlanLine>,
    shown: Vec<String>,
    files: Vec<String>,
    notes: Vec<String>,
    warnings: Vec<String>,
    turns: Vec<TurnCells>,
    more_turns: usize,
    /// Its folder below `archive/`, with its files.
    archive: Vec<(String, String)>,
}

struct FindingCells {
    id: String,
    told: String,
    settled: Option<String>,
}

/// A file of the workspace, and its current content.
struct FileCells {
    path: String,
    note: String,
}

/// A person's action on the job.
struct ActCells {
    at: ShownTime,
    what: String,
    comment: String,
}

#[derive(Template)]
#[template(path = "web/job.html")]
struct JobDetailPage {
    frame: Frame,
    id: String,
    name: String,
    badge: StateBadge,
    reason: Option<String>,
    /// What it is waiting for.
    next: Option<String>,
    fault: Option<String>,
    facts: Vec<(&'static str, String)>,
    batch: Option<(Uuid, String)>,
    same_as: Option<JobId>,
    /// Whether there is a result to review.
    has_review: bool,
    summary: Option<String>,
    notes: Option<String>,
    proof: Option<String>,
    deliverables: Vec<FileCells>,
    checks: Vec<Check>,
    open_todos: Vec<String>,
    board: Option<String>,
    phases: Vec<PhaseBlock>,
    findings: Vec<FindingCells>,
    people: Vec<ActCells>,
    documents: Vec<FileCells>,
    more_documents: usize,
    record: Vec<FileCells>,
}

pub(super) async fn job(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
) -> Result<Response, WebError> {
    let found = state.find(&id).await?;
    let record = state.records.record(found.clone()).await?;
    let next = state.next_step(&found.row).await?;
    page(&JobDetailPage { next, ..JobDetailPage::of(Frame::of(&state, &visitor), &found, &record) })
}

impl JobDetailPage {
    fn of(frame: Frame, found: &FoundJob, record: &JobRecord) -> Self {
        let facts = &record.facts;
        let job = record.timeline.as_ref().map(|timeline| &timeline.job);
        let ending: Option<&Ending> = job.and_then(|job| job.decided_ending());
        let completion = ending.and_then(|ending| ending.completion.as_ref());
        let summary = completion.map(|completion| completion.summary.clone());
        let deliverables = facts.deliverables.iter().map(|file| FileCells {
            path: file.path.clone(),
            note: format!("{}, {}", counted(file.bytes, "byte"), file.state.name()),
        });
        let files: BTreeSet<&str> =
            job.iter().flat_map(|job| job.corrections()).filter_map(|of| of.file.as_deref()).collect();
        let corrected = files
            .into_iter()
            .map(|file| FileCells { path: corrected_path(file), note: "with people's corrections".to_owned() });
        let documents = job.map(|job| {
            let listed = job.spec.documents.iter().take(MOST_DOCUMENTS).map(|document| FileCells {
                path: format!("documents/{}", document.name),
                note: format!(
                    "{}, {}, {} shown to the model",
                    document.format,
                    counted(document.units, document.unit_name()),
                    percent(job.own.coverage.share(document))
                ),
            });
            (listed.collect::<Vec<_>>(), job.spec.documents.len().saturating_sub(MOST_DOCUMENTS))
        });
        let (documents, more_documents) = documents.unwrap_or_default();
        let people = record.timeline.iter().flat_map(|timeline| &timeline.people);
        let files = record.files.iter().filter(|file| !file.path.starts_with("archive/"));
        Self {
            id: facts.id.to_string(),
            name: facts.called().to_owned(),
            badge: StateBadge::new(facts.standing(), facts.summary.hold_reason),
            next: None,
            reason: facts
                .summary
                .reason
                .clone()
                .filter(|reason| Some(reason) != summary.as_ref() && facts.same_as.is_none()),
            fault: record.fault.clone(),
            facts: job_facts(record, &frame),
            batch: found
                .queue
                .as_ref()
                .map(|queue| (queue.batch, queue.batch_name.clone().unwrap_or_else(|| queue.batch.to_string()))),
            same_as: facts.same_as,
            has_review: job.is_some_and(Job::has_result),
            notes: completion.and_then(|completion| completion.notes.clone()),
            summary,
            proof: job.and_then(overnight_core::job::state::Job::proof_result).map(|proof| proof.told()),
            deliverables: deliverables.chain(corrected).collect(),
            checks: ending.map(|ending| ending.checks.clone()).unwrap_or_default(),
            open_todos: facts.open_todos.clone(),
            board: record.board.clone().filter(|_| ending.is_none()),
            phases: phases(record, &frame),
            findings: job.map(|job| job.proof.findings.iter().map(FindingCells::of).collect()).unwrap_or_default(),
            people: people.map(|act| ActCells::of(act, &frame)).collect(),
            documents,
            more_documents,
            record: files
                .map(|file| FileCells { path: file.path.clone(), note: counted(file.bytes, "byte") })
                .collect(),
            frame,
        }
    }

    fn checks_passed(&self) -> usize {
        self.checks.iter().filter(|check| check.passed).count()
    }
}

fn job_facts(record: &JobRecord, frame: &Frame) -> Vec<(&'static str, String)> {
    let facts = &record.facts;
    let mut lines = vec![
        ("Instructions", facts.instructions.clone()),
        ("Model", list_models(&facts.models, &facts.model)),
        ("Cost", if facts.summary.turns == 0 { "–".to_owned() } else { cost(facts.summary.cost_usd) }),
        ("Turns", grouped(facts.summary.turns)),
        ("Tokens", format!("{} in, {} out", grouped(facts.summary.tokens_in), grouped(facts.summary.tokens_out))),
        ("Work", duration(facts.summary.worked_ms)),
        ("Documents shown", percent(facts.summary.coverage)),
        ("Begun", frame.time(facts.created).person),
        ("Last change", frame.time(facts.last).person),
    ];
    lines.extend(facts.summary.confidence.map(|confidence| ("Confidence", confidence.to_string())));
    lines.extend(facts.run_after.map(|at| ("Not before", frame.time(at).person)));
    lines.extend(facts.host.clone().map(|host| ("Machine", host)));
    lines.extend(
        facts.attempts.filter(|attempts| *attempts > 0).map(|attempts| ("Failed attempts", grouped(attempts.into()))),
    );
    lines
}

/// The newest first.
fn phases(record: &JobRecord, frame: &Frame) -> Vec<PhaseBlock> {
    let Some(timeline) = &record.timeline else { return Vec::new() };
    let blocks = timeline.phases.iter().enumerate().map(|(place, phase)| {
        let plan = record.plan_changes.get(place).map_or("", String::as_str);
        PhaseBlock::of(phase, place, plan, record, frame)
    });
    let mut blocks: Vec<PhaseBlock> = blocks.collect();
    blocks.reverse();
    blocks
}

impl PhaseBlock {
    fn of(phase: &PhaseRecord, place: usize, plan: &str, record: &JobRecord, frame: &Frame) -> Self {
        let attempt = if phase.attempt > 1 { format!(", attempt {}", phase.attempt) } else { String::new() };
        let spent = &phase.spent;
        let range = spent.first_turn.zip(spent.last_turn);
        let is_of_phase =
            |turn: &&RecordedTurn| range.is_some_and(|(first, last)| (first..=last).contains(&turn.number));
        let turns: Vec<&RecordedTurn> = record.turns.iter().filter(is_of_phase).collect();
        let folder = phase.archive.as_ref().map(|archive| format!("archive/{archive}/"));
        let archived = record.files.iter().filter_map(|file| {
            let name = file.path.strip_prefix(folder.as_deref()?)?;
            Some((file.path.strip_prefix("archive/")?.to_owned(), name.to_owned()))
        });
        Self {
            key: format!("phase-{place}"),
            title: format!("Phase {}{attempt}: {}", phase.number, phase.title),
            outcome: phase.outcome_told().to_owned(),
            issue: phase.issue.clone(),
            is_open: phase.ended.is_none(),
            facts: vec![
                ("Todos", format!("{} of {} done", phase.todos_completed, phase.todos.len())),
                ("Turns", if spent.turns == 0 { "–".to_owned() } else { grouped(spent.turns) }),
                ("Cost", if spent.turns == 0 { "–".to_owned() } else { cost(spent.cost_usd) }),
                ("Models", list_models(&phase.models, "none")),
                ("Work", duration(spent.worked_ms)),
                ("Begun", frame.time(phase.started).person),
            ],
            todos: phase
                .todos
                .iter()
                .map(|todo| TodoCells {
                    content: todo.content.clone(),
                    status: todo.status,
                    outcome: todo.outcome.clone().unwrap_or_default(),
                    unevidenced: todo.unevidenced,
                })
                .collect(),
            plan: plan.lines().map(PlanLine::of).collect(),
            shown: phase.shown.iter().map(|part| format!("{} {}–{}", part.document, part.from, part.to)).collect(),
            files: phase.files.iter().map(|file| file.path.clone()).collect(),
            notes: phase.notes.clone(),
            warnings: phase.warnings.clone(),
            more_turns: turns.len().saturating_sub(MOST_TURNS),
            turns: turns.into_iter().take(MOST_TURNS).map(|turn| TurnCells::of(turn, frame)).collect(),
            archive: archived.collect(),
        }
    }
}

impl PlanLine {
    fn of(line: &str) -> Self {
        let class = match line.as_bytes().first() {
            Some(b'+') => "added",
            Some(b'-') => "removed",
            Some(_) | None => "same",
        };
        Self { class, text: line.to_owned() }
    }
}

impl TurnCells {
    fn of(turn: &RecordedTurn, frame: &Frame) -> Self {
        let tier = turn.tier.map(|tier| format!(", {} tier", tier.name())).unwrap_or_default();
        let sub_agent =
            if turn.conversation > 0 { format!(" (sub-agent {})", turn.conversation) } else { String::new() };
        let usage = &turn.usage;
        Self {
            number: turn.number,
            at: frame.time(turn.at),
            model: format!("{}{tier}{sub_agent}", turn.model),
            calls: turn.calls.join(", "),
            tokens: format!("{} in, {} out", grouped(usage.input), grouped(usage.output)),
            cost: turn.cost_usd.map_or_else(|| COST_UNKNOWN.to_owned(), |usd| format!("{usd:.4}")),
        }
    }
}

impl FindingCells {
    fn of(finding: &Finding) -> Self {
        let settled = |settled: &Settled| format!("settled by {}: {}", settled.by, settled.settlement.told());
        Self { id: finding.id.clone(), told: finding.told(), settled: finding.settled.as_ref().map(settled) }
    }
}

impl ActCells {
    fn of(act: &PersonAct, frame: &Frame) -> Self {
        let what = format!("{} {}", act.who, act.what);
        Self { at: frame.time(act.at), what, comment: act.comment.clone().unwrap_or_default() }
    }
}
