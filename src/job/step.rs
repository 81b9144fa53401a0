//! The table of the two loops: what is owed next, and what an answer means.
//!
//! `next` asks one question of the outside world; `decide` turns its answer into facts. Where nothing from outside is
//! needed (`Ask::Decide`), the facts come from `owed` alone.

use super::{
    contract::Check,
    control::{refusal, returned},
    event::{
        CallEnd, Changed, Completion, Ending, Event, Examined, PhaseKind, PlanStep, Prepared, Saved, StepEnd,
        ToolResult, Why,
    },
    limits::Limits,
    plan::{Plan, PlannedPhase},
    planning,
    record::{Delivered, HoldReason, JobStatus},
    state::{
        EARLY_ENDS_IN_A_ROW, EARLY_ENDS_IN_ALL, FileWrite, Job, LAST_REVIEW_TODO, PLANNING_READS, PLANNING_TRIES,
        Planning, Progress, Status,
    },
    time::Timestamp,
    working::{Kind, Working, Writing, kind},
};
use crate::context::{
    catalogue::{JobComplete, Tool, arguments},
    compact, layers,
    message::{Reply, Stop, ToolCall},
};

/// One question to the outside world.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Nothing outside is needed: only the time.
    Decide,
    /// One model call with the prompt that `context::compose` makes of the state.
    Model,
    /// What would this change do: hashes of its file before and after.
    Prepare(Writing),
    /// Do the first pending call. `prepared` is there for changes.
    Tool {
        call: ToolCall,
        working: Working,
        prepared: Option<Prepared>,
    },
    /// Build the archive of the phase that ended.
    Archive {
        folder: String,
        why: Why,
    },
    /// Write `workspace_summary.md`.
    Summary,
    /// Read plan, memory, instructions and summary from the disk.
    Examine,
    Write(FileWrite),
    /// Check the deliverables against the contract.
    Check(Completion),
    /// Held or ended.
    Nothing,
}

/// The answer to an `Ask`, or a word from a person.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Now,
    Reply {
        reply: Reply,
        cost_usd: Option<f64>,
        prompt_sha256: String,
    },
    /// No reply, and no further attempt will mend it. One sentence.
    ModelFailed {
        reason: String,
    },
    /// `saved` where the file is the plan or the memory; an error is the tool's sentence to the model.
    Prepared(Result<(Prepared, Option<Saved>), String>),
    Tool(ToolResult),
    Archived {
        manifest_sha256: String,
    },
    Summarised {
        sha256: String,
    },
    Examined(Examined),
    Written,
    Checked {
        checks: Vec<Check>,
        deliverables: Vec<Delivered>,
    },
    Command(Command),
}

/// What a person or the runner wants of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A process takes the job up.
    Open {
        version: String,
        model: String,
        torn_bytes: Option<u64>,
    },
    Hold {
        reason: HoldReason,
        detail: String,
    },
    Resume {
        limits: Limits,
    },
    Approve,
    Feedback {
        text: String,
        instructions: String,
    },
    Cancel,
    Fail {
        reason: String,
    },
}

/// `job_complete` is refused this many times; the next call ends the job as partial.
const COMPLETION_REFUSALS: u32 = 3;

impl Job {
    /// What is owed now.
    pub fn next(&self) -> Ask {
        if !self.is_running() {
            return Ask::Nothing;
        }
        if let Some(write) = self.writes.front() {
            return Ask::Write(write.clone());
        }
        if self.owed(self.last_at).is_some() {
            return Ask::Decide;
        }
        if let Some(call) = self.pending.front() {
            return self.ask_for(call);
        }
        match &self.progress {
            Progress::Executing | Progress::Planning(_) | Progress::Digesting => Ask::Model,
            Progress::Archiving { folder, why } => Ask::Archive { folder: folder.clone(), why: why.clone() },
            Progress::Summarising { .. } => Ask::Summary,
            Progress::Examining { .. } => Ask::Examine,
            Progress::Closing => Ask::Decide,
        }
    }

