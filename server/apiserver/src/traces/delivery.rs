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
    client::{Client, Settings},
    target::Target,
};
use orch_trace::{request::RequestTrace, span::Span};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout, timeout_at},
};

use super::otlp::{Traced, message};

/// Requests whose spans wait.
const BUFFER: usize = 2048;
/// Spans that are sent together, and how long the first waits for others: as OpenTelemetry's programs do.
const MAX_BATCH: usize = 512;
const MAX_WAIT: Duration = Duration::from_secs(5);
/// How long the collector may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How often the log says that spans are lost.
const COMPLAINTS: Duration = Duration::from_mins(1);

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
    pub(super) fn start(target: Target) -> Self {
        let (entries, receiver) = mpsc::channel(BUFFER);
        let lost: Arc<AtomicU64> = Arc::default();
        let settings = Settings { timeout: TIMEOUT, ..Settings::default() };
        let client = Client::new(target, settings);
        let worker = Worker { client, batch: Vec::new(), lost: Arc::clone(&lost), complained: None };
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
                // The task is gone where nobody tells.
                let _ = told.await;
            }
        };
        // What is not delivered by then is lost with the process.
        let _ = timeout(at_most, flushed).await;
    }
}

/// What the task has.
struct Worker {
    client: Client,
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
        let result = Box::pin(self.client.post_json(message(&self.batch).into())).await;
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
