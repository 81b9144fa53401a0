//! Decides which addresses are reached over foreign networks, where plain HTTP would reveal a key.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use url::Url;

/// Whether data sent to `url` crosses networks of others, who could read it.
pub(crate) fn is_exposed(url: &Url) -> bool {
    url.scheme() == "http" && !url.host_str().is_some_and(is_near)
}

/// Whether what is sent to `url` is unencrypted, and stays on this machine or in a private network, unless it goes by a proxy.
pub(crate) fn is_plain_nearby(url: &Url) -> bool {
    url.scheme() == "http" && !is_exposed(url)
}

/// Names that no public name server answers (RFC 6761, 6762 and 8375; `internal` is reserved for private networks).
const PRIVATE_NAMES: [&str; 4] = ["localhost", "local", "internal", "home.arpa"];

/// Whether a host is this machine or in a private network, according to its address or name. A name of one part is
/// assigned within a network, as between containers that work together; it isn't looked up.
fn is_near(host: &str) -> bool {
    match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => is_near_v4(address),
        Ok(IpAddr::V6(address)) => is_near_v6(address),
        Err(_) => {
            let name = host.trim_end_matches('.').to_ascii_lowercase();
            let is_below = |end: &&str| name.strip_suffix(*end).is_some_and(|rest| rest.ends_with('.'));
            !name.contains('.') || PRIVATE_NAMES.iter().any(is_below)
        }
    }
}

/// An address of this machine, private (RFC 1918), or link-local (RFC 3927).
fn is_near_v4(address: Ipv4Addr) -> bool {
    address.is_loopback() || address.is_private() || address.is_link_local() || address.is_unspecified()
}

/// An address of this machine, private (RFC 4193), or link-local (RFC 4291).
fn is_near_v6(address: Ipv6Addr) -> bool {
    address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local() || address.is_unspecified()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_exposed_beyond_the_private_networks() {
        let exposed = |host: &&str| is_exposed(&Url::parse(&format!("http://{host}/v1")).unwrap());
        let near = "localhost localhost:8080 a.localhost LOCALHOST. 127.0.0.1:1 127.8.8.8 0.0.0.0 10.1.2.3 172.16.0.1 \
            172.31.255.255 192.168.1.1:80 169.254.1.1 [::1]:80 [fc00::1] [fd12::1] [fe80::1] [::ffff:10.0.0.1] [::ffff:a00:1] vllm vllm:8000 \
            gpu.local gpu.internal nas.home.arpa 2130706433";
        let far = "example.com api.openai.com. 8.8.8.8 172.15.0.1 172.32.0.1 192.169.1.1 100.64.0.1 11.0.0.1 [2001:db8::1] \
            [::ffff:8.8.8.8] [fec0::1] local.example.com mylocal.de notlocalhost.com internal.example 10.0.0.1.example.com";
        assert_eq!(near.split_whitespace().filter(exposed).collect::<Vec<_>>(), [""; 0]);
        assert_eq!(far.split_whitespace().filter(|host| !exposed(host)).collect::<Vec<_>>(), [""; 0]);
        assert!(!is_exposed(&Url::parse("https://example.com").unwrap()));
    }
}
