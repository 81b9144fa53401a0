//! The models that answered, and their turns, tokens and cost by role and tier.

use super::{
    event::{ConversationEvent, Event, LifeEvent, PersonEvent},
    models::{Tier, provider},
    sub_agent_role::SubAgentRole,
};
use crate::amount::{COST_UNKNOWN, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// Turns that one model answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelTurns {
    /// The model, as it was requested.
    pub model: String,
    /// The name under which the server answered, if that is a different one.
    pub answered_as: Option<String>,
    /// The tier at which it was asked.
    pub tier: Tier,
    /// Why it was the standard tier, if the job left the tier `flex` or `batch` for it.
    pub left_flex: Option<String>,
    /// The number of turns, at least 1.
    pub turns: u64,
}

/// The role that did a part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkRole {
    /// The job's own model.
    Work,
    /// Agents that it delegated to.
    Agents,
    /// Readers of the documents' parts, side by side.
    Readers,
    /// Readers of the documents for the second time.
    SecondReader,
    /// Verifiers of the deliverables.
    Verifier,
    /// Transcribers of scanned pages.
    Vision,
}

impl WorkRole {
    fn of(role: &SubAgentRole) -> Self {
        match role {
            SubAgentRole::Delegate { .. } => Self::Agents,
            SubAgentRole::Reader { .. } => Self::Readers,
            SubAgentRole::SecondReader { .. } => Self::SecondReader,
            SubAgentRole::Verifier { .. } => Self::Verifier,
            SubAgentRole::Transcriber { .. } => Self::Vision,
        }
    }

    /// The role in a word or two.
    pub fn told(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Agents => "agents",
            Self::Readers => "readers",
            Self::SecondReader => "second reader",
            Self::Verifier => "verifier",
            Self::Vision => "vision",
        }
    }
}

/// The turns, tokens and cost of one role at one tier. Its fields are a stable interface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PaidRole {
    /// The role.
    pub role: WorkRole,
    /// The tier at which its turns were answered.
    pub tier: Tier,
    /// The number of turns, at least 1.
    pub turns: u64,
    /// Input tokens, including those from the cache.
    pub tokens_in: u64,
    /// Input tokens that came from the provider's cache.
    pub tokens_cached: u64,
    /// Output tokens.
    pub tokens_out: u64,
    /// USD, for the turns whose price is known.
    pub priced_usd: f64,
    /// USD that the turns would have cost at the standard tier.
    pub standard_usd: f64,
    /// Turns of which no price is known.
    pub unpriced_turns: u64,
}

impl PaidRole {
    /// USD, if the price of every turn is known.
    pub fn cost(&self) -> Option<f64> {
        (self.unpriced_turns == 0).then_some(self.priced_usd)
    }

    /// The role and its tier: `second reader, flex`.
    pub fn told(&self) -> String {
        let tier = if self.tier.is_standard() { String::new() } else { format!(", {}", self.tier.name()) };
        format!("{}{tier}", self.role.told())
    }

    /// All roles in one line: `work, batch: 1 turn, 4099 tokens in (2353 cached), 251 out, 0.0032 USD; verifier: …`.
    pub fn list(paid: &[Self]) -> String {
        let told = paid.iter().map(|paid| {
            let usd = match paid.cost() {
                Some(usd) => format!("{usd:.4} USD"),
                None => COST_UNKNOWN.to_owned(),
            };
            let Self { tokens_in, tokens_cached, tokens_out, .. } = paid;
            let turns = counted(paid.turns, "turn");
            format!("{}: {turns}, {tokens_in} tokens in ({tokens_cached} cached), {tokens_out} out, {usd}", paid.told())
        });
        told.collect::<Vec<_>>().join("; ")
    }

    /// Whether the list says more than the totals: it has another role, or another tier.
    pub fn is_telling(paid: &[Self]) -> bool {
        paid.len() > 1 || paid.iter().any(|paid| !paid.tier.is_standard())
    }

    /// Savings of the cheaper tiers: `20 of 21 turns at the batch tier: 0.50 USD instead of 1.00 at the standard one`.
    pub fn savings(paid: &[Self]) -> Vec<String> {
        let all: u64 = paid.iter().map(|paid| paid.turns).sum();
        let of_tier = |tier: Tier| {
            let of_tier = || paid.iter().filter(|paid| paid.tier == tier);
            let turns: u64 = of_tier().map(|paid| paid.turns).sum();
            let (cost, standard) =
                of_tier().fold((0.0, 0.0), |(cost, usual), paid| (cost + paid.priced_usd, usual + paid.standard_usd));
            (standard > cost).then(|| {
                format!(
                    "{turns} of {} at the {} tier: {cost:.4} USD instead of {standard:.4} at the standard one",
                    counted(all, "turn"),
                    tier.name()
                )
            })
        };
        [Tier::Flex, Tier::Batch].into_iter().filter_map(of_tier).collect()
    }

