//! The invariants: what must hold after each decision, whatever led to it.

use overnight_core::{
    answer,
    job::{
        conversation::Conversation,
        event::{
            BoardKind, ConversationEvent, Decision, EpochCause, Event, LifeEvent, PersonEvent, PhaseEvent, PhaseKind,
            PlanEvent, ToolEvent, Why,
        },
        instructions::Review,
        plan::Plan,
        record::{HoldReason, JobStatus},
        state::{BOOTSTRAP_TURNS, Job, PLANNING_ASKED, PLANNING_TRIES, Progress, Status},
        todo::{Todo, TodoStatus},
        todo_list::key,
    },
    message::Message,
    prompt::{
        measure::{fixed_tokens, local_tokens, room},
        todo_board,
    },
    tokens::estimate,
};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

/// Decisions between two replies without anything from outside, at most: a few for each call, the end of a phase with
/// each of them, and a little for what comes before the next prompt.
const DECISIONS_A_CALL: usize = 16;
const DECISIONS_A_TURN: usize = 40;
/// How much more than its share a result may have: its frame, and the words that say it was cut.
const SLACK: u64 = 64;
/// Tokens of the smallest opening: its own words, headings and a board, however short what they are about.
const LEAST_OPENING: u64 = 1_800;

/// What the accountant remembers from decision to decision.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Calls without a result by conversation, in order: id and name.
    open_calls: BTreeMap<u32, VecDeque<(String, String)>>,
    /// Texts of results that the model has not answered to.
    unanswered: Vec<String>,
    folders: BTreeSet<String>,
    /// Phase, attempt and id of each completed todo, with the todo as it was then.
    completed: BTreeMap<(u32, u32, u32), Todo>,
    /// Number, attempt and end of the last phase.
    last_phase: Option<(u32, u32, PhaseKind, Option<Why>)>,
    /// The folder of a phase that has ended and is not archived yet.
    unarchived: Option<String>,
    early: EarlyEnds,
    turns: u64,
    epochs: u32,
    /// Calls of the newest reply, and decisions since.
    since: (usize, usize),
    /// Replies to the present planning.
    planned: u32,
    reviewed: bool,
    approved: bool,
}

#[derive(Default)]
struct EarlyEnds {
    in_a_row: u32,
    in_all: u32,
    number: Option<u32>,
}

impl Ledger {
    pub(crate) fn book(&mut self, before: &Job, decision: &Decision, after: &Job) {
        assert!(before.ended().is_none(), "an end is an end, and this was decided after it: {:?}", decision.events);
        for event in &decision.events {
            self.calls(before, event);
            self.phases(event);
            Self::todos(before, event);
            self.ends(before, event);
            self.epochs(before, event);
        }
        for (conversation, open) in &self.open_calls {
            let calls = after.conversation(*conversation).map(|one| &one.calls);
            let pending = calls.map(|calls| calls.pending.iter().map(|call| &call.said.id).collect::<Vec<_>>());
            let open: Vec<&String> = open.iter().map(|(id, _)| id).collect();
            assert_eq!(pending.unwrap_or_default(), open, "every tool call of {conversation} gets exactly one result");
        }
        todo_list(after);
        self.kept(before, after);
        self.goes_on(before, decision, after);
        limits(before, decision);
    }

