//! The keys of an issuer: a JSON Web Key Set (RFC 7517).

use aws_lc_rs::signature::{RsaPublicKeyComponents, UnparsedPublicKey};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::Deserialize;

use super::{Jwt, algorithm::Scheme};

/// More keys than an issuer has.
const MAX_KEYS: usize = 256;

/// Keys that verify signatures.
#[derive(Debug)]
pub struct KeySet {
    keys: Vec<Key>,
}

#[derive(Debug)]
struct Key {
    id: String,
    /// The only algorithm that it is for; any that fits, if there is none.
    algorithm: Option<String>,
    public: Public,
}

/// The public half of a key.
#[derive(Debug)]
enum Public {
    /// Modulus and exponent, without leading zeros.
    Rsa(RsaPublicKeyComponents<Vec<u8>>),
    /// A curve, and an uncompressed point on it (SEC 1, section 2.3.3).
    Ec(String, Vec<u8>),
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Entry {
    kty: String,
    kid: String,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    n: String,
    e: String,
    crv: String,
    x: String,
    y: String,
}

impl KeySet {
    /// Reads a document. Keys of other types and for other purposes, and what is no key, are left out: a set
    /// may have keys that are not for this server.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let document: Result<Document, _> = serde_json::from_slice(text);
        let entries = document.map_err(|error| format!("the keys are not in the right form: {error}"))?.keys;
        if entries.len() > MAX_KEYS {
            return Err(format!("there are more than {MAX_KEYS} keys"));
        }
        let read = |entry| serde_json::from_value(entry).ok().and_then(key);
        Ok(KeySet { keys: entries.into_iter().filter_map(read).collect() })
    }

    /// Whether a key of the set has signed the token. A token that names a key is compared with keys of that
    /// name alone.
    pub fn verifies(&self, token: &Jwt<'_>) -> bool {
        let Some(algorithm) = token.algorithm() else { return false };
        let (scheme, wanted) = (algorithm.scheme(), &token.header.kid);
        let named = self.keys.iter().filter(|key| wanted.is_empty() || key.id == *wanted);
        let mut fitting =
            named.filter(|key| key.algorithm.as_deref().is_none_or(|name| name == algorithm.name()));
        fitting.any(|key| key.public.verifies(scheme, token))
    }
}

impl Public {
    /// The key decides which algorithms there can be; the token only chooses among them (RFC 8725, section
    /// 3.1).
    fn verifies(&self, scheme: &Scheme, token: &Jwt<'_>) -> bool {
        let verified = match (self, scheme) {
            (Self::Rsa(key), Scheme::Rsa(parameters)) => {
                key.verify(parameters, token.signed, &token.signature)
            }
            (Self::Ec(curve, point), Scheme::Ec(wanted, algorithm)) if curve == wanted => {
                UnparsedPublicKey::new(*algorithm, point).verify(token.signed, &token.signature)
            }
            _ => return false,
        };
        verified.is_ok()
    }
}

fn key(entry: Entry) -> Option<Key> {
    if entry.purpose.is_some_and(|purpose| purpose != "sig") {
        return None;
    }
    let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    let number = |text: &str| {
        let bytes = decode(text)?;
        let begin = bytes.iter().position(|&byte| byte != 0)?;
        Some(bytes[begin..].to_vec())
    };
    let public = match entry.kty.as_str() {
        "RSA" => Public::Rsa(RsaPublicKeyComponents { n: number(&entry.n)?, e: number(&entry.e)? }),
        "EC" => {
            let size = field_size(&entry.crv)?;
            let mut point = vec![4];
            for coordinate in [decode(&entry.x)?, decode(&entry.y)?] {
                // Some issuers leave leading zeros out.
                point.extend(std::iter::repeat_n(0, size.checked_sub(coordinate.len())?));
                point.extend(coordinate);
            }
            Public::Ec(entry.crv, point)
        }
        _ => return None,
    };
    Some(Key { id: entry.kid, algorithm: entry.alg, public })
}

/// Bytes of a coordinate.
fn field_size(curve: &str) -> Option<usize> {
    match curve {
        "P-256" => Some(32),
        "P-384" => Some(48),
        "P-521" => Some(66),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
