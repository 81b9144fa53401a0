//! Which model, at which server: as typed, as configured, and as a job remembers it.

use super::{CliError, Office, out, submit::joined};
use crate::{
    config::{Origin, Partial, Setting, Settings, text_file},
    context::message::Usage,
    model::{
        Model,
        endpoint::Pace,
        remote::{Key, Timeouts},
        table::Table,
    },
    runner::{MODELS_ASSET, ModelOptions, Probed, Session, open_model, probe},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// The model's server, as typed.
#[derive(Clone, clap::Args)]
pub(super) struct Server {
    /// Where the model's server is, instead of its provider's own: http://localhost:8080/v1
    #[arg(long, value_name = "URL", help_heading = "Model")]
    base_url: Option<String>,
    /// The environment variable that holds the key
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    api_key_env: Option<String>,
    /// Sent with every call of the model; may be repeated
    #[arg(long = "header", value_name = "NAME=VALUE", help_heading = "Model")]
    headers: Vec<String>,
    /// A table of models that goes over the shipped one: windows, prices, quirks
    #[arg(long = "models", value_name = "FILE", help_heading = "Model")]
    models_file: Option<String>,
    /// Write each call of the model into this folder, without its key
    #[arg(long, value_name = "FOLDER", help_heading = "Model")]
    record: Option<PathBuf>,
}

/// Not derived: a header may hold a key.
impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

impl Server {
    /// With paths that began in `folder`.
    pub(super) fn below(mut self, folder: &Path) -> Self {
        self.models_file = self.models_file.map(|file| joined(folder, &file));
        self.record = self.record.map(|record| folder.join(record));
        self
    }

    /// Adds what was typed to `flags`.
    pub(super) fn put_into(&self, flags: Partial) -> Partial {
        Partial {
            base_url: self.base_url.clone(),
            api_key_env: self.api_key_env.clone(),
            headers: self.headers.clone(),
            models_file: self.models_file.clone(),
            record: self.record.clone(),
            ..flags
        }
    }
}

/// A model's name, and where it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) base_url: Option<String>,
    pub(super) api_key_env: Option<String>,
    /// The table of models that the job began with; none: what the settings say.
    pub(super) models: Option<String>,
    /// The headers of the command line are meant for its server.
    pub(super) is_theirs: bool,
}

/// Who works on a job: the first, and in its place, one after the other, the others.
#[derive(Debug)]
pub(super) struct Models {
    pub(super) first: Arc<dyn Model>,
    pub(super) others: Vec<Arc<dyn Model>>,
}

impl Target {
    /// The model called `name`, where the settings say.
    pub(super) fn new(name: impl Into<String>, settings: &Settings) -> Self {
        let (base_url, api_key_env) = (settings.base_url.value.clone(), settings.api_key_env.value.clone());
        Self { name: name.into(), base_url, api_key_env, models: None, is_theirs: true }
    }

    /// What a job goes on with: what this command line says, else what the job began with. Only the model that it began with
    /// is sought where it was.
    pub(super) fn of(session: &Session, settings: &Settings) -> Self {
        let spec = &session.job.spec;
        let models = if typed(&settings.models_file).is_some() { None } else { session.models() };
        let target = match typed(&settings.model) {
            Some(name) if *name != spec.model => Self::new(name, settings),
            Some(_) | None => Self {
                name: spec.model.clone(),
                base_url: typed(&settings.base_url).or(spec.base_url.as_ref()).cloned(),
                api_key_env: typed(&settings.api_key_env).or(spec.api_key_env.as_ref()).cloned(),
                models: None,
                is_theirs: true,
            },
        };
        Self { models, ..target }
    }

    /// Who goes on in its place: on the same server, where it has the same provider.
    fn fallback(&self, name: &str) -> Self {
        let provider = |name: &str| name.split_once(':').map(|(provider, _)| provider.to_owned());
        let is_theirs = provider(name) == provider(&self.name);
        let (base_url, api_key_env) =
            if is_theirs { (self.base_url.clone(), self.api_key_env.clone()) } else { (None, None) };
        Self { name: name.to_owned(), base_url, api_key_env, models: self.models.clone(), is_theirs }
    }
}

/// A value that this command line gave. Those of the environment and the file were for the beginning of the job: here they
/// could lower what an earlier `resume` raised.
pub(super) fn typed<T>(setting: &Setting<Option<T>>) -> Option<&T> {
    match setting.origin {
        Origin::Flag => setting.value.as_ref(),
        Origin::Environment(_) | Origin::File { .. } | Origin::Default => None,
    }
}

/// Opens a model.
pub(super) async fn open(office: &Office, target: &Target) -> Result<Arc<dyn Model>, CliError> {
    let settings = &office.settings;
    let Some(job) = target.name.strip_prefix("replay:") else {
        return without_jobs(settings, target);
    };
    // By its whole id: `last` would be another job when this one is resumed.
    let job = office.job(job).await?;
    let replayed = office.own_workspace(&job)?;
    let target = Target { name: format!("replay:{}", job.id()), ..target.clone() };
    opened(settings, &target, &|_| Ok(replayed.clone()))
}

