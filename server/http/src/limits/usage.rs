//! Counts of what is in use, by address and by user.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use super::{SUPPLIES, Supply};

/// What an address or a user has in use, by [`Supply`].
#[derive(Debug, Default)]
pub struct Usage([AtomicUsize; SUPPLIES]);

/// A part of a usage, which is in use until this is dropped.
#[derive(Debug)]
pub struct Share {
    usage: Arc<Usage>,
    supply: Supply,
    amount: usize,
    max: usize,
}

/// The usages of all addresses, or of all users. One without shares is forgotten.
#[derive(Debug)]
pub struct Register<K>(Mutex<Known<K>>);

#[derive(Debug)]
struct Known<K> {
    usages: HashMap<K, Weak<Usage>>,
    /// From this length on, usages without shares are removed.
    sweep_at: usize,
}

/// The smallest number of usages of which some are forgotten.
const MIN_SWEEP: usize = 64;

impl Usage {
    /// How much of it is in use.
    #[cfg(test)]
    pub fn of(&self, supply: Supply) -> usize {
        self.0[supply as usize].load(Relaxed)
    }
}

impl Share {
    /// Nothing yet, and at most so much that `max` is in use.
    pub fn none(usage: &Arc<Usage>, supply: Supply, max: usize) -> Self {
        Share { usage: Arc::clone(usage), supply, amount: 0, max }
    }

    /// Takes more, where there is as much.
    pub fn grow(&mut self, amount: usize) -> bool {
        let used = &self.usage.0[self.supply as usize];
        let before = used.fetch_add(amount, Relaxed);
        let fits = before.saturating_add(amount) <= self.max;
        if fits {
            self.amount += amount;
        } else {
            used.fetch_sub(amount, Relaxed);
        }
        fits
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.usage.0[self.supply as usize].fetch_sub(self.amount, Relaxed);
    }
}

impl<K> Default for Register<K> {
    fn default() -> Self {
        Register(Mutex::new(Known { usages: HashMap::new(), sweep_at: MIN_SWEEP }))
    }
}

impl<K: Eq + Hash> Register<K> {
    /// The usage of this one.
    pub fn usage(&self, key: K) -> Arc<Usage> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(usage) = known.usages.get(&key).and_then(Weak::upgrade) {
            return usage;
        }
        if known.usages.len() >= known.sweep_at {
            known.usages.retain(|_, usage| usage.strong_count() > 0);
            known.sweep_at = MIN_SWEEP.max(2 * known.usages.len());
        }
        let usage = Arc::<Usage>::default();
        known.usages.insert(key, Arc::downgrade(&usage));
        usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_uses_nothing_is_forgotten() {
        let register = Register::default();
        let kept = register.usage(0);
        for number in 1..10 * MIN_SWEEP {
            register.usage(number);
        }
        assert!(register.0.lock().unwrap().usages.len() <= MIN_SWEEP);
        assert!(Arc::ptr_eq(&kept, &register.usage(0)));
    }
}
