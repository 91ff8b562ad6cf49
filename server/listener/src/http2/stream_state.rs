//! What is known of one HTTP/2 stream: whether something woke it, and whether it waits for its client.
//!
//! The body of the answer and the code that runs the stream share this state, because only the body sees when
//! HTTP/2 asks it for data. HTTP/2 does not ask while the client takes nothing.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use hyper::body::{Body, Frame, SizeHint};

/// What is known of one HTTP/2 stream.
#[derive(Debug, Default)]
pub struct StreamState {
    /// Something woke the stream, and it has not looked for news since.
    woken: AtomicBool,
    /// There is a body, and it was not asked for more since it gave its last frame.
    waits_for_client: AtomicBool,
    /// How many frames the body gave.
    frames: AtomicU64,
}

impl StreamState {
    /// The stream is woken. Whether it was not before.
    pub fn wake(&self) -> bool {
        !self.woken.swap(true, Ordering::AcqRel)
    }

    /// The stream looks for news now: what woke it before needs no further poll. Whether something did.
    pub fn take_wake(&self) -> bool {
        self.woken.swap(false, Ordering::AcqRel)
    }

    /// How many frames were given when the client stopped taking them; none while the client waits for the
    /// server.
    pub fn frames_at_stall(&self) -> Option<u64> {
        self.waits_for_client.load(Ordering::Relaxed).then(|| self.frames.load(Ordering::Relaxed))
    }
}

/// The body of an answer, which keeps the state of its stream up to date.
#[derive(Debug)]
pub struct TrackedBody<B> {
    body: B,
    state: Arc<StreamState>,
}

impl<B> TrackedBody<B> {
    /// The body of the answer on the stream with this state.
    pub fn new(body: B, state: Arc<StreamState>) -> Self {
        state.waits_for_client.store(true, Ordering::Relaxed);
        TrackedBody { body, state }
    }
}

impl<B: Body + Unpin> Body for TrackedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        // A stream polls its body last, when it waits for nothing else, so it has seen everything that woke
        // it. Most often it woke itself: handing over data tells it that there is room for more.
        self.state.take_wake();
        let frame = Pin::new(&mut self.body).poll_frame(context);
        self.state.waits_for_client.store(frame.is_ready(), Ordering::Relaxed);
        if frame.is_ready() {
            self.state.frames.fetch_add(1, Ordering::Relaxed);
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
