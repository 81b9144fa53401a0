//! The text of an event for people.

use overnight_core::{
    amount::counted,
    job::{
        contract::Check,
        event::{
            BoardKind, CallEnd, ConversationEvent, EpochCause, Event, LifeEvent, PersonEvent, PhaseEvent, PlanEvent,
            PlanningEnd, ProofEvent, ToolEvent, ToolResult,
        },
        finding::CorrectedQuote,
        state::Job,
        todo::Todo,
        tool::Tool,
    },
    message::Stop,
    tokens::head,
};

/// Tokens at most that are shown of a text by a model or a tool.
const SAID_TOKENS: u64 = 40;

/// Describes `event`; `None` if another event of the same decision describes it. `job` is the state before it.
pub fn of(job: &Job, event: &Event) -> Option<String> {
    Some(match event {
        Event::Life(LifeEvent::JobCreated { spec, .. }) => format!(
            "job {} created: {}, {}, model {}",
            spec.id,
            spec.instructions.name,
            counted(spec.documents.len() as u64, "document"),
            spec.model
        ),
        Event::Life(LifeEvent::Opened { version, model, torn_bytes, .. }) => {
            let torn = torn_bytes.map(|bytes| format!("; {bytes} bytes of an unfinished line were cut off"));
            format!("opened by overnight {version} with model {model}{}", torn.unwrap_or_default())
        }
        Event::Phase(PhaseEvent::PhaseStarted { number, attempt, title, todos, .. }) => {
            let again = if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
            format!("phase {number} '{title}'{again} started: {}", counted(todos.len() as u64, "todo"))
        }
        Event::Phase(PhaseEvent::PhaseEnded { why, .. }) => {
            let issue = why.issue().map(|issue| format!(": {issue}")).unwrap_or_default();
            format!("phase {} '{}' ended, {}{issue}", job.phase.number, job.phase.title, why.outcome())
        }
        Event::Phase(PhaseEvent::ArchiveStored { folder, .. }) => format!("archived in archive/{folder}"),
        Event::Phase(PhaseEvent::SummaryWritten { .. }) => "workspace_summary.md written".to_owned(),
        Event::Plan(PlanEvent::FilesExamined { files }) => {
            let there = |there: bool| if there { "" } else { "no " };
            format!(
                "files read from disk: instructions.md, workspace_summary.md, {}main_plan.md, {}workspace.md",
                there(files.plan.is_some()),
                there(files.memory.is_some())
            )
        }
        Event::Plan(PlanEvent::PlanSet { because, .. }) => format!("plan changed by the system: {because}"),
        Event::Plan(PlanEvent::FileWritten { path }) => format!("{path} written"),
        Event::Plan(PlanEvent::PlanRead { .. }) => "plan read from the disk".to_owned(),
        Event::Plan(PlanEvent::PlanSaved { phases, .. }) => {
            format!("plan saved: {}", counted(phases.len() as u64, "phase"))
        }
        Event::Plan(PlanEvent::MemorySaved { .. }) => "memory saved".to_owned(),
        Event::Person(PersonEvent::FilesEdited { files, .. }) => format!("edited by a person: {}", files.join(", ")),
        Event::Plan(PlanEvent::PlanningRefused { reason }) => format!("not taken: {reason}"),
        Event::Plan(PlanEvent::PlanningEnded { end, memory_waived }) => {
            let end = match end {
                PlanningEnd::Done => "planning done",
                PlanningEnd::FellBack => "fallback: the model did not plan within its tries; the plan stands as it was",
            };
            format!("{end}{}", if *memory_waived { "; the memory was not saved" } else { "" })
        }
        Event::Plan(PlanEvent::TodosWarned { warning }) => format!("warning: {warning}"),
        Event::Phase(PhaseEvent::TodosWritten { todos }) => {
            let open = todos.iter().filter(|todo| todo.status.is_open()).count();
            format!("todo list rewritten: {open} open of {}", todos.len())
        }
        Event::Phase(PhaseEvent::TodoCompleted { id, outcome, unevidenced }) => {
            let mark = if *unevidenced { " (unevidenced)" } else { "" };
            let outcome = outcome.as_ref().map(|outcome| format!(": {outcome}")).unwrap_or_default();
            format!("{} completed{mark}{outcome}", todo(job, *id))
        }
        Event::Conversation(ConversationEvent::EpochOpened { number, cause, tokens, .. }) => {
            format!("epoch {number} opened ({}): {tokens} tokens", cause_text(*cause))
        }
        Event::Conversation(ConversationEvent::BoardShown { kind: BoardKind::Planning, .. }) => {
            "asked for planning".to_owned()
        }
        Event::Conversation(ConversationEvent::BoardShown { kind: BoardKind::Digest, .. }) => {
            "asked for a digest".to_owned()
        }
        Event::Phase(PhaseEvent::TodoCompletionRefused { .. })
        | Event::Conversation(ConversationEvent::BoardShown { kind: BoardKind::Todos | BoardKind::SubAgent, .. }) => {
            return None;
        }
        Event::Conversation(ConversationEvent::CompactionNotDue { prompt_tokens, .. }) => {
            format!("the epoch goes on: the job fits in one piece (prompt of {prompt_tokens} tokens)")
        }
        Event::Proof(ProofEvent::ChecksMade { checks }) => {
            let passed = checks.iter().filter(|check| check.passed).count();
            format!("checks at the review's beginning: {passed} of {} pass", checks.len())
        }
        Event::Conversation(ConversationEvent::ModelReplied { text, calls, usage, stop, .. }) => {
            let names: Vec<&str> = calls.iter().map(|call| call.said.name.as_str()).collect();
            let calls = if names.is_empty() {
                format!("no calls: {}", reply_text(text))
            } else {
                format!("{}: {}", counted(names.len() as u64, "call"), names.join(", "))
            };
            let stop = match stop {
                Stop::Done => "",
                Stop::Length => ", cut at the token limit",
                Stop::Refused => ", withheld by the provider",
            };
            format!("model replied ({} tokens in, {} out{stop}): {calls}", usage.input, usage.output)
        }
        Event::Conversation(ConversationEvent::AttemptFailed {
            turn,
            attempt,
            kind,
            status,
            wait_ms,
            reason,
            received,
            ..
        }) => {
            let status = status.map(|status| format!(" {status}")).unwrap_or_default();
            let received = received.as_deref().map(|text| format!("; what came: {}", reply_text(text)));
            let received = received.unwrap_or_default();
            format!("turn {turn}, attempt {attempt} failed ({kind}{status}), again in {wait_ms} ms: {reason}{received}")
        }
        Event::Conversation(ConversationEvent::CallSubmitted { turn, call, .. }) => {
            format!(
                "turn {turn} was handed in to {} as {}; waited for until {}",
                call.model, call.handle, call.waits_until
            )
        }
        Event::Tool(ToolEvent::ToolStarted { conversation, .. }) => {
            let call = job.conversation(*conversation).and_then(|one| one.calls.pending.front());
            format!("{} begins", call.map_or("a call", |call| call.said.name.as_str()))
        }
        Event::Tool(ToolEvent::ToolReturned { name, result, .. }) if is_logged(name, result) => return None,
        Event::Tool(ToolEvent::ToolReturned { name, result, .. }) => format!("{name} {}", returned(result)),
        Event::Phase(PhaseEvent::AccomplishmentAdded { text }) => format!("accomplishment: {text}"),
        Event::Phase(PhaseEvent::LessonProposed { lesson }) => {
            format!("lesson proposed: {} ({})", lesson.text, lesson.evidence)
        }
        Event::Phase(PhaseEvent::NoteAdded { text }) => format!("note: {text}"),
        Event::Conversation(ConversationEvent::SubAgentStarted { conversation, role, model, .. }) => {
            let model = model.as_ref().map(|model| format!(", model {model}")).unwrap_or_default();
            format!("sub-agent {conversation} begins: {}{model}", role.told())
        }
        Event::Conversation(ConversationEvent::SubAgentEnded { conversation, end, report }) => {
            let report = if report.is_empty() { String::new() } else { format!(": {}", reply_text(report)) };
            format!("sub-agent {conversation} {}{report}", end.told())
        }
        Event::Conversation(ConversationEvent::DocumentsGiven { calls, .. }) => {
            format!("text is given with the opening: {}", counted(calls.len() as u64, "part"))
        }
        Event::Proof(ProofEvent::PartReadingBegun { parts }) => {
            format!("the documents are read side by side: {}", counted(parts.len() as u64, "part"))
        }
        Event::Proof(ProofEvent::PartsRead { doubled }) => {
            format!("all parts are read, {} quoted twice", counted(doubled.len() as u64, "place"))
        }
        Event::Proof(ProofEvent::PagesRead { documents, pages }) => {
            let gaps = pages.iter().filter(|page| page.gap.is_some()).count();
            format!(
                "{} of {} transcribed, {} of them left as gaps",
                counted(pages.len() as u64, "scanned page"),
                counted(documents.len() as u64, "document"),
                gaps
            )
        }
        Event::Proof(ProofEvent::SecondReadingBegun { seed, units }) => {
            format!("second reading begins: {} (seed {seed})", counted(units.len() as u64, "part"))
        }
        Event::Proof(ProofEvent::ListsCompared { comparison, findings }) => format!(
            "lists compared: {} records in both, {} in the first only, {} in the second only; {}",
            comparison.both,
            comparison.first - comparison.both,
            comparison.second - comparison.both,
            counted(findings.len() as u64, "finding")
        ),
        Event::Proof(ProofEvent::VerdictGiven { round, verdict, findings, .. }) => {
            format!("verifier, round {round}: {}, {}", verdict.told(), counted(findings.len() as u64, "finding"))
        }
        Event::Proof(ProofEvent::FindingSettled { id, settlement, by }) => {
            format!("finding {id} settled by {by}: {}", settlement.told())
        }
        Event::Proof(ProofEvent::CompletionRefused { checks }) => format!("checks failed: {}", failed(checks)),
        Event::Life(LifeEvent::EndingDecided { ending }) => format!("the job will end as {}", ending.status),
        Event::Life(LifeEvent::Held { reason, detail }) => format!("held ({reason}): {detail}"),
        Event::Life(LifeEvent::Resumed { .. }) => "resumed".to_owned(),
        Event::Person(PersonEvent::FeedbackGiven { number, text, by, .. }) => {
            format!("feedback {number}{}: {text}", by_whom(by.as_ref()))
        }
        Event::Life(LifeEvent::TierChanged { tier, reason }) => {
            format!("the {} tier from here on: {reason}", tier.name())
        }
        Event::Person(PersonEvent::ModelChosen { choice }) => format!(
            "a person chose the model {} at {}",
            choice.model,
            choice.base_url.as_deref().unwrap_or("its provider's own server")
        ),
        Event::Person(PersonEvent::Approved { by, comment, seen }) => {
            let seen = seen.as_ref().map(|seen| format!(" {}", seen.told())).unwrap_or_default();
            format!("approved by {}{seen}{}", by.as_deref().unwrap_or("a person"), commented(comment.as_ref()))
        }
        Event::Person(PersonEvent::RecordApproved { file, record, by, comment }) => {
            format!("record {record} of {file} approved by {by}{}", commented(comment.as_ref()))
        }
        Event::Person(PersonEvent::FieldCorrected { finding, path, .. }) => {
            let settled = finding.settled.as_ref();
            let what = settled.map(|it| format!("{} by {}", it.settlement.told(), it.by)).unwrap_or_default();
            let place = finding.place.as_deref().unwrap_or_default();
            let why = if finding.text.is_empty() { String::new() } else { format!(": {}", finding.text) };
            let told = |quote: &CorrectedQuote| match &quote.wrong {
                Some(wrong) => format!("; its quote is not found: {wrong}"),
                None => "; its quote is found".to_owned(),
            };
            let quotes = finding.quotes.iter().map(told).collect::<Vec<_>>().concat();
            format!("{} {place}: {what}; with all corrections in {path}{why}{quotes}", finding.id)
        }
        Event::Person(PersonEvent::DocumentsAdded { documents, by }) => {
            let names: Vec<&str> = documents.iter().map(|document| document.name.as_str()).collect();
            format!("documents added{}: {}", by_whom(by.as_ref()), names.join(", "))
        }
        Event::Life(LifeEvent::JobEnded { ending }) => {
            let reason = ending.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("job {}{reason}", ending.status)
        }
    })
}

