//! Who may ask: the token, the host that is asked for, and the token of forms.
//!
//! One secret is known to who started the server. A browser gets a value derived from it as a cookie, and pages another one
//! in their forms, so that neither gives the secret away.

use super::{WebError, state::WebState};
use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode, Uri,
        header::{AUTHORIZATION, COOKIE, HOST, LOCATION, SET_COOKIE, WWW_AUTHENTICATE},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use hmac::{Hmac, KeyInit, Mac};
use overnight_core::job::digest::hex;
use sha2::Sha256;
use std::{
    fmt,
    fs::File,
    io::{self, Read},
    net::SocketAddr,
    sync::Arc,
};
use subtle::ConstantTimeEq;

/// A shorter secret can be guessed.
pub(super) const LEAST_TOKEN: usize = 16;
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The secret, and what is derived from it.
pub(super) struct Access {
    token: String,
    session: String,
    form: String,
    cookie: String,
    /// Names under which the server may be asked, in lower case.
    hosts: Vec<String>,
}

/// Not derived: it holds the secret.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// Who asks.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    /// `None`: the proxy that should name the person has not.
    pub(super) name: Option<String>,
    /// The secret itself was sent, which no browser does by itself: no other site can have caused that.
    is_bearer: bool,
}

impl Visitor {
    /// Who acts; nothing is recorded of somebody who is not known.
    pub(super) fn named(self) -> Result<String, WebError> {
        self.name.ok_or_else(|| WebError::forbidden("The proxy doesn't say who you are: nothing is recorded."))
    }
}

/// A new secret.
pub fn random_token() -> io::Result<String> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex(&bytes))
}

impl Access {
    /// `hosts`: further names of the server. `None`: the token is no good secret.
    pub(super) fn new(token: String, listen: SocketAddr, hosts: &[String]) -> Option<Self> {
        let is_sound = token.len() >= LEAST_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_sound {
            return None;
        }
        let own = host_name(&listen.to_string()).to_owned();
        let hosts = LOOPBACK.into_iter().map(str::to_owned).chain([own]).chain(hosts.iter().cloned());
        Some(Self {
            session: derived(&token, "session"),
            form: derived(&token, "form"),
            cookie: format!("overnight-{}", listen.port()),
            hosts: hosts.map(|host| host.to_lowercase()).collect(),
            token,
        })
    }

    /// What a form has to carry.
    pub(super) fn form_token(&self) -> &str {
        &self.form
    }

    /// Refuses a form that this server has not made.
    pub(super) fn check_form(&self, visitor: &Visitor, token: Option<&str>) -> Result<(), WebError> {
        if visitor.is_bearer || token.is_some_and(|token| same(token, &self.form)) {
            return Ok(());
        }
        Err(WebError::forbidden("This form is not of this server, or older than it: load the page again."))
    }

    /// Whether the secret itself was sent; `None`: nothing that lets anybody in.
    fn is_bearer(&self, headers: &HeaderMap) -> Option<bool> {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if bearer.is_some_and(|token| same(token, &self.token)) {
            return Some(true);
        }
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.cookie && same(value, &self.session)).then_some(false)
    }

    fn has_host(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let named = uri.authority().map(axum::http::uri::Authority::as_str);
        let named = named.or_else(|| headers.get(HOST).and_then(|value| value.to_str().ok()));
        named.is_some_and(|named| self.hosts.contains(&host_name(named).to_lowercase()))
    }

    fn session_cookie(&self) -> Option<HeaderValue> {
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, self.session);
        HeaderValue::from_str(&cookie).ok()
    }
}

/// Lets through who has the token, under a name of this server; in read-only mode only who reads.
pub(super) async fn guard(State(state): State<Arc<WebState>>, mut request: Request, next: Next) -> Response {
    let access = &state.access;
    let (headers, uri) = (request.headers(), request.uri());
    let has_host = access.has_host(headers, uri);
    let typed = (uri.path() == "/" && request.method() == Method::GET).then(|| token_of(uri)).flatten();
    if let (Some(token), true) = (typed, has_host)
        && same(token, &access.token)
        && let Some(cookie) = access.session_cookie()
    {
        let to = HeaderValue::from_static("/");
        return (StatusCode::SEE_OTHER, [(LOCATION, to), (SET_COOKIE, cookie)]).into_response();
    }
    let Some(is_bearer) = access.is_bearer(headers) else {
        let told =
            "Open the link that `overnight serve` has printed, or send its token as `Authorization: Bearer …`.\n";
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], told).into_response();
    };
    if !has_host {
        return WebError::forbidden(
            "The server is not known by this name: start it with --host and the name that is to be allowed.",
        )
        .into_response();
    }
    if state.config.read_only && !matches!(*request.method(), Method::GET | Method::HEAD) {
        return WebError::forbidden("This server only shows: it was started with --read-only.").into_response();
    }
    let name = match &state.config.user_header {
        Some(header) => {
            headers.get(header).and_then(|value| std::str::from_utf8(value.as_bytes()).ok()).map(str::to_owned)
        }
        None => state.config.reviewer.clone(),
    };
    request.extensions_mut().insert(Visitor { name: name.filter(|name| !name.trim().is_empty()), is_bearer });
    next.run(request).await
}

/// The secret in a link.
fn token_of(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Without the port.
fn host_name(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        Some(_) | None => authority,
    }
}

/// Compared in a time that says nothing of where they differ.
fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

fn derived(token: &str, what: &str) -> String {
    // A key of any length will do.
    let mac = Hmac::<Sha256>::new_from_slice(token.as_bytes()).map(|mac| mac.chain_update(what).finalize());
    mac.map(|mac| hex(&mac.into_bytes())).unwrap_or_default()
}
