//! Refuses HTTP/1 requests whose end a proxy in front could see elsewhere (RFC 9112 section 6.3): what comes
//! behind such a request could be taken for that of another client (request smuggling).
//!
//! The HTTP library takes a request with a length and a transfer encoding, and one that gives its length
//! twice, and shows handlers neither. So the bytes are looked at before it reads them. A request that must be
//! refused gets a byte that is allowed nowhere: the library then answers 400 and closes the connection.
//! Nothing behind that byte is read.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::config::MAX_HEAD_BYTES;

/// Allowed neither in a head nor in the framing of chunks (RFC 9110 section 5.5, RFC 9112 section 7.1). In
/// the extension of a chunk the library accepts it all the same, but not the line feed that is refused there.
const FORBIDDEN: u8 = 0;

/// The stream of an HTTP/1 connection, whose requests are checked while they are read.
#[derive(Debug)]
pub struct FramingGuard<S> {
    stream: S,
    requests: Requests,
}

/// Where in the row of requests a connection is.
#[derive(Debug)]
struct Requests {
    place: Place,
    /// The beginning of a line of a head whose end was not read yet.
    line: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Head(Head),
    /// So many bytes of a body are left.
    Body(u64),
    /// The size in front of a chunk: the digits so far.
    ChunkSize {
        digits: u8,
        size: u64,
    },
    /// Behind the digits.
    ChunkExtension(u64),
    /// At the line feed that ends the size.
    ChunkSizeEnd(u64),
    /// So many bytes of a chunk are left.
    Chunk(u64),
    /// At the line end behind a chunk.
    ChunkEnd,
    ChunkEndFeed,
    /// In a trailer line, or at its beginning.
    Trailer {
        is_empty: bool,
    },
    TrailerFeed {
        is_empty: bool,
    },
    /// Behind what was refused.
    Refused,
}

#[derive(Debug, Clone, Copy, Default)]
struct Head {
    /// The request line was read.
    has_begun: bool,
    length: Option<u64>,
    is_chunked: bool,
}

/// A request that must be refused, seen at this position.
#[derive(Debug, PartialEq)]
struct Ambiguous(usize);

impl<S> FramingGuard<S> {
    /// Around this stream, from its first request on.
    pub fn new(stream: S) -> Self {
        FramingGuard { stream, requests: Requests::new() }
    }

    /// The stream, on which no requests come any more.
    pub fn into_inner(self) -> S {
        self.stream
    }
}

impl Requests {
    fn new() -> Self {
        Requests { place: Place::Head(Head::default()), line: Vec::new() }
    }

    /// Looks at what was read. The byte at which a request must be refused is replaced by a forbidden one.
    fn check(&mut self, bytes: &mut [u8]) {
        let mut at = 0;
        while at < bytes.len() {
            match self.step(&bytes[at..]) {
                Ok(taken) => at += taken,
                Err(Ambiguous(behind)) => {
                    if !matches!(self.place, Place::ChunkExtension(_)) {
                        bytes[at + behind] = FORBIDDEN;
                    }
                    self.place = Place::Refused;
                    return;
                }
            }
        }
    }