/// Opens a model, and those that go on when it is down or refuses. Those of the same provider are sought on the same server.
pub(super) async fn open_all(office: &Office, target: &Target, fallback: &[String]) -> Result<Models, CliError> {
    let first = open(office, target).await?;
    let mut others = Vec::new();
    for name in fallback {
        let model = open(office, &target.fallback(name)).await;
        others.push(model.map_err(|error| of_fallback(name, &error))?);
    }
    Ok(Models { first, others })
}

/// As [`open_all`], where none of them replays a job.
pub(super) fn all_without_jobs(settings: &Settings, target: &Target, fallback: &[String]) -> Result<Models, CliError> {
    let first = without_jobs(settings, target)?;
    let open =
        |name: &String| without_jobs(settings, &target.fallback(name)).map_err(|error| of_fallback(name, &error));
    Ok(Models { first, others: fallback.iter().map(open).collect::<Result<_, _>>()? })
}

fn of_fallback(name: &str, error: &CliError) -> CliError {
    CliError { message: format!("fallback {name}: {error}"), code: error.code }
}

/// Opens a model that replays no job.
pub(super) fn without_jobs(settings: &Settings, target: &Target) -> Result<Arc<dyn Model>, CliError> {
    opened(settings, target, &|job| Err(format!("the job '{job}' can't be found without the database")))
}

/// Tries a model with tiny calls; nothing is tried of one that is no model behind HTTP.
pub(super) async fn tried(settings: &Settings, target: &Target) -> Result<Vec<Probed>, CliError> {
    let find_key = |name: &str| settings.key(name);
    let find_job = |job: &str| Err(format!("the job '{job}' is not looked for here"));
    Ok(probe(&target.name, &options(settings, target, &find_job, &find_key)?).await?)
}

fn opened(
    settings: &Settings,
    target: &Target,
    find_job: &dyn Fn(&str) -> Result<PathBuf, String>,
) -> Result<Arc<dyn Model>, CliError> {
    let find_key = |name: &str| settings.key(name);
    Ok(open_model(&target.name, &options(settings, target, find_job, &find_key)?)?)
}

fn options<'a>(
    settings: &Settings,
    target: &Target,
    find_job: &'a dyn Fn(&str) -> Result<PathBuf, String>,
    find_key: &'a dyn Fn(&str) -> Option<Key>,
) -> Result<ModelOptions<'a>, CliError> {
    Ok(ModelOptions {
        find_job,
        find_key,
        base_url: target.base_url.clone(),
        api_key_env: target.api_key_env.clone(),
        headers: if target.is_theirs { settings.headers.reveal().to_vec() } else { Vec::new() },
        record: settings.record.clone(),
        models: models(settings, target)?,
        pace: Pace {
            requests_per_minute: settings.requests_per_minute.value,
            tokens_per_minute: settings.tokens_per_minute.value,
            parallel_calls: settings.parallel_calls.value,
        },
        timeouts: timeouts(settings),
    })
}

/// The user's table of models.
fn models(settings: &Settings, target: &Target) -> Result<Option<Table>, CliError> {
    let table = match &target.models {
        Some(kept) => Some((MODELS_ASSET.to_owned(), kept.clone())),
        None => models_text(settings)?,
    };
    let Some((file, text)) = table else { return Ok(None) };
    let table = Table::parse(&file, &text).map_err(|error| CliError::usage(error.to_string()))?;
    Ok(Some(table))
}

/// Name and text of the file that the settings name.
pub(super) fn models_text(settings: &Settings) -> Result<Option<(String, String)>, CliError> {
    let Some(path) = &settings.models_file.value else { return Ok(None) };
    let file = path.display().to_string();
    let text = text_file(path).map_err(|why| CliError::usage(format!("{file} can't be used as models file: {why}")))?;
    Ok(Some((file, text)))
}

/// Says so where a limit on the cost can't hold, because nobody knows what a call costs.
pub(super) fn warn_of_price(models: &Models, limit: Option<f64>) {
    if limit.is_none() {
        return;
    }
    for model in std::iter::once(&models.first).chain(&models.others) {
        if model.cost(&Usage::default()).is_none() {
            out::talk(&format!(
                "no price is known for {}: tokens are counted, and the limit on the cost can't hold them; give the price with --models",
                model.name()
            ));
        }
    }
}

/// Who waits longer between two pieces of a reply waits no shorter for the first.
fn timeouts(settings: &Settings) -> Timeouts {
    let timeouts = Timeouts::default();
    let Some(idle) = settings.idle_timeout_ms.value.map(Duration::from_millis) else { return timeouts };
    Timeouts { idle, first_byte: timeouts.first_byte.max(idle), whole: timeouts.whole.max(idle) }
}
