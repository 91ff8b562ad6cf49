//! The text of a watch: one JSON document per event and line, or one frame of protobuf per event, sent as
//! soon as it is known.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::body::Body;
use bytes::{BufMut, Bytes, BytesMut};
use hyper::body::{Body as HttpBody, Frame};
use orch_registry::{
    core::Core,
    watch_stream::{WatchEvent, WatchStream},
};

use super::{chunks::CHUNK, representation::Representation, watch_frame::Framer};
use crate::metrics::OpenWatch;

/// A watch on its way to the client.
struct WatchText {
    watch: WatchStream,
    framer: Framer,
    core: Arc<Core>,
    /// A frame that did not fit into the last piece.
    left_over: Option<Bytes>,
    /// Counts the watch while it is open, and its events.
    open: OpenWatch,
}

/// A response body that ends with the watch. `open` counts the watch until then.
pub fn body(watch: WatchStream, representation: &Representation, core: Arc<Core>, open: OpenWatch) -> Body {
    let framer = Framer::new(representation, Arc::clone(&watch.resource), watch.vocabulary);
    Body::new(WatchText { watch, framer, core, left_over: None, open })
}

impl HttpBody for WatchText {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let first = match self.left_over.take() {
            Some(frame) => frame,
            None => match ready!(self.watch.poll_next(context)) {
                Some(event) => self.frame(&event),
                None => return Poll::Ready(None),
            },
        };
        Poll::Ready(Some(Ok(Frame::data(self.piece(first)))))
    }
}

impl WatchText {
    fn frame(&mut self, event: &WatchEvent) -> Bytes {
        let core = &self.core;
        let frame = self.framer.frame(event, &|| core.now());
        self.open.told(frame.len());
        match event {
            WatchEvent::Exists(_) => self.open.told_initial(),
            WatchEvent::Bookmark { ends_initial_events: true, .. } => self.open.told_all_initial(),
            WatchEvent::Error(_) if self.watch.has_lagged() => self.open.lagged(),
            _ => {}
        }
        frame
    }

    fn next_known(&mut self) -> Option<Bytes> {
        let event = self.watch.next_known()?;
        Some(self.frame(&event))
    }

    /// One frame as it is shared, or several small ones together.
    fn piece(&mut self, first: Bytes) -> Bytes {
        let Some(second) = self.next_known() else { return first };
        let mut piece = BytesMut::with_capacity((first.len() + second.len()).max(CHUNK / 16));
        piece.put_slice(&first);
        let mut frame = Some(second);
        while let Some(fits) = frame.take_if(|frame| piece.len() + frame.len() <= CHUNK) {
            piece.put_slice(&fits);
            frame = self.next_known();
        }
        self.left_over = frame;
        piece.freeze()
    }
}