    /// "Every tool call gets exactly one result, always", in the calls' order; no turn comes twice.
    fn calls(&mut self, before: &Job, event: &Event) {
        match event {
            Event::Conversation(ConversationEvent::ModelReplied { conversation, calls, turn, .. }) => {
                let open = self.open_calls.entry(*conversation).or_default();
                assert!(open.is_empty(), "the model is asked while calls wait: {open:?}");
                self.turns += 1;
                assert_eq!(*turn, self.turns);
                *open = calls.iter().map(|call| (call.said.id.clone(), call.said.name.clone())).collect();
                let ids: HashSet<&str> = calls.iter().map(|call| call.said.id.as_str()).collect();
                assert_eq!(ids.len(), calls.len(), "two calls of one name");
                // The digest is of what was done before, and answers to no result.
                if *conversation == 0 && before.progress != Progress::Digesting {
                    self.unanswered.clear();
                }
            }
            Event::Tool(ToolEvent::ToolReturned { conversation, call, name, result, .. }) => {
                let asked = self.open_calls.entry(*conversation).or_default().pop_front();
                assert_eq!(asked.as_ref(), Some(&(call.clone(), name.clone())), "a result without its call");
                let share = room(&before.spec) * if result.shown.is_some() { 20 } else { 10 } / 100;
                let tokens = estimate(&result.text);
                assert!(tokens <= share + SLACK, "{name} gave {tokens} tokens, {share} are allowed");
                if *conversation == 0 {
                    self.unanswered.push(result.text.clone());
                }
            }
            Event::Tool(ToolEvent::ToolStarted { conversation, call, .. }) => {
                assert_eq!(
                    self.open_calls[conversation].front().map(|(id, _)| id),
                    Some(call),
                    "another call was begun"
                );
            }
            Event::Conversation(
                ConversationEvent::EpochOpened { conversation, .. }
                | ConversationEvent::BoardShown { conversation, .. }
                | ConversationEvent::SubAgentEnded { conversation, .. },
            ) => {
                let open = self.open_calls.entry(*conversation).or_default();
                assert!(open.is_empty(), "no result for {open:?} at {event:?}");
            }
            Event::Life(LifeEvent::JobEnded { .. }) => {
                let open: Vec<_> = self.open_calls.values().flatten().collect();
                assert!(open.is_empty(), "no result for {open:?} at the end");
            }
            _ => {}
        }
    }

    /// An archive is never overwritten; phases count up, an early end repeats its phase, and at most 3 in a
    /// row for one phase and 10 in a job are followed by another try.
    fn phases(&mut self, event: &Event) {
        match event {
            Event::Phase(PhaseEvent::PhaseStarted { number, attempt, kind, todos, .. }) => {
                let expected = match &self.last_phase {
                    None => (1, 1),
                    Some((number, attempt, kind, Some(why))) if why.is_early_end() && *kind != PhaseKind::Bootstrap => {
                        (*number, attempt + 1)
                    }
                    Some((number, _, _, Some(_))) => (number + 1, 1),
                    Some((number, _, _, None)) => panic!("phase {number} has not ended yet"),
                };
                // The bootstrap stands in the job's first decision, which is not looked at.
                assert!((*number, *attempt) == expected || self.last_phase.is_none(), "phase {number}.{attempt}");
                assert!(self.early.in_a_row <= 3 && self.early.in_all <= 10, "re-planned too often");
                assert!(todos.iter().any(|todo| todo.status.is_open()), "a phase without work");
                assert_eq!(self.unarchived, None, "a phase begins before the last one is archived");
                self.last_phase = Some((*number, *attempt, *kind, None));
            }
            // Of a result that a person has sent back.
            Event::Phase(PhaseEvent::ArchiveStored { folder, .. }) if folder.starts_with("result-") => {
                assert!(self.folders.insert(folder.clone()), "{folder} is archived twice");
            }
            Event::Phase(PhaseEvent::ArchiveStored { folder, .. }) => {
                assert_eq!(self.unarchived.take().as_ref(), Some(folder), "archived without an end");
            }
            Event::Phase(PhaseEvent::PhaseEnded { why, folder }) => {
                assert_eq!(self.unarchived.replace(folder.clone()), None, "a phase is over and not archived");
                assert!(self.folders.insert(folder.clone()), "{folder} is archived twice");
                let (number, attempt, kind, _) = self.last_phase.take().unwrap_or((0, 1, PhaseKind::Bootstrap, None));
                assert!(folder.starts_with(&format!("phase-{number:02}-")), "{folder} for phase {number}");
                if why.is_early_end() {
                    let same = self.early.number == Some(number);
                    self.early.in_a_row = if same { self.early.in_a_row + 1 } else { 1 };
                    self.early.in_all += 1;
                    self.early.number = Some(number);
                } else {
                    self.early.in_a_row = 0;
                }
                self.last_phase = Some((number, attempt, kind, Some(why.clone())));
            }
            Event::Person(PersonEvent::FeedbackGiven { .. }) => self.early = EarlyEnds::default(),
            _ => {}
        }
    }

