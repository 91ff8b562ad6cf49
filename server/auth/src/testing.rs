//! Certificates for the tests of this crate.

use std::{
    io::Write,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, Issuer, KeyPair,
};
use rustls_pki_types::CertificateDer;

/// All test certificates are valid from here (seconds since 1970) ...
pub const START: u64 = 1_700_000_000;
/// ... to here.
pub const END: u64 = 1_800_000_000;

/// The time so many seconds after 1970 began.
pub fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// A time at which all test certificates are valid.
pub fn now() -> SystemTime {
    at(START.midpoint(END))
}

/// A certificate authority.
pub struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let (params, key) = (authority_params(name), KeyPair::generate().unwrap());
        Self { certificate: params.self_signed(&key).unwrap(), issuer: Issuer::new(params, key) }
    }

    /// An authority below this one.
    pub fn intermediate(&self, name: &str) -> Self {
        let (params, key) = (authority_params(name), KeyPair::generate().unwrap());
        Self { certificate: params.signed_by(&key, &self.issuer).unwrap(), issuer: Issuer::new(params, key) }
    }

    pub fn der(&self) -> CertificateDer<'static> {
        self.certificate.der().clone()
    }

    /// A PEM file with this authority's certificate. It is deleted when the guard is dropped.
    pub fn file(&self) -> (tempfile::TempPath, PathBuf) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(self.certificate.pem().as_bytes()).unwrap();
        let path = file.path().to_owned();
        (file.into_temp_path(), path)
    }

    /// A client certificate; `change` adjusts its parameters.
    pub fn issue(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> CertificateDer<'static> {
        let mut params = params(name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        change(&mut params);
        params.signed_by(&KeyPair::generate().unwrap(), &self.issuer).unwrap().der().clone()
    }
}

fn authority_params(name: &str) -> CertificateParams {
    let mut params = params(name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = at(START).into();
    params.not_after = at(END).into();
    params
}
