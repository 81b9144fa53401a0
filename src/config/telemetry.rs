//! The target of traces: OpenTelemetry's variables for it, read as its specification says. Other programs share them,
//! so an invalid value is no error here: it is reported when it is to be used.

use super::{Origin, Setting};
use crate::telemetry::TraceTarget;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

/// The collector that the environment names; none if it names none, or if it disables traces.
pub(super) fn target(environment: &[(String, String)]) -> Setting<Option<TraceTarget>> {
    let get = |name: &str| {
        let found = environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    };
    let none = Setting { value: None, origin: Origin::Default };
    if get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || get("OTEL_TRACES_EXPORTER").is_some_and(|value| value.eq_ignore_ascii_case("none"))
    {
        return none;
    }
    let (url, name) = match (get(TRACES_ENDPOINT), get(ENDPOINT)) {
        (Some(url), _) => (url.to_owned(), TRACES_ENDPOINT),
        (None, Some(base)) => (format!("{}/v1/traces", base.trim_end_matches('/')), ENDPOINT),
        (None, None) => return none,
    };
    let headers = get("OTEL_EXPORTER_OTLP_TRACES_HEADERS").or_else(|| get("OTEL_EXPORTER_OTLP_HEADERS"));
    let mut resource = pairs(get("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default());
    let service = get("OTEL_SERVICE_NAME").map(str::to_owned);
    let named = resource.iter().find(|(key, _)| key == "service.name").map(|(_, value)| value.clone());
    resource.retain(|(key, _)| !["service.name", "service.version"].contains(&key.as_str()));
    let service = service.or(named).unwrap_or_else(|| "overnight".to_owned());
    let own = [("service.name", service.as_str()), ("service.version", env!("CARGO_PKG_VERSION"))];
    let own = own.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let target = TraceTarget {
        url,
        headers: pairs(headers.unwrap_or_default()),
        allows_http: false,
        resource: own.into_iter().chain(resource).collect(),
    };
    Setting { value: Some(target), origin: Origin::Environment(name.to_owned()) }
}

/// `key=value,key=value`, percent-encoded.
fn pairs(text: &str) -> Vec<(String, String)> {
    text.split(',')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (decoded(key.trim()), decoded(value.trim())))
        .filter(|(key, _)| !key.is_empty())
        .collect()
}

/// Decodes `%20` and other percent-encodings; invalid ones stay unchanged.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let sign = after.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = sign
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs = Vec<(String, String)>;

    /// Address, headers, and the sender's resource attributes.
    fn read(environment: &[(&str, &str)]) -> Option<(String, Pairs, Pairs)> {
        let environment: Vec<_> =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        target(&environment).value.map(|target| (target.url, target.headers, target.resource))
    }

    fn texts(pairs: &[(&str, &str)]) -> Pairs {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    const VERSION: (&str, &str) = ("service.version", env!("CARGO_PKG_VERSION"));

    #[test]
    fn the_variables_mean_what_their_specification_says() {
        let plain = texts(&[("service.name", "overnight"), VERSION]);
        for (environment, expected) in [
            (&[][..], None),
            (&[(ENDPOINT, " ")], None),
            (&[(ENDPOINT, "http://c:4318"), ("OTEL_SDK_DISABLED", "TRUE")], None),
            (&[(ENDPOINT, "http://c:4318"), ("OTEL_TRACES_EXPORTER", "none")], None),
            (
                &[(ENDPOINT, "http://c:4318/"), ("OTEL_SDK_DISABLED", "false")],
                Some(("http://c:4318/v1/traces".to_owned(), vec![], plain.clone())),
            ),
            (
                &[(ENDPOINT, "http://c:4318"), (TRACES_ENDPOINT, "https://t/as/it/stands")],
                Some(("https://t/as/it/stands".to_owned(), vec![], plain)),
            ),
            (
                &[
                    (ENDPOINT, "http://c/base"),
                    ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b%3D, x = 50%,nothing,=lost,y=%zz%+1"),
                    ("OTEL_RESOURCE_ATTRIBUTES", "service.name=mine,team=caf%C3%A9,service.version=9"),
                ],
                Some((
                    "http://c/base/v1/traces".to_owned(),
                    texts(&[("api-key", "a b="), ("x", "50%"), ("y", "%zz%+1")]),
                    texts(&[("service.name", "mine"), VERSION, ("team", "café")]),
                )),
            ),
            (
                &[
                    (ENDPOINT, "http://c"),
                    ("OTEL_EXPORTER_OTLP_HEADERS", "a=1"),
                    ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "b=2"),
                    ("OTEL_RESOURCE_ATTRIBUTES", "service.name=mine"),
                    ("OTEL_SERVICE_NAME", "night"),
                ],
                Some((
                    "http://c/v1/traces".to_owned(),
                    texts(&[("b", "2")]),
                    texts(&[("service.name", "night"), VERSION]),
                )),
            ),
        ] {
            assert_eq!(read(environment), expected, "{environment:?}");
        }
    }

    #[test]
    fn no_key_is_shown() {
        let environment = [
            (TRACES_ENDPOINT, "https://me:hunter2@c.example:8/v1?key=hunter2"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hunter2"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(
            format!("{:?}", target(&environment).value),
            "Some(TraceTarget { url: \"https://c.example:8/v1\", .. })"
        );
    }
}
