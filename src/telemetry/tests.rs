//! Targets that can't be used.

use super::*;

#[test]
fn a_target_that_cannot_be_used_is_a_sentence_without_its_keys() {
    let target = |url: &str, headers: &[(&str, &str)]| TraceTarget {
        url: url.to_owned(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        allows_http: false,
        resource: Vec::new(),
    };
    for (target, expected) in [
        (
            target("collector:4318/hunter2", &[]),
            "no traces are sent to an address that can't be used: it must begin with http:// or https://",
        ),
        (
            target("//hunter2", &[]),
            "no traces are sent to an address that can't be used: it is not a URL (relative URL without a base)",
        ),
        (
            target("http://c.example/v1/traces", &[("api-key", "hunter2")]),
            "no traces are sent to http://c.example/v1/traces: its headers would go over plain HTTP, for others to read: name an https:// address, or allow it with --allow-http",
        ),
        (
            target("https://me:hunter2@c.example/v1/traces?hunter2", &[("api-key", "hunter2\n")]),
            "no traces are sent to https://c.example/v1/traces: the value of its header 'api-key' can't be sent",
        ),
        (
            target("http://c/v1/traces", &[("hunter2 hunter2", "x")]),
            "no traces are sent to http://c/v1/traces: a name among its headers can't be sent",
        ),
    ] {
        assert_eq!(Exporter::start(&target).map(|_| ()).unwrap_err().to_string(), expected);
    }
}
