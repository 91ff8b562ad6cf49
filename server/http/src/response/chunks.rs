//! Bodies that are made while they are sent, piece by piece. They can be indented and compressed on the way.
//!
//! Only one piece is in memory at a time. When the client disconnects, the body is dropped and the work
//! stops. Where an object cannot be read and the answer has begun, the body is cut off: a client that gets a
//! list without the object would take it for deleted.

use std::{
    io::Write,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use orch_machinery::json::pretty::Indenter;
use orch_storage::Object;
use tokio::task::yield_now;

/// A piece is sent when it has this many bytes.
pub const CHUNK: usize = 32 * 1024;
/// Shorter bodies are not compressed: the time is worth more than the bytes.
pub const COMPRESS_ABOVE: usize = 128 * 1024;

/// So many bytes of stored objects are read before the task yields: some milliseconds.
pub const READ_BUDGET: usize = 256 * 1024;

/// How much a list has read since its task yielded. It counts objects and not what is made of them: the row
/// of a large object may be short.
#[derive(Default)]
pub struct ReadBudget(usize);

impl ReadBudget {
    /// Counts an object that is read.
    pub fn reads(&mut self, object: &Object) {
        self.0 += object.size();
    }

    /// Whether the task has to yield before more is read.
    pub fn is_spent(&self) -> bool {
        self.0 >= READ_BUDGET
    }

    /// Begins anew if it is spent. Returns whether it did: then the next piece has to be an empty one.
    pub fn renew_if_spent(&mut self) -> bool {
        let is_spent = self.is_spent();
        if is_spent {
            self.0 = 0;
        }
        is_spent
    }
}

/// The pieces of a body; an error is the last of them. An empty piece says that there is more to do before
/// the next one can be sent: the body yields, so that other tasks run.
pub type Chunks = Box<dyn Iterator<Item = Result<Bytes, CutOff>> + Send>;

/// The rest of an answer cannot be written; the log says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the rest of the answer cannot be written")]
pub struct CutOff;

/// Yields: other tasks are first, and so is what connections have brought meanwhile:
/// after a plain wake-up, a thread looks at these only now and then.
pub fn rest<T>(context: &mut Context<'_>) -> Poll<T> {
    let _ = pin!(yield_now()).poll(context);
    Poll::Pending
}

/// A body of these pieces; `length` in bytes where it is known beforehand.
pub fn body(chunks: Chunks, length: Option<u64>) -> Body {
    Body::new(ChunkBody { chunks, remaining: length, ended: false })
}

/// The pieces of a text that is in memory.
pub fn of(text: Bytes) -> Chunks {
    let mut rest = text;
    Box::new(std::iter::from_fn(move || (!rest.is_empty()).then(|| Ok(rest.split_to(rest.len().min(CHUNK))))))
}

/// Indented for people.
pub fn pretty(chunks: Chunks) -> Chunks {
    let mut indenter = Indenter::default();
    Box::new(chunks.map(move |chunk| -> Result<Bytes, CutOff> {
        let chunk = chunk?;
        let mut out = Vec::with_capacity(chunk.len() + chunk.len() / 2);
        indenter.push(&chunk, &mut out);
        Ok(out.into())
    }))
}

/// The pieces compressed.
pub fn compress(chunks: Chunks) -> Chunks {
    let encoder = GzEncoder::new(Vec::with_capacity(CHUNK), Compression::fast());
    Box::new(Gzip { chunks, encoder: Some(encoder) })
}

/// The pieces compressed; as an error the same pieces, where they are too short to compress.
pub fn gzip(mut chunks: Chunks) -> Result<Chunks, Chunks> {
    let (mut first, mut bytes) = (Vec::new(), 0);
    while bytes <= COMPRESS_ABOVE {
        let Some(chunk) = chunks.next() else {
            return Err(Box::new(first.into_iter()));
        };
        let (length, is_cut_off) = (chunk.as_ref().map_or(0, Bytes::len), chunk.is_err());
        bytes += length;
        first.push(chunk);
        if is_cut_off {
            return Err(Box::new(first.into_iter()));
        }
        if length == 0 {
            // Only long bodies yield.
            break;
        }
    }
    Ok(compress(Box::new(first.into_iter().chain(chunks))))
}

/// A whole text compressed, once for many answers.
pub fn compressed(text: &[u8]) -> Vec<u8> {
    const MEMORY: &str = "writing to memory does not fail";
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).expect(MEMORY);
    encoder.finish().expect(MEMORY)
}

struct Gzip {
    chunks: Chunks,
    /// None when all is written.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl Iterator for Gzip {
    type Item = Result<Bytes, CutOff>;

