//! Watches at every speed, and the check of what they delivered.

use std::sync::Arc;

use super::clients::{NAMES, NAMESPACES, RESOURCES};
use super::history::History;
use crate::conformance::dice::Dice;
use crate::engine::Watch;
use crate::error::StoreError;
use crate::event::Event;
use crate::key::{ResourceName, Scope};
use crate::revision::Revision;
use crate::storage::Storage;

/// A watch and everything that it delivered.
pub(super) struct Reader {
    resource: ResourceName,
    scope: Scope,
    dice: Dice,
    /// Gone when it fell out of history.
    watch: Option<Watch>,
    after: Revision,
    events: Vec<Arc<Event>>,
    /// Bookmarks: a revision, and how many events came before it.
    bookmarks: Vec<(Revision, usize)>,
    /// Where the watch stood when it fell out of history, and from where history could be read then.
    expired: Option<(Revision, Revision)>,
}

pub(super) fn random_scope(dice: &mut Dice) -> Scope {
    let namespace = if dice.one_in(4) { "none" } else { dice.pick(&NAMESPACES) };
    match dice.roll(3) {
        0 => Scope::All,
        1 => Scope::Namespace(namespace.into()),
        _ => Scope::Name(namespace.into(), dice.pick(&NAMES).into()),
    }
}

impl Reader {
    /// A watch from now on, or from a version that history reaches.
    pub(super) fn start(storage: &Storage, seed: u64, oldest: Revision) -> Self {
        let mut dice = Dice::new(seed);
        let resource = ResourceName::new(dice.pick(&RESOURCES));
        let scope = random_scope(&mut dice);
        let now = storage.current_revision();
        let after = if dice.one_in(2) { now } else { dice.revision(oldest..=now) };
        let mut reader = Reader {
            resource,
            scope,
            dice,
            watch: None,
            after,
            events: Vec::new(),
            bookmarks: Vec::new(),
            expired: None,
        };
        reader.open(storage, after);
        reader
    }

    /// Goes on after a restart, where the last one ended: at a bookmark or at the last event.
    pub(super) fn resume(&mut self, storage: &Storage) {
        if self.watch.take().is_some() {
            let from = self.position();
            self.open(storage, from);
        }
    }

    /// Reads for a while, slowly or fast; some never come to read at all.
    pub(super) async fn read(mut self, rounds: u32) -> Self {
        let pace = self.dice.pick(&[0, 1, 5, 40]);
        for _ in 0..rounds {
            for _ in 0..pace {
                tokio::task::yield_now().await;
            }
            if self.dice.one_in(4) {
                self.bookmark();
            } else {
                self.take();
            }
            tokio::task::yield_now().await;
        }
        self
    }

    /// Reads everything that there is, and compares.
    pub(super) fn finish(&mut self, history: &History) {
        while self.watch.is_some() && self.take() > 0 {}
        self.bookmark();
        let through = match self.expired {
            None => history.end(),
            Some((cursor, oldest)) => {
                assert!(cursor < oldest, "expired at {cursor} although history reaches back to {oldest}");
                cursor
            }
        };
        let expected: Vec<_> = history.between(&self.resource, &self.scope, self.after, through).collect();
        assert_eq!(
            self.events.len(),
            expected.len(),
            "{} after {}: {:?}",
            self.resource,
            self.after,
            self.scope
        );
        for (event, step) in self.events.iter().zip(&expected) {
            assert!(step.matches(event), "{event:?} instead of {step:?}");
        }
        for (revision, told) in &self.bookmarks {
            let due = expected.iter().filter(|step| step.revision <= *revision).count();
            assert!(due <= *told, "the bookmark {revision} came after {told} of {due} events");
        }
        if self.expired.is_none() {
            assert_eq!(self.bookmarks.last().map(|(revision, _)| *revision), Some(history.end()));
        }
    }

    fn open(&mut self, storage: &Storage, after: Revision) {
        match storage.watch(&self.resource, self.scope.clone(), after) {
            Ok(watch) => self.watch = Some(watch),
            Err(error) => self.fail(&error),
        }
    }

    fn position(&self) -> Revision {
        let event = self.events.last().map_or(self.after, |event| event.revision());
        let bookmark = self.bookmarks.last().map_or(self.after, |(revision, _)| *revision);
        event.max(bookmark)
    }

    fn take(&mut self) -> usize {
        match self.watch.as_mut().map(Watch::take) {
            Some(Ok(events)) => {
                let count = events.len();
                self.events.extend(events);
                count
            }
            Some(Err(error)) => {
                self.fail(&error);
                0
            }
            None => 0,
        }
    }

    fn bookmark(&mut self) {
        if let Some(watch) = &mut self.watch {
            self.bookmarks.push((watch.progress(), self.events.len()));
        }
    }

    fn fail(&mut self, error: &StoreError) {
        let StoreError::Expired { oldest, .. } = *error else { panic!("{error}") };
        self.expired = Some((self.position(), oldest));
        self.watch = None;
    }
}
