//! Reads the journal once and writes each page as soon as it is complete: an epoch's page when the next epoch opens, a
//! phase's page when the phase ends. So a long job takes no more memory than its longest phase and epoch.

use super::{
    RecordAnchor, RecordError,
    epoch_page::{EpochBegin, EpochPage},
    format,
    overview::OverviewPage,
    phase_page::{self, PhaseFacts, PhasePage, TimelineRow, TurnView},
};
use crate::{
    audit::{
        AuditError, event_text,
        people::PersonAct,
        plan_diff::plan_diff,
        timeline::Timeline,
        tools::{GivenTools, RecordedTools},
        verify::{RecordFault, Verified},
    },
    workspace::{Workspace, chain::JournalLine, journal},
};
use askama::Template;
use overnight_core::job::{
    answered::Answered,
    event::{ConversationEvent, Decision, Event, ToolEvent, ToolResult},
    state::Job,
    time::Timestamp,
};
use std::{collections::BTreeMap, path::Path};

/// The page of the events after the last phase.
const REST: &str = "after.html";

/// Takes a page: its name in the record, and its text.
type PutPage<'p> = &'p mut dyn FnMut(&str, &str) -> Result<(), RecordError>;

/// Writes all pages of the job whose workspace is at `path`.
pub(super) fn write(
    path: &Path,
    timeline: &Timeline,
    anchor: &RecordAnchor,
    verified: &Result<Verified, Vec<RecordFault>>,
    put: PutPage<'_>,
) -> Result<(), RecordError> {
    let workspace = Workspace::open(path)?;
    let mut pages = RecordPages {
        path,
        timeline,
        put,
        job: None,
        rows: Vec::new(),
        phase: 0,
        epochs: BTreeMap::new(),
        tools: RecordedTools::open(&workspace),
    };
    let mut fault = None;
    let read = journal::read(&workspace, |line: JournalLine<Event>| {
        if fault.is_none() {
            fault = pages.decision(&Decision { at: line.at, events: line.events }).err();
        }
        Ok(())
    });
    read.map_err(AuditError::from)?;
    if let Some(fault) = fault {
        return Err(fault);
    }
    let has_rest = pages.end()?;
    put("record.html", &OverviewPage::new(timeline, anchor, verified, has_rest).render()?)
}

struct RecordPages<'p> {
    path: &'p Path,
    timeline: &'p Timeline,
    put: PutPage<'p>,
    job: Option<Job>,
    /// Rows of the phase that is being read.
    rows: Vec<TimelineRow>,
    /// Index of that phase in the timeline.
    phase: usize,
    /// Pages of open epochs, by conversation.
    epochs: BTreeMap<u32, EpochPage>,
    tools: RecordedTools,
}