    fn ask_for(&self, call: &ToolCall) -> Ask {
        match kind(call) {
            Kind::Working(Working::Write(writing)) if self.prepared.is_none() => Ask::Prepare(writing),
            Kind::Working(working) => Ask::Tool { call: call.clone(), working, prepared: self.prepared.clone() },
            // The only control tool that needs the outside is a completion to be checked.
            Kind::Control(_) | Kind::Wrong(_) => match arguments::<JobComplete>(Tool::JobComplete, &call.arguments)
                .and_then(super::control::completion)
            {
                Ok(completion) => Ask::Check(completion),
                Err(_) => Ask::Decide,
            },
        }
    }

    /// The facts that follow from the state alone, where some do.
    fn owed(&self, at: Timestamp) -> Option<Vec<Event>> {
        match &self.progress {
            Progress::Summarising { .. } => return self.replan_limit(),
            Progress::Closing => return self.close(),
            Progress::Archiving { .. } | Progress::Examining { .. } => return None,
            Progress::Planning(planning) if planning.step == PlanStep::CreateTodos && self.next_planned().is_none() => {
                return Some(planning::start_review(self, at));
            }
            Progress::Digesting if !self.pending.is_empty() => {
                return Some(self.skipped(0, "not run: only the digest was asked for"));
            }
            Progress::Planning(_) | Progress::Executing | Progress::Digesting => {}
        }
        if let Some(call) = self.pending.front() {
            return self.owed_to_call(call, at);
        }
        self.limit_reached().or_else(|| self.way_out(at)).or_else(|| compact::owed(self))
    }

    fn owed_to_call(&self, call: &ToolCall, at: Timestamp) -> Option<Vec<Event>> {
        match kind(call) {
            Kind::Wrong(reason) => Some(vec![refusal(call, reason)]),
            Kind::Control(tool) => self.control(tool, call, at),
            Kind::Working(_) if compact::is_full(self) => Some(vec![returned(
                call,
                CallEnd::Skipped,
                "not run: the results of this reply fill the context already; call it again in the next reply",
            )]),
            Kind::Working(_) => None,
        }
    }

    /// A job's own limit holds it.
    fn limit_reached(&self) -> Option<Vec<Event>> {
        let (limits, spent) = (&self.limits, &self.totals.spent);
        let (reason, detail) = if spent.turns >= limits.turns {
            (HoldReason::Limit, format!("{} turns are used; resume with --turns N for more", limits.turns))
        } else if let Some(most) = limits.wall_clock_ms.filter(|most| self.totals.worked_ms >= *most) {
            (HoldReason::Limit, format!("{} s of work are used; resume with --wall-clock TIME for more", most / 1000))
        } else if let Some(most) = limits.tokens.filter(|most| spent.tokens() >= *most) {
            (HoldReason::Budget, format!("{most} tokens are used; resume with --tokens N for more"))
        } else if let Some(most) = limits.cost_usd.filter(|most| spent.cost_usd >= *most) {
            (HoldReason::Budget, format!("{most:.2} USD are used; resume with --cost USD for more"))
        } else {
            return None;
        };
        Some(vec![Event::Held { reason, detail }])
    }

    /// Fallbacks of planning; stuck phases; phases over their limits.
    fn way_out(&self, at: Timestamp) -> Option<Vec<Event>> {
        match &self.progress {
            Progress::Planning(planning) if planning.tries >= PLANNING_TRIES || planning.reads > PLANNING_READS => {
                Some(planning::fall_back(self, planning, at))
            }
            Progress::Executing => {
                let (effort, limits) = (&self.phase.effort, &self.limits);
                let why = if effort.turns >= limits.turns_per_todo {
                    Why::LimitReached { detail: format!("{} turns on one todo", effort.turns) }
                } else if self.phase.spent.turns >= limits.turns_per_phase {
                    Why::LimitReached { detail: format!("{} turns in one phase", self.phase.spent.turns) }
                } else {
                    Why::Stuck { detail: effort.stuck()? }
                };
                Some(self.end_phase(Vec::new(), why))
            }
            Progress::Planning(_)
            | Progress::Digesting
            | Progress::Archiving { .. }
            | Progress::Summarising { .. }
            | Progress::Examining { .. }
            | Progress::Closing => None,
        }
    }

