//! A request on its way to a handler, and its body.

use bytes::Bytes;
use http::request::Parts;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;

use crate::{
    error::{ApiError, Result},
    query::Query,
    request_info::RequestInfo,
};

/// The largest body that is read, in bytes.
pub const MAX_BODY_BYTES: usize = 3 * 1024 * 1024;

/// A request as the handlers see it.
pub struct Incomer<'a> {
    /// What it is about.
    pub info: RequestInfo<'a>,
    /// Its query parameters.
    pub query: Query,
    /// Method, URI and headers.
    pub parts: Parts,
    /// Its body, not read yet.
    pub body: Incoming,
}

/// The body, whole.
///
/// # Errors
/// 413 where it is larger than a body may be, 400 where it breaks off.
pub async fn read_body(body: Incoming) -> Result<Bytes> {
    match Limited::new(body, MAX_BODY_BYTES).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(ApiError::TooLarge(format!("limit is {MAX_BODY_BYTES}")))
        }
        Err(error) => Err(ApiError::BadRequest(format!("the body could not be read: {error}"))),
    }
}
