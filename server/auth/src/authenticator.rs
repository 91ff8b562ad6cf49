//! Authentication methods: the trait, and what a method is given and returns.
//!
//! A method returns `Ok(None)` if the request has no credential of its kind, or one that it does not know and
//! another method may. It returns an error if a credential is meant for it, but is not valid.
//! [`Authentication`](crate::authentication) combines several methods.

use std::sync::Arc;

use crate::{answer::Answer, error::AuthError, lookups::LookupCounts};

mod authenticated;
pub mod bearer;
pub mod bootstrap_token;
pub mod certificate;
mod chain;
mod credentials;
pub mod issued_token;
mod peer_certificates;
pub mod proxy;
#[cfg(test)]
pub(crate) mod recipe;
pub mod service_account;
pub mod token_file;
pub mod webhook_token;

pub use self::{
    authenticated::Authenticated,
    credentials::{Credentials, Headers},
};

/// One authentication method.
pub trait Authenticator: Send + Sync {
    /// Authenticates the request, if it has a credential of this kind.
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>>;

    /// How it looked tokens up and judged them, if it remembers some.
    fn lookups(&self) -> Option<LookupCounts> {
        None
    }
}

/// A method that several owners share.
impl<T: Authenticator + ?Sized> Authenticator for Arc<T> {
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>> {
        (**self).authenticate(credentials)
    }

    fn lookups(&self) -> Option<LookupCounts> {
        (**self).lookups()
    }
}
