//! One credential for all requests: kept until it expires or is refused, and made by one run at a time.
//!
//! The rules are those of the specification ("Authentication" 8). A credential with an expiration is used
//! until that time, one without for as long as the process lives, both only until a request with them is
//! answered by a 401. Requests that need a new one wait for the same run, and are told its outcome, also
//! where that is an error or a credential that has expired already; requests that come later make another
//! run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::watch;

use crate::{
    credential::Credential,
    error::{Error, PluginFault},
};

/// Makes a credential.
pub type Run = Box<dyn Fn() -> BoxFuture<'static, Result<Credential, Error>> + Send + Sync>;

/// Seconds since 1970.
pub type Clock = Box<dyn Fn() -> i64 + Send + Sync>;

type Outcome = Result<Arc<Credential>, Error>;

/// Keeps the credential of one plugin.
pub struct Cache {
    /// Names the plugin in errors.
    name: String,
    run: Run,
    now: Clock,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    kept: Option<Arc<Credential>>,
    /// The run that goes on; its sender is dropped without an outcome where it is cut off.
    running: Option<watch::Receiver<Option<Outcome>>>,
    /// That of the last credential.
    serial: u64,
}

impl Cache {
    /// A cache that is empty.
    pub fn new(name: &str, run: Run, now: Clock) -> Self {
        Cache { name: name.to_owned(), run, now, state: Arc::default() }
    }

    /// The plugin, as errors name it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The credential for a request that is sent now.
    ///
    /// # Errors
    /// Why the run that this request waited for gave none.
    pub async fn credential(&self) -> Outcome {
        let mut run = {
            let mut state = lock(&self.state);
            if let Some(kept) = state.kept.as_ref().filter(|kept| kept.is_valid((self.now)())) {
                return Ok(Arc::clone(kept));
            }
            // A run ends by itself also where those who wait for it are gone, but not where its runtime is.
            match state.running.take().filter(|run| run.has_changed().is_ok()) {
                Some(run) => state.running.insert(run).clone(),
                None => state.running.insert(self.start()).clone(),
            }
        };
        match run.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().expect("it was waited for"),
            Err(_) => Err(Error::plugin(&self.name, PluginFault::Stopped)),
        }
    }

    /// Forgets this credential, which was answered by a 401. A newer one stays.
    pub fn refused(&self, credential: &Arc<Credential>) {
        let mut state = lock(&self.state);
        if state.kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, credential)) {
            state.kept = None;
        }
    }

    /// Begins a run. It is a task of its own, so that a request that is given up does not end it for others.
    fn start(&self) -> watch::Receiver<Option<Outcome>> {
        let (teller, run) = watch::channel(None);
        let (made, state) = ((self.run)(), Arc::clone(&self.state));
        tokio::spawn(async move {
            let made = made.await;
            let outcome = {
                let mut state = lock(&state);
                state.serial += 1;
                let serial = state.serial;
                let outcome = made.map(|credential| Arc::new(Credential { serial, ..credential }));
                state.kept = outcome.as_ref().ok().cloned();
                state.running = None;
                outcome
            };
            teller.send_replace(Some(outcome));
        });
        run
    }
}

/// No code panics while it holds the lock.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
