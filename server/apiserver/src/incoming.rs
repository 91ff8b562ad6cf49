//! A request on its way to a handler, and its body.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header, request::Parts};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use crate::{
    error::{ApiError, Result},
    query::Query,
    request_info::RequestInfo,
};

/// The largest body that is read, in bytes.
pub const MAX_BODY_BYTES: usize = 3 * 1024 * 1024;

/// How much of a body that nobody wants is read all the same, so that the client gets its answer: a client that sends
/// a little too much writes all of it before it looks.
const MAX_DISCARDED_BYTES: usize = MAX_BODY_BYTES + 256 * 1024;
const MAX_DISCARD_TIME: Duration = Duration::from_secs(1);

/// A request as the handlers see it.
#[derive(Clone, Copy)]
pub struct Incomer<'a> {
    /// What it is about.
    pub info: &'a RequestInfo<'a>,
    /// Its query parameters.
    pub query: &'a Query,
    /// Method, URI and headers.
    pub parts: &'a Parts,
}

/// A body that is read at most once, and then whole.
pub struct RequestBody {
    body: Incoming,
    /// Whether the client sends it only when it is asked to, which happens at the first look at it.
    is_held_back: bool,
}

impl RequestBody {
    /// The body of a request with these headers.
    pub fn new(headers: &HeaderMap, body: Incoming) -> Self {
        RequestBody { body, is_held_back: headers.contains_key(header::EXPECT) }
    }

    /// The body, whole.
    ///
    /// # Errors
    /// 413 where it is larger than a body may be, 400 where it breaks off.
    pub async fn read(&mut self) -> Result<Bytes> {
        let too_large = || ApiError::TooLarge(format!("limit is {MAX_BODY_BYTES}"));
        if self.body.size_hint().lower() > MAX_BODY_BYTES as u64 {
            return Err(too_large());
        }
        self.is_held_back = false;
        let mut text = BytesMut::new();
        while let Some(frame) = self.body.frame().await {
            let frame = frame
                .map_err(|error| ApiError::BadRequest(format!("the body could not be read: {error}")))?;
            let Ok(data) = frame.into_data() else { continue };
            if text.len() + data.len() > MAX_BODY_BYTES {
                return Err(too_large());
            }
            text.extend_from_slice(&data);
        }
        Ok(text.freeze())
    }

    /// Reads on and forgets, within bounds: a client that is still sending would not see the answer to HTTP/1
    /// otherwise. Tells whether nothing is left.
    pub async fn discard(&mut self) -> bool {
        if self.body.is_end_stream() {
            return true;
        }
        if self.is_held_back {
            return false;
        }
        let rest = async {
            let mut discarded = 0;
            while let Some(Ok(frame)) = self.body.frame().await {
                discarded += frame.data_ref().map_or(0, Bytes::len);
                if discarded > MAX_DISCARDED_BYTES {
                    return false;
                }
            }
            true
        };
        tokio::time::timeout(MAX_DISCARD_TIME, rest).await.unwrap_or(false)
    }
}

/// Refuses requests whose end or target two servers in a row could see differently (RFC 9112 sections 3.2 and 6.3).
///
/// # Errors
/// 400 for a missing or repeated host, and for a length besides a transfer encoding.
pub fn check_framing(parts: &Parts) -> Result<()> {
    if parts.version != http::Version::HTTP_11 {
        return Ok(());
    }
    let hosts = parts.headers.get_all(header::HOST).iter().count();
    if hosts != 1 {
        return Err(ApiError::BadRequest("the request must have one Host header".to_owned()));
    }
    if parts.headers.contains_key(header::TRANSFER_ENCODING)
        && parts.headers.contains_key(header::CONTENT_LENGTH)
    {
        let message = "the request must not have both Content-Length and Transfer-Encoding";
        return Err(ApiError::BadRequest(message.to_owned()));
    }
    Ok(())
}
