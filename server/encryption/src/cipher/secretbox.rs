//! `XSalsa20` and `Poly1305` as the `secretbox` of `NaCl` joins them: a nonce of 24 bytes, a tag of 16 bytes,
//! the sealed value.

use crypto_secretbox::{KeyInit, Nonce, XSalsa20Poly1305, aead::Aead};

use super::{Failed, random};

const NONCE: usize = XSalsa20Poly1305::NONCE_SIZE;

pub struct Secretbox(XSalsa20Poly1305);

impl Secretbox {
    pub fn new(key: &[u8]) -> Result<Self, Failed> {
        XSalsa20Poly1305::new_from_slice(key).map(Self).map_err(|_| Failed)
    }

    pub fn seal(&self, value: &[u8], out: &mut Vec<u8>) -> Result<(), Failed> {
        let nonce: [u8; NONCE] = random()?;
        out.extend(nonce);
        out.extend(self.0.encrypt(Nonce::from_slice(&nonce), value).map_err(|_| Failed)?);
        Ok(())
    }

    pub fn open(&self, sealed: &[u8]) -> Result<Vec<u8>, Failed> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>().ok_or(Failed)?;
        self.0.decrypt(Nonce::from_slice(nonce), sealed).map_err(|_| Failed)
    }
}
