//! The TLS handshake of a connection, and the answer to clients that do not speak TLS.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::{http1, stall_timeout::StallTimeout};

/// The first byte of a TLS handshake (RFC 8446, section 5.1: the content type `handshake`).
const TLS_HANDSHAKE: u8 = 0x16;

/// The answer to a client that does not speak TLS, in case it speaks HTTP.
const NOT_TLS_ANSWER: &[u8] =
    b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/// How much is encrypted before it is sent: more than `http1` collects of an answer, whose last piece goes
/// beyond that limit. Otherwise the rest of each would be a small record and a system call of its own.
const MAX_ENCRYPTED_BYTES: usize = 2 * http1::MAX_BUFFERED_BYTES;

/// Speaks TLS on this stream. Afterwards a client that takes nothing for `stall_timeout` ends it.
pub async fn handshake(
    tls: &TlsAcceptor,
    mut stream: TcpStream,
    stall_timeout: Duration,
) -> io::Result<TlsStream<StallTimeout<TcpStream>>> {
    // Small writes leave at once: answers are written whole, and watch events must not wait for one another.
    stream.set_nodelay(true)?;
    let mut first = [0];
    if stream.peek(&mut first).await? == 1 && first != [TLS_HANDSHAKE] {
        // When a connection is closed with unread data, the system resets it, and the answer is lost.
        let _ = stream.read(&mut [0; 4096]).await?;
        stream.write_all(NOT_TLS_ANSWER).await?;
        return Err(io::Error::other("the client does not speak TLS"));
    }
    let stream = StallTimeout::new(stream, stall_timeout);
    tls.accept_with(stream, |session| session.set_buffer_limit(Some(MAX_ENCRYPTED_BYTES))).await
}
