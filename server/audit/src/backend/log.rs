//! The log: a line for each event, in a file that is rotated, or on stdout.
//!
//! Lines are written by a thread of its own, because a disk or a pipe can make it wait. A line is written
//! whole or not at all, as far as the system lets that be undone. Where the thread is stuck, requests do not
//! wait for it for ever: after [`PATIENCE`] the log counts as stalled until it has written again. A stalled
//! log does not hold up requests. In the mode `blocking-strict` it refuses them.

mod file;

use std::{
    io::{self, Write},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::sync::oneshot;

use super::{
    Losses, Mode, Receiver, Truncation,
    queue::{Buffered, Entry, Queue},
};
use crate::{
    counters::{Counters, Plugin},
    error::AuditError,
    event::Event,
};
use file::LogFile;
pub use file::Rotation;

/// How long a request waits for its line.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the thread waits for more lines, where no request waits for it: waking it for each line costs
/// more than writing the line.
const PAUSE: Duration = Duration::from_millis(5);

/// With a smaller buffer there is no pause: it could be full before the end of it.
const MIN_BUFFER_TO_PAUSE: usize = 1000;

/// How the lines are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// A JSON object each.
    Json,
    /// The older one.
    Legacy,
}

/// Where lines go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// To stdout.
    Stdout,
    /// To a file.
    File(PathBuf, Rotation),
}

/// How a log is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether requests wait.
    pub mode: Mode,
    /// Where the lines go.
    pub output: Output,
    /// How they look.
    pub format: Format,
    /// How many events may wait to be written.
    pub buffer: usize,
    /// How many are written at a time.
    pub max_batch: usize,
    /// The bound of an event, if there is one.
    pub truncation: Option<Truncation>,
    /// The `apiVersion` of events.
    pub api_version: String,
}

/// A running log.
#[derive(Debug)]
pub struct Log {
    settings: Settings,
    queue: Queue,
    counters: Arc<Counters>,
    is_stalled: Arc<AtomicBool>,
    /// Whether the thread is to open the file anew.
    is_left: Arc<AtomicBool>,
}

impl Log {
    /// Opens the log and starts its thread.
    ///
    /// # Errors
    /// Where the file cannot be opened or made.
    pub fn start(settings: Settings, counters: &Arc<Counters>) -> Result<Self, AuditError> {
        let (queue, entries) = Queue::new(settings.buffer, counters);
        let (is_stalled, is_left) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let output: Box<dyn Lines> = match &settings.output {
            Output::Stdout => Box::new(io::stdout()),
            Output::File(path, rotation) => {
                let opened = LogFile::open(path.clone(), rotation.clone());
                Box::new(opened.map_err(|source| AuditError::Log { path: path.clone(), source })?)
            }
        };
        let mut writer = Writer {
            output,
            max_batch: settings.max_batch,
            pauses: settings.mode == Mode::Batch && settings.buffer >= MIN_BUFFER_TO_PAUSE,
            losses: Losses::new(counters, Plugin::Log),
            is_stalled: Arc::clone(&is_stalled),
            is_left: Arc::clone(&is_left),
        };
        let spawned = thread::Builder::new().name("audit-log".to_owned()).spawn(move || writer.run(entries));
        spawned.map_err(|source| AuditError::Log { path: PathBuf::from("-"), source })?;
        Ok(Log { settings, queue, counters: Arc::clone(counters), is_stalled, is_left })
    }

    pub(super) fn mode(&self) -> Mode {
        self.settings.mode
    }

    pub(super) async fn process(&self, event: &Event) -> bool {
        match self.settings.mode {
            Mode::Batch => {
                self.post(event);
                true
            }
            Mode::Blocking => {
                self.written(event).await;
                true
            }
            Mode::BlockingStrict => self.written(event).await,
        }
    }

    pub(super) fn post(&self, event: &Event) {
        if let Some(line) = self.line(event) {
            self.queue.push(line, None);
        }
    }

    pub(super) async fn flush(&self) {
        self.queue.flush().await;
    }

    /// Opens the file anew, in case it was moved away. Lines in the queue are written first.
    pub(super) async fn reopen(&self) {
        self.is_left.store(true, Ordering::Relaxed);
        self.queue.flush().await;
    }