    /// Only an open todo is completed, and only once; a list that replaces another keeps all that is in it.
    fn todos(before: &Job, event: &Event) {
        match event {
            Event::Phase(PhaseEvent::TodoCompleted { id, .. }) => {
                let todo = before.phase.todos.all().iter().find(|todo| todo.id == *id).expect("no such todo");
                assert!(todo.status.is_open(), "todo {id} is {} and was completed", todo.status);
            }
            // Those of planning are the next phase's.
            Event::Phase(PhaseEvent::TodosWritten { todos }) if before.planning().is_none() => {
                for old in before.phase.todos.all() {
                    let new = todos.iter().find(|todo| todo.id == old.id);
                    let new = new.unwrap_or_else(|| panic!("todo {} '{}' was deleted", old.id, old.content));
                    assert!(old.status.is_open() || new.status == old.status, "todo {} was reopened", old.id);
                    assert!(
                        new.status != TodoStatus::Completed || old.status == TodoStatus::Completed,
                        "todo {} was completed by todo_write",
                        old.id
                    );
                }
            }
            _ => {}
        }
    }

    /// Completed todos stay as they were, in the running phase and in the ended ones; ended phases stay as they were.
    fn kept(&mut self, before: &Job, after: &Job) {
        assert_eq!(after.past[..before.past.len()], before.past[..], "a phase that ended was changed");
        let phases = after.past.last().map(|past| &past.phase).into_iter().chain([&after.phase]);
        for phase in phases {
            let mut found = 0;
            for todo in phase.todos.all().iter().filter(|todo| todo.status == TodoStatus::Completed) {
                let then = self.completed.entry((phase.number, phase.attempt, todo.id)).or_insert_with(|| todo.clone());
                assert_eq!(&Todo { order: then.order, ..todo.clone() }, then, "a completed todo was changed");
                found += 1;
            }
            let range = (phase.number, phase.attempt, 0)..=(phase.number, phase.attempt, u32::MAX);
            assert_eq!(found, self.completed.range(range).count(), "a completed todo was lost or reopened");
        }
    }

    /// Never is less than the contract called `completed`; an end owes nothing.
    fn ends(&mut self, before: &Job, event: &Event) {
        match event {
            Event::Life(LifeEvent::Held { reason: HoldReason::Review, .. }) => {
                assert_eq!(before.spec.instructions.review, Review::Required);
                self.reviewed = true;
            }
            Event::Person(PersonEvent::FeedbackGiven { .. }) => self.reviewed = false,
            Event::Person(PersonEvent::Approved { .. }) => {
                assert!(self.reviewed);
                self.approved = true;
            }
            Event::Life(LifeEvent::JobEnded { ending }) => match ending.status {
                JobStatus::Completed => {
                    assert!(!ending.checks.is_empty() && ending.checks.iter().all(|check| check.passed), "{ending:?}");
                    assert!(ending.checks.iter().any(|check| check.name == "coverage"));
                    assert_eq!(ending.deliverables.len(), before.spec.instructions.deliverables.len());
                    let sure = ending.completion.as_ref().map(|completion| completion.confidence);
                    assert!(sure >= Some(before.spec.instructions.confidence_floor), "{sure:?}");
                    assert!(self.approved || before.spec.instructions.review == Review::None, "nobody approved it");
                }
                JobStatus::Partial | JobStatus::Blocked | JobStatus::Failed | JobStatus::Cancelled => {
                    assert!(ending.reason.as_ref().is_some_and(|reason| !reason.is_empty()), "an end without a reason");
                }
                JobStatus::Queued | JobStatus::Running | JobStatus::Waiting | JobStatus::Held => {
                    panic!("{} is no end", ending.status)
                }
            },
            _ => {}
        }
    }

