//! Bootstrap tokens: `<id>.<secret>`, six and sixteen characters of `[a-z0-9]`.
//!
//! Each has a secret in the system namespace (spec, "Authentication", 7). The secret is looked up for every
//! request, so a token ends with the write that deletes or changes it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use aws_lc_rs::{constant_time, digest};
use orch_runtime::scalar::Time;

use crate::{
    answer::Answer,
    authenticator::{Authenticated, Authenticator, Credentials},
    error::AuthError,
    user::UserInfo,
};

/// The group of all callers with a bootstrap token, and the beginning of the names of all further groups that
/// a token can give.
const GROUP: &str = "system:bootstrappers";
const USER_PREFIX: &str = "system:bootstrap";
const SECRET_NAME_PREFIX: &str = "bootstrap-token-";
const ID_LENGTH: usize = 6;
const SECRET_LENGTH: usize = 16;
/// The longest name of a further group, after the prefix.
const GROUP_LENGTH: usize = 256;

/// A token as its secret describes it. The secret half is kept as a digest only.
pub struct BootstrapToken {
    secret: digest::Digest,
    caller: Authenticated,
    /// In seconds since 1970; from then on the token is not valid.
    expires: Option<i64>,
}

/// Finds tokens by their public half.
pub trait BootstrapTokens: Send + Sync {
    /// The token whose secret has this name, as the secret is now; `None` if there is no secret, or one that
    /// makes no token.
    fn find(&self, secret_name: &str) -> Option<Arc<BootstrapToken>>;
}

impl BootstrapToken {
    /// The token that a secret makes, given the secret's data; `None` if it makes none: then a field is
    /// missing or not right. The caller checks the type of the secret, and that it is not being deleted.
    pub fn of_secret(name: &str, data: &BTreeMap<String, impl AsRef<[u8]>>) -> Option<Self> {
        let value = |key: &str| data.get(key).map(AsRef::as_ref).unwrap_or_default();
        let text = |key: &str| std::str::from_utf8(value(key)).ok();
        let id = text("token-id")?;
        if name.strip_prefix(SECRET_NAME_PREFIX) != Some(id)
            || value("usage-bootstrap-authentication") != b"true"
        {
            return None;
        }
        let expires = match text("expiration")? {
            "" => None,
            time => Some(time.parse::<Time>().ok()?.as_unix_seconds()),
        };
        let user = UserInfo::new(format!("{USER_PREFIX}:{id}"), groups(text("auth-extra-groups")?)?);
        Some(Self {
            secret: digest::digest(&digest::SHA256, value("token-secret")),
            caller: Authenticated::new(user, "bootstrap-token"),
            expires,
        })
    }
}

/// The groups of a token, in alphabetical order; `None` if it asks for one that no token can give.
fn groups(extra: &str) -> Option<BTreeSet<&str>> {
    let mut groups = BTreeSet::from([GROUP]);
    if extra.is_empty() {
        return Some(groups);
    }
    for group in extra.split(',') {
        let name = group.strip_prefix(GROUP)?.strip_prefix(':')?;
        let is_known = |byte: u8| is_of_tokens(byte) || matches!(byte, b':' | b'-');
        if name.len() > GROUP_LENGTH
            || !name.bytes().all(is_known)
            || !name.bytes().next_back().is_some_and(is_of_tokens)
        {
            return None;
        }
        groups.insert(group);
    }
    Some(groups)
}

