//! The password of a database's URL, so that it can be kept out of messages.

use std::fmt;

/// The replacement for a password.
const HIDDEN: &str = "***";

/// The password of a URL, as written and as meant.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct UrlSecrets(Vec<String>);

impl UrlSecrets {
    /// `rest` is what follows `://`.
    pub(super) fn of(rest: &str) -> Self {
        let login = rest.rsplit_once('@').and_then(|(login, _)| login.split_once(':')).map(|(_, password)| password);
        let parameters = rest.split_once('?').map_or("", |(_, parameters)| parameters);
        let named = parameters.split('&').filter_map(|parameter| parameter.strip_prefix("password="));
        let mut secrets: Vec<String> =
            login.into_iter().chain(named).flat_map(|written| [written.to_owned(), decoded(written)]).collect();
        secrets.retain(|secret| !secret.is_empty());
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self(secrets)
    }

    /// `text` without them, where it holds them as it would hold a password: a password may be a word, and a sentence that
    /// misses its words would give it away.
    pub(super) fn redacted(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| redacted(&text, secret))
    }
}

/// Letters of a password that is recognised anywhere.
const UNMISTAKABLE: usize = 6;

/// `text` with `***` in place of `secret`: in a URL, and, where it is no word or number, wherever it stands by itself.
fn redacted(text: &str, secret: &str) -> String {
    let kinds = [char::is_alphabetic, char::is_numeric, |letter: char| !letter.is_alphanumeric()];
    let is_mixed = kinds.iter().filter(|is_of_kind| secret.chars().any(is_of_kind)).count() > 1;
    let is_unmistakable = is_mixed && secret.chars().count() >= UNMISTAKABLE;
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(secret) {
        let after = &rest[place + secret.len()..];
        shown.push_str(&rest[..place]);
        let is_apart = !shown.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
        let is_login = shown.ends_with(':') && after.starts_with('@');
        let is_named = shown.to_lowercase().ends_with("password=");
        let is_it = is_apart && (is_login || is_named || is_unmistakable);
        shown.push_str(if is_it { HIDDEN } else { secret });
        rest = after;
    }
    shown.push_str(rest);
    shown
}

impl fmt::Debug for UrlSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// Decodes percent-encoding; invalid sequences are left as they are.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
