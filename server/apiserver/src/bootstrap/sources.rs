//! The files with credentials and certificates: read at start, and again when they change. What the server's
//! own authority has issued is made anew before it ends.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwap;
use orch_auth::{
    authentication::{Authentication, AuthenticationConfig, Lasting},
    error::AuthError,
    service_account::TokenIssuer,
};
use orch_config::{Config, ServingConfig, start_error::StartError};
use orch_runtime::vocabulary::Vocabulary;
use orch_settings::followed_files::FollowedFiles;
use prometheus::GaugeVec;
use rustls::ServerConfig;
use tokio::{signal::unix::Signal, sync::watch, time::Instant};

use crate::{
    bootstrap::{
        certificate_ends::{CertificateEnds, End, first_end},
        client_certificates::ClientCertificates,
        kubeconfig::AdminKubeconfig,
        pki::{Authority, Identity, RENEWAL},
        serving::ServingCertificate,
        token_key::TokenKeys,
    },
    followed_files,
};

/// How often the files are looked at.
const PERIOD: Duration = Duration::from_mins(1);

/// How often the log says that a certificate ends soon.
const DAY: Duration = Duration::from_hours(24);

/// What certificates are for, as the metric and the log call them.
const SERVING: &str = "serving";
const ADMINISTRATOR: &str = "admin";
const AUTHORITY: &str = "ca";
const CLIENT_AUTHORITIES: &str = "client-ca";
const PROXY_AUTHORITIES: &str = "requestheader-client-ca";

/// The configuration of what can be read again while the server runs.
pub struct Sources {
    serving: ServingConfig,
    authentication: AuthenticationConfig,
    vocabulary: &'static Vocabulary,
    authority: Authority,
    kubeconfig: AdminKubeconfig,
    ends: CertificateEnds,
    shown: ClientCertificates,
    token_keys: TokenKeys,
    tokens: Arc<TokenIssuer>,
    /// What an operator may change.
    files: FollowedFiles,
}

/// What was read from the files.
pub struct Loaded {
    /// Who makes a request.
    pub authentication: Authentication,
    /// What the server shows to clients.
    pub certificate: ServingCertificate,
    /// What the administrator shows to the server.
    pub administrator: Identity,
}

impl Sources {
    /// The files that the configuration names, and the server's own authority, which issues the
    /// administrator's client certificate, which goes into `kubeconfig`. The keys are those of `tokens`.
    pub fn new(
        config: &Config,
        authority: Authority,
        kubeconfig: AdminKubeconfig,
        (token_keys, tokens): (TokenKeys, Arc<TokenIssuer>),
    ) -> Self {
        let mut authentication = config.authentication.clone();
        authentication.client_ca_files.push(authority.file());
        let files = files(&config.serving, &authentication, &token_keys);
        Sources {
            serving: config.serving.clone(),
            authentication,
            vocabulary: config.vocabulary,
            authority,
            kubeconfig,
            ends: CertificateEnds::new(),
            shown: ClientCertificates::new(config),
            token_keys,
            tokens,
            files: FollowedFiles::new(files),
        }
    }

    /// The metric of when certificates end; it is filled in by [`follow`].
    pub fn certificate_ends(&self) -> GaugeVec {
        self.ends.gauge()
    }

    /// Reads them, and makes what is missing or ends soon of what the server issues itself.
    pub fn load(&self, now: SystemTime) -> Result<Loaded, StartError> {
        // Once more: they may have changed before the files were looked at.
        sign(self)?;
        let certificate = ServingCertificate::load(&self.serving, &self.authority, now)?;
        let authentication = Authentication::new(&self.authentication, self.vocabulary);
        let authentication = authentication.map_err(|error| self.told(&error))?;
        let administrator = self.authority.administrator(now)?;
        Ok(Loaded { authentication, certificate, administrator })
    }

    /// The error of a file, with the flag that names it.
    fn told(&self, error: &AuthError) -> StartError {
        let token_file = self.authentication.token_file.as_ref();
        let proxy_file = self.authentication.proxy.as_ref().map(|proxy| &proxy.ca_file);
        let flag = match error {
            AuthError::Read { path, .. } if token_file == Some(path) => "--token-auth-file",
            AuthError::TokenFile { .. } => "--token-auth-file",
            AuthError::Read { path, .. } | AuthError::TrustBundle { path, .. }
                if proxy_file == Some(path) =>
            {
                "--requestheader-client-ca-file"
            }
            _ => "--client-ca-file",
        };
        StartError::caused(flag, error)
    }

