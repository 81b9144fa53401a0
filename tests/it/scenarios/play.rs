//! Plays a scenario's steps on a job, as the command line would: every step opens the workspace as a new process does,
//! with the line of the journal that the database saw.

use super::{
    case::{Rest, Scenario, Step},
    ground::id,
};
use crate::support::approve;
use overnight::{
    runner::{Anchor, JobOutcome, JobRunner, OpenJob, RunReport},
    store::Store,
};
use overnight_core::{
    job::{
        event::{ConversationEvent, Event},
        record::HoldReason,
        rows::CheckpointExtent,
        state::{INSTRUCTIONS_FILE, Job},
    },
    machine::effect::Command,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A decision is on the disk.
#[derive(Clone, Copy)]
pub(crate) struct Line<'l> {
    /// Place of the step in the scenario.
    pub(crate) step: usize,
    /// The state after it.
    pub(crate) job: &'l Job,
    /// A process took the job up, and nothing else.
    pub(crate) is_opening: bool,
}

type Watch<'w> = &'w mut (dyn FnMut(Line<'_>) + Send);

/// Plays the steps from place `from` on. What went otherwise than the scenario says.
pub(crate) async fn play(
    scenario: &Scenario,
    from: usize,
    store: &dyn Store,
    path: &Path,
    watch: Watch<'_>,
) -> Result<(), String> {
    let mut stage = Stage { scenario, store, path, session: None };
    for (place, step) in scenario.steps.iter().enumerate().skip(from) {
        // Whoever drops this process does so before the next step: a person's hand on a file leaves no line to go on from.
        tokio::task::yield_now().await;
        stage.step(place, step, watch).await.map_err(|fault| format!("step {}: {fault}", place + 1))?;
    }
    match stage.session {
        None => Ok(()),
        Some(_) => Err("after a person's word the job is to be worked: add a step `work`".to_owned()),
    }
}

/// A job that rests: its row is written where the process that brought it to rest could not.
pub(crate) async fn settle(store: &dyn Store, path: &Path) -> Result<(), String> {
    let row = store.job(id(path)).await.map_err(told)?.ok_or("no row of the job")?;
    let mut session = open(store, path).await?;
    if row.state.status != session.job.job_status().0 {
        session.claim(store).await.map_err(told)?;
        session.checkpoint(store, CheckpointExtent::All).await.map_err(told)?;
    }
    Ok(())
}

struct Stage<'s> {
    scenario: &'s Scenario,
    store: &'s dyn Store,
    path: &'s Path,
    /// The process that has the job open.
    session: Option<OpenJob>,
}

impl Stage<'_> {
    async fn step(&mut self, place: usize, step: &Step, watch: Watch<'_>) -> Result<(), String> {
        if step.is_hand() && self.session.is_some() {
            return Err("a person's hand on a file comes before the word, not between word and work".to_owned());
        }
        match step {
            Step::Work(rest) => self.work(place, rest, watch).await,
            Step::Feedback(text) => {
                let present = fs::read_to_string(self.path.join(INSTRUCTIONS_FILE)).map_err(told)?;
                let number = self.session(place, watch).await?.job.feedback.len() + 1;
                let instructions = format!("{}\n\n## Feedback {number}\n\n{text}\n", present.trim_end());
                self.say(place, Command::Feedback { text: text.clone(), instructions, by: "Anna".to_owned() }, watch)
                    .await
            }
            Step::Approve => self.say(place, approve(), watch).await,
            Step::Resume(bounds) => {
                let mut limits = self.session(place, watch).await?.job.limits;
                limits.turns = bounds.turns.unwrap_or(limits.turns);
                limits.tokens = bounds.tokens.or(limits.tokens);
                limits.cost_usd = bounds.cost_usd.or(limits.cost_usd);
                limits.wall_clock_ms = bounds.wall_clock_ms.or(limits.wall_clock_ms);
                self.say(place, Command::Resume { limits }, watch).await
            }
            Step::Pause => {
                let detail = "paused by a person".to_owned();
                self.say(place, Command::Hold { reason: HoldReason::Paused, detail }, watch).await?;
                self.leave().await
            }
            Step::Cancel => {
                self.say(place, Command::Cancel, watch).await?;
                self.leave().await
            }
            Step::Edit { path, old, new } => {
                let text = fs::read_to_string(self.path.join(path)).map_err(told)?;
                match text.matches(old.as_str()).count() {
                    1 => fs::write(self.path.join(path), text.replacen(old, new, 1)).map_err(told),
                    count => Err(format!("'{old}' occurs {count} times in {path}")),
                }
            }
            Step::Write { path, text } => fs::write(self.place(path)?, text).map_err(told),
            Step::Delete(path) => fs::remove_file(self.path.join(path)).map_err(told),
            Step::Symlink { path, to } => std::os::unix::fs::symlink(to, self.place(path)?).map_err(told),
        }
    }

    /// Where a file is to be put; its folder is there.
    fn place(&self, path: &str) -> Result<PathBuf, String> {
        let place = self.path.join(path);
        place.parent().map_or(Ok(()), fs::create_dir_all).map_err(told)?;
        Ok(place)
    }

    /// The job, opened and claimed by a new process if none has it.
    async fn session(&mut self, place: usize, watch: Watch<'_>) -> Result<&mut OpenJob, String> {
        if self.session.is_none() {
            let mut session = open(self.store, self.path).await?;
            session.claim(self.store).await.map_err(told)?;
            let opening = Command::Open {
                version: "test".to_owned(),
                model: self.scenario.model.name().to_owned(),
                torn_bytes: session.torn_bytes(),
            };
            session.command(opening).map_err(told)?;
            watch(Line { step: place, job: &session.job, is_opening: true });
            self.session = Some(session);
        }
        self.session.as_mut().ok_or_else(|| "no session".to_owned())
    }

    async fn say(&mut self, place: usize, command: Command, watch: Watch<'_>) -> Result<(), String> {
        let session = self.session(place, watch).await?;
        if !session.command(command).map_err(told)? {
            return Err(format!("the job has no use for that word: it is {:?}", session.job.job_status()));
        }
        watch(Line { step: place, job: &session.job, is_opening: false });
        Ok(())
    }

    /// The process writes the row and ends.
    async fn leave(&mut self) -> Result<(), String> {
        match self.session.take() {
            Some(session) => session.checkpoint(self.store, CheckpointExtent::All).await.map_err(told),
            None => Ok(()),
        }
    }

    async fn work(&mut self, place: usize, rest: &Rest, watch: Watch<'_>) -> Result<(), String> {
        self.session(place, watch).await?;
        let Some(mut session) = self.session.take() else {
            return Err("no session".to_owned());
        };
        let last_turn = match rest {
            Rest::Interrupted(turn) => *turn,
            Rest::Completed
            | Rest::Partial
            | Rest::Blocked
            | Rest::Failed
            | Rest::Cancelled
            | Rest::Held(_)
            | Rest::Stopped(_) => u64::MAX,
        };
        let (stops, stop) = tokio::sync::watch::channel(session.job.totals.spent.turns >= last_turn);
        let mut reported = |job: &Job, report: RunReport<'_>| match report {
            RunReport::Decided(decision) => {
                watch(Line { step: place, job, is_opening: false });
                let replied = decision
                    .events
                    .iter()
                    .any(|event| matches!(event, Event::Conversation(ConversationEvent::ModelReplied { .. })));
                if replied && job.totals.spent.turns >= last_turn {
                    stops.send_replace(true);
                }
            }
            RunReport::Calling(_) | RunReport::Note(_) => {}
        };
        let model = self.scenario.model.clone();
        let outcome = JobRunner::new(self.store, model, stop, &mut reported).run(&mut session).await;
        let rested = match &outcome {
            Ok(JobOutcome::Ended(status)) => rest.status() == Some(*status),
            Ok(JobOutcome::Held(reason)) => *rest == Rest::Held(*reason),
            Ok(JobOutcome::Interrupted) => last_turn != u64::MAX,
            // Only a job of the queue rests for answers.
            Ok(JobOutcome::Waiting) => false,
            Err(error) => matches!(rest, Rest::Stopped(text) if error.to_string().contains(text.as_str())),
        };
        if rested {
            return Ok(());
        }
        let (_, _, reason) = session.job.job_status();
        Err(format!("the job was to rest as {rest:?}, and came to {outcome:?}: {}", reason.unwrap_or_default()))
    }
}

/// Opens the workspace as a process does: the chain must hold what the database saw.
async fn open(store: &dyn Store, path: &Path) -> Result<OpenJob, String> {
    let row = store.job(id(path)).await.map_err(told)?;
    let anchor = row
        .map(|row| row.state)
        .filter(|state| state.journal_seq > 0)
        .map(|state| Anchor { seq: state.journal_seq, head: state.journal_head });
    OpenJob::open(path, anchor).map_err(told)
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}
