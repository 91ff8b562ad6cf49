//! One token that is always accepted: an example.

use crate::{
    answer::Answer,
    authenticator::{Authenticated, Authenticator, Credentials},
    error::AuthError,
    user::UserInfo,
};

/// Accepts one token, for one user.
pub struct FixedTokenAuthenticator {
    token: String,
    caller: Authenticated,
}

impl FixedTokenAuthenticator {
    /// Whoever has the token is the user `example`.
    pub fn new(token: String) -> Self {
        Self { token, caller: Authenticated::new(UserInfo::new("example", [""; 0]), "fixed-token") }
    }
}

impl Authenticator for FixedTokenAuthenticator {
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>> {
        let is_known = credentials.token().is_some_and(|token| token.secret() == self.token.as_bytes());
        Answer::Ready(Ok(is_known.then(|| self.caller.clone())))
    }
}
