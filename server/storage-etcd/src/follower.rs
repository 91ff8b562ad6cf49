//! The one task that changes the memory: it publishes what the watch brings, in order, and answers who waits
//! for it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use orch_storage::engine::{Memory, MemoryWriter, Retention};
use orch_storage::store::{Op, Record};
use orch_storage::{Key, Object, Revision, StoreError, Timestamp};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::changes::Told;
use crate::failure::Failure;
use crate::group::{self, groups};
use crate::keys::Place;
use crate::message::{Change, KeyValue};
use crate::shared::Shared;
use crate::watcher::{self, QUEUE};

/// How often old events are looked for where nothing is written.
const EXPIRY: Duration = Duration::from_secs(5);

/// How many events are forgotten with one batch at most: more than a batch brings.
const FORGET: usize = 4096;

/// What callers ask of the follower.
pub(crate) enum Control {
    /// Forget history up to this revision.
    Forget(Revision, oneshot::Sender<()>),
    /// Forget what is older or larger than configured.
    Expire(oneshot::Sender<()>),
    /// End.
    Stop(oneshot::Sender<()>),
}

pub(crate) struct Follower {
    pub(crate) shared: Arc<Shared>,
    pub(crate) writer: MemoryWriter,
    pub(crate) retention: Retention,
}

impl Follower {
    /// Follows what is written from revision `next` on.
    pub(crate) async fn run(mut self, next: u64, mut controls: mpsc::Receiver<Control>) {
        let mut updates = watcher::watch(Arc::clone(&self.shared), next);
        let mut told = Vec::new();
        let mut expiry = interval(EXPIRY);
        expiry.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stopped = loop {
            tokio::select! {
                count = updates.recv_many(&mut told, QUEUE) => {
                    if self.take(&mut told) || count == 0 {
                        tokio::select! {
                            next = self.resync() => updates = watcher::watch(Arc::clone(&self.shared), next),
                            stop = stop(&mut controls) => break stop,
                        }
                    }
                }
                control = controls.recv() => match control {
                    Some(Control::Forget(before, done)) => {
                        self.writer.forget_through(before);
                        let _ = done.send(());
                    }
                    Some(Control::Expire(done)) => {
                        self.forget(usize::MAX);
                        let _ = done.send(());
                    }
                    Some(Control::Stop(done)) => break Some(done),
                    None => break None,
                },
                _ = expiry.tick() => self.forget(FORGET),
            }
        };
        self.shared.pending.close();
        self.shared.client.close();
        drop(self);
        if let Some(done) = stopped {
            let _ = done.send(());
        }
    }

    /// Publishes all that was told, at once: who waits is woken once. Returns whether the watch was
    /// overtaken.
    fn take(&mut self, told: &mut Vec<Told>) -> bool {
        let (mut changes, mut is_overtaken) = (Vec::new(), false);
        for told in told.drain(..) {
            match told {
                Told::Changes(more) if changes.is_empty() => changes = more,
                Told::Changes(more) => changes.extend(more),
                Told::Overtaken => is_overtaken = true,
            }
        }
        if !changes.is_empty() {
            self.publish(changes);
        }
        is_overtaken
    }

    fn publish(&mut self, changes: Vec<Change>) {
        let now = self.shared.clock.now();
        let mut batch = self.writer.batch(now);
        let (mut answers, mut claims) = (Vec::new(), Vec::new());
        for mut group in groups(changes, &self.shared.keys) {
            let revision = group.revision;
            claims.extend(std::mem::take(&mut group.claims).into_iter().map(|resource| (resource, revision)));
            let id = group.entry.as_ref().map(|entry| entry.id.clone());
            if let Some(id) = &id {
                self.shared.mark.seen(revision, id);
            }
            let Shared { form, keys, .. } = &*self.shared;
            let last = |key: &Key| batch.get(key).map(|object| form.at_removal(object, revision));
            let records = group.records(form, keys, now, |key| last(key).unwrap_or_default());
            for (record, seal) in records.collect::<Vec<_>>() {
                let Some(committed) = batch.follow(record) else { continue };
                if let Some(seal) = seal {
                    committed.object.kept_under(seal);
                }
                answers.push((id.clone(), committed));
            }
            batch.advance(revision);
        }
        let published = self.writer.publish(batch);
        for (resource, revision) in claims {
            self.shared.claims.changed(resource, revision);
        }
        for (id, committed) in answers {
            self.shared.pending.published(id.as_deref(), &committed);
        }
        self.writer.wake(&published);
        self.forget(FORGET);
    }

