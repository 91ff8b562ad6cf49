//! The log: to stderr, from the first line on.
//!
//! A log that cannot be written (a full disk, a closed pipe) does not end the server, and one that takes no
//! more for a while (a full pipe) does not stop it. So lines are written by a thread of their own, and what
//! does not fit into its queue is lost. Lines that are lost are counted, and the log says so as soon as it
//! can be written again.

use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write, stderr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use orch_config::{LogFormat, LoggingConfig};
use prometheus::IntCounter;
use tracing_subscriber::{EnvFilter, fmt};

/// How many lines wait at most: a megabyte.
const QUEUE: usize = 4096;
/// How long the end of the process waits for lines that are not written yet.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The log of this process.
pub struct Log {
    lost: LostLines,
    queue: LogQueue,
}

/// Counts the lines that could not be written.
#[derive(Clone, Debug)]
pub struct LostLines {
    count: IntCounter,
    /// How many of them the log has said.
    said: Arc<AtomicU64>,
}

/// Where lines are put, one call for each.
#[derive(Clone)]
struct LogQueue {
    entries: SyncSender<Entry>,
    lost: LostLines,
}

enum Entry {
    Line(Vec<u8>),
    /// Somebody waits until all lines before are written.
    Flush(SyncSender<()>),
}

/// Works around tracing-subscriber: a directive with a span but no field never enables levels below the
/// global one. A directive with a field that no span has (`[nothing{is=1}]=trace`) makes the filter look at
/// all levels.
fn with_spans(filter: &str) -> Cow<'_, str> {
    if filter.contains('[') { format!("{filter},[nothing{{is=1}}]=trace").into() } else { filter.into() }
}

/// Writes lines.
struct LogWriter<W, S> {
    out: W,
    lost: LostLines,
    /// Says in a line of its own how many were lost so far.
    say: S,
    /// The beginning of a lost line was written.
    is_torn: bool,
}

/// Starts the log. A process that has a log already, because it embeds the server, keeps it.
pub fn start(config: &LoggingConfig) -> Log {
    let lost = LostLines::new();
    let queue = start_thread(LogWriter { out: stderr(), lost: lost.clone(), say, is_torn: false });
    let lines = queue.clone();
    let log = fmt()
        .with_env_filter(EnvFilter::new(with_spans(&config.filter)))
        // It would print its errors to stderr, and panic where that fails.
        .log_internal_errors(false)
        .with_writer(move || lines.clone())
        .with_ansi(stderr().is_terminal());
    let started = match config.format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        tracing::debug!("the process has a log already");
    } else if config.format == LogFormat::Json {
        // Whoever reads JSON reads nothing else.
        std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "panicked")));
    }
    Log { lost, queue }
}

impl Log {
    /// The count of lost lines.
    pub fn lost_lines(&self) -> LostLines {
        self.lost.clone()
    }

    /// Waits until the lines so far are written, for a second at most.
    pub fn flush(&self) {
        let (written, waiting) = sync_channel(1);
        if self.queue.entries.try_send(Entry::Flush(written)).is_ok() {
            // Where it takes longer, the reader of the log has stopped.
            let _ = waiting.recv_timeout(LAST_LINES);
        }
    }
}

/// Starts the thread that writes. It ends when its queue is dropped.
fn start_thread<W, S>(mut writer: LogWriter<W, S>) -> LogQueue
where
    W: Write + Send + 'static,
    S: Fn(u64) + Send + 'static,
{
    let (entries, waiting) = sync_channel(QUEUE);
    let queue = LogQueue { entries, lost: writer.lost.clone() };
    let write = move || write_lines(&mut writer, &waiting);
    if thread::Builder::new().name("log".to_owned()).spawn(write).is_err() {
        // Its end of the queue is gone: all lines count as lost.
        let _ = writeln!(stderr(), "cannot start a thread for the log");
    }
    queue
}

fn write_lines<W: Write, S: Fn(u64)>(writer: &mut LogWriter<W, S>, waiting: &Receiver<Entry>) {
    for entry in waiting {
        match entry {
            Entry::Line(line) => writer.write(&line),
            // Nobody waits any more where it took too long.
            Entry::Flush(written) => drop(written.try_send(())),
        }
    }
}

