//! The thread of the log: what requests wait for, and what happens to a log that fails.

use std::{fs, sync::Mutex, sync::mpsc};

use super::*;
use crate::event::tests::full;

/// Lines that are written one after the other as a test allows it; each permission says whether it works.
struct Gate {
    permissions: mpsc::Receiver<bool>,
    text: Arc<Mutex<Vec<u8>>>,
}

impl Lines for Gate {
    fn write_lines(&mut self, lines: &[u8]) -> io::Result<()> {
        if !self.permissions.recv().unwrap_or(false) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.text.lock().unwrap().extend_from_slice(lines);
        Ok(())
    }

    fn room(&self) -> u64 {
        u64::MAX
    }
}

fn settings(mode: Mode) -> Settings {
    Settings {
        mode,
        output: Output::Stdout,
        format: Format::Legacy,
        buffer: 3,
        max_batch: 1,
        truncation: None,
        api_version: "audit.example.io/v1".to_owned(),
    }
}

struct Fixture {
    log: Log,
    counters: Arc<Counters>,
    permissions: mpsc::Sender<bool>,
    text: Arc<Mutex<Vec<u8>>>,
}

fn start(mode: Mode) -> Fixture {
    let counters = Arc::new(Counters::default());
    let (queue, entries) = Queue::new(3, &counters);
    let (permissions, permitted) = mpsc::channel();
    let (text, is_stalled, is_left) = (Arc::default(), Arc::default(), Arc::default());
    let mut writer = Writer {
        output: Box::new(Gate { permissions: permitted, text: Arc::clone(&text) }),
        max_batch: 1,
        pauses: false,
        losses: Losses::new(&counters, Plugin::Log),
        is_stalled: Arc::clone(&is_stalled),
        is_left: Arc::clone(&is_left),
    };
    thread::spawn(move || writer.run(entries));
    let log = Log { settings: settings(mode), queue, counters: Arc::clone(&counters), is_stalled, is_left };
    Fixture { log, counters, permissions, text }
}

#[tokio::test]
async fn requests_wait_and_fail_as_the_mode_says() {
    for (mode, works, expected) in [
        (Mode::Batch, false, true),
        (Mode::Blocking, true, true),
        (Mode::Blocking, false, true),
        (Mode::BlockingStrict, true, true),
        (Mode::BlockingStrict, false, false),
    ] {
        let fixture = start(mode);
        let event = Arc::new(full());
        fixture.permissions.send(works).unwrap();
        assert_eq!(fixture.log.process(&event).await, expected, "{mode:?} {works}");
        fixture.log.flush().await;
        assert_eq!(fixture.counters.errors(Plugin::Log), u64::from(!works), "{mode:?} {works}");
        assert_eq!(!fixture.text.lock().unwrap().is_empty(), works);
    }
}

#[tokio::test]
async fn a_batch_never_waits_and_what_does_not_fit_is_counted() {
    let fixture = start(Mode::Batch);
    let event = Arc::new(full());
    for _ in 0..20 {
        assert!(fixture.log.process(&event).await);
    }
    // One may be in the hands of the thread.
    let lost = fixture.counters.errors(Plugin::Buffered);
    assert!((16..=17).contains(&lost), "{lost}");
    for _ in 0..20 {
        fixture.permissions.send(true).unwrap();
    }
    fixture.log.flush().await;
    let lines = String::from_utf8_lossy(&fixture.text.lock().unwrap()).lines().count();
    assert_eq!(lines as u64 + lost, 20);
}

#[tokio::test(start_paused = true)]
async fn a_stalled_log_does_not_hold_up_requests() {
    let fixture = start(Mode::BlockingStrict);
    let event = Arc::new(full());
    let began = tokio::time::Instant::now();
    assert!(!fixture.log.process(&event).await);
    assert_eq!(began.elapsed(), PATIENCE);
    assert!(!fixture.log.process(&event).await);
    assert_eq!(began.elapsed(), PATIENCE, "nobody waits a second time");
    for _ in 0..3 {
        fixture.permissions.send(true).unwrap();
    }
    fixture.log.flush().await;
    // The thread needs real time to write.
    tokio::time::resume();
    assert!(fixture.log.process(&event).await, "the log writes again");
}

#[tokio::test]
async fn lines_of_a_file_are_json() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.log");
    let rotation = Rotation { max_size: 1 << 20, max_age: None, max_backups: None, compress: false };
    let settings = Settings {
        output: Output::File(path.clone(), rotation),
        format: Format::Json,
        ..settings(Mode::Blocking)
    };
    let log = Log::start(settings.clone(), &Arc::default()).unwrap();
    for _ in 0..3 {
        assert!(log.process(&Arc::new(full())).await);
    }
    let text = fs::read_to_string(&path).unwrap();
    let line = String::from_utf8(full().line("audit.example.io/v1")).unwrap();
    assert_eq!(text, line.repeat(3));
    let nowhere =
        Settings { output: Output::File("/proc/none/a".into(), rotation_of(&settings)), ..settings };
    let error = Log::start(nowhere, &Arc::default()).unwrap_err();
    assert!(error.to_string().starts_with("cannot write /proc/none/a"), "{error}");
}

fn rotation_of(settings: &Settings) -> Rotation {
    match &settings.output {
        Output::File(_, rotation) => rotation.clone(),
        Output::Stdout => panic!("there is a file"),
    }
}
