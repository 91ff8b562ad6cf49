//! Streams whose client takes nothing of them, on a connection that is alive otherwise.
//!
//! Over HTTP/2 a client may read one stream and leave another: the connection goes on, and what belongs to the stream that is
//! left (a watch, the snapshot of a list) would stay for ever, because nobody asks its body for more. Body and stream
//! therefore share a note of who is waiting for whom. A stream that waits for its client for the given time is reset.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::listener::turns::Awake;

/// Who waits: the client for the server, or the server for the client.
#[derive(Debug, Default)]
pub struct Pace {
    /// Where the stream takes turns with others: whether it is to have one.
    pub awake: Awake,
    /// There is a body, and it was not asked for more since it gave something.
    left: AtomicBool,
    /// How many pieces it gave.
    pieces: AtomicU64,
}

/// A body that notes when it is asked.
#[derive(Debug)]
pub struct Paced<B> {
    body: B,
    pace: Arc<Pace>,
}

impl<B> Paced<B> {
    /// Around the body of an answer.
    pub fn new(body: B, pace: Arc<Pace>) -> Self {
        pace.left.store(true, Ordering::Relaxed);
        Paced { body, pace }
    }
}

impl<B: Body + Unpin> Body for Paced<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        // A stream looks at its body after everything else, whenever it waits for nothing else. So it has seen what woke it;
        // most often that was the stream itself, which is told of room for more when it hands over data.
        self.pace.awake.looks();
        let frame = Pin::new(&mut self.body).poll_frame(context);
        self.pace.left.store(frame.is_ready(), Ordering::Relaxed);
        if frame.is_ready() {
            self.pace.pieces.fetch_add(1, Ordering::Relaxed);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream that is given up when its client leaves it.
pub struct Bounded<F> {
    stream: Pin<Box<F>>,
    pace: Arc<Pace>,
    patience: Duration,
    /// After how many pieces the client was seen to take nothing, and until when that may last.
    end: Option<(u64, Pin<Box<Sleep>>)>,
}

impl<F> Bounded<F> {
    /// Around the stream whose body goes at this pace.
    pub fn new(stream: F, pace: Arc<Pace>, patience: Duration) -> Self {
        Bounded { stream: Box::pin(stream), pace, patience, end: None }
    }
}

impl<F: Future<Output = ()>> Future for Bounded<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.stream.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        if !self.pace.left.load(Ordering::Relaxed) {
            self.end = None;
            return Poll::Pending;
        }
        let (pieces, patience) = (self.pace.pieces.load(Ordering::Relaxed), self.patience);
        if self.end.as_ref().is_none_or(|(seen, _)| *seen != pieces) {
            self.end = Some((pieces, Box::pin(sleep(patience))));
        }
        let Some((_, end)) = &mut self.end else { return Poll::Pending };
        end.as_mut().poll(context)
    }
}
