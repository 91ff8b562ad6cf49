//! Clients that wait, or make the server wait.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{Arc, Mutex, Weak},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Body, Frame};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Semaphore,
};

use crate::{
    client::{HTTP1, HTTP2, Sender},
    server::{Connection, LONG, describe, serve, text},
};

#[tokio::test(start_paused = true)]
async fn an_unfinished_handshake_is_cut() {
    let server = serve(|_| {}, describe).await;
    for begun in [&b""[..], b"\x16\x03\x01\x02\x00"] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(begun).await.unwrap();
        let read = tokio::time::timeout(LONG, stream.read_u8()).await.expect("still open");
        assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::UnexpectedEof, "{begun:?}");
    }
}

#[tokio::test]
async fn a_client_that_never_sends_a_request_is_cut() {
    let server = serve(|_| {}, describe).await;
    for client in [HTTP1, HTTP2] {
        let mut stream = server.connect(client).await.unwrap();
        tokio::time::pause();
        let mut rest = Vec::new();
        let end = tokio::time::timeout(LONG, stream.read_to_end(&mut rest)).await;
        assert!(end.is_ok(), "still open");
        tokio::time::resume();
    }
}

#[tokio::test]
async fn an_unfinished_head_ends_the_connection() {
    let server = serve(|_| {}, describe).await;
    for begun in ["GET / HT", "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHo"] {
        let mut stream = server.connect(HTTP1).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        let mut answers = vec![0; 1000];
        if begun.contains("\r\n\r\n") {
            assert!(stream.read(&mut answers).await.unwrap() > 0, "no answer to the first");
        }
        tokio::time::pause();
        let rest = tokio::time::timeout(LONG, stream.read_to_end(&mut answers)).await;
        assert!(rest.is_ok(), "still open: {begun}");
        tokio::time::resume();
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let server = serve(|_| {}, describe).await;
    for client in [HTTP1, HTTP2] {
        let mut requests = server.open(client).await;
        requests.get().await.unwrap();
        tokio::time::pause();
        tokio::time::timeout(LONG, requests.closed).await.expect("still open").unwrap();
        tokio::time::resume();
    }
}

#[tokio::test]
async fn a_busy_connection_outlives_the_idle_time() {
    let gate = Arc::new(Semaphore::new(0));
    let open = Arc::clone(&gate);
    let handler = move |_, _| {
        let gate = Arc::clone(&open);
        async move {
            gate.acquire().await.unwrap().forget();
            text("late")
        }
    };
    let server = serve(|_| {}, handler).await;
    for client in [HTTP1, HTTP2] {
        let mut requests = server.open(client).await;
        let answer = tokio::spawn(async move { requests.get().await });
        tokio::time::pause();
        tokio::time::sleep(LONG).await;
        tokio::time::resume();
        gate.add_permits(1);
        assert_eq!(answer.await.unwrap().unwrap(), "late");
    }
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_cut() {
    for (stall, cut) in [(LONG / 60, true), (LONG * 2, false)] {
        let (begun, served_connection) = (Arc::new(Semaphore::new(0)), Arc::new(Mutex::new(Weak::new())));
        let (begins, client_of) = (Arc::clone(&begun), Arc::clone(&served_connection));
        let handler = move |_, connection: Arc<Connection>| {
            *client_of.lock().unwrap() = Arc::downgrade(&connection);
            begins.add_permits(1);
            // More than sockets hold.
            async { Response::new(Full::new(Bytes::from(vec![b'x'; 64 << 20]))) }
        };
        let server = serve(|config| config.stall_timeout = stall, handler).await;
        let mut client = server.connect(HTTP1).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        begun.acquire().await.unwrap().forget();
        tokio::time::pause();
        tokio::time::sleep(LONG).await;
        tokio::time::resume();
        assert_eq!(served_connection.lock().unwrap().strong_count() == 0, cut, "{stall:?}");
    }
}

/// A body without end, which adds a permit when it is dropped.
struct Endless(Arc<Semaphore>);

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; 1000])))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

#[tokio::test]
async fn a_stream_that_the_client_ignores_is_reset_and_its_connection_goes_on() {
    for path in ["https://localhost/", "https://localhost/?watch=1"] {
        let gone = Arc::new(Semaphore::new(0));
        let ends = Arc::clone(&gone);
        let handler = move |_, _| {
            let body = Endless(Arc::clone(&ends));
            async { Response::new(body) }
        };
        // Pings would be answered, but time that stands still does not wait for the answers.
        let server = serve(|config| config.stall_timeout = Duration::from_secs(20), handler).await;
        let mut requests = server.open(HTTP2).await;
        let Sender::Http2(sender) = &mut requests.sender else { unreachable!("it speaks HTTP/2") };
        let request = || Request::get(path).body(Empty::<Bytes>::new()).unwrap();
        let mut left = sender.send_request(request()).await.unwrap().into_body();
        let mut first = left.frame().await.unwrap().unwrap();
        tokio::time::pause();
        gone.acquire().await.unwrap().forget();
        tokio::time::resume();
        // The client gets what was sent before, and then an error.
        let error = loop {
            match left.frame().await {
                Some(Ok(frame)) => first = frame,
                other => break other.unwrap().unwrap_err(),
            }
        };
        assert!(first.is_data() && !error.is_timeout(), "{error:?}");
        let answer = sender.send_request(request()).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
    }
}
