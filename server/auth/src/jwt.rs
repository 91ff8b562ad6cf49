//! JSON Web Tokens (RFC 7519) that others have signed: their compact form, and the keys of issuers.
//!
//! Reading a token does not verify it: [`key_set::KeySet::verifies`] does.

pub mod algorithm;
pub(crate) mod compact;
pub mod key_set;

use serde::Deserialize;
use serde_json::{Map, Value};

use algorithm::Algorithm;
use compact::Compact;

/// A token in its parts. There is no `Debug`, because it is a credential.
pub struct Jwt<'t> {
    /// The header and the claims as they stand in the token.
    signed: &'t [u8],
    signature: Vec<u8>,
    header: Header,
    /// What the token says; believe it when the signature is verified.
    pub claims: Map<String, Value>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: String,
    /// Extensions that must be understood (RFC 7515, section 4.1.11).
    crit: Option<serde::de::IgnoredAny>,
}

impl<'t> Jwt<'t> {
    /// Takes a token apart. `None` for what is no signed token, and for one with extensions that must be
    /// understood, because none are.
    pub fn read(token: &'t [u8]) -> Option<Self> {
        let Compact { signed, header, claims, signature } = Compact::<Header, _>::read(token)?;
        header.crit.is_none().then_some(Jwt { signed, signature, header, claims })
    }

    /// The header and the claims as they stand in the token.
    pub(crate) fn signed(&self) -> &[u8] {
        self.signed
    }

    /// A claim that is a text.
    pub fn text(&self, claim: &str) -> Option<&str> {
        self.claims.get(claim)?.as_str()
    }

    /// The algorithm that the token names, if it is known.
    pub fn algorithm(&self) -> Option<Algorithm> {
        Algorithm::of_name(&self.header.alg)
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};

    use super::Jwt;

    fn token(header: &str, claims: &str) -> String {
        let encode = |text: &str| BASE64_URL_SAFE_NO_PAD.encode(text);
        format!("{}.{}.{}", encode(header), encode(claims), encode("signature"))
    }

    #[test]
    fn tokens_are_taken_apart() {
        let token = token(r#"{"alg":"RS256","kid":"k"}"#, r#"{"iss":"me","n":1}"#);
        let jwt = Jwt::read(token.as_bytes()).unwrap();
        assert_eq!((jwt.text("iss"), jwt.text("n"), jwt.text("sub")), (Some("me"), None, None));
        assert_eq!(jwt.algorithm().unwrap().name(), "RS256");
        assert_eq!(jwt.signature, b"signature");
    }

    #[test]
    fn other_texts_are_no_tokens() {
        for text in [
            "",
            ".",
            "..",
            "a.b.c",
            &token("{}", "{}"),
            &token(r#"{"alg":"RS256"}"#, "[]"),
            &token(r#"{"alg":"RS256"}"#, "{"),
            &token(r#"{"alg":"RS256","crit":["exp"]}"#, "{}"),
            &token(r#"{"alg":1}"#, "{}"),
            &format!("{}.", token(r#"{"alg":"RS256"}"#, "{}")),
            &format!("a.{}", token(r#"{"alg":"RS256"}"#, "{}")),
            &format!("{}=", token(r#"{"alg":"RS256"}"#, "{}")),
        ] {
            assert!(Jwt::read(text.as_bytes()).is_none(), "{text}");
        }
        for algorithm in ["none", "HS256", "rs256", ""] {
            let token = token(&format!(r#"{{"alg":"{algorithm}"}}"#), "{}");
            assert!(Jwt::read(token.as_bytes()).unwrap().algorithm().is_none(), "{algorithm}");
        }
    }
}
