//! A provider of the file, as one entry for each of its keys.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use orch_storage::{Seal, SealError};

use crate::cipher::{Algorithm, Cipher, Failed};

/// What every sealed value begins with, whatever sealed it.
pub const SEALED: &[u8] = b"k8s:enc:";

/// A way to keep values. The first one of a resource is used for what is written; all are for what is read.
pub enum Entry {
    /// Values are kept as they are.
    Identity,
    /// Values are sealed with a key.
    Key(Key),
}

/// A key with its name.
pub struct Key {
    cipher: Cipher,
    algorithm: Algorithm,
    /// What its values begin with, with its name.
    prefix: String,
    seal: Seal,
}

impl Entry {
    /// Under what it keeps values.
    pub fn seal(&self) -> Option<Seal> {
        match self {
            Self::Identity => None,
            Self::Key(key) => Some(key.seal),
        }
    }

    /// As metrics name it.
    pub fn shown(&self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Key(key) => key.algorithm.prefix(),
        }
    }
}

impl Key {
    pub fn new(algorithm: Algorithm, name: &str, secret: &[u8]) -> Result<Self, Failed> {
        let prefix = format!("{}{name}:", algorithm.prefix());
        let known = digest(&SHA256, &[prefix.as_bytes(), secret].concat());
        let (first, _) = known.as_ref().split_first_chunk().expect("the digest has 32 bytes");
        let cipher = Cipher::new(algorithm, secret)?;
        Ok(Self { cipher, algorithm, prefix, seal: Seal(u64::from_le_bytes(*first)) })
    }

    /// What it is called in what is told to operators.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    pub fn seal(&self, place: &dyn fmt::Display, value: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut out = Vec::with_capacity(self.prefix.len() + value.len() + 64);
        out.extend(self.prefix.as_bytes());
        let failed = |_| SealError(format!("it cannot be sealed with {}", self.prefix));
        self.cipher.seal(place, value, &mut out).map_err(failed)?;
        Ok(out)
    }

    /// The value of what was sealed with a key of this name; `None` where that has another name.
    pub fn open(&self, place: &dyn fmt::Display, kept: &[u8]) -> Option<Result<Vec<u8>, SealError>> {
        let sealed = kept.strip_prefix(self.prefix.as_bytes())?;
        Some(self.cipher.open(place, sealed).map_err(|_| {
            SealError(format!(
                "the key of {} does not open it: it is another one, or the value was changed",
                self.prefix
            ))
        }))
    }
}
