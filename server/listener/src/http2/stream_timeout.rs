//! Resets a stream whose client takes nothing of it, on a connection that is alive otherwise.
//!
//! An HTTP/2 client may read one stream and ignore another. The connection goes on, and what belongs to the
//! ignored stream (a watch, the snapshot of a list) would stay for ever, because HTTP/2 asks its body for
//! nothing more.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Sleep, sleep};

use crate::http2::stream_state::StreamState;

/// A stream that ends when it has waited for its client for the given time.
pub struct StreamTimeout<F> {
    stream: Pin<Box<F>>,
    state: Arc<StreamState>,
    timeout: Duration,
    /// How many frames were given when the client was seen to take nothing, and until when that may last.
    deadline: Option<(u64, Pin<Box<Sleep>>)>,
}

impl<F> StreamTimeout<F> {
    /// The stream that has this state.
    pub fn new(stream: F, state: Arc<StreamState>, timeout: Duration) -> Self {
        StreamTimeout { stream: Box::pin(stream), state, timeout, deadline: None }
    }
}

impl<F: Future<Output = ()>> Future for StreamTimeout<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.stream.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let Some(frames) = self.state.frames_at_stall() else {
            self.deadline = None;
            return Poll::Pending;
        };
        let timeout = self.timeout;
        if self.deadline.as_ref().is_none_or(|(seen, _)| *seen != frames) {
            self.deadline = Some((frames, Box::pin(sleep(timeout))));
        }
        let Some((_, deadline)) = &mut self.deadline else { return Poll::Pending };
        deadline.as_mut().poll(context)
    }
}