fn say(lines: u64) {
    // The line joins the queue like any other.
    tracing::warn!(lines, "lines of this log could not be written since the start");
}

impl LostLines {
    fn new() -> Self {
        let count =
            IntCounter::new("apiserver_log_lines_lost_total", "Lines of the log that could not be written.");
        LostLines { count: count.expect("the description is well-formed"), said: Arc::default() }
    }

    /// The metric.
    pub fn counter(&self) -> IntCounter {
        self.count.clone()
    }

    /// How many lines were lost, where the log has not said it yet.
    fn unsaid(&self) -> Option<u64> {
        let lost = self.count.get();
        (self.said.swap(lost, Ordering::Relaxed) != lost).then_some(lost)
    }
}

impl Write for LogQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.entries.try_send(Entry::Line(line.to_vec())).is_err() {
            self.lost.count.inc();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write, S: Fn(u64)> LogWriter<W, S> {
    fn write(&mut self, line: &[u8]) {
        let written = if self.is_torn { write_all(&mut self.out, b"\n") } else { Ok(()) };
        match written.and_then(|()| write_all(&mut self.out, line)) {
            Ok(()) => {
                self.is_torn = false;
                if let Some(lines) = self.lost.unsaid() {
                    (self.say)(lines);
                }
            }
            Err(begun) => {
                self.is_torn |= begun;
                self.lost.count.inc();
            }
        }
    }
}

/// Writes a line, or says whether a part of it was written.
fn write_all(out: &mut impl Write, line: &[u8]) -> Result<(), bool> {
    let mut rest = line;
    while !rest.is_empty() {
        match out.write(rest) {
            Ok(length @ 1..) => rest = &rest[length..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return Err(rest.len() < line.len()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// A log on a disk that has room for so many bytes.
    #[derive(Default)]
    struct Disk {
        room: Cell<usize>,
        text: RefCell<String>,
    }

    impl Write for &Disk {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            let length = line.len().min(self.room.get());
            if length == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.room.set(self.room.get() - length);
            self.text.borrow_mut().push_str(std::str::from_utf8(&line[..length]).unwrap());
            Ok(length)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lost_lines_are_counted_and_said_once() {
        let (disk, lost) = (Disk::default(), LostLines::new());
        let say = |lines: u64| disk.text.borrow_mut().extend([lines.to_string(), " lost\n".to_owned()]);
        let mut log = LogWriter { out: &disk, lost: lost.clone(), say, is_torn: false };
        for (room, line) in [
            (9, "1\n"),
            (0, "2\n"),
            (0, "3\n"),
            (9, "4\n"),
            (9, "5\n"),
            (2, "6666\n"),
            (0, "7\n"),
            (9, "8\n"),
        ] {
            disk.room.set(room);
            log.write(line.as_bytes());
        }
        assert_eq!(disk.text.take(), "1\n4\n2 lost\n5\n66\n8\n4 lost\n");
        assert_eq!(lost.counter().get(), 4);
    }

    /// A pipe that nobody reads for a while.
    struct Pipe(Receiver<()>, SyncSender<Vec<u8>>);

    impl Write for Pipe {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            // Without a sender it is open for good.
            let _ = self.0.recv();
            self.1.send(line.to_vec()).unwrap();
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_log_that_takes_no_more_holds_nobody_up() {
        let (open, opened) = sync_channel(1);
        let (written, lines) = sync_channel(2 * QUEUE);
        let (lost, (said, saying)) = (LostLines::new(), sync_channel(1));
        let say = move |lines| said.send(lines).unwrap();
        let writer = LogWriter { out: Pipe(opened, written), lost: lost.clone(), say, is_torn: false };
        let mut queue = start_thread(writer);
        for _ in 0..QUEUE + 10 {
            queue.write_all(b"line\n").unwrap();
        }
        // One more may be with the writer.
        assert!((9..=10).contains(&lost.count.get()), "{}", lost.count.get());
        drop(open);
        assert_eq!(saying.recv().unwrap(), lost.count.get());
        let log = Log { lost: lost.clone(), queue };
        log.flush();
        assert_eq!(lines.try_iter().count() as u64 + lost.count.get(), QUEUE as u64 + 10);
    }
}
