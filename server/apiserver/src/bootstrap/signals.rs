//! SIGTERM and SIGINT: the first signal asks the server to finish its requests, the second stops it at once.
//! SIGHUP lets it read files again.
//!
//! What stops the server has a thread of its own, and so has the time that a shutdown may take: requests that
//! keep all other threads busy do not keep the server from ending.

use std::{future::pending, io, pin::pin, thread, time::Duration};

use orch_config::start_error::StartError;
use tokio::{
    runtime,
    signal::unix::{Signal, SignalKind, signal},
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep_until, timeout_at},
};

use crate::bootstrap::service_manager::{self, STOPPING};

/// A signal that comes so soon after the first one repeats it: a terminal sends it to all processes of a
/// group, and a parent may pass its own on.
const REPEATED_SIGNAL: Duration = Duration::from_millis(100);

/// What a signal, or the time, asks of the server.
#[derive(Debug, PartialEq, Eq)]
enum StopRequest {
    /// To finish its requests and stop, because of this signal.
    Stop(&'static str),
    /// To stop at once.
    StopNow,
    /// To stop at once, because it has taken too long.
    Overdue,
}

/// Installs the handler of SIGHUP. A signal that arrives before the first `recv` is kept for it.
///
/// # Errors
/// Where the handler cannot be installed.
pub fn hangup() -> Result<Signal, StartError> {
    signal(SignalKind::hangup()).map_err(|error| fault(&error))
}

fn fault(error: &io::Error) -> StartError {
    StartError::Runtime(format!("cannot listen to signals: {error}"))
}

/// Runs a server. The receiver that it is given becomes true when it is to stop, for which it has as long as
/// `patience`.
pub async fn run_until_told<F>(
    run: impl FnOnce(watch::Receiver<bool>) -> F,
    patience: Duration,
) -> Result<(), StartError>
where
    F: Future<Output = Result<(), StartError>>,
{
    let (told, requests) = mpsc::unbounded_channel();
    let (ready, is_ready) = oneshot::channel();
    let listen = move || {
        let outcome = listen(patience, &told, ready);
        if let Err(error) = outcome {
            tracing::error!(%error, "cannot listen to signals");
        }
    };
    let thread = thread::Builder::new().name("signals".to_owned());
    thread.spawn(listen).map_err(|error| fault(&error))?;
    if is_ready.await.is_err() {
        return Err(StartError::Runtime("cannot listen to signals; the log says why".to_owned()));
    }
    run_until(run, requests).await
}

/// Turns signals into stop requests, until the last one is sent.
fn listen(
    patience: Duration,
    told: &mpsc::UnboundedSender<StopRequest>,
    ready: oneshot::Sender<()>,
) -> io::Result<()> {
    runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let mut signals = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        // Where nobody waits any more, the server has ended.
        let _ = ready.send(());
        send_stop_requests(async || next(&mut signals).await, patience, told).await;
        Ok(())
    })
}

async fn next((terminate, interrupt): &mut (Signal, Signal)) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}

async fn send_stop_requests(
    mut next_signal: impl AsyncFnMut() -> &'static str,
    patience: Duration,
    told: &mpsc::UnboundedSender<StopRequest>,
) {
    // The receiver is gone when the server has ended, and its process with it.
    let _ = told.send(StopRequest::Stop(next_signal().await));
    let began = Instant::now();
    while timeout_at(began + REPEATED_SIGNAL, next_signal()).await.is_ok() {}
    let last = tokio::select! {
        _ = next_signal() => StopRequest::StopNow,
        () = sleep_until(began + patience) => StopRequest::Overdue,
    };
    let _ = told.send(last);
}

async fn run_until<F>(
    run: impl FnOnce(watch::Receiver<bool>) -> F,
    mut requests: mpsc::UnboundedReceiver<StopRequest>,
) -> Result<(), StartError>
where
    F: Future<Output = Result<(), StartError>>,
{
    let (stop, stopping) = watch::channel(false);
    let mut server = pin!(run(stopping));
    loop {
        let request = async {
            match requests.recv().await {
                Some(request) => request,
                None => pending().await,
            }
        };
        tokio::select! {
            outcome = server.as_mut() => return outcome,
            request = request => match request {
                StopRequest::Stop(signal) => {
                    tracing::info!(signal, "stopping; a second signal stops at once");
                    service_manager::tell(STOPPING);
                    stop.send_replace(true);
                }
                StopRequest::StopNow => return Err(StartError::Interrupted),
                StopRequest::Overdue => return Err(StartError::Overdue),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_signal_asks_and_the_second_does_not_wait() {
        for (requests, finishes, expected) in [
            (vec![StopRequest::Stop("TEST")], true, Ok(())),
            (
                vec![StopRequest::Stop("TEST"), StopRequest::StopNow],
                false,
                Err("stopped by a second signal; requests that were not finished are cut off"),
            ),
            (
                vec![StopRequest::Stop("TEST"), StopRequest::Overdue],
                false,
                Err("the shutdown took too long; requests that were not finished are cut off"),
            ),
        ] {
            let (sender, receiver) = mpsc::unbounded_channel();
            for request in requests {
                sender.send(request).unwrap();
            }
            let server = async |mut stopping: watch::Receiver<bool>| {
                stopping.wait_for(|stopping| *stopping).await.unwrap();
                if finishes { Ok(()) } else { pending().await }
            };
            let outcome = run_until(server, receiver).await;
            assert_eq!(outcome.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
        }
    }

    #[tokio::test]
    async fn a_server_that_ends_by_itself_needs_no_signal() {
        let server = async |_| Err(StartError::Runtime("broken".to_owned()));
        let (_sender, receiver) = mpsc::unbounded_channel();
        let outcome = run_until(server, receiver).await;
        assert_eq!(outcome.unwrap_err().to_string(), "broken");
    }

    #[tokio::test(start_paused = true)]
    async fn signals_at_about_the_same_time_are_one_request() {
        let patience = Duration::from_secs(20);
        for (at, last, after) in [
            (vec![0, 99], StopRequest::Overdue, patience),
            (vec![0, 50, 150], StopRequest::StopNow, Duration::from_millis(150)),
            (vec![0], StopRequest::Overdue, patience),
        ] {
            let (signals, mut come) = mpsc::unbounded_channel();
            let began = Instant::now();
            tokio::spawn(async move {
                for at in at {
                    sleep_until(began + Duration::from_millis(at)).await;
                    signals.send("TEST").unwrap();
                }
                pending::<()>().await;
            });
            let (told, mut requests) = mpsc::unbounded_channel();
            send_stop_requests(async || come.recv().await.unwrap(), patience, &told).await;
            assert_eq!(requests.recv().await, Some(StopRequest::Stop("TEST")));
            assert_eq!(requests.recv().await, Some(last));
            assert_eq!(began.elapsed(), after);
        }
    }
}
