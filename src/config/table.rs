//! The table of settings. Each entry defines a setting's meaning, its name in the file, its flag, its default, its
//! parser and its display. Flags, variables, [`Settings`], and the output of `overnight doctor` follow from it. The
//! settings of `notify` belong together and are in a file of their own.

use super::{
    ApiKeys, BaseUrl, CloudVariables, ConfigError, ConfigFile, DatabaseUrl, Headers, InvalidValue, LogFormat,
    NotifySettings, Origin, Setting, base_folder, notify,
    sources::{
        SettingKey, SettingSources, at_least, duration, flag, folder, line, not_zero, server, shown_path, shown_period,
        usd, use_mode, variable, workspace_store,
    },
    telemetry,
};
use crate::{
    extraction::{SandboxMode, UseMode},
    telemetry::TraceTarget,
};
use overnight_core::job::{instructions::MIN_BUDGET_TOKENS, models::Tier, time::Timestamp};
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// Generates [`Flags`], [`Settings`], the list of keys, and their parsing and display from the table. A setting without
/// `flag` has only the environment and the file; one without `default` is optional; `below` resolves relative paths.
macro_rules! settings {
    (
        table {
            $($(#[$doc:meta])* $field:ident: $type:ty = $name:literal
                $(, flag $flag:literal of $given:ident)? $(, default $default:expr)?,
                read $read:expr, shown $shown:expr $(, below $below:expr)?;)+
        }
        flags { $($more_flags:tt)* }
        settings { $($more_settings:tt)* }
    ) => {
        /// The values from the command line, as typed. They are all checked in one place, [`Settings::load`].
        #[derive(Clone, Default, PartialEq, Eq)]
        pub struct Flags {
            $($(#[doc = $flag] pub $given: Option<String>,)?)+
            $($more_flags)*
        }

        /// All settings. An optional value without an entry is left to the instructions.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $($(#[$doc])* pub $field: Setting<$type>,)+
            $($more_settings)*
        }

        impl Settings {
            /// Merges the four sources. An empty variable counts as not set. The default paths begin in `root`.
            pub fn load(
                flags: &Flags,
                environment: impl Iterator<Item = (String, String)>,
                file: Option<&ConfigFile>,
                root: &Path,
            ) -> Result<Self, ConfigError> {
                let (mut keys, mut cloud) = (ApiKeys::default(), CloudVariables::default());
                let environment: Vec<(String, String)> = environment
                    .inspect(|(name, value)| {
                        keys.take(name, value);
                        cloud.take(name, value);
                    })
                    .collect();
                let telemetry = telemetry::target(&environment);
                let mut known = vec![$(settings!(@key $name $(, $flag)?)),+];
                known.extend(notify::KEYS);
                let typed = [$($(settings!(@typed $flag, $name, &flags.$given),)?)+].into_iter().chain(notify::typed(flags));
                let typed = typed.filter_map(|(name, text)| Some((name, text.clone()?))).collect();
                let sources = SettingSources::new(&known, typed, environment.into_iter(), file)?;
                $(let $field = {
                    let key = settings!(@key $name $(, $flag)?);
                    settings!(@read sources, key, $read $(, $default)?)?$(.resolved_in(root, &$below))?
                };)+
                let (headers, notify) = (Headers::parse(&flags.headers)?, NotifySettings::read(&sources)?);
                let (batch_until, record) = (flags.batch_until, flags.record.clone());
                let mut settings = Self { $($field,)+ batch_until, headers, record, keys, cloud, notify, telemetry };
                if let Some(target) = &mut settings.telemetry.value {
                    target.allows_http = settings.allow_http.value;
                }
                Ok(settings)
            }

            /// Name, value as it may be shown, and origin of everything.
            pub fn rows(&self) -> Vec<(&'static str, String, Origin)> {
                let mut rows = vec![$((
                    $name,
                    settings!(@show &self.$field.value, $shown $(, $default)?),
                    self.$field.origin.clone(),
                )),+];
                rows.extend(self.notify.rows());
                // This name can't be set: the origin shows the variable that can.
                rows.extend(
                    self.telemetry.value.iter().map(|target| ("traces", target.shown(), self.telemetry.origin.clone())),
                );
                rows
            }
        }
    };
    (@key $name:literal) => { SettingKey::without_flag($name) };
    (@key $name:literal, $flag:literal) => { SettingKey { name: $name, flag: $flag } };
    (@typed $flag:literal, $name:literal, $text:expr) => { ($name, $text) };
    (@read $sources:ident, $key:ident, $read:expr) => { $sources.optional(&$key, $read) };
    (@read $sources:ident, $key:ident, $read:expr, $default:expr) => { $sources.setting(&$key, $default, $read) };
    (@show $value:expr, $shown:expr) => { $value.as_ref().map_or_else(|| "not set".to_owned(), $shown) };
    (@show $value:expr, $shown:expr, $default:expr) => { ($shown)($value) };
}

settings! {
    table {
        /// The database of jobs, queue and schedules.
        database_url: DatabaseUrl = "database_url", flag "--database-url" of database_url,
            default "sqlite://workspaces/overnight.db", read DatabaseUrl::parse, shown DatabaseUrl::to_string,
            below DatabaseUrl::below;
        /// The folder in which each job gets its own workspace.
        workspaces: PathBuf = "workspaces", flag "--workspaces" of workspaces, default "workspaces", read folder,
            shown shown_path, below base_folder::below;
        /// The store of workspaces for other machines; `None`: a job stays on the machine that has its workspace.
        workspace_store: Option<String> = "workspace_store", flag "--workspace-store" of workspace_store,
            read workspace_store, shown String::clone;
        /// The folder of instructions files.
        instructions: PathBuf = "instructions", flag "--instructions" of instructions, default "instructions",
            read folder, shown shown_path, below base_folder::below;
        /// `provider:name`
        model: Option<String> = "model", flag "--model" of model, read line, shown String::clone,
            below base_folder::script_below;
        /// The tier of the model's calls; `None`: as in the instructions.
        tier: Option<Tier> = "tier", flag "--tier" of tier,
            read |text| Tier::parse(text).ok_or_else(|| InvalidValue::new("must be standard, flex or batch")),
            shown |tier| tier.name().to_owned();
        /// Tokens of a prompt.
        budget_tokens: Option<u64> = "budget_tokens", flag "--budget-tokens" of budget_tokens,
            read |text| at_least(MIN_BUDGET_TOKENS, text), shown u64::to_string;
        /// Turns that a job may take.
        turns: Option<u64> = "turns", flag "--turns" of turns, read not_zero, shown u64::to_string;
        /// USD that a job may cost.
        cost_usd: Option<f64> = "cost_usd", flag "--cost" of cost, read usd, shown f64::to_string;
        /// Whether a job with a limit on its cost goes on although its model has no known price.
        unpriced: bool = "unpriced", flag "--unpriced" of unpriced, default "false", read flag, shown bool::to_string;
        /// Milliseconds that a job may take.
        wall_clock_ms: Option<u64> = "wall_clock", flag "--wall-clock" of wall_clock, read duration, shown shown_period;
        /// Tokens that a job may use in all.
        tokens: Option<u64> = "tokens", flag "--tokens" of tokens, read not_zero, shown u64::to_string;
        /// Address of the model's server; `None`: the provider's own server.
        base_url: Option<BaseUrl> = "base_url", flag "--base-url" of base_url, read server, shown BaseUrl::to_string;
        /// The variable that holds the key; none: the provider's usual one.
        api_key_env: Option<String> = "api_key_env", flag "--api-key-env" of api_key_env, read variable,
            shown String::clone;
        /// Whether a key may go over plain HTTP to any server.
        allow_http: bool = "allow_http", flag "--allow-http" of allow_http, default "false", read flag,
            shown bool::to_string;
        /// A table of models that overrides the shipped one.
        models_file: Option<PathBuf> = "models_file", flag "--models" of models_file, read folder, shown shown_path,
            below base_folder::optional_below;
        /// A limit for a model's server, shared by all jobs of a process; so are the next two.
        requests_per_minute: Option<u64> = "requests_per_minute", read not_zero, shown u64::to_string;
        /// A limit for a model's server.
        tokens_per_minute: Option<u64> = "tokens_per_minute", read not_zero, shown u64::to_string;
        /// Simultaneous calls of a model's server.
        parallel_calls: Option<u64> = "parallel_calls", read not_zero, shown u64::to_string;
        /// Milliseconds, at most, without a byte of a reply that has begun.
        idle_timeout_ms: Option<u64> = "idle_timeout", read duration, shown shown_period;
        /// Whether characters are recognised in images.
        ocr: UseMode = "documents.ocr", default UseMode::Auto.as_str(), read use_mode,
            shown |mode: &UseMode| mode.as_str().to_owned();
        /// Whether models look at scanned pages.
        vision: UseMode = "documents.vision", default UseMode::Auto.as_str(), read use_mode,
            shown |mode: &UseMode| mode.as_str().to_owned();
        /// Whether readers of documents are confined.
        sandbox: SandboxMode = "documents.sandbox", default SandboxMode::Auto.as_str(),
            read |text| SandboxMode::parse(text).ok_or_else(|| InvalidValue::new("must be auto, required or off")),
            shown |mode: &SandboxMode| mode.as_str().to_owned();
        /// The most MiB of texts that are kept for later jobs.
        cache_mib: u64 = "documents.cache_mib", default "4096", read |text| at_least(0, text), shown u64::to_string;
        /// Format of messages on stderr.
        log_format: LogFormat = "log_format", flag "--log-format" of log_format, default LogFormat::Text.name(),
            read LogFormat::parse, shown |format: &LogFormat| format.name().to_owned();
    }

    flags {
        /// `--config`: the file to read instead of `overnight.yaml`.
        pub config: Option<PathBuf>,
        /// A flag without a setting.
        pub batch_until: Option<Timestamp>,
        /// `NAME=VALUE` each.
        pub headers: Vec<String>,
        pub record: Option<PathBuf>,
        pub notify_command: Option<String>,
        pub notify_webhook: Option<String>,
        pub notify_email: Option<String>,
    }

    settings {
        /// The time until which answers at the tier `batch` are awaited; only a flag sets it.
        pub batch_until: Option<Timestamp>,
        /// Headers that are sent with every call of a model; only flags set them.
        pub headers: Headers,
        /// The folder in which calls of a model are recorded; only a flag sets it.
        pub record: Option<PathBuf>,
        pub(super) keys: ApiKeys,
        pub(super) cloud: CloudVariables,
        /// The recipients of notices about batches.
        pub notify: NotifySettings,
        /// The collector of traces, if there is one.
        pub telemetry: Setting<Option<TraceTarget>>,
    }
}

/// Not derived: a database URL may carry a password, a header a key.
impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flags").field("config", &self.config).finish_non_exhaustive()
    }
}
