//! The key that signs tokens: ECDSA on the curve P-256 with SHA-256, `ES256`.

use aws_lc_rs::{
    digest,
    encoding::{AsDer, PublicKeyX509Der},
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey,
    },
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};

use crate::error::AuthError;

/// A key pair and its id. There is no `Debug`, because it is secret.
pub struct SigningKey {
    pair: EcdsaKeyPair,
    id: String,
}

impl SigningKey {
    /// The name of the algorithm in tokens.
    pub const ALGORITHM: &str = "ES256";

    /// Reads a key in PKCS #8 form, encoded as DER.
    ///
    /// # Errors
    /// If it is not a private key on the curve P-256.
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, AuthError> {
        let unusable = |_| AuthError::SigningKey { problem: "it is no private key on the curve P-256" };
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der)
            .map_err(|_| AuthError::SigningKey { problem: "it is no private key on the curve P-256" })?;
        let public: PublicKeyX509Der<'_> = pair.public_key().as_der().map_err(unusable)?;
        let id = BASE64_URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, public.as_ref()));
        Ok(Self { pair, id })
    }

    /// The id of the key: the digest of its public half.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, AuthError> {
        let signature = self.pair.sign(&SystemRandom::new(), message);
        let signature = signature.map_err(|_| AuthError::SigningKey { problem: "it cannot sign" })?;
        Ok(signature.as_ref().to_vec())
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.pair.public_key().as_ref());
        public.verify(message, signature).is_ok()
    }
}
