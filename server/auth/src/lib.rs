//! Who is it, may they: authentication and authorization, free of HTTP.
//!
//! - [`authentication`]: the configured methods as one; [`authenticator`]: what a method is, and each of them;
//! - [`authorization`]: the configured authorizers as one; [`authorizer`]: what an authorizer is, and each;
//! - [`service_account`]: the tokens that the server itself makes;
//! - [`user`]: the identity that the first half produces and the second half judges.
//!
//! Files are read when the two are built, so a server that has started needs none of them again.

pub mod answer;
pub mod authentication;
pub mod authenticator;
pub mod authorization;
pub mod authorizer;
pub mod error;
pub mod service_account;
pub mod user;

#[cfg(test)]
mod testing;
