//! A certificate authority of a test, and clients with its certificates.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

use crate::{
    Client, TestServer,
    client::{Identity, Protocol, tls_config},
};

/// The attribute of a subject that states the uid of a user.
const UID: [u64; 8] = [1, 3, 6, 1, 4, 1, 57683, 2];

/// An authority that issues client certificates.
pub struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// A new one.
    pub fn new(name: &str) -> Self {
        let key = KeyPair::generate().expect("a key can be made");
        let mut params = params(name, None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("a certificate can be made").pem();
        Authority { pem, issuer: Issuer::new(params, key) }
    }

    /// Its certificate, PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Writes its certificate into a file of the directory.
    pub fn write(&self, directory: &Path, name: &str) -> PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, &self.pem).expect("the file can be written");
        path
    }

    /// A client of the server with a certificate of this common name and organisation.
    pub fn client(&self, server: &TestServer, name: &str, group: Option<&str>) -> Client {
        self.client_for(server, name, group, Duration::from_hours(1))
    }

    /// The same, with a certificate that ends so soon.
    pub fn client_for(&self, server: &TestServer, name: &str, group: Option<&str>, life: Duration) -> Client {
        client(server, &self.pair(name, group, life))
    }

    /// A client of the server with a certificate of this common name and uid.
    pub fn client_with_uid(&self, server: &TestServer, name: &str, uid: &str) -> Client {
        let mut params = params(name, None);
        params.distinguished_name.push(DnType::CustomDnType(UID.to_vec()), uid);
        client(server, &self.signed(params, Duration::from_hours(1)))
    }

    /// A client certificate that ends so soon, and its key, both PEM.
    pub fn pair(&self, name: &str, group: Option<&str>, life: Duration) -> (String, String) {
        self.signed(params(name, group), life)
    }

    fn signed(&self, mut params: CertificateParams, life: Duration) -> (String, String) {
        let key = KeyPair::generate().expect("a key can be made");
        params.not_after = (SystemTime::now() + life).into();
        params.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth);
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate can be made").pem();
        (certificate, key.serialize_pem())
    }

    /// The certificate of a server at this host, which may show it as a client too, and its key, both PEM.
    pub fn server_pair(&self, host: &str) -> (String, String) {
        let key = KeyPair::generate().expect("a key can be made");
        let mut params = CertificateParams::new(vec![host.to_owned()]).expect("it is a name");
        params.distinguished_name.push(DnType::CommonName, host);
        let usages = [ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.extended_key_usages.extend(usages);
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate can be made").pem();
        (certificate, key.serialize_pem())
    }
}

fn client(server: &TestServer, (certificate, key): &(String, String)) -> Client {
    let identity = Identity { certificate: certificate.as_bytes(), key: key.as_bytes() };
    let tls = tls_config(&server.kubeconfig().certificate_authority, Some(identity), Protocol::Http1);
    Client::new(server.address(), tls, Protocol::Http1)
}

fn params(name: &str, group: Option<&str>) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    if let Some(group) = group {
        params.distinguished_name.push(DnType::OrganizationName, group);
    }
    params
}
