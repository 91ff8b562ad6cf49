//! What goes out on a WebSocket: a frame for each event, and what clients are answered in between.
//!
//! The bytes of a large event are those that other watches send. Small ones are collected, so that they share
//! a write and a TLS record.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::AsyncWrite;
use tungstenite::protocol::frame::{
    FrameHeader,
    coding::{Data, OpCode},
};

use super::Messages;

/// Larger events are sent as they are. A TLS record has as many bytes.
const LARGE: usize = 16 * 1024;

/// What was not sent yet.
pub struct Sending {
    opcode: OpCode,
    /// Whole frames, and the head of `large`.
    collected: BytesMut,
    /// Goes behind what is collected.
    large: Bytes,
    /// Something was written since the stream was flushed.
    is_flush_due: bool,
}

impl Sending {
    /// Nothing yet.
    pub fn new(messages: Messages) -> Self {
        let kind = match messages {
            Messages::Text => Data::Text,
            Messages::Binary => Data::Binary,
        };
        let (collected, large) = (BytesMut::new(), Bytes::new());
        Sending { opcode: OpCode::Data(kind), collected, large, is_flush_due: false }
    }

    /// Whether the buffer must be flushed before the next event.
    pub fn is_full(&self) -> bool {
        !self.large.is_empty() || self.collected.len() >= LARGE
    }

    /// Adds an event. It must not be full.
    pub fn event(&mut self, event: Bytes) {
        let header = FrameHeader { opcode: self.opcode, is_final: true, ..FrameHeader::default() };
        let mut head = (&mut self.collected).writer();
        header.format(event.len() as u64, &mut head).expect("memory can be written to");
        if event.len() > LARGE {
            self.large = event;
        } else {
            self.collected.put_slice(&event);
        }
    }

    /// Adds frames that answer the client. No large event may wait.
    pub fn answer(&mut self, frames: &[u8]) {
        debug_assert!(self.large.is_empty(), "nothing is heard before all is sent");
        self.collected.put_slice(frames);
    }

    /// Sends all there is.
    pub fn poll_send(
        &mut self,
        stream: &mut (impl AsyncWrite + Unpin),
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let rest = if self.collected.is_empty() { &self.large[..] } else { &self.collected[..] };
            if rest.is_empty() {
                break;
            }
            let sent = ready!(Pin::new(&mut *stream).poll_write(context, rest))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.is_flush_due = true;
            if self.collected.is_empty() {
                self.large.advance(sent);
            } else {
                self.collected.advance(sent);
            }
        }
        if self.is_flush_due {
            ready!(Pin::new(stream).poll_flush(context))?;
            self.is_flush_due = false;
            // A watch that waits holds no room.
            (self.collected, self.large) = (BytesMut::new(), Bytes::new());
        }
        Poll::Ready(Ok(()))
    }
}
