//! Access control: the server's own token, tokens of people and programs, the requested host name, the token of forms.
//!
//! The person who started the server knows one secret. A browser gets a value derived from it as a cookie, and pages
//! another one in their forms, so that neither reveals the secret. A token of the database is looked up only by its
//! hash: the time that this takes reveals nothing about the token.

use super::{
    WebError,
    state::{AGENTS_ADDRESS, WebState},
    wrong_tokens::{WrongAttempt, WrongTokens},
};
use crate::{
    runner::now,
    store::{AccessToken, Role},
};
use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode, Uri,
        header::{AUTHORIZATION, COOKIE, HOST, LOCATION, RETRY_AFTER, SET_COOKIE, WWW_AUTHENTICATE},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use hmac::{Hmac, KeyInit, Mac};
use overnight_core::job::digest::{hex, sha256};
use sha2::Sha256;
use std::{
    collections::HashMap,
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use subtle::ConstantTimeEq;
use uuid::Uuid;

/// A shorter secret can be guessed.
pub(super) const LEAST_TOKEN: usize = 16;
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// The time for which a valid token isn't checked in the database again: a revoked one stays valid for this long.
const KNOWN_FOR: Duration = Duration::from_secs(5);
/// The time for which a caller that was let in is still checked, whatever else comes from the same address.
const LET_IN_FOR: Duration = Duration::from_hours(1);
/// The most valid tokens that are remembered.
const MOST_KNOWN: usize = 1_024;

/// The address from which a connection comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerAddress(pub(super) IpAddr);

/// The secret, and the values derived from it.
pub(super) struct Access {
    token: String,
    session: String,
    cookie: String,
    /// The host names under which the server answers, in lower case.
    hosts: Vec<String>,
    wrong: WrongTokens,
    /// Valid tokens, by the credential that was presented for them, with the time of the database's answer.
    known: Mutex<HashMap<Credential, (AccessToken, Instant)>>,
}

/// Not derived: it holds the secret.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// The caller of a request.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    /// `None`: the proxy that should name the person has not.
    pub(super) name: Option<String>,
    pub(super) role: Role,
    /// The token that a form of theirs has to carry.
    pub(super) form_token: String,
    /// The token itself was sent, which no browser does by itself: no other site can have caused that.
    is_bearer: bool,
    /// Whether the server is read-only for everyone.
    only_shows: bool,
}

impl Visitor {
    /// The name of the person who acts; nothing is recorded for an unknown person.
    pub(super) fn named(self) -> Result<String, WebError> {
        self.name.ok_or_else(|| WebError::forbidden("The proxy doesn't say who you are: nothing is recorded."))
    }

    /// The user who runs this process.
    pub(super) fn of_process(name: Option<String>, role: Role) -> Self {
        Self { name, role, form_token: String::new(), is_bearer: true, only_shows: false }
    }

    /// Whether they have the rights of `role` here.
    pub(super) fn may(&self, role: Role) -> bool {
        self.role >= role && !(self.only_shows && role > Role::Reader)
    }

    /// Refuses callers who don't have the rights of `role` here.
    pub(super) fn must_be(&self, role: Role) -> Result<(), WebError> {
        if self.may(role) {
            return Ok(());
        }
        if self.only_shows {
            return Err(WebError::forbidden("This server only shows: it was started with --read-only."));
        }
        let (needed, own) = (role.name(), self.role.name());
        Err(WebError::forbidden(&format!("This needs the role {needed}, and your token has {own}.")))
    }

    /// Refuses callers who may not change anything.
    fn must_change(&self) -> Result<(), WebError> {
        if self.role == Role::Reader && !self.only_shows {
            return Err(WebError::forbidden("Your token has the role reader, which only looks."));
        }
        self.must_be(Role::Reviewer)
    }

    /// Refuses a form that this server has not made for them.
    pub(super) fn check_form(&self, token: Option<&str>) -> Result<(), WebError> {
        if self.is_bearer || token.is_some_and(|token| same(token, &self.form_token)) {
            return Ok(());
        }
        Err(WebError::forbidden("This form is not of this server, or older than it: load the page again."))
    }
}

