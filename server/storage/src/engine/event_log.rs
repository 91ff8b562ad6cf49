//! The recent events of a resource, and of the parts of it that somebody watches.
//!
//! A log is shared by all its watches; each of them is only the revision that it has reached. A scope
//! narrower than the resource has a log of its own while it has watches, so that no watch is woken for, or
//! searches through, events outside its scope. So has a term of an index: an event belongs to the terms that
//! its object has or had before.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::older_states::OlderStates;
use super::table::terms_of;
use super::wakers::Wakers;
use crate::error::StoreError;
use crate::event::Event;
use crate::index::{Indexer, Term};
use crate::key::Scope;
use crate::revision::Revision;

/// All logs of one resource.
pub(super) struct Hub {
    all: Arc<EventLog>,
    /// Held during every change of a log, so that a narrower log is added between two of them.
    narrower: Mutex<Narrower>,
    /// How many events there were.
    count: AtomicU64,
    pub(super) older_states: OlderStates,
}

/// The events of a resource since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Events {
    /// How many there were.
    pub count: u64,
    /// The revision of the youngest one that is known.
    pub newest: Revision,
}

/// Which events of a resource a watch gets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Part {
    pub(super) scope: Scope,
    /// Those of objects with this term alone. The scope is not that of one name then.
    pub(super) term: Option<Term>,
}

/// Events that are in the logs of a resource and not visible yet.
pub(super) struct Appended {
    hub: Arc<Hub>,
    logs: Vec<Arc<EventLog>>,
    /// How many narrower logs there had been.
    added: u64,
}

/// The logs of parts that somebody watches.
#[derive(Default)]
struct Narrower {
    by_scope: HashMap<Scope, Arc<EventLog>>,
    by_term: HashMap<Part, Arc<EventLog>>,
    /// How many were added since the start.
    added: u64,
    /// Known from the first watch of a term on.
    indexer: Option<Arc<dyn Indexer>>,
}

/// Events in order of revision.
pub(super) struct EventLog {
    entries: RwLock<Entries>,
    /// The revision of the youngest event that was ever here. Watches read it without the lock of `entries`,
    /// at which many of them would wait for one another.
    newest: AtomicU64,
    pub(super) wakers: Wakers,
}

struct Entries {
    events: VecDeque<Arc<Event>>,
    /// Every event after this revision is here; one at or before it may be gone.
    begins_after: Revision,
}

impl Hub {
    pub(super) fn new(begins_after: Revision) -> Self {
        let all = Arc::new(EventLog::new(VecDeque::new(), begins_after));
        let (count, older_states) = (AtomicU64::default(), OlderStates::default());
        Self { all, narrower: Mutex::default(), count, older_states }
    }

    /// How many events there were, and the revision of the youngest one.
    pub(super) fn events(&self) -> Events {
        let newest = Revision::new(self.all.newest.load(Ordering::Acquire));
        Events { count: self.count.load(Ordering::Relaxed), newest }
    }

    /// Appends events of this resource. Their watches are to be woken when they may be seen.
    pub(super) fn append(self: &Arc<Self>, events: &[Arc<Event>]) -> Appended {
        let narrower = self.lock();
        self.count.fetch_add(events.len() as u64, Ordering::Relaxed);
        self.all.append(events.iter().cloned());
        let mut logs = vec![Arc::clone(&self.all)];
        for event in events {
            narrower.each_of(event, |log| {
                log.append([Arc::clone(event)]);
                if !logs.iter().any(|other| Arc::ptr_eq(other, log)) {
                    logs.push(Arc::clone(log));
                }
            });
        }
        Appended { hub: Arc::clone(self), logs, added: narrower.added }
    }

    /// Drops the oldest event, which is `event`.
    pub(super) fn forget(&self, event: &Event) {
        let narrower = self.lock();
        self.all.forget(event.revision());
        narrower.each_of(event, |log| log.forget(event.revision()));
        self.older_states.forget_before(event.revision());
    }

