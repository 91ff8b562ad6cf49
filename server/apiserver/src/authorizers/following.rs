//! The file of `--authorization-config` is read again when it changes, while the server runs.

use std::path::PathBuf;

use orch_config::start_error::with_causes;
use orch_http::metrics::Metrics;
use orch_runtime::vocabulary::Vocabulary;
use tokio::sync::watch;

use super::{Modes, read_file};
use crate::followed_files;

/// Follows the file until the server stops. A new file that is not right changes nothing; it is told in the
/// log and in the metrics.
pub async fn follow(
    path: PathBuf,
    vocabulary: &'static Vocabulary,
    mut modes: Modes,
    metrics: Metrics,
    mut stopping: watch::Receiver<bool>,
) {
    while followed_files::changed(&mut modes.followed, &mut stopping).await {
        let (file, known) = (path.clone(), modes.followed.paths().to_vec());
        let read = move || read_file(&file, known, vocabulary);
        let Some(read) = followed_files::apart(&mut stopping, read).await else { return };
        match read {
            Ok((configured, followed)) => {
                modes.followed = followed;
                modes.current.replace(modes.parts.chain(configured));
                metrics.authorization_reloaded(true);
                tracing::info!(path = %path.display(), "the authorizers are read again");
            }
            Err(error) => {
                metrics.authorization_reloaded(false);
                let problem = with_causes(&error);
                if modes.followed.refused(&problem) {
                    tracing::error!(problem, "the authorizers stay as they were read before");
                }
            }
        }
    }
}
