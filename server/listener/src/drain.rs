//! How the server stops: it waits for open connections, and cuts those that take too long.

use std::time::Duration;

use tokio::{
    sync::watch,
    task::{JoinError, JoinSet},
};

/// Waits until the server stops. A sender that is gone means the same.
pub async fn until_stopping(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// Waits for connections to end. Those that are open when the grace period is over are cut.
pub async fn drain(mut connections: JoinSet<()>, grace_period: Duration) {
    let all_closed = async {
        while let Some(end) = connections.join_next().await {
            report_panic(end);
        }
    };
    if tokio::time::timeout(grace_period, all_closed).await.is_err() {
        tracing::warn!(connections = connections.len(), "the grace period is over; cutting connections off");
        connections.shutdown().await;
    }
}

/// A panic ends only its own connection. It is logged, so that it does not pass unnoticed.
pub fn report_panic(end: Result<(), JoinError>) {
    if let Err(error) = end
        && error.is_panic()
    {
        tracing::error!(%error, "the task of a connection panicked");
    }
}
