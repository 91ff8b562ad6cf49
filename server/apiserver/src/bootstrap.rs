//! What a server needs from the machine: the data directory with its keys and certificates, the database, the
//! log, signals.
//!
//! [`prepare`] runs before anything listens, so that an operator's mistakes are found first.

use std::{
    fs::File,
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use orch_auth::{
    authentication::{Authentication, AuthenticationConfig},
    authorization::Mode,
    service_account::TokenIssuer,
};
use orch_config::{Config, start_error::StartError};
use orch_registry::continue_token::TokenKey;
use rustls::ServerConfig;

use crate::bootstrap::{
    files::Secrecy,
    kubeconfig::AdminKubeconfig,
    pki::{Authority, Identity},
    serving::ServingCertificate,
    sources::Loaded,
    token_key::TokenKeys,
};

mod audit;
mod certificate_ends;
mod client_certificates;
mod continue_key;
mod files;
mod kubeconfig;
pub mod logging;
mod maintenance;
pub mod open_files;
mod other_forms;
mod pem_text;
mod pki;
pub mod service_manager;
mod serving;
mod shared_keys;
pub mod signals;
mod sources;
mod storage;
mod token_key;

pub use audit::{follow_audit_log, start_audit};
pub use maintenance::{must_exist, perform, progress::during, strip};
pub use serving::{host_name, url};
pub use shared_keys::{seal as seal_keys, share as share_keys};
pub use sources::{InForce, Sources, follow};
pub use storage::open_storage;

/// What a server needs besides its storage.
pub struct Prepared {
    /// Who makes a request.
    pub authentication: Authentication,
    /// Makes tokens for service accounts.
    pub tokens: Arc<TokenIssuer>,
    /// Seals continue tokens.
    pub continue_key: TokenKey,
    /// The certificate and the settings of TLS.
    pub tls: Arc<ServerConfig>,
    /// PEM of the authority that clients need to trust, if they need one.
    pub authority: Option<String>,
    /// Reads the files behind `authentication` and `tls` again.
    pub sources: Sources,
    /// The data directory, which other processes cannot use from now on.
    pub site: Site,
}

/// The data directory of a running server. Other servers are kept out until it is dropped.
pub struct Site {
    directory: PathBuf,
    kubeconfig: AdminKubeconfig,
    trust: Option<String>,
    administrator: Identity,
    _lock: File,
}

/// What is secret in the data directory, besides the database.
const SECRETS: &[&str] = &[
    "pki/ca.key",
    "pki/serving.key",
    "pki/admin.key",
    "pki/service-account.key",
    "continue.key",
    "admin.kubeconfig",
];

/// Creates what is missing in the data directory and reads every file that the configuration names.
pub fn prepare(config: &Config) -> Result<Prepared, StartError> {
    let directory = std::path::absolute(&config.storage.data_dir)
        .map_err(|error| StartError::configuration("--data-dir", error))?;
    files::create_directory(&directory)?;
    check_access(&directory)?;
    let lock = files::lock(&directory)?;
    warn_of_open_access(config);

    let now = SystemTime::now();
    let authority = Authority::ensure(&directory.join("pki"), now)?;
    let keys = TokenKeys::new(&config.authentication.tokens, directory.join("pki"));
    let AuthenticationConfig { tokens, api_audiences, .. } = &config.authentication;
    let tokens = Arc::new(TokenIssuer::new(keys.read()?, tokens, api_audiences, config.vocabulary));
    let continue_key = continue_key::ensure(&directory)?;
    let kubeconfig = AdminKubeconfig::new(&directory, &config.serving);
    let sources = Sources::new(config, authority, kubeconfig.clone(), (keys, Arc::clone(&tokens)));
    let Loaded { authentication, certificate, administrator } = sources.load(now)?;
    let ServingCertificate { tls, authority } = certificate;
    let site = Site { directory, kubeconfig, trust: authority.clone(), administrator, _lock: lock };
    Ok(Prepared { authentication, tokens, continue_key, tls, authority, sources, site })
}

/// Refuses a data directory in which others could have put keys and data, or read them.
fn check_access(directory: &Path) -> Result<(), StartError> {
    files::check_access(directory, Secrecy::Unchanged)?;
    for shown in ["pki", "pki/ca.crt", "pki/serving.crt"] {
        files::check_access(&directory.join(shown), Secrecy::Unchanged)?;
    }
    SECRETS.iter().try_for_each(|secret| files::check_access(&directory.join(secret), Secrecy::Unread))
}

/// Useful while trying things out, and easily forgotten.
fn warn_of_open_access(config: &Config) {
    if !config.authorization.modes.contains(&Mode::AlwaysAllow) {
        return;
    }
    let address = config.serving.address;
    if config.authentication.anonymous {
        tracing::warn!(
            %address,
            "everyone who reaches the address may do everything \
             (--anonymous-auth with --authorization-mode=AlwaysAllow)"
        );
    } else {
        tracing::warn!(%address, "every caller may do everything (--authorization-mode=AlwaysAllow)");
    }
}

impl Site {
    /// Writes the administrator's client configuration for `address`, and prints to stdout that the server is
    /// ready and what to try next.
    pub fn announce(&self, address: SocketAddr) -> Result<(), StartError> {
        let text = self.introduce(address)?;
        let (version, directory) = (env!("CARGO_PKG_VERSION"), self.directory.display());
        tracing::info!(version, data_dir = %directory, %address, "the server listens");
        // A closed stdout does not keep the server from serving.
        let _ = io::stdout().write_all(text.as_bytes());
        Ok(())
    }

    /// The administrator's certificate, PEM.
    pub fn administrator(&self) -> &str {
        &self.administrator.certificate
    }

    fn introduce(&self, address: SocketAddr) -> Result<String, StartError> {
        self.kubeconfig.write(address, self.trust.as_deref(), &self.administrator)?;
        let (url, kubeconfig) = (self.kubeconfig.url(address), shell_word(self.kubeconfig.path()));
        Ok(format!("Listening on {url}\nTry:\n  export KUBECONFIG={kubeconfig}\n  kubectl get namespaces\n"))
    }
}

/// A path as a shell reads it back.
fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain =
        text.chars().all(|character| character.is_ascii_alphanumeric() || "/._-+:@".contains(character));
    if plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests;
