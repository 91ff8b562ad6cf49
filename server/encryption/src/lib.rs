//! Encryption at rest: which resources are kept sealed, with which keys, and what is kept of a value.
//!
//! A [`file`] in the form of the reference (`EncryptionConfiguration`) lists resources and, for each,
//! providers with their keys. [`encryption::Encryption`] is what a store seals and opens values through. What
//! it makes of a value is what the reference makes of it: `k8s:enc:<provider>:v1:<key name>:` and the sealed
//! bytes, so that each opens what the other has sealed with the same key.

mod cipher;
pub mod counts;
pub mod encryption;
pub mod error;
pub mod file;
pub mod keyring;
mod provider;
