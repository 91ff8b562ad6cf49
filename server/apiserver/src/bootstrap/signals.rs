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

/// What comes so soon after the first signal is the same wish: a terminal tells all processes of a group, and
/// a parent may pass its signal on.
const SAME_WISH: Duration = Duration::from_millis(100);

/// What is wished of the server.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
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
    let (told, wishes) = mpsc::unbounded_channel();
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
    run_until(run, wishes).await
}

/// Listens to signals until there is nothing more to wish.
fn listen(
    patience: Duration,
    told: &mpsc::UnboundedSender<Wish>,
    ready: oneshot::Sender<()>,
) -> io::Result<()> {
    runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let mut signals = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        // Where nobody waits any more, the server has ended.
        let _ = ready.send(());
        tell_wishes(async || next(&mut signals).await, patience, told).await;
        Ok(())
    })
}

async fn next((terminate, interrupt): &mut (Signal, Signal)) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}

async fn tell_wishes(
    mut next_signal: impl AsyncFnMut() -> &'static str,
    patience: Duration,
    told: &mpsc::UnboundedSender<Wish>,
) {
    // The receiver is gone when the server has ended, and its process with it.
    let _ = told.send(Wish::Stop(next_signal().await));
    let began = Instant::now();
    while timeout_at(began + SAME_WISH, next_signal()).await.is_ok() {}
    let last = tokio::select! {
        _ = next_signal() => Wish::StopNow,
        () = sleep_until(began + patience) => Wish::Overdue,
    };
    let _ = told.send(last);
}

async fn run_until<F>(
    run: impl FnOnce(watch::Receiver<bool>) -> F,
    mut wishes: mpsc::UnboundedReceiver<Wish>,
) -> Result<(), StartError>
where
    F: Future<Output = Result<(), StartError>>,
{
    let (stop, stopping) = watch::channel(false);
    let mut server = pin!(run(stopping));
    loop {
        let wish = async {
            match wishes.recv().await {
                Some(wish) => wish,
                None => pending().await,
            }
        };
        tokio::select! {
            outcome = server.as_mut() => return outcome,
            wish = wish => match wish {
                Wish::Stop(signal) => {
                    tracing::info!(signal, "stopping; a second signal stops at once");
                    service_manager::tell(STOPPING);
                    stop.send_replace(true);
                }
                Wish::StopNow => return Err(StartError::Interrupted),
                Wish::Overdue => return Err(StartError::Overdue),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_signal_asks_and_the_second_does_not_wait() {
        for (wishes, finishes, expected) in [
            (vec![Wish::Stop("TEST")], true, Ok(())),
            (
                vec![Wish::Stop("TEST"), Wish::StopNow],
                false,
                Err("stopped by a second signal; requests that were not finished are cut off"),
            ),
            (
                vec![Wish::Stop("TEST"), Wish::Overdue],
                false,
                Err("the shutdown took too long; requests that were not finished are cut off"),
            ),
        ] {
            let (sender, receiver) = mpsc::unbounded_channel();
            for wish in wishes {
                sender.send(wish).unwrap();
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
    async fn signals_at_about_the_same_time_are_one_wish() {
        let patience = Duration::from_secs(20);
        for (at, last, after) in [
            (vec![0, 99], Wish::Overdue, patience),
            (vec![0, 50, 150], Wish::StopNow, Duration::from_millis(150)),
            (vec![0], Wish::Overdue, patience),
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
            let (told, mut wishes) = mpsc::unbounded_channel();
            tell_wishes(async || come.recv().await.unwrap(), patience, &told).await;
            assert_eq!(wishes.recv().await, Some(Wish::Stop("TEST")));
            assert_eq!(wishes.recv().await, Some(last));
            assert_eq!(began.elapsed(), after);
        }
    }
}
