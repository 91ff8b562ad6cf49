//! Continue tokens: where the next page of a list begins. A token is sealed with a key that is stored with
//! the data, so only servers of that data can make one.
//!
//! A token is for one list: the seal covers the resource, the namespace and the selectors, which are not in
//! the token. A token that was changed, made up, or given out for another list does not open. Tokens stay
//! valid over a restart, for as long as the store keeps the history that they need.

use aws_lc_rs::{hmac, rand};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use orch_storage::Revision;

use crate::error::ApiError;

mod fault;

/// Bytes of a key.
pub const KEY_LENGTH: usize = 32;
/// Bytes of a seal: half of the hash, which is still too long to guess.
const SEAL: usize = 16;
/// The first byte of a token; it changes when the form of tokens changes.
const FORM: u8 = 2;
/// A longer text cannot be a token: names and namespaces have at most 253 bytes.
const MAXIMUM_TEXT: usize = 1024;

/// Seals and opens tokens.
#[derive(Clone)]
pub struct TokenKey(hmac::Key);

/// The list that a token is for.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'a> {
    /// The store's name of the resource.
    pub resource: &'a str,
    /// Empty for all.
    pub namespace: &'a str,
    /// In canonical form.
    pub labels: &'a str,
    /// In canonical form.
    pub fields: &'a str,
}

/// Checks that a text can be a token of some list. It comes before all other checks of a request that
/// continues.
///
/// # Errors
/// 400 where it cannot.
pub fn check(token: &str) -> Result<(), ApiError> {
    fault::fault(token).map_or(Ok(()), |fault| Err(refused(&fault)))
}

/// 400 for a token of another list.
pub fn of_another_list() -> ApiError {
    refused(fault::OF_ANOTHER_LIST)
}

fn refused(fault: &str) -> ApiError {
    ApiError::BadRequest(format!("invalid continue token: continue key is not valid: {fault}"))
}

/// Where a list continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The version of the first page. `None` is the newest version: pages may then not fit together.
    pub revision: Option<Revision>,
    /// Namespace of the last object that was looked at.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// How many objects the pages so far had.
    pub listed: u64,
}

impl TokenKey {
    /// The key with these bytes.
    pub fn new(bytes: &[u8; KEY_LENGTH]) -> Self {
        TokenKey(hmac::Key::new(hmac::HMAC_SHA256, bytes))
    }

    /// Bytes for a new key.
    ///
    /// # Errors
    /// Where the system gives no random bytes.
    pub fn random_bytes() -> Result<[u8; KEY_LENGTH], &'static str> {
        let mut bytes = [0; KEY_LENGTH];
        rand::fill(&mut bytes).map_err(|_| "the system gives no random numbers")?;
        Ok(bytes)
    }

    /// The token for a position.
    pub fn seal(&self, binding: Binding<'_>, position: &Position) -> String {
        let mut token = vec![FORM];
        number(position.revision.map(Revision::get), &mut token);
        number(Some(position.listed), &mut token);
        text(&position.namespace, &mut token);
        text(&position.name, &mut token);
        let seal = hmac::sign(&self.0, &sealed(binding, &token));
        token.extend_from_slice(&seal.as_ref()[..SEAL]);
        BASE64_URL_SAFE_NO_PAD.encode(token)
    }

    /// The position in a token that was given out for this list; `None` for any other text.
    pub fn open(&self, binding: Binding<'_>, token: &str) -> Option<Position> {
        if token.len() > MAXIMUM_TEXT {
            return None;
        }
        let token = BASE64_URL_SAFE_NO_PAD.decode(token).ok()?;
        let (content, seal) = token.split_at_checked(token.len().checked_sub(SEAL)?)?;
        let expected = hmac::sign(&self.0, &sealed(binding, content));
        aws_lc_rs::constant_time::verify_slices_are_equal(&expected.as_ref()[..SEAL], seal).ok()?;
        read(content)
    }
}

impl std::fmt::Debug for TokenKey {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenKey")
    }
}

/// The bytes that the seal covers: every part with its length, so that no two lists give the same bytes.
fn sealed(binding: Binding<'_>, content: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(256);
    for part in [binding.resource, binding.namespace, binding.labels, binding.fields] {
        message.extend_from_slice(&(part.len() as u64).to_be_bytes());
        message.extend_from_slice(part.as_bytes());
    }
    message.extend_from_slice(content);
    message
}

/// A number or none. None is written as the largest number, which is never a revision or a count.
fn number(value: Option<u64>, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.unwrap_or(u64::MAX).to_be_bytes());
}

fn text(value: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(value.len() as u16).to_be_bytes());
    out.extend_from_slice(value.as_bytes());
}

fn read(content: &[u8]) -> Option<Position> {
    let content = content.strip_prefix(&[FORM])?;
    let (revision, content) = read_number(content)?;
    let (listed, content) = read_number(content)?;
    let (namespace, content) = read_text(content)?;
    let (name, rest) = read_text(content)?;
    let revision = revision.map(Revision::new);
    rest.is_empty().then_some(Position { revision, namespace, name, listed: listed? })
}

fn read_number(content: &[u8]) -> Option<(Option<u64>, &[u8])> {
    let (bytes, rest) = content.split_first_chunk::<8>()?;
    let number = u64::from_be_bytes(*bytes);
    Some(((number != u64::MAX).then_some(number), rest))
}

fn read_text(content: &[u8]) -> Option<(String, &[u8])> {
    let (length, rest) = content.split_first_chunk::<2>()?;
    let (text, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    Some((str::from_utf8(text).ok()?.to_owned(), rest))
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
    use orch_storage::Revision;

    use super::{Binding, KEY_LENGTH, Position, TokenKey};

    const LIST: Binding<'_> = Binding { resource: "secrets", namespace: "a", labels: "x=y", fields: "" };

    fn key(byte: u8) -> TokenKey {
        TokenKey::new(&[byte; KEY_LENGTH])
    }

    fn position() -> Position {
        Position {
            revision: Some(Revision::new(7)),
            namespace: "a".to_owned(),
            name: "n".repeat(253),
            listed: 3,
        }
    }

    #[test]
    fn a_token_opens_for_its_list_and_no_other() {
        let newest = Position { revision: None, ..position() };
        for position in [position(), newest] {
            let token = key(1).seal(LIST, &position);
            assert_eq!(key(1).open(LIST, &token), Some(position));
            assert_eq!(key(2).open(LIST, &token), None, "another key");
            for other in [
                Binding { resource: "configmaps", ..LIST },
                Binding { namespace: "", ..LIST },
                Binding { labels: "x=z", ..LIST },
                Binding { labels: "", fields: "x=y", ..LIST },
                Binding { resource: "secret", namespace: "sa", ..LIST },
            ] {
                assert_eq!(key(1).open(other, &token), None, "{other:?}");
            }
        }
    }

    #[test]
    fn no_changed_or_cut_token_opens() {
        let token = key(1).seal(LIST, &position());
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(&token).unwrap();
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 1;
            assert_eq!(key(1).open(LIST, &BASE64_URL_SAFE_NO_PAD.encode(changed)), None, "byte {index}");
            assert_eq!(
                key(1).open(LIST, &BASE64_URL_SAFE_NO_PAD.encode(&bytes[..index])),
                None,
                "cut {index}"
            );
        }
        for text in ["", "nonsense", "bm90IGpzb24", "AAAA", "\u{e9}", &"A".repeat(5000)] {
            assert_eq!(key(1).open(LIST, text), None, "{text:?}");
        }
    }
}
