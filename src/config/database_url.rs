//! The database's URL, which may carry a password: shown in `doctor`, logs and errors only without it.

use super::sources::InvalidValue;
use std::{fmt, path::Path};

/// A database URL. [`DatabaseUrl::reveal`] is the only access to its text; the displayed form has no password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Accepts URLs for which the store has an engine.
    pub(super) fn parse(text: &str) -> Result<Self, InvalidValue> {
        // The text is not repeated in an error: it may be a password.
        if !["sqlite:", "postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Err(InvalidValue::new("must begin with sqlite:, postgres:// or postgresql://"));
        }
        if text.chars().any(char::is_control) {
            return Err(InvalidValue::new("must be one line of text"));
        }
        Ok(Self(text.to_owned()))
    }

    /// Resolves a file's relative path against `folder`.
    pub(super) fn below(self, folder: &Path) -> Self {
        match self.0.strip_prefix("sqlite://") {
            Some(file) if !file.starts_with('/') && !folder.as_os_str().is_empty() => {
                Self(format!("sqlite://{}", folder.join(file).display()))
            }
            Some(_) | None => self,
        }
    }

    /// The whole URL, for the database client only.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.0))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

/// `url` with its password, and what in its query looks like one, as `***`. Hides rather too much than too little.
fn without_password(url: &str) -> String {
    // A password may hold any character, so it ends at the last '@'.
    let (user, rest) = match url.rsplit_once('@') {
        Some((before, rest)) => (before, Some(rest)),
        None => (url, None),
    };
    let Some(rest) = rest else { return without_secrets(url) };
    let hidden = match user.split_once("://").map(|(scheme, user)| (scheme, user.split_once(':'))) {
        Some((scheme, Some((name, _)))) => format!("{scheme}://{name}:***"),
        Some((_, None)) | None => user.to_owned(),
    };
    format!("{hidden}@{}", without_secrets(rest))
}

/// `url` with the values of its query that look secret as `***`.
fn without_secrets(url: &str) -> String {
    let Some((base, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let pairs: Vec<String> = query
        .split('&')
        .map(|pair| {
            let key = pair.split('=').next().unwrap_or("");
            let secret = ["pass", "secret", "token"].iter().any(|word| key.to_lowercase().contains(word));
            if secret { format!("{key}=***") } else { pair.to_owned() }
        })
        .collect();
    format!("{base}?{}", pairs.join("&"))
}
