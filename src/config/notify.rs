//! The recipients of notices when a batch has ended, and when a person is needed.

use super::{
    ConfigError, Flags, Origin, Setting, Settings,
    sources::{InvalidValue, SettingKey, SettingSources, line, variable},
};
use crate::{
    model::remote::Key,
    notify::{EmailChannel, InvalidChannel, NoticeChannel, NoticeTarget},
};
use std::fmt;

const COMMAND: SettingKey = SettingKey { name: "notify.command", flag: "--notify-command" };
const URL: SettingKey = SettingKey { name: "notify.webhook.url", flag: "--notify-webhook" };
const SECRET: SettingKey = SettingKey::without_flag("notify.webhook.secret_env");
const SMTP: SettingKey = SettingKey::without_flag("notify.email.smtp");
const FROM: SettingKey = SettingKey::without_flag("notify.email.from");
const TO: SettingKey = SettingKey { name: "notify.email.to", flag: "--notify-email" };
const USER: SettingKey = SettingKey::without_flag("notify.email.user");
const PASSWORD: SettingKey = SettingKey::without_flag("notify.email.password_env");
/// All of them.
pub(super) const KEYS: [SettingKey; 8] = [COMMAND, URL, SECRET, SMTP, FROM, TO, USER, PASSWORD];

/// The settings that were given as flags.
pub(super) fn typed(flags: &Flags) -> [(&'static str, &Option<String>); 3] {
    [(COMMAND.name, &flags.notify_command), (URL.name, &flags.notify_webhook), (TO.name, &flags.notify_email)]
}

/// The settings for notices, unchecked.
#[derive(Clone, PartialEq)]
pub struct NotifySettings {
    command: Setting<Option<String>>,
    url: Setting<Option<String>>,
    secret_env: Setting<Option<String>>,
    smtp: Setting<Option<String>>,
    from: Setting<Option<String>>,
    to: Setting<Option<String>>,
    user: Setting<Option<String>>,
    password_env: Setting<Option<String>>,
}

/// Not derived: an address may be a secret.
impl fmt::Debug for NotifySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NotifySettings(…)")
    }
}

impl NotifySettings {
    pub(super) fn read(sources: &SettingSources) -> Result<Self, ConfigError> {
        Ok(Self {
            command: sources.optional(&COMMAND, line)?,
            url: sources.optional(&URL, address)?,
            secret_env: sources.optional(&SECRET, variable)?,
            smtp: sources.optional(&SMTP, line)?,
            from: sources.optional(&FROM, mailbox)?,
            to: sources.optional(&TO, mailboxes)?,
            user: sources.optional(&USER, line)?,
            password_env: sources.optional(&PASSWORD, variable)?,
        })
    }

    /// The settings that are set, with their origins. Only an address's server is shown: the rest may be secret.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'static str, String, Origin)> {
        let server = |url: &String| {
            let read = url::Url::parse(url).ok();
            read.map_or_else(|| url.clone(), |url| url.origin().ascii_serialization() + "/…")
        };
        let url = Setting { value: self.url.value.as_ref().map(server), origin: self.url.origin.clone() };
        let all = [
            (&COMMAND, &self.command),
            (&URL, &url),
            (&SECRET, &self.secret_env),
            (&SMTP, &self.smtp),
            (&FROM, &self.from),
            (&TO, &self.to),
            (&USER, &self.user),
            (&PASSWORD, &self.password_env),
        ];
        let rows = all.map(|(key, setting)| Some((key.name, setting.value.clone()?, setting.origin.clone())));
        rows.into_iter().flatten()
    }
}

impl Settings {
    /// The recipients of notices, with secrets from the environment. An incomplete recipient is an error.
    pub fn notice_targets(&self) -> Result<Vec<NoticeTarget>, ConfigError> {
        let notify = &self.notify;
        let mut channels = Vec::new();
        if let Some(line) = &notify.command.value {
            channels.push(NoticeChannel::Command { line: line.clone() });
        }
        match &notify.url.value {
            Some(url) => {
                let secret = self.secret(&SECRET, &notify.secret_env)?;
                channels.push(NoticeChannel::webhook(url, secret).map_err(|error| wrong(&URL, &notify.url, error))?);
            }
            None => needs(&SECRET, &notify.secret_env, &URL)?,
        }
        channels.extend(self.email()?.map(|email| NoticeChannel::Email(Box::new(email))));
        Ok(channels.into_iter().map(|channel| NoticeTarget { channel, only_ends: false }).collect())
    }

    fn email(&self) -> Result<Option<EmailChannel>, ConfigError> {
        let notify = &self.notify;
        let (smtp, from, to) = (&notify.smtp, &notify.from, &notify.to);
        let missing = |setting: &Setting<Option<String>>| setting.value.is_none();
        let parts = [(&SMTP, smtp), (&FROM, from), (&TO, to)];
        let Some((key, there)) = parts.into_iter().find(|(_, setting)| !missing(setting)) else {
            return needs(&USER, &notify.user, &SMTP).map(|()| None);
        };
        for (other, _) in parts.into_iter().filter(|(_, setting)| missing(setting)) {
            needs(key, there, other)?;
        }
        match (missing(&notify.user), missing(&notify.password_env)) {
            (false, true) => needs(&USER, &notify.user, &PASSWORD)?,
            (true, false) => needs(&PASSWORD, &notify.password_env, &USER)?,
            (true, true) | (false, false) => {}
        }
        let password = self.secret(&PASSWORD, &notify.password_env)?;
        let (Some(server), Some(from), Some(to)) = (&smtp.value, &from.value, &to.value) else { return Ok(None) };
        let login = notify.user.value.clone().zip(password);
        let made = EmailChannel::new(server, from, to, login);
        made.map(Some).map_err(|error| wrong(&SMTP, smtp, error))
    }

    /// The value of the variable that a setting names.
    fn secret(&self, key: &SettingKey, setting: &Setting<Option<String>>) -> Result<Option<Key>, ConfigError> {
        let Some(name) = &setting.value else { return Ok(None) };
        let unset = || {
            let what = format!("is not set, and '{}' names it: set it, or leave that out", key.name);
            ConfigError::InVariable { name: name.clone(), what }
        };
        self.key(name).map(Some).ok_or_else(unset)
    }
}

/// The error if a setting is given and the one that it requires is missing.
fn needs(key: &SettingKey, setting: &Setting<Option<String>>, other: &SettingKey) -> Result<(), ConfigError> {
    if setting.value.is_none() {
        return Ok(());
    }
    Err(key.error(setting.origin.clone(), format!("needs '{}' too", other.name)))
}

fn wrong(key: &SettingKey, setting: &Setting<Option<String>>, error: InvalidChannel) -> ConfigError {
    key.error(setting.origin.clone(), error.0)
}

fn address(text: &str) -> Result<String, InvalidValue> {
    NoticeChannel::webhook(text, None).map(|_| text.to_owned()).map_err(|error| InvalidValue(error.0))
}

fn mailbox(text: &str) -> Result<String, InvalidValue> {
    checked(text, EmailChannel::is_mailbox(text))
}

fn mailboxes(text: &str) -> Result<String, InvalidValue> {
    checked(text, EmailChannel::are_mailboxes(text))
}

fn checked(text: &str, is_sound: bool) -> Result<String, InvalidValue> {
    let wrong = || InvalidValue::new("must be an e-mail address such as me@example.org, or 'My Name <me@example.org>'");
    is_sound.then(|| text.to_owned()).ok_or_else(wrong)
}
