//! Headers with credentials or an identity: a proxy's, and those that nothing behind authentication needs.
//!
//! They are taken out of what a program's own routes get, whoever sent them: such a route must not take a
//! header of a client for that of a proxy. A name counts in every spelling, `_` for `-` included, because
//! some programs treat them as one.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use orch_auth::authenticator::{Headers, proxy::ProxyHeaders};

use super::impersonation;

/// What proxies are used to send.
const USUAL: [&str; 4] = ["x-remote-user", "x-remote-uid", "x-remote-group", "x-remote-extra-"];

/// Headers as authentication reads them.
pub struct View<'a>(pub &'a HeaderMap);

impl Headers for View<'_> {
    fn values<'a>(&'a self, name: &'a str) -> Box<dyn Iterator<Item = &'a [u8]> + 'a> {
        Box::new(self.0.get_all(name).into_iter().map(HeaderValue::as_bytes))
    }

    fn with_prefix<'a>(&'a self, prefix: &'a str) -> Box<dyn Iterator<Item = (&'a str, &'a [u8])> + 'a> {
        let headers = self.0.iter();
        Box::new(
            headers.filter_map(move |(name, value)| {
                Some((name.as_str().strip_prefix(prefix)?, value.as_bytes()))
            }),
        )
    }
}

/// The headers that are taken out.
pub struct IdentityHeaders {
    names: Vec<String>,
    prefixes: Vec<String>,
}

impl IdentityHeaders {
    /// The usual ones, and those that a proxy is configured to send.
    pub fn new(configured: Option<&ProxyHeaders>) -> Self {
        let [user, uid, group, extra] = USUAL.map(str::to_owned);
        let (mut names, mut prefixes) = (vec![user, uid, group], vec![extra]);
        if let Some(ProxyHeaders { user, uid, group, extra_prefixes }) = configured {
            names.extend([user, uid, group].into_iter().flatten().map(|name| spelled(name).into_owned()));
            prefixes.extend(extra_prefixes.iter().map(|prefix| spelled(prefix).into_owned()));
        }
        IdentityHeaders { names, prefixes }
    }

    /// Takes them out, with the credential of the request.
    pub fn remove(&self, headers: &mut HeaderMap) {
        let names: Vec<HeaderName> = headers.keys().filter(|name| self.has(name)).cloned().collect();
        for name in names {
            headers.remove(name);
        }
    }

    /// Copies of them without the credential.
    pub fn copy(&self, headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
        let own = headers.iter().filter(|(name, _)| *name != header::AUTHORIZATION && self.has(name));
        let copy = |value: &HeaderValue| {
            HeaderValue::from_bytes(value.as_bytes()).expect("the bytes of a value are valid")
        };
        own.map(|(name, value)| (name.clone(), copy(value))).collect()
    }

    fn has(&self, name: &HeaderName) -> bool {
        let spelled = spelled(name.as_str());
        *name == header::AUTHORIZATION
            || impersonation::is_header(&spelled)
            || self.names.iter().any(|own| *own == spelled)
            || self.prefixes.iter().any(|prefix| spelled.starts_with(prefix))
    }
}

fn spelled(name: &str) -> Cow<'_, str> {
    if name.contains('_') { name.replace('_', "-").into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue};
    use orch_auth::authenticator::proxy::ProxyHeaders;

    use super::IdentityHeaders;

    #[test]
    fn headers_about_identity_are_taken_out_in_every_spelling() {
        let own = |name: &str| vec![name.to_owned()];
        let configured = ProxyHeaders {
            user: own("x_login"),
            uid: Vec::new(),
            group: own("x-team"),
            extra_prefixes: own("x-more-"),
        };
        let usual = [
            "Authorization",
            "X-Remote-User",
            "x_remote_user",
            "X_Remote-Group",
            "x-remote-uid",
            "X-Remote-Extra-Scopes",
            "x_remote_extra_a",
            "Impersonate-User",
            "impersonate_group",
        ];
        let of_proxy = ["X-Login", "X_Login", "X-Team", "X-More-A", "x_more_"];
        let others = ["accept", "x-remote", "x-remote-users", "x-impersonate-user", "x-request-id"];
        for (configured, left) in [(Some(&configured), 0), (None, of_proxy.len())] {
            let mut headers = HeaderMap::new();
            for name in usual.iter().chain(&of_proxy).chain(&others) {
                headers
                    .append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_static("a"));
                headers
                    .append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_static("b"));
            }
            let identity_headers = IdentityHeaders::new(configured);
            assert_eq!(identity_headers.copy(&headers).len(), 2 * (usual.len() - 1 + of_proxy.len() - left));
            identity_headers.remove(&mut headers);
            assert_eq!(headers.keys_len(), others.len() + left, "{headers:?}");
            assert!(others.iter().all(|name| headers.contains_key(*name)));
        }
    }
}