/// The credential that a request presents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Credential {
    /// The secret of the person who started the server, or the cookie that stands for it.
    Server,
    /// The hash of a token.
    Token(String),
    /// A cookie that this server gave to the owner of the token with this id.
    Session(Uuid),
    /// None of these.
    Wrong,
}

/// A credential with the way in which it was presented.
struct ShownCredential {
    credential: Credential,
    is_bearer: bool,
    /// It stands in the link of the first page: a cookie is to be given for it.
    is_link: bool,
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
            cookie: format!("overnight-{}", listen.port()),
            hosts: hosts.map(|host| host.to_lowercase()).collect(),
            wrong: WrongTokens::default(),
            known: Mutex::default(),
            token,
        })
    }

    /// The presented credential; `None`: there is none.
    fn shown(&self, method: &Method, headers: &HeaderMap, uri: &Uri) -> Option<ShownCredential> {
        let of_token = |token: &str| {
            if same(token, &self.token) { Credential::Server } else { Credential::Token(sha256(token.as_bytes())) }
        };
        let typed = (uri.path() == "/" && method == Method::GET).then(|| token_of(uri)).flatten();
        if let Some(token) = typed {
            return Some(ShownCredential { credential: of_token(token), is_bearer: false, is_link: true });
        }
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.split_once(' '));
        let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token);
        if let Some(token) = bearer {
            return Some(ShownCredential { credential: of_token(token), is_bearer: true, is_link: false });
        }
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let (_, value) = pairs.find(|(name, _)| *name == self.cookie)?;
        let credential = if same(value, &self.session) {
            Credential::Server
        } else {
            let parts = value.split_once('.').and_then(|(id, mac)| Some((id.parse().ok()?, mac)));
            let own = parts.filter(|(id, mac)| same(mac, &self.session_of(*id)));
            own.map_or(Credential::Wrong, |(id, _)| Credential::Session(id))
        };
        Some(ShownCredential { credential, is_bearer: false, is_link: false })
    }

    fn session_of(&self, token: Uuid) -> String {
        derived(&self.token, &format!("session {token}"))
    }

    /// The database's token for a credential, if it was looked up a moment ago.
    fn known(&self, credential: &Credential) -> Option<AccessToken> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (token, asked) = known.get(credential)?;
        (asked.elapsed() < KNOWN_FOR && token.is_good(now())).then(|| token.clone())
    }

    /// Whether it has let a caller in recently.
    fn was_good(&self, credential: &Credential) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(credential).is_some_and(|(_, asked)| asked.elapsed() < LET_IN_FOR)
    }

    fn keep(&self, credential: Credential, token: &AccessToken) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_KNOWN {
            known.retain(|_, (_, asked)| asked.elapsed() < LET_IN_FOR);
        }
        if known.len() < MOST_KNOWN {
            known.insert(credential, (token.clone(), Instant::now()));
        }
    }

    fn has_host(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let named = uri.authority().map(axum::http::uri::Authority::as_str);
        let named = named.or_else(|| headers.get(HOST).and_then(|value| value.to_str().ok()));
        named.is_some_and(|named| self.hosts.contains(&host_name(named).to_lowercase()))
    }

    fn session_cookie(&self, token: Option<&AccessToken>) -> Option<HeaderValue> {
        let session =
            token.map_or_else(|| self.session.clone(), |token| format!("{}.{}", token.id, self.session_of(token.id)));
        HeaderValue::from_str(&format!("{}={session}; Path=/; HttpOnly; SameSite=Strict", self.cookie)).ok()
    }
}

