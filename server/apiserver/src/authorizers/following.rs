//! The file of `--authorization-config` is read again when it changes, while the server runs.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use orch_auth::authorization_file;
use orch_runtime::vocabulary::Vocabulary;
use tokio::sync::watch;

use super::{Modes, files_of};
use crate::metrics::Metrics;

/// How often it is looked whether a file has changed, and how often files are read although they seem not to
/// have changed.
const LOOK_PERIOD: Duration = Duration::from_secs(1);
const READ_PERIOD: Duration = Duration::from_secs(50);

/// When a file changed, and its length.
type Stamps = Vec<Option<(SystemTime, u64)>>;

/// Follows the file until the server stops. A new file that is not right changes nothing; it is told in the
/// log and in the metrics.
pub async fn follow(
    path: PathBuf,
    vocabulary: &'static Vocabulary,
    mut modes: Modes,
    metrics: Metrics,
    mut stopping: watch::Receiver<bool>,
) {
    let (mut seen, mut texts) = (stamps(&path, &modes.read), texts(&path, &modes.read));
    let mut read_at = Instant::now();
    loop {
        tokio::select! {
            // An error means that the sender is gone, and the server with it.
            _ = stopping.wait_for(|stopping| *stopping) => return,
            () = tokio::time::sleep(LOOK_PERIOD) => {}
        }
        let stamps_now = stamps(&path, &modes.read);
        if stamps_now == seen && read_at.elapsed() < READ_PERIOD {
            continue;
        }
        (seen, read_at) = (stamps_now, Instant::now());
        let texts_now = self::texts(&path, &modes.read);
        if texts_now == texts {
            continue;
        }
        texts = texts_now;
        match authorization_file::read(&path, vocabulary) {
            Ok(configured) => {
                modes.read = files_of(&configured);
                seen = stamps(&path, &modes.read);
                texts = self::texts(&path, &modes.read);
                modes.current.replace(modes.parts.chain(configured));
                metrics.authorization_reloaded(true);
                tracing::info!(path = %path.display(), "the authorizers are read again");
            }
            Err(error) => {
                metrics.authorization_reloaded(false);
                let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
                tracing::error!(%error, source, "the authorizers stay as they were read before");
            }
        }
    }
}

fn stamps(path: &Path, others: &[PathBuf]) -> Stamps {
    let stamp = |path: &Path| {
        let known = fs::metadata(path).ok()?;
        Some((known.modified().ok()?, known.len()))
    };
    std::iter::once(path).chain(others.iter().map(PathBuf::as_path)).map(stamp).collect()
}

fn texts(path: &Path, others: &[PathBuf]) -> Vec<Option<Vec<u8>>> {
    std::iter::once(path).chain(others.iter().map(PathBuf::as_path)).map(|path| fs::read(path).ok()).collect()
}
