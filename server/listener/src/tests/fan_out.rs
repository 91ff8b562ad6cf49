//! What a change costs when many watches of one connection send it.

use std::{
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty, StreamBody};
use hyper::{
    body::{Body, Frame},
    client,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::graceful::GracefulConnection,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex},
    sync::watch,
    task::JoinSet,
};

use crate::{connection::Connection, http2, lifecycle};

const WATCHES: usize = 80;
const EVENT: Bytes = Bytes::from_static(&[b'e'; 400]);
const LONG: Duration = Duration::from_hours(1);

/// Counts the writes that would be system calls.
struct Counted {
    stream: DuplexStream,
    writes: Arc<AtomicUsize>,
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

/// A body with an event for each change.
fn events(changes: watch::Receiver<()>) -> impl Body<Data = Bytes, Error = Infallible> + Send + Unpin {
    StreamBody::new(Box::pin(stream::unfold(changes, |mut changes| async {
        changes.changed().await.ok()?;
        Some((Ok(Frame::data(EVENT)), changes))
    })))
}

/// Serves watches over HTTP/2 without TLS.
async fn serve(stream: Counted, changes: watch::Receiver<()>) {
    let answer = move |_| {
        let body = events(changes.clone());
        async { Response::new(body) }
    };
    let (http, mut streams) = http2::serve_connection(stream, Arc::default(), LONG, answer);
    let connection = Connection::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 1)), (), Arc::default());
    let (_never_stops, mut stopping) = watch::channel(false);
    let run_streams = |context: &mut Context<'_>| streams.run(context);
    let finish = GracefulConnection::graceful_shutdown;
    lifecycle::run(http, finish, run_streams, &connection, LONG, &mut stopping).await.unwrap();
}

#[tokio::test]
async fn a_change_is_sent_to_all_watches_of_a_connection_in_one_write() {
    let (ours, theirs) = duplex(1024 * 1024);
    let writes = Arc::new(AtomicUsize::new(0));
    let (change, changes) = watch::channel(());
    tokio::spawn(serve(Counted { stream: ours, writes: Arc::clone(&writes) }, changes));
    let (mut client, driver) =
        client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(theirs)).await.unwrap();
    tokio::spawn(driver);
    let mut watching = Vec::new();
    for _ in 0..WATCHES {
        let request = Request::get("/?watch=1").body(Empty::<Bytes>::new()).unwrap();
        watching.push(client.send_request(request).await.unwrap().into_body());
    }
    for _ in 0..3 {
        // Long enough for all tasks to become idle.
        tokio::time::sleep(Duration::from_millis(20)).await;
        writes.store(0, Ordering::Relaxed);
        change.send_replace(());
        let mut receiving = JoinSet::new();
        for mut watch in std::mem::take(&mut watching) {
            receiving.spawn(async {
                let event = watch.frame().await.unwrap().unwrap().into_data().unwrap();
                assert_eq!(event, EVENT);
                watch
            });
        }
        watching = receiving.join_all().await;
        // The events of all watches fit into one write.
        assert_eq!(writes.load(Ordering::Relaxed), 1);
    }
}
