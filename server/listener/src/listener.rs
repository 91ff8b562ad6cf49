//! The accept loop: takes connections in while there is room, and keeps going whatever happens to one of them.

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use tokio::{
    sync::watch,
    task::{JoinError, JoinSet},
};

use crate::listener::{
    Connection, Listener,
    connection::{self, Door},
    drain::{self, until_stopping},
};

/// How long to wait when the machine has run out of something; other connections end in the meantime.
const SHORTAGE_PAUSE: Duration = Duration::from_millis(500);

/// Takes connections in until `stopping` becomes true, then waits for those that are open.
pub async fn run<H, F, B>(listener: Listener, handler: H, mut stopping: watch::Receiver<bool>)
where
    H: Fn(Request<Incoming>, Arc<Connection>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let Listener { socket, tls, limits, .. } = listener;
    let door = Arc::new(Door::new(tls, limits, handler, stopping.clone()));
    let mut connections = JoinSet::new();
    loop {
        // `len` counts the connections that are open and those whose end was not looked at yet.
        let room = connections.len() < limits.connections;
        tokio::select! {
            () = until_stopping(&mut stopping) => break,
            Some(end) = connections.join_next() => report(end),
            accepted = socket.accept(), if room => match accepted {
                Ok((stream, peer)) => {
                    connections.spawn(connection::serve(Arc::clone(&door), stream, peer));
                    if connections.len() == limits.connections {
                        tracing::warn!(
                            connections = limits.connections,
                            "the limit of open connections is reached; further clients wait (--max-connections)"
                        );
                    }
                }
                Err(error) => if let Some(pause) = pause_after(&error) {
                    tracing::error!(%error, "cannot take in a connection; trying again");
                    tokio::select! {
                        () = until_stopping(&mut stopping) => break,
                        () = tokio::time::sleep(pause) => {}
                    }
                }
            }
        }
    }
    // From here on the system refuses new clients.
    drop(socket);
    drain::drain(connections, limits.grace).await;
}

/// A client that went away while it waited needs no pause; a shortage (of file descriptors, of memory) does.
fn pause_after(error: &io::Error) -> Option<Duration> {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};

    let client_left =
        matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted);
    (!client_left).then_some(SHORTAGE_PAUSE)
}

/// A connection that ends with a panic must not take the others with it, and must not go unnoticed.
pub fn report(end: Result<(), JoinError>) {
    if let Err(error) = end
        && error.is_panic()
    {
        tracing::error!(%error, "the task of a connection panicked");
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::{SHORTAGE_PAUSE, pause_after};

    #[test]
    fn only_a_shortage_makes_the_loop_pause() {
        const TOO_MANY_OPEN_FILES: i32 = 24;
        assert_eq!(pause_after(&Error::from_raw_os_error(TOO_MANY_OPEN_FILES)), Some(SHORTAGE_PAUSE));
        assert_eq!(pause_after(&Error::from(ErrorKind::OutOfMemory)), Some(SHORTAGE_PAUSE));
        assert_eq!(pause_after(&Error::from(ErrorKind::ConnectionAborted)), None);
    }
}
