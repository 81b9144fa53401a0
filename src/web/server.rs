//! The server: the routes, the layers around every answer, and the connections.

use super::{
    WebError,
    access::{self, Access, PeerAddress, Visitor},
    api,
    backend::WebBackend,
    bulk_page, evaluation_page, events, files, job_page,
    job_record::RecordCache,
    kept_reviews::KeptReviews,
    list_page,
    live_jobs::LiveJobs,
    mcp::{self, McpServer},
    prompt_page, queue_page, review_page,
    state::{WebConfig, WebState},
    submit_page,
    viewings::Viewings,
};
use crate::store::{Role, Store};
use axum::{
    Router,
    body::HttpBody,
    extract::{DefaultBodyLimit, Request},
    http::{
        HeaderValue, StatusCode,
        header::{
            CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
            X_FRAME_OPTIONS,
        },
    },
    middleware::{Next, from_fn, from_fn_with_state, map_response},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    sync::{Mutex, Semaphore, watch},
};
use tower_http::{
    CompressionLevel, add_extension::AddExtension, compression::CompressionLayer, csrf::CsrfLayer,
    limit::RequestBodyLimitLayer, set_header::SetResponseHeaderLayer, timeout::TimeoutLayer,
};

/// The most bytes of a form.
const MOST_FORM: usize = 1 << 20;
/// Connections at once; the next ones wait.
const MOST_CONNECTIONS: usize = 512;
/// The most live pages at once: they must not take all connections.
const MOST_STREAMS: usize = MOST_CONNECTIONS / 2;
/// Pages of documents that are painted at once.
const MOST_PICTURES: usize = 2;
/// The timeout for the head of a request, including the next one.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// For a page, and for an upload with its reading.
const PAGE_TIMEOUT: Duration = Duration::from_mins(1);
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(30);

const STYLE: &str = concat!(include_str!("../theme.css"), include_str!("web.css"), include_str!("../eval/body.css"));
const SCRIPT: &str = include_str!("web.js");
const ICON: &str = include_str!("icon.svg");
/// Nothing but what this server sends is loaded or run, and no other site may show it in a frame.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'",
);

/// Serves until `stop` becomes true.
pub async fn serve(
    listener: TcpListener,
    token: String,
    config: WebConfig,
    store: Arc<dyn Store>,
    backend: Arc<dyn WebBackend>,
    mut stop: watch::Receiver<bool>,
) -> Result<(), ServeError> {
    let listen = listener.local_addr().map_err(ServeError::Listen)?;
    let router = router(listen, token, config, store, backend)?;
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let permit = tokio::select! {
            permit = room.clone().acquire_owned() => permit,
            _ = stop.wait_for(|stop| *stop) => return Ok(()),
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => return Ok(()),
        };
        let Ok((stream, peer)) = accepted else {
            // Out of files, or the other side is gone: an immediate retry helps in neither case.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(AddExtension::new(router.clone(), PeerAddress(peer.ip())));
        tokio::spawn(async move {
            let mut server = http1::Builder::new();
            let server = server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
            // Whatever the error is, there is no one to report it to.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
            drop(permit);
        });
    }
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the address can't be listened at ({0})")]
    Listen(std::io::Error),
    #[error("a token has at least {} letters, digits or signs, and no blanks", access::LEAST_TOKEN)]
    Token,
    #[error("the agent can't be answered: {0}")]
    Agent(String),
}

/// Answers an agent on standard input and output, in the name of `config.reviewer` and with the role.
pub async fn serve_agent(
    config: WebConfig,
    role: Role,
    store: Arc<dyn Store>,
    backend: Arc<dyn WebBackend>,
) -> Result<(), ServeError> {
    let token = crate::store::random_token().map_err(ServeError::Listen)?;
    let access = Access::new(token, SocketAddr::from(([127, 0, 0, 1], 0)), &[]).ok_or(ServeError::Token)?;
    let visitor = Visitor::of_process(config.reviewer.clone(), role);
    let state = state(access, config, store, backend);
    mcp::serve_stdio(McpServer::new(&state, Some(visitor))).await.map_err(ServeError::Agent)
}

