//! The administrator's kubeconfig: one file with everything that a client needs.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use orch_config::{ExternalName, ServingConfig, start_error::StartError};

use crate::bootstrap::{
    files::{self, PRIVATE},
    pki::Identity,
    serving::url,
};

/// Where the file is, and by which name clients reach the server.
#[derive(Clone)]
pub struct AdminKubeconfig {
    path: PathBuf,
    external_hostname: Option<ExternalName>,
}

impl AdminKubeconfig {
    /// The file of a data directory.
    pub fn new(directory: &Path, serving: &ServingConfig) -> Self {
        let external_hostname = serving.external_hostname.clone();
        Self { path: kubeconfig_in(directory), external_hostname }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The URL by which clients reach a server that listens on `address`.
    pub fn url(&self, address: SocketAddr) -> String {
        url(address, self.external_hostname.as_ref())
    }

    /// Writes the file for a server that listens on `address`, unless it has the same content. Without an
    /// `authority` (PEM) clients trust the authorities of their system.
    pub fn write(
        &self,
        address: SocketAddr,
        authority: Option<&str>,
        administrator: &Identity,
    ) -> Result<(), StartError> {
        write(&self.path, &self.url(address), authority, administrator)
    }
}

/// The file of a data directory.
pub fn kubeconfig_in(directory: &Path) -> PathBuf {
    directory.join("admin.kubeconfig")
}

fn write(
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
