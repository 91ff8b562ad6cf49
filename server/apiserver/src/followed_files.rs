//! Waiting for files that are read again while the server runs.

use std::time::Duration;

use orch_settings::followed_files::FollowedFiles;
use tokio::sync::watch;

/// How often the files are looked at.
const LOOK_PERIOD: Duration = Duration::from_secs(1);

/// Waits until files are to be read again; `false` when the server stops.
pub async fn changed(files: &mut FollowedFiles, stopping: &mut watch::Receiver<bool>) -> bool {
    loop {
        tokio::select! {
            // An error means that the sender is gone, and the server with it.
            _ = stopping.wait_for(|stopping| *stopping) => return false,
            () = tokio::time::sleep(LOOK_PERIOD) => {}
        }
        if files.look() {
            return true;
        }
    }
}
