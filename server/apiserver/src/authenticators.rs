//! The methods of authentication for which other servers are asked, and the file that configures some.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use arc_swap::ArcSwap;
use orch_auth::{
    anonymous::Anonymous,
    authentication::{AuthenticationConfig, Lasting},
    authentication_file,
    authenticator::{issued_token::IssuedTokenAuthenticator, webhook_token::WebhookTokenAuthenticator},
    oidc::issuer::Issuers,
};
use orch_config::start_error::{StartError, with_causes};
use orch_http::metrics::Metrics;
use orch_runtime::vocabulary::Vocabulary;
use orch_settings::followed_files::FollowedFiles;
use tokio::sync::watch;

use crate::followed_files;

const FILE: &str = "--authentication-config";

/// What is read from files before anything listens.
pub struct Asking {
    /// The methods, and which requests need no credentials.
    pub lasting: Lasting,
    /// The file, which is read again when it changes.
    pub followed: Option<FollowedFile>,
}

/// The file that configures issuers, and what it configures.
pub struct FollowedFile {
    path: PathBuf,
    files: FollowedFiles,
    rules: Arc<Rules>,
    issued: Arc<IssuedTokenAuthenticator>,
    anonymous: Arc<ArcSwap<Anonymous>>,
}

/// What a file is held against.
struct Rules {
    /// The names under which the server issues tokens itself.
    own: Vec<String>,
    /// For whom no credentials are needed where the file does not say.
    anonymous: Anonymous,
    /// Why no file may say it.
    no_anonymous: Option<&'static str>,
    vocabulary: &'static Vocabulary,
}

impl Asking {
    /// Reads what is configured.
    pub fn read(config: &AuthenticationConfig, vocabulary: &'static Vocabulary) -> Result<Self, StartError> {
        let own = &config.tokens.issuers(vocabulary);
        let mut asking = Asking { lasting: Lasting::default(), followed: None };
        if let Some(oidc) = &config.oidc {
            let issuer =
                oidc.issuer(vocabulary).map_err(|error| StartError::caused("--oidc-ca-file", &error))?;
            if own.contains(&oidc.issuer_url) {
                let problem = "must not be that of the server's own service account tokens";
                return Err(StartError::configuration("--oidc-issuer-url", problem));
            }
            let issuers = Issuers::from([(issuer.name().to_owned(), issuer)]);
            asking.lasting.methods.push(Arc::new(IssuedTokenAuthenticator::new(issuers)));
        }
        if let Some(path) = &config.file {
            let rules = Rules::new(config, own, vocabulary);
            let followed = FollowedFile::read(path.clone(), rules)
                .map_err(|problem| StartError::configuration(FILE, problem))?;
            asking.lasting.methods.push(Arc::clone(&followed.issued) as _);
            asking.lasting.anonymous = Some(Arc::clone(&followed.anonymous));
            asking.followed = Some(followed);
        }
        if let Some(webhook) = &config.token_webhook {
            let webhook = WebhookTokenAuthenticator::new(webhook, config.audiences(vocabulary), vocabulary)
                .map_err(|error| {
                StartError::caused("--authentication-token-webhook-config-file", &error)
            })?;
            asking.lasting.methods.push(Arc::new(webhook));
        }
        Ok(asking)
    }
}

impl Rules {
    fn new(config: &AuthenticationConfig, own: &[String], vocabulary: &'static Vocabulary) -> Self {
        let anonymous = if config.anonymous { Anonymous::Everywhere } else { Anonymous::Nowhere };
        Rules { own: own.to_vec(), anonymous, no_anonymous: config.no_anonymous_in_file, vocabulary }
    }

    /// The issuers and the anonymous of a file.
    fn read(&self, path: &Path, before: &Issuers) -> Result<(Issuers, Anonymous), String> {
        let file = authentication_file::read(path, &self.own, before, self.vocabulary)
            .map_err(|error| with_causes(&error))?;
        if file.anonymous.is_some()
            && let Some(problem) = self.no_anonymous
        {
            return Err(format!("{}: anonymous {problem}", path.display()));
        }
        Ok((file.issuers, file.anonymous.unwrap_or_else(|| self.anonymous.clone())))
    }
}

impl FollowedFile {
    fn read(path: PathBuf, rules: Rules) -> Result<Self, String> {
        let files = FollowedFiles::new(vec![path.clone()]);
        let (issuers, anonymous) = rules.read(&path, &Issuers::new())?;
        let issued = Arc::new(IssuedTokenAuthenticator::new(issuers));
        let anonymous = Arc::new(ArcSwap::from_pointee(anonymous));
        Ok(FollowedFile { path, files, rules: Arc::new(rules), issued, anonymous })
    }

    /// Reads the file again when it changes, until the server stops. A new file that is not right changes
    /// nothing; it is told in the log and in the metrics.
    pub async fn follow(mut self, metrics: Metrics, mut stopping: watch::Receiver<bool>) {
        while followed_files::changed(&mut self.files, &mut stopping).await {
            let (rules, file, before) = (Arc::clone(&self.rules), self.path.clone(), self.issued.issuers());
            let read = move || rules.read(&file, &before);
            let Some(read) = followed_files::apart(&mut stopping, read).await else { return };
            let path = self.path.display();
            match read {
                Ok((issuers, anonymous)) => {
                    self.issued.replace(issuers);
                    self.anonymous.store(Arc::new(anonymous));
                    self.files.accepted();
                    metrics.authentication_reloaded(true);
                    tracing::info!(%path, "the issuers of tokens are read again");
                }
                Err(problem) => {
                    metrics.authentication_reloaded(false);
                    if self.files.refused(&problem) {
                        tracing::error!(problem, "the issuers of tokens stay as they were read before");
                    }
                }
            }
        }
    }
}
