//! Which models answered, how many turns, and what they took, by role and tier.

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
    /// As it was asked for.
    pub model: String,
    /// The name under which the server answered, where that is another.
    pub answered_as: Option<String>,
    /// At which it was asked.
    pub tier: Tier,
    /// Why it was the standard one, where the tier `flex` or `batch` was left for it.
    pub left_flex: Option<String>,
    /// At least 1.
    pub turns: u64,
}

/// Who did a part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkRole {
    /// The job's own model.
    Work,
    /// Agents that it delegated to.
    Agents,
    /// Those that read the parts of the documents side by side.
    Readers,
    /// Those that read the documents a second time.
    SecondReader,
    /// Those that judged the deliverables.
    Verifier,
    /// Those that transcribed scanned pages.
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

    /// In a word or two.
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

/// What one role took at one tier. Its fields are a promise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PaidRole {
    /// Who.
    pub role: WorkRole,
    /// At which its turns were answered.
    pub tier: Tier,
    /// At least 1.
    pub turns: u64,
    /// Those from the cache too.
    pub tokens_in: u64,
    /// Of those, from the provider's cache.
    pub tokens_cached: u64,
    /// Those of replies.
    pub tokens_out: u64,
    /// USD, of the turns whose price is known.
    pub priced_usd: f64,
    /// USD that it would have cost at the standard tier.
    pub standard_usd: f64,
    /// Turns of which no price is known.
    pub unpriced_turns: u64,
}

impl PaidRole {
    /// USD, where the price of every turn is known.
    pub fn cost(&self) -> Option<f64> {
        (self.unpriced_turns == 0).then_some(self.priced_usd)
    }

    /// `second reader, flex`.
    pub fn told(&self) -> String {
        let tier = if self.tier.is_standard() { String::new() } else { format!(", {}", self.tier.name()) };
        format!("{}{tier}", self.role.told())
    }

    /// `work, batch: 1 turn, 4099 tokens in (2353 cached), 251 out, 0.0032 USD; verifier: …`.
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

    /// Whether it says more than the totals do: who else worked, or another tier.
    pub fn is_telling(paid: &[Self]) -> bool {
        paid.len() > 1 || paid.iter().any(|paid| !paid.tier.is_standard())
    }

    /// What the cheaper tiers have saved: `20 of 21 turns at the batch tier: 0.50 USD instead of 1.00 at the standard one`.
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

    /// Adds what was paid to a sum by role and tier, in their order.
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

/// Counts from the facts which models answered, and what they took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answered {
    asked: String,
    base_url: Option<String>,
    /// In its stead, for the sub-agents at work that another model is named for.
    sub_agents: BTreeMap<u32, String>,
    /// What the sub-agents at work are for.
    roles: BTreeMap<u32, WorkRole>,
    /// By role and tier.
    pub paid: Vec<PaidRole>,
    /// At which the model is asked now.
    pub tier: Tier,
    left_flex: Option<String>,
    /// In the order in which they first answered.
    pub models: Vec<ModelTurns>,
    /// As [`super::models::ModelChoice::server`] names them.
    pub servers: BTreeSet<String>,
}

impl Answered {
    /// Takes in what an event says of models.
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

/// The models in one line; `else_by` where none has answered yet.
pub fn list_models(models: &[ModelTurns], else_by: &str) -> String {
    let listed: Vec<String> = models.iter().map(ToString::to_string).collect();
    if listed.is_empty() { else_by.to_owned() } else { listed.join(", ") }
}
