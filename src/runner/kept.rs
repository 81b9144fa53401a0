//! The workspace goes to the workspace store before the database hears of it, where a job has one.

use super::{
    RunError,
    drive::{Drive, Report},
    session::{Anchor, Session},
};
use crate::depot::{End, Keeper};
use overnight_core::job::record::JobState;
use std::time::{Duration, Instant};

/// The most work that another machine would have to do again.
const KEPT_EVERY: Duration = Duration::from_mins(1);

/// What keeps the workspace of a job.
#[derive(Debug)]
pub(super) struct Keeping {
    keeper: Keeper,
    /// The journal's end that the store and the database have; none: neither has any.
    anchor: Option<Anchor>,
    at: Instant,
}

impl Drive<'_> {
    /// Keeps the workspace in the store at each checkpoint. `anchor` is the journal's end as the database knows it.
    #[must_use]
    pub fn storing(mut self, keeper: Option<Keeper>, anchor: Option<Anchor>) -> Self {
        self.keeping = keeper.map(|keeper| Keeping { keeper, anchor, at: Instant::now() });
        self
    }

    /// Has the store know the workspace as it is now, where there is a store.
    pub(super) async fn keep(&mut self, session: &Session) -> Result<(), RunError> {
        let Some(keeping) = &mut self.keeping else { return Ok(()) };
        session.keep(&mut keeping.keeper).await?;
        keeping.anchor = Some(Anchor { seq: session.journal.seq(), head: session.journal.head().to_owned() });
        keeping.at = Instant::now();
        Ok(())
    }

    /// So much was done since the workspace was kept that it is time, between two turns, to do so again.
    pub(super) fn is_keep_due(&self) -> bool {
        self.keeping.as_ref().is_some_and(|keeping| keeping.at.elapsed() >= KEPT_EVERY)
    }

    /// For a row that has to be written whether or not the store has the workspace: where it doesn't, the row says of the
    /// journal what the store has, so that a machine that goes on from there is not taken for one that lost something.
    pub(super) async fn keep_at_last(&mut self, session: &Session) -> impl FnOnce(&mut JobState) + use<> {
        let anchor = match self.keep(session).await {
            Ok(()) => None,
            Err(error) => {
                (self.watch)(&session.job, Report::Talk(error.to_string()));
                self.keeping.as_ref().map(|keeping| keeping.anchor.clone())
            }
        };
        move |state| {
            if let Some(anchor) = anchor {
                let anchor = anchor.unwrap_or_else(Anchor::start);
                (state.journal_seq, state.journal_head) = (anchor.seq, anchor.head);
            }
        }
    }
}

impl Session {
    /// Has the store know the workspace as it is now.
    pub async fn keep(&self, keeper: &mut Keeper) -> Result<(), RunError> {
        let end = End { lease: self.lease, seq: self.journal.seq(), head: self.journal.head() };
        Ok(keeper.keep(&self.workspace, end).await?)
    }
}
