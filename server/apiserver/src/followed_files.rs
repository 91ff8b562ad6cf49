//! Waiting for files that are read again while the server runs.

use std::{mem, panic::resume_unwind, time::Duration};

use orch_settings::followed_files::FollowedFiles;
use tokio::{sync::watch, task};

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
        let mut looked = mem::take(files);
        let look = move || (looked.look(), looked);
        let Some((is_changed, looked)) = apart(stopping, look).await else { return false };
        *files = looked;
        if is_changed {
            return true;
        }
    }
}

/// Looks at files, or reads them, away from the threads that answer requests: a file system may hang, as that
/// of a server in the network. `None` when the server stops, which does not wait for it.
pub async fn apart<T: Send + 'static>(
    stopping: &mut watch::Receiver<bool>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let work = task::spawn_blocking(work);
    tokio::select! {
        _ = stopping.wait_for(|stopping| *stopping) => None,
        done = work => match done {
            Ok(done) => Some(done),
            // Where it has not panicked, the server has stopped before it began.
            Err(error) => error.try_into_panic().map_or(None, |panic| resume_unwind(panic)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stop_does_not_wait_for_a_file_system() {
        let (stop, mut stopping) = watch::channel(false);
        assert_eq!(apart(&mut stopping, || 1).await, Some(1));
        let (go_on, hangs) = std::sync::mpsc::channel::<()>();
        let (waited, ()) = tokio::join!(apart(&mut stopping, move || hangs.recv()), async {
            stop.send_replace(true);
        });
        assert!(waited.is_none());
        drop(go_on);
    }
}
