//! Keys, and how to keep them out of everything that is written: secrets are removed from a server's words first.

use serde_json::Value;
use std::{borrow::Cow, fmt};

/// The replacement for a secret.
const HIDDEN: &str = "***";
/// A shorter text is no secret: such keys are made up for servers that want none (`x`, `-`), and occur in any text.
const LEAST_SECRET: usize = 4;
/// A header's value of this length may be a secret, whatever the header's name; shorter ones occur in any text.
const LEAST_VALUE: usize = 8;
/// Parts of header names whose values are secrets.
const SECRET_NAMES: [&str; 7] = ["auth", "key", "token", "secret", "cookie", "password", "credential"];

/// The key of a model server. Shown, it is `Key(…)`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// Removes blanks and line ends around a copied key; `None` if nothing else is there.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The key itself, for code that sends it or signs with it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Whether the value of the header or query field called `name` counts as a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_NAMES.iter().any(|word| name.contains(word))
}

/// Texts that must not be written anywhere.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// The key, and the values of the user's headers: any of them may be a secret.
    pub(super) fn new(key: Option<&Key>, headers: &[(String, String)]) -> Self {
        let headers = headers.iter().filter(|(name, value)| is_secret_name(name) || value.len() >= LEAST_VALUE);
        let headers = headers.map(|(_, value)| value.as_str());
        let mut texts = Vec::new();
        for secret in key.map(Key::reveal).into_iter().chain(headers) {
            // `Bearer abc` is quoted without its first word, too.
            for text in [secret, secret.split_whitespace().next_back().unwrap_or_default()] {
                let quoted = Value::from(text).to_string();
                let quoted = quoted.trim_matches('"');
                texts.extend([text.to_owned(), quoted.to_owned(), quoted.replace('/', "\\/"), escaped(text)]);
            }
        }
        texts.retain(|text| text.len() >= LEAST_SECRET);
        texts.sort();
        texts.dedup();
        // Replacing a secret that is part of a longer one first would leave the rest of the longer one.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Self(texts)
    }

    /// `text` without the secrets.
    pub(super) fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        for secret in &self.0 {
            if memchr::memmem::find(clean.as_bytes(), secret.as_bytes()).is_some() {
                clean = Cow::Owned(clean.replace(secret, HIDDEN));
            }
        }
        clean
    }

    /// As [`Secrets::hide`], in place.
    pub(super) fn hide_in(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.hide(text) {
            *text = clean;
        }
    }

    /// `value` without the secrets, in names and texts.
    pub(super) fn hide_in_value(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.hide_in(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in_value(item)),
            Value::Object(fields) => {
                if fields.keys().any(|name| matches!(self.hide(name), Cow::Owned(_))) {
                    let renamed = std::mem::take(fields).into_iter();
                    *fields = renamed.map(|(name, field)| (self.hide(&name).into_owned(), field)).collect();
                }
                fields.values_mut().for_each(|field| self.hide_in_value(field));
            }
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(…)")
    }
}

/// In the form that it has in a URL.
fn escaped(text: &str) -> String {
    use fmt::Write;
    let mut url = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_form_of_a_secret_is_left() {
        let key = Key::new(" sk-a/b\"c+d\n").unwrap();
        assert_eq!(format!("{key:?} {:?}", Secrets::new(Some(&key), &[])), "Key(…) Secrets(…)");
        let headers = [
            ("Authorization".to_owned(), "Bearer planted".to_owned()),
            ("x-project".to_owned(), "open".to_owned()),
            ("api-key".to_owned(), "abc".to_owned()),
            ("x-tenant".to_owned(), "acme-1234567".to_owned()),
        ];
        let secrets = Secrets::new(Some(&key), &headers);
        for (said, expected) in [
            ("wrong key sk-a/b\"c+d!", "wrong key ***!"),
            (r#"{"key":"sk-a/b\"c+d"}"#, r#"{"key":"***"}"#),
            (r#"{"key":"sk-a\/b\"c+d"}"#, r#"{"key":"***"}"#),
            ("?key=sk-a%2Fb%22c%2Bd&x", "?key=***&x"),
            ("Bearer planted, planted, open", "***, ***, open"),
            ("abc is too short to be one", "abc is too short to be one"),
            ("who is acme-1234567?", "who is ***?"),
        ] {
            assert_eq!(secrets.hide(said), expected);
        }
        let mut value = json!({"planted": [1, "is planted", {"a": null}], "b": true});
        secrets.hide_in_value(&mut value);
        assert_eq!(value, json!({"***": [1, "is ***", {"a": null}], "b": true}));
    }

    #[test]
    fn an_empty_key_is_none() {
        assert_eq!(Key::new(" \n"), None);
    }
}
