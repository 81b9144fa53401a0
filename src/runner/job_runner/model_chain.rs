//! The models of a job: its own, those that go on for it, and those of its sub-agents. Which one is asked, and at which
//! tier, follows from the job's facts.

use super::{cheap_tier::FlexWait, recorder::JobRecorder};
use crate::{
    model::Model,
    runner::{
        RunError,
        open_job::{self, OpenJob},
    },
};
use overnight_core::{
    job::{conversation::Conversation, models::Tier, state::Job},
    machine::effect::Command,
};
use std::{collections::BTreeMap, sync::Arc};

/// A model with its fallbacks.
#[derive(Debug)]
pub(super) struct ModelChain {
    /// The job's own, then those to use, in this order, when the one before is down or refuses; all have names of their own.
    chain: Vec<Arc<dyn Model>>,
    /// Those that the instructions name for sub-agents, by name.
    pub(super) named: BTreeMap<String, Arc<dyn Model>>,
    /// Whether the server's address is known to be right: it has answered something, or the caller vouches for it.
    pub(super) is_known: bool,
    /// Since when the tier `flex` has answered nothing, and how much time there was at the beginning.
    pub(super) flex: FlexWait,
}

impl ModelChain {
    pub(super) fn new(model: Arc<dyn Model>) -> Self {
        Self { chain: vec![model], named: BTreeMap::new(), is_known: false, flex: FlexWait::default() }
    }

    pub(super) fn add_fallbacks(&mut self, fallbacks: Vec<Arc<dyn Model>>) {
        for fallback in fallbacks {
            if self.chain.iter().all(|known| known.name() != fallback.name()) {
                self.chain.push(fallback);
            }
        }
    }

    /// The place in the chain of the model with which the job goes on.
    fn place(&self, job: &Job) -> usize {
        let opened_with = job.opened_with.as_deref();
        self.chain.iter().position(|known| Some(known.name()) == opened_with).unwrap_or_default()
    }

    /// The model with which the job goes on, at the tier at which it is asked.
    pub(super) fn current(&self, job: &Job) -> Arc<dyn Model> {
        at_tier(&self.chain[self.place(job)], job.answered.tier)
    }

    /// The tier at which the job's own model was opened.
    pub(super) fn own_tier(&self) -> Tier {
        self.chain[0].tier()
    }

    /// The model for a conversation: the one that is named for it, else the job's own.
    pub(super) fn asked(&self, job: &Job, conversation: &Conversation) -> Result<Arc<dyn Model>, RunError> {
        let current = self.current(job);
        match conversation.named_model(&job.spec) {
            None => Ok(current),
            // A replayed job is answered by its own record, whichever model answered originally.
            Some(_) if current.name().starts_with("replay:") => Ok(current),
            Some(name) => match self.named.get(name) {
                // A sub-agent's model keeps its tier where the job never had a cheaper one.
                Some(named) if self.own_tier().is_standard() => Ok(named.clone()),
                Some(named) => Ok(at_tier(named, job.answered.tier)),
                None => {
                    let what = format!("the model {name}, which is named for a sub-agent, was not opened");
                    Err(RunError::Configuration(what))
                }
            },
        }
    }

    /// All models that the job may ask, each at the tier at which it was opened.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<dyn Model>> {
        self.chain.iter().chain(self.named.values())
    }

    /// The model that answers a submitted call; it need not be the current one.
    pub(super) fn taker(&self, name: &str) -> Option<&Arc<dyn Model>> {
        self.all().find(|model| model.name() == name && model.later().is_some())
    }

    /// Changes to the next model, if there is one.
    pub(super) async fn fall_back(
        &mut self,
        recorder: &mut JobRecorder<'_>,
        opened: &mut OpenJob,
        conversation: u32,
        reason: &str,
    ) -> Result<bool, RunError> {
        // A model named for a sub-agent has no fallback.
        if opened.job.conversation(conversation).is_some_and(|one| one.named_model(&opened.job.spec).is_some()) {
            return Ok(false);
        }
        let Some(next) = self.chain.get(self.place(&opened.job) + 1).cloned() else { return Ok(false) };
        let text = format!("{} is left ({reason}); {} goes on", self.current(&opened.job).name(), next.name());
        self.is_known = false;
        recorder.command(opened, open_job::opening(next.name(), None)).await?;
        self.tell_tier(recorder, opened, next.tier(), reason).await?;
        recorder.note(opened, text);
        Ok(true)
    }

    /// A phase begins: the job's own model is tried again, if a fallback had replaced it.
    pub(super) fn return_to_first(&self, opened: &mut OpenJob) -> Result<(), RunError> {
        if self.place(&opened.job) == 0 {
            return Ok(());
        }
        let first = &self.chain[0];
        opened.command(open_job::opening(first.name(), None))?;
        let reason = format!("{} goes on", first.name());
        opened.command(Command::ChangeTier { tier: first.tier(), reason }).map(drop)
    }

    /// Records the tier at which the model is asked, if it has changed.
    pub(super) async fn tell_tier(
        &self,
        recorder: &mut JobRecorder<'_>,
        opened: &mut OpenJob,
        tier: Tier,
        reason: &str,
    ) -> Result<(), RunError> {
        if tier == opened.job.answered.tier {
            return Ok(());
        }
        recorder.command(opened, Command::ChangeTier { tier, reason: reason.to_owned() }).await
    }
}

/// The model as it is asked at a tier: at the standard one, or at the one at which it was opened.
fn at_tier(model: &Arc<dyn Model>, tier: Tier) -> Arc<dyn Model> {
    model.standard_tier().filter(|_| tier.is_standard()).unwrap_or_else(|| model.clone())
}
