//! The handshake of a WebSocket, on the server's side (RFC 6455, section 4.2).
//!
//! Only a watch has a WebSocket. Another request that asks for one is answered as if it did not (RFC 9110,
//! section 7.8).
//!
//! A browser sends a client certificate with every request, also with one that the page of somebody else
//! makes, and lets that page read a WebSocket. So where the header `Origin` says which page it was, that must
//! be one of this server, or one that `--cors-allowed-origins` allows (section 10.2). Other clients send no
//! such header.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Version,
    header::{
        CONNECTION, CONTENT_LENGTH, HOST, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
        SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, TRANSFER_ENCODING, UPGRADE,
    },
    request::Parts,
};
use orch_config::BrowserConfig;
use orch_registry::error::{ApiError, Forbidden, ResourceName, Result};

/// What a protocol that is a token begins with. The domain of the vocabulary follows, and then the token.
pub const TOKEN: &str = "base64url.bearer.authorization.";

/// The only version there is.
const VERSION: HeaderValue = HeaderValue::from_static("13");
/// What the key of a client is hashed with.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// How many bytes a key has.
const KEY_BYTES: usize = 16;

/// A handshake that the client gets.
#[derive(Debug)]
pub struct Handshake {
    accept: HeaderValue,
    protocol: Option<HeaderValue>,
}

/// Whether a request is a WebSocket handshake. HTTP/2 has no such upgrade.
pub fn is_asked(parts: &Parts) -> bool {
    let lists = |name, word: &str| items(&parts.headers, &name).any(|item| item.eq_ignore_ascii_case(word));
    parts.method == Method::GET
        && parts.version == Version::HTTP_11
        && lists(UPGRADE, "websocket")
        && lists(CONNECTION, "upgrade")
}

/// The items of a header that is a list.
pub fn items<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|item| !item.is_empty())
}

impl Handshake {
    /// The handshake of a request that is allowed; `None` if it is no WebSocket handshake.
    ///
    /// # Errors
    /// 400 where it is none of the protocol's, or offers several protocols: no watch speaks a particular one,
    /// so there is nothing to choose by. 403 for a page of another server that is not allowed.
    pub fn read(parts: &Parts, browsers: &BrowserConfig) -> Result<Option<Self>> {
        if !is_asked(parts) {
            return Ok(None);
        }
        let bad = |message: &str| Err(ApiError::BadRequest(message.to_owned()));
        let headers = &parts.headers;
        let is_allowed = || origin(headers).is_some_and(|origin| browsers.lets_in(origin));
        if !is_of_this_server(parts) && !is_allowed() {
            return Err(foreign());
        }
        if only(headers, &SEC_WEBSOCKET_VERSION) != Some(&VERSION) {
            return bad("the version of the WebSocket protocol must be 13");
        }
        let Some(key) = only(headers, &SEC_WEBSOCKET_KEY).filter(|key| is_key(key)) else {
            return bad("the header Sec-WebSocket-Key must be 16 bytes in base64");
        };
        if headers.contains_key(TRANSFER_ENCODING) || headers.get(CONTENT_LENGTH).is_some_and(|l| l != "0") {
            return bad("a WebSocket handshake has no body");
        }
        // A token is only for this server, also where the header `Authorization` has another one.
        let mut offered = items(headers, &SEC_WEBSOCKET_PROTOCOL).filter(|item| !item.starts_with(TOKEN));
        let protocol = match (offered.next(), offered.next()) {
            (protocol, None) => protocol.and_then(|protocol| HeaderValue::from_str(protocol).ok()),
            _ => return bad("a WebSocket handshake for a watch may offer one protocol"),
        };
        let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, &[key.as_bytes(), GUID.as_bytes()].concat());
        let accept = HeaderValue::try_from(BASE64.encode(hash))
            .map_err(|error| ApiError::internal("a WebSocket handshake cannot be answered", error))?;
        Ok(Some(Handshake { accept, protocol }))
    }

    /// What the 101 says.
    pub fn write(&self, headers: &mut HeaderMap) {
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, self.accept.clone());
        if let Some(protocol) = &self.protocol {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, protocol.clone());
        }
    }
}

/// Ends the connection of a handshake that is refused: what follows may have been passed on as bytes of a
/// WebSocket, and must not be read as a request.
pub fn mark_refused(parts: &Parts, headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    if only(&parts.headers, &SEC_WEBSOCKET_VERSION) != Some(&VERSION) {
        headers.insert(SEC_WEBSOCKET_VERSION, VERSION);
    }
}

fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

fn is_key(value: &HeaderValue) -> bool {
    BASE64.decode(value).is_ok_and(|key| key.len() == KEY_BYTES)
}

/// The page that sends a request, where it is one.
pub fn origin(headers: &HeaderMap) -> Option<&HeaderValue> {
    only(headers, &ORIGIN)
}

