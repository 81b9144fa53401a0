//! A reading call, on a thread of its own and no longer than `limits.tool_call` allows: a search goes through a hundred
//! megabytes. It changes nothing, so one that takes too long, or isn't wanted any more, is left to itself.

use super::{
    RunError,
    aside::aside,
    attempt::TICK,
    drive::{Drive, stopped},
    lease::Beat,
    session::Session,
};
use crate::tool::{self, ToolError};
use overnight_core::{
    job::{
        coverage::Coverage,
        step::{Answer, Ask},
        working::Working,
    },
    prompt::message::ToolCall,
};
use std::time::{Duration, Instant};

impl Drive<'_> {
    /// Answers `ask`, the reading call `call`. `None`: the work is to stop, or the job's state is not what it was.
    pub(super) async fn read(
        &mut self,
        session: &mut Session,
        beat: &mut Beat,
        ask: &Ask,
        (call, working): (&ToolCall, &Working),
    ) -> Result<Option<Answer>, RunError> {
        let taken_back = aside(|| {
            session.prepare(ask)?;
            Ok::<_, RunError>(tool::take_back(&session.workspace, &call.id, working))
        });
        if let Err(error) = taken_back? {
            return session.answer_read(call, working, Err(error)).map(Some);
        }
        let limit = Duration::from_millis(session.job.limits.tool_call_ms);
        let until = Instant::now() + limit;
        let mut reading = {
            let (spec, workspace, working) = (session.job.spec.clone(), session.workspace.clone(), working.clone());
            // Only a list of the documents tells of it, and it may be long.
            let is_list = matches!(working, Working::ListDocuments(_));
            let coverage = if is_list { session.job.coverage.clone() } else { Coverage::default() };
            let mut library = std::mem::take(&mut session.library);
            tokio::task::spawn_blocking(move || {
                let read = tool::read(&spec, &coverage, &workspace, &mut library, &working);
                (read, library)
            })
        };
        let read = loop {
            let left = until.saturating_duration_since(Instant::now());
            tokio::select! {
                biased;
                done = &mut reading => match done.map_err(tokio::task::JoinError::try_into_panic) {
                    Ok((read, library)) => {
                        session.library = library;
                        break read;
                    }
                    Err(Ok(panic)) => std::panic::resume_unwind(panic),
                    // The runtime ends.
                    Err(Err(_)) => return Ok(None),
                },
                () = stopped(&mut self.stop) => return Ok(None),
                () = tokio::time::sleep(left.min(TICK)) => {
                    if left.is_zero() {
                        break Err(ToolError::Tell(format!(
                            "{} took longer than {} and was given up; ask for less at once, or name a path",
                            call.name,
                            humantime::format_duration(limit)
                        )));
                    }
                    if !self.look_around(session, beat).await? {
                        return Ok(None);
                    }
                }
            }
        };
        aside(|| session.answer_read(call, working, read)).map(Some)
    }
}
