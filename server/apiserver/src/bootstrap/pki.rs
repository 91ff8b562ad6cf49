//! The server's own certificates: an authority, a serving certificate, and the administrator's.
//!
//! They are made at the first start and kept. A certificate is replaced when it ends soon, when it lacks a
//! name by which the server is reached, or when the authority has changed. A file with other content is not
//! replaced but reported: somebody has put it there.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use ::aws_lc_rs::{
    encoding::{AsDer as _, EcPrivateKeyRfc5915Der},
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair},
};
use orch_config::start_error::StartError;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, SanType,
};
use rustls::{
    RootCertStore,
    client::{verify_server_cert_signed_by_trust_anchor, verify_server_name},
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
    server::{ParsedCertificate, WebPkiClientVerifier},
    sign::CertifiedKey,
};
use x509_parser::{certificate::X509Certificate, prelude::FromDer, time::ASN1Time};

use crate::bootstrap::{
    files::{self, PRIVATE, PUBLIC},
    pem_text,
};

const DAY: Duration = Duration::from_hours(24);
/// 2020-01-01: certificates are valid from then on, in seconds since 1970. Clients would refuse one that is
/// made while the clock is ahead until they have come to that time.
const BEGIN: u64 = 1_577_836_800;
const AUTHORITY_LIFE: Duration = Duration::from_hours(24 * 3650);
const CERTIFICATE_LIFE: Duration = Duration::from_hours(24 * 365);
/// A certificate that ends sooner than this is replaced.
pub const RENEWAL: Duration = Duration::from_hours(24 * 30);

/// Whose certificate it is, and how it is checked.
#[derive(Clone, Copy)]
enum Purpose<'a> {
    /// Shown to clients that reach the server by these names.
    Serving(&'a [ServerName<'static>]),
    /// Presented by the administrator's clients.
    Administrator,
}

/// A certificate with its key, both PEM. There is no `Debug`: the key is secret.
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// The server's certificate authority.
pub struct Authority {
    directory: PathBuf,
    certificate: CertificateDer<'static>,
    pem: String,
    begin: SystemTime,
    end: SystemTime,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// Reads the authority of a directory, or makes one.
    pub fn ensure(directory: &Path, now: SystemTime) -> Result<Self, StartError> {
        files::create_directory(directory)?;
        if let Some(authority) = Self::read(directory)? {
            if authority.end >= now + RENEWAL {
                if authority.begin > now {
                    tracing::error!(
                        "the certificate authority is not valid yet, so no client accepts it: set the clock, or \
                         remove ca.crt and ca.key to have both made anew"
                    );
                }
                return Ok(authority);
            }
            tracing::warn!(
                "the certificate authority ends soon; making a new one: clients need the new kubeconfig"
            );
        }
        Self::make(directory, now)
    }

    /// The authority's certificate as a file, for clients and for authentication.
    pub fn file(&self) -> PathBuf {
        self.directory.join("ca.crt")
    }

    /// Where the certificates are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The authority's certificate, PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The serving certificate for clients that reach the server by one of `names`.
    pub fn serving(&self, names: &[ServerName<'static>], now: SystemTime) -> Result<Identity, StartError> {
        self.identity("serving", Purpose::Serving(names), now)
    }

    /// The administrator's certificate.
    pub fn administrator(&self, now: SystemTime) -> Result<Identity, StartError> {
        self.identity("admin", Purpose::Administrator, now)
    }

    fn read(directory: &Path) -> Result<Option<Self>, StartError> {
        let (certificate_file, key_file) = (directory.join("ca.crt"), directory.join("ca.key"));
        let (Some(pem), key) = (files::read(&certificate_file)?, files::read(&key_file)?) else {
            return Ok(None);
        };
        let Some(key) = key else {
            return Err(fault(
                &key_file,
                "is missing; restore it, or remove ca.crt too to have both made anew",
            ));
        };
        let certificate = parse_certificate(&certificate_file, &pem)?;
        let key_pair =
            KeyPair::from_pem(&key).map_err(|_| fault(&key_file, "is not a private key in PEM"))?;
        let (_, parsed) = X509Certificate::from_der(&certificate)
            .map_err(|error| fault(&certificate_file, &format!("is not a certificate: {error}")))?;
        if parsed.public_key().subject_public_key.data != key_pair.public_key_raw() {
            return Err(fault(&key_file, "does not belong to ca.crt; restore the right one, or remove both"));
        }
        let time = |time: ASN1Time| {
            let seconds = u64::try_from(time.timestamp()).unwrap_or(0);
            SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
        };
        let validity = parsed.validity();
        let (begin, end) = (time(validity.not_before), time(validity.not_after));
        let issuer = Issuer::from_ca_cert_der(&certificate, key_pair)
            .map_err(|error| fault(&certificate_file, &format!("cannot issue certificates: {error}")))?;
        Ok(Some(Self { directory: directory.to_owned(), begin, end, certificate, pem, issuer }))
    }

    fn make(directory: &Path, now: SystemTime) -> Result<Self, StartError> {
        let end = now + AUTHORITY_LIFE;
        let mut params = params("orch-ca", now, end);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        let made = KeyPair::generate().and_then(|key| Ok((params.self_signed(&key)?, key)));
        let (certificate, key) = made.map_err(|error| cannot_make("ca", &error))?;
        // The key first: a key without a certificate is replaced at the next start, a certificate without its
        // key is an error.
        files::write(&directory.join("ca.key"), &key.serialize_pem(), PRIVATE)?;
        files::write(&directory.join("ca.crt"), &certificate.pem(), PUBLIC)?;
        tracing::info!(directory = %directory.display(), "made a certificate authority");
        Ok(Self {
            directory: directory.to_owned(),
            certificate: certificate.der().clone(),
            pem: certificate.pem(),
            begin: params.not_before.into(),
            end,
            issuer: Issuer::new(params, key),
        })
    }

    fn identity(&self, name: &str, purpose: Purpose<'_>, now: SystemTime) -> Result<Identity, StartError> {
        let certificate_file = self.directory.join(name).with_added_extension("crt");
        let key_file = self.directory.join(name).with_added_extension("key");
        if let (Some(certificate), Some(key)) = (files::read(&certificate_file)?, files::read(&key_file)?) {
            let parsed = parse_certificate(&certificate_file, &certificate)?;
            let parsed_key = parse_key(&key_file, &key)?;
            match self.check(parsed, parsed_key, purpose, now + RENEWAL) {
                Ok(()) => return Ok(Identity { certificate, key }),
                Err(reason) => tracing::info!(certificate = name, %reason, "making a new certificate"),
            }
        }
        let identity = self.issue(purpose, now).map_err(|error| cannot_make(name, &error))?;
        files::write(&key_file, &identity.key, PRIVATE)?;
        files::write(&certificate_file, &identity.certificate, PUBLIC)?;
        Ok(identity)
    }

    /// Checks that a certificate is valid at `time`.
    fn check(
        &self,
        certificate: CertificateDer<'static>,
        key: PrivateKeyDer<'static>,
        purpose: Purpose<'_>,
        time: SystemTime,
    ) -> Result<(), rustls::Error> {
        let provider = aws_lc_rs::default_provider();
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone())?;
        let since_epoch = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let time = UnixTime::since_unix_epoch(since_epoch);
        match purpose {
            Purpose::Serving(names) => {
                let parsed = ParsedCertificate::try_from(&certificate)?;
                let algorithms = provider.signature_verification_algorithms.all;
                verify_server_cert_signed_by_trust_anchor(&parsed, &roots, &[], time, algorithms)?;
                names.iter().try_for_each(|name| verify_server_name(&parsed, name))?;
            }
            Purpose::Administrator => {
                check_client_certificate(&certificate, roots, time, provider.clone())?;
            }
        }
        CertifiedKey::from_der(vec![certificate], key, &provider).map(drop)
    }