    fn replan_limit(&self) -> Option<Vec<Event>> {
        let early = self.early_ends;
        if early.in_a_row <= EARLY_ENDS_IN_A_ROW && early.in_all <= EARLY_ENDS_IN_ALL {
            return None;
        }
        let issues: Vec<String> = self
            .past
            .iter()
            .filter(|past| past.why.is_early_end())
            .filter_map(|past| {
                past.why.issue().map(|issue| format!("phase {} {}: {issue}", past.phase.number, past.why.outcome()))
            })
            .collect();
        let ending = Ending {
            status: JobStatus::Blocked,
            reason: Some(format!("re-planned too often: {}", issues.join("; "))),
            completion: None,
            checks: Vec::new(),
            deliverables: Vec::new(),
            open_todos: self.past.last().map(|past| planning::cancelled(&past.phase.todos)).unwrap_or_default(),
        };
        Some(vec![Event::JobEnded { ending: Box::new(ending) }])
    }

    /// All is archived: the end, or the wait for a person.
    fn close(&self) -> Option<Vec<Event>> {
        use super::instructions::Review;
        let ending = self.ending.clone()?;
        let reviewed = match self.spec.instructions.review {
            Review::None => false,
            Review::Required => ending.status == JobStatus::Completed,
        };
        Some(if reviewed && !self.approved {
            vec![Event::Held {
                reason: HoldReason::Review,
                detail: "a person approves it (overnight approve) or sends it back (overnight feedback)".to_owned(),
            }]
        } else {
            vec![Event::JobEnded { ending }]
        })
    }

    /// What an answer means. `at` is when it came.
    pub fn decide(&self, at: Timestamp, answer: Answer) -> Vec<Event> {
        match answer {
            Answer::Now => self.owed(at).unwrap_or_default(),
            Answer::Reply { reply, cost_usd, prompt_sha256 } => self.on_reply(reply, cost_usd, prompt_sha256),
            Answer::ModelFailed { reason } => self.failed(reason),
            Answer::Prepared(Err(text)) => self.on_result(ToolResult::plain(CallEnd::Failed, text)),
            Answer::Prepared(Ok((prepared, saved))) => self.on_prepared(prepared, saved.as_ref()),
            Answer::Tool(result) => self.on_result(result),
            Answer::Archived { manifest_sha256 } => match &self.progress {
                Progress::Archiving { folder, .. } => {
                    vec![Event::ArchiveStored { folder: folder.clone(), manifest_sha256 }]
                }
                Progress::Executing
                | Progress::Summarising { .. }
                | Progress::Examining { .. }
                | Progress::Planning(_)
                | Progress::Digesting
                | Progress::Closing => Vec::new(),
            },
            Answer::Summarised { sha256 } => vec![Event::SummaryWritten { sha256 }],
            Answer::Examined(files) => self.on_files_examined(files),
            Answer::Written => self
                .writes
                .front()
                .map_or_else(Vec::new, |write| vec![Event::FileWritten { path: write.path.to_owned() }]),
            Answer::Checked { checks, deliverables } => self.on_checked(checks, deliverables),
            Answer::Command(command) => self.on_command(command),
        }
    }

    fn on_reply(&self, reply: Reply, cost_usd: Option<f64>, prompt_sha256: String) -> Vec<Event> {
        let turn = self.totals.spent.turns + 1;
        // Calls get names of our own: providers leave them out, repeat them, or use letters that others refuse.
        let calls: Vec<ToolCall> = (1..)
            .zip(reply.calls)
            .map(|(place, call): (u32, ToolCall)| ToolCall { id: format!("call_{turn}_{place}"), ..call })
            .collect();
        let is_cut = reply.stop == Stop::Length;
        let digest = reply.text.trim().to_owned();
        let mut events = vec![Event::ModelReplied {
            turn,
            text: reply.text,
            calls: calls.clone(),
            usage: reply.usage,
            cost_usd,
            stop: reply.stop,
            model: reply.model,
            prompt_sha256,
        }];
        if is_cut {
            let text = "not run: the reply was cut at the token limit; do less in one reply";
            events.extend(calls.iter().map(|call| returned(call, CallEnd::Refused, text)));
        }
        if self.progress == Progress::Digesting {
            if !is_cut {
                let text = "not run: only the digest was asked for";
                events.extend(calls.iter().map(|call| returned(call, CallEnd::Skipped, text)));
            }
            let digest = (!digest.is_empty()).then_some(digest.as_str());
            events.push(Event::ContextCompacted { layer4: layers::compacted(self, self.plan.as_ref(), digest) });
        }
        events
    }

