//! A document that stays the same until restart: its bytes, its `ETag`, and the answer to conditional
//! requests.

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};

/// Bytes that are ready to send, named by their digest.
#[derive(Clone, Debug)]
pub struct StaticDocument {
    body: Bytes,
    content_type: HeaderValue,
    digest: String,
    entity_tag: HeaderValue,
}

impl StaticDocument {
    /// Takes a finished body.
    pub fn new(content_type: HeaderValue, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let digest = digest(&body);
        let entity_tag = HeaderValue::from_str(&format!("\"{digest}\"")).expect("hex digits are header text");
        StaticDocument { body, content_type, digest, entity_tag }
    }

    /// The bytes.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// SHA-512 of the bytes in upper-case hex: the `ETag` without its quotes.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// 200 with the bytes, or 304 where `If-None-Match` in `request` names them. Both carry `ETag` and
    /// `Vary: Accept`.
    pub fn respond(&self, request: &HeaderMap) -> Response {
        let known = request.get_all(header::IF_NONE_MATCH).iter().any(|value| self.is_named_by(value));
        let mut response = Response::new(if known { Body::empty() } else { Body::from(self.body.clone()) });
        let headers = response.headers_mut();
        headers.insert(header::ETAG, self.entity_tag.clone());
        headers.insert(header::VARY, HeaderValue::from_static("Accept"));
        if known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            headers.insert(header::CONTENT_TYPE, self.content_type.clone());
        }
        response
    }

    /// Whether a list of tags holds this document's; tags are compared weakly, as caches may have weakened
    /// them.
    fn is_named_by(&self, tags: &HeaderValue) -> bool {
        let Ok(tags) = tags.to_str() else { return false };
        tags.split(',').map(str::trim).any(|tag| {
            let tag = tag.strip_prefix("W/").unwrap_or(tag);
            tag == "*" || tag.as_bytes() == self.entity_tag.as_bytes()
        })
    }
}

/// SHA-512 in upper-case hex.
fn digest(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA512, bytes);
    let nibbles = digest.as_ref().iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
    nibbles.map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_is_the_digest_in_upper_case() {
        let document = StaticDocument::new(HeaderValue::from_static("text/plain"), "abc");
        assert_eq!(
            document.digest(),
            "DDAF35A193617ABACC417349AE20413112E6FA4E89A97EA20A9EEEE64B55D39A\
             2192992A274FC1A836BA3C23A3FEEBBD454D4423643CE80E2A9AC94FA54CA49F"
        );
        assert_eq!(document.entity_tag, format!("\"{}\"", document.digest()));
    }

    #[test]
    fn conditional_requests_are_answered_without_a_body() {
        let document = StaticDocument::new(HeaderValue::from_static("text/plain"), "abc");
        let tag = format!("\"{}\"", document.digest());
        for (value, status) in [
            (tag.clone(), 304),
            (format!("W/{tag}"), 304),
            (format!("\"x\", {tag}"), 304),
            ("*".to_owned(), 304),
            (document.digest().to_owned(), 200),
            ("\"x\"".to_owned(), 200),
        ] {
            let mut request = HeaderMap::new();
            request.insert(header::IF_NONE_MATCH, value.parse().unwrap());
            let response = document.respond(&request);
            assert_eq!(response.status(), status, "{value}");
            assert_eq!(response.headers()[header::ETAG], tag);
            assert_eq!(response.headers().contains_key(header::CONTENT_TYPE), status == 200, "{value}");
        }
    }
}
