//! Plain limits for servers without priority and fairness: how many requests that read, and that change
//! something, are answered at a time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limits.
pub struct MaxInFlight {
    reading: Option<Arc<Semaphore>>,
    mutating: Option<Arc<Semaphore>>,
}

/// A request that is answered, until this is dropped.
pub struct InFlight {
    _place: Option<OwnedSemaphorePermit>,
}

impl MaxInFlight {
    /// So many requests; 0 for no limit.
    pub fn new(reading: u32, mutating: u32) -> Self {
        let places = |number: u32| (number > 0).then(|| Arc::new(Semaphore::new(number as usize)));
        MaxInFlight { reading: places(reading), mutating: places(mutating) }
    }

    /// Takes a request in; `None` where there is no place.
    pub fn enter(&self, is_mutating: bool) -> Option<InFlight> {
        let places = if is_mutating { &self.mutating } else { &self.reading };
        let Some(places) = places else {
            return Some(InFlight { _place: None });
        };
        let place = Arc::clone(places).try_acquire_owned().ok()?;
        Some(InFlight { _place: Some(place) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_changing_have_limits_of_their_own() {
        let limits = MaxInFlight::new(1, 0);
        let first = limits.enter(false);
        assert!(first.is_some() && limits.enter(false).is_none());
        let changing: Vec<_> = (0..10).filter_map(|_| limits.enter(true)).collect();
        assert_eq!(changing.len(), 10);
        drop(first);
        assert!(limits.enter(false).is_some());
    }
}
