//! The log: to stderr, from the first line on.
//!
//! A log that cannot be written (a full disk, a closed pipe) does not end the server. The lines that are lost
//! are counted, and the log says so as soon as it can be written again.

use std::{
    io::{self, IsTerminal, Write, stderr},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use prometheus::IntCounter;
use tracing_subscriber::{EnvFilter, fmt};

use crate::config::{LogFormat, LoggingConfig};

/// Counts the lines that could not be written.
#[derive(Clone, Debug)]
pub struct LostLines {
    count: IntCounter,
    /// How many of them the log has said.
    said: Arc<AtomicU64>,
    /// The beginning of a lost line was written.
    is_torn: Arc<AtomicBool>,
}

/// Where lines are written, one call for each.
struct LogWriter<W, S> {
    out: W,
    lost: LostLines,
    /// Says in a line of its own how many were lost so far.
    say: S,
}

/// Starts the log. A process that has a log already, because it embeds the server, keeps it.
pub fn start(config: &LoggingConfig) -> LostLines {
    let lost = LostLines::new();
    let counted = lost.clone();
    let log = fmt()
        .with_env_filter(EnvFilter::new(&config.filter))
        // It would print its errors to stderr, and panic where that fails.
        .log_internal_errors(false)
        .with_writer(move || LogWriter { out: stderr(), lost: counted.clone(), say })
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
    lost
}

fn say(lines: u64) {
    // The line comes to the writer in turn, which is not writing any more.
    tracing::warn!(lines, "lines of this log could not be written since the start");
}

impl LostLines {
    fn new() -> Self {
        let count =
            IntCounter::new("apiserver_log_lines_lost_total", "Lines of the log that could not be written.");
        LostLines {
            count: count.expect("the description is well-formed"),
            said: Arc::default(),
            is_torn: Arc::default(),
        }
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

impl<W: Write, S: Fn(u64)> Write for LogWriter<W, S> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let is_torn = self.lost.is_torn.swap(false, Ordering::Relaxed);
        let written = if is_torn { write_all(&mut self.out, b"\n") } else { Ok(()) };
        if let Err(begun) = written.and_then(|()| write_all(&mut self.out, line)) {
            self.lost.is_torn.store(is_torn || begun, Ordering::Relaxed);
            self.lost.count.inc();
        } else if let Some(lines) = self.lost.unsaid() {
            (self.say)(lines);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // What could not be flushed was counted when it was written.
        let _ = self.out.flush();
        Ok(())
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
        let mut log = LogWriter { out: &disk, lost: lost.clone(), say };
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
            log.write_all(line.as_bytes()).unwrap();
        }
        assert_eq!(disk.text.take(), "1\n4\n2 lost\n5\n66\n8\n4 lost\n");
        assert_eq!(lost.counter().get(), 4);
    }
}
