//! The webhook: lists of events are posted to another server.
//!
//! In the mode `batch` events are collected, and sent when there are enough or when the oldest has waited
//! long enough. One list is sent after the other, not more often than the throttle allows. A list that cannot
//! be delivered is tried again with growing pauses, and then lost. Meanwhile events wait in the buffer. In
//! the other modes each request sends its event by itself, once, and waits for [`PATIENCE`] at most.
//!
//! A webhook that could not be reached, or did not answer in time, five times in a row is left alone for a
//! while, until a call that tries now and then succeeds. Events of other requests are lost at once. In the
//! mode `blocking` no request waits for the call that tries; in `blocking-strict` the one does whose event it
//! sends, because that decides whether the request is refused.

use std::{path::Path, sync::Arc, time::Duration};

use bytes::Bytes;
use orch_outbound::{
    backoff::Backoff,
    client::{self, Client},
    error::OutboundError,
    outliving::outliving,
    target::Target,
};
use tokio::{
    sync::{Mutex, Semaphore, oneshot},
    time::{Instant, sleep, sleep_until, timeout_at},
};

use super::{
    Losses, Mode, Receiver, Truncation,
    queue::{Buffered, Entry, Queue},
};
use crate::{
    counters::{Counters, Plugin},
    error::AuditError,
    event::Event,
};

/// Attempts to deliver a list that no request waits for.
const ATTEMPTS: u32 = 5;

/// How long a request waits for its event.
const PATIENCE: Duration = Duration::from_secs(10);

/// How events are sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Whether requests wait.
    pub mode: Mode,
    /// How many events may wait to be sent.
    pub buffer: usize,
    /// How many are sent together.
    pub max_batch: usize,
    /// How large a list of several events may be, in bytes.
    pub max_batch_bytes: usize,
    /// How long an event waits for others.
    pub max_wait: Duration,
    /// The limit of lists a second; `None`: no limit.
    pub throttle: Option<Throttle>,
    /// The first pause before another attempt.
    pub initial_backoff: Duration,
    /// The bound of an event, if there is one.
    pub truncation: Option<Truncation>,
    /// The `apiVersion` of events.
    pub api_version: String,
}

impl Settings {
    /// One attempt at a time: lists are tried again here.
    fn of_client(&self) -> client::Settings {
        let mut once = client::Settings { backoff: Backoff::ONCE, ..client::Settings::default() };
        if self.mode != Mode::Batch {
            once.timeout = PATIENCE;
            // Nobody chooses what this webhook is asked: it need not judge anything.
            once.silence_is_absence = true;
        }
        once
    }
}

/// A bound on how often something happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throttle {
    /// In a second, on average. More than 0.
    pub per_second: f64,
    /// At once, after a pause. At least 1.
    pub burst: u32,
}

/// A running webhook.
#[derive(Debug)]
pub struct Webhook {
    mode: Mode,
    queue: Queue,
    sender: Arc<Sender>,
}

impl Webhook {
    /// A webhook that a kubeconfig file names. See [`Webhook::start`].
    ///
    /// # Errors
    /// Where the file cannot be read, or is wrong.
    pub fn of_kubeconfig(
        file: &Path,
        settings: Settings,
        counters: &Arc<Counters>,
    ) -> Result<Self, AuditError> {
        let client = Client::of_kubeconfig(file, settings.of_client())?;
        Ok(Webhook::with_client(settings, client, counters))
    }

    /// Starts the task that sends. It must be called inside of a runtime.
    pub fn start(settings: Settings, target: Target, counters: &Arc<Counters>) -> Self {
        let client = Client::new(target, settings.of_client());
        Webhook::with_client(settings, client, counters)
    }

    fn with_client(settings: Settings, client: Client, counters: &Arc<Counters>) -> Self {
        let (queue, entries) = Queue::new(settings.buffer, counters);
        let mode = settings.mode;
        let sender = Arc::new(Sender {
            client,
            losses: Mutex::new(Losses::new(counters, Plugin::Webhook)),
            counters: Arc::clone(counters),
            lasting: Arc::new(Semaphore::new(1)),
            settings,
        });
        tokio::spawn(Worker::new(Arc::clone(&sender)).run(entries));
        Webhook { mode, queue, sender }
    }

    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    pub(super) async fn process(&self, event: &Event) -> bool {
        match self.mode {
            Mode::Batch => {
                self.post(event);
                true
            }
            Mode::Blocking => {
                self.sent(event).await;
                true
            }
            Mode::BlockingStrict => self.sent(event).await,
        }
    }

    pub(super) fn post(&self, event: &Event) {
        if let Some(text) = self.sender.text(event) {
            self.queue.push(text, None);
        }
    }

    /// Whether an event has arrived.
    async fn sent(&self, event: &Event) -> bool {
        let Some(text) = self.sender.text(event) else { return false };
        let is_left_alone = self.sender.client.is_left_alone();
        match Arc::clone(&self.sender.lasting).try_acquire_owned() {
            Ok(permit) => {
                let sender = Arc::clone(&self.sender);
                let call = outliving(async move {
                    let is_sent = sender.send(&[&*text]).await;
                    drop(permit);
                    is_sent
                });
                if is_left_alone && self.mode == Mode::Blocking {
                    return false;
                }
                call.await.unwrap_or(false)
            }
            Err(_) if is_left_alone => {
                self.sender.losses.lock().await.count(1, &OutboundError::CircuitOpen);
                false
            }
            Err(_) => self.sender.send(&[&*text]).await,
        }
    }

