//! Frames from the client of a WebSocket: pings are answered, messages ignored, close echoed.

use std::io::{self, Read, Write};

use tungstenite::{
    Error, Message,
    protocol::{CloseFrame, Role, WebSocketConfig, WebSocketContext, frame::coding::CloseCode},
};

use super::End;

/// The largest message that is read. Clients of watches have nothing to say.
const MAX_MESSAGE_BYTES: usize = 16 * 1024;
/// Room for what is read.
const BUFFER_BYTES: usize = 1024;

/// Reads what the client sends.
pub struct Hearing {
    context: WebSocketContext,
    wire: Wire,
    /// Whether frames of the client are still read.
    goes_on: bool,
}

/// What the library reads and writes.
#[derive(Default)]
struct Wire {
    heard: Vec<u8>,
    read: usize,
    answers: Vec<u8>,
}

impl Hearing {
    /// Before the first byte.
    pub fn new() -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(BUFFER_BYTES)
            .write_buffer_size(0)
            .max_frame_size(Some(MAX_MESSAGE_BYTES))
            .max_message_size(Some(MAX_MESSAGE_BYTES));
        let context = WebSocketContext::new(Role::Server, Some(config));
        Hearing { context, wire: Wire::default(), goes_on: true }
    }

    /// Reads these bytes. Returns how the WebSocket ends, if they end it.
    pub fn hear(&mut self, bytes: &[u8]) -> Option<End> {
        self.wire.heard.clear();
        self.wire.heard.extend_from_slice(bytes);
        self.wire.read = 0;
        loop {
            let end = match self.context.read(&mut self.wire) {
                Ok(Message::Close(_)) => {
                    // Writes the answer to it, if there is to be one, and then says that all is over.
                    let _ = self.context.flush(&mut self.wire);
                    End::Theirs
                }
                Ok(_) => continue,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => return None,
                Err(Error::Protocol(_)) => End::Ours(CloseCode::Protocol),
                Err(Error::Capacity(_)) => End::Ours(CloseCode::Size),
                Err(Error::Utf8(_)) => End::Ours(CloseCode::Invalid),
                Err(_) => End::Theirs,
            };
            self.goes_on = false;
            return Some(end);
        }
    }

    /// Closes it. The client is expected to echo the close frame, unless what it sent cannot be read.
    pub fn close(&mut self, code: CloseCode) {
        // There is always room for the frame, and if both close at once, none is needed.
        let _ = self.context.close(&mut self.wire, Some(CloseFrame { code, reason: "".into() }));
    }

    /// Whether frames of the client are still read.
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// The frames that are to be sent.
    pub fn answers(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.wire.answers)
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.heard[self.read..];
        if rest.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.read += length;
        Ok(length)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.answers.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: [u8; 4] = [1, 2, 3, 4];

    /// A frame of a client, with this first byte.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let length = match u8::try_from(payload.len()) {
            Ok(length @ ..126) => vec![0x80 | length],
            _ => [&[0xfe][..], &u16::try_from(payload.len()).unwrap().to_be_bytes()].concat(),
        };
        let masked = payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask);
        [&[first][..], &length, &MASK].concat().into_iter().chain(masked).collect()
    }

    /// What becomes of bytes that come in pieces of this size: how it ends, and what is answered.
    fn heard(bytes: &[u8], piece: usize) -> (Option<End>, Vec<u8>) {
        let mut hearing = Hearing::new();
        let end = bytes.chunks(piece).find_map(|piece| hearing.hear(piece));
        assert_eq!(hearing.goes_on(), end.is_none());
        (end, hearing.answers())
    }

    #[test]
    fn pings_are_answered_and_messages_ignored() {
        let largest = frame(0x82, &[7; MAX_MESSAGE_BYTES]);
        let in_pieces = [frame(0x01, b"a"), frame(0x89, b"b"), frame(0x80, b"c")].concat();
        for (said, answer) in [
            (frame(0x81, "hello".as_bytes()), &b""[..]),
            (largest, b""),
            (frame(0x89, b"x"), b"\x8a\x01x"),
            (frame(0x8a, b"x"), b""),
            (in_pieces, b"\x8a\x01b"),
        ] {
            for piece in [1, 3, said.len()] {
                assert_eq!(heard(&said, piece), (None, answer.to_vec()));
            }
        }
    }

    #[test]
    fn a_close_is_answered() {
        for (payload, answer) in [
            (&b""[..], &b"\x88\x00"[..]),
            (b"\x03\xe8", b"\x88\x02\x03\xe8"),
            (b"\x03\xe9away", b"\x88\x06\x03\xe9away"),
        ] {
            let said = [frame(0x88, payload), frame(0x89, b"late")].concat();
            for piece in [1, said.len()] {
                assert_eq!(heard(&said, piece), (Some(End::Theirs), answer.to_vec()));
            }
        }
    }

    #[test]
    fn what_the_protocol_forbids_ends_it() {
        let (broken, large) = (End::Ours(CloseCode::Protocol), End::Ours(CloseCode::Size));
        let too_large = [&[0x82, 0xfe][..], &16_385_u16.to_be_bytes(), &MASK].concat();
        let endless = [&[0x82, 0xff][..], &(u64::MAX / 2).to_be_bytes(), &MASK].concat();
        let many_parts = [frame(0x02, &[7; MAX_MESSAGE_BYTES]), frame(0x00, b"x")].concat();
        for (said, end) in [
            (b"\x81\x01a".to_vec(), &broken),
            (b"GET / HTTP/1.1\r\n\r\n".to_vec(), &broken),
            (frame(0xc1, b"a"), &broken),
            (frame(0x83, b"a"), &broken),
            (frame(0x8b, b"a"), &broken),
            (frame(0x80, b"a"), &broken),
            (frame(0x09, b"a"), &broken),
            (frame(0x89, &[7; 126]), &broken),
            (frame(0x88, b"a"), &broken),
            (too_large, &large),
            (endless, &large),
            (many_parts, &large),
            (frame(0x81, b"\xff"), &End::Ours(CloseCode::Invalid)),
        ] {
            assert_eq!(heard(&said, said.len()).0.as_ref(), Some(end), "{:?}", &said[..said.len().min(20)]);
        }
    }

    #[test]
    fn what_the_server_closes_the_client_closes_too() {
        let mut hearing = Hearing::new();
        hearing.close(CloseCode::Normal);
        assert_eq!(hearing.answers(), b"\x88\x02\x03\xe8");
        assert_eq!(hearing.hear(&frame(0x89, b"x")), None);
        assert_eq!(hearing.hear(&frame(0x88, b"\x03\xe8")), Some(End::Theirs));
        assert_eq!(hearing.answers(), b"");
        // After what cannot be read there is a close frame as well.
        let mut hearing = Hearing::new();
        assert_eq!(hearing.hear(b"\x81\x01a"), Some(End::Ours(CloseCode::Protocol)));
        hearing.close(CloseCode::Protocol);
        assert_eq!(hearing.answers(), b"\x88\x02\x03\xea");
    }
}
