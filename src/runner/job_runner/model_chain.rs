//! The model of a job, and its fallbacks.

use super::{JobRunner, RunReport, cheap_tier::FlexWait};
use crate::{
    model::Model,
    runner::{
        RunError,
        open_job::{self, OpenJob},
    },
};
use overnight_core::{
    job::{conversation::Conversation, state::Job},
    machine::effect::Command,
};
use std::{collections::BTreeMap, sync::Arc};

/// A model with its fallbacks.
#[derive(Debug)]
pub(super) struct ModelChain {
    pub(super) current: Arc<dyn Model>,
    /// The job's own; a fallback goes on for it until the phase ends.
    first: Arc<dyn Model>,
    /// The models to use, in this order, when it is down or refuses.
    fallbacks: Vec<Arc<dyn Model>>,
    /// Those that the instructions name for sub-agents, by name.
    named: BTreeMap<String, Arc<dyn Model>>,
    /// The number of fallbacks taken in this phase.
    taken: usize,
    /// Whether the server's address is known to be right: it has answered something, or the caller vouches for it.
    pub(super) is_known: bool,
    /// Since when the tier `flex` has answered nothing, and how much time there was at the beginning.
    pub(super) flex: FlexWait,
    /// The model at the tier that was left: calls submitted to it are still answered there.
    pub(super) left: Option<Arc<dyn Model>>,
    /// The tier `flex` or `batch` was left.
    pub(super) has_left_tier: bool,
    /// The setting that a person must change before it can be used.
    pub(super) misconfigured: Option<String>,
}

impl ModelChain {
    pub(super) fn new(model: Arc<dyn Model>) -> Self {
        Self {
            first: model.clone(),
            current: model,
            fallbacks: Vec::new(),
            named: BTreeMap::new(),
            taken: 0,
            is_known: false,
            flex: FlexWait::default(),
            left: None,
            has_left_tier: false,
            misconfigured: None,
        }
    }

    /// The model for a conversation: the one that is named for it, else the job's own.
    pub(super) fn asked(&self, job: &Job, conversation: &Conversation) -> Result<Arc<dyn Model>, RunError> {
        match conversation.named_model(&job.spec) {
            None => Ok(self.current.clone()),
            // A replayed job is answered by its own record, whichever model answered originally.
            Some(_) if self.current.name().starts_with("replay:") => Ok(self.current.clone()),
            Some(name) => match self.named.get(name) {
                Some(model) if self.has_left_tier => Ok(model.standard_tier().unwrap_or_else(|| model.clone())),
                Some(model) => Ok(model.clone()),
                None => {
                    let what = format!("the model {name}, which is named for a sub-agent, was not opened");
                    Err(RunError::Configuration(what))
                }
            },
        }
    }
}

impl ModelChain {
    /// The model that answers a submitted call; it need not be the current one.
    pub(super) fn taker(&self, name: &str) -> Option<&Arc<dyn Model>> {
        let known = [Some(&self.current), self.left.as_ref(), Some(&self.first)].into_iter().flatten();
        let known = known.chain(&self.fallbacks).chain(self.named.values());
        known.into_iter().find(|model| model.name() == name && model.later().is_some())
    }
}

impl JobRunner<'_> {
    /// Has other models go on, one after the other, when the one before is down or refuses.
    #[must_use]
    pub fn with_fallbacks(mut self, fallbacks: Vec<Arc<dyn Model>>) -> Self {
        self.models.fallbacks = fallbacks;
        self
    }

    /// Gives the models that are named for sub-agents.
    #[must_use]
    pub fn with_named(mut self, named: BTreeMap<String, Arc<dyn Model>>) -> Self {
        self.models.named = named;
        self
    }

    /// Whether the model's server is known to be at its address: if so, that it can't be reached is an outage, not a mistake.
    #[must_use]
    pub fn with_known_server(mut self, is_known: bool) -> Self {
        self.models.is_known = is_known;
        self
    }

    /// Changes to the next model, if there is one.
    pub(super) async fn fall_back(
        &mut self,
        opened: &mut OpenJob,
        conversation: u32,
        reason: &str,
    ) -> Result<bool, RunError> {
        // A model named for a sub-agent has no fallback.
        if opened.job.conversation(conversation).is_some_and(|one| one.named_model(&opened.job.spec).is_some()) {
            return Ok(false);
        }
        let models = &mut self.models;
        let Some(next) = models.fallbacks.get(models.taken).cloned() else { return Ok(false) };
        models.taken += 1;
        let text = format!("{} is left ({reason}); {} goes on", models.current.name(), next.name());
        let opening = open_job::opening(next.name(), None);
        (models.current, models.is_known) = (next, false);
        self.command(opened, opening).await?;
        self.tell_tier(opened, reason).await?;
        (self.observer)(&opened.job, RunReport::Note(text));
        Ok(true)
    }

    /// A phase begins: the job's own model is tried again, if a fallback had replaced it.
    pub(super) fn return_to_first(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        let models = &mut self.models;
        if models.taken == 0 {
            return Ok(());
        }
        (models.current, models.taken) = (models.first.clone(), 0);
        let opening = open_job::opening(models.current.name(), None);
        let (tier, reason) = (models.current.tier(), format!("{} goes on", models.current.name()));
        opened.command(opening)?;
        opened.command(Command::ChangeTier { tier, reason }).map(drop)
    }
}
