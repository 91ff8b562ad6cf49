//! What a store seals and opens values through.

use std::{fmt, sync::Arc, time::Instant};

use arc_swap::ArcSwap;
use bytes::Bytes;
use orch_storage::{Key, Opened, ResourceName, Seal, SealError, Sealed, Sealing};

use crate::{
    counts::{Counts, Operation},
    keyring::{Entries, Keyring},
    provider::{Entry, SEALED},
};

/// The keys in force.
#[derive(Debug, Default)]
pub struct Encryption {
    keyring: ArcSwap<Keyring>,
    counts: Counts,
}

/// How many bytes of a sealed value are shown at most, to say which key it needs.
const SHOWN: usize = 300;

impl Encryption {
    /// With these keys.
    pub fn new(keyring: Keyring) -> Self {
        Encryption { keyring: ArcSwap::from_pointee(keyring), counts: Counts::default() }
    }

    /// Uses these keys from now on. What is in memory stays readable.
    pub fn replace(&self, keyring: impl Into<Arc<Keyring>>) {
        self.keyring.store(keyring.into());
    }

    /// The keys in force.
    pub fn keyring(&self) -> Arc<Keyring> {
        self.keyring.load_full()
    }

    /// How often values were sealed and opened.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Counts what began at `began` and ends now.
    fn count(
        &self,
        key: &Key,
        direction: &'static str,
        prefix: &'static str,
        succeeded: bool,
        began: Instant,
    ) {
        let resource = key.resource.as_str().to_owned();
        self.counts.count(Operation { resource, direction, prefix, succeeded }, began.elapsed());
    }

    /// Opens with the first entry that can; the error is that of the last one whose key has the right name.
    fn open_with(
        &self,
        entries: &Entries,
        key: &Key,
        place: &dyn fmt::Display,
        kept: &Bytes,
    ) -> Result<Opened, SealError> {
        let (mut refused, began) = (None, Instant::now());
        for entry in entries.iter() {
            let opened = match &**entry {
                Entry::Identity if kept.starts_with(SEALED) => None,
                Entry::Identity => Some(Ok(kept.clone())),
                Entry::Key(key) => key.open(place, kept).map(|opened| opened.map(Bytes::from)),
            };
            let Some(opened) = opened else { continue };
            self.count(key, "from_storage", entry.shown(), opened.is_ok(), began);
            match opened {
                Ok(value) => return Ok(Opened { value, seal: entry.seal() }),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or_else(|| {
            self.count(key, "from_storage", "unknown", false, began);
            no_provider(key, kept)
        }))
    }
}

impl Sealing for Encryption {
    fn seal(&self, key: &Key, place: &dyn fmt::Display, value: &[u8]) -> Result<Option<Sealed>, SealError> {
        let (keyring, began) = (self.keyring.load(), Instant::now());
        let Some(first) = keyring.entries(&key.resource).and_then(|entries| entries.first()) else {
            return Ok(None);
        };
        let sealed = match &**first {
            Entry::Identity => Ok(None),
            Entry::Key(key) => key.seal(place, value).map(Some),
        };
        self.count(key, "to_storage", first.shown(), sealed.is_ok(), began);
        Ok(sealed?.zip(first.seal()).map(|(bytes, seal)| Sealed { bytes, seal }))
    }

    fn open(&self, key: &Key, place: &dyn fmt::Display, kept: Bytes) -> Result<Opened, SealError> {
        match self.keyring.load().entries(&key.resource) {
            Some(entries) => self.open_with(entries, key, place, &kept),
            None if kept.starts_with(SEALED) => Err(no_provider(key, &kept)),
            None => Ok(Opened { value: kept, seal: None }),
        }
    }

    fn is_stale(&self, resource: &ResourceName, seal: Option<Seal>) -> bool {
        let keyring = self.keyring.load();
        let first = keyring.entries(resource).and_then(|entries| entries.first());
        first.map_or(seal.is_some(), |first| first.seal() != seal)
    }
}

/// That no provider of the file fits what is kept of an object.
fn no_provider(key: &Key, kept: &[u8]) -> SealError {
    let resource = &key.resource;
    let shown = &kept[..kept.len().min(SHOWN)];
    // The text of a prefix has five parts: k8s, enc, the provider, its version, the name of the key.
    let colons = shown.iter().enumerate().filter(|(_, byte)| **byte == b':').map(|(at, _)| at);
    let end = colons.take(5).last().map_or(shown.len(), |at| at + 1);
    SealError(if kept.starts_with(SEALED) {
        let prefix = String::from_utf8_lossy(&shown[..end]);
        format!(
            "it is sealed under {prefix:?}, and no such key of {resource} is in the file of \
             --encryption-provider-config"
        )
    } else {
        format!("it is not sealed, and identity is none of the providers of {resource}")
    })
}

#[cfg(test)]
mod tests;
