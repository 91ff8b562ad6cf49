//! Between the value of an object and the bytes that a store keeps of it, where these are sealed.
//!
//! A store that is given a [`Sealing`] keeps what it makes of each value, and reads values through it. Memory
//! holds values as they are, so nothing of this is on the way of a read. With each state goes the
//! [`Seal`] under which it is kept, so that it is known what would be kept otherwise by now.

use std::fmt;

use bytes::Bytes;

use crate::key::{Key, ResourceName};

/// Seals and opens values.
pub trait Sealing: fmt::Debug + Send + Sync + 'static {
    /// What is to be kept of a value in place of it; none where it is kept as it is. `place` is where the
    /// store keeps it; sealed bytes cannot be opened from another place.
    fn seal(&self, key: &Key, place: &dyn fmt::Display, value: &[u8]) -> Result<Option<Sealed>, SealError>;

    /// The value of what is kept.
    fn open(&self, key: &Key, place: &dyn fmt::Display, kept: Bytes) -> Result<Opened, SealError>;

    /// Whether objects of a resource that are kept under `seal` would be kept otherwise now.
    fn is_stale(&self, resource: &ResourceName, seal: Option<Seal>) -> bool;
}

/// Tells the keys apart under which values are sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seal(pub u64);

/// What is kept of a value.
pub struct Sealed {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The key.
    pub seal: Seal,
}

/// A value, and how it was kept.
pub struct Opened {
    /// The value.
    pub value: Bytes,
    /// The key; none where it was not sealed.
    pub seal: Option<Seal>,
}

/// Why a value cannot be sealed or opened, for the operator. Says nothing of the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SealError(pub String);