    /// Compares memory with what is in etcd, where the watch cannot go on because history is gone. Watches
    /// that are open are told the differences, but end where objects are gone: nobody knows now when they
    /// went. Whoever asks for an older version has to start again. Returns the revision to watch from.
    async fn resync(&mut self) -> u64 {
        tracing::warn!("etcd has compacted history that was not read yet: reading everything again");
        let mut pause = Duration::from_millis(100);
        loop {
            match self.read_again().await {
                Ok(next) => return next,
                Err(failure) => tracing::warn!(%failure, "etcd cannot be read"),
            }
            sleep(pause).await;
            pause = (2 * pause).min(Duration::from_secs(5));
        }
    }

    async fn read_again(&mut self) -> Result<u64, Failure> {
        let shared = Arc::clone(&self.shared);
        let before = shared.memory.revision();
        // Where history begins: what came after that, the watch tells in full.
        let newest = shared.reader().newest().await?.etcd;
        let at = shared.reader().history_begins(Timestamp(0), newest).await?.max(before.get());
        let (mut found, mut changed, mut claims) = (HashSet::new(), Vec::new(), Vec::new());
        let mut take = |kv: KeyValue| match shared.keys.place(&kv.key) {
            Place::Object(key) => {
                if Revision::new(kv.mod_revision) > before {
                    changed.push(group::state(key.clone(), &kv, &shared.form));
                }
                found.insert(key);
            }
            Place::Claims(resource) => claims.push((resource, Revision::new(kv.mod_revision))),
            Place::Writes | Place::Other => {}
        };
        let newest = shared.reader().state_at(at, &mut take).await?;
        let now = shared.clock.now();
        for (record, _) in &mut changed {
            record.time = now;
        }
        let (removal, mut ended) = (Revision::new(at), HashSet::new());
        for object in objects(&shared.memory, |key| !found.contains(key)) {
            let (key, value) = (object.key().clone(), Ok(shared.form.at_removal(&object, removal)));
            ended.insert(key.resource.clone());
            changed.push((Record { revision: removal, key, op: Op::Remove, time: now, value }, None));
        }
        changed.sort_by_key(|(record, _)| record.revision);
        let mut batch = self.writer.batch(now);
        for (record, seal) in changed {
            if let (Some(committed), Some(seal)) = (batch.follow(record), seal) {
                committed.object.kept_under(seal);
            }
        }
        batch.advance(Revision::new(newest));
        // Between the two, open watches are told states that never existed: nobody else may begin there.
        self.writer.begin_history_after(batch.revision());
        // A client that goes on at another server is told what came after the last version that it was told
        // here. No version can be given to a removal so that it misses none there and gets none again.
        for resource in &ended {
            self.writer.end_watches(resource, batch.revision());
        }
        let published = self.writer.publish(batch);
        for (resource, revision) in claims {
            shared.claims.changed(resource, revision);
        }
        self.writer.wake(&published);
        for resource in &ended {
            self.writer.wake_all(resource);
        }
        Ok(at + 1)
    }

    fn forget(&mut self, limit: usize) {
        let now = self.shared.clock.now();
        // etcd keeps history by itself until it is compacted.
        let _ = self.writer.forget_overdue(now, &self.retention, limit);
    }
}

/// The objects in memory for which `wanted` holds.
fn objects(memory: &Memory, wanted: impl Fn(&Key) -> bool) -> Vec<Arc<Object>> {
    let snapshots = memory.resources().into_iter().map(|resource| memory.snapshot(&resource));
    let mut found = Vec::new();
    for snapshot in snapshots {
        found.extend(snapshot.iter().filter(|object| wanted(object.key())).cloned());
    }
    found
}

/// Returns when the follower is to end.
async fn stop(controls: &mut mpsc::Receiver<Control>) -> Option<oneshot::Sender<()>> {
    loop {
        match controls.recv().await {
            Some(Control::Stop(done)) => return Some(done),
            // Nothing is forgotten now; whoever asked is told so by the end of the channel.
            Some(_) => {}
            None => return None,
        }
    }
}

/// Asks the follower for something, and returns when it is done.
pub(crate) async fn ask(
    controls: &mpsc::Sender<Control>,
    control: impl FnOnce(oneshot::Sender<()>) -> Control,
) -> Result<(), StoreError> {
    let (done, finished) = oneshot::channel();
    controls.send(control(done)).await.map_err(|_| StoreError::Closed)?;
    finished.await.map_err(|_| StoreError::Closed)
}
