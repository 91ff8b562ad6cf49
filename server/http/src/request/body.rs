//! The body of a request: read at most once and whole, up to a limit, or read and dropped.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body as HttpBody, Incoming};
use orch_machinery::{body::read_json, media_type::MediaTypes};
use orch_registry::{
    error::{ApiError, Result},
    request::Body,
};
use orch_runtime::vocabulary::Vocabulary;

use crate::limits::BodyShares;

/// The largest body that is read, in bytes.
const MAX_BODY_BYTES: usize = 3 * 1024 * 1024;

/// How much of an unread body is read and dropped, so that the client gets its answer: many clients send the
/// whole body before they read the answer.
const MAX_DISCARDED_BYTES: usize = MAX_BODY_BYTES + 256 * 1024;
const MAX_DISCARD_TIME: Duration = Duration::from_secs(1);

/// A body that is read at most once, and then whole.
pub struct RequestBody {
    /// Absent after [`hand_on`](RequestBody::hand_on).
    body: Option<Incoming>,
    /// Whether the client waits for `100 Continue` (RFC 9110 section 10.1.1), which is sent when the body is
    /// first polled.
    is_held_back: bool,
    /// The share that the bytes are counted in; `None` if the request has no body.
    shares: Option<BodyShares>,
}

impl RequestBody {
    /// The body of a request with these headers.
    pub fn new(headers: &HeaderMap, body: Incoming) -> Self {
        RequestBody { body: Some(body), is_held_back: headers.contains_key(header::EXPECT), shares: None }
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    /// Counts what is read here, until this value is dropped.
    pub fn count_in(&mut self, shares: BodyShares) {
        self.shares = Some(shares);
    }

    /// The body, whole.
    ///
    /// # Errors
    /// 413 where it is larger than [`MAX_BODY_BYTES`], 429 where too many bytes of bodies are in memory, 400
    /// where it cannot be read to its end.
    pub async fn read(&mut self) -> Result<Bytes> {
        let too_large = || ApiError::TooLarge(format!("limit is {MAX_BODY_BYTES}"));
        let Some(body) = &mut self.body else { return Ok(Bytes::new()) };
        if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
            return Err(too_large());
        }
        self.is_held_back = false;
        let mut text = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame
                .map_err(|error| ApiError::BadRequest(format!("the body could not be read: {error}")))?;
            let Ok(data) = frame.into_data() else { continue };
            if text.len() + data.len() > MAX_BODY_BYTES {
                return Err(too_large());
            }
            if let Some(shares) = &mut self.shares {
                shares.grow(data.len())?;
            }
            text.extend_from_slice(&data);
        }
        Ok(text.freeze())
    }

    /// The body of an object. Nothing is read where its media type is not known.
    ///
    /// # Errors
    /// 415, and those of [`read`](RequestBody::read).
    pub async fn object(
        &mut self,
        content_type: &str,
        media_types: &MediaTypes,
        vocabulary: &Vocabulary,
    ) -> Result<Body> {
        let Some(reader) = media_types.reader(content_type) else {
            return Err(unsupported(media_types, vocabulary));
        };
        Ok(Body { reader, bytes: self.read().await? })
    }

    /// The same for a body that may be empty. An empty body needs no media type.
    ///
    /// # Errors
    /// As [`object`](RequestBody::object).
    pub async fn optional_object(
        &mut self,
        content_type: &str,
        media_types: &MediaTypes,
        vocabulary: &Vocabulary,
    ) -> Result<Body> {
        let bytes = self.read().await?;
        let reader = if bytes.is_empty() { Some(read_json as _) } else { media_types.reader(content_type) };
        let reader = reader.ok_or_else(|| unsupported(media_types, vocabulary))?;
        Ok(Body { reader, bytes })
    }

    /// The body as a stream, with the same limit, for a handler that reads it itself.
    pub fn hand_on(&mut self) -> axum::body::Body {
        match self.body.take() {
            Some(body) => axum::body::Body::new(Limited::new(body, MAX_BODY_BYTES)),
            None => axum::body::Body::empty(),
        }
    }

    /// Reads and drops the rest of the body, within limits: over HTTP/1 a client that is still sending would
    /// not see the answer otherwise. Returns whether nothing is left.
    pub async fn discard(&mut self) -> bool {
        let Some(body) = &mut self.body else { return true };
        if body.is_end_stream() {
            return true;
        }
        if self.is_held_back {
            return false;
        }
        let rest = async {
            let mut discarded = 0;
            while let Some(Ok(frame)) = body.frame().await {
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

/// 415, naming the media types that bodies can have.
fn unsupported(media_types: &MediaTypes, vocabulary: &Vocabulary) -> ApiError {
    let readable = media_types.in_vocabulary(vocabulary).filter(|named| named.media_type.reader.is_some());
    ApiError::UnsupportedMediaType(readable.map(|named| named.name.to_owned()).collect())
}
