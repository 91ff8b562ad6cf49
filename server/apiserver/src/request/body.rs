//! The body of a request: read at most once and whole, up to a limit, or read and dropped.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body as _, Incoming};
use orch_machinery::{body::read_json, media_type::MediaTypes};
use orch_registry::{
    error::{ApiError, Result},
    request::Body,
};
use orch_runtime::vocabulary::Vocabulary;

/// The largest body that is read, in bytes.
pub const MAX_BODY_BYTES: usize = 3 * 1024 * 1024;

/// How much of a body that no handler wants is read all the same, so that the client gets its answer: a client that
/// sends a little too much writes all of it before it looks.
const MAX_DISCARDED_BYTES: usize = MAX_BODY_BYTES + 256 * 1024;
const MAX_DISCARD_TIME: Duration = Duration::from_secs(1);

/// A body that is read at most once, and then whole.
pub struct RequestBody {
    /// Absent once it was handed on.
    body: Option<Incoming>,
    /// Whether the client sends it only when it is asked to, which happens at the first look at it.
    is_held_back: bool,
}

impl RequestBody {
    /// The body of a request with these headers.
    pub fn new(headers: &HeaderMap, body: Incoming) -> Self {
        RequestBody { body: Some(body), is_held_back: headers.contains_key(header::EXPECT) }
    }

    /// The body, whole.
    ///
    /// # Errors
    /// 413 where it is larger than a body may be, 400 where it breaks off.
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

    /// The same of a body that may be absent; only then it needs no media type.
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

    /// The body for a handler that reads it by itself, up to the same limit.
    pub fn hand_on(&mut self) -> axum::body::Body {
        match self.body.take() {
            Some(body) => axum::body::Body::new(Limited::new(body, MAX_BODY_BYTES)),
            None => axum::body::Body::empty(),
        }
    }

    /// Reads on and forgets, within bounds: a client that is still sending would not see the answer to HTTP/1
    /// otherwise. Tells whether nothing is left.
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

/// 415, with the media types that anybody can write by hand.
fn unsupported(media_types: &MediaTypes, vocabulary: &Vocabulary) -> ApiError {
    let named = media_types.in_vocabulary(vocabulary);
    let plain = named.filter(|named| !named.media_type.needs_field_numbers);
    ApiError::UnsupportedMediaType(plain.map(|named| named.name.to_owned()).collect())
}
