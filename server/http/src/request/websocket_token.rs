//! The bearer token of a WebSocket client that cannot send the header `Authorization`, as in a browser: it
//! names its token as one of the protocols that it speaks.
//!
//! The token is moved to the header `Authorization` before anything looks at the request, and away from where
//! it could be shown. That is so for every request that asks for a WebSocket, whether it gets one or not: a
//! credential that is there counts, and one that is wrong makes nobody anonymous.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use http::{
    HeaderMap, HeaderValue,
    header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL},
    request::Parts,
};
use orch_auth::authenticator::bearer::Bearer;
use orch_runtime::vocabulary::Vocabulary;

use super::websocket_handshake::{TOKEN, is_asked, items};

/// An extension of requests that name a token which cannot be one.
#[derive(Clone, Copy, Debug)]
pub struct Unreadable;

/// What the protocols of a request say.
#[derive(Debug, PartialEq, Eq)]
enum TokenInProtocols {
    Nothing,
    /// The token, and the other protocols.
    Token(Vec<u8>, String),
    Unreadable,
}

/// Moves the token, if there is one and the request has no other. A request whose token cannot be read gets
/// the extension [`Unreadable`].
pub fn take(parts: &mut Parts, vocabulary: &Vocabulary) {
    if !is_asked(parts) || has_bearer(&parts.headers) {
        return;
    }
    let prefix = format!("{TOKEN}{}.", vocabulary.group_suffix);
    match named(&parts.headers, &prefix) {
        TokenInProtocols::Nothing => {}
        TokenInProtocols::Token(token, others) => {
            match bearer(&token).zip(HeaderValue::from_str(&others).ok()) {
                Some((authorization, others)) => {
                    parts.headers.insert(AUTHORIZATION, authorization);
                    parts.headers.insert(SEC_WEBSOCKET_PROTOCOL, others);
                }
                None => drop(parts.extensions.insert(Unreadable)),
            }
        }
        TokenInProtocols::Unreadable => drop(parts.extensions.insert(Unreadable)),
    }
}

fn has_bearer(headers: &HeaderMap) -> bool {
    let authorization = headers.get(AUTHORIZATION).map(|value| Bearer::parse(value.as_bytes()));
    matches!(authorization, Some(Bearer::Token(_)))
}

fn named(headers: &HeaderMap, prefix: &str) -> TokenInProtocols {
    let (mut token, mut others) = (None, Vec::new());
    for protocol in items(headers, &SEC_WEBSOCKET_PROTOCOL) {
        let Some(encoded) = protocol.strip_prefix(prefix) else {
            others.push(protocol);
            continue;
        };
        let decoded = BASE64_URL_SAFE_NO_PAD.decode(encoded);
        let Ok(decoded) = decoded else { return TokenInProtocols::Unreadable };
        if token.replace(decoded).is_some() {
            return TokenInProtocols::Unreadable;
        }
    }
    match token.filter(|token| !token.is_empty()) {
        None => TokenInProtocols::Nothing,
        // The answer to a handshake names a protocol, and that must not be the token.
        Some(_) if others.is_empty() => TokenInProtocols::Unreadable,
        Some(token) => TokenInProtocols::Token(token, others.join(", ")),
    }
}

/// The header for a token; `None` if a header cannot hold it.
fn bearer(token: &[u8]) -> Option<HeaderValue> {
    if token.iter().any(u8::is_ascii_whitespace) {
        return None;
    }
    let mut header = HeaderValue::from_bytes(&[b"Bearer ", token].concat()).ok()?;
    header.set_sensitive(true);
    Some(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(protocols: &[&str]) -> TokenInProtocols {
        let mut headers = HeaderMap::new();
        for protocol in protocols {
            headers.append(SEC_WEBSOCKET_PROTOCOL, protocol.parse().unwrap());
        }
        named(&headers, "base64url.bearer.authorization.example.io.")
    }

    #[test]
    fn one_protocol_is_the_token() {
        let token = |others: &str| TokenInProtocols::Token(b"tok-bob".to_vec(), others.to_owned());
        for (protocols, expected) in [
            (&[][..], TokenInProtocols::Nothing),
            (&["v1, v2"], TokenInProtocols::Nothing),
            (&["base64url.bearer.authorization.example.io.dG9rLWJvYg, v1"], token("v1")),
            (&["v1", "base64url.bearer.authorization.example.io.dG9rLWJvYg,v2"], token("v1, v2")),
            (&["base64url.bearer.authorization.other.io.dG9rLWJvYg, v1"], TokenInProtocols::Nothing),
            (&["base64url.bearer.authorization.example.io., v1"], TokenInProtocols::Nothing),
            (&["base64url.bearer.authorization.example.io.dG9rLWJvYg"], TokenInProtocols::Unreadable),
            (&["base64url.bearer.authorization.example.io.dG9rLWJvYg==, v1"], TokenInProtocols::Unreadable),
            (&["base64url.bearer.authorization.example.io.?, v1"], TokenInProtocols::Unreadable),
            (
                &[
                    "base64url.bearer.authorization.example.io.YQ, v1",
                    "base64url.bearer.authorization.example.io.YQ",
                ],
                TokenInProtocols::Unreadable,
            ),
        ] {
            assert_eq!(shown(protocols), expected, "{protocols:?}");
        }
    }

    #[test]
    fn a_token_fits_into_a_header() {
        assert_eq!(bearer(b"tok").unwrap(), "Bearer tok");
        for token in [&b"a b"[..], b"a\n", b"\x01"] {
            assert!(bearer(token).is_none());
        }
    }
}
