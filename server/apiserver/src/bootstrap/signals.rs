//! SIGTERM and SIGINT: the first signal asks the server to finish its requests, the second stops it at once.

use std::pin::pin;

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};

use crate::start_error::StartError;

/// Runs a server. The receiver that it is given becomes true when it is to stop.
pub async fn run_until_told<F>(run: impl FnOnce(watch::Receiver<bool>) -> F) -> Result<(), StartError>
where
    F: Future<Output = Result<(), StartError>>,
{
    let listen = |kind| {
        signal(kind).map_err(|error| StartError::Runtime(format!("cannot listen to signals: {error}")))
    };
    let mut signals = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    run_until(run, async || next(&mut signals).await).await
}

async fn next((terminate, interrupt): &mut (Signal, Signal)) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}

async fn run_until<F>(
    run: impl FnOnce(watch::Receiver<bool>) -> F,
    mut next_signal: impl AsyncFnMut() -> &'static str,
) -> Result<(), StartError>
where
    F: Future<Output = Result<(), StartError>>,
{
    let (stop, stopping) = watch::channel(false);
    let mut server = pin!(run(stopping));
    tokio::select! {
        outcome = server.as_mut() => return outcome,
        signal = next_signal() => tracing::info!(signal, "stopping; a second signal stops at once"),
    }
    stop.send_replace(true);
    tokio::select! {
        outcome = server => outcome,
        _ = next_signal() => Err(StartError::Interrupted),
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::{mpsc, watch};

    use super::run_until;
    use crate::start_error::StartError;

    #[tokio::test]
    async fn the_first_signal_asks_and_the_second_does_not_wait() {
        for (signals, finishes, expected) in [
            (1, true, Ok(())),
            (2, false, Err("stopped by a second signal; requests that were not finished are cut off")),
        ] {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            (0..signals).for_each(|_| sender.send("TEST").unwrap());
            let server = async |mut stopping: watch::Receiver<bool>| {
                stopping.wait_for(|stopping| *stopping).await.unwrap();
                if finishes { Ok(()) } else { pending().await }
            };
            let next_signal = async || match receiver.recv().await {
                Some(signal) => signal,
                None => pending().await,
            };
            let outcome = run_until(server, next_signal).await;
            assert_eq!(outcome.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
        }
    }

    #[tokio::test]
    async fn a_server_that_ends_by_itself_needs_no_signal() {
        let server = async |_| Err(StartError::Runtime("broken".to_owned()));
        let outcome = run_until(server, async || pending().await).await;
        assert_eq!(outcome.unwrap_err().to_string(), "broken");
    }
}
