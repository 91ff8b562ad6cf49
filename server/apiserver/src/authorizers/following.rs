//! The file of `--authorization-config` is read again when it changes, while the server runs.

use std::path::{Path, PathBuf};

use orch_auth::authorization_file;
use orch_http::metrics::Metrics;
use orch_runtime::vocabulary::Vocabulary;
use tokio::sync::watch;

use super::{Modes, files_of};
use crate::followed_files::FollowedFiles;

/// Follows the file until the server stops. A new file that is not right changes nothing; it is told in the
/// log and in the metrics.
pub async fn follow(
    path: PathBuf,
    vocabulary: &'static Vocabulary,
    mut modes: Modes,
    metrics: Metrics,
    mut stopping: watch::Receiver<bool>,
) {
    let mut files = followed(&path, &modes.read);
    while files.changed(&mut stopping).await {
        match authorization_file::read(&path, vocabulary) {
            Ok(configured) => {
                modes.read = files_of(&configured);
                files = followed(&path, &modes.read);
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

/// The file of the configuration, and those that it names.
fn followed(path: &Path, named: &[PathBuf]) -> FollowedFiles {
    FollowedFiles::new(std::iter::once(path.to_owned()).chain(named.iter().cloned()).collect())
}
