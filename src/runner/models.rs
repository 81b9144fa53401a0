//! A model from its name: `offline`, `scripted:FILE`, `replay:JOB`, and `openai:`, `anthropic:`, `gemini:` or `ollama:` with
//! the name that the server knows it by.

use super::{RunError, today};
use crate::{
    model::{
        Model, ModelError,
        endpoint::RateLimits,
        remote::{self, CallPosting, Key, RemoteModel, Timeouts, wire::Wire},
        replay::Replay,
        rules::Offline,
        scripted::Scripted,
        table::{self, Api, LongCache, ModelTable, Price, Quirks},
    },
    workspace::{Workspace, journal},
};
use overnight_core::{
    job::{event::Event, models::Tier},
    message::Reply,
};
use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// What a model is opened with.
#[derive(Clone)]
pub struct ModelOptions<'a> {
    /// The workspace folder of a job, by its name.
    pub find_job: &'a dyn Fn(&str) -> Result<PathBuf, String>,
    /// The key in an environment variable, by its name.
    pub find_key: &'a dyn Fn(&str) -> Option<Key>,
    /// None: the provider's own.
    pub base_url: Option<String>,
    /// The variable that holds the key; none: the provider's usual one, which only its own server is sent.
    pub api_key_env: Option<String>,
    /// A key or a header may go over plain HTTP, also beyond private networks.
    pub allow_http: bool,
    /// The model is asked for its price and window only: it needs no key.
    pub is_never_called: bool,
    /// Sent with every call; they may hold secrets.
    pub headers: Vec<(String, String)>,
    /// Where calls are recorded.
    pub record: Option<PathBuf>,
    /// The user's table of models.
    pub models: Option<ModelTable>,
    pub pace: RateLimits,
    pub timeouts: Timeouts,
    /// The tier that is asked for; a provider that has none is asked at its usual one.
    pub tier: Tier,
    /// Whether the model works on many jobs that begin alike.
    pub is_wave: bool,
    /// Where calls are handed in at the tier `batch`; none: nothing is asked there.
    pub posting: Option<CallPosting>,
}

impl ModelOptions<'_> {
    /// What the provider's cache is asked to keep for an hour: calls at the tier `flex` may wait for longer than a cache
    /// usually keeps what it has, and the jobs of a wave begin one after the other.
    fn long_cache(&self) -> LongCache {
        match (self.tier, self.is_wave) {
            (Tier::Flex, _) => LongCache::All,
            (Tier::Standard | Tier::Batch, true) => LongCache::System,
            (Tier::Standard | Tier::Batch, false) => LongCache::Nothing,
        }
    }
}

impl Default for ModelOptions<'_> {
    fn default() -> Self {
        Self {
            find_job: &|job| Err(format!("there is no job '{job}'")),
            find_key: &|_| None,
            base_url: None,
            api_key_env: None,
            allow_http: false,
            is_never_called: false,
            headers: Vec::new(),
            record: None,
            models: None,
            pace: RateLimits::default(),
            timeouts: Timeouts::default(),
            tier: Tier::Standard,
            is_wave: false,
            posting: None,
        }
    }
}

/// Not derived: headers may hold secrets.
impl fmt::Debug for ModelOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelOptions").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// Opens the model called `name`.
pub fn open_model(name: &str, options: &ModelOptions<'_>) -> Result<Arc<dyn Model>, RunError> {
    let (provider, rest) = name.split_once(':').unwrap_or((name, ""));
    match (provider, rest) {
        ("offline", "") => Ok(Arc::new(Offline(table::lookup(name, options.models.as_ref(), today()).price))),
        ("scripted", file) if !file.is_empty() => {
            let wrong = |what: String| ModelError::Script { file: file.to_owned(), what };
            // A pipe would be waited for.
            if std::fs::metadata(file).is_ok_and(|found| !found.is_file()) {
                return Err(wrong("it is no file; check the path".to_owned()).into());
            }
            let text = std::fs::read_to_string(file)
                .map_err(|error| wrong(format!("the script can't be read ({error}); check the path")))?;
            Ok(Arc::new(Scripted::parse(file, &text)?))
        }
        ("replay", job) if !job.is_empty() => {
            let path = (options.find_job)(job).map_err(RunError::Request)?;
            let (replies, sees) = recorded(&path)?;
            Ok(Arc::new(Replay::new(job.to_owned(), replies, sees)))
        }
        (provider, model) if !model.is_empty() => {
            let quirks = table::lookup(name, options.models.as_ref(), today());
            match remote::wire_of(provider, quirks.api) {
                Some(wire) => Ok(Arc::new(open_remote(provider, model, &wire, quirks, options)?)),
                None => Err(ModelError::Unknown { name: name.to_owned() }.into()),
            }
        }
        _ => Err(ModelError::Unknown { name: name.to_owned() }.into()),
    }
}

/// A model behind HTTP. A key that is missing is told at once. The provider's usual key is for its own server: another one
/// may want none, and is sent none but the one that was named for it.
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
        // Who is to call the model has the key, where this process hasn't.
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
        // The stream begins at once, and says nothing while the model reasons.
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

/// How long a reply of Responses that has begun may say nothing, where no other time was set.
const REASONING_WAIT: Duration = Duration::from_mins(5);
/// How long a call may wait at the tier `flex`. Source: OpenAI's guide to flex processing.
const FLEX_WAIT: Duration = Duration::from_mins(15);

/// The replies in a job's journal by conversation, in the order of their turns, and whether its model looked at pages.
fn recorded(path: &Path) -> Result<(BTreeMap<u32, Vec<Reply>>, bool), RunError> {
    let mut sees = false;
    let workspace = Workspace::open(path)?;
    let mut replies: BTreeMap<u32, Vec<Reply>> = BTreeMap::new();
    journal::read(&workspace, |decision| {
        for event in decision.events {
            if let Event::JobCreated { spec, .. } = event {
                sees = spec.sees;
            } else if let Event::ModelReplied {
                conversation,
                text,
                calls,
                usage,
                stop,
                model,
                carried,
                tier,
                mended,
                ..
            } = event
            {
                let calls = calls.into_iter().map(|call| call.said).collect();
                replies.entry(conversation).or_default().push(Reply {
                    text,
                    calls,
                    usage,
                    stop,
                    model,
                    carried,
                    tier,
                    mended,
                });
            }
        }
        Ok(())
    })?;
    Ok((replies, sees))
}