    /// A change is about to be made: the plan is checked first, and so is the step.
    fn on_prepared(&self, prepared: Prepared, saved: Option<&Saved>) -> Vec<Event> {
        let Some(call) = self.pending.front() else {
            return Vec::new();
        };
        if let Some(Saved::Plan { text }) = saved {
            if let Some(Planning { step: PlanStep::UpdateMemory, .. }) = self.planning() {
                let text = format!(
                    "main_plan.md comes in the next step; this is update_memory (1 of 3): {}",
                    planning::expected(PlanStep::UpdateMemory)
                );
                return vec![refusal(call, text)];
            }
            if let Err(reason) = self.check_plan(text) {
                return vec![refusal(call, reason)];
            }
        }
        vec![Event::ToolStarted { call: call.id.clone(), prepared }]
    }

    /// A plan as the model saved it, with the marks that are the system's.
    fn read_plan(&self, text: &str) -> Result<Plan, super::plan::PlanError> {
        let saved = Plan::parse(text)?;
        let Some(before) = &self.plan else {
            return Ok(saved.without_marks().mark_current());
        };
        let after = saved.with_marks_of(before);
        Plan::check_update(before, &after)?;
        Ok(after.mark_current())
    }

    fn check_plan(&self, text: &str) -> Result<(), String> {
        let after = self.read_plan(text).map_err(|error| format!("main_plan.md is not saved: {error}"))?;
        match self.planning() {
            Some(Planning { step: PlanStep::UpdatePlan, why: Why::Feedback { .. }, .. })
                if after.current().is_none_or(|phase| super::plan::is_final_review(&phase.title)) =>
            {
                Err("main_plan.md is not saved: the feedback needs work; add at least one new phase".to_owned())
            }
            Some(_) => Ok(()),
            None => self.check_worked(&after),
        }
    }

    /// The phase that is being worked keeps its number and title: at its end, the plan's phase of that number is marked
    /// complete, and it must be the one that was worked.
    fn check_worked(&self, after: &Plan) -> Result<(), String> {
        let Some(number) = self.phase.plan_phase.filter(|_| self.is_phase_open()) else {
            return Ok(());
        };
        let stays = after.phases().iter().any(|phase| phase.number == number && phase.title == self.phase.title);
        if stays {
            return Ok(());
        }
        Err(format!(
            "main_plan.md is not saved: phase {number} '{}' is being worked; keep its number and title, or call todo_rewind(issue) if it can't be worked as planned",
            self.phase.title
        ))
    }

    fn on_result(&self, mut result: ToolResult) -> Vec<Event> {
        let Some(call) = self.pending.front() else {
            return Vec::new();
        };
        let normalised = match &result.saved {
            Some(Saved::Plan { text }) => self.read_plan(text).ok(),
            Some(Saved::Memory { .. }) | None => None,
        };
        if let Some(plan) = &normalised {
            use std::fmt::Write;
            let _ = write!(result.text, " It is understood as a plan with {} phases.", plan.phases().len());
        }
        let ended = match (&result.saved, self.planning().map(|planning| planning.step)) {
            (Some(Saved::Memory { .. }), Some(PlanStep::UpdateMemory)) => Some(PlanStep::UpdateMemory),
            (Some(Saved::Plan { .. }), Some(PlanStep::UpdatePlan)) => Some(PlanStep::UpdatePlan),
            (Some(Saved::Memory { .. } | Saved::Plan { .. }) | None, _) => None,
        };
        let is_changed = match (&result.saved, &normalised) {
            (Some(Saved::Plan { text }), Some(plan)) => plan.text() != text,
            (Some(Saved::Plan { .. } | Saved::Memory { .. }) | None, _) => false,
        };
        let mut events = vec![Event::ToolReturned { call: call.id.clone(), name: call.name.clone(), result }];
        if let Some(plan) = normalised.filter(|_| is_changed) {
            events
                .push(Event::PlanSet { text: plan.text().to_owned(), because: "put into the plan's form".to_owned() });
        }
        events.extend(ended.map(|step| Event::StepEnded { step, end: StepEnd::Saved }));
        events
    }

