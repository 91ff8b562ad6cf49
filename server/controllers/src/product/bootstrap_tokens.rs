//! Bootstrap tokens as secrets hold them, for the controllers that sign with them and clean them up.

use std::time::Duration;

use orch_api::core::v1::Secret;
use orch_runtime::{scalar::Time, vocabulary::Vocabulary};
use orch_storage::Timestamp;

const NAME_PREFIX: &str = "bootstrap-token-";
const ID_LENGTH: usize = 6;

/// Until when a token is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiration {
    Never,
    In(Duration),
    /// It has passed, or nobody can tell when it is.
    Past,
}

/// Whether the secret is one of a bootstrap token, and stands where these are looked for.
pub(super) fn is_token(secret: &Secret, vocabulary: &Vocabulary) -> bool {
    secret.metadata.namespace == vocabulary.namespace_system
        && secret.type_ == vocabulary.bootstrap_token_secret_type
}

/// Whether a secret of this name may be one of a token that signs. All others need not be read.
pub(super) fn may_sign(name: &str) -> bool {
    name.starts_with(NAME_PREFIX)
}

/// Until when the token of a secret is valid.
pub(super) fn expiration(secret: &Secret, now: Timestamp) -> Expiration {
    let Some(text) = value(secret, "expiration") else { return Expiration::Never };
    let end = text.parse::<Time>().ok().and_then(|end| u64::try_from(end.as_unix_seconds()).ok());
    match end.and_then(|end| end.checked_mul(1000)?.checked_sub(now.0)) {
        None | Some(0) => Expiration::Past,
        Some(left) => Expiration::In(Duration::from_millis(left)),
    }
}

/// Id and secret half of a token that may sign; `None` where it may not, or the secret makes no token.
pub(super) fn signing(secret: &Secret) -> Option<(&str, &str)> {
    let id = value(secret, "token-id")?;
    let is_id = id.len() == ID_LENGTH && id.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
    let may_sign = value(secret, "usage-bootstrap-signing") == Some("true");
    let is_named = secret.metadata.name.strip_prefix(NAME_PREFIX) == Some(id);
    let is_live = secret.metadata.deletion_timestamp.is_none();
    (is_id && may_sign && is_named && is_live).then_some((id, value(secret, "token-secret")?))
}

/// A value that is not empty. One that is no text reads as a text that means nothing.
fn value<'s>(secret: &'s Secret, key: &str) -> Option<&'s str> {
    let bytes = secret.data.get(key).filter(|bytes| !bytes.0.is_empty())?;
    Some(str::from_utf8(&bytes.0).unwrap_or("\0"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secret(name: &str, data: &serde_json::Value) -> Secret {
        let mut secret: Secret =
            serde_json::from_value(json!({"metadata": {"name": name}, "stringData": data})).unwrap();
        secret.merge_string_data();
        secret
    }

    #[test]
    fn a_token_expires_at_its_second() {
        let now = Timestamp(1_700_000_000_500);
        for (time, expected) in [
            ("", Expiration::Never),
            ("2023-11-14T22:13:21Z", Expiration::In(Duration::from_millis(500))),
            ("2023-11-14T23:13:21+01:00", Expiration::In(Duration::from_millis(500))),
            ("2023-11-14T22:13:20Z", Expiration::Past),
            ("2001-01-01T00:00:00Z", Expiration::Past),
            ("1901-01-01T00:00:00Z", Expiration::Past),
            ("tomorrow", Expiration::Past),
        ] {
            assert_eq!(expiration(&secret("s", &json!({"expiration": time})), now), expected, "{time}");
        }
        assert_eq!(expiration(&secret("s", &json!({})), now), Expiration::Never);
    }

    #[test]
    fn only_a_whole_token_signs() {
        let whole = json!({"token-id": "abc123", "token-secret": "s", "usage-bootstrap-signing": "true"});
        assert_eq!(signing(&secret("bootstrap-token-abc123", &whole)), Some(("abc123", "s")));
        assert_eq!(signing(&secret("bootstrap-token-abc124", &whole)), None);
        for (key, wrong) in [
            ("token-id", ""),
            ("token-secret", ""),
            ("usage-bootstrap-signing", "yes"),
            ("usage-bootstrap-signing", ""),
        ] {
            let mut data = whole.clone();
            data[key] = wrong.into();
            assert_eq!(signing(&secret("bootstrap-token-abc123", &data)), None, "{key}: {wrong}");
        }
        let odd = json!({"token-id": "ABC123", "token-secret": "s", "usage-bootstrap-signing": "true"});
        assert_eq!(signing(&secret("bootstrap-token-ABC123", &odd)), None);
    }
}