    /// Adds itself to a sum that is ordered by role and tier.
    pub fn add_to(self, sum: &mut Vec<Self>) {
        let key = |paid: &Self| (paid.role, paid.tier.name());
        match sum.binary_search_by(|known| key(known).cmp(&key(&self))) {
            Err(place) => sum.insert(place, self),
            Ok(place) => {
                let known = &mut sum[place];
                known.turns += self.turns;
                known.tokens_in += self.tokens_in;
                known.tokens_cached += self.tokens_cached;
                known.tokens_out += self.tokens_out;
                known.priced_usd += self.priced_usd;
                known.standard_usd += self.standard_usd;
                known.unpriced_turns += self.unpriced_turns;
            }
        }
    }
}

/// Counts, from the facts, the models that answered, and their turns, tokens and cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answered {
    asked: String,
    base_url: Option<String>,
    /// The models named for sub-agents at work, which are asked in its stead.
    sub_agents: BTreeMap<u32, String>,
    /// The roles of the sub-agents at work.
    roles: BTreeMap<u32, WorkRole>,
    /// Turns, tokens and cost by role and tier.
    pub paid: Vec<PaidRole>,
    /// The tier at which the model is asked now.
    pub tier: Tier,
    left_flex: Option<String>,
    /// The models, in the order in which they first answered.
    pub models: Vec<ModelTurns>,
    /// The servers, as [`super::models::ModelChoice::server`] names them.
    pub servers: BTreeSet<String>,
}

impl Answered {
    /// Updates the counts from an event.
    pub fn observe(&mut self, event: &Event) {
        if let Event::Life(LifeEvent::JobCreated { spec, .. }) = event {
            self.asked.clone_from(&spec.model);
            self.base_url.clone_from(&spec.base_url);
        } else if let Event::Person(PersonEvent::ModelChosen { choice }) = event {
            self.base_url.clone_from(&choice.base_url);
        } else if let Event::Life(LifeEvent::Opened { model, .. }) = event {
            self.asked.clone_from(model);
        } else if let Event::Conversation(ConversationEvent::SubAgentStarted { conversation, model, role, .. }) = event
        {
            self.roles.insert(*conversation, WorkRole::of(role));
            if let Some(model) = model {
                self.sub_agents.insert(*conversation, model.clone());
            }
        } else if let Event::Conversation(ConversationEvent::SubAgentEnded { conversation, .. }) = event {
            self.sub_agents.remove(conversation);
            self.roles.remove(conversation);
        } else if let Event::Life(LifeEvent::JobEnded { .. }) = event {
            self.sub_agents.clear();
            self.roles.clear();
        } else if let Event::Life(LifeEvent::TierChanged { tier, reason }) = event {
            self.tier = *tier;
            self.left_flex = tier.is_standard().then(|| reason.clone());
        } else if let Event::Conversation(ConversationEvent::ModelReplied {
            conversation,
            model,
            tier,
            usage,
            cost_usd,
            standard_usd,
            ..
        }) = event
        {
            let paid = PaidRole {
                role: self.roles.get(conversation).copied().unwrap_or(WorkRole::Work),
                tier: tier.unwrap_or(self.tier),
                turns: 1,
                tokens_in: usage.input,
                tokens_cached: usage.cached,
                tokens_out: usage.output,
                priced_usd: cost_usd.unwrap_or_default(),
                standard_usd: standard_usd.or(*cost_usd).unwrap_or_default(),
                unpriced_turns: u64::from(cost_usd.is_none()),
            };
            paid.add_to(&mut self.paid);
            let asked = self.sub_agents.get(conversation).unwrap_or(&self.asked).clone();
            self.servers.insert(self.base_url.as_deref().unwrap_or_else(|| provider(&asked)).to_owned());
            let is_asked = *model == asked || asked.split_once(':').is_some_and(|(_, name)| name == model);
            let answered_as = (!is_asked).then(|| model.clone());
            let one = ModelTurns {
                model: asked,
                answered_as,
                tier: tier.unwrap_or(self.tier),
                left_flex: self.left_flex.clone(),
                turns: 1,
            };
            match self.models.iter_mut().find(|other| ModelTurns { turns: 1, ..(*other).clone() } == one) {
                Some(same) => same.turns += 1,
                None => self.models.push(one),
            }
        }
    }

    /// The same choice of model with no turns counted: for the next part of the journal.
    #[must_use]
    pub fn without_turns(&self) -> Self {
        Self { models: Vec::new(), servers: BTreeSet::new(), paid: Vec::new(), ..self.clone() }
    }
}

impl fmt::Display for ModelTurns {
    /// `openai:gpt-5.4 (12 turns at the flex tier, answered as gpt-5.4-2026-03-05)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answered_as = self.answered_as.as_ref().map(|name| format!(", answered as {name}")).unwrap_or_default();
        let turns = if self.turns == 1 { "turn" } else { "turns" };
        let tier = if self.tier.is_standard() { String::new() } else { format!(" at the {} tier", self.tier.name()) };
        let left = self.left_flex.as_ref().map(|why| format!("; the cheaper tier was left: {why}")).unwrap_or_default();
        write!(f, "{} ({} {turns}{tier}{answered_as}{left})", self.model, self.turns)
    }
}

/// The models in one line, or `else_by` if none has answered yet.
pub fn list_models(models: &[ModelTurns], else_by: &str) -> String {
    let listed: Vec<String> = models.iter().map(ToString::to_string).collect();
    if listed.is_empty() { else_by.to_owned() } else { listed.join(", ") }
}
