//! Operators' certificates, and names and URLs of the server.

use std::{fs, time::SystemTime};

use orch_config::{Invocation, ServingConfig, start_error::StartError};
use orch_test_catalog::ORCH;
use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::ServerName;

use super::{ServingCertificate, names, url};
use crate::bootstrap::pki::Authority;

fn config(flags: &[&str]) -> ServingConfig {
    match orch_config::parse(["server"].iter().chain(flags), &[&ORCH]) {
        Ok(Invocation::Serve(config)) => config.serving,
        other => panic!("{other:?}"),
    }
}

/// Loads a certificate that was made elsewhere, from files with this content.
fn load(certificates: &str, key: &str) -> Result<ServingCertificate, StartError> {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = directory.path().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (certificates, key) = (file("tls.crt", certificates), file("tls.key", key));
    let config = config(&["--tls-cert-file", &certificates, "--tls-private-key-file", &key]);
    let now = SystemTime::now();
    let authority = Authority::ensure(&directory.path().join("pki"), now).unwrap();
    ServingCertificate::load(&config, &authority, now)
}

struct Made {
    issuer: Issuer<'static, KeyPair>,
    issuer_pem: String,
    leaf: Certificate,
    key: String,
}

/// An operator's authority and a certificate of it.
fn made() -> Made {
    let (mut params, key) = (CertificateParams::default(), KeyPair::generate().unwrap());
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer_pem = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["api.example.com".to_owned()]).unwrap();
    params.distinguished_name.push(rcgen::DnType::CommonName, "api.example.com");
    let leaf = params.signed_by(&key, &issuer).unwrap();
    Made { issuer, issuer_pem, leaf, key: key.serialize_pem() }
}

#[test]
fn clients_trust_what_leads_to_the_certificate() {
    let made = made();
    let leaf = made.leaf.pem();
    // Nobody in the file vouches for it: the client's system must.
    assert_eq!(load(&leaf, &made.key).unwrap().authority, None);

    let chain = format!("{leaf}{}", made.issuer_pem);
    let unified = |pem: &str| pem.replace('\r', "");
    let trusted = load(&chain, &made.key).unwrap().authority.unwrap();
    assert_eq!(unified(&trusted), unified(&made.issuer_pem));

    let own_key = KeyPair::generate().unwrap();
    let self_signed =
        CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&own_key).unwrap().pem();
    let trusted = load(&self_signed, &own_key.serialize_pem()).unwrap().authority.unwrap();
    assert_eq!(unified(&trusted), unified(&self_signed));
}

#[test]
fn files_that_are_no_use_are_named_with_their_flag() {
    let made = made();
    let other_key = KeyPair::generate().unwrap().serialize_pem();
    let (leaf, key) = (made.leaf.pem(), made.key.as_str());
    assert_ne!(made.issuer.key().serialize_pem(), made.key);
    for (certificates, key, flag, expected) in [
        ("", key, "--tls-cert-file: ", "tls.crt holds nothing of the kind in PEM"),
        (key, key, "--tls-cert-file: ", "tls.crt holds nothing of the kind in PEM"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n", key, "--tls-cert-file: ", "tls.crt is not valid PEM"),
        (&leaf, "", "--tls-private-key-file: ", "tls.key holds nothing of the kind in PEM"),
        (&leaf, &other_key, "--tls-private-key-file: ", "does not belong to --tls-cert-file"),
    ] {
        let error = load(certificates, key).err().expect("must be refused").to_string();
        assert!(error.starts_with(flag) && error.contains(expected), "{error}");
    }

    let config = config(&["--tls-cert-file=no/such.crt", "--tls-private-key-file=no/such.key"]);
    let directory = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    let authority = Authority::ensure(directory.path(), now).unwrap();
    let error = ServingCertificate::load(&config, &authority, now).err().unwrap().to_string();
    assert!(error.starts_with("--tls-cert-file: cannot read no/such.crt: "), "{error}");
}

#[test]
fn a_generated_certificate_covers_the_names_of_the_server() {
    let contains = |flags: &[&str], name: &'static str| {
        names(&config(flags)).contains(&ServerName::try_from(name).unwrap())
    };
    for name in ["localhost", "127.0.0.1", "::1"] {
        assert!(contains(&["--bind-address=0.0.0.0"], name), "{name}");
    }
    assert!(contains(&["--bind-address=192.0.2.7"], "192.0.2.7"));
    assert!(!contains(&["--bind-address=0.0.0.0"], "0.0.0.0"));
    assert!(contains(&["--external-hostname=api.example.com"], "api.example.com"));
    assert!(contains(&["--external-hostname=api.example.com:443"], "api.example.com"));

    let names = names(&config(&["--bind-address=::1", "--external-hostname=localhost"]));
    let distinct: std::collections::HashSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
}

#[test]
fn the_url_is_one_that_clients_can_use() {
    for (address, external, expected) in [
        ("127.0.0.1:6443", None, "https://127.0.0.1:6443"),
        ("0.0.0.0:6443", None, "https://127.0.0.1:6443"),
        ("[::]:6443", None, "https://[::1]:6443"),
        ("192.0.2.7:1", None, "https://192.0.2.7:1"),
        ("127.0.0.1:6443", Some("api.example.com"), "https://api.example.com:6443"),
        ("127.0.0.1:6443", Some("2001:db8::7"), "https://[2001:db8::7]:6443"),
        ("127.0.0.1:6443", Some("api.example.com:443"), "https://api.example.com:443"),
        ("127.0.0.1:6443", Some("192.0.2.7:443"), "https://192.0.2.7:443"),
        ("127.0.0.1:6443", Some("[2001:db8::7]:443"), "https://[2001:db8::7]:443"),
    ] {
        let flag = external.map(|external| format!("--external-hostname={external}"));
        let config = config(flag.as_deref().as_slice());
        assert_eq!(url(address.parse().unwrap(), config.external_hostname.as_ref()), expected);
    }
}