fn by_whom(by: Option<&String>) -> String {
    by.map(|by| format!(" by {by}")).unwrap_or_default()
}

fn commented(comment: Option<&String>) -> String {
    comment.map(|comment| format!(": {comment}")).unwrap_or_default()
}

pub(super) fn cause_text(cause: EpochCause) -> &'static str {
    match cause {
        EpochCause::Begun => "the job begins",
        EpochCause::PhaseEnded => "a phase has ended",
        EpochCause::TodoEnded => "a todo has ended",
        EpochCause::Full => "the prompt was full",
        EpochCause::HistoryRefused => "the provider refused its own reasoning with the history",
        EpochCause::TooLong => "the prompt was too long for the model",
        EpochCause::Feedback => "feedback",
        EpochCause::ModelChanged => "another model",
        EpochCause::ToolsChanged => "another version of the program",
        EpochCause::FilesEdited => "files edited by a person",
    }
}

/// Whether the call succeeded and the event that it caused describes it completely.
fn is_logged(name: &str, result: &ToolResult) -> bool {
    let tells_itself = [
        Tool::TodoComplete,
        Tool::TodoRewind,
        Tool::ArchiveAndReset,
        Tool::AddAccomplishment,
        Tool::AddNote,
        Tool::AddLesson,
    ];
    result.end == CallEnd::Done && Tool::named(name).is_some_and(|tool| tells_itself.contains(&tool))
}

