//! The loop. Facts are on the disk before their effects; checkpoints go to the database after todos, phases and ends.

use super::{
    RunError,
    aside::aside,
    clock::now,
    kept::Keeping,
    lease::{Beat, Kept},
    session::Session,
};
use crate::{
    crash,
    model::Model,
    store::{Store, StoreError},
    tool,
};
use overnight_core::job::{
    event::{Decision, Event},
    record::{Checkpoint, HoldReason, JobStatus},
    rows::Extent,
    state::{Job, Status},
    step::{Answer, Ask, Command},
};
use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// How long a database that can't be reached is left alone while the lease lasts.
const LEFT_ALONE: Duration = Duration::from_secs(20);
/// After how long a job that was held for want of room goes on by itself, where a worker drives it.
const DISK_WAKES: Duration = Duration::from_mins(5);
/// How soon it is tried again while the job waits for it.
pub(super) const RETRY_AFTER: Duration = Duration::from_secs(2);
/// How long the last checkpoint is tried when the database can't be reached.
const LAST_TRIES: [u64; 5] = [0, 1, 2, 4, 8];

/// What happened, for whoever shows it. Reports come after the commit, never before.
#[derive(Debug)]
pub enum Report<'a> {
    /// A decision is written and applied; on the disk too, unless it only says what the model or a tool answered.
    Decided(&'a Decision),
    /// A model call begins.
    Calling,
    /// Something a person may want to know; one sentence.
    Talk(String),
}

/// How a drive came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Ended(JobStatus),
    Held(HoldReason),
    /// Stopped by the person at the terminal; held as paused.
    Interrupted,
}

/// What a job is driven with.
pub struct Drive<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) model: Arc<dyn Model>,
    pub(super) stop: watch::Receiver<bool>,
    pub(super) watch: &'a mut (dyn FnMut(&Job, Report<'_>) + Send),
    /// What is used when the model is down or refuses, in this order.
    pub(super) fallbacks: VecDeque<Arc<dyn Model>>,
    /// The model's server answered something since the work began.
    pub(super) reached: bool,
    /// What a person must change before the model can be used.
    pub(super) misconfigured: Option<String>,
    /// What is asked of the job before it is worked.
    words: Vec<Command>,
    /// Since when the database can't be reached; the person was told.
    outage: Option<Instant>,
    /// The last checkpoint that the database took from this drive.
    saved: Option<Checkpoint>,
    /// The database may lack rows of phases before the last two.
    lags: bool,
    /// By whom the lease is kept; none: by this drive itself.
    pub(super) kept: Option<Kept>,
    /// By what the workspace is kept for other machines; none: it stays here.
    pub(super) keeping: Option<Keeping>,
    /// USD that the job may cost before its batch is asked again; none: nobody else spends from its budget.
    pub(super) granted_usd: Option<f64>,
    pub(super) has_spent_all: bool,
}

impl std::fmt::Debug for Drive<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drive").field("model", &self.model).finish_non_exhaustive()
    }
}