    fn next(&mut self) -> Option<Self::Item> {
        const MEMORY: &str = "writing to memory does not fail";
        loop {
            let encoder = self.encoder.as_mut()?;
            let Some(chunk) = self.chunks.next() else {
                return Some(Ok(self.encoder.take()?.finish().expect(MEMORY).into()));
            };
            match chunk {
                Ok(chunk) if chunk.is_empty() => return Some(Ok(chunk)),
                Ok(chunk) => encoder.write_all(&chunk).expect(MEMORY),
                Err(cut_off) => {
                    self.encoder = None;
                    return Some(Err(cut_off));
                }
            }
            if encoder.get_ref().len() >= CHUNK / 4 {
                return Some(Ok(std::mem::take(encoder.get_mut()).into()));
            }
        }
    }
}

struct ChunkBody {
    chunks: Chunks,
    remaining: Option<u64>,
    ended: bool,
}

impl HttpBody for ChunkBody {
    type Data = Bytes;
    type Error = CutOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutOff>>> {
        let chunk = if self.ended { None } else { self.chunks.next() };
        if matches!(&chunk, Some(Ok(chunk)) if chunk.is_empty()) {
            return rest(context);
        }
        let length = chunk.as_ref().map_or(0, |chunk| chunk.as_ref().map_or(0, |chunk| chunk.len() as u64));
        self.ended = !matches!(chunk, Some(Ok(_)));
        self.remaining = self.remaining.map(|remaining| remaining.saturating_sub(length));
        Poll::Ready(chunk.map(|chunk| chunk.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.remaining == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.remaining.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use bytes::Bytes;
    use flate2::read::GzDecoder;
    use http_body_util::BodyExt as _;
    use tokio::{io::AsyncReadExt as _, net::UnixStream};

    use super::{CHUNK, COMPRESS_ABOVE, Chunks, CutOff, body, gzip, of, pretty};

    fn joined(chunks: Chunks) -> Vec<u8> {
        chunks.flat_map(|chunk| chunk.unwrap()).collect()
    }

    #[test]
    fn only_large_bodies_are_compressed() {
        for length in [0, 1, CHUNK, COMPRESS_ABOVE, COMPRESS_ABOVE + 1, 10 * COMPRESS_ABOVE + 7] {
            let text: Vec<u8> = (0..length).map(|index| b'a' + (index / 100 % 26) as u8).collect();
            match gzip(of(Bytes::from(text.clone()))) {
                Ok(compressed) => {
                    assert!(length > COMPRESS_ABOVE, "{length}");
                    let compressed = joined(compressed);
                    assert!(compressed.len() < text.len() / 4, "{} of {length}", compressed.len());
                    let mut back = Vec::new();
                    GzDecoder::new(&compressed[..]).read_to_end(&mut back).unwrap();
                    assert_eq!(back, text);
                }
                Err(same) => {
                    assert!(length <= COMPRESS_ABOVE, "{length}");
                    assert_eq!(joined(same), text);
                }
            }
        }
    }

    #[test]
    fn what_is_cut_off_ends_with_an_error_in_every_form() {
        for pieces in [1, 20] {
            let cut = || -> Chunks {
                let text = Bytes::from(vec![b' '; CHUNK]);
                let pieces = std::iter::repeat_n(Ok(text), pieces);
                Box::new(pieces.chain([Err(CutOff)]))
            };
            for chunks in [cut(), pretty(cut()), gzip(cut()).unwrap_or_else(|same| same)] {
                let (whole, cut): (Vec<_>, Vec<_>) = chunks.partition(Result::is_ok);
                assert!(!whole.is_empty() || pieces == 20, "blanks may be compressed to less than a piece");
                assert_eq!(cut, [Err(CutOff)]);
            }
        }
    }

    /// The only thread looks at its connections between two turns of a long body.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_body_rests_until_connections_were_looked_at() {
        /// Until then the reader has come to wait.
        const WRITES: usize = 1000;
        let (here, mut there) = UnixStream::pair().unwrap();
        here.writable().await.unwrap();
        let turns = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&turns);
        let reader = tokio::spawn(async move {
            there.read_u8().await.unwrap();
            counted.load(Ordering::SeqCst)
        });
        let pieces = std::iter::from_fn(move || {
            let turn = turns.fetch_add(1, Ordering::SeqCst);
            if turn == WRITES {
                here.try_write(b"1").unwrap();
            }
            (turn < 2 * WRITES).then(|| Ok(Bytes::new()))
        });
        let written = tokio::spawn(body(Box::new(pieces), None).collect());
        assert!(written.await.unwrap().is_ok());
        let seen = reader.await.unwrap();
        assert!(seen <= WRITES + 3, "{seen}");
    }
}