    /// Ends all watches that have not come to `revision`.
    pub(super) fn begin_after(&self, revision: Revision) {
        let narrower = self.lock();
        let logs = narrower.by_scope.values().chain(narrower.by_term.values());
        logs.chain([&self.all]).for_each(|log| log.begin_after(revision));
    }

    /// Puts `event` in place of the one of its object with its revision, where that is still kept.
    pub(super) fn replace(&self, event: &Arc<Event>) {
        let narrower = self.lock();
        self.all.replace(event);
        narrower.each_of(event, |log| log.replace(event));
    }

    /// The log of a part, complete after the revision `after`, and the number of a new registration with its
    /// wakers. The log lives until the last registration has ended and [`release`](Hub::release) was called.
    /// `indexer` is needed where the part is that of a term.
    pub(super) fn subscribe(
        &self,
        part: &Part,
        indexer: Option<&Arc<dyn Indexer>>,
        after: Revision,
    ) -> Result<(Arc<EventLog>, usize), StoreError> {
        let mut narrower = self.lock();
        if part.term.is_some() && narrower.indexer.is_none() {
            narrower.indexer = indexer.cloned();
        }
        let log = match narrower.log(part) {
            _ if part.is_everything() => {
                self.all.covers(after)?;
                Arc::clone(&self.all)
            }
            Some(log) => {
                if log.covers(after).is_err() {
                    log.extend_back(self.in_part(part, &narrower, after)?, after);
                }
                Arc::clone(log)
            }
            None => {
                let log = Arc::new(EventLog::new(self.in_part(part, &narrower, after)?, after));
                narrower.add(part, &log);
                log
            }
        };
        let registration = log.wakers.register();
        Ok((log, registration))
    }

    /// Lets go of the log of a part if it has no watch left.
    pub(super) fn release(&self, part: &Part) {
        let mut narrower = self.lock();
        if narrower.log(part).is_some_and(|log| log.wakers.is_empty()) {
            narrower.remove(part);
        }
    }

    /// All events after `after`, up to and including `through`.
    pub(super) fn between(&self, after: Revision, through: Revision) -> Result<Vec<Arc<Event>>, StoreError> {
        self.all.read(after, through, usize::MAX)
    }

    /// How many events there are after `after`, up to and including `through`.
    pub(super) fn count_between(&self, after: Revision, through: Revision) -> usize {
        self.all.count(after, through)
    }

    /// How many watches are told of a change of this object, whatever is in it.
    pub(super) fn told_of(&self, namespace: &str, name: &str) -> usize {
        let scoped = &self.lock().by_scope;
        let mut told = self.all.wakers.count();
        if !scoped.is_empty() {
            let narrower = [Scope::Namespace(namespace.into()), Scope::Name(namespace.into(), name.into())];
            let narrower = narrower.iter().filter_map(|scope| scoped.get(scope));
            told += narrower.map(|log| log.wakers.count()).sum::<usize>();
        }
        told
    }

    pub(super) fn wake_all(&self) {
        let narrower = self.lock();
        self.all.wake();
        narrower.by_scope.values().chain(narrower.by_term.values()).for_each(|log| log.wake());
    }

    fn added(&self) -> u64 {
        self.lock().added
    }

    #[cfg(test)]
    pub(super) fn has_log(&self, part: &Part) -> bool {
        self.lock().log(part).is_some()
    }

    fn in_part(
        &self,
        part: &Part,
        narrower: &Narrower,
        after: Revision,
    ) -> Result<VecDeque<Arc<Event>>, StoreError> {
        let events = self.all.read(after, Revision::MAX, usize::MAX)?;
        let is_in_part = |event: &Arc<Event>| {
            part.scope.contains(&event.key().namespace, &event.key().name)
                && part
                    .term
                    .as_ref()
                    .is_none_or(|term| narrower.terms_of(event).is_none_or(|terms| terms.contains(&term)))
        };
        Ok(events.into_iter().filter(is_in_part).collect())
    }

