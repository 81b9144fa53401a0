//! The phases of a job: read from the journal alone, so this also works on a copied workspace.
//!
//! The journal is divided as its archives are: a phase's part begins after the decision that ended the previous phase.
//! So the planning that led to a phase counts as part of it, and the parts add up to the whole job.

use super::{AuditError, damage::ReadExtent, people::PersonAct};
use crate::workspace::{Workspace, chain, journal};
use overnight_core::job::{
    answered::{Answered, ModelTurns},
    coverage::Coverage,
    event::{
        ChangedFile, ConversationEvent, Decision, Event, PhaseEvent, PhaseKind, PlanEvent, PlanningEnd, ProofEvent,
        ShownPart, ToolEvent, ToolResult, Why,
    },
    state::{Job, Phase, Spent},
    time::Timestamp,
    todo::{Todo, TodoStatus},
};
use schemars::JsonSchema;
use serde::Serialize;
use std::{collections::BTreeMap, path::Path};

/// A job and its phases, the oldest first.
#[derive(Clone, Debug)]
pub struct Timeline {
    pub job: Job,
    /// Number and SHA-256 of the journal's last line.
    pub seq: u64,
    pub head: String,
    pub phases: Vec<PhaseRecord>,
    /// What was spent since the last phase ended, while no phase was open: planning that has led to none yet.
    pub since: Spending,
    /// The oldest first.
    pub people: Vec<PersonAct>,
    /// Bytes of an unfinished line behind the last one, which were not read.
    pub torn: Option<u64>,
}

/// One attempt of a phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseRecord {
    pub number: u32,
    /// From 1.
    pub attempt: u32,
    /// `bootstrap`, `planned` or `review`.
    pub kind: String,
    pub title: String,
    /// `done`, `rewound`, `stuck`, `limit`, `reset`, `abandoned`; for a phase that has not ended, the job's status.
    pub outcome: String,
    /// Why it ended early.
    pub issue: Option<String>,
    pub started: Timestamp,
    pub ended: Option<Timestamp>,
    pub spent: Spending,
    /// The models that answered, with their numbers of turns.
    pub models: Vec<ModelTurns>,
    pub todos_completed: u64,
    pub todos: Vec<Todo>,
    /// Files written in it, as they were after the last write.
    pub files: Vec<ChangedFile>,
    /// Parts of documents that the model was shown for the first time in this phase.
    pub shown: Vec<ShownPart>,
    /// Parts that sub-agents were shown, such as a second reader, in reading order.
    pub shown_to_sub_agents: Vec<ShownPart>,
    /// Notes and accomplishments.
    pub notes: Vec<String>,
    /// Fallbacks, refused or unusual todo lists, refused completions, in the system's words.
    pub warnings: Vec<String>,
    /// Folder under `archive/`, once archived.
    pub archive: Option<String>,
}

impl PhaseRecord {
    /// The outcome for people: for a review by the program alone, it says so.
    pub fn outcome_told(&self) -> &str {
        let is_done = self.kind == PhaseKind::Review.name() && self.outcome == Why::PhaseDone.outcome();
        if is_done && self.spent.turns == 0 { "done by checks" } else { &self.outcome }
    }
}

/// The spending in a part of the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Spending {
    pub turns: u64,
    /// The turns among them in which the phase was planned.
    pub planning_turns: u64,
    /// `None` if there was no turn.
    pub first_turn: Option<u64>,
    pub last_turn: Option<u64>,
    pub tokens_in: u64,
    pub tokens_cached: u64,
    pub tokens_out: u64,
    /// USD; `None` if the price of a turn isn't known.
    pub cost_usd: Option<f64>,
    /// Milliseconds of work, without holds.
    pub worked_ms: u64,
}

/// Reads the phases of the job whose workspace is at `path`; safe while the job runs.
pub fn timeline(path: &Path) -> Result<Timeline, AuditError> {
    timeline_with(path, &mut |_| {})
}

/// The same, for callers that need more of the journal: `see` gets each decision, from the first on.
pub fn timeline_with(path: &Path, see: &mut dyn FnMut(&Decision)) -> Result<Timeline, AuditError> {
    let workspace = Workspace::open(path)?;
    let mut reading: Option<TimelineBuilder> = None;
    let read = journal::read(&workspace, |line: chain::JournalLine<Event>| {
        let decision = Decision { at: line.at, events: line.events };
        see(&decision);
        if let Some(reading) = &mut reading {
            reading.on(&decision);
        } else {
            let job = Job::begin(&decision).ok_or("the first line does not begin a job")?;
            reading =
                Some(TimelineBuilder { part: PhasePart::after(&job), job, phases: Vec::new(), people: Vec::new() });
        }
        Ok(())
    })?;
    let reading = reading.ok_or_else(|| AuditError::Empty { path: path.display().to_string() })?;
    Ok(reading.end(read.position.seq, read.position.head, read.torn))
}

