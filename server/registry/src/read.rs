//! Reading: which version of the store a read shows, and which objects it selects.

pub mod index;
pub mod label_digest;
pub mod selection;
pub mod version;
