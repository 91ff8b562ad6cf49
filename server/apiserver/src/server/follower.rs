//! What runs beside the requests until the server stops, each in a task of its own.

use std::{panic::AssertUnwindSafe, pin::Pin};

use futures_util::FutureExt as _;
use tokio::sync::watch;

/// A background task that reads files again, or ends watches.
pub(crate) struct Follower {
    follows: &'static str,
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Follower {
    /// One that ends when the server stops; the log may say what it follows.
    pub(crate) fn of(follows: &'static str, future: impl Future<Output = ()> + Send + 'static) -> Self {
        Follower { follows, future: Box::pin(future) }
    }

    /// Runs it. The others go on where it panics; the log says what stays as it is from then on.
    pub(crate) async fn run(self, stopping: watch::Receiver<bool>) {
        let follows = self.follows;
        if self.ends_early(&stopping).await {
            tracing::error!(
                "the task that follows {follows} has ended: restart the server to follow them again"
            );
        }
    }

    async fn ends_early(self, stopping: &watch::Receiver<bool>) -> bool {
        // A future that panicked is dropped, so nothing uses the state that the panic left in it.
        let _ = AssertUnwindSafe(self.future).catch_unwind().await;
        !*stopping.borrow()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_end_before_the_stop_is_noticed() {
        let (stop, stopping) = watch::channel(false);
        assert!(Follower::of("a", async { panic!("a mistake") }).ends_early(&stopping).await);
        assert!(Follower::of("a", async {}).ends_early(&stopping).await);
        let mut told = stopping.clone();
        let waits = async move {
            let _ = told.wait_for(|told| *told).await;
        };
        let waits = Follower::of("a", waits).ends_early(&stopping);
        let ((), early) = tokio::join!(async { assert!(!stop.send_replace(true)) }, waits);
        assert!(!early);
    }
}
