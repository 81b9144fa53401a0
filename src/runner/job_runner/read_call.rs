//! A reading call, on a thread of its own and for no longer than `limits.tool_call` allows: a search may go through a hundred
//! megabytes. It changes nothing, so a call that takes too long, or isn't wanted any more, is abandoned.

use super::{JobRunner, model_call::TICK};
use crate::{
    blocking::run_blocking,
    runner::{RunError, lease::until_stopped, open_job::OpenJob},
    tool::{self, Eyes, ToolError},
};
use overnight_core::{
    answer,
    job::{call::ReadCall, coverage::Coverage},
    machine::effect::{Effect, EffectId, EffectResult},
    message::ToolCall,
    prompt::bounds::ResultBound,
};
use std::time::{Duration, Instant};

/// Performs `effect`, the reading call `call`. `None`: the work is to stop, or the job's state is not what it was.
pub(super) async fn read(
    runner: &mut JobRunner<'_>,
    opened: &mut OpenJob,
    id: EffectId,
    effect: &Effect,
    (call, work): (&ToolCall, &ReadCall),
) -> Result<Option<EffectResult>, RunError> {
    let Some(conversation) = opened.job.conversation(id.conversation) else { return Ok(None) };
    let bound = ResultBound::of(&opened.job.spec, conversation, work);
    let model = runner.models.asked(&opened.job, conversation)?;
    let eyes = runner.reader.clone().map(|reader| Eyes { model, reader });
    // Only a list of the documents shows them, and it may be long.
    let is_list = matches!(work, ReadCall::ListDocuments(_));
    let coverage = if is_list { conversation.coverage.clone() } else { Coverage::default() };
    let taken_back = run_blocking(|| {
        opened.prepare(effect)?;
        Ok::<_, RunError>(tool::take_back(&opened.workspace, &call.id, work))
    });
    if let Err(error) = taken_back? {
        return opened.answer_read(call, work, bound, Err(error)).map(Some);
    }
    let limit = Duration::from_millis(opened.job.limits.tool_call_ms);
    let until = Instant::now() + limit;
    let mut reading = {
        let (spec, workspace, work) = (opened.job.spec.clone(), opened.workspace.clone(), work.clone());
        let mut document_cache = std::mem::take(&mut opened.document_cache);
        tokio::task::spawn_blocking(move || {
            let read = tool::read(&spec, &coverage, &workspace, (&mut document_cache, eyes.as_ref()), &work, bound);
            (read, document_cache)
        })
    };
    let read = loop {
        let left = until.saturating_duration_since(Instant::now());
        tokio::select! {
            biased;
            done = &mut reading => match done.map_err(tokio::task::JoinError::try_into_panic) {
                Ok((read, document_cache)) => {
                    opened.document_cache = document_cache;
                    break read;
                }
                Err(Ok(panic)) => std::panic::resume_unwind(panic),
                // The runtime is shutting down.
                Err(Err(_)) => return Ok(None),
            },
            () = until_stopped(&mut runner.recorder.stop) => return Ok(None),
            () = tokio::time::sleep(left.min(TICK)) => {
                if left.is_zero() {
                    let limit = humantime::format_duration(limit);
                    break Err(ToolError::Tell(answer!("tool.took_too_long", tool = call.name, limit)));
                }
                if !runner.check_in(opened).await? {
                    return Ok(None);
                }
            }
        }
    };
    run_blocking(|| opened.answer_read(call, work, bound, read)).map(Some)
}
