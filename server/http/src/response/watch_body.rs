//! The text of a watch: one JSON document per event and line, or one frame of protobuf per event, sent as
//! soon as it is known. Over WebSocket each event is a piece of its own, which says by itself where it ends.

use std::{
    convert::Infallible,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::body::Body;
use bytes::{BufMut, Bytes, BytesMut};
use hyper::body::{Body as HttpBody, Frame};
use orch_machinery::media_type::Framing;
use orch_registry::{
    core::Core,
    watch_stream::{WatchEvent, WatchStream},
};

use super::{
    chunks::{self, CHUNK, READ_BUDGET},
    representation::Representation,
    watch_frame::Framer,
};
use crate::{large_work::LargeWork, metrics::OpenWatch, request::weight::LARGE};

/// A watch on its way to the client.
struct WatchText {
    watch: WatchStream,
    /// None while a frame is made on another thread, and where that failed.
    framer: Option<Framer>,
    making: Option<Making>,
    large_work: LargeWork,
    core: Arc<Core>,
    /// Over WebSocket, how frames are separated: each becomes a message, which is by itself.
    messages: Option<Framing>,
    /// A frame that did not fit into the last piece.
    left_over: Option<Bytes>,
    /// How many bytes of objects were read since the task yielded.
    read: usize,
    /// Counts the watch while it is open, and its events.
    open: OpenWatch,
}

/// The frame of a large object, which takes long to make.
type Making = Pin<Box<dyn Future<Output = Option<(Framer, Bytes)>> + Send>>;

/// A response body that ends with the watch. `open` counts the watch until then. Frames that take long to
/// make are made in `large_work`. Each event is a piece of its own where they are sent `in_messages`.
pub fn body(
    watch: WatchStream,
    representation: &Representation,
    in_messages: bool,
    core: Arc<Core>,
    large_work: LargeWork,
    open: OpenWatch,
) -> Body {
    let framer = Framer::new(representation, Arc::clone(&watch.resource), watch.vocabulary);
    let messages = in_messages.then(|| framer.framing());
    Body::new(WatchText {
        watch,
        framer: Some(framer),
        making: None,
        large_work,
        core,
        messages,
        left_over: None,
        read: 0,
        open,
    })
}

impl HttpBody for WatchText {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.read >= READ_BUDGET {
            // Other tasks run first.
            self.read = 0;
            return chunks::rest(context);
        }
        loop {
            let made = if let Some(frame) = self.left_over.take() {
                Some(frame)
            } else if let Some(making) = &mut self.making {
                let Some((framer, frame)) = ready!(making.as_mut().poll(context)) else {
                    return Poll::Ready(None);
                };
                (self.framer, self.making) = (Some(framer), None);
                self.open.told(frame.len());
                Some(frame)
            } else {
                let Some(event) = ready!(self.watch.poll_next(context)) else { return Poll::Ready(None) };
                self.frame(event)
            };
            if let Some(first) = made {
                return Poll::Ready(Some(Ok(Frame::data(self.piece(first)))));
            }
        }
    }
}

impl WatchText {
    /// The frame of an event; `None` where it takes long to make: then it is being made.
    fn frame(&mut self, event: WatchEvent) -> Option<Bytes> {
        match event {
            WatchEvent::Exists(_) => self.open.told_initial(),
            WatchEvent::Bookmark { ends_initial_events: true, .. } => self.open.told_all_initial(),
            WatchEvent::Error(_) if self.watch.has_lagged() => self.open.lagged(),
            _ => {}
        }
        let (mut framer, now) = (self.framer.take()?, self.core.now());
        let reads = framer.reads(&event, now);
        if reads > LARGE {
            let work = self.large_work.clone();
            self.making = Some(Box::pin(async move {
                work.run(move || async move {
                    // A panic here would end the connection with all of its other answers.
                    catch_unwind(AssertUnwindSafe(|| framer.frame(&event, now)))
                        .map(|frame| (framer, frame))
                        .ok()
                })
                .await
            }));
            return None;
        }
        self.read += reads;
        let frame = framer.frame(&event, now);
        self.framer = Some(framer);
        self.open.told(frame.len());
        Some(frame)
    }

    /// The next frame that is there without waiting.
    fn next_known(&mut self) -> Option<Bytes> {
        if self.making.is_some() || self.read >= READ_BUDGET {
            return None;
        }
        let event = self.watch.next_known()?;
        self.frame(event)
    }

    /// One frame as it is shared, or several small ones together.
    fn piece(&mut self, first: Bytes) -> Bytes {
        if let Some(framing) = self.messages {
            return first.slice(framing.prefix()..);
        }
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
