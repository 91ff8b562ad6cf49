//! Addresses that cannot be listened on.

use std::net::SocketAddr;

use orch_listener::{ListenError, Listener};
use tokio::net::TcpListener;

use crate::server::config;

#[tokio::test]
async fn an_error_says_why_an_address_cannot_be_listened_on() {
    let holder = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let taken = holder.local_addr().unwrap();
    let error = Listener::bind(config(taken)).await.unwrap_err();
    assert!(matches!(error, ListenError::AddressInUse(address) if address == taken), "{error:?}");
    // No machine has this address (RFC 5737).
    let nowhere = SocketAddr::from(([192, 0, 2, 7], 6443));
    let error = Listener::bind(config(nowhere)).await.unwrap_err();
    assert!(matches!(error, ListenError::AddressNotAvailable(address) if address == nowhere), "{error:?}");
}