fn is_of_tokens(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// The two halves of a token; `None` for a token of another method.
fn halves(token: &[u8]) -> Option<(&str, &[u8])> {
    let (id, secret) = token.split_at_checked(ID_LENGTH)?;
    let secret = secret.strip_prefix(b".").filter(|secret| secret.len() == SECRET_LENGTH)?;
    let is_one = id.iter().chain(secret).copied().all(is_of_tokens);
    Some((std::str::from_utf8(id).ok().filter(|_| is_one)?, secret))
}

/// Accepts bootstrap tokens.
pub struct BootstrapTokenAuthenticator {
    tokens: Box<dyn BootstrapTokens>,
}

impl BootstrapTokenAuthenticator {
    /// `tokens` finds the secrets.
    pub fn new(tokens: Box<dyn BootstrapTokens>) -> Self {
        Self { tokens }
    }

    fn accept(&self, credentials: &Credentials<'_>) -> Option<Authenticated> {
        let (id, secret) = halves(credentials.token()?.secret())?;
        let token = self.tokens.find(&format!("{SECRET_NAME_PREFIX}{id}"))?;
        // Digests are compared, and in constant time: how long it takes says nothing about the secret.
        let given = digest::digest(&digest::SHA256, secret);
        constant_time::verify_slices_are_equal(token.secret.as_ref(), given.as_ref()).ok()?;
        let now = i64::try_from(credentials.now().as_secs()).unwrap_or(i64::MAX);
        token.expires.is_none_or(|expires| now < expires).then(|| token.caller.clone())
    }
}

impl Authenticator for BootstrapTokenAuthenticator {
    /// Never an error: a token that is not valid here may be one of another method.
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>> {
        Answer::Ready(Ok(self.accept(credentials)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{authenticator::certificate::PeerCertificates, testing::at};

    const NOW: u64 = 1_700_000_000;

    /// The data of one secret, with the name `bootstrap-token-abc123`.
    struct One(BTreeMap<String, Vec<u8>>);

    impl BootstrapTokens for One {
        fn find(&self, secret_name: &str) -> Option<Arc<BootstrapToken>> {
            (secret_name == "bootstrap-token-abc123").then_some(())?;
            BootstrapToken::of_secret(secret_name, &self.0).map(Arc::new)
        }
    }

    /// The groups of a caller, where the secret has these fields besides the usual ones.
    fn groups_of(fields: &[(&str, &str)], header: &str) -> Option<Vec<String>> {
        let usual = [
            ("token-id", "abc123"),
            ("token-secret", "0123456789abcdef"),
            ("usage-bootstrap-authentication", "true"),
        ];
        let all = usual.iter().chain(fields);
        let secret = One(all.map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect());
        let authenticator = BootstrapTokenAuthenticator::new(Box::new(secret));
        let peer = PeerCertificates::default();
        let caller = authenticator.accept(&Credentials::new(&peer, Some(header.as_bytes()), at(NOW)))?;
        assert_eq!((&*caller.user().name, caller.method()), ("system:bootstrap:abc123", "bootstrap-token"));
        Some(caller.user().groups.clone())
    }

    #[test]
    fn only_the_whole_token_is_accepted() {
        let group = Some(vec![GROUP.to_owned(), "system:authenticated".to_owned()]);
        for (token, expected) in [
            ("abc123.0123456789abcdef", &group),
            ("abc123.0123456789abcdef more", &group),
            ("abc123.0123456789abcdee", &None),
            ("abc123.0123456789abcde", &None),
            ("abc123.0123456789abcdeff", &None),
            ("abc123:0123456789abcdef", &None),
            ("ABC123.0123456789abcdef", &None),
            ("abc124.0123456789abcdef", &None),
            ("abc12.00123456789abcdef", &None),
            ("abc12\u{e9}.0123456789abcde", &None),
            ("abc123.", &None),
            ("abc123", &None),
            (".", &None),
        ] {
            assert_eq!(groups_of(&[], &format!("Bearer {token}")), *expected, "{token}");
        }
    }

    #[test]
    fn each_field_of_the_secret_counts() {
        let long = "x".repeat(256);
        let (longest, too_long) = (format!("{GROUP}:{long}"), format!("{GROUP}:{long}x"));
        let several = format!("{GROUP}:b-2:c,{GROUP}:a,{GROUP}:b-2:c");
        for (key, value, is_accepted) in [
            ("token-id", "abc124", false),
            ("token-id", "", false),
            ("token-secret", "", false),
            ("token-secret", "0123456789abcdef\n", false),
            ("usage-bootstrap-authentication", "True", false),
            ("usage-bootstrap-authentication", "", false),
            ("usage-bootstrap-signing", "false", true),
            ("expiration", "", true),
            ("expiration", "2023-11-14T22:13:21Z", true),
            ("expiration", "2023-11-14T22:13:20Z", false),
            ("expiration", "2023-11-15T00:13:21+02:00", true),
            ("expiration", "tomorrow", false),
            ("expiration", "1700000001", false),
            ("auth-extra-groups", "", true),
            ("auth-extra-groups", several.as_str(), true),
            ("auth-extra-groups", &longest, true),
            ("auth-extra-groups", &too_long, false),
            ("auth-extra-groups", "system:masters", false),
            ("auth-extra-groups", "system:bootstrappers", false),
            ("auth-extra-groups", "system:bootstrappers:", false),
            ("auth-extra-groups", "system:bootstrappers:a-", false),
            ("auth-extra-groups", "system:bootstrappers:A", false),
            ("auth-extra-groups", "system:bootstrappers:a,", false),
            ("auth-extra-groups", "system:bootstrappers:a, system:bootstrappers:b", false),
            ("auth-extra-groups", "system:bootstrappers:a\n", false),
        ] {
            let groups = groups_of(&[(key, value)], "Bearer abc123.0123456789abcdef");
            assert_eq!(groups.is_some(), is_accepted, "{key}={value:?}");
        }
        let groups = groups_of(&[("auth-extra-groups", &several)], "Bearer abc123.0123456789abcdef");
        let expected =
            [GROUP, "system:bootstrappers:a", "system:bootstrappers:b-2:c", "system:authenticated"];
        assert_eq!(groups.unwrap(), expected);
    }
}
