//! Delivers spans to a collector, by a task of its own behind a bounded buffer. No request waits for it. What
//! does not fit into the buffer, or cannot be delivered, is lost and counted.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use orch_outbound::{
    backoff::Backoff,
    client::{Client, Settings},
    error::OutboundError,
    grpc::Grpc,
    target::Target,
};
use orch_trace::{request::RequestTrace, span::Span};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout, timeout_at},
};

use super::{
    binary,
    otlp::{self, Traced},
};

/// Requests whose spans wait.
const BUFFER: usize = 2048;
/// Spans that are sent together, and how long the first waits for others: as OpenTelemetry's programs do.
const MAX_BATCH: usize = 512;
const MAX_WAIT: Duration = Duration::from_secs(5);
/// How long the collector may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How often the log says that spans are lost.
const COMPLAINTS: Duration = Duration::from_mins(1);

/// How a collector is spoken to.
pub(super) enum Collector {
    /// By gRPC, in protocol buffers.
    Grpc(Box<Grpc>),
    /// Over HTTP, in JSON.
    Http(Box<Client>),
}

enum Entry {
    Spans(Vec<Traced>),
    Flush(oneshot::Sender<()>),
}

/// See the module.
pub(super) struct Delivery {
    entries: mpsc::Sender<Entry>,
    lost: Arc<AtomicU64>,
}

impl Delivery {
    /// Starts the task. It must be called inside of a runtime.
    pub(super) fn start(collector: Collector) -> Self {
        let (entries, receiver) = mpsc::channel(BUFFER);
        let lost: Arc<AtomicU64> = Arc::default();
        let worker = Worker { collector, batch: Vec::new(), lost: Arc::clone(&lost), complained: None };
        tokio::spawn(worker.run(receiver));
        Delivery { entries, lost }
    }

    pub(super) fn push(&self, trace: &RequestTrace, spans: Vec<Span>) {
        let (context, state) = (trace.context(), trace.state());
        let traced = |span| Traced { context, state: state.map(str::to_owned), span };
        let entry = Entry::Spans(spans.into_iter().map(traced).collect());
        if let Err(refused) = self.entries.try_send(entry)
            && let Entry::Spans(spans) = refused.into_inner()
        {
            self.lost.fetch_add(spans.len() as u64, Ordering::Relaxed);
        }
    }

    pub(super) fn lost(&self) -> impl Fn() -> u64 + Send + Sync + use<> {
        let lost = Arc::clone(&self.lost);
        move || lost.load(Ordering::Relaxed)
    }

    pub(super) async fn flush(&self, at_most: Duration) {
        let (done, told) = oneshot::channel();
        let flushed = async {
            if self.entries.send(Entry::Flush(done)).await.is_ok() {
                // An error means that the task is gone.
                let _ = told.await;
            }
        };
        // What is not delivered by then is lost with the process.
        let _ = timeout(at_most, flushed).await;
    }
}

impl Collector {
    /// One at `host:port` that takes gRPC.
    pub(super) fn of_grpc(endpoint: &str) -> Result<Self, OutboundError> {
        Ok(Collector::Grpc(Box::new(Grpc::new(endpoint, TIMEOUT, Backoff::default())?)))
    }

    /// One that takes HTTP.
    pub(super) fn of_http(target: Target) -> Self {
        let settings = Settings { timeout: TIMEOUT, ..Settings::default() };
        Collector::Http(Box::new(Client::new(target, settings)))
    }

    async fn deliver(&self, spans: &[Traced]) -> Result<(), OutboundError> {
        match self {
            Collector::Grpc(grpc) => grpc.call(binary::METHOD, &binary::message(spans)).await,
            Collector::Http(client) => {
                Box::pin(client.post_json(otlp::message(spans).into())).await.map(drop)
            }
        }
    }
}

/// What the task has.
struct Worker {
    collector: Collector,
    batch: Vec<Traced>,
    lost: Arc<AtomicU64>,
    complained: Option<Instant>,
}

impl Worker {
    async fn run(mut self, mut entries: mpsc::Receiver<Entry>) {
        while let Some(first) = entries.recv().await {
            let until = Instant::now() + MAX_WAIT;
            let mut next = Some(first);
            while let Some(entry) = next {
                match entry {
                    Entry::Spans(spans) => self.batch.extend(spans),
                    Entry::Flush(done) => {
                        self.send().await;
                        // Who waited may be gone.
                        let _ = done.send(());
                        break;
                    }
                }
                if self.batch.len() >= MAX_BATCH {
                    break;
                }
                next = timeout_at(until, entries.recv()).await.ok().flatten();
            }
            self.send().await;
        }
    }

    async fn send(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let result = Box::pin(self.collector.deliver(&self.batch)).await;
        if let Err(error) = result {
            self.lost.fetch_add(self.batch.len() as u64, Ordering::Relaxed);
            if self.complained.is_none_or(|at| at.elapsed() > COMPLAINTS) {
                self.complained = Some(Instant::now());
                tracing::warn!(%error, spans = self.batch.len(), "traces cannot be delivered");
            }
        }
        self.batch.clear();
    }
}