    pub(super) async fn flush(&self) {
        self.queue.flush().await;
    }
}

/// Delivers lists.
struct Sender {
    client: Client,
    settings: Settings,
    losses: Mutex<Losses>,
    counters: Arc<Counters>,
    /// Of the requests that send their event, one at a time leaves it to a task. So the outcome of some call
    /// is always known, also where all clients leave before a webhook that hangs has used up its time.
    lasting: Arc<Semaphore>,
}

impl std::fmt::Debug for Sender {
    /// The client holds credentials.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Sender").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Sender {
    /// The text of an event; `None` if it is too large.
    fn text(&self, event: &Event) -> Option<Vec<u8>> {
        Truncation::fit(self.settings.truncation.as_ref(), event, Event::text, &self.counters)
    }

    /// Sends events, in several lists where one would be too large. Whether all arrived.
    async fn send(&self, events: &[&[u8]]) -> bool {
        let (mut list, mut count, mut all) = (self.begin(), 0, true);
        for text in events {
            if count > 0 && list.len() + text.len() > self.settings.max_batch_bytes {
                all &= self.deliver(std::mem::replace(&mut list, self.begin()), count).await;
                count = 0;
            }
            if count > 0 {
                list.push(b',');
            }
            list.extend_from_slice(text);
            count += 1;
        }
        all && (count == 0 || self.deliver(list, count).await)
    }

    fn begin(&self) -> Vec<u8> {
        let api_version = &self.settings.api_version;
        format!(r#"{{"kind":"EventList","apiVersion":"{api_version}","metadata":{{}},"items":["#).into_bytes()
    }

    /// Posts a list, several times where that may help.
    async fn deliver(&self, mut list: Vec<u8>, events: usize) -> bool {
        list.extend_from_slice(b"]}\n");
        let list = Bytes::from(list);
        let backoff = Backoff {
            initial: self.settings.initial_backoff,
            attempts: if self.settings.mode == Mode::Batch { ATTEMPTS } else { 1 },
            ..Backoff::default()
        };
        let mut attempt = 1;
        loop {
            let Err(error) = self.client.post_json(list.clone()).await else { return true };
            let may_help =
                error.is_passing() || matches!(error, OutboundError::CircuitOpen | OutboundError::Timeout(_));
            let Some(pause) = backoff.pause(attempt, rand::random()).filter(|_| may_help) else {
                self.losses.lock().await.count(events, &error);
                return false;
            };
            sleep(pause).await;
            attempt += 1;
        }
    }
}

/// What the task has.
struct Worker {
    sender: Arc<Sender>,
    batch: Vec<Buffered>,
    /// When the oldest event of the batch has waited long enough.
    until: Instant,
    /// How many lists may be sent at once, and when that was counted.
    tokens: (f64, Instant),
}

impl Worker {
    fn new(sender: Arc<Sender>) -> Self {
        let burst = sender.settings.throttle.map_or(0.0, |throttle| f64::from(throttle.burst));
        let now = Instant::now();
        Worker { sender, batch: Vec::new(), until: now, tokens: (burst, now) }
    }

    /// Sends until there is no more way for events to come.
    async fn run(mut self, mut entries: Receiver) {
        while let Some(next) = self.next(&mut entries).await {
            let flushed = self.take(next);
            if flushed.is_some() || self.batch.len() >= self.sender.settings.max_batch {
                self.send(flushed.is_some()).await;
            }
            if let Some(told) = flushed {
                // Who waited may be gone.
                let _ = told.send(());
            }
        }
        self.send(true).await;
    }

    /// The next entry. What has waited long enough is sent first.
    async fn next(&mut self, entries: &mut Receiver) -> Option<Entry> {
        loop {
            if self.batch.is_empty() {
                return entries.recv().await;
            }
            match timeout_at(self.until, entries.recv()).await {
                Ok(next) => return next,
                Err(_) => self.send(false).await,
            }
        }
    }

    fn take(&mut self, entry: Entry) -> Option<oneshot::Sender<()>> {
        match entry {
            Entry::Flush(told) => Some(told),
            Entry::Event(buffered) => {
                if self.batch.is_empty() {
                    self.until = Instant::now() + self.sender.settings.max_wait;
                }
                self.batch.push(buffered);
                None
            }
        }
    }

    /// Sends the batch. The server's end does not wait for the throttle.
    async fn send(&mut self, is_urgent: bool) {
        if self.batch.is_empty() {
            return;
        }
        if !is_urgent {
            self.throttled().await;
        }
        let texts: Vec<&[u8]> = self.batch.iter().map(|buffered| &*buffered.text).collect();
        let is_sent = self.sender.send(&texts).await;
        self.batch.drain(..).for_each(|buffered| buffered.tell(is_sent));
    }

    /// Waits until another list may be sent.
    async fn throttled(&mut self) {
        let Some(Throttle { per_second, burst }) = self.sender.settings.throttle else { return };
        let now = Instant::now();
        let (left, counted) = self.tokens;
        let left = (left + (now - counted).as_secs_f64() * per_second).min(f64::from(burst));
        if left < 1.0 {
            sleep_until(now + Duration::from_secs_f64((1.0 - left) / per_second)).await;
            self.tokens = (0.0, Instant::now());
        } else {
            self.tokens = (left - 1.0, now);
        }
    }
}

#[cfg(test)]
mod tests;
