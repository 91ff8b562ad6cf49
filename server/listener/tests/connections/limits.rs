//! More connections than may be open.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::AsyncReadExt,
    net::TcpStream,
    time::{Instant, timeout},
};

use crate::{
    client::HTTP1,
    server::{describe, serve},
};

#[tokio::test]
async fn clients_beyond_the_limit_wait() {
    let server = Arc::new(serve(|config| config.max_connections = 1, describe).await);
    let mut first = server.open(HTTP1).await;
    first.get().await.unwrap();
    let waiting = Arc::clone(&server);
    let second = tokio::spawn(async move { waiting.open(HTTP1).await.get().await.unwrap() });
    // The first is served on while the second waits.
    for _ in 0..100 {
        first.get().await.unwrap();
        assert!(!second.is_finished());
    }
    drop(first);
    assert_eq!(second.await.unwrap(), "HTTP/1.1 none");
}

#[tokio::test]
async fn silent_clients_make_room_for_others() {
    const SILENT: usize = 20;
    let server = serve(|config| config.max_connections = 4, describe).await;
    let mut first = server.open(HTTP1).await;
    first.get().await.unwrap();
    let began = Instant::now();
    let mut silent = Vec::new();
    for _ in 0..SILENT {
        silent.push(TcpStream::connect(server.address).await.unwrap());
    }
    // Long before the time of a handshake is over, each of them had its half a second.
    server.open(HTTP1).await.get().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    // The oldest were cut, and whoever has sent a request was not.
    timeout(Duration::from_secs(1), silent[0].read(&mut [0])).await.expect("it is cut").ok();
    first.get().await.unwrap();
}

#[tokio::test]
async fn an_address_may_not_take_all_places() {
    let server = serve(|config| config.max_connections_per_address = 1, describe).await;
    let mut first = server.open(HTTP1).await;
    first.get().await.unwrap();
    server.connect(HTTP1).await.expect_err("it is closed before the handshake");
    first.get().await.unwrap();
    drop(first);
    while server.connect(HTTP1).await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
