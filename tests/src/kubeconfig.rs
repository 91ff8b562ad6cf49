//! Reads the admin kubeconfig that the server writes.
//!
//! Not a YAML reader: it finds `key: value` lines. That the file is good YAML is shown by kubectl and
//! kube-rs, which read it too.

use std::path::Path;

use base64::{Engine, prelude::BASE64_STANDARD};

/// What a client needs to reach the server as its administrator.
#[derive(Clone, Debug)]
pub struct Kubeconfig {
    /// `https://127.0.0.1:6443`.
    pub server: String,
    /// The authority of the server's certificate, in PEM.
    pub certificate_authority: Vec<u8>,
    /// The administrator's certificate, in PEM.
    pub client_certificate: Vec<u8>,
    /// Its key, in PEM.
    pub client_key: Vec<u8>,
}

impl Kubeconfig {
    /// Reads the file.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("no kubeconfig at {}: {error}", path.display()));
        Kubeconfig {
            server: value(&text, "server").to_owned(),
            certificate_authority: decoded(&text, "certificate-authority-data"),
            client_certificate: decoded(&text, "client-certificate-data"),
            client_key: decoded(&text, "client-key-data"),
        }
    }
}

fn value<'t>(text: &'t str, key: &str) -> &'t str {
    text.lines()
        .find_map(|line| line.trim_start_matches(['-', ' ']).strip_prefix(key)?.strip_prefix(':'))
        .unwrap_or_else(|| panic!("the kubeconfig has no {key}:\n{text}"))
        .trim()
        .trim_matches('"')
}

fn decoded(text: &str, key: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(value(text, key)).unwrap_or_else(|error| panic!("{key} is no base64: {error}"))
}
