//! Whether etcd still has the writes that this server has told of. One that was restored from a copy has
//! forgotten the newest ones, and gives their revisions to others.
//!
//! A watch cannot tell: it waits for revisions of the future without a word. But each write has an entry in
//! the journal with an id of its own, so the newest entry that was seen, read at its revision, is the same
//! one.

use std::sync::{Arc, Mutex, PoisonError};

use orch_storage::Revision;
use tokio::sync::watch;

use crate::failure::Failure;
use crate::journal::Entry;
use crate::load::Reader;
use crate::message::{KeyValue, Range};

/// The newest write that was seen, and whether it is gone.
pub(crate) struct Mark {
    newest: Mutex<Option<(Revision, String)>>,
    lost: watch::Sender<Option<Arc<str>>>,
}

impl Mark {
    /// With the entry of the newest write that there is at the start.
    pub(crate) fn new(newest: Option<&KeyValue>) -> Self {
        let newest = newest.and_then(|kv| {
            let entry = Entry::decode(&kv.value)?;
            Some((Revision::new(kv.mod_revision), entry.id))
        });
        Self { newest: Mutex::new(newest), lost: watch::channel(None).0 }
    }

    /// A newer write was seen.
    pub(crate) fn seen(&self, revision: Revision, id: &str) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some((revision, id.to_owned()));
    }

    /// Looks whether etcd still has the newest write that was seen. Where it is compacted, nobody knows.
    pub(crate) async fn check(&self, reader: Reader<'_>) -> Result<(), Failure> {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some((revision, id)) = newest else { return Ok(()) };
        let range = Range { key: reader.keys.writes(), revision: revision.get(), ..Range::default() };
        let is_there = match reader.range(range).await {
            Ok(read) => {
                let kept = read.kvs.first().filter(|kv| kv.mod_revision == revision.get());
                kept.and_then(|kv| Entry::decode(&kv.value)).is_some_and(|entry| entry.id == id)
            }
            Err(failure) if failure.is_compacted() => true,
            Err(failure) if failure.is_of_the_future() => false,
            Err(failure) => return Err(failure),
        };
        if !is_there {
            self.lose(revision);
        }
        Ok(())
    }

    /// etcd, whose newest revision was asked for, does not know this one.
    pub(crate) fn lose(&self, revision: Revision) {
        let why =
            format!("etcd has lost writes that were answered: it has gone back behind revision {revision}");
        self.lost.send_if_modified(|lost| {
            let is_new = lost.is_none();
            lost.get_or_insert(why.into());
            is_new
        });
    }

    /// Why memory can no longer be trusted, where writes are lost.
    pub(crate) fn loss(&self) -> Option<Arc<str>> {
        self.lost.borrow().clone()
    }

    /// The same, when it becomes so.
    pub(crate) async fn lost(&self) -> Arc<str> {
        let mut lost = self.lost.subscribe();
        let why = lost.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        match why {
            Some(why) => why,
            // The sender is in this struct, so it is there.
            None => std::future::pending().await,
        }
    }
}