impl RecordPages<'_> {
    fn decision(&mut self, decision: &Decision) -> Result<(), RecordError> {
        let Some(mut job) = self.job.take() else {
            let Some(job) = Job::begin(decision) else { return Ok(()) };
            for event in &decision.events {
                self.row(&job, decision.at, event, None);
            }
            self.job = Some(job);
            return Ok(());
        };
        for event in &decision.events {
            let turn = self.before(&job, decision.at, event)?;
            self.row(&job, decision.at, event, turn);
            job.apply(decision.at, event);
            if let Event::Conversation(ConversationEvent::EpochOpened { conversation, number, cause, .. }) = event {
                let GivenTools { specs: tools, are_recorded } = self.tools.given(&job, *conversation);
                let page = EpochPage::new(EpochBegin {
                    conversation: *conversation,
                    number: *number,
                    role: role(&job, *conversation),
                    opened: format::moment(decision.at),
                    cause: *cause,
                    are_tools_same: are_recorded,
                    tools,
                });
                self.epochs.insert(*conversation, page);
            }
            if job.past.len() > self.phase {
                self.end_phase()?;
            }
        }
        self.job = Some(job);
        Ok(())
    }

    /// Updates the epochs' pages for an event that is not applied yet. Returns its turn if the event is a model call.
    fn before(&mut self, job: &Job, at: Timestamp, event: &Event) -> Result<Option<TurnView>, RecordError> {
        self.tools.observe(event);
        if let Event::Conversation(
            ConversationEvent::EpochOpened { conversation, .. } | ConversationEvent::SubAgentEnded { conversation, .. },
        ) = event
        {
            self.end_epoch(job, *conversation)?;
        }
        let Event::Conversation(ConversationEvent::ModelReplied {
            conversation,
            turn,
            text,
            calls,
            usage,
            cost_usd,
            prompt_sha256,
            ..
        }) = event
        else {
            return Ok(None);
        };
        let mut answered = job.answered.without_turns();
        answered.observe(event);
        let who = model(&answered);
        let (mut prompt, mut new_messages) = (String::new(), 0);
        if let (Some(page), Some(one)) = (self.epochs.get_mut(conversation), job.conversation(*conversation)) {
            let history = &one.epoch;
            new_messages = page.take(history);
            page.ask(*turn, format::moment(at), who.clone(), history, prompt_sha256);
            prompt = format!("{}#turn-{turn}", page.name());
        }
        Ok(Some(TurnView {
            number: *turn,
            prompt,
            new_messages,
            model: who,
            tokens: format::usage(usage),
            cost: format::cost(*cost_usd),
            role: role(job, *conversation),
            said: text.trim().to_owned(),
            calls: calls.iter().map(|call| (call.said.name.clone(), call.said.arguments.to_string())).collect(),
        }))
    }

    fn row(&mut self, job: &Job, at: Timestamp, event: &Event, turn: Option<TurnView>) {
        let person = PersonAct::of(job, at, event);
        let changed = if let Event::Tool(ToolEvent::ToolReturned { result: ToolResult { changed, .. }, .. }) = event {
            changed.as_ref()
        } else {
            None
        };
        let class = if turn.is_some() {
            "model"
        } else if person.is_some() {
            "person"
        } else if changed.is_some() {
            "written"
        } else if matches!(event, Event::Tool(ToolEvent::ToolReturned { .. })) {
            "result"
        } else {
            "runner"
        };
        let text = match person {
            Some(act) => Some(act.told()),
            None => event_text::of(job, event),
        };
        self.rows.extend(text.map(|text| TimelineRow {
            at: overnight_core::job::time::moment(at),
            class,
            text,
            turn,
            sha256: changed.map(|changed| changed.sha256.clone()),
        }));
    }

    fn end_epoch(&mut self, job: &Job, conversation: u32) -> Result<(), RecordError> {
        let Some(mut page) = self.epochs.remove(&conversation) else { return Ok(()) };
        if let Some(one) = job.conversation(conversation) {
            page.take(&one.epoch);
        }
        (self.put)(&format!("record/{}", page.name()), &page.render()?)
    }

    fn end_phase(&mut self) -> Result<(), RecordError> {
        let (place, phases) = (self.phase, &self.timeline.phases);
        self.phase += 1;
        let Some(phase) = phases.get(place) else { return Ok(()) };
        let link = |place: usize| phases.get(place).map(|phase| (phase_page::name(phase), phase_page::title(phase)));
        let diff = plan_diff(self.path, self.timeline, place)?;
        let page = PhasePage {
            title: phase_page::title(phase),
            facts: Some(PhaseFacts::of(phase, &self.timeline.job.spec, diff)),
            rows: std::mem::take(&mut self.rows),
            before: place.checked_sub(1).and_then(link),
            after: link(place + 1),
        };
        (self.put)(&format!("record/{}", phase_page::name(phase)), &page.render()?)
    }

    /// Writes the open pages. Returns whether there is a page of the events after the last phase.
    fn end(mut self) -> Result<bool, RecordError> {
        if let Some(job) = self.job.take() {
            for conversation in self.epochs.keys().copied().collect::<Vec<_>>() {
                self.end_epoch(&job, conversation)?;
            }
        }
        if self.phase < self.timeline.phases.len() {
            self.end_phase()?;
        }
        if self.rows.is_empty() {
            return Ok(false);
        }
        let last = self.timeline.phases.last().map(|phase| (phase_page::name(phase), phase_page::title(phase)));
        let rows = std::mem::take(&mut self.rows);
        let title = "Behind the last phase".to_owned();
        let page = PhasePage { title, facts: None, rows, before: last, after: None };
        (self.put)(&format!("record/{REST}"), &page.render()?)?;
        Ok(true)
    }
}

/// `sub-agent 2, second reader`; `None` for the job's own conversation.
fn role(job: &Job, conversation: u32) -> Option<String> {
    let role = job.conversation(conversation)?.role.as_ref()?;
    Some(format!("sub-agent {conversation}, {}", role.told()))
}

/// `openai:gpt-5.4, answered as gpt-5.4-2026-03-05, at the flex tier`.
fn model(answered: &Answered) -> String {
    answered.models.first().map_or_else(String::new, |one| {
        let name = one.answered_as.as_ref().map(|name| format!(", answered as {name}")).unwrap_or_default();
        format!("{}{name}, at the {} tier", one.model, one.tier.name())
    })
}
