//! Why an address cannot be listened on.

use std::{io, net::SocketAddr};

/// Why an address cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The port is in use.
    #[error("cannot listen on {0}: another program listens there already (0 takes any free port)")]
    AddressInUse(SocketAddr),
    /// The address belongs to another machine, or to none.
    #[error("cannot listen on {0}: this machine has no such address")]
    AddressNotAvailable(SocketAddr),
    /// The port is reserved.
    #[error("cannot listen on {0}: this user may not listen there (ports below 1024 are special)")]
    PermissionDenied(SocketAddr),
    /// Anything else that the system says. The source has the words.
    #[error("cannot listen on {address}")]
    Other {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
}

impl ListenError {
    /// Sorts what the system says about this address.
    pub(crate) fn new(address: SocketAddr, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::AddrInUse => Self::AddressInUse(address),
            io::ErrorKind::AddrNotAvailable => Self::AddressNotAvailable(address),
            io::ErrorKind::PermissionDenied => Self::PermissionDenied(address),
            _ => Self::Other { address, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn the_usual_reasons_come_with_a_remedy() {
        let address: SocketAddr = "192.0.2.1:80".parse().unwrap();
        for (kind, expected) in [
            (io::ErrorKind::AddrInUse, "another program listens there already (0 takes any free port)"),
            (io::ErrorKind::AddrNotAvailable, "this machine has no such address"),
            (
                io::ErrorKind::PermissionDenied,
                "this user may not listen there (ports below 1024 are special)",
            ),
        ] {
            let error = ListenError::new(address, kind.into());
            assert_eq!(error.to_string(), format!("cannot listen on 192.0.2.1:80: {expected}"));
            assert!(error.source().is_none());
        }
    }

    #[test]
    fn other_reasons_keep_the_words_of_the_system() {
        const TOO_MANY_OPEN_FILES: i32 = 24;
        let address: SocketAddr = "192.0.2.1:80".parse().unwrap();
        let error = ListenError::new(address, io::Error::from_raw_os_error(TOO_MANY_OPEN_FILES));
        assert_eq!(error.to_string(), "cannot listen on 192.0.2.1:80");
        assert!(error.source().unwrap().to_string().contains("open files"));
    }
}
