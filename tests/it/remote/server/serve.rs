//! The server: a thread with its own runtime, an address, a switch for outages, and counters.

use super::{
    answer,
    batches::{BatchCounts, Batches, Batching},
    cache::Cache,
    chaos::Chaos,
    format::Format,
    history::Histories,
    http::Wire,
    quirk::Quirk,
    thoughts::Thoughts,
};
use async_trait::async_trait;
use overnight::model::{Failure, Model, Request, rules::Offline};
use overnight_core::message::{Reply, ToolCall, Usage};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, atomic::AtomicU64, mpsc as std_mpsc},
    thread::JoinHandle,
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::mpsc,
    task::JoinSet,
};

const MOST_COMPLAINTS: usize = 100;
const BACKLOG: u32 = 1024;

/// How a server is to be.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// Who answers. It is told the number of the reply as its turn.
    pub(crate) model: Arc<dyn Model>,
    pub(crate) chaos: Chaos,
    /// What each reply takes before its first byte.
    pub(crate) delay: Duration,
    /// Packets of one streamed reply, cut anywhere.
    pub(crate) packets: usize,
    /// Letters of text or arguments in one event.
    pub(crate) letters: usize,
    /// Between the pieces of a trickled reply.
    pub(crate) pause: Duration,
    /// The only key that is right; `None`: none is asked for.
    pub(crate) key: Option<String>,
    /// The only model that there is; `None`: any.
    pub(crate) known: Option<String>,
    /// Tokens of a prompt, at most.
    pub(crate) window: Option<u64>,
    /// Replies begin with reasoning, unless the request says otherwise.
    pub(crate) thinks: bool,
    /// In which way its replies are odd.
    pub(crate) quirk: Option<Quirk>,
    /// How its batch endpoints are; `None`: it has none.
    pub(crate) batching: Option<Batching>,
}

impl Default for Setup {
    /// An able agent that never misbehaves.
    fn default() -> Self {
        Self {
            model: Arc::new(RulesAndJudge),
            chaos: Chaos::none(),
            delay: Duration::ZERO,
            packets: 7,
            letters: 200,
            pause: Duration::from_millis(20),
            key: None,
            known: None,
            window: None,
            thinks: false,
            quirk: None,
            batching: None,
        }
    }
}

/// What happened so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) by_path: BTreeMap<String, u64>,
    pub(crate) connections: u64,
    /// Replies written to their last byte, as the model gave them or with a fault in what they say.
    pub(crate) completed: u64,
    /// What went wrong on purpose, by name.
    pub(crate) mishaps: BTreeMap<String, u64>,
    pub(crate) under_way: u64,
    pub(crate) most_under_way: u64,
    /// Tokens that prompts had in common with the longest beginning of an earlier one, and those that the vendor's cache
    /// served.
    pub(crate) shared: u64,
    pub(crate) cached: u64,
    /// Why requests were refused that no vendor would take: the first hundred.
    pub(crate) complaints: Vec<String>,
}

impl Counts {
    /// The share of what could have come from the vendor's cache that did.
    #[expect(clippy::cast_precision_loss, reason = "a share to be read")]
    pub(crate) fn served(&self) -> f64 {
        self.cached as f64 / self.shared.max(1) as f64
    }
}

/// What all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) setup: Setup,
    pub(super) chaos: Mutex<Chaos>,
    counts: Mutex<Counts>,
    pub(super) cache: Mutex<Cache>,
    pub(super) histories: Mutex<Histories>,
    pub(super) thoughts: Mutex<Thoughts>,
    /// One request at a time has them, also while a batch is answered.
    pub(super) batches: tokio::sync::Mutex<Batches>,
    batch_counts: Mutex<BatchCounts>,
    pub(super) replies: AtomicU64,
    pub(super) calls: AtomicU64,
}

impl Shared {
    pub(super) fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap()
    }

    pub(super) fn batch_counts(&self) -> MutexGuard<'_, BatchCounts> {
        self.batch_counts.lock().unwrap()
    }

    pub(super) fn complain(&self, complaint: String) {
        let mut counts = self.counts();
        if counts.complaints.len() < MOST_COMPLAINTS {
            counts.complaints.push(complaint);
        }
    }
}

/// One request under way; counted until it is dropped.
pub(super) struct UnderWay<'a>(&'a Shared);

impl<'a> UnderWay<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        let mut counts = shared.counts();
        counts.under_way += 1;
        counts.most_under_way = counts.most_under_way.max(counts.under_way);
        Self(shared)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.counts().under_way -= 1;
    }
}

#[derive(Clone, Copy, Debug)]
enum Order {
    GoAway,
    ComeBack,
}