    /// Whether the event is in the log. Nobody waits for a log that is stalled.
    async fn written(&self, event: &Event) -> bool {
        let Some(line) = self.line(event) else { return false };
        if self.is_stalled.load(Ordering::Relaxed) {
            self.queue.push(line, None);
            return false;
        }
        let (told, written) = oneshot::channel();
        if !self.queue.push(line, Some(told)) {
            return false;
        }
        if let Ok(is_written) = tokio::time::timeout(PATIENCE, written).await {
            return is_written.unwrap_or(false);
        }
        self.is_stalled.store(true, Ordering::Relaxed);
        tracing::error!(patience = ?PATIENCE, "the audit log is stalled: requests do not wait for it any more");
        false
    }

    /// The line of an event; `None` if it is too large.
    fn line(&self, event: &Event) -> Option<Vec<u8>> {
        let Settings { format, truncation, api_version, .. } = &self.settings;
        let text = |event: &Event| match format {
            Format::Json => event.line(api_version),
            Format::Legacy => event.legacy_line(),
        };
        Truncation::fit(truncation.as_ref(), event, text, &self.counters)
    }
}

/// Writes lines to where they go.
trait Lines: Send {
    /// Writes whole lines, all or none where that is possible.
    fn write_lines(&mut self, lines: &[u8]) -> io::Result<()>;

    /// How many bytes can be written before something else has to be done first.
    fn room(&self) -> u64;

    /// Opens again what others can move away. Returns whether this is such a thing.
    fn reopen(&mut self) -> io::Result<bool> {
        Ok(false)
    }
}

impl Lines for io::Stdout {
    fn write_lines(&mut self, lines: &[u8]) -> io::Result<()> {
        self.write_all(lines)?;
        self.flush()
    }

    fn room(&self) -> u64 {
        u64::MAX
    }
}

/// What the thread has.
struct Writer {
    output: Box<dyn Lines>,
    max_batch: usize,
    /// Whether the thread waits for more lines.
    pauses: bool,
    losses: Losses,
    is_stalled: Arc<AtomicBool>,
    is_left: Arc<AtomicBool>,
}

impl Writer {
    /// Writes until there is no more way for events to come.
    fn run(&mut self, mut entries: Receiver) {
        let mut batch = Vec::new();
        while let Some(first) = entries.blocking_recv() {
            if self.pauses && entries.len() < self.max_batch {
                #[expect(clippy::disallowed_methods, reason = "nothing tells that enough lines have come")]
                thread::sleep(PAUSE);
            }
            let mut next = Some(first);
            let mut flushed = Vec::new();
            while let Some(entry) = next {
                match entry {
                    Entry::Event(buffered) => batch.push(buffered),
                    Entry::Flush(told) => flushed.push(told),
                }
                let is_full = batch.len() >= self.max_batch || !flushed.is_empty();
                next = if is_full { None } else { entries.try_recv().ok() };
            }
            self.write(&mut batch);
            if self.is_left.swap(false, Ordering::Relaxed) {
                self.reopen();
            }
            for told in flushed {
                // Who waited may be gone.
                let _ = told.send(());
            }
        }
    }

    fn reopen(&mut self) {
        match self.output.reopen() {
            Ok(true) => tracing::info!("the audit log is opened again"),
            Ok(false) => {}
            Err(error) => {
                tracing::error!(%error, "the audit log cannot be opened again; lines go on as before");
            }
        }
    }

    /// Writes events, as many at a time as fit.
    fn write(&mut self, batch: &mut Vec<Buffered>) {
        let (mut lines, mut written) = (Vec::new(), Vec::new());
        for buffered in batch.drain(..) {
            let line = &buffered.text;
            if !lines.is_empty() && (lines.len() + line.len()) as u64 > self.output.room() {
                self.put(&mut lines, &mut written);
            }
            lines.extend_from_slice(line);
            written.push(buffered);
        }
        self.put(&mut lines, &mut written);
    }

    fn put(&mut self, lines: &mut Vec<u8>, written: &mut Vec<Buffered>) {
        if written.is_empty() {
            return;
        }
        let outcome = self.output.write_lines(lines);
        self.is_stalled.store(false, Ordering::Relaxed);
        if let Err(error) = &outcome {
            self.losses.count(written.len(), error);
        }
        lines.clear();
        written.drain(..).for_each(|buffered| buffered.tell(outcome.is_ok()));
    }
}

#[cfg(test)]
mod tests;