/// Whether a request is not from the page of another server.
fn is_of_this_server(parts: &Parts) -> bool {
    if !parts.headers.contains_key(ORIGIN) {
        return true;
    }
    let host = match parts.uri.authority() {
        Some(authority) => authority.as_str(),
        None => only(&parts.headers, &HOST).and_then(|host| host.to_str().ok()).unwrap_or_default(),
    };
    let origin = origin(&parts.headers).and_then(|origin| origin.to_str().ok());
    origin.and_then(|origin| origin.strip_prefix("https://")).is_some_and(|origin| {
        !host.is_empty() && without_port(origin).eq_ignore_ascii_case(without_port(host))
    })
}

/// A host without the port that it has anyway.
fn without_port(host: &str) -> &str {
    host.strip_suffix(":443").unwrap_or(host)
}

fn foreign() -> ApiError {
    ApiError::Forbidden(Box::new(Forbidden {
        resource: ResourceName { group: String::new(), resource: String::new() },
        name: String::new(),
        message: "forbidden: the header Origin names another server".to_owned(),
        cause: None,
    }))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    /// A request with these headers beside those of a right handshake; an empty value removes one.
    fn parts(changed: &[(&str, &str)]) -> Parts {
        let right = [
            ("host", "Example.com:6443"),
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "WebSocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let mut request = Request::builder().uri("/api/v1/pods?watch=1");
        let kept = right.iter().filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
        for (name, value) in kept.chain(changed).filter(|(_, value)| !value.is_empty()) {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn answered(changed: &[(&str, &str)]) -> Result<Option<HeaderMap>> {
        let handshake = Handshake::read(&parts(changed), &BrowserConfig::default())?;
        Ok(handshake.map(|handshake| {
            let mut headers = HeaderMap::new();
            handshake.write(&mut headers);
            headers
        }))
    }

    #[test]
    fn a_key_is_answered_as_in_the_rfc() {
        let headers = answered(&[]).unwrap().unwrap();
        assert_eq!(headers[SEC_WEBSOCKET_ACCEPT], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(
            (&headers[UPGRADE], &headers[CONNECTION]),
            (&"websocket".parse().unwrap(), &"Upgrade".parse().unwrap())
        );
        assert!(!headers.contains_key(SEC_WEBSOCKET_PROTOCOL));
    }

    #[test]
    fn what_asks_for_no_websocket_gets_none() {
        for changed in [("upgrade", ""), ("upgrade", "h2c"), ("connection", "close"), ("connection", "")] {
            assert!(answered(&[changed]).unwrap().is_none(), "{changed:?}");
        }
    }

    #[test]
    fn a_wrong_handshake_is_refused() {
        for changed in [
            &[("sec-websocket-version", "")][..],
            &[("sec-websocket-version", "8")],
            &[("sec-websocket-version", "13"), ("sec-websocket-version", "8")],
            &[("sec-websocket-key", "")],
            &[("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ")],
            &[("sec-websocket-key", "c2hvcnQ=")],
            &[("content-length", "5")],
            &[("transfer-encoding", "chunked")],
            &[("sec-websocket-protocol", "a, b")],
            &[("sec-websocket-protocol", "a"), ("sec-websocket-protocol", "b")],
        ] {
            let refused = answered(changed).unwrap_err();
            assert!(matches!(refused, ApiError::BadRequest(_)), "{changed:?}: {refused:?}");
            let mut headers = HeaderMap::new();
            mark_refused(&parts(changed), &mut headers);
            assert_eq!(headers[CONNECTION], "close");
            assert_eq!(headers.contains_key(SEC_WEBSOCKET_VERSION), changed[0].0 == "sec-websocket-version");
        }
    }

    #[test]
    fn one_protocol_is_repeated_and_no_token() {
        let token = format!("{TOKEN}example.io.dG9rLWJvYg");
        for (offered, repeated) in
            [("v1", "v1"), (&*token, ""), (&*format!("{token}, v1"), "v1"), (&*format!("v1,{token}"), "v1")]
        {
            let headers = answered(&[("sec-websocket-protocol", offered)]).unwrap().unwrap();
            let said = headers.get(SEC_WEBSOCKET_PROTOCOL).map_or("", |value| value.to_str().unwrap());
            assert_eq!(said, repeated, "{offered}");
        }
    }

    #[test]
    fn pages_of_other_servers_are_refused() {
        for (host, origin, is_let_in) in [
            ("example.com", "", true),
            ("example.com", "https://example.com", true),
            ("example.com:443", "https://EXAMPLE.com", true),
            ("example.com:6443", "https://example.com:6443", true),
            ("[::1]:6443", "https://[::1]:6443", true),
            ("example.com", "http://example.com", false),
            ("example.com", "https://example.com:6443", false),
            ("example.com", "https://example.com.evil.net", false),
            ("example.com", "https://evil.net", false),
            ("example.com", "null", false),
            ("example.com", "https://", false),
        ] {
            let outcome = answered(&[("host", host), ("origin", origin)]);
            assert_eq!(outcome.is_ok(), is_let_in, "{host} {origin}");
        }
        assert!(answered(&[("origin", "https://example.com:6443"), ("origin", "https://evil.net")]).is_err());
    }
}
