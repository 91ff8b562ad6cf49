//! Clients that keep connections open: slow handshakes, half requests, many connections. Others are served
//! meanwhile.

use std::time::Duration;

use http::Method;
use orch_tests::{
    TestServer,
    client::Protocol,
    objects::{CONFIG_MAPS, config_map, name},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Longer than the server waits for a client.
const LONG: Duration = Duration::from_secs(50);

#[tokio::test]
async fn silent_connections_are_closed_and_delay_no_other() {
    let server = TestServer::start().await;
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(TcpStream::connect(server.address()).await.unwrap());
    }
    // One stops in the middle of its handshake.
    let mut half = TcpStream::connect(server.address()).await.unwrap();
    half.write_all(&[0x16, 0x03, 0x01, 0x02, 0x00, 0x01]).await.unwrap();
    server.admin().post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    for stream in silent.iter_mut().chain([&mut half]) {
        let read = tokio::time::timeout(LONG, stream.read(&mut [0; 64])).await;
        let read = read.expect("the server closes silent connections");
        assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
    }
    assert_eq!(server.admin().get("/readyz").await.text(), "ok");
}

#[tokio::test]
async fn garbage_instead_of_tls_ends_the_connection() {
    let server = TestServer::start().await;
    for garbage in
        [&b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"[..], b"\0\0\0\0\0\0\0\0", b"\x16\x03\x01\xff\xff\xff\xff"]
    {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        let mut answer = Vec::new();
        let ended = tokio::time::timeout(LONG, stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok(), "the connection stays open after {garbage:?}");
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{answer:?}");
    }
    assert_eq!(server.admin().get("/readyz").await.text(), "ok");
}

#[tokio::test]
async fn header_bombs_are_refused() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let large = "x".repeat(4 * 1024 * 1024);
    let answer = admin.request(Method::GET, CONFIG_MAPS).header("x-large", &large).try_send().await;
    assert!(answer.as_ref().map_or(true, |answer| answer.status == 431), "{answer:?}");
    assert_eq!(admin.get("/readyz").await.text(), "ok");
}

#[tokio::test]
async fn http2_carries_many_requests_and_watches_on_one_connection() {
    let server = TestServer::start().await;
    let client = server.administrator_over(Protocol::Http2);
    let created = client.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    assert_eq!(client.get(&format!("{CONFIG_MAPS}/a")).await.expect(200), created);
    let mut watch = client.watch(&format!("{CONFIG_MAPS}?watch=1")).await;
    assert_eq!(name(&watch.expect("ADDED").await), "a");
    client.post(CONFIG_MAPS, &config_map("b", "1")).await.expect(201);
    assert_eq!(name(&watch.expect("ADDED").await), "b");
}