    /// Epochs count up; an opening is bounded, holds all that the model has not answered to, or says how much it leaves out;
    /// a board is shown in full only where it has changed.
    fn epochs(&mut self, before: &Job, event: &Event) {
        match event {
            Event::Conversation(ConversationEvent::EpochOpened {
                conversation: 0,
                number,
                cause,
                opening,
                tokens,
                ..
            }) => {
                self.epochs += 1;
                assert_eq!(*number, self.epochs, "epochs are counted without a gap");
                assert_eq!(*cause == EpochCause::Begun, self.epochs == 1);
                let texts: Vec<&str> = opening.iter().map(overnight_core::job::part::Part::text).collect();
                let percent = if before.own.epoch.unanswered().is_empty() { 50 } else { 85 };
                let most = room(&before.spec) * percent / 100;
                let size = estimate(&texts.concat());
                assert!(size <= most, "{size} tokens in an opening, {most} are allowed:\n{}", texts.concat());
                assert!(*tokens >= size, "{tokens} counted for {size}");
                let board = todo_board::render(before);
                assert_eq!(texts.last(), Some(&board.as_str()), "the board is the last word");
                let mut places = texts.iter();
                let whole = self.unanswered.iter().take_while(|text| places.any(|part| part == text)).count();
                let left_out = self.unanswered.len() - whole;
                let told = answer!("opening.more_results", number = left_out);
                let counted = texts.iter().any(|part| part.trim_start() == told);
                assert_eq!(counted, left_out > 0, "{whole} of {} results:\n{}", self.unanswered.len(), texts.concat());
            }
            Event::Conversation(ConversationEvent::BoardShown { conversation: 0, board, kind, .. }) => {
                let stands = before.own.epoch.board();
                assert_ne!(board.as_deref(), stands, "the board stands in the epoch already, or there is none");
                let is_digest = *kind == BoardKind::Digest;
                assert!(is_digest || board.as_deref().or(stands) == Some(&*todo_board::render(before)), "an old board");
            }
            _ => {}
        }
    }

    /// What is owed between two replies comes to an end, and so does planning; what is sent has room.
    fn goes_on(&mut self, before: &Job, decision: &Decision, after: &Job) {
        self.since.1 += 1;
        match &decision.events[..] {
            [Event::Plan(PlanEvent::FilesExamined { files }), ..] => {
                let titles = |plan: &Plan| plan.phases().iter().map(|phase| phase.title.clone()).collect::<Vec<_>>();
                if let Some(Ok(plan)) = files.plan.as_ref().map(|text| Plan::parse(text.text())) {
                    assert_eq!(
                        after.plan.as_ref().map(titles),
                        Some(titles(&plan)),
                        "the plan is what stands on the disk"
                    );
                }
            }
            [Event::Conversation(ConversationEvent::ModelReplied { calls, .. }), ..] => {
                // What a sub-agent was asked in the middle of goes on behind its end.
                let waiting = before.conversations().map(|one| one.calls.pending.len()).sum::<usize>();
                self.since = (calls.len() + waiting, 0);
                self.planned += u32::from(before.planning().is_some());
            }
            [
                Event::Life(LifeEvent::Held { .. } | LifeEvent::Resumed { .. } | LifeEvent::Opened { .. })
                | Event::Conversation(ConversationEvent::AttemptFailed { .. } | ConversationEvent::CallSubmitted { .. })
                | Event::Person(
                    PersonEvent::ModelChosen { .. }
                    | PersonEvent::FilesEdited { .. }
                    | PersonEvent::FeedbackGiven { .. }
                    | PersonEvent::Approved { .. },
                ),
                ..,
            ] => self.since.1 = 0,
            _ => {}
        }
        if after.planning().is_none() {
            self.planned = 0;
        }
        let most = DECISIONS_A_TURN + DECISIONS_A_CALL * self.since.0;
        assert!(self.since.1 <= most, "{} decisions since the last reply", self.since.1);
        assert!(self.planned <= PLANNING_ASKED + PLANNING_TRIES, "{} replies to one planning", self.planned);
    }
}

/// The budget as it would be counted here, by the ratio that the last reply showed.
pub(crate) fn local_budget(job: &Job, of: &Conversation) -> u64 {
    let budget = job.spec.budget_tokens;
    of.counted.map_or(budget, |(counted, local)| budget * local / counted)
}

