//! Configuration files that are read again when they change, while the server runs.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant, SystemTime},
};

use tokio::sync::watch;

/// How often it is looked whether a file has changed, and how often files are read although they seem not to
/// have changed.
const LOOK_PERIOD: Duration = Duration::from_secs(1);
const READ_PERIOD: Duration = Duration::from_secs(50);

/// When a file changed, and its length.
type Stamp = Option<(SystemTime, u64)>;

/// Some files, and what was last seen of them.
pub struct FollowedFiles {
    paths: Vec<PathBuf>,
    stamps: Vec<Stamp>,
    texts: Vec<Option<Vec<u8>>>,
    read_at: Instant,
}

impl FollowedFiles {
    /// These files, as they are now.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        let (stamps, texts) = (stamps(&paths), texts(&paths));
        FollowedFiles { paths, stamps, texts, read_at: Instant::now() }
    }

    /// Waits until one of them has other content; `false` when the server stops.
    pub async fn changed(&mut self, stopping: &mut watch::Receiver<bool>) -> bool {
        loop {
            tokio::select! {
                // An error means that the sender is gone, and the server with it.
                _ = stopping.wait_for(|stopping| *stopping) => return false,
                () = tokio::time::sleep(LOOK_PERIOD) => {}
            }
            if self.look() {
                return true;
            }
        }
    }

    fn look(&mut self) -> bool {
        let stamps = stamps(&self.paths);
        if stamps == self.stamps && self.read_at.elapsed() < READ_PERIOD {
            return false;
        }
        (self.stamps, self.read_at) = (stamps, Instant::now());
        let texts = texts(&self.paths);
        let is_changed = texts != self.texts;
        self.texts = texts;
        is_changed
    }
}

fn stamps(paths: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |path: &PathBuf| {
        let known = fs::metadata(path).ok()?;
        Some((known.modified().ok()?, known.len()))
    };
    paths.iter().map(stamp).collect()
}

fn texts(paths: &[PathBuf]) -> Vec<Option<Vec<u8>>> {
    paths.iter().map(|path| fs::read(path).ok()).collect()
}