    /// Takes a part of these bytes, of which there is at least one. Returns how many.
    fn step(&mut self, bytes: &[u8]) -> Result<usize, Ambiguous> {
        let first = bytes[0];
        let (taken, place) = match self.place {
            Place::Refused => (bytes.len(), Place::Refused),
            Place::Head(head) => return self.head(head, bytes),
            Place::Body(left) => match skipped(left, bytes) {
                (taken, 0) => (taken, Place::Head(Head::default())),
                (taken, left) => (taken, Place::Body(left)),
            },
            Place::ChunkSize { digits, size } => match (char::from(first).to_digit(16), first) {
                (Some(digit), _) if digits < 15 => {
                    (1, Place::ChunkSize { digits: digits + 1, size: size * 16 + u64::from(digit) })
                }
                (None, b'\r') if digits > 0 => (1, Place::ChunkSizeEnd(size)),
                (None, b';' | b' ' | b'\t') if digits > 0 => (1, Place::ChunkExtension(size)),
                _ => return Err(Ambiguous(0)),
            },
            Place::ChunkExtension(size) => match first {
                b'\r' => (1, Place::ChunkSizeEnd(size)),
                b'\n' => return Err(Ambiguous(0)),
                _ => (1, Place::ChunkExtension(size)),
            },
            Place::ChunkSizeEnd(0) if first == b'\n' => (1, Place::Trailer { is_empty: true }),
            Place::ChunkSizeEnd(size) if first == b'\n' => (1, Place::Chunk(size)),
            Place::Chunk(left) => match skipped(left, bytes) {
                (taken, 0) => (taken, Place::ChunkEnd),
                (taken, left) => (taken, Place::Chunk(left)),
            },
            Place::ChunkEnd if first == b'\r' => (1, Place::ChunkEndFeed),
            Place::ChunkEndFeed if first == b'\n' => (1, Place::ChunkSize { digits: 0, size: 0 }),
            Place::Trailer { is_empty } => match first {
                b'\r' => (1, Place::TrailerFeed { is_empty }),
                b'\n' => return Err(Ambiguous(0)),
                _ => (1, Place::Trailer { is_empty: false }),
            },
            Place::TrailerFeed { is_empty: false } if first == b'\n' => {
                (1, Place::Trailer { is_empty: true })
            }
            Place::TrailerFeed { is_empty: true } if first == b'\n' => (1, Place::Head(Head::default())),
            Place::ChunkSizeEnd(_) | Place::ChunkEnd | Place::ChunkEndFeed | Place::TrailerFeed { .. } => {
                return Err(Ambiguous(0));
            }
        };
        self.place = place;
        Ok(taken)
    }

    /// Takes the next line of a head, or the beginning of one.
    fn head(&mut self, mut head: Head, bytes: &[u8]) -> Result<usize, Ambiguous> {
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            // The library refuses larger heads, too.
            if self.line.len() + bytes.len() > MAX_HEAD_BYTES as usize {
                return Err(Ambiguous(0));
            }
            self.line.extend_from_slice(bytes);
            return Ok(bytes.len());
        };
        let is_end = if self.line.is_empty() {
            head.line(&bytes[..end])
        } else {
            self.line.extend_from_slice(&bytes[..end]);
            let line = std::mem::take(&mut self.line);
            head.line(&line)
        };
        self.place = match (is_end.ok_or(Ambiguous(end))?, head.length) {
            (false, _) => Place::Head(head),
            (true, _) if head.is_chunked => Place::ChunkSize { digits: 0, size: 0 },
            (true, None | Some(0)) => Place::Head(Head::default()),
            (true, Some(length)) => Place::Body(length),
        };
        Ok(end + 1)
    }
}

impl Head {
    /// Reads a line. Whether it ends the head; none where the request must be refused.
    fn line(&mut self, line: &[u8]) -> Option<bool> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(first) = line.first() else {
            // Empty lines in front of a request are left out (RFC 9112 section 2.2).
            return Some(self.has_begun);
        };
        if !self.has_begun {
            self.has_begun = true;
            return Some(false);
        }
        match first.to_ascii_lowercase() {
            // A line that goes on (RFC 9112 section 5.2).
            b' ' | b'\t' => return None,
            b'c' | b't' => {}
            _ => return Some(false),
        }
        let colon = memchr::memchr(b':', line)?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let is_first = self.length.is_none() && !self.is_chunked;
        if name.eq_ignore_ascii_case(b"content-length") {
            self.length = Some(length(value).filter(|_| is_first)?);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.is_chunked = true;
            return (is_first && value.eq_ignore_ascii_case(b"chunked")).then_some(false);
        }
        Some(false)
    }
}

