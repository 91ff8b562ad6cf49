//! Tokens whose signature was verified a short time ago.
//!
//! Verifying a signature costs more than the rest of a small request. What is remembered is only that, for
//! tokens that were accepted; the objects that a token names are looked up for every request all the same.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use aws_lc_rs::digest;

use crate::{authenticator::Authenticated, service_account::PrivateClaims};

/// How long a token is remembered, in seconds.
const TTL: i64 = 10;
/// Into how many parts the tokens are divided, so that threads seldom wait for each other.
const PARTS: usize = 16;
/// The most tokens of a part are twice as many.
const GENERATION: usize = 128;

/// The SHA-256 digest of a token: memory holds no tokens.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TokenDigest([u8; digest::SHA256_OUTPUT_LEN]);

impl TokenDigest {
    pub(super) fn of(token: &[u8]) -> Self {
        let digest = digest::digest(&digest::SHA256, token);
        Self(digest.as_ref().try_into().expect("a SHA-256 digest has 32 bytes"))
    }
}

/// A token that was accepted for this server.
pub(super) struct Verified {
    /// Who the bearer is while the objects exist that the token names.
    pub(super) caller: Authenticated,
    /// The objects.
    pub(super) private: PrivateClaims,
    /// From when to when, in seconds since 1970, this counts.
    from: i64,
    until: i64,
}

impl Verified {
    /// Verified at `now`, of a token that expires at `expires`.
    pub(super) fn new(caller: Authenticated, private: PrivateClaims, now: i64, expires: i64) -> Self {
        Self { caller, private, from: now, until: expires.min(now.saturating_add(TTL)) }
    }
}

/// See the module. There is room for a fixed number of tokens.
#[derive(Default)]
pub(super) struct VerifiedTokens {
    parts: [Mutex<Generations>; PARTS],
}

/// When the young ones are enough, or old enough, they become the old ones, and the old ones are forgotten.
#[derive(Default)]
struct Generations {
    begun: i64,
    young: HashMap<TokenDigest, Arc<Verified>>,
    old: HashMap<TokenDigest, Arc<Verified>>,
}

impl VerifiedTokens {
    /// What is known of a token.
    pub(super) fn get(&self, token: &TokenDigest, now: i64) -> Option<Arc<Verified>> {
        let part = self.part(token).lock().unwrap_or_else(PoisonError::into_inner);
        let verified = part.young.get(token).or_else(|| part.old.get(token))?;
        (verified.from..=verified.until).contains(&now).then(|| Arc::clone(verified))
    }

    /// Remembers a token.
    pub(super) fn insert(&self, token: TokenDigest, verified: Verified, now: i64) {
        let mut part = self.part(&token).lock().unwrap_or_else(PoisonError::into_inner);
        if part.young.len() >= GENERATION || !(0..=TTL).contains(&now.saturating_sub(part.begun)) {
            part.old = std::mem::take(&mut part.young);
            part.begun = now;
        }
        part.young.insert(token, Arc::new(verified));
    }

    fn part(&self, token: &TokenDigest) -> &Mutex<Generations> {
        &self.parts[usize::from(token.0[0]) % PARTS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{service_account::Named, user::UserInfo};

    const NOW: i64 = 1_700_000_000;

    fn verified(now: i64, expires: i64) -> Verified {
        let named = Named { name: String::new(), uid: String::new() };
        let private = PrivateClaims {
            namespace: String::new(),
            serviceaccount: named,
            pod: None,
            secret: None,
            node: None,
            warn_after: None,
        };
        Verified::new(Authenticated::new(UserInfo::default(), "test"), private, now, expires)
    }

    #[test]
    fn a_token_is_remembered_for_a_while_and_never_beyond_its_expiry() {
        for (expires, last) in [(NOW + 100, NOW + 10), (NOW + 3, NOW + 3)] {
            let tokens = VerifiedTokens::default();
            let token = TokenDigest::of(b"a");
            assert!(tokens.get(&token, NOW).is_none());
            tokens.insert(token, verified(NOW, expires), NOW);
            for (now, is_known) in [(NOW, true), (last, true), (last + 1, false), (NOW - 1, false)] {
                assert_eq!(tokens.get(&token, now).is_some(), is_known, "{expires} {now}");
            }
            assert!(tokens.get(&TokenDigest::of(b"b"), NOW).is_none());
        }
    }

    #[test]
    fn there_is_room_for_so_many_tokens_and_the_newest_are_kept() {
        let tokens = VerifiedTokens::default();
        let count = |tokens: &VerifiedTokens| -> usize {
            let in_part = |part: &Mutex<Generations>| {
                let part = part.lock().unwrap();
                part.young.len() + part.old.len()
            };
            tokens.parts.iter().map(in_part).sum()
        };
        for number in 0..20_000_u32 {
            let token = TokenDigest::of(&number.to_be_bytes());
            tokens.insert(token, verified(NOW, NOW + 100), NOW);
            assert!(tokens.get(&token, NOW).is_some());
        }
        assert!(count(&tokens) <= 2 * GENERATION * PARTS, "{}", count(&tokens));
        // Two rounds later nothing of them is left.
        for round in 1..=2_i64 {
            let now = NOW + round * (TTL + 1);
            for number in 0..1000_u32 {
                let token = TokenDigest::of(&(number + 30_000).to_be_bytes());
                tokens.insert(token, verified(now, now + 100), now);
            }
        }
        assert!(count(&tokens) <= 2000, "{}", count(&tokens));
    }
}
