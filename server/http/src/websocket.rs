//! Watches over WebSocket (RFC 6455): a message for each event, on a connection whose HTTP has ended.
//!
//! The body of such an answer has a piece for each event. It is made and guarded like that of every watch;
//! only it does not go out as the body of an HTTP answer. What ends the body ends the WebSocket, and the
//! other way round: its seat, its shares and its counts are free when the client closes.
//!
//! Of a client's frames only ping and close have a meaning. Messages are ignored, up to a size.
//! Reading what a client sends, with all that can be wrong there, and answering it is for the library
//! ([`hearing`]). Events do not go through it: it would copy each one for each client, and keep the room of
//! the largest one ([`sending`]).
//!
//! While a client takes nothing, nothing is read from it either: answers to its pings would have to be kept.
//! The listener cuts it after a while, as it cuts every other client that takes nothing.

mod hearing;
mod sending;

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{body::Body, response::Response};
use http::header;
use hyper::body::Body as _;
use orch_listener::{ClientStream, Connection};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf},
    time::timeout,
};
use tungstenite::protocol::frame::coding::CloseCode;

use self::{hearing::Hearing, sending::Sending};
use crate::limits::Peer;

/// How long a client may take to close after the server has sent its close frame.
const FAREWELL: Duration = Duration::from_secs(5);
/// How much is read at a time.
const READ_BYTES: usize = 4096;

/// An extension of answers: each piece of the body is a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Messages {
    /// Text, which is UTF-8.
    Text,
    /// Bytes.
    Binary,
}

/// How a WebSocket ends.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The server closes it.
    Ours(CloseCode),
    /// The client has closed it.
    Theirs,
    /// The connection is gone.
    Lost,
}

/// One WebSocket.
struct WebSocket {
    stream: ClientStream,
    hearing: Hearing,
    sending: Sending,
}

/// Takes the body off an answer whose body is messages, and sends it when the connection is handed over.
pub fn take_over(connection: &Connection<Peer>, response: &mut Response) {
    if let Some(messages) = response.extensions_mut().remove::<Messages>() {
        let events = std::mem::take(response.body_mut());
        // An answer without content has no type of it.
        response.headers_mut().remove(header::CONTENT_TYPE);
        connection.hand_over(Box::new(move |stream| Box::pin(serve(stream, events, messages))));
    }
}

/// Sends events until there are no more, or the client closes.
async fn serve(stream: ClientStream, mut events: Body, messages: Messages) {
    let mut socket = WebSocket { stream, hearing: Hearing::new(), sending: Sending::new(messages) };
    let end = poll_fn(|context| socket.poll(&mut events, context)).await;
    drop(events);
    tracing::debug!(?end, "a WebSocket ends");
    if end == End::Lost || socket.send_close(&end).await.is_err() {
        return;
    }
    // A client that has not closed by then is cut off.
    let _ = timeout(FAREWELL, socket.wait_for_close()).await;
}