    fn lock(&self) -> MutexGuard<'_, Narrower> {
        self.narrower.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Appended {
    /// Wakes the watches of these events, which are visible now.
    pub(super) fn wake(&self) {
        self.logs.iter().for_each(|log| log.wake());
        // A log that was added meanwhile has the events, and its watches may have looked before they were
        // visible.
        if self.hub.added() != self.added {
            self.hub.wake_all();
        }
    }
}

impl Part {
    fn is_everything(&self) -> bool {
        self.scope == Scope::All && self.term.is_none()
    }
}

impl Narrower {
    fn log(&self, part: &Part) -> Option<&Arc<EventLog>> {
        if part.term.is_some() { self.by_term.get(part) } else { self.by_scope.get(&part.scope) }
    }

    fn add(&mut self, part: &Part, log: &Arc<EventLog>) {
        self.added += 1;
        if part.term.is_some() {
            self.by_term.insert(part.clone(), Arc::clone(log));
        } else {
            self.by_scope.insert(part.scope.clone(), Arc::clone(log));
        }
    }

    fn remove(&mut self, part: &Part) {
        if part.term.is_some() {
            self.by_term.remove(part);
        } else {
            self.by_scope.remove(&part.scope);
        }
    }

    /// Calls `with` with each log that an event belongs to.
    fn each_of(&self, event: &Event, mut with: impl FnMut(&Arc<EventLog>)) {
        if !self.by_scope.is_empty() {
            let key = event.key();
            let namespace = Scope::Namespace(Arc::clone(&key.namespace));
            let name = Scope::Name(Arc::clone(&key.namespace), Arc::clone(&key.name));
            [namespace, name].iter().filter_map(|scope| self.by_scope.get(scope)).for_each(&mut with);
        }
        if !self.by_term.is_empty() {
            self.each_of_terms(event, with);
        }
    }

    fn each_of_terms(&self, event: &Event, mut with: impl FnMut(&Arc<EventLog>)) {
        let scopes = [Scope::All, Scope::Namespace(Arc::clone(&event.key().namespace))];
        let Some(terms) = self.terms_of(event) else {
            // It cannot be read, so no watch may miss it.
            let of_scope = |(part, _): &(&Part, _)| scopes.contains(&part.scope);
            self.by_term.iter().filter(of_scope).for_each(|(_, log)| with(log));
            return;
        };
        for term in terms {
            for scope in &scopes {
                let part = Part { scope: scope.clone(), term: Some(term.clone()) };
                self.by_term.get(&part).into_iter().for_each(&mut with);
            }
        }
    }

    /// The terms that the object of an event has or had, each once; `None` where it cannot be read.
    fn terms_of<'e>(&self, event: &'e Event) -> Option<BTreeSet<&'e Term>> {
        let states = [Some(event.object()), event.previous()].into_iter().flatten();
        let mut terms = BTreeSet::new();
        for state in states {
            terms.extend(terms_of(self.indexer.as_deref(), state)?);
        }
        Some(terms)
    }
}

