//! Where events go, and whether requests wait for that.
//!
//! Each backend has a buffer of texts, bounded in events and in bytes, and a worker that empties it. The text
//! is made on the thread of the request: freeing the parts of an event on another one costs more. What does
//! not fit is lost, counted, and told in the log of the server from time to time. No backend ends the server.

pub mod log;
mod queue;
mod truncation;
pub mod webhook;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

pub use truncation::Truncation;

use crate::{
    counters::{Counters, Plugin},
    event::Event,
};
use log::Log;
use webhook::Webhook;

/// Whether requests wait for a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// No.
    Batch,
    /// Yes, and they go on where the backend fails.
    Blocking,
    /// Yes, and a request whose first event cannot be recorded is refused.
    BlockingStrict,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 3] = [Mode::Batch, Mode::Blocking, Mode::BlockingStrict];

    /// As in flags.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Batch => "batch",
            Mode::Blocking => "blocking",
            Mode::BlockingStrict => "blocking-strict",
        }
    }
}

/// All backends of a server.
#[derive(Debug, Default)]
pub struct Backends {
    log: Option<Log>,
    webhook: Option<Webhook>,
}

impl Backends {
    /// These backends.
    pub fn new(log: Option<Log>, webhook: Option<Webhook>) -> Self {
        Backends { log, webhook }
    }

    /// Whether events go nowhere.
    pub fn is_empty(&self) -> bool {
        self.log.is_none() && self.webhook.is_none()
    }

    /// Whether requests wait for a backend.
    pub(crate) fn is_waited_for(&self) -> bool {
        let modes = [self.log.as_ref().map(Log::mode), self.webhook.as_ref().map(Webhook::mode)];
        modes.into_iter().flatten().any(|mode| mode != Mode::Batch)
    }

    /// Hands on an event, and waits as the modes say. Returns whether every backend has taken it that a
    /// request may not go on without.
    pub(crate) async fn process(&self, event: &Event) -> bool {
        let mut is_taken = true;
        if let Some(log) = &self.log {
            is_taken &= log.process(event).await;
        }
        if let Some(webhook) = &self.webhook {
            is_taken &= webhook.process(event).await;
        }
        is_taken
    }

    /// Hands on an event without waiting.
    pub(crate) fn post(&self, event: &Event) {
        if let Some(log) = &self.log {
            log.post(event);
        }
        if let Some(webhook) = &self.webhook {
            webhook.post(event);
        }
    }

    /// Opens the file of the log anew, in case it was moved away.
    pub async fn reopen_log(&self) {
        if let Some(log) = &self.log {
            log.reopen().await;
        }
    }

    /// Waits until all events have left the buffers, or that long.
    pub async fn flush(&self, patience: Duration) {
        let all = async {
            if let Some(log) = &self.log {
                log.flush().await;
            }
            if let Some(webhook) = &self.webhook {
                webhook.flush().await;
            }
        };
        if tokio::time::timeout(patience, all).await.is_err() {
            tracing::warn!("some audit events could not be delivered before the end of the server");
        }
    }
}

/// Counts events that are lost, and says so in the log of the server, at most every ten seconds.
#[derive(Debug)]
struct Losses {
    counters: Arc<Counters>,
    plugin: Plugin,
    said: Option<Instant>,
}

impl Losses {
    const PERIOD: Duration = Duration::from_secs(10);

    fn new(counters: &Arc<Counters>, plugin: Plugin) -> Self {
        Losses { counters: Arc::clone(counters), plugin, said: None }
    }

    fn count(&mut self, events: usize, error: &dyn std::fmt::Display) {
        self.counters.lost(self.plugin, events);
        if self.said.is_none_or(|said| said.elapsed() >= Self::PERIOD) {
            self.said = Some(Instant::now());
            let lost = self.counters.errors(self.plugin);
            tracing::error!(backend = self.plugin.name(), %error, lost, "audit events were lost");
        }
    }
}

/// What comes out of a buffer.
type Receiver = mpsc::Receiver<queue::Entry>;
