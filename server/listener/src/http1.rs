//! HTTP/1.1 with the server's limits.

use hyper::server::conn::http1::Builder;

use crate::config::MAX_HEAD_BYTES;

mod framing;

pub use framing::FramingGuard;

/// How much of an answer is collected before it is sent: as much as stays in the processor's caches until it
/// is encrypted.
pub const MAX_BUFFERED_BYTES: usize = 64 * 1024;

/// How HTTP/1.1 is spoken on all connections.
pub fn builder() -> Builder {
    let mut http1 = Builder::new();
    // `lifecycle::run` watches over the time that a head may take: a timer for each request is expensive.
    http1.header_read_timeout(None).max_header_size(MAX_HEAD_BYTES as usize).max_buf_size(MAX_BUFFERED_BYTES);
    http1
}