    /// Keeps what is wrong with the files. Returns whether that is to be told, and not the same as before.
    fn judge(&mut self, errors: &[StartError]) -> bool {
        if errors.is_empty() {
            self.files.accepted();
            return true;
        }
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        self.files.refused(&errors.join("; "))
    }

    /// When the certificates end that are in the files now, or that the server shows to others.
    fn ends(&self) -> Vec<End> {
        let directory = self.authority.directory();
        let own = self.authority.file();
        let generated = directory.join("serving.crt");
        let serving = self.serving.tls_files.as_ref().map_or(&generated, |files| &files.certificate);
        let administrator = directory.join("admin.crt");
        let authorities = self.authentication.client_ca_files.iter().filter(|file| **file != own);
        let proxy = self.authentication.proxy.iter().map(|proxy| &proxy.ca_file);
        let files = [(SERVING, serving), (ADMINISTRATOR, &administrator), (AUTHORITY, &own)].into_iter();
        let files = files.chain(authorities.map(|file| (CLIENT_AUTHORITIES, file)));
        let files = files.chain(proxy.map(|file| (PROXY_AUTHORITIES, file)));
        let end = |(certificate, file): (&'static str, &PathBuf)| {
            let time = first_end(&orch_settings::read(file).ok()?)?;
            Some(End { certificate, time })
        };
        files.filter_map(end).chain(self.shown.ends()).collect()
    }

    /// From when on the server makes certificates anew; nothing where none of its own ends before its
    /// authority, which is replaced at a start only.
    fn renewal(&self, ends: &[End]) -> Option<SystemTime> {
        let of = |name: &str| ends.iter().find(|end| end.certificate == name).map(|end| end.time);
        let authority = of(AUTHORITY)?;
        let serving = of(SERVING).filter(|_| self.serving.tls_files.is_none());
        let own = serving.into_iter().chain(of(ADMINISTRATOR)).filter(|end| *end < authority);
        // One that ends exactly then is not replaced yet.
        own.min().map(|end| end - RENEWAL + Duration::from_secs(1))
    }
}

/// The files with what others show to the server and it shows to others.
fn files(serving: &ServingConfig, authentication: &AuthenticationConfig, keys: &TokenKeys) -> Vec<PathBuf> {
    let served = serving.tls_files.iter().flat_map(|files| [&files.certificate, &files.private_key]);
    let trusted = authentication.client_ca_files.iter();
    let proxy = authentication.proxy.iter().map(|proxy| &proxy.ca_file);
    let files = served.chain(trusted).chain(proxy).chain(&authentication.token_file);
    files.cloned().chain(keys.files()).collect()
}

/// Reads the files again at SIGHUP, within a minute after one of them has changed, and when certificates of
/// the server's own authority are to be made anew, until the server stops. The administrator's kubeconfig
/// follows, for a server that listens on `address`, and `trust` is told the authority that clients need. What
/// is `lasting` has no files here and stays as it is. Where a file has errors, what was read from it before
/// stays in force, and the error is logged; the other files count all the same.
pub async fn follow(
    sources: Sources,
    address: SocketAddr,
    in_force: InForce,
    mut hangup: Signal,
    mut stopping: watch::Receiver<bool>,
) {
    let mut following = Following::new(sources, address, in_force);
    loop {
        let asked = tokio::select! {
            // An error means that the sender is gone, and the server with it.
            _ = stopping.wait_for(|stopping| *stopping) => return,
            _ = hangup.recv() => true,
            () = tokio::time::sleep(following.pause()) => false,
        };
        let look = move || {
            following.look(asked);
            following
        };
        let Some(looked) = followed_files::apart(&mut stopping, look).await else { return };
        following = looked;
    }
}

/// The files, and what was told of them.
struct Following {
    sources: Sources,
    address: SocketAddr,
    in_force: InForce,
    /// When certificates end.
    ends: Vec<End>,
    /// When that was told.
    told: Instant,
}

