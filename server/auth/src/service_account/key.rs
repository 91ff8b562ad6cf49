//! Keys of tokens: RSA with PKCS #1 and SHA-256, or ECDSA on the curves P-256, P-384 and P-521 (RFC 7518,
//! section 3.1). The kind of the key decides the algorithm.

use aws_lc_rs::{
    digest,
    encoding::{AsDer, PublicKeyX509Der},
    rand::SystemRandom,
    rsa,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED,
        ECDSA_P384_SHA384_FIXED_SIGNING, ECDSA_P521_SHA512_FIXED, ECDSA_P521_SHA512_FIXED_SIGNING,
        EcdsaKeyPair, EcdsaSigningAlgorithm, KeyPair, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256,
        RSA_PKCS1_SHA256, VerificationAlgorithm,
    },
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use rustls_pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use x509_parser::{prelude::FromDer, public_key::PublicKey as KeyNumbers, x509::SubjectPublicKeyInfo};

use crate::error::AuthError;

/// What a key of one kind signs and verifies with.
struct Scheme {
    /// The name in tokens.
    algorithm: &'static str,
    verification: &'static dyn VerificationAlgorithm,
    /// For the keys on a curve: the name of the curve (RFC 7518, section 6.2.1.1), and how they sign.
    curve: Option<(&'static str, &'static EcdsaSigningAlgorithm)>,
}

static RS256: Scheme = Scheme { algorithm: "RS256", verification: &RSA_PKCS1_2048_8192_SHA256, curve: None };
static CURVES: [Scheme; 3] = [
    Scheme {
        algorithm: "ES256",
        verification: &ECDSA_P256_SHA256_FIXED,
        curve: Some(("P-256", &ECDSA_P256_SHA256_FIXED_SIGNING)),
    },
    Scheme {
        algorithm: "ES384",
        verification: &ECDSA_P384_SHA384_FIXED,
        curve: Some(("P-384", &ECDSA_P384_SHA384_FIXED_SIGNING)),
    },
    Scheme {
        algorithm: "ES512",
        verification: &ECDSA_P521_SHA512_FIXED,
        curve: Some(("P-521", &ECDSA_P521_SHA512_FIXED_SIGNING)),
    },
];

/// The public half of a key: it verifies tokens.
#[derive(Clone)]
pub struct PublicKey {
    scheme: &'static Scheme,
    key: ParsedPublicKey,
    id: String,
    jwk: Value,
}

impl PublicKey {
    /// Reads a key in the form of X.509 (`SubjectPublicKeyInfo`, RFC 5280, section 4.1), encoded as DER.
    /// `Err` says why it cannot be used.
    pub fn from_der(der: &[u8]) -> Result<Self, &'static str> {
        let fitting = std::iter::once(&RS256)
            .chain(&CURVES)
            .find_map(|scheme| Some((scheme, ParsedPublicKey::new(scheme.verification, der).ok()?)));
        let (scheme, key) =
            fitting.ok_or("it is no RSA key, and none on the curves P-256, P-384 and P-521")?;
        let public: PublicKeyX509Der<'_> = key.as_der().map_err(|_| "it cannot be written")?;
        let id = BASE64_URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, public.as_ref()));
        let (_, info) = SubjectPublicKeyInfo::from_der(public.as_ref()).map_err(|_| "it cannot be read")?;
        let jwk = match info.parsed() {
            Ok(KeyNumbers::RSA(numbers)) => {
                let bits = 8 * without_zeros(numbers.modulus).len();
                if !(2048..=8192).contains(&bits) {
                    return Err("an RSA key needs 2048 to 8192 bits");
                }
                let [n, e] = [numbers.modulus, numbers.exponent].map(without_zeros).map(encoded);
                json!({"use": "sig", "kty": "RSA", "kid": id, "alg": scheme.algorithm, "n": n, "e": e})
            }
            Ok(KeyNumbers::EC(point)) => {
                // One byte that says how the point is written, and then the two coordinates.
                let coordinates = point.data().get(1..).unwrap_or_default();
                let (x, y) = coordinates.split_at(coordinates.len() / 2);
                let curve = scheme.curve.map(|(name, _)| name);
                let (x, y) = (encoded(x), encoded(y));
                let algorithm = scheme.algorithm;
                json!({
                    "use": "sig", "kty": "EC", "kid": id, "alg": algorithm, "crv": curve, "x": x, "y": y,
                })
            }
            _ => return Err("it cannot be read"),
        };
        Ok(Self { scheme, key, id, jwk })
    }

    /// The id of the key: the digest of its form in X.509, as the reference computes it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of the algorithm in tokens.
    pub fn algorithm(&self) -> &'static str {
        self.scheme.algorithm
    }

    /// The key as a JSON Web Key (RFC 7517).
    pub fn jwk(&self) -> &Value {
        &self.jwk
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.key.verify_sig(message, signature).is_ok()
    }
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    &number[zeros..]
}

fn encoded(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// A private key and its public half. There is no `Debug`, because it is secret.
pub struct SigningKey {
    pair: Pair,
    public: PublicKey,
}

enum Pair {
    Rsa(rsa::KeyPair),
    Ec(EcdsaKeyPair),
}

impl SigningKey {
    /// Reads a private key in any of its usual forms. `Err` says why it cannot be used.
    pub fn from_der(der: &PrivateKeyDer<'_>) -> Result<Self, &'static str> {
        let pair = match der {
            PrivateKeyDer::Pkcs1(der) => rsa::KeyPair::from_der(der.secret_pkcs1_der()).ok().map(Pair::Rsa),
            PrivateKeyDer::Sec1(der) => on_a_curve(der.secret_sec1_der()),
            PrivateKeyDer::Pkcs8(der) => {
                let der = der.secret_pkcs8_der();
                rsa::KeyPair::from_pkcs8(der).ok().map(Pair::Rsa).or_else(|| on_a_curve(der))
            }
            _ => None,
        };
        let pair = pair.ok_or("it is no RSA key, and none on the curves P-256, P-384 and P-521")?;
        let public = match &pair {
            Pair::Rsa(pair) => AsDer::<PublicKeyX509Der<'_>>::as_der(pair.public_key()),
            Pair::Ec(pair) => AsDer::<PublicKeyX509Der<'_>>::as_der(pair.public_key()),
        };
        let public = public.map_err(|_| "it has no public half")?;
        Ok(Self { pair, public: PublicKey::from_der(public.as_ref())? })
    }

    /// The public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, AuthError> {
        let random = SystemRandom::new();
        let signature = match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).map(|()| signature)
            }
            Pair::Ec(pair) => pair.sign(&random, message).map(|signature| signature.as_ref().to_vec()),
        };
        signature.map_err(|_| AuthError::Signing)
    }
}

fn on_a_curve(der: &[u8]) -> Option<Pair> {
    let mut signing = CURVES.iter().filter_map(|scheme| scheme.curve);
    signing.find_map(|(_, algorithm)| EcdsaKeyPair::from_private_key_der(algorithm, der).ok()).map(Pair::Ec)
}