/// The index of the first event that a reader has not seen. The search starts at the end and doubles its
/// steps: a reader is nearly always close to the end, and each look at an old event is a cache miss.
fn first_unseen(length: usize, is_seen: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high, mut step) = (length, length, 1);
    while low > 0 && !is_seen(low - 1) {
        high = low - 1;
        low = low.saturating_sub(step);
        step *= 2;
    }
    while low < high {
        let middle = low.midpoint(high);
        if is_seen(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

impl EventLog {
    fn new(events: VecDeque<Arc<Event>>, begins_after: Revision) -> Self {
        let newest = AtomicU64::new(events.back().map_or(0, |event| event.revision().get()));
        Self { entries: RwLock::new(Entries { events, begins_after }), newest, wakers: Wakers::default() }
    }

    /// Whether there is nothing after `revision`.
    pub(super) fn ends_at(&self, revision: Revision) -> bool {
        self.newest.load(Ordering::Acquire) <= revision.get()
    }

    /// Tells the watches of this log that there is something to read.
    pub(super) fn wake(&self) {
        self.wakers.wake();
    }

    /// At most `limit` events after `after`, up to and including `through`; more where the last ones have one
    /// revision: a reader goes on after a whole revision.
    pub(super) fn read(
        &self,
        after: Revision,
        through: Revision,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>, StoreError> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.covers(after)?;
        let events = &entries.events;
        let start = first_unseen(events.len(), |index| events[index].revision() <= after);
        let mut readable = events.range(start..).take_while(|event| event.revision() <= through).peekable();
        let mut read: Vec<Arc<Event>> = readable.by_ref().take(limit).cloned().collect();
        let last = read.last().map(|event| event.revision());
        while let Some(event) = readable.next_if(|event| Some(event.revision()) == last) {
            read.push(Arc::clone(event));
        }
        Ok(read)
    }

    pub(super) fn count(&self, after: Revision, through: Revision) -> usize {
        let events = &self.entries.read().unwrap_or_else(PoisonError::into_inner).events;
        let seen_at =
            |revision| first_unseen(events.len(), |index: usize| events[index].revision() <= revision);
        seen_at(through).saturating_sub(seen_at(after))
    }

    pub(super) fn covers(&self, after: Revision) -> Result<(), StoreError> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).covers(after)
    }

    fn append(&self, events: impl IntoIterator<Item = Arc<Event>>) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        entries.events.extend(events);
        self.note_newest(&entries);
    }

    fn note_newest(&self, entries: &Entries) {
        if let Some(newest) = entries.events.back() {
            self.newest.fetch_max(newest.revision().get(), Ordering::Release);
        }
    }

    /// What is here up to `revision` may not be all: nobody may read it.
    fn begin_after(&self, revision: Revision) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        entries.begins_after = entries.begins_after.max(revision);
        // Watches look only where there is something new.
        self.newest.fetch_max(revision.get(), Ordering::Release);
    }

    /// Drops the oldest event if it has this revision.
    fn forget(&self, revision: Revision) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if entries.events.front().is_some_and(|oldest| oldest.revision() <= revision) {
            entries.events.pop_front();
            entries.begins_after = entries.begins_after.max(revision);
        }
    }

    /// Puts `event` in place of the one of its object with its revision, if it is here.
    fn replace(&self, event: &Arc<Event>) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let begin = entries.events.partition_point(|other| other.revision() < event.revision());
        let same = entries.events.range_mut(begin..).take_while(|other| other.revision() == event.revision());
        if let Some(other) = same.into_iter().find(|other| other.key() == event.key()) {
            *other = Arc::clone(event);
        }
    }

    /// Puts those of `events` in front that are older than what is here; `events` are complete after `after`.
    fn extend_back(&self, events: VecDeque<Arc<Event>>, after: Revision) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let begins_after = entries.begins_after;
        let older = events.into_iter().filter(|event| event.revision() <= begins_after).rev();
        older.collect::<Vec<_>>().into_iter().for_each(|event| entries.events.push_front(event));
        entries.begins_after = after;
        self.note_newest(&entries);
    }
}

impl Entries {
    fn covers(&self, after: Revision) -> Result<(), StoreError> {
        if after < self.begins_after {
            return Err(StoreError::Expired { asked: after, oldest: self.begins_after });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::first_unseen;

    #[test]
    fn the_first_unseen_is_found_wherever_it_is() {
        for length in 0..70 {
            for seen in 0..=length {
                assert_eq!(first_unseen(length, |index| index < seen), seen, "of {length}");
            }
        }
    }
}