/// A model server on a port of its own; gone when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    orders: Option<mpsc::UnboundedSender<(Order, std_mpsc::Sender<()>)>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(setup: Setup) -> Self {
        let shared = Arc::new(Shared {
            chaos: Mutex::new(setup.chaos.clone()),
            setup,
            counts: Mutex::default(),
            cache: Mutex::default(),
            histories: Mutex::default(),
            thoughts: Mutex::default(),
            batches: tokio::sync::Mutex::default(),
            batch_counts: Mutex::default(),
            replies: AtomicU64::new(0),
            calls: AtomicU64::new(0),
        });
        let (orders, heard) = mpsc::unbounded_channel();
        let (tell, told) = std_mpsc::channel();
        let worker = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = listen(bound("127.0.0.1:0".parse().unwrap()));
                tell.send(listener.local_addr().unwrap()).unwrap();
                run(listener, &worker, heard).await;
            });
        });
        Self { address: told.recv().unwrap(), shared, orders: Some(orders), thread: Some(thread) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a client is given as the server's base URL.
    pub(crate) fn base_url(&self, format: Format) -> String {
        format!("http://{}/{}", self.address, format.base())
    }

    pub(crate) fn counts(&self) -> Counts {
        self.shared.counts().clone()
    }

    /// What happened at the batch endpoints, and which calls were answered; nothing is counted where there are none.
    pub(crate) fn batches(&self) -> BatchCounts {
        self.shared.batch_counts().clone()
    }

    /// From the next request on it goes wrong in another way.
    pub(crate) fn change(&self, chaos: Chaos) {
        *self.shared.chaos.lock().unwrap() = chaos;
    }

    /// Ends every connection and listens no more: who calls is refused. Returns when that is so.
    pub(crate) fn go_away(&self) {
        self.order(Order::GoAway);
    }

    /// Listens again on the same port.
    pub(crate) fn come_back(&self) {
        self.order(Order::ComeBack);
    }

    fn order(&self, order: Order) {
        let (done, is_done) = std_mpsc::channel();
        self.orders.as_ref().unwrap().send((order, done)).unwrap();
        is_done.recv().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the model server failed");
        }
    }
}

fn bound(address: SocketAddr) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    // The next socket is bound before this one is closed, so that nobody else gets the port in between.
    socket.set_reuseport(true).unwrap();
    socket.bind(address).unwrap();
    socket
}

fn listen(socket: TcpSocket) -> TcpListener {
    socket.listen(BACKLOG).unwrap()
}

/// Whether it listens. A port that is bound and not listened on refuses, and nobody else gets it.
enum Door {
    Open(TcpListener),
    Shut(TcpSocket),
}

async fn run(
    listener: TcpListener,
    shared: &Arc<Shared>,
    mut orders: mpsc::UnboundedReceiver<(Order, std_mpsc::Sender<()>)>,
) {
    let address = listener.local_addr().unwrap();
    let mut door = Door::Open(listener);
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            order = orders.recv() => {
                let Some((order, done)) = order else { return };
                door = match (order, door) {
                    (Order::GoAway, Door::Open(listener)) => {
                        let socket = bound(address);
                        drop(listener);
                        open.shutdown().await;
                        Door::Shut(socket)
                    }
                    (Order::ComeBack, Door::Shut(socket)) => Door::Open(listen(socket)),
                    (Order::GoAway | Order::ComeBack, door) => door,
                };
                done.send(()).unwrap();
            }
            stream = accepted(&door) => {
                shared.counts().connections += 1;
                open.spawn(converse(stream, Arc::clone(shared)));
            }
            Some(ended) = open.join_next() => assert!(ended.is_ok(), "a request could not be answered: {ended:?}"),
        }
    }
}

async fn accepted(door: &Door) -> TcpStream {
    match door {
        Door::Open(listener) => listener.accept().await.unwrap().0,
        Door::Shut(_) => std::future::pending().await,
    }
}

/// One connection, until either side ends it.
async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let Ok(mut wire) = Wire::new(stream) else { return };
    while let Ok(Some(asking)) = wire.request().await {
        let _under_way = UnderWay::new(&shared);
        match answer::answer(&mut wire, &asking, &shared).await {
            Ok(true) if asking.keeps_alive() => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// A model that always gives the same reply.
#[derive(Clone, Debug)]
pub(crate) struct Fixed(pub(crate) Reply);

#[async_trait]
impl Model for Fixed {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn window_tokens(&self) -> u64 {
        1_000_000
    }

    async fn reply(&self, _request: Request<'_>) -> Result<Reply, Failure> {
        Ok(self.0.clone())
    }

    fn cost(&self, _usage: &Usage) -> Option<f64> {
        None
    }
}

/// The rules, which can't judge; here they accept what they are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RulesAndJudge;

#[async_trait]
impl Model for RulesAndJudge {
    fn name(&self) -> &'static str {
        Offline(None).name()
    }

    fn window_tokens(&self) -> u64 {
        1_000_000
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        let mut reply = Offline(None).reply(request).await?;
        if request.prompt.tools.iter().any(|tool| tool.name == "verdict") {
            let arguments = serde_json::json!({"verdict": "accept"});
            reply.calls = vec![ToolCall { id: String::new(), name: "verdict".to_owned(), arguments }];
        }
        Ok(reply)
    }

    fn cost(&self, _usage: &Usage) -> Option<f64> {
        None
    }
}
