//! The algorithms: what a key makes of a value, and how it is opened.
//!
//! Sealed bytes begin with what was chosen at random for them. Each file is one algorithm and says its form.

mod aes_cbc;
mod aes_gcm;
mod secretbox;

use aws_lc_rs::{error::Unspecified, rand};

use self::{aes_cbc::AesCbc, aes_gcm::AesGcm, secretbox::Secretbox};

/// An algorithm with its key.
pub enum Cipher {
    AesGcm(AesGcm),
    AesCbc(Box<AesCbc>),
    Secretbox(Secretbox),
}

/// Which algorithm a provider of the file uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    AesGcm,
    AesCbc,
    Secretbox,
}

/// The value cannot be sealed or opened. That is all that may be known.
#[derive(Debug)]
pub struct Failed;

impl From<Unspecified> for Failed {
    fn from(_: Unspecified) -> Self {
        Failed
    }
}

impl Algorithm {
    /// What its sealed values begin with, before the name of the key.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::AesGcm => "k8s:enc:aesgcm:v1:",
            Self::AesCbc => "k8s:enc:aescbc:v1:",
            Self::Secretbox => "k8s:enc:secretbox:v1:",
        }
    }

    /// The lengths that a key may have, in bytes.
    pub fn key_lengths(self) -> &'static [usize] {
        match self {
            Self::AesGcm | Self::AesCbc => &[16, 24, 32],
            Self::Secretbox => &[32],
        }
    }
}

impl Cipher {
    /// The key must have one of the lengths of the algorithm.
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, Failed> {
        Ok(match algorithm {
            Algorithm::AesGcm => Self::AesGcm(AesGcm::new(key)?),
            Algorithm::AesCbc => Self::AesCbc(Box::new(AesCbc::new(key)?)),
            Algorithm::Secretbox => Self::Secretbox(Secretbox::new(key)?),
        })
    }

    /// Appends the sealed form of a value. `place` is where it is kept.
    pub fn seal(&self, place: &dyn std::fmt::Display, value: &[u8], out: &mut Vec<u8>) -> Result<(), Failed> {
        match self {
            Self::AesGcm(cipher) => cipher.seal(place.to_string().as_bytes(), value, out),
            Self::AesCbc(cipher) => cipher.seal(value, out),
            Self::Secretbox(cipher) => cipher.seal(value, out),
        }
    }

    /// The value of a sealed form.
    pub fn open(&self, place: &dyn std::fmt::Display, sealed: &[u8]) -> Result<Vec<u8>, Failed> {
        match self {
            Self::AesGcm(cipher) => cipher.open(place.to_string().as_bytes(), sealed),
            Self::AesCbc(cipher) => cipher.open(sealed),
            Self::Secretbox(cipher) => cipher.open(sealed),
        }
    }
}

/// Bytes from the system's source of randomness.
fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], Failed> {
    let mut bytes = [0; LENGTH];
    rand::fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