impl<'a> Drive<'a> {
    /// `stop` turns true when the work is to stop; `watch` is told what happened.
    pub fn new(
        store: &'a dyn Store,
        model: Arc<dyn Model>,
        stop: watch::Receiver<bool>,
        watch: &'a mut (dyn FnMut(&Job, Report<'_>) + Send),
    ) -> Self {
        Self {
            store,
            model,
            stop,
            watch,
            fallbacks: VecDeque::new(),
            reached: false,
            misconfigured: None,
            words: Vec::new(),
            outage: None,
            saved: None,
            lags: true,
            kept: None,
            keeping: None,
            granted_usd: None,
            has_spent_all: false,
        }
    }

    /// Has the job hear `words` first: as part of the work, so that a full disk holds it here as anywhere.
    #[must_use]
    pub fn after(mut self, words: Vec<Command>) -> Self {
        self.words = words;
        self
    }

    /// Has other models go on, one after the other, when the one before is down or refuses.
    #[must_use]
    pub fn or(mut self, fallbacks: Vec<Arc<dyn Model>>) -> Self {
        self.fallbacks = fallbacks.into();
        self
    }

    /// The model's server is known to be where it is said to be: that it can't be reached now is an outage, not a slip.
    #[must_use]
    pub fn known(mut self, is_known: bool) -> Self {
        self.reached = is_known;
        self
    }

    /// Leaves the lease to a worker, and a stop to whoever works on the job next. What the job costs counts in its batch's
    /// budget.
    #[must_use]
    pub fn kept(mut self, kept: Kept) -> Self {
        self.kept = Some(kept);
        self.granted_usd = Some(0.0);
        self
    }

    /// The job is one of a batch: what its calls may cost is asked of the batch's budget.
    #[must_use]
    pub fn sharing(mut self, is_shared: bool) -> Self {
        self.granted_usd = self.granted_usd.or(is_shared.then_some(0.0));
        self
    }

    /// Whether the job was held because the budget of its batch has no room.
    pub fn has_spent_all(&self) -> bool {
        self.has_spent_all
    }

    /// Works on a claimed job until it ends, is held, or is to stop.
    pub async fn run(&mut self, session: &mut Session) -> Result<Outcome, RunError> {
        match self.work(session).await {
            Err(error) if error.is_disk_full() => {
                let mut detail = format!("{error}; make room and resume");
                if self.kept.is_some() {
                    // Room may be made without a word to the queue.
                    detail = format!("{error}; make room: it goes on by itself in a few minutes");
                    let _ = self.store.wake_at(session.job.spec.id, session.lease, now().after(DISK_WAKES)).await;
                }
                // A short line may still fit where something long did not; then the workspace alone says why it rests.
                let _ = session.command(Command::Hold { reason: HoldReason::Disk, detail: detail.clone() });
                let anchor = self.keep_at_last(session).await;
                self.tell_lease(0);
                session
                    .checkpoint_as(self.store, self.extent(), |state| {
                        anchor(state);
                        state.status = JobStatus::Held;
                        state.hold_reason = Some(HoldReason::Disk);
                        state.reason = Some(detail.clone());
                    })
                    .await
                    .or_else(|error| match error {
                        // The database lies on the same disk; its row is written when the job is taken up again.
                        StoreError::Full { .. } => Ok(()),
                        other => Err(other),
                    })?;
                (self.watch)(&session.job, Report::Talk(detail));
                Ok(Outcome::Held(HoldReason::Disk))
            }
            // What the person must mend first: the row says so, and no process works on the job.
            Err(
                error @ (RunError::Workspace(_) | RunError::Archive(_) | RunError::Journal(_) | RunError::Request(_)),
            ) => {
                let anchor = self.keep_at_last(session).await;
                self.tell_lease(0);
                let held = session.checkpoint_as(self.store, self.extent(), |state| {
                    anchor(state);
                    state.status = JobStatus::Held;
                    state.hold_reason = Some(HoldReason::Paused);
                    state.reason = Some(error.to_string());
                });
                // The first error is the one to tell.
                let _ = held.await;
                Err(error)
            }
            other => other,
        }
    }

    async fn work(&mut self, session: &mut Session) -> Result<Outcome, RunError> {
        // Making and opening the workspace may have taken longer than a lease.
        self.await_pulse(session).await?;
        for word in std::mem::take(&mut self.words) {
            session.command(word)?;
        }
        aside(|| super::inputs::check(session))?;
        crash::point("drive.begun");
        session.write_derived()?;
        self.tell_lease(session.lease);
        // What was asked of a process that died before it heard it is heard first.
        let mut beat = Beat { asked: None, renewed: Instant::now() };
        self.lags = !session.is_told;
        self.save(session).await?;
        let mut interrupted = false;
        loop {
            if *self.stop.borrow() && session.job.is_running() {
                interrupted = true;
                if self.kept.is_some() {
                    break;
                }
                self.pause(session, "stopped by a person").await?;
            }
            if session.job.is_running() {
                self.keep_lease(session, &mut beat).await?;
                self.listen(session, &mut beat).await?;
                self.mind_window(session).await?;
            }
            if session.job.is_out() {
                self.wait_for_server(session, &mut beat).await?;
                interrupted |= !session.job.is_running() && *self.stop.borrow();
            }
            let ask = session.job.next();
            let answer = match &ask {
                Ask::Nothing => break,
                Ask::Model => {
                    if self.is_keep_due() {
                        session.journal.sync()?;
                        self.save(session).await?;
                    }
                    match self.turn(session, &mut beat).await? {
                        Some(answer) => answer,
                        None => continue,
                    }
                }
                Ask::Tool { call, working, .. } if tool::is_reading(working) => {
                    match self.read(session, &mut beat, &ask, (call, working)).await? {
                        Some(answer) => answer,
                        None => continue,
                    }
                }
                Ask::Decide
                | Ask::Prepare(_)
                | Ask::Tool { .. }
                | Ask::Archive { .. }
                | Ask::Summary
                | Ask::Examine
                | Ask::Write(_)
                | Ask::Check(_) => aside(|| session.perform(&ask))?,
            };
            if !self.decide(session, answer).await? {
                return Err(RunError::NoDecision(format!("{ask:?}")));
            }
        }
        self.finish(session).await?;
        crash::point("drive.rested");
        if let Some(reason) = self.misconfigured.take() {
            return Err(RunError::Configuration(reason));
        }
        Ok(match &session.job.status {
            Status::Ended(ending) => Outcome::Ended(ending.status),
            Status::Held { .. } if interrupted => Outcome::Interrupted,
            Status::Held { reason, .. } => Outcome::Held(*reason),
            Status::Running => Outcome::Interrupted,
        })
    }

    /// Decides, appends, applies, reports; then what follows from the decision: derived files and the checkpoint.
    pub(super) async fn decide(&mut self, session: &mut Session, answer: Answer) -> Result<bool, RunError> {
        self.await_pulse(session).await?;
        let Some(decision) = session.decide(answer)? else {
            return Ok(false);
        };
        session.refresh_derived()?;
        (self.watch)(&session.job, Report::Decided(&decision));
        if session.job.is_running() && decision.events.iter().any(is_checkpoint) {
            self.save(session).await?;
        }
        Ok(true)
    }

    pub(super) async fn pause(&mut self, session: &mut Session, detail: &str) -> Result<(), RunError> {
        let command = Command::Hold { reason: HoldReason::Paused, detail: detail.to_owned() };
        self.decide(session, Answer::Command(command)).await.map(drop)
    }

    /// Each try costs the time that a connection may take, and the work would wait for it.
    pub(super) fn is_left_alone(&self) -> bool {
        self.outage.is_some_and(|since| since.elapsed() < LEFT_ALONE)
    }

    /// A database that can't be reached now is tried again at the next checkpoint; a lost lease ends the work.
    pub(super) fn unless_lost(&mut self, session: &Session, error: StoreError) -> Result<(), RunError> {
        if !error.retryable() {
            return Err(error.into());
        }
        if self.outage.replace(Instant::now()).is_none() {
            let text =
                format!("{error}; the job goes on while its lease lasts, then waits; its rows are written later");
            (self.watch)(&session.job, Report::Talk(text));
        }
        Ok(())
    }

    /// The same of the workspace store, which is asked before the database.
    fn unless_final(&mut self, session: &Session, error: RunError) -> Result<(), RunError> {
        match error {
            RunError::Store(error) => self.unless_lost(session, error),
            RunError::Depot(error) if error.retryable() => {
                if self.outage.replace(Instant::now()).is_none() {
                    let text = format!("{error}; the job goes on, and what it does is kept there later");
                    (self.watch)(&session.job, Report::Talk(text));
                }
                Ok(())
            }
            error => Err(error),
        }
    }

    pub(super) async fn save(&mut self, session: &Session) -> Result<(), RunError> {
        if self.is_left_alone() {
            self.lags = true;
            return Ok(());
        }
        match self.checkpoint(session).await {
            Ok(()) => {
                self.outage = None;
                Ok(())
            }
            Err(error) => self.unless_final(session, error),
        }
    }

    /// Writes what the database doesn't have. Whatever it takes, it has all rows afterwards, so that its anchor vouches for
    /// them all. It never knows more of the journal than the workspace store has.
    async fn checkpoint(&mut self, session: &Session) -> Result<(), RunError> {
        self.keep(session).await?;
        let extent = self.extent();
        if !session.job.is_running() {
            self.tell_lease(0);
        }
        // What became of a checkpoint that failed isn't known: the next one is written whole.
        self.lags = true;
        let before = self.saved.take();
        self.saved = Some(session.checkpoint_since(self.store, extent, before.as_ref()).await?);
        self.lags = false;
        Ok(())
    }

    fn extent(&self) -> Extent {
        if self.lags { Extent::All } else { Extent::Recent }
    }

    /// An end is an end only when its checkpoint is in the database.
    async fn finish(&mut self, session: &mut Session) -> Result<(), RunError> {
        if session.job.ended().is_none() {
            session.write_derived()?;
        }
        let mut last = None;
        // Who stops the work doesn't want to wait for a database; whoever opens the job next writes its row.
        let tries = if *self.stop.borrow() { &LAST_TRIES[..1] } else { &LAST_TRIES[..] };
        if *self.stop.borrow() && self.is_left_alone() {
            return Ok(());
        }
        for &seconds in tries {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            match self.checkpoint(session).await {
                Ok(()) => return Ok(()),
                Err(error) if error.is_retryable() => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        match last {
            None => Ok(()),
            Some(error) if *self.stop.borrow() => self.unless_final(session, error),
            Some(error) => Err(error),
        }
    }
}

/// Waits until the work is to stop; for ever, where nobody is left who could say so.
pub(super) async fn stopped(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stops| *stops).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Events after which the database is told.
fn is_checkpoint(event: &Event) -> bool {
    matches!(
        event,
        Event::TodoCompleted { .. }
            | Event::TodosWritten { .. }
            | Event::PhaseStarted { .. }
            | Event::ArchiveStored { .. }
            | Event::Opened { .. }
            | Event::Resumed { .. }
            | Event::FeedbackGiven { .. }
            | Event::Approved
    )
}

/// Many jobs are driven at once by several threads.
#[cfg(test)]
mod tests {
    use super::*;

    fn is_send<T: Send>(_: &T) {}

    #[test]
    fn the_work_can_move_between_threads() {
        // Never run: that it compiles is the test.
        let _ = |drive: &'static mut Drive<'static>, session: &'static mut Session| is_send(&drive.run(session));
    }
}
