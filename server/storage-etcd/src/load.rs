//! Reading what is in etcd: the state at a revision, and how far back history goes.

use std::time::Duration;

use orch_storage::Timestamp;

use crate::client::{Client, RANGE};
use crate::failure::Failure;
use crate::journal::Entry;
use crate::keys::Keys;
use crate::message::{KeyValue, Range, Ranged};
use crate::span::Span;

/// How large one answer is to be, in bytes. Values differ in size, so it is only a goal.
const PAGE_BYTES: usize = 2 << 20;

/// How many keys the first answer has, and how many one has at most.
const PAGES: (u64, u64) = (64, 5000);

/// Reads keys of one cluster.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) client: &'a Client,
    pub(crate) keys: &'a Keys,
    pub(crate) timeout: Duration,
}

/// The newest write of ours, and where etcd stands.
pub(crate) struct Newest {
    /// The revision of the newest write to the prefix that a server of ours made; 0 if there is none.
    pub(crate) write: u64,
    /// That of etcd, whoever wrote.
    pub(crate) etcd: u64,
}

impl Reader<'_> {
    pub(crate) async fn range(self, range: Range) -> Result<Ranged, Failure> {
        self.client.call(RANGE, &range, self.timeout).await
    }

    /// What a key is now.
    pub(crate) async fn get(self, key: Vec<u8>) -> Result<Option<KeyValue>, Failure> {
        let ranged = self.range(Range { key, ..Range::default() }).await?;
        Ok(ranged.kvs.into_iter().next())
    }

    /// Where etcd stands, as no member that lags behind says it.
    pub(crate) async fn newest(self) -> Result<Newest, Failure> {
        let range = Range { key: self.keys.writes(), keys_only: true, ..Range::default() };
        let ranged = self.range(range).await?;
        let write = ranged.kvs.first().map_or(0, |kv| kv.mod_revision);
        Ok(Newest { write, etcd: ranged.header.revision })
    }

    /// Shows `take` all keys as they were at a revision, in pieces. Returns the newest of their revisions.
    pub(crate) async fn state_at(
        self,
        revision: u64,
        take: &mut (dyn FnMut(KeyValue) + Send),
    ) -> Result<u64, Failure> {
        let (key, end) = self.keys.all();
        let (mut span, mut limit, mut newest) = (Span::new(key, end), PAGES.0, 0);
        loop {
            let (key, end) = span.question();
            let page = self.range(Range { key, end, limit, revision, keys_only: false }).await?;
            let bytes: usize = page.kvs.iter().map(|kv| kv.value.len() + kv.key.len() + 1).sum();
            let count = page.kvs.len();
            let cut = page.kvs.last().filter(|_| page.more).map(|last| last.key.clone());
            for kv in page.kvs {
                newest = newest.max(kv.mod_revision);
                take(kv);
            }
            if !span.answered(count as u64, limit, cut.as_deref()) {
                return Ok(newest);
            }
            if count > 0 {
                limit = ((count * PAGE_BYTES / bytes.max(1)) as u64).clamp(1, PAGES.1);
            }
        }
    }

    /// The revision up to which history is not needed, or is gone: all writes up to it are older than
    /// `before`, and it can be read. `before` of 0 asks how far back etcd can read.
    pub(crate) async fn history_begins(self, before: Timestamp, newest: u64) -> Result<u64, Failure> {
        if self.is_over(newest, before).await? != Age::Young {
            return Ok(newest);
        }
        // Times need not rise where a clock was set back; any revision that is found will do.
        let (mut old, mut young, mut readable) = (self.client.versions.offset, newest, false);
        while young - old > 1 {
            let middle = old + (young - old) / 2;
            match self.is_over(middle, before).await? {
                Age::Young => young = middle,
                age => (old, readable) = (middle, age == Age::Old),
            }
        }
        Ok(if readable { old } else { young })
    }

    async fn is_over(self, revision: u64, before: Timestamp) -> Result<Age, Failure> {
        let read = self.range(Range { key: self.keys.writes(), revision, ..Range::default() }).await;
        let age = |is_old| if is_old { Age::Old } else { Age::Young };
        match read {
            Err(failure) if failure.is_compacted() => Ok(Age::Gone),
            Err(failure) => Err(failure),
            Ok(_) if before == Timestamp(0) => Ok(Age::Young),
            Ok(read) => {
                let entry = read.kvs.first().map(|kv| Entry::decode(&kv.value));
                Ok(age(entry.flatten().is_none_or(|entry| entry.time < before)))
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Age {
    /// Compacted.
    Gone,
    Old,
    Young,
}