impl Following {
    fn new(sources: Sources, address: SocketAddr, in_force: InForce) -> Self {
        let ends = sources.ends();
        sources.ends.tell(&ends, SystemTime::now());
        Following { sources, address, in_force, ends, told: Instant::now() }
    }

    /// How long it is until the next look.
    fn pause(&self) -> Duration {
        let renewal = self.sources.renewal(&self.ends);
        let left = renewal.and_then(|renewal| renewal.duration_since(SystemTime::now()).ok());
        left.unwrap_or(PERIOD).min(PERIOD)
    }

    /// Looks at the files, and reads them where that is due or `asked` for.
    fn look(&mut self, asked: bool) {
        let (now, is_changed) = (SystemTime::now(), self.sources.files.look());
        let renewal = self.sources.renewal(&self.ends);
        if asked || is_changed || renewal.is_some_and(|renewal| renewal <= now) {
            let errors = self.in_force.read_again(&self.sources, self.address, now);
            if self.sources.judge(&errors) || asked {
                for error in errors {
                    tracing::error!(%error, "what this file held before stays in force");
                }
                tracing::info!("certificates and tokens are read again");
            }
            self.ends = self.sources.ends();
        } else {
            let before = std::mem::replace(&mut self.ends, self.sources.ends());
            if self.ends == before && self.told.elapsed() < DAY {
                return;
            }
        }
        self.sources.ends.tell(&self.ends, now);
        self.told = Instant::now();
    }
}

/// What was read from the files, for those who use it.
pub struct InForce {
    /// Who makes a request.
    pub authentication: Arc<ArcSwap<Authentication>>,
    /// What has no files here and stays as it is.
    pub lasting: Lasting,
    /// What new connections are shown.
    pub tls: Arc<ArcSwap<ServerConfig>>,
    /// Told the authority that clients need.
    pub trust: watch::Sender<Option<String>>,
}

impl InForce {
    /// Reads each of the files again, and returns what is wrong with some.
    fn read_again(&self, sources: &Sources, address: SocketAddr, now: SystemTime) -> Vec<StartError> {
        let outcomes = [sign(sources), self.serve(sources, address, now)];
        let mut errors: Vec<StartError> = outcomes.into_iter().filter_map(Result::err).collect();
        // Last: watches are judged anew when this changes, by all that was read.
        errors.extend(self.recognize(sources));
        errors
    }

    /// Reads the credentials of callers again.
    fn recognize(&self, sources: &Sources) -> Vec<StartError> {
        let before = self.authentication.load_full();
        let (read, errors) = before.read_again(&sources.authentication, sources.vocabulary);
        self.authentication.store(Arc::new(read.with(&self.lasting)));
        errors.iter().map(|error| sources.told(error)).collect()
    }

    /// Reads, or makes anew, what the server and its administrator show; tells which authority counts.
    fn serve(&self, sources: &Sources, address: SocketAddr, now: SystemTime) -> Result<(), StartError> {
        let certificate = ServingCertificate::load(&sources.serving, &sources.authority, now)?;
        let administrator = sources.authority.administrator(now)?;
        sources.kubeconfig.write(address, certificate.authority.as_deref(), &administrator)?;
        self.tls.store(certificate.tls);
        self.trust.send_if_modified(|known| {
            let is_new = *known != certificate.authority;
            *known = certificate.authority;
            is_new
        });
        Ok(())
    }
}

/// Reads the keys that sign tokens again.
fn sign(sources: &Sources) -> Result<(), StartError> {
    if sources.tokens.replace_keys(sources.token_keys.read()?) {
        tracing::info!("tokens of service accounts are signed and accepted by other keys");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::bootstrap::{prepare, tests::config};

    #[test]
    fn what_changes_after_it_was_read_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = folder.path().join("tokens.csv");
        std::fs::write(&tokens, "a,bob,1\n").unwrap();
        let data = folder.path().join("data");
        let flag = format!("--token-auth-file={}", tokens.display());
        let mut sources = prepare(&config(&data, &[&flag])).unwrap().sources;
        assert!(!sources.files.look(), "what a first start makes itself is no change");
        std::fs::write(&tokens, "ab,bob,1\n").unwrap();
        assert!(sources.files.look());
    }
}
