//! What a change costs that many watches of one connection hear.

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
    client, server,
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use orch_auth::authenticator::certificate::PeerCertificates;
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex},
    sync::watch,
    task::JoinSet,
};

use super::{
    Connection,
    coalesced::Coalesced,
    drain,
    pace::Paced,
    streams::{Place, Streams},
};

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
fn events(changes: watch::Receiver<()>) -> impl Body<Data = Bytes, Error = Infallible> + Unpin {
    StreamBody::new(Box::pin(stream::unfold(changes, |mut changes| async {
        changes.changed().await.ok()?;
        Some((Ok(Frame::data(EVENT)), changes))
    })))
}

/// Serves watches, as [`super::connection`] does, but for TLS.
async fn serve(stream: Counted, changes: watch::Receiver<()>) {
    let streams = Streams::new(LONG);
    let (placed, mut running) = (streams.clone(), streams.running());
    let service = service_fn(move |_| {
        let pace = Arc::default();
        placed.next_is(Place::WithConnection, Arc::clone(&pace));
        let body = Paced::new(events(changes.clone()), pace);
        async { Ok::<_, Infallible>(Response::new(body)) }
    });
    let io = TokioIo::new(Coalesced::new(stream, Arc::default()));
    let exchange = server::conn::http2::Builder::new(streams).serve_connection(io, service);
    let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    let connection = Connection::new(peer, PeerCertificates::new(Vec::new()));
    let (_goes_on, mut stopping) = watch::channel(false);
    let run_streams = |context: &mut Context<'_>| running.run(context);
    drain::until_done(exchange, run_streams, &connection, LONG, &mut stopping).await.unwrap();
}

#[tokio::test]
async fn all_watches_of_a_connection_are_told_in_one_write() {
    let (ours, theirs) = duplex(1024 * 1024);
    let writes = Arc::new(AtomicUsize::new(0));
    let (change, changes) = watch::channel(());
    tokio::spawn(serve(Counted { stream: ours, writes: Arc::clone(&writes) }, changes));
    let (mut client, driver) =
        client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(theirs)).await.unwrap();
    tokio::spawn(driver);
    let mut watching = Vec::new();
    for _ in 0..WATCHES {
        watching.push(client.send_request(Request::new(Empty::<Bytes>::new())).await.unwrap().into_body());
    }
    for _ in 0..3 {
        // Long enough for everybody to come to rest.
        tokio::time::sleep(Duration::from_millis(20)).await;
        writes.store(0, Ordering::Relaxed);
        change.send_replace(());
        let mut told = JoinSet::new();
        for mut watch in std::mem::take(&mut watching) {
            told.spawn(async {
                let heard = watch.frame().await.unwrap().unwrap().into_data().unwrap();
                assert_eq!(heard, EVENT);
                watch
            });
        }
        watching = told.join_all().await;
        // What all hear is less than what is sent at a time.
        assert_eq!(writes.load(Ordering::Relaxed), 1);
    }
}
