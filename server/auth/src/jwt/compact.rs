//! The compact form of a signed token (RFC 7515, section 3.1): header, claims and signature, with dots
//! between them.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::de::DeserializeOwned;

/// A token in its parts. There is no `Debug`, because it is a credential.
pub(crate) struct Compact<'t, H, C> {
    /// The header and the claims as they stand in the token.
    pub(crate) signed: &'t [u8],
    pub(crate) header: H,
    /// What the token says; believe it when the signature is verified.
    pub(crate) claims: C,
    pub(crate) signature: Vec<u8>,
}

impl<'t, H: DeserializeOwned, C: DeserializeOwned> Compact<'t, H, C> {
    /// Takes a token apart. `None` for what is no signed token.
    pub(crate) fn read(token: &'t [u8]) -> Option<Self> {
        let last = token.iter().rposition(|&byte| byte == b'.')?;
        let (signed, signature) = (&token[..last], &token[last + 1..]);
        let first = signed.iter().position(|&byte| byte == b'.')?;
        let decode = |part: &[u8]| BASE64_URL_SAFE_NO_PAD.decode(part).ok();
        let header = serde_json::from_slice(&decode(&signed[..first])?).ok()?;
        let claims = serde_json::from_slice(&decode(&signed[first + 1..])?).ok()?;
        Some(Compact { signed, header, claims, signature: decode(signature)? })
    }
}
