//! Rebuilds the prompt of a turn byte for byte: the journal up to that turn gives the state, and the prompt depends on the state alone.

use super::{AuditError, tools::RecordedTools};
use crate::workspace::{Workspace, chain, journal};
use overnight_core::{
    job::{
        event::{ConversationEvent, Decision, Event},
        state::Job,
    },
    message::Prompt,
    prompt::compose::{self, prompt_sha256},
};
use std::path::Path;

/// A prompt, made anew.
#[derive(Clone, Debug)]
pub struct Rebuilt {
    pub prompt: Prompt,
    /// Hash of the prompt that was sent, as recorded in the journal.
    pub recorded_sha256: String,
    /// Hash of the rebuilt prompt.
    pub sha256: String,
    /// The tools are described as they were then: their list has the hash that the journal names.
    pub are_tools_recorded: bool,
}

impl Rebuilt {
    /// If they differ, another version of the program made the prompt.
    pub fn is_same(&self) -> bool {
        self.recorded_sha256 == self.sha256
    }
}

/// The prompt of `turn`, from 1, of the job whose workspace is at `path`.
pub fn prompt(path: &Path, turn: u64) -> Result<Rebuilt, AuditError> {
    let workspace = Workspace::open(path)?;
    let mut job: Option<Job> = None;
    let mut found: Option<Rebuilt> = None;
    let mut turns = 0;
    let mut tools = RecordedTools::open(&workspace);
    journal::read(&workspace, |line: chain::JournalLine<Event>| {
        let decision = Decision { at: line.at, events: line.events };
        let Some(job) = &mut job else {
            job = Some(Job::begin(&decision).ok_or("the first line does not begin a job")?);
            return Ok(());
        };
        for event in &decision.events {
            tools.observe(event);
            if let Event::Conversation(ConversationEvent::ModelReplied {
                conversation,
                turn: replied,
                prompt_sha256: recorded,
                ..
            }) = event
            {
                turns = *replied;
                if *replied == turn {
                    let given = tools.given(job, *conversation);
                    let composed = compose::prompt(job.conversation(*conversation).unwrap_or(&job.own));
                    let prompt = Prompt { tools: given.specs, ..composed };
                    found = Some(Rebuilt {
                        sha256: prompt_sha256(&prompt),
                        prompt,
                        recorded_sha256: recorded.clone(),
                        are_tools_recorded: given.are_recorded,
                    });
                }
            }
            // The rest is only read to count its turns and to check the chain.
            if found.is_none() {
                job.apply(decision.at, event);
            }
        }
        Ok(())
    })?;
    if job.is_none() {
        return Err(AuditError::Empty { path: path.display().to_string() });
    }
    found.ok_or(AuditError::NoTurn { number: turn, turns })
}