/// A prompt that is about to be sent has room: an opening with nothing behind it in half of what there is, any other
/// prompt in 70 % of the budget, as the provider counts, both without the results of the last reply; with them, an opening in 85 %
/// of what there is, and any other in the budget. Nothing of it is left uncounted.
pub(crate) fn has_room(job: &Job, of: &Conversation) {
    let (tokens, budget) = (local_tokens(of), local_budget(job, of));
    let history = &of.epoch;
    let results = if of.is_own() { history.unanswered_tokens() } else { 0 };
    if history.conversation_tokens() > 0 {
        assert!((tokens - results) * 100 <= budget * 70, "an epoch ends at 70 %, {tokens} of {budget} are sent");
        assert!(tokens <= budget, "{tokens} of {budget} are sent");
    } else {
        let fixed = fixed_tokens(of.tools, &of.system_prompt);
        let room = budget.saturating_sub(fixed);
        let most = fixed + (room * if results == 0 { 50 } else { 85 } / 100).max(LEAST_OPENING);
        assert!(tokens <= most, "{tokens} of {budget} tokens in an opening");
    }
    let said = |message: &Message| match message {
        Message::System { .. } => 0,
        Message::User { text, .. } | Message::Tool { text, .. } | Message::Assistant { text, .. } => estimate(text),
    };
    let said: u64 = history.messages().iter().map(|message| said(message)).sum();
    assert!(said <= history.tokens(), "{said} tokens are said, {} counted", history.tokens());
}

/// One `in_progress` at most, and exactly one while there is work; no empty and no duplicate content.
fn todo_list(job: &Job) {
    let todos = job.phase.todos.all();
    let running = todos.iter().filter(|todo| todo.status == TodoStatus::InProgress).count();
    let open = todos.iter().filter(|todo| todo.status.is_open()).count();
    match job.progress {
        Progress::Executing | Progress::Digesting => {
            assert_eq!(running, 1, "todos in progress while the phase is worked");
        }
        Progress::Summarising { why: None } | Progress::Examining { why: None } => assert_eq!(open, 5, "the bootstrap"),
        Progress::Archiving { .. }
        | Progress::Summarising { .. }
        | Progress::Examining { .. }
        | Progress::Planning(_)
        | Progress::Closing { .. } => assert_eq!(open, 0, "open todos of a phase that has ended"),
    }
    let mut contents = HashSet::new();
    let mut ids = HashSet::new();
    for todo in todos {
        assert!(ids.insert(todo.id), "two todos {}", todo.id);
        for text in [&todo.content, &todo.active_form] {
            assert!((1..=500).contains(&text.chars().count()) && !text.contains('\n'), "'{text}'");
        }
        if todo.status != TodoStatus::Cancelled {
            assert!(contents.insert(key(&todo.content)), "'{}' is twice in the list", todo.content);
        }
    }
    let most = job.spec.instructions.phase.max_todos as usize + 2;
    assert!(job.phase.kind != PhaseKind::Planned || job.phase.todos.counts().tasks() <= most, "more than {most} tasks");
}

/// A job's limits hold it before the next model call, a phase's and a todo's re-plan it.
fn limits(before: &Job, decision: &Decision) {
    if !decision.events.iter().any(|event| matches!(event, Event::Conversation(ConversationEvent::ModelReplied { .. })))
    {
        return;
    }
    let (limits, spent) = (&before.limits, &before.totals.spent);
    assert!(matches!(before.status, Status::Running));
    assert!(spent.turns < limits.turns, "{} turns", spent.turns);
    assert!(limits.tokens.is_none_or(|most| spent.tokens() < most));
    assert!(limits.cost_usd.is_none_or(|most| spent.cost_usd < most));
    assert!(limits.wall_clock_ms.is_none_or(|most| before.totals.worked_ms < most));
    if !before.sub_agents.is_empty() {
        return;
    }
    let turns = before.phase.spent.turns - before.phase.sub_agent_turns;
    if before.is_bootstrap() {
        assert!(turns < BOOTSTRAP_TURNS, "{turns} turns in the bootstrap");
    } else if before.progress == Progress::Executing {
        assert!(turns < limits.turns_per_phase, "{turns} turns in the phase");
        assert!(before.own.effort.turns < limits.turns_per_todo, "{} turns on a todo", before.own.effort.turns);
    }
}