/// `todo 2 'Read section 4'`.
fn todo(job: &Job, id: u32) -> String {
    let list = &job.phase.todos;
    let content = list.all().iter().find(|todo| todo.id == id).map_or("", |todo: &Todo| todo.content.as_str());
    format!("todo {} '{content}'", list.number_of(id))
}

fn returned(result: &ToolResult) -> String {
    let end = match result.end {
        CallEnd::Done => "done",
        CallEnd::Failed => "failed",
        CallEnd::Refused => "refused",
        CallEnd::Skipped => "skipped",
        CallEnd::Interrupted => "interrupted",
    };
    let shown = match (&result.changed, &result.shown) {
        (Some(changed), _) => format!("{} now has {}", changed.path, counted(changed.bytes, "byte")),
        (None, Some(shown)) => {
            let lines = shown.lines.map(|lines| format!(", {lines}")).unwrap_or_default();
            format!("{} from {} to {}{lines}", shown.document, shown.from, shown.to)
        }
        (None, None) => reply_text(&result.text),
    };
    let whole = result.spilled.as_ref().map(|spilled| format!(" (whole in {})", spilled.path)).unwrap_or_default();
    let refused = match result.refused.len() as u64 {
        0 => String::new(),
        number => format!(", {} refused", counted(number, "record")),
    };
    format!("{end}: {shown}{whole}{refused}")
}

/// The beginning of a text.
fn reply_text(text: &str) -> String {
    let text = text.trim();
    let shown = head(text, SAID_TOKENS);
    format!("{shown}{}", if shown.len() < text.len() { "…" } else { "" })
}

fn failed(checks: &[Check]) -> String {
    let failed: Vec<String> =
        checks.iter().filter(|check| !check.passed).map(|check| format!("{}: {}", check.name, check.detail)).collect();
    failed.join("; ")
}
