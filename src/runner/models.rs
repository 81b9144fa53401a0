//! A model from its name: `offline`, `scripted:FILE`, `replay:JOB`, and `openai:`, `anthropic:`, `gemini:` or `ollama:` with
//! the name that the server knows it by.

#[cfg(feature = "network")]
use super::remote_models::open_remote;
use super::{RunError, today};
use crate::{
    model::{
        Model, ModelError,
        endpoint::RateLimits,
        remote::{self, CallPosting, Key, Timeouts},
        replay::Replay,
        rules::Offline,
        scripted::Scripted,
        table::{self, ModelTable},
    },
    workspace::{Workspace, journal},
};
use overnight_core::{
    job::{
        event::{ConversationEvent, Event, LifeEvent},
        models::Tier,
    },
    message::Reply,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The settings with which a model is opened.
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
    /// Allows sending a key or a header over plain HTTP beyond private networks, too.
    pub allow_http: bool,
    /// The model only provides its price and window: it needs no key.
    pub is_never_called: bool,
    /// Sent with every call; they may hold secrets.
    pub headers: Vec<(String, String)>,
    /// The folder in which calls are recorded.
    pub record: Option<PathBuf>,
    /// The user's table of models.
    pub models: Option<ModelTable>,
    pub pace: RateLimits,
    pub timeouts: Timeouts,
    /// The requested tier; a provider without it is called at its standard tier.
    pub tier: Tier,
    /// Whether the model works on many jobs that begin alike.
    pub is_wave: bool,
    /// The place where calls are submitted at the tier `batch`; none: that tier isn't used.
    pub posting: Option<CallPosting>,
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
            // Reading a pipe would wait.
            if std::fs::metadata(file).is_ok_and(|found| !found.is_file()) {
                return Err(wrong("it is no file; check the path".to_owned()).into());
            }
            let text = std::fs::read_to_string(file)
                .map_err(|error| wrong(format!("the script can't be read ({error}); check the path")))?;
            Ok(Arc::new(Scripted::parse(file, &text)?))
        }
        ("replay", job) if !job.is_empty() => {
            let path = (options.find_job)(job).map_err(RunError::Request)?;
            recorded(job, &path).map(|replay| Arc::new(replay) as Arc<dyn Model>)
        }
        (provider, model) if !model.is_empty() => {
            let quirks = table::lookup(name, options.models.as_ref(), today());
            match remote::wire_of(provider, quirks.api) {
                #[cfg(feature = "network")]
                Some(wire) => Ok(Arc::new(open_remote(provider, model, &wire, quirks, options)?)),
                #[cfg(not(feature = "network"))]
                Some(_) => Err(ModelError::BuiltWithout { name: name.to_owned() }.into()),
                None => Err(ModelError::Unknown { name: name.to_owned() }.into()),
            }
        }
        _ => Err(ModelError::Unknown { name: name.to_owned() }.into()),
    }
}

/// The replies in the journal of `job`, by conversation and in the order of their turns.
fn recorded(job: &str, path: &Path) -> Result<Replay, RunError> {
    let (mut sees, mut documents) = (false, BTreeSet::new());
    let workspace = Workspace::open(path)?;
    let mut replies: BTreeMap<u32, Vec<Reply>> = BTreeMap::new();
    journal::read(&workspace, |decision| {
        for event in decision.events {
            if let Event::Life(LifeEvent::JobCreated { spec, .. }) = event {
                sees = spec.sees;
                documents.extend(spec.documents.iter().map(|document| document.sha256.clone()));
            } else if let Event::Conversation(ConversationEvent::ModelReplied {
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
            }) = event
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
    Ok(Replay::new(job.to_owned(), replies, sees, documents))
}