    fn on_files_examined(&self, files: Examined) -> Vec<Event> {
        let marked = self.marked(&files);
        let mut events = vec![Event::FilesExamined { files }];
        events.extend(marked.map(|(plan, because)| Event::PlanSet { text: plan.text().to_owned(), because }));
        events
    }

    /// The system's own part of the plan: the examined one with ticks and marks of the phase that ended, and why it was
    /// changed; `None` where it stands so on the disk.
    pub(super) fn marked(&self, files: &Examined) -> Option<(Plan, String)> {
        let read = files.plan.as_deref().map(Plan::parse);
        let because = match &read {
            Some(Err(error)) => {
                format!("main_plan.md could not be read as a plan ({error}); the last good one stays")
            }
            Some(Ok(_)) | None => "ticks and marks of the finished phase".to_owned(),
        };
        let plan = read.and_then(Result::ok).or_else(|| self.plan.clone())?;
        let Progress::Examining { why } = &self.progress else {
            return None;
        };
        let done = self.past.last().filter(|_| *why == Why::PhaseDone).and_then(|past| {
            // A person may have moved the phase meanwhile; one that isn't there any more is nowhere marked.
            let number = past.phase.plan_phase?;
            let worked = |phase: &&PlannedPhase| phase.title == past.phase.title;
            let same = plan.phases().iter().filter(worked).min_by_key(|phase| phase.number.abs_diff(number))?;
            Some((same.number, planning::cancelled(&past.phase.todos)))
        });
        let marked = match done {
            Some((number, cancelled)) => plan.complete_phase(number, &cancelled).mark_current(),
            None => plan.mark_current(),
        };
        (files.plan.as_deref() != Some(marked.text())).then_some((marked, because))
    }

    fn on_checked(&self, mut checks: Vec<Check>, deliverables: Vec<Delivered>) -> Vec<Event> {
        let Some(call) = self.pending.front() else {
            return Vec::new();
        };
        let Ok(completion) =
            arguments::<JobComplete>(Tool::JobComplete, &call.arguments).and_then(super::control::completion)
        else {
            return Vec::new();
        };
        checks.push(self.coverage_check());
        let failed: Vec<Check> = checks.iter().filter(|check| !check.passed).cloned().collect();
        let floor = self.spec.instructions.confidence_floor;
        let listed: Vec<String> = failed.iter().map(|check| format!("- {}: {}", check.name, check.detail)).collect();
        if failed.is_empty() {
            let reason = (completion.confidence < floor)
                .then(|| format!("the confidence of {} is under the floor of {floor}", completion.confidence));
            let status = if reason.is_some() { JobStatus::Partial } else { JobStatus::Completed };
            let ending =
                Ending { status, reason, completion: Some(completion), checks, deliverables, open_todos: Vec::new() };
            let mut events = vec![returned(call, CallEnd::Done, "Accepted: every check passed.")];
            // The todo that only an accepted completion completes.
            events.extend(self.phase.todos.open().find(|todo| todo.content == LAST_REVIEW_TODO).map(|todo| {
                Event::TodoCompleted { id: todo.id, outcome: Some("accepted".to_owned()), unevidenced: false }
            }));
            return self.end_job(events, ending, Why::PhaseDone);
        }
        let counts_now = self.refused_in_turn != self.totals.spent.turns;
        if self.refusals >= COMPLETION_REFUSALS && counts_now {
            let names: Vec<&str> = failed.iter().map(|check| check.name.as_str()).collect();
            let ending = Ending {
                status: JobStatus::Partial,
                reason: Some(format!("unmet after {} refusals: {}", COMPLETION_REFUSALS, names.join("; "))),
                completion: Some(completion),
                checks,
                deliverables,
                open_todos: self.open_todos(),
            };
            let text = format!("The job ends as partial; these checks failed:\n{}", listed.join("\n"));
            return self.end_job(vec![returned(call, CallEnd::Done, text)], ending, Why::PhaseDone);
        }
        let left = COMPLETION_REFUSALS
            - self.refusals.min(COMPLETION_REFUSALS)
            - u32::from(counts_now && self.refusals < COMPLETION_REFUSALS);
        let text = format!(
            "Refused; mend these and call job_complete() again ({left} more refusals before the job ends as partial):\n{}",
            listed.join("\n")
        );
        vec![refusal(call, text), Event::CompletionRefused { checks: failed }]
    }

