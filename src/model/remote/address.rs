//! The address of a server, and its name in messages: without anything that may be secret.

use super::key::is_secret_name;
use crate::{
    exposure::{is_exposed, is_plain_nearby},
    model::ModelError,
};
use url::Url;

/// A base URL, to which a format appends its paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// With a trailing `/`, without the query.
    base: String,
    query: Option<String>,
}

impl Address {
    /// Reads a base URL. Parts that could be secret are refused: `job.yaml`, errors and recordings show the URL.
    pub(super) fn parse(text: &str) -> Result<Self, ModelError> {
        let wrong = |url: &str, what: &str| ModelError::BaseUrl { url: url.to_owned(), what: what.to_owned() };
        // Never shown before it is known to hold no password.
        let url = Url::parse(text).map_err(|error| wrong("given", &format!("is no URL ({error})")))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("given", "holds a user name or password: give the key by --api-key-env or --header"));
        }
        if url.query_pairs().any(|(name, _)| is_secret_name(&name)) {
            return Err(wrong("given", "holds a secret in its query: give the key by --api-key-env or --header"));
        }
        if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
            return Err(wrong(text, "must begin with http:// or https:// and a host"));
        }
        if url.fragment().is_some() {
            return Err(wrong(text, "must not have a part behind #"));
        }
        let query = url.query().map(str::to_owned);
        let mut base = url;
        base.set_query(None);
        let mut base = base.to_string();
        if !base.ends_with('/') {
            base.push('/');
        }
        Ok(Self { base, query })
    }

    /// The readable form, for messages.
    pub(super) fn shown(&self) -> &str {
        self.base.trim_end_matches('/')
    }

    /// Whether data sent there crosses networks of others, who could read it.
    pub(super) fn is_exposed(&self) -> bool {
        Url::parse(&self.base).is_ok_and(|url| is_exposed(&url))
    }

    /// Whether to bypass a proxy, which would see the data sent.
    pub(super) fn is_plain_nearby(&self) -> bool {
        Url::parse(&self.base).is_ok_and(|url| is_plain_nearby(&url))
    }

    /// In a form that can be parsed again.
    pub(super) fn text(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.base),
            None => self.base.clone(),
        }
    }

    /// The URL of `path`, which may have a query of its own. If the base already ends with the version with which
    /// `path` begins, as in many vendors' own examples, it is not repeated.
    pub(super) fn url(&self, path: &str) -> String {
        let version = path.split_inclusive('/').next().filter(|part| {
            let number = part.strip_prefix('v').and_then(|part| part.strip_suffix('/'));
            number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        });
        let given = version.and_then(|version| self.base.strip_suffix(version)).filter(|base| base.ends_with('/'));
        let url = format!("{}{path}", given.unwrap_or(&self.base));
        match &self.query {
            Some(query) => format!("{url}{}{query}", if path.contains('?') { '&' } else { '?' }),
            None => url,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_behind_the_base() {
        for (base, path, expected) in [
            ("http://h:8/v1", "chat/completions", "http://h:8/v1/chat/completions"),
            ("http://h:8/v1/", "chat/completions", "http://h:8/v1/chat/completions"),
            ("https://h", "api/chat", "https://h/api/chat"),
            ("https://h", "v1/messages", "https://h/v1/messages"),
            ("https://h/v1", "v1/messages", "https://h/v1/messages"),
            ("https://h/av1/", "v1/messages", "https://h/av1/v1/messages"),
            ("https://h/v2", "v1/messages", "https://h/v2/v1/messages"),
            ("https://h/api", "api/chat", "https://h/api/api/chat"),
            ("https://h/d/x?api-version=2", "chat", "https://h/d/x/chat?api-version=2"),
            ("https://h/v1?a=b", "m:stream?alt=sse", "https://h/v1/m:stream?alt=sse&a=b"),
        ] {
            assert_eq!(Address::parse(base).unwrap().url(path), expected);
        }
        let address = Address::parse("https://h/d?api-version=2").unwrap();
        assert_eq!((address.shown(), Address::parse(&address.text()).unwrap()), ("https://h/d", address.clone()));
    }

    #[test]
    fn what_is_no_base_url_is_refused_without_its_secrets() {
        for (base, expected) in [
            ("localhost:8080/v1", "the base URL localhost:8080/v1 must begin with http:// or https:// and a host"),
            ("h/v1", "the base URL given is no URL (relative URL without a base)"),
            ("ftp://h/", "the base URL ftp://h/ must begin with http:// or https:// and a host"),
            ("http://h/#x", "the base URL http://h/#x must not have a part behind #"),
            (
                "http://me:planted@h/",
                "the base URL given holds a user name or password: give the key by --api-key-env or --header",
            ),
            (
                "http://h/?api_key=planted",
                "the base URL given holds a secret in its query: give the key by --api-key-env or --header",
            ),
        ] {
            let error = Address::parse(base).unwrap_err().to_string();
            assert_eq!(error, format!("{expected}; check --base-url"));
        }
    }
}