impl WebState {
    /// The database's token for a credential, if it is valid.
    async fn access_token(&self, credential: &Credential) -> Result<Option<AccessToken>, WebError> {
        if let Some(token) = self.access.known(credential) {
            return Ok(Some(token));
        }
        let found = match credential {
            Credential::Token(sha256) => self.store.token(sha256).await?,
            Credential::Session(id) => self.store.token_with(*id).await?,
            Credential::Server | Credential::Wrong => None,
        };
        let found = found.filter(|token| token.is_good(now()));
        if let Some(token) = &found {
            self.access.keep(credential.clone(), token);
        }
        Ok(found)
    }
}

/// Admits callers with a token, under a name of this server; only to read in read-only mode and with a reader's token.
pub(super) async fn guard(State(state): State<Arc<WebState>>, mut request: Request, next: Next) -> Response {
    let access = &state.access;
    let (method, headers, uri) = (request.method(), request.headers(), request.uri());
    let has_host = access.has_host(headers, uri);
    let peer = request.extensions().get().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |PeerAddress(peer)| *peer);
    let Some(shown) = access.shown(method, headers, uri) else { return unauthorized() };
    // A cookie can't be guessed, and an old one is no attempt.
    let is_token = matches!(shown.credential, Credential::Token(_));
    if is_token
        && !access.was_good(&shown.credential)
        && let Some(wait) = access.wrong.wait(peer)
    {
        let wait = HeaderValue::from(wait.as_secs().max(1));
        let told = "Too many wrong tokens came from your address: wait a minute.\n";
        return (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, wait)], told).into_response();
    }
    let token = match state.access_token(&shown.credential).await {
        Ok(token) => token,
        Err(error) => return error.into_response(),
    };
    if token.is_none() && shown.credential != Credential::Server {
        let attempt = if is_token { access.wrong.add(peer) } else { WrongAttempt::Further };
        match attempt {
            WrongAttempt::First => (state.config.note)(&format!("a wrong token came from {peer}")),
            WrongAttempt::Further => {}
            WrongAttempt::Last { wrong } => (state.config.note)(&format!(
                "{wrong} wrong tokens came from {peer} within a minute: for the rest of it no other is looked at"
            )),
        }
        return unauthorized();
    }
    if !has_host {
        return WebError::forbidden(
            "The server is not known by this name: start it with --host and the name that is to be allowed.",
        )
        .into_response();
    }
    if shown.is_link {
        let Some(cookie) = access.session_cookie(token.as_ref()) else { return unauthorized() };
        let to = HeaderValue::from_static("/");
        return (StatusCode::SEE_OTHER, [(LOCATION, to), (SET_COOKIE, cookie)]).into_response();
    }
    let name = match (&token, &state.config.user_header) {
        (Some(token), _) => Some(token.name.clone()),
        (None, Some(header)) => {
            headers.get(header).and_then(|value| std::str::from_utf8(value.as_bytes()).ok()).map(str::to_owned)
        }
        (None, None) => state.config.reviewer.clone(),
    };
    let visitor = Visitor {
        name: name.filter(|name| !name.trim().is_empty()),
        role: token.as_ref().map_or(Role::Operator, |token| token.role),
        form_token: derived(&access.token, &token.map_or("form".to_owned(), |token| format!("form {}", token.id))),
        is_bearer: shown.is_bearer,
        only_shows: state.config.read_only,
    };
    // For agents, the rights are checked with each tool.
    let is_agent = uri.path() == AGENTS_ADDRESS;
    let is_change = !is_agent && !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    if is_change && let Err(refused) = visitor.must_change() {
        return refused.into_response();
    }
    request.extensions_mut().insert(visitor);
    next.run(request).await
}

fn unauthorized() -> Response {
    let told = "Open the link that `overnight serve` has printed, or send a token as `Authorization: Bearer …`.\n";
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], told).into_response()
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

/// A comparison in constant time, which doesn't reveal where the texts differ.
fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

fn derived(token: &str, what: &str) -> String {
    // A key of any length is valid.
    let mac = Hmac::<Sha256>::new_from_slice(token.as_bytes()).map(|mac| mac.chain_update(what).finalize());
    mac.map(|mac| hex(&mac.into_bytes())).unwrap_or_default()
}
