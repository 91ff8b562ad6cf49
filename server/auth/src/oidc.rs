//! Tokens of OpenID Connect providers, and of other issuers of JSON Web Tokens.
//!
//! An [`issuer::Issuer`] is one whose tokens are accepted: its [`provider::Provider`] has the keys, `claims`
//! judges times and audiences, [`rules`] are what the operator demands of claims and users, and [`mapping`]
//! says which claims make the user. [`flags`] and the file of `--authentication-config` both lead to issuers.
//!
//! Groups may stand in another place than the token: [`distributed`] fetches them.

mod claims;
pub mod distributed;
pub mod flags;
pub mod issuer;
pub mod mapping;
pub mod provider;
pub mod rules;
pub mod url;
