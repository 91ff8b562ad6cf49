//! The serving certificate, which is the operator's or one from the server's own authority, and the server's
//! URL.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
    sync::Arc,
    time::SystemTime,
};

use orch_config::{ExternalName, ServingConfig, TlsFiles, start_error::StartError};
use orch_listener::tls;
use rustls::{
    Error, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem, pem::PemObject},
};
use x509_parser::{certificate::X509Certificate, prelude::FromDer};

use crate::bootstrap::{
    pem_text,
    pki::{self, Authority},
};

/// The serving certificate, and what clients need to trust it.
pub struct ServingCertificate {
    /// The certificate and the settings of TLS.
    pub tls: Arc<ServerConfig>,
    /// PEM of the authority that clients need to trust; without one, the authorities of their system are
    /// enough.
    pub authority: Option<String>,
}

impl ServingCertificate {
    /// Reads the operator's files, or makes sure that there is a generated certificate with every name by
    /// which the server may be reached.
    pub fn load(config: &ServingConfig, authority: &Authority, now: SystemTime) -> Result<Self, StartError> {
        if let Some(files) = &config.tls_files {
            return from_files(files);
        }
        let identity = authority.serving(&names(config), now)?;
        let directory = authority.directory();
        let chain = vec![pki::parse_certificate(directory, &identity.certificate)?];
        let tls = tls::server_config(chain, pki::parse_key(directory, &identity.key)?).map_err(|error| {
            StartError::Runtime(format!("cannot serve the generated certificate: {error}"))
        })?;
        Ok(Self { tls, authority: Some(authority.pem().to_owned()) })
    }
}

/// The URL by which clients on this machine, or everywhere if an external name is configured, reach the
/// server.
pub fn url(address: SocketAddr, external: Option<&ExternalName>) -> String {
    let port = external.and_then(|external| external.port).unwrap_or(address.port());
    match external.map(|external| (&external.host, external.host.parse())) {
        Some((_, Ok(ip))) => format!("https://{}", SocketAddr::new(ip, port)),
        Some((host, Err(_))) => format!("https://{host}:{port}"),
        None => {
            let ip = match address.ip() {
                IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
                IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
                ip => ip,
            };
            format!("https://{}", SocketAddr::new(ip, port))
        }
    }
}

/// Every name by which the server may be reached, as far as it is known.
fn names(config: &ServingConfig) -> Vec<ServerName<'static>> {
    let mut names: Vec<_> = ["localhost", "127.0.0.1", "::1"]
        .into_iter()
        .map(|name| ServerName::try_from(name).expect("these are names and addresses"))
        .collect();
    let address = config.address.ip();
    let address = (!address.is_unspecified()).then(|| ServerName::from(address));
    let external = config.external_hostname.as_ref().map(|external| external.host.clone());
    let known = [host_name(), external];
    let known = known.into_iter().flatten().filter_map(|name| ServerName::try_from(name).ok());
    for name in address.into_iter().chain(known) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The machine's name, on systems that have it in a file.
pub fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_ascii_lowercase())
}

fn from_files(files: &TlsFiles) -> Result<ServingCertificate, StartError> {
    const CERTIFICATE: &str = "--tls-cert-file";
    const KEY: &str = "--tls-private-key-file";
    let chain = read_pem(&files.certificate)
        .and_then(|pem| CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>())
        .map_err(|error| file_fault(CERTIFICATE, &files.certificate, &error))?;
    if chain.is_empty() {
        return Err(file_fault(CERTIFICATE, &files.certificate, &pem::Error::NoItemsFound));
    }
    let key = read_pem(&files.private_key)
        .and_then(|pem| PrivateKeyDer::from_pem_slice(&pem))
        .map_err(|error| file_fault(KEY, &files.private_key, &error))?;
    let authority = anchor(&chain).map(|certificate| pem_text::of("CERTIFICATE", certificate));
    let tls = tls::server_config(chain, key).map_err(|error| match error {
        Error::InconsistentKeys(_) => StartError::configuration(KEY, "does not belong to --tls-cert-file"),
        error => StartError::configuration(CERTIFICATE, format_args!("cannot be served: {error}")),
    })?;
    Ok(ServingCertificate { tls, authority })
}

fn read_pem(path: &Path) -> Result<Vec<u8>, pem::Error> {
    orch_settings::read(path).map_err(pem::Error::Io)
}

fn file_fault(flag: &str, path: &Path, error: &pem::Error) -> StartError {
    let path = path.display();
    match error {
        pem::Error::Io(error) => StartError::configuration(flag, format_args!("cannot read {path}: {error}")),
        pem::Error::NoItemsFound => {
            StartError::configuration(flag, format_args!("{path} holds nothing of the kind in PEM"))
        }
        error => StartError::configuration(flag, format_args!("{path} is not valid PEM: {error}")),
    }
}

/// The certificate that a client must trust to accept the chain: the last one, unless the chain is only the
/// server's certificate and its issuer is not in the file.
fn anchor<'c>(chain: &'c [CertificateDer<'static>]) -> Option<&'c CertificateDer<'static>> {
    let last = chain.last()?;
    let (_, parsed) = X509Certificate::from_der(last).ok()?;
    (chain.len() > 1 || parsed.issuer() == parsed.subject()).then_some(last)
}

#[cfg(test)]
mod tests;
