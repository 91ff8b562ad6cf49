//! Where the target of a client comes from: it is given once, or read from a kubeconfig file and read again
//! when that file or a certificate that it names has changed.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use crate::{error::OutboundError, kubeconfig, target::Target};

/// How often it is looked whether a file has changed.
const LOOK_PERIOD: Duration = Duration::from_secs(1);

/// When a file changed, its length, and which file it is; none where it is not there.
type Stamp = Option<(SystemTime, u64, u64)>;

/// See the module.
pub(crate) struct Source {
    now: Mutex<Now>,
    /// The kubeconfig file; none where the target stays as it is.
    path: Option<PathBuf>,
}

struct Now {
    target: Arc<Target>,
    /// What was read besides the kubeconfig file.
    files: Vec<PathBuf>,
    stamps: Vec<Stamp>,
    looked: Instant,
    /// Whether the files were wrong when they were last read.
    is_wrong: bool,
}

impl Source {
    /// A target that does not change.
    pub(crate) fn fixed(target: Target) -> Self {
        Source { now: Mutex::new(Now::new((target, Vec::new(), Vec::new()))), path: None }
    }

    /// The target of a kubeconfig file, which must be right now.
    pub(crate) fn followed(path: &Path) -> Result<Self, OutboundError> {
        let now = Now::new(read(path, Vec::new())?);
        Ok(Source { now: Mutex::new(now), path: Some(path.to_owned()) })
    }

    /// The target as the files say now. Where they are wrong it stays as it was.
    pub(crate) fn target(&self) -> Arc<Target> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = &self.path
            && now.looked.elapsed() >= LOOK_PERIOD
        {
            now.look(path);
        }
        Arc::clone(&now.target)
    }
}

impl Now {
    fn new((target, files, stamps): (Target, Vec<PathBuf>, Vec<Stamp>)) -> Self {
        Now { target: Arc::new(target), files, stamps, looked: Instant::now(), is_wrong: false }
    }

    /// Files that were wrong are read each time: what was missing may stand under another name.
    fn look(&mut self, path: &Path) {
        self.looked = Instant::now();
        if !self.is_wrong && stamps(path, &self.files) == self.stamps {
            return;
        }
        match read(path, self.files.clone()) {
            Ok(found) => {
                *self = Now::new(found);
                tracing::info!(path = %path.display(), "how another server is called is read again");
            }
            Err(error) => {
                if !self.is_wrong {
                    tracing::error!(path = %path.display(), %error, "another server is called as before");
                }
                self.is_wrong = true;
            }
        }
    }
}

/// The target, the files that the kubeconfig file names, and the stamps of all. What changes while they are
/// read is seen by the next look, because the stamps are older than what was read.
fn read(path: &Path, mut files: Vec<PathBuf>) -> Result<(Target, Vec<PathBuf>, Vec<Stamp>), OutboundError> {
    loop {
        let stamps = stamps(path, &files);
        let (target, named) = kubeconfig::read_with_files(path)?;
        if named == files {
            return Ok((target, files, stamps));
        }
        files = named;
    }
}

fn stamps(path: &Path, files: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |path: &Path| {
        let known = fs::metadata(path).ok()?;
        Some((known.modified().ok()?, known.len(), known.ino()))
    };
    std::iter::once(path).chain(files.iter().map(PathBuf::as_path)).map(stamp).collect()
}
