//! AES in the mode GCM (NIST SP 800-38D): a nonce of 12 bytes, the sealed value, a tag of 16 bytes. The place
//! of the value is authenticated with it.

use aws_lc_rs::aead::{
    AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey,
};

use super::{Failed, random};

pub struct AesGcm(LessSafeKey);

impl AesGcm {
    pub fn new(key: &[u8]) -> Result<Self, Failed> {
        let algorithm = match key.len() {
            16 => &AES_128_GCM,
            24 => &AES_192_GCM,
            32 => &AES_256_GCM,
            _ => return Err(Failed),
        };
        Ok(Self(LessSafeKey::new(UnboundKey::new(algorithm, key)?)))
    }

    pub fn seal(&self, place: &[u8], value: &[u8], out: &mut Vec<u8>) -> Result<(), Failed> {
        let nonce: [u8; NONCE_LEN] = random()?;
        out.extend(nonce);
        let begin = out.len();
        out.extend(value);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self.0.seal_in_place_separate_tag(nonce, Aad::from(place), &mut out[begin..])?;
        out.extend(tag.as_ref());
        Ok(())
    }

    pub fn open(&self, place: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Failed> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(Failed)?;
        let mut text = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let length = self.0.open_in_place(nonce, Aad::from(place), &mut text)?.len();
        text.truncate(length);
        Ok(text)
    }
}
