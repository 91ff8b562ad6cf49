//! A credential from files that somebody else replaces: it is read again from time to time and after a 401.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    credential::{Credential, Proof},
    error::Error,
};

/// How old what was read may be. Other clients wait for a minute; reading a short file costs little.
const AGE: Duration = Duration::from_secs(10);

/// What was read last.
#[derive(Default)]
pub struct Reread {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    credential: Option<Arc<Credential>>,
    /// Nothing where it is to be read at once.
    read: Option<Instant>,
    serial: u64,
}

impl Reread {
    /// The credential for a request that is sent now. One that was read before stays where `read` fails: some
    /// programs remove a file once it was read. Where there never was one, `otherwise` has the answer.
    ///
    /// # Errors
    /// Those of `otherwise`.
    pub fn credential(
        &self,
        read: impl FnOnce() -> Result<Proof, Error>,
        otherwise: impl FnOnce(Error) -> Result<Proof, Error>,
    ) -> Result<Arc<Credential>, Error> {
        // Nothing panics while it holds the lock.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let known = state.credential.clone();
        if let Some(known) = &known
            && state.read.is_some_and(|read| read.elapsed() < AGE)
        {
            return Ok(Arc::clone(known));
        }
        state.read = Some(Instant::now());
        let proof = match (read(), &known) {
            (Ok(proof), _) => proof,
            (Err(_), Some(known)) => return Ok(Arc::clone(known)),
            (Err(error), None) => otherwise(error)?,
        };
        if let Some(known) = known.filter(|known| known.proof == proof) {
            return Ok(known);
        }
        state.serial += 1;
        let credential = Arc::new(Credential { proof, expires: None, serial: state.serial });
        state.credential = Some(Arc::clone(&credential));
        Ok(credential)
    }

    /// The next request reads anew.
    pub fn refused(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).read = None;
    }
}