    fn coverage_check(&self) -> Check {
        let wanted = self.spec.instructions.coverage;
        let missing: Vec<String> =
            self.spec.documents.iter().filter_map(|document| self.coverage.missing(document, wanted)).collect();
        let detail = if missing.is_empty() {
            format!("{:.0} % of the documents' text was shown", self.coverage.total(&self.spec.documents) * 100.0)
        } else {
            let more = missing.len().saturating_sub(10);
            let rest = if more > 0 { format!("; and {more} more documents") } else { String::new() };
            format!(
                "not shown yet: {}{rest}; read them with read_document",
                missing[..missing.len().min(10)].join("; ")
            )
        };
        Check { name: "coverage".to_owned(), passed: missing.is_empty(), detail }
    }

    fn failed(&self, reason: String) -> Vec<Event> {
        let ending = Ending {
            status: JobStatus::Failed,
            reason: Some(reason),
            completion: None,
            checks: Vec::new(),
            deliverables: Vec::new(),
            open_todos: self.open_todos(),
        };
        vec![Event::JobEnded { ending: Box::new(ending) }]
    }

    fn on_command(&self, command: Command) -> Vec<Event> {
        match (command, &self.status) {
            // A review is left by approval or feedback only, and an end is an end.
            (_, Status::Ended(_))
            | (Command::Hold { .. }, Status::Held { .. })
            | (Command::Resume { .. }, Status::Held { reason: HoldReason::Review, .. }) => Vec::new(),
            (Command::Open { version, model, torn_bytes }, _) => vec![Event::Opened { version, model, torn_bytes }],
            (Command::Hold { reason, detail }, Status::Running) => vec![Event::Held { reason, detail }],
            (Command::Resume { limits }, _) => vec![Event::Resumed { limits }],
            (Command::Approve, Status::Held { reason: HoldReason::Review, .. }) => vec![Event::Approved],
            (Command::Feedback { text, instructions }, Status::Held { reason: HoldReason::Review, .. }) => {
                let number = u32::try_from(self.feedback.len()).unwrap_or(u32::MAX) + 1;
                vec![Event::FeedbackGiven { number, text, instructions }]
            }
            (Command::Approve | Command::Feedback { .. }, _) => Vec::new(),
            (Command::Cancel, _) => {
                let ending = Ending {
                    status: JobStatus::Cancelled,
                    reason: Some("cancelled by a person".to_owned()),
                    completion: None,
                    checks: Vec::new(),
                    deliverables: Vec::new(),
                    open_todos: self.open_todos(),
                };
                vec![Event::JobEnded { ending: Box::new(ending) }]
            }
            (Command::Fail { reason }, _) => self.failed(reason),
        }
    }

    /// The kind of step in which the next prompt is made.
    pub fn is_review(&self) -> bool {
        self.phase.kind == PhaseKind::Review
    }
}

impl Changed {
    /// The row of a delivered file.
    pub fn delivered(&self) -> Delivered {
        Delivered { path: self.path.clone(), sha256: self.sha256.clone(), bytes: self.bytes }
    }
}
