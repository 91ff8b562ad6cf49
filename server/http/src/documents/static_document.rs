//! A document that stays the same until restart: its bytes, its `ETag`, and the answer to conditional
//! requests.

use std::sync::OnceLock;

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::{
    Timestamp,
    fmt::rfc2822::{DateTimeParser, DateTimePrinter},
};

use crate::response::{COMPRESS_ABOVE, accepts_gzip, compressed};

/// Bytes that are ready to send, named by their digest.
#[derive(Clone, Debug)]
pub struct StaticDocument {
    body: Bytes,
    content_type: HeaderValue,
    digest: String,
    entity_tag: HeaderValue,
    /// The time of `Last-Modified`, in seconds since 1970, if the answer has that header.
    modified: Option<i64>,
    /// The bytes compressed, which is done at the first request for them.
    compressed: OnceLock<Bytes>,
}

impl StaticDocument {
    /// Takes a finished body.
    pub fn new(content_type: HeaderValue, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let digest = digest(&body);
        let entity_tag = HeaderValue::from_str(&format!("\"{digest}\"")).expect("hex digits are header text");
        StaticDocument { body, content_type, digest, entity_tag, modified: None, compressed: OnceLock::new() }
    }

    /// The same document, which tells since when it is as it is: this time, in seconds since 1970.
    pub fn modified(self, unix_seconds: i64) -> Self {
        StaticDocument { modified: Some(unix_seconds), ..self }
    }

    /// The same document in another media type, under the same digest: an address with the digest is good for
    /// both. Caches tell them apart by `Vary: Accept`.
    pub fn in_other_form(&self, content_type: HeaderValue, body: impl Into<Bytes>) -> Self {
        StaticDocument { body: body.into(), content_type, compressed: OnceLock::new(), ..self.clone() }
    }

    /// The same document with other white space, under the same digest, as it says the same.
    pub fn in_other_layout(&self, body: impl Into<Bytes>) -> Self {
        self.in_other_form(self.content_type.clone(), body)
    }

    /// The bytes.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// SHA-512 of the bytes in upper-case hex: the `ETag` without its quotes.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// 200 with the bytes, or 304 where `request` says that the client has them: `If-None-Match` names them,
    /// or, without such a header, `If-Modified-Since` is no earlier than the document (RFC 9110, 13.1.3).
    /// Both carry `ETag` and `Vary: Accept`. Long documents are compressed for clients that accept that.
    pub fn respond(&self, request: &HeaderMap) -> Response {
        let known = if request.contains_key(header::IF_NONE_MATCH) {
            request.get_all(header::IF_NONE_MATCH).iter().any(|value| self.is_named_by(value))
        } else {
            request.get(header::IF_MODIFIED_SINCE).is_some_and(|value| self.is_as_of(value))
        };
        let is_long = self.body.len() > COMPRESS_ABOVE;
        let is_compressed = !known && is_long && accepts_gzip(request);
        let body = match (known, is_compressed) {
            (true, _) => Bytes::new(),
            (false, true) => self.compressed.get_or_init(|| compressed(&self.body).into()).clone(),
            (false, false) => self.body.clone(),
        };
        let mut response = Response::new(Body::from(body));
        let headers = response.headers_mut();
        headers.insert(header::ETAG, self.entity_tag.clone());
        headers.insert(header::VARY, HeaderValue::from_static("Accept"));
        if let Some(modified) = self.modified.and_then(http_date) {
            headers.insert(header::LAST_MODIFIED, modified);
        }
        if is_long {
            headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        }
        if is_compressed {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
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

    /// Whether it has been as it is since this time. A text that is no time does not count.
    fn is_as_of(&self, time: &HeaderValue) -> bool {
        let time = time.to_str().ok().and_then(|text| DateTimeParser::new().parse_timestamp(text).ok());
        time.zip(self.modified).is_some_and(|(time, modified)| modified <= time.as_second())
    }
}

/// `Fri, 20 Nov 2026 15:14:44 GMT`; `None` beyond the years that have such a form.
pub fn http_date(unix_seconds: i64) -> Option<HeaderValue> {
    let time = Timestamp::from_second(unix_seconds).ok()?;
    let text = DateTimePrinter::new().timestamp_to_rfc9110_string(&time).ok()?;
    HeaderValue::from_str(&text).ok()
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

    #[tokio::test]
    async fn long_documents_are_compressed_for_clients_that_accept_it() {
        let short = StaticDocument::new(HeaderValue::from_static("text/plain"), "abc");
        let text = "abc".repeat(COMPRESS_ABOVE);
        let long = StaticDocument::new(HeaderValue::from_static("text/plain"), text.clone());
        for (document, accepted, is_compressed) in [
            (&short, "gzip", false),
            (&long, "", false),
            (&long, "gzip;q=0", false),
            (&long, "br, gzip", true),
        ] {
            let mut request = HeaderMap::new();
            request.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(accepted));
            let response = document.respond(&request);
            assert_eq!(
                response.headers().contains_key(header::CONTENT_ENCODING),
                is_compressed,
                "{accepted}"
            );
            let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
            assert_eq!(body.len() < document.body().len(), is_compressed);
            if is_compressed {
                let mut read = String::new();
                std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&body[..]), &mut read)
                    .unwrap();
                assert_eq!(read, text);
            }
        }
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

    #[test]
    fn the_time_counts_where_no_tag_is_named() {
        let document = StaticDocument::new(HeaderValue::from_static("text/plain"), "abc");
        let dated = document.clone().modified(1_795_187_684);
        let since = |document: &StaticDocument, time: &str, tag: Option<&str>| {
            let mut request = HeaderMap::new();
            request.insert(header::IF_MODIFIED_SINCE, time.parse().unwrap());
            if let Some(tag) = tag {
                request.insert(header::IF_NONE_MATCH, tag.parse().unwrap());
            }
            document.respond(&request).status().as_u16()
        };
        let response = dated.respond(&HeaderMap::new());
        assert_eq!(response.headers()[header::LAST_MODIFIED], "Fri, 20 Nov 2026 15:14:44 GMT");
        assert!(!document.respond(&HeaderMap::new()).headers().contains_key(header::LAST_MODIFIED));
        for (time, tag, status) in [
            ("Fri, 20 Nov 2026 15:14:44 GMT", None, 304),
            ("Fri, 20 Nov 2026 15:14:45 GMT", None, 304),
            ("Fri, 20 Nov 2026 15:14:43 GMT", None, 200),
            ("Fri, 20 Nov 2026 15:14:44 GMT", Some("\"x\""), 200),
            ("yesterday", None, 200),
        ] {
            assert_eq!(since(&dated, time, tag), status, "{time} {tag:?}");
        }
        assert_eq!(since(&document, "Fri, 20 Nov 2026 15:14:44 GMT", None), 200);
    }
}
