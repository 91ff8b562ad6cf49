//! The algorithms of signatures that tokens may have (RFC 7518, section 3.1), without shared secrets.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ECDSA_P521_SHA512_FIXED, EcdsaVerificationAlgorithm,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters,
};

/// An algorithm, with its key in the form of a JSON Web Key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Algorithm(usize);

/// What verifies a signature.
pub(super) enum Scheme {
    /// With a key of the type `RSA`.
    Rsa(&'static RsaParameters),
    /// With a key of the type `EC` on this curve.
    Ec(&'static str, &'static EcdsaVerificationAlgorithm),
}

const TABLE: &[(&str, Scheme)] = &[
    ("RS256", Scheme::Rsa(&RSA_PKCS1_2048_8192_SHA256)),
    ("RS384", Scheme::Rsa(&RSA_PKCS1_2048_8192_SHA384)),
    ("RS512", Scheme::Rsa(&RSA_PKCS1_2048_8192_SHA512)),
    ("ES256", Scheme::Ec("P-256", &ECDSA_P256_SHA256_FIXED)),
    ("ES384", Scheme::Ec("P-384", &ECDSA_P384_SHA384_FIXED)),
    ("ES512", Scheme::Ec("P-521", &ECDSA_P521_SHA512_FIXED)),
    ("PS256", Scheme::Rsa(&RSA_PSS_2048_8192_SHA256)),
    ("PS384", Scheme::Rsa(&RSA_PSS_2048_8192_SHA384)),
    ("PS512", Scheme::Rsa(&RSA_PSS_2048_8192_SHA512)),
];

impl Algorithm {
    /// The algorithm that issuers use unless they say otherwise.
    pub const RS256: Algorithm = Algorithm(0);

    /// All algorithms.
    pub fn all() -> impl Iterator<Item = Algorithm> {
        (0..TABLE.len()).map(Algorithm)
    }

    /// The algorithm of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::all().find(|algorithm| algorithm.name() == name)
    }

    /// The name in tokens.
    pub fn name(self) -> &'static str {
        TABLE[self.0].0
    }

    pub(super) fn scheme(self) -> &'static Scheme {
        &TABLE[self.0].1
    }
}
