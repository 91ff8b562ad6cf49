//! The files with credentials and certificates: read at start, and again when they change.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwap;
use orch_auth::{
    authentication::{Authentication, AuthenticationConfig, Lasting},
    error::AuthError,
};
use orch_runtime::vocabulary::Vocabulary;
use rustls::ServerConfig;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use crate::{
    bootstrap::{pki::Authority, serving::ServingCertificate},
    config::{Config, ServingConfig},
    start_error::StartError,
};

/// How often the files are looked at.
const PERIOD: Duration = Duration::from_mins(1);

/// The configuration of what can be read again while the server runs.
pub struct Sources {
    serving: ServingConfig,
    authentication: AuthenticationConfig,
    vocabulary: &'static Vocabulary,
    authority: Authority,
}

/// What was read from the files.
pub struct Loaded {
    /// Who makes a request.
    pub authentication: Authentication,
    /// What the server shows to clients.
    pub certificate: ServingCertificate,
}

/// The time of the last change and the length of each file.
type Stamps = Vec<Option<(SystemTime, u64)>>;

impl Sources {
    /// The files that the configuration names, and the server's own authority, which issues the
    /// administrator's client certificate.
    pub fn new(config: &Config, authority: Authority) -> Self {
        let mut authentication = config.authentication.clone();
        authentication.client_ca_files.push(authority.file());
        Sources { serving: config.serving.clone(), authentication, vocabulary: config.vocabulary, authority }
    }

    /// Reads them.
    pub fn load(&self, now: SystemTime) -> Result<Loaded, StartError> {
        let certificate = ServingCertificate::load(&self.serving, &self.authority, now)?;
        let token_file = self.authentication.token_file.as_ref();
        let proxy_file = self.authentication.proxy.as_ref().map(|proxy| &proxy.ca_file);
        let authentication = Authentication::new(&self.authentication, self.vocabulary).map_err(|error| {
            let flag = match &error {
                AuthError::Read { path, .. } if token_file == Some(path) => "--token-auth-file",
                AuthError::TokenFile { .. } => "--token-auth-file",
                AuthError::Read { path, .. } | AuthError::TrustBundle { path, .. }
                    if proxy_file == Some(path) =>
                {
                    "--requestheader-client-ca-file"
                }
                _ => "--client-ca-file",
            };
            StartError::caused(flag, &error)
        })?;
        Ok(Loaded { authentication, certificate })
    }

    fn stamps(&self) -> Stamps {
        let served = self.serving.tls_files.iter().flat_map(|files| [&files.certificate, &files.private_key]);
        let trusted = self.authentication.client_ca_files.iter();
        let proxy = self.authentication.proxy.iter().map(|proxy| &proxy.ca_file);
        let files = served.chain(trusted).chain(proxy).chain(&self.authentication.token_file);
        files.map(|file| stamp(file)).collect()
    }
}

fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let known = std::fs::metadata(file).ok()?;
    Some((known.modified().ok()?, known.len()))
}

/// Reads the files again at SIGHUP, and within a minute after one of them has changed, until the server
/// stops. What is `lasting` has no files here and stays as it is. Where a file has errors, what was
/// read before stays in force, and the error is logged.
///
/// # Errors
/// Where the signal cannot be listened to.
pub fn follow(
    sources: Sources,
    authentication: Arc<ArcSwap<Authentication>>,
    lasting: Lasting,
    tls: Arc<ArcSwap<ServerConfig>>,
    mut stopping: watch::Receiver<bool>,
) -> Result<impl Future<Output = ()> + Send, StartError> {
    let mut hangup = signal(SignalKind::hangup())
        .map_err(|error| StartError::Runtime(format!("cannot listen to signals: {error}")))?;
    Ok(async move {
        let mut seen = sources.stamps();
        loop {
            let told = tokio::select! {
                // An error means that the sender is gone, and the server with it.
                _ = stopping.wait_for(|stopping| *stopping) => return,
                _ = hangup.recv() => true,
                () = tokio::time::sleep(PERIOD) => false,
            };
            let stamps = sources.stamps();
            if !told && stamps == seen {
                continue;
            }
            seen = stamps;
            match sources.load(SystemTime::now()) {
                Ok(loaded) => {
                    authentication.store(Arc::new(loaded.authentication.with(&lasting)));
                    tls.store(loaded.certificate.tls);
                    tracing::info!("certificates and tokens are read again");
                }
                Err(error) => {
                    tracing::error!(%error, "certificates and tokens stay as they were read before");
                }
            }
        }
    })
}
