//! The connections of a client: those without a certificate of a plugin, or those of the newest one.
//!
//! A certificate belongs to a connection, and TLS sessions that are resumed keep the one that they began
//! with. So another certificate means another inner client, with connections of its own. Requests that have
//! begun are finished on the old ones. Watches are ended there, because they would go on for long as who the
//! client was before; those who watch begin again where they were.

use std::sync::{Arc, Mutex, PoisonError};

use base64::{Engine, engine::general_purpose::STANDARD};
use kube::{Client, Config};
use tokio::sync::watch;

use crate::{
    credential::{Credential, Identity, Proof},
    error::{Error, PluginFault},
};

/// Makes inner clients, and keeps the one in use.
pub struct Transports {
    /// Without credentials that change.
    config: Config,
    current: Mutex<Current>,
}

struct Current {
    /// The credential that it was made or confirmed for.
    serial: u64,
    identity: Option<Arc<Identity>>,
    client: Client,
    /// Becomes true when there is a newer one.
    replaced: watch::Sender<bool>,
}

/// The connections that a request is sent on.
pub struct Transport {
    pub client: Client,
    /// Becomes true when watches on these connections are to end.
    pub replaced: watch::Receiver<bool>,
}

impl Transports {
    /// Connections as this configuration says, which has no plugin and no token file.
    pub fn new(config: Config) -> Result<Self, kube::Error> {
        let client = Client::try_from(config.clone())?;
        let current = Current { serial: 0, identity: None, client, replaced: watch::Sender::new(false) };
        Ok(Transports { config, current: Mutex::new(current) })
    }

    /// The connections for a request with this credential; those of a newer one, where there is one. `name`
    /// is whose credential it is, for errors.
    ///
    /// # Errors
    /// Where its certificate and key do not fit together.
    pub fn of(&self, credential: &Credential, name: &str) -> Result<Transport, Error> {
        // Nothing panics while it holds the lock.
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if credential.serial > current.serial {
            let identity = match &credential.proof {
                Proof::Certificate(identity) => Some(identity),
                Proof::Header(_) => None,
            };
            if identity != current.identity.as_ref() {
                let client = self.connect(identity.map(Arc::as_ref), name)?;
                current.replaced.send_replace(true);
                current.replaced = watch::Sender::new(false);
                current.client = client;
                current.identity = identity.cloned();
            }
            current.serial = credential.serial;
        }
        Ok(Transport { client: current.client.clone(), replaced: current.replaced.subscribe() })
    }

    /// The connections in use, for a request that brings its own credential.
    pub fn current(&self) -> Transport {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        Transport { client: current.client.clone(), replaced: current.replaced.subscribe() }
    }

    fn connect(&self, identity: Option<&Identity>, name: &str) -> Result<Client, Error> {
        let mut config = self.config.clone();
        if let Some(identity) = identity {
            let auth = &mut config.auth_info;
            auth.client_certificate_data = Some(STANDARD.encode(&identity.certificate));
            auth.client_key_data = Some(STANDARD.encode(&identity.key).into());
        }
        // What is wrong there may be told with parts of the key.
        Client::try_from(config).map_err(|_| Error::plugin(name, PluginFault::Pair))
    }
}
