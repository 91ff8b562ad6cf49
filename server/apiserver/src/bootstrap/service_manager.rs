//! The service manager that started the process, where there is one: it may have opened the socket, and it is
//! told when the server is ready and when it stops. systemd speaks this protocol, and others after it:
//! `sd_notify(3)`, `sd_listen_fds(3)`.

use std::{env, io, net::TcpListener, os::unix::net::UnixDatagram, path::Path};

use listenfd::ListenFd;
use orch_config::start_error::StartError;

/// The server answers requests.
pub const READY: &str = "READY=1";

/// The server was told to stop.
pub const STOPPING: &str = "STOPPING=1";

/// Tells a state. Without a service manager nothing happens; where it cannot be told, the log says so.
pub fn tell(state: &str) {
    let Some(socket) = env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(error) = send(Path::new(&socket), state) {
        tracing::warn!(%error, state, "the service manager cannot be told");
    }
}

fn send(socket: &Path, state: &str) -> io::Result<()> {
    UnixDatagram::unbound()?.send_to(state.as_bytes(), socket).map(drop)
}

/// The socket on which the service manager listens for the server, if it does.
///
/// # Errors
/// Where it hands over several sockets, or one that is not of TCP.
pub fn socket() -> Result<Option<TcpListener>, StartError> {
    let fault = |problem: String| StartError::configuration("LISTEN_FDS", problem);
    let mut sockets = ListenFd::from_env();
    if sockets.len() > 1 {
        return Err(fault(format!("one socket is wanted, and there are {}", sockets.len())));
    }
    sockets.take_tcp_listener(0).map_err(|error| fault(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_one_message() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        send(&path, READY).unwrap();
        send(&path, STOPPING).unwrap();
        let mut message = [0; 100];
        for expected in [READY, STOPPING] {
            let length = manager.recv(&mut message).unwrap();
            assert_eq!(&message[..length], expected.as_bytes());
        }
        assert!(send(&directory.path().join("nobody"), READY).is_err());
    }
}
