//! Opens a model behind HTTP from its name, with its key, base URL and tier.

use super::ModelOptions;
use crate::model::{
    Model, ModelError,
    remote::{self, RemoteModel, Timeouts, wire::Wire},
    table::{Api, LongCache, Price, Quirks},
};
use overnight_core::job::models::Tier;
use std::{sync::Arc, time::Duration};

/// How long a reply of Responses that has begun may pause, if no other timeout was set.
const REASONING_WAIT: Duration = Duration::from_mins(5);
/// How long a call may wait at the tier `flex`. Source: OpenAI's guide to flex processing.
const FLEX_WAIT: Duration = Duration::from_mins(15);

impl ModelOptions<'_> {
    /// The parts that the provider's cache should keep for an hour: calls at the tier `flex` may wait for longer than a
    /// cache usually lasts, and the jobs of a wave begin one after the other.
    fn long_cache(&self) -> LongCache {
        match (self.tier, self.is_wave) {
            (Tier::Flex, _) => LongCache::All,
            (Tier::Standard | Tier::Batch, true) => LongCache::System,
            (Tier::Standard | Tier::Batch, false) => LongCache::Nothing,
        }
    }
}

/// Opens a model behind HTTP. A missing key is reported immediately. The provider's usual key is only for its own
/// server: another server may need none, and is sent only a key that was named for it.
pub(super) fn open_remote(
    provider: &str,
    model: &str,
    wire: &Arc<dyn Wire>,
    quirks: Quirks,
    options: &ModelOptions<'_>,
) -> Result<RemoteModel, ModelError> {
    let base_url = options.base_url.clone().unwrap_or_else(|| wire.base_url().to_owned());
    let usual = wire.key_variable().filter(|_| base_url == wire.base_url());
    let variable = options.api_key_env.as_deref().or(usual);
    let key = variable.and_then(options.find_key);
    if let (None, Some(variable), false) = (&key, variable, options.is_never_called) {
        return Err(ModelError::NoKey { variable: variable.to_owned() });
    }
    if !options.allow_http && remote::is_exposed(&base_url)? {
        let header = options.headers.first().map(|(name, _)| format!("the header {name}"));
        // The process that will call the model has the key, even if this one doesn't.
        let has_key = key.is_some() || options.is_never_called;
        let key = variable.filter(|_| has_key).map(|variable| format!("the key in {variable}"));
        if let Some(what) = key.or(header) {
            return Err(ModelError::PlainHttp { what, url: base_url });
        }
    }
    let endpoint = remote::shared_endpoint(&base_url, key.as_ref(), options.pace)?;
    let open = |quirks: Quirks, timeouts: Timeouts, tier: Tier, standard: Option<Arc<RemoteModel>>| {
        RemoteModel::new(remote::RemoteConfig {
            wire: wire.clone(),
            provider: provider.to_owned(),
            model: model.to_owned(),
            base_url: base_url.clone(),
            key: key.clone(),
            key_variable: variable.unwrap_or("a variable").to_owned(),
            headers: options.headers.clone(),
            quirks,
            endpoint: endpoint.clone(),
            timeouts,
            tier,
            posting: options.posting.clone().filter(|_| tier == Tier::Batch),
            standard,
            record: options.record.clone(),
        })
    };
    let mut quirks = Quirks { long_cache: options.long_cache(), ..quirks };
    if quirks.long_cache == LongCache::All && wire.marks_cache() {
        quirks.price = quirks.price.map(Price::with_long_cache);
    }
    let mut timeouts = options.timeouts;
    if quirks.api == Api::Responses && timeouts.idle == Timeouts::default().idle {
        // The stream begins immediately, and pauses while the model reasons.
        timeouts.idle = REASONING_WAIT;
    }
    let standard = open(quirks.clone(), timeouts, Tier::Standard, None)?;
    let Some(share) = standard.share(options.tier).filter(|_| !options.tier.is_standard()) else {
        return Ok(standard);
    };
    let mut quirks = Quirks { price: quirks.price.map(|price| price.times(share)), ..quirks };
    if options.tier == Tier::Batch {
        let price = quirks.price.map(|price| if wire.marks_cache() { price.with_long_cache() } else { price });
        let quirks = Quirks { streams: false, long_cache: LongCache::SystemAlone, price, ..quirks };
        return open(quirks, timeouts, Tier::Batch, Some(Arc::new(standard)));
    }
    if let Some((field, value)) = wire.flex() {
        quirks.extra.insert(field.to_owned(), value.into());
    }
    let timeouts = Timeouts { first_byte: FLEX_WAIT, idle: FLEX_WAIT, ..timeouts };
    open(quirks, timeouts, Tier::Flex, Some(Arc::new(standard)))
}