impl WebSocket {
    fn poll(&mut self, events: &mut Body, context: &mut Context<'_>) -> Poll<End> {
        loop {
            if ready!(self.sending.poll_send(&mut self.stream, context)).is_err() {
                return Poll::Ready(End::Lost);
            }
            let heard = self.poll_hear(context);
            if let Poll::Ready(Some(end)) = heard {
                return Poll::Ready(end);
            }
            let taken = self.poll_take(events, context);
            if let Poll::Ready(Some(end)) = taken {
                return Poll::Ready(end);
            }
            if heard.is_pending() && taken.is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// Reads the next frames of the client. Returns how the WebSocket ends, if they end it.
    fn poll_hear(&mut self, context: &mut Context<'_>) -> Poll<Option<End>> {
        let mut bytes = [0; READ_BYTES];
        let mut buffer = ReadBuf::new(&mut bytes);
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
        if read.is_err() || buffer.filled().is_empty() {
            return Poll::Ready(Some(End::Lost));
        }
        let end = self.hearing.hear(buffer.filled());
        self.sending.answer(&self.hearing.answers());
        Poll::Ready(end)
    }

    /// Takes as many events as are sent together. Returns how the WebSocket ends, if there are no more.
    fn poll_take(&mut self, events: &mut Body, context: &mut Context<'_>) -> Poll<Option<End>> {
        let mut has_taken = false;
        while !self.sending.is_full() {
            match Pin::new(&mut *events).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(event) = frame.into_data() {
                        self.sending.event(event);
                        has_taken = true;
                    }
                }
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Some(End::Ours(CloseCode::Error))),
                Poll::Ready(None) => return Poll::Ready(Some(End::Ours(CloseCode::Normal))),
                Poll::Pending if has_taken => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(None)
    }

    /// Sends what is left, and the close frame. That takes as long as the listener lets it.
    async fn send_close(&mut self, end: &End) -> io::Result<()> {
        if let End::Ours(code) = end {
            self.hearing.close(*code);
        }
        self.sending.answer(&self.hearing.answers());
        self.send().await
    }

    /// Waits until the client has sent its close frame too, and has closed the connection.
    async fn wait_for_close(mut self) -> io::Result<()> {
        while self.hearing.goes_on() {
            if poll_fn(|context| self.poll_hear(context)).await == Some(End::Lost) {
                return Ok(());
            }
        }
        self.stream.shutdown().await?;
        // A connection that is closed with bytes unread is reset, and the close frame is lost.
        let mut bytes = [0; 512];
        while self.stream.read(&mut bytes).await? > 0 {}
        Ok(())
    }

    async fn send(&mut self) -> io::Result<()> {
        poll_fn(|context| self.sending.poll_send(&mut self.stream, context)).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    };

    use bytes::Bytes;
    use futures_util::stream;
    use tokio::io::duplex;

    use super::*;

    const EVENT: usize = 100_000;

    /// Events without an end, which are counted when they are taken.
    fn events(taken: &Arc<AtomicUsize>) -> Body {
        let taken = Arc::clone(taken);
        Body::from_stream(stream::repeat_with(move || {
            taken.fetch_add(1, Relaxed);
            Ok::<_, io::Error>(Bytes::from(vec![b'x'; EVENT]))
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_is_told_and_asked_nothing() {
        let (mut client, ours) = duplex(10 * EVENT);
        let taken = Arc::<AtomicUsize>::default();
        let serving = tokio::spawn(serve(Box::new(ours), events(&taken), Messages::Binary));
        tokio::time::sleep(Duration::from_secs(1)).await;
        let at_rest = taken.load(Relaxed);
        assert!((5..=12).contains(&at_rest), "as much as fits in between: {at_rest}");
        // What it says meanwhile stays in between too, however much it is.
        let ping = b"\x89\x80\0\0\0\0";
        let mut said = 0;
        while timeout(Duration::from_millis(10), client.write_all(ping)).await.is_ok() {
            said += ping.len();
        }
        assert!(said <= 10 * EVENT + READ_BYTES, "{said}");
        assert_eq!(taken.load(Relaxed), at_rest);
        // When it takes what there is, all goes on.
        let mut frame = vec![0; EVENT + 10];
        for _ in 0..20 {
            client.read_exact(&mut frame[..10]).await.unwrap();
            while frame[0] != 0x82 {
                // A pong has 2 bytes.
                frame.copy_within(2..10, 0);
                client.read_exact(&mut frame[8..10]).await.unwrap();
            }
            assert_eq!(frame[..10], [&[0x82, 127][..], &(EVENT as u64).to_be_bytes()].concat());
            client.read_exact(&mut frame[10..]).await.unwrap();
        }
        drop(client);
        serving.await.unwrap();
        assert_eq!(Arc::strong_count(&taken), 1, "the events were let go");
    }

    /// The events go when the client closes, whatever it does then; after a while its connection does.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_closes_and_stays_is_cut() {
        let (mut client, ours) = duplex(EVENT);
        let held = Arc::<()>::default();
        let kept = Arc::clone(&held);
        let events = Body::from_stream(stream::poll_fn(move |_| {
            assert_eq!(Arc::strong_count(&kept), 2, "until the events are let go");
            Poll::<Option<io::Result<Bytes>>>::Pending
        }));
        let serving = tokio::spawn(serve(Box::new(ours), events, Messages::Text));
        client.write_all(b"\x88\x80\0\0\0\0").await.unwrap();
        let mut close = [0; 2];
        client.read_exact(&mut close).await.unwrap();
        assert_eq!((close, Arc::strong_count(&held)), ([0x88, 0], 1));
        let began = tokio::time::Instant::now();
        serving.await.unwrap();
        assert_eq!(began.elapsed(), FAREWELL);
    }
}
