//! AES in the mode CBC (NIST SP 800-38A): a first block of 16 bytes at random, then the value, filled up as
//! PKCS#7 says.
//!
//! The mode authenticates nothing: another key opens one value in 256 as noise, and so may a changed text. So
//! what comes out has to be what servers store: JSON or protobuf of an object.

use aws_lc_rs::{
    cipher::{
        AES_128, AES_192, AES_256, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey,
        PaddedBlockEncryptingKey, UnboundCipherKey,
    },
    iv::FixedLength,
};

use super::{Failed, random};

const BLOCK: usize = 16;
/// What stored protobuf begins with.
const PROTOBUF: &[u8] = b"k8s\0";

pub struct AesCbc {
    seal: PaddedBlockEncryptingKey,
    open: PaddedBlockDecryptingKey,
}

impl AesCbc {
    pub fn new(key: &[u8]) -> Result<Self, Failed> {
        let algorithm = match key.len() {
            16 => &AES_128,
            24 => &AES_192,
            32 => &AES_256,
            _ => return Err(Failed),
        };
        Ok(Self {
            seal: PaddedBlockEncryptingKey::cbc_pkcs7(UnboundCipherKey::new(algorithm, key)?)?,
            open: PaddedBlockDecryptingKey::cbc_pkcs7(UnboundCipherKey::new(algorithm, key)?)?,
        })
    }

    pub fn seal(&self, value: &[u8], out: &mut Vec<u8>) -> Result<(), Failed> {
        let first: [u8; BLOCK] = random()?;
        out.extend(first);
        let mut text = value.to_vec();
        self.seal.less_safe_encrypt(&mut text, EncryptionContext::Iv128(FixedLength::from(first)))?;
        out.extend(text);
        Ok(())
    }

    pub fn open(&self, sealed: &[u8]) -> Result<Vec<u8>, Failed> {
        let text = self.decrypt(sealed)?;
        let is_json = text.starts_with(b"{") && str::from_utf8(&text).is_ok();
        if is_json || text.starts_with(PROTOBUF) { Ok(text) } else { Err(Failed) }
    }

    /// The text of a sealed value, whatever it is.
    pub(super) fn decrypt(&self, sealed: &[u8]) -> Result<Vec<u8>, Failed> {
        let (first, sealed) = sealed.split_first_chunk::<BLOCK>().ok_or(Failed)?;
        if sealed.is_empty() || !sealed.len().is_multiple_of(BLOCK) {
            return Err(Failed);
        }
        let mut text = sealed.to_vec();
        let context = DecryptionContext::Iv128(FixedLength::from(*first));
        let length = self.open.decrypt(&mut text, context)?.len();
        text.truncate(length);
        Ok(text)
    }
}