impl Timeline {
    /// How far the journal was read.
    pub fn journal_end(&self) -> ReadExtent<'_> {
        ReadExtent { seq: self.seq, head: &self.head, torn: self.torn }
    }

    /// All attempts of phase `number`, with their places among the phases.
    pub fn attempts(&self, number: u32) -> Result<Vec<(usize, &PhaseRecord)>, AuditError> {
        let found: Vec<_> = self.phases.iter().enumerate().filter(|(_, phase)| phase.number == number).collect();
        if found.is_empty() {
            let last = self.phases.iter().map(|phase| phase.number).max();
            return Err(AuditError::NoPhase { number, last });
        }
        Ok(found)
    }
}

struct TimelineBuilder {
    job: Job,
    part: PhasePart,
    phases: Vec<PhaseRecord>,
    people: Vec<PersonAct>,
}

/// What has been collected since the end of the last phase.
struct PhasePart {
    answered: Answered,
    spent: Spent,
    planning_turns: u64,
    last_turn: u64,
    /// The job's value when the part began.
    worked_ms: u64,
    coverage: Coverage,
    shown_to_sub_agents: Vec<ShownPart>,
    files: BTreeMap<String, ChangedFile>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

impl PhasePart {
    fn after(job: &Job) -> Self {
        Self {
            answered: job.answered.without_turns(),
            spent: Spent::default(),
            planning_turns: 0,
            last_turn: 0,
            worked_ms: job.totals.worked_ms,
            coverage: job.own.coverage.clone(),
            shown_to_sub_agents: Vec::new(),
            files: BTreeMap::new(),
            notes: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn spending(&self, job: &Job) -> Spending {
        let turns = self.spent.turns;
        Spending {
            turns,
            planning_turns: self.planning_turns,
            first_turn: (turns > 0).then(|| self.last_turn + 1 - turns),
            last_turn: (turns > 0).then_some(self.last_turn),
            tokens_in: self.spent.usage.input,
            tokens_cached: self.spent.usage.cached,
            tokens_out: self.spent.usage.output,
            cost_usd: self.spent.cost(),
            worked_ms: job.totals.worked_ms - self.worked_ms,
        }
    }

    fn record(self, job: &Job, phase: &Phase) -> PhaseRecord {
        let todos = phase.todos.all().to_vec();
        PhaseRecord {
            number: phase.number,
            attempt: phase.attempt,
            kind: phase.kind.name().to_owned(),
            title: phase.title.clone(),
            outcome: job.job_status().0.name().to_owned(),
            issue: None,
            started: phase.started,
            ended: None,
            spent: self.spending(job),
            models: self.answered.models,
            todos_completed: todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count() as u64,
            todos,
            shown: newly_shown(job, &self.coverage),
            shown_to_sub_agents: self.shown_to_sub_agents,
            files: self.files.into_values().collect(),
            notes: self.notes,
            warnings: self.warnings,
            archive: None,
        }
    }
}

impl TimelineBuilder {
    fn on(&mut self, decision: &Decision) {
        for event in &decision.events {
            self.note(event);
            self.people.extend(PersonAct::of(&self.job, decision.at, event));
            self.job.apply(decision.at, event);
            if self.job.past.len() > self.phases.len() {
                self.on_phase_ended();
            }
        }
    }

    /// Adds `event`, which is not applied yet, to the part.
    fn note(&mut self, event: &Event) {
        let part = &mut self.part;
        part.answered.observe(event);
        if let Event::Tool(ToolEvent::ToolReturned {
            conversation: 1..,
            result: ToolResult { shown: Some(shown), .. },
            ..
        }) = event
        {
            read_on(&mut part.shown_to_sub_agents, shown);
        }
        match event {
            Event::Conversation(ConversationEvent::ModelReplied { turn, usage, cost_usd, .. }) => {
                part.spent.add(usage, *cost_usd);
                part.last_turn = *turn;
                part.planning_turns += u64::from(!self.job.is_phase_open());
            }
            Event::Tool(ToolEvent::ToolReturned { result: ToolResult { changed: Some(changed), .. }, .. }) => {
                part.files.insert(changed.path.clone(), changed.clone());
            }
            Event::Phase(PhaseEvent::LessonProposed { lesson }) => {
                part.notes.push(format!("lesson proposed: {} ({})", lesson.text, lesson.evidence));
            }
            Event::Conversation(ConversationEvent::SubAgentEnded { conversation, end, .. }) => {
                let sub_agent = self.job.sub_agents.get(conversation);
                part.notes.extend(sub_agent.and_then(|sub_agent| {
                    let role = sub_agent.role.as_ref()?.told();
                    Some(format!(
                        "sub-agent {conversation}, {role}: it {} after {}",
                        end.told(),
                        turns(sub_agent.turns)
                    ))
                }));
            }
            Event::Proof(ProofEvent::ListsCompared { findings, .. } | ProofEvent::VerdictGiven { findings, .. }) => {
                part.notes.extend(
                    findings
                        .iter()
                        .map(|finding| format!("finding {}: {}, {}", finding.id, finding.kind.told(), finding.text)),
                );
            }
            Event::Proof(ProofEvent::FindingSettled { id, settlement, by }) => {
                part.notes.push(format!("finding {id} settled by {by}: {}", settlement.told()));
            }
            Event::Phase(PhaseEvent::NoteAdded { text } | PhaseEvent::AccomplishmentAdded { text }) => {
                part.notes.push(text.clone());
            }
            Event::Plan(PlanEvent::PlanningEnded { memory_waived: true, .. }) => {
                part.warnings.push("workspace.md was owed, and not saved; the job went on without".to_owned());
            }
            Event::Plan(PlanEvent::PlanningEnded { end: PlanningEnd::FellBack, .. }) => {
                part.warnings.push(
                    "the model did not plan within its tries; the job went on with the plan there was".to_owned(),
                );
            }
            Event::Plan(PlanEvent::PlanningRefused { reason }) => part.warnings.push(format!("not taken: {reason}")),
            Event::Plan(PlanEvent::TodosWarned { warning }) => part.warnings.push(warning.clone()),
            Event::Proof(ProofEvent::CompletionRefused { checks }) => {
                let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
                part.warnings.push(format!("job_complete refused: {}", names.join("; ")));
            }
            _ => {}
        }
    }

    fn on_phase_ended(&mut self) {
        let part = std::mem::replace(&mut self.part, PhasePart::after(&self.job));
        if let Some(past) = self.job.past.last() {
            self.phases.push(PhaseRecord {
                outcome: past.why.outcome().to_owned(),
                issue: past.why.issue().map(str::to_owned),
                ended: Some(past.ended),
                archive: Some(past.folder.clone()),
                ..part.record(&self.job, &past.phase)
            });
        }
    }

    fn end(mut self, seq: u64, head: String, torn: Option<u64>) -> Timeline {
        let mut since = Spending::default();
        if self.job.is_phase_open() {
            self.phases.push(self.part.record(&self.job, &self.job.phase));
        } else {
            since = self.part.spending(&self.job);
        }
        Timeline { job: self.job, seq, head, phases: self.phases, since, people: self.people, torn }
    }
}

fn turns(number: u64) -> String {
    format!("{number} turn{}", if number == 1 { "" } else { "s" })
}

/// Adds `next` to the newest part that it continues, else as a new part. Several sub-agents may read at once.
fn read_on(parts: &mut Vec<ShownPart>, next: &ShownPart) {
    let goes_on =
        |part: &&mut ShownPart| part.document == next.document && (part.to..=part.to + 1).contains(&next.from);
    match parts.iter_mut().rev().find(goes_on) {
        Some(part) => {
            part.to = next.to.max(part.to);
            part.lines = None;
        }
        None => parts.push(next.clone()),
    }
}

/// The parts of each document that had not been shown `before`, and have been since.
fn newly_shown(job: &Job, before: &Coverage) -> Vec<ShownPart> {
    let mut shown = Vec::new();
    for document in &job.spec.documents {
        let mut still = job.own.coverage.gaps(document).into_iter().peekable();
        for (mut from, to) in before.gaps(document) {
            let mut part = |from: u64, to: u64| {
                if from <= to {
                    shown.push(ShownPart { document: document.name.clone(), from, to, lines: None });
                }
            };
            // Each gap that is left was already one before, so it lies within one of those.
            while let Some((start, end)) = still.next_if(|&(start, _)| start <= to) {
                part(from, start - 1);
                from = end + 1;
            }
            part(from, to);
        }
    }
    shown
}
