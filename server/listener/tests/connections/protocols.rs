//! Which HTTP version is spoken, what is refused, and how handlers end a connection.

use std::sync::Arc;

use http::{Request, StatusCode};
use http_body_util::Empty;
use hyper::body::Incoming;
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs, pki_types::ServerName};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use crate::{
    client::{HTTP1, HTTP2},
    server::{Connection, describe, serve, text},
};

#[tokio::test]
async fn both_versions_of_http_are_served() {
    let server = serve(|_| {}, describe).await;
    for (client, expected) in [(HTTP1, "HTTP/1.1 none"), (HTTP2, "HTTP/2.0 none")] {
        let mut requests = server.open(client).await;
        assert_eq!(requests.get().await.unwrap(), expected);
        assert_eq!(requests.get().await.unwrap(), expected, "a connection is kept");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_names_no_protocol_speaks_http1() {
    let server = serve(|_| {}, describe).await;
    let mut roots = RootCertStore::empty();
    roots.add(server.certificate.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(server.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("HTTP/1.1 none"), "{answer}");
}

#[tokio::test]
async fn a_client_without_tls_is_told_so() {
    let server = serve(|_| {}, describe).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.0 400 Bad Request\r\n"), "{answer:?}");
    assert!(answer.ends_with("Client sent an HTTP request to an HTTPS server.\n"), "{answer:?}");
}

#[tokio::test]
async fn a_handler_can_close_the_connection_after_its_answer() {
    let handler = |_, connection: Arc<Connection>| async move {
        connection.close_when_answered();
        text("bye")
    };
    let server = serve(|_| {}, handler).await;
    for client in [HTTP1, HTTP2] {
        let mut requests = server.open(client).await;
        assert_eq!(requests.get().await.unwrap(), "bye");
        requests.closed.await.unwrap();
    }
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let server = serve(|_| {}, describe).await;
    for (client, length, expected) in [
        (HTTP1, 30_000, Some(StatusCode::OK)),
        (HTTP1, 100_000, Some(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)),
        (HTTP2, 30_000, Some(StatusCode::OK)),
        (HTTP2, 100_000, None),
    ] {
        let mut requests = server.open(client).await;
        let request = Request::get("https://localhost/").header("x-long", "x".repeat(length));
        let answer = requests.send(request.body(Empty::new()).unwrap()).await;
        match expected {
            Some(status) => assert_eq!(answer.unwrap().0, status, "{length}"),
            // An HTTP/2 client knows the limit and does not even send it, or is reset.
            None => assert!(answer.map_or(true, |(status, _)| status.is_client_error()), "{length}"),
        }
    }
}

#[tokio::test]
async fn a_panic_ends_its_connection_and_nothing_else() {
    let handler = |request: Request<Incoming>, _| async move {
        assert!(request.headers().is_empty() || request.headers().get("panic").is_none(), "as asked");
        text("fine")
    };
    let server = serve(|_| {}, handler).await;
    for client in [HTTP1, HTTP2] {
        let mut requests = server.open(client.clone()).await;
        let request = Request::get("https://localhost/").header("panic", "yes").body(Empty::new()).unwrap();
        requests.send(request).await.unwrap_err();
        assert_eq!(server.open(client).await.get().await.unwrap(), "fine");
    }
    server.stop().await;
}