    fn issue(&self, purpose: Purpose<'_>, now: SystemTime) -> Result<Identity, rcgen::Error> {
        let end = self.end.min(now + CERTIFICATE_LIFE);
        let mut params = match purpose {
            Purpose::Serving(_) => params("orch-apiserver", now, end),
            Purpose::Administrator => params("admin", now, end),
        };
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        match purpose {
            Purpose::Serving(names) => {
                params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
                params.subject_alt_names = names.iter().map(alternative_name).collect::<Result<_, _>>()?;
            }
            Purpose::Administrator => {
                params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
                params.distinguished_name.push(DnType::OrganizationName, orch_auth::user::GROUP_MASTERS);
            }
        }
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let key = match purpose {
            Purpose::Serving(_) => key.serialize_pem(),
            Purpose::Administrator => sec1(&key)?,
        };
        Ok(Identity { certificate: certificate.pem(), key })
    }
}

/// The text of a key in the form that is for keys on curves only (SEC 1). Every client library reads it;
/// `fabric8`, which most Java programs use, reads no other for such a key.
fn sec1(key: &KeyPair) -> Result<String, rcgen::Error> {
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.serialized_der());
    let pair = pair.map_err(|_| rcgen::Error::CouldNotParseKeyPair)?;
    let der: EcPrivateKeyRfc5915Der<'_> =
        pair.private_key().as_der().map_err(|_| rcgen::Error::CouldNotParseKeyPair)?;
    Ok(pem_text::of("EC PRIVATE KEY", der.as_ref()))
}

fn check_client_certificate(
    certificate: &CertificateDer<'_>,
    roots: RootCertStore,
    time: UnixTime,
    provider: CryptoProvider,
) -> Result<(), rustls::Error> {
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(provider))
        .build()
        .map_err(|error| rustls::Error::General(error.to_string()))?
        .verify_client_cert(certificate, &[], time)
        .map(drop)
}

/// The first certificate of a PEM text.
pub fn parse_certificate(file: &Path, pem: &str) -> Result<CertificateDer<'static>, StartError> {
    CertificateDer::from_pem_slice(pem.as_bytes())
        .map_err(|error| fault(file, &format!("holds no certificate: {error}")))
}

/// The first private key of a PEM text.
pub fn parse_key(file: &Path, pem: &str) -> Result<PrivateKeyDer<'static>, StartError> {
    PrivateKeyDer::from_pem_slice(pem.as_bytes())
        .map_err(|error| fault(file, &format!("holds no private key: {error}")))
}

fn params(common_name: &str, now: SystemTime, end: SystemTime) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    // The clocks of other machines may be slow.
    params.not_before = (now - DAY).min(SystemTime::UNIX_EPOCH + Duration::from_secs(BEGIN)).into();
    params.not_after = end.into();
    params
}

fn alternative_name(name: &ServerName<'static>) -> Result<SanType, rcgen::Error> {
    Ok(match name {
        ServerName::IpAddress(address) => SanType::IpAddress(std::net::IpAddr::from(*address)),
        name => SanType::DnsName(name.to_str().into_owned().try_into()?),
    })
}

fn fault(file: &Path, problem: &str) -> StartError {
    StartError::configuration(file.display(), problem)
}

fn cannot_make(name: &str, error: &rcgen::Error) -> StartError {
    StartError::Runtime(format!("cannot make the certificate {name}: {error}"))
}

#[cfg(test)]
mod tests;
