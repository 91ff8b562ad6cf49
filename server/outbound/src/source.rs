//! Where the target of a client comes from: it is given once, or read from a kubeconfig file and read again
//! when that file or a certificate that it names has changed.

use std::{
    iter,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use orch_settings::followed_files::FollowedFiles;

use crate::{error::OutboundError, kubeconfig, target::Target};

/// How often it is looked whether a file has changed.
const LOOK_PERIOD: Duration = Duration::from_secs(1);

/// See the module.
pub(crate) struct Source {
    now: Mutex<Now>,
    /// The kubeconfig file; none where the target stays as it is.
    path: Option<PathBuf>,
}

struct Now {
    target: Arc<Target>,
    /// The kubeconfig file, and what was read besides it.
    files: FollowedFiles,
    looked: Instant,
}

impl Source {
    /// A target that does not change.
    pub(crate) fn fixed(target: Target) -> Self {
        Source { now: Mutex::new(Now::new(target, FollowedFiles::new(Vec::new()))), path: None }
    }

    /// The target of a kubeconfig file, which must be right now.
    pub(crate) fn followed(path: &Path) -> Result<Self, OutboundError> {
        let (target, files) = read(path, vec![path.to_owned()])?;
        Ok(Source { now: Mutex::new(Now::new(target, files)), path: Some(path.to_owned()) })
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
    fn new(target: Target, files: FollowedFiles) -> Self {
        Now { target: Arc::new(target), files, looked: Instant::now() }
    }

    fn look(&mut self, path: &Path) {
        self.looked = Instant::now();
        if !self.files.look() {
            return;
        }
        match read(path, self.files.paths().to_vec()) {
            Ok((target, files)) => {
                *self = Now::new(target, files);
                tracing::info!(path = %path.display(), "how another server is called is read again");
            }
            Err(error) => {
                if self.files.refused(&error.to_string()) {
                    tracing::error!(path = %path.display(), %error, "another server is called as before");
                }
            }
        }
    }
}

/// The target, and the files that were read for it; which these are is `known` from before.
fn read(path: &Path, known: Vec<PathBuf>) -> Result<(Target, FollowedFiles), OutboundError> {
    FollowedFiles::read(known, || {
        let (target, named) = kubeconfig::read_with_files(path)?;
        Ok((target, iter::once(path.to_owned()).chain(named).collect()))
    })
}
