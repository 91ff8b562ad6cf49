//! What comes after HTTP/1 on a connection.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::server::conn::http1::UpgradeableConnection;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::watch,
};

use crate::{connection::Connection, handover::Agreed, http1, lifecycle};

const LONG: Duration = Duration::from_hours(1);
const ASKED: &str = "GET /echo HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";
/// Neither of these is HTTP that the server would read.
const NOT_HTTP: &str = "POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n\0\n\n";

/// Answers with 101 at `/echo`, with 200 at `/no`, and wants to go on both times.
fn answer(request: &Request<Incoming>, connection: &Connection<()>) -> Response<Empty<Bytes>> {
    connection.hand_over(Box::new(|mut stream| {
        Box::pin(async move {
            let mut bytes = vec![0; NOT_HTTP.len()];
            stream.read_exact(&mut bytes).await.unwrap();
            stream.write_all(&bytes).await.unwrap();
        })
    }));
    let mut response = Response::new(Empty::new());
    if request.uri().path() == "/echo" {
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        response.headers_mut().insert(header::CONNECTION, "upgrade".parse().unwrap());
    }
    response
}

/// Serves one connection as the acceptor does, without TLS.
async fn serve(stream: DuplexStream) {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    let connection = Arc::new(Connection::new(address, (), Arc::default()));
    let (_never_stops, mut stopping) = watch::channel(false);
    let seen = Arc::clone(&connection);
    let answer = move |request: Request<Incoming>| {
        seen.count_request();
        std::future::ready(answer(&request, &seen))
    };
    let agreed = Agreed::default();
    let http = http1::serve_connection(&http1::builder(), stream, &connection, &agreed, answer);
    let finish = UpgradeableConnection::graceful_shutdown;
    lifecycle::run(http, finish, |_| false, &connection, LONG, &mut stopping).await.unwrap();
    http1::hand_over::<DuplexStream>(agreed).await;
}

fn connect() -> DuplexStream {
    let (ours, theirs) = duplex(64 * 1024);
    tokio::spawn(serve(ours));
    theirs
}

/// The next head of an answer.
async fn head(client: &mut DuplexStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

/// What comes until the server closes the connection.
async fn rest(client: &mut DuplexStream) -> String {
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap();
    String::from_utf8(rest).unwrap()
}

#[tokio::test]
async fn after_a_101_bytes_are_no_requests() {
    let mut client = connect();
    client.write_all(ASKED.as_bytes()).await.unwrap();
    assert!(head(&mut client).await.starts_with("HTTP/1.1 101 "));
    client.write_all(NOT_HTTP.as_bytes()).await.unwrap();
    assert_eq!(rest(&mut client).await, NOT_HTTP);
}

#[tokio::test]
async fn another_answer_changes_nothing() {
    let mut client = connect();
    let refused = ASKED.replace("/echo", "/no");
    client.write_all(refused.as_bytes()).await.unwrap();
    assert!(head(&mut client).await.starts_with("HTTP/1.1 200 "));
    // Who wanted to go on then does not do so later.
    client.write_all(refused.as_bytes()).await.unwrap();
    assert!(head(&mut client).await.starts_with("HTTP/1.1 200 "));
    client.write_all(NOT_HTTP.as_bytes()).await.unwrap();
    assert!(rest(&mut client).await.starts_with("HTTP/1.1 400 "));
}

#[tokio::test]
async fn who_does_not_wait_for_the_101_is_cut() {
    for early in [NOT_HTTP, "GET /no HTTP/1.1\r\nhost: a\r\n\r\n", "\u{1}"] {
        let mut client = connect();
        client.write_all((ASKED.to_owned() + early).as_bytes()).await.unwrap();
        let answer = rest(&mut client).await;
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        assert!(answer.ends_with("\r\n\r\n"), "nothing follows: {answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
    }
}
