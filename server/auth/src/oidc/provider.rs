//! The keys of an issuer, fetched from where its discovery document says (OpenID Connect Discovery, section
//! 4).
//!
//! Nothing is fetched before a token needs it, so an issuer that is not there does not keep the server from
//! starting. Keys are fetched again where none has made a signature, because issuers change them, and after a
//! while, because they withdraw them. However many tokens come, an issuer is asked once in [`PAUSE`]; those
//! that need keys meanwhile wait for that answer or are refused. What is fetched is bounded in size and time,
//! and stays in force until the next answer that is right.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;
use orch_outbound::{
    backoff::Backoff,
    client::{Client, Settings},
    error::OutboundError,
    target::{Credential, Target, TlsOptions},
};
use serde::Deserialize;
use tokio::sync::watch;

use super::url;
use crate::jwt::{Jwt, key_set::KeySet};

/// Behind the address of an issuer.
const DISCOVERY_PATH: &str = "/.well-known/openid-configuration";

/// The shortest time between two fetches.
const PAUSE: Duration = Duration::from_secs(5);

/// How long keys are used before they are fetched again.
const PERIOD: Duration = Duration::from_mins(10);

/// For each of the two documents.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BYTES: usize = 1024 * 1024;

/// Where the keys of an issuer are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The issuer, as tokens and the discovery document name it.
    pub issuer: String,
    /// The discovery document, where it is not at the address of the issuer.
    pub discovery_url: Option<String>,
    /// PEM text of the authorities of the issuer's certificate; those of the system, if there is none.
    pub authorities: Option<Vec<u8>>,
}

/// The keys of one issuer. Clones share them.
#[derive(Clone)]
pub struct Provider {
    shared: Arc<Shared>,
}

struct Shared {
    place: Place,
    keys: ArcSwapOption<Fetched>,
    fetching: Mutex<Fetching>,
}

/// Keys, and when they were fetched.
struct Fetched {
    keys: KeySet,
    at: Instant,
}

/// The last fetch.
#[derive(Default)]
struct Fetching {
    begun: Option<Instant>,
    /// Its sender is gone when the fetch is done.
    done: Option<watch::Receiver<()>>,
}

/// What is needed of a discovery document.
#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

impl Place {
    /// Where the discovery document is.
    fn discovery(&self) -> String {
        let derived = || format!("{}{DISCOVERY_PATH}", self.issuer.trim_end_matches('/'));
        self.discovery_url.clone().unwrap_or_else(derived)
    }

    fn target(&self, url: &str, credential: Credential) -> Result<Target, OutboundError> {
        let options = TlsOptions { authorities: self.authorities.clone(), ..TlsOptions::default() };
        Target::new(url, options, credential)
    }

    /// What is at an address, which the issuer names.
    pub(super) async fn get(&self, url: &str, credential: Credential) -> Result<Vec<u8>, String> {
        let settings = Settings {
            timeout: TIMEOUT,
            max_answer: MAX_BYTES,
            backoff: Backoff::ONCE,
            ..Settings::default()
        };
        let target = self.target(url, credential).map_err(|error| error.to_string())?;
        let answer = Client::new(target, settings).get().await;
        Ok(answer.map_err(|error| format!("{url:?}: {error}"))?.to_vec())
    }

    async fn fetch(&self) -> Result<KeySet, String> {
        let url = self.discovery();
        let document = self.get(&url, Credential::None).await?;
        let document: Discovery = serde_json::from_slice(&document)
            .map_err(|error| format!("{url:?}: this is no discovery document: {error}"))?;
        if document.issuer != self.issuer {
            return Err(format!("{url:?}: this is the document of the issuer {:?}", document.issuer));
        }
        let keys = document.jwks_uri;
        if !keys.starts_with("https://") {
            return Err(format!("{url:?}: the address of the keys, {keys:?}, {}", url::NO_HTTPS));
        }
        let set = self.get(&keys, Credential::None).await?;
        KeySet::parse(&set).map_err(|problem| format!("{keys:?}: {problem}"))
    }
}

impl Provider {
    /// Keys that are fetched when they are needed.
    ///
    /// # Errors
    /// Where the address or the authorities cannot be used.
    pub fn new(place: Place) -> Result<Self, OutboundError> {
        place.target(&place.discovery(), Credential::None)?;
        let (keys, fetching) = (ArcSwapOption::empty(), Mutex::default());
        Ok(Provider { shared: Arc::new(Shared { place, keys, fetching }) })
    }

    /// Where the keys are found.
    pub fn place(&self) -> &Place {
        &self.shared.place
    }

    /// Verifies the signature of a token.
    ///
    /// # Errors
    /// Where the keys are not known. Otherwise the result is whether one of them has made the signature.
    pub(super) async fn verify(&self, token: &Jwt<'_>) -> Result<bool, &'static str> {
        if let Some(known) = &*self.shared.keys.load()
            && known.keys.verifies(token)
        {
            if known.at.elapsed() > PERIOD {
                // These are good enough for this token.
                let _ = self.fetch();
            }
            return Ok(true);
        }
        if let Some(mut done) = self.fetch() {
            // The sender says nothing: it is gone when the fetch is done.
            let _ = done.changed().await;
        }
        let known = self.shared.keys.load();
        known.as_ref().map(|known| known.keys.verifies(token)).ok_or("the keys of the issuer are not known")
    }

    /// Begins to fetch the keys, unless that goes on already, or was done just before. The task is not that
    /// of the request, so a client that leaves does not end it.
    fn fetch(&self) -> Option<watch::Receiver<()>> {
        let mut fetching = self.shared.fetching();
        if let Some(done) = fetching.done.as_ref().filter(|done| done.has_changed().is_ok()) {
            return Some(done.clone());
        }
        if fetching.begun.is_some_and(|begun| begun.elapsed() < PAUSE) {
            return None;
        }
        let (going_on, done) = watch::channel(());
        *fetching = Fetching { begun: Some(Instant::now()), done: Some(done.clone()) };
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            let _going_on = going_on;
            match shared.place.fetch().await {
                Ok(keys) => shared.keys.store(Some(Arc::new(Fetched { keys, at: Instant::now() }))),
                Err(problem) => {
                    let issuer = &shared.place.issuer;
                    tracing::warn!(issuer, problem, "the keys of an issuer of tokens cannot be fetched");
                }
            }
        });
        Some(done)
    }
}

impl Shared {
    /// A panic elsewhere leaves it as it is.
    fn fetching(&self) -> MutexGuard<'_, Fetching> {
        self.fetching.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
