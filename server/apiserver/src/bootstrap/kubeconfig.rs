//! The administrator's kubeconfig: one file with everything that a client needs.

use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    bootstrap::{
        files::{self, PRIVATE},
        pki::Identity,
    },
    start_error::StartError,
};

/// Writes the file, unless it has the same content. Without an `authority` (PEM) clients trust the
/// authorities of their system.
pub fn write(
    path: &Path,
    server: &str,
    authority: Option<&str>,
    administrator: &Identity,
) -> Result<(), StartError> {
    let content = content(server, authority, administrator);
    if files::read(path)?.as_deref() == Some(&content) {
        return Ok(());
    }
    files::write(path, &content, PRIVATE)
}

/// The values are URLs and base64, which need no quotes in YAML.
fn content(server: &str, authority: Option<&str>, administrator: &Identity) -> String {
    let authority = authority.map_or_else(String::new, |pem| {
        format!("\n    certificate-authority-data: {}", STANDARD.encode(pem))
    });
    let certificate = STANDARD.encode(&administrator.certificate);
    let key = STANDARD.encode(&administrator.key);
    format!(
        "\
# Written by the server at start: changes are lost.
apiVersion: v1
kind: Config
clusters:
- name: orch
  cluster:
    server: {server}{authority}
users:
- name: admin
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: admin@orch
  context:
    cluster: orch
    user: admin
current-context: admin@orch
"
    )
}