fn state(access: Access, config: WebConfig, store: Arc<dyn Store>, backend: Arc<dyn WebBackend>) -> Arc<WebState> {
    Arc::new(WebState {
        config,
        access,
        jobs: LiveJobs::new(store.clone()),
        store,
        backend,
        records: RecordCache::default(),
        reviews: KeptReviews::default(),
        viewings: Viewings::default(),
        submissions: std::array::from_fn(|_| Mutex::new(())),
        streams: Arc::new(Semaphore::new(MOST_STREAMS)),
        pictures: Semaphore::new(MOST_PICTURES),
    })
}

fn router(
    listen: SocketAddr,
    token: String,
    config: WebConfig,
    store: Arc<dyn Store>,
    backend: Arc<dyn WebBackend>,
) -> Result<Router, ServeError> {
    let access = Access::new(token, listen, &config.hosts).ok_or(ServeError::Token)?;
    let most_upload = usize::try_from(config.most_upload_mb.saturating_mul(1_000_000)).unwrap_or(usize::MAX);
    let state = state(access, config, store, backend);
    let limited = |routes: Router<Arc<WebState>>, bytes, time| {
        let late = TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, time);
        let told = map_response(move |answer: Response| async move {
            match answer.status() {
                StatusCode::PAYLOAD_TOO_LARGE => WebError::too_large(bytes).into_response(),
                _ => answer,
            }
        });
        routes.layer((RequestBodyLimitLayer::new(bytes), late)).layer(told)
    };
    let pages = Router::new()
        .route("/", get(list_page::all))
        .route("/batches/{id}", get(list_page::batch))
        .route("/jobs/{id}", get(job_page::job))
        .route("/jobs/{id}/prompts/{turn}", get(prompt_page::prompts))
        .route("/jobs/{id}/files/{*path}", get(files::file))
        .route("/jobs/{id}/archive/{*path}", get(files::archived))
        .route("/submit/{id}", post(submit_page::submit))
        .route("/assets/web.css", get(|| async { asset("text/css; charset=utf-8", STYLE) }))
        .route("/assets/web.js", get(|| async { asset("text/javascript; charset=utf-8", SCRIPT) }))
        .route("/assets/icon.svg", get(|| async { asset("image/svg+xml", ICON) }))
        .merge(bulk_page::routes())
        .merge(evaluation_page::routes())
        .merge(review_page::routes())
        .merge(queue_page::routes());
    let uploads = Router::new().route("/submit", get(submit_page::form).post(submit_page::estimate));
    let api = api::operations();
    let agents = mcp::routes(&state);
    let header = SetResponseHeaderLayer::<HeaderValue>::if_not_present;
    Ok(limited(pages.merge(api.plain).merge(agents), MOST_FORM, PAGE_TIMEOUT)
        .merge(limited(uploads.merge(api.uploads), most_upload, UPLOAD_TIMEOUT))
        .route("/events", get(events::events))
        .fallback(|| async { WebError::not_found("page") })
        .layer(DefaultBodyLimit::disable())
        .layer(CompressionLayer::new().quality(CompressionLevel::Fastest))
        .layer(CsrfLayer::new())
        .layer(from_fn_with_state(state.clone(), access::guard))
        .layer(from_fn(api::as_problem))
        .layer(from_fn(unread_bodies))
        .layer((
            header(CONTENT_SECURITY_POLICY, POLICY),
            header(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
            header(X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
            header(REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            header(CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ))
        .with_state(state))
}

/// Marks the connection as ending after a refusal that an unread body may follow: no further request may be sent on it.
async fn unread_bodies(request: Request, next: Next) -> Response {
    let has_body = !request.body().is_end_stream();
    let mut answer = next.run(request).await;
    if has_body && answer.status().is_client_error() {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "private, max-age=600")], text).into_response()
}