/// A length as RFC 9110 section 8.6 writes it, and nothing more.
fn length(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// How many of these bytes belong to what is `left`, and how much is left then.
fn skipped(left: u64, bytes: &[u8]) -> (usize, u64) {
    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
    (taken, left - taken as u64)
}

impl<S: AsyncRead + Unpin> AsyncRead for FramingGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if matches!(self.requests.place, Place::Refused) {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.requests.check(&mut buffer.filled_mut()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FramingGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// What becomes of these bytes when they come in pieces of this size.
    fn passed(text: &str, piece: usize) -> (String, Place) {
        let mut bytes = text.as_bytes().to_vec();
        let mut requests = Requests::new();
        bytes.chunks_mut(piece).for_each(|piece| requests.check(piece));
        (String::from_utf8(bytes).unwrap(), requests.place)
    }

    #[test]
    fn requests_that_everybody_reads_alike_are_not_changed() {
        let row = "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n\
                   POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n\r\n\r\n!\
                   POST / HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n\
                   5;a=b\r\n\r\n\r\n!\r\n1f\r\n0123456789012345678901234567890\r\n0\r\nSome: Trailer\r\n\r\n\
                   POST / HTTP/1.1\ncontent-length: 0\n\nGET / HTTP/1.1\r\ncontent-language: en\r\n\r\n";
        for piece in [1, 2, 3, 7, 64, row.len()] {
            let (text, place) = passed(row, piece);
            assert_eq!(text, row);
            assert!(matches!(place, Place::Head(Head { has_begun: false, .. })), "{piece}: {place:?}");
        }
    }

    #[test]
    fn requests_that_could_end_elsewhere_are_spoilt_where_that_shows() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\n";
        for (before, behind) in [
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r", "\r\n0\r\n\r\n"),
            ("Transfer-Encoding: chunked\r\ncontent-length: 5\r", "\r\n"),
            ("Content-Length: 5\r\nX: y\r\nCONTENT-LENGTH: 5\r", "\r\n12345"),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r", "\r\n"),
            ("Transfer-Encoding: gzip, chunked\r", "\r\n"),
            ("Content-Length: +5\r", "\r\n"),
            ("Content-Length: 5, 5\r", "\r\n"),
            ("Content-Length:\r", "\r\n"),
            ("Content-Length: 99999999999999999999\r", "\r\n"),
            ("X: a\r\n b\r", "\r\n"),
            ("Content-Length\r", "\r\n"),
            ("Transfer-Encoding: chunked\r\n\r\n", "\n0\r\n\r\n"),
            ("Transfer-Encoding: chunked\r\n\r\n1\r\nab", "\r\n0\r\n\r\n"),
            ("Transfer-Encoding: chunked\r\n\r\n0;a", "\r\n\r\n"),
            ("Transfer-Encoding: chunked\r\n\r\n000000000000001", "\r\n\r\n"),
            ("Transfer-Encoding: chunked\r\n\r\n0\r\nA: b", "\r\n\r\n"),
        ] {
            // The byte between the two parts is the one at which it shows.
            let at = head.len() + before.len();
            let (before, at) = match before.strip_suffix("ab") {
                Some(shorter) => (format!("{shorter}ab"), at - 1),
                None => (before.to_owned(), at),
            };
            let text = format!("{head}{before}\n{behind}");
            for piece in [1, 2, 5, text.len()] {
                let (passed, place) = passed(&text, piece);
                let mut expected = text.clone().into_bytes();
                if !before.ends_with(";a") {
                    expected[at] = FORBIDDEN;
                }
                assert_eq!(passed.as_bytes(), expected, "{text:?} by {piece}");
                assert!(matches!(place, Place::Refused));
            }
        }
    }

    #[tokio::test]
    async fn nothing_is_read_behind_what_was_refused() {
        let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        for spoilt in ["2;a=\n\r\nab\r\n0\r\n\r\n", "2\nab\r\n0\r\n\r\n", "0\r\nA: b\n\r\n"] {
            let text = format!("{head}{spoilt}");
            let (mut client, server) = tokio::io::duplex(text.len());
            let mut guard = FramingGuard::new(server);
            client.write_all(text.as_bytes()).await.unwrap();
            let mut read = vec![0; text.len()];
            assert_eq!(guard.read(&mut read).await.unwrap(), text.len());
            client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
            assert_eq!(guard.read(&mut read).await.unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn a_line_that_does_not_end_is_not_kept() {
        let mut requests = Requests::new();
        let mut piece = vec![b'x'; MAX_HEAD_BYTES as usize];
        requests.check(&mut piece);
        requests.check(&mut piece);
        assert!(matches!(requests.place, Place::Refused));
    }
}
