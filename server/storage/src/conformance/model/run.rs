//! One run: rounds of clients and watches at once, with restarts and forgetting between and during them.

use std::collections::BTreeMap;

use orch_storage::store::{Op, Record};
use orch_storage::{ResourceName, Revision, Scope, Storage, StoreError};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::clients::{self, RESOURCES, state_of};
use super::history::{History, State};
use super::place::{Place, term_of};
use super::readers::{Reader, random_scope};

const CLIENTS: u64 = 4;
const READERS: usize = 12;

pub fn run(seed: u64, place: &Place, rounds: u32, operations: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        runtime.block_on(rounds_of(seed, place, rounds, operations));
    }));
    if let Err(failure) = outcome {
        eprintln!("seed {seed} fails: ORCH_MODEL_SEED={seed} replays it");
        std::panic::resume_unwind(failure);
    }
}

async fn rounds_of(seed: u64, place: &Place, rounds: u32, operations: u32) {
    let mut dice = StdRng::seed_from_u64(seed);
    let mut storage = place.open().await;
    let mut history = History { start: storage.current_revision(), steps: Vec::new() };
    let mut forgotten = Revision::ZERO;
    let mut readers: Vec<Reader> = Vec::new();
    for _ in 0..rounds {
        while readers.len() < READERS {
            readers.push(Reader::start(&storage, dice.random(), forgotten.max(history.start)));
        }
        let working: Vec<_> = (0..CLIENTS)
            .map(|_| tokio::spawn(clients::work(storage.clone(), dice.random(), operations)))
            .collect();
        let reading: Vec<_> = readers.drain(..).map(|reader| tokio::spawn(reader.read(operations))).collect();
        if dice.random_ratio(1, 3) {
            forgotten = forgotten.max(forget_something(&storage, &history, &mut dice).await);
        }
        let mut notes = Vec::new();
        for client in working {
            notes.push(client.await.unwrap());
        }
        for reader in reading {
            readers.push(reader.await.unwrap());
        }
        history.extend(notes.iter().flat_map(|notes| notes.steps.iter().cloned()).collect());
        assert_eq!(storage.current_revision(), history.end());
        for notes in &notes {
            notes.check(&history);
        }
        if dice.random_ratio(1, 3) {
            storage.shutdown().await.unwrap();
            drop(storage);
            storage = place.open().await;
            for reader in &mut readers {
                reader.resume(&storage);
            }
        }
        // Some have seen enough; the others go on in the next round.
        for mut reader in readers.split_off(dice.random_range(0..=readers.len())) {
            reader.finish(&history);
        }
        compare(&storage, &history, forgotten, &mut dice).await;
    }
    for reader in &mut readers {
        reader.finish(&history);
    }
    assert!(storage.self_check().await.unwrap().is_clean());
    storage.shutdown().await.unwrap();
}

async fn forget_something(storage: &Storage, history: &History, dice: &mut StdRng) -> Revision {
    let before = Revision::new(dice.random_range(history.start.get()..=history.end().get()));
    for _ in 0..dice.random_range(0..50) {
        tokio::task::yield_now().await;
    }
    storage.compact(before).await.unwrap();
    before
}

/// Every way to look at the past: by undoing what came later, by the records of the log, and by watching from there.
async fn compare(storage: &Storage, history: &History, forgotten: Revision, dice: &mut StdRng) {
    let mut records: Vec<Record> = Vec::new();
    storage.records(&mut |record| records.push(record)).await.unwrap();
    let (oldest, newest) = (forgotten.max(history.start), history.end());
    let mut revisions = vec![oldest, newest];
    revisions.extend((0..12).map(|_| Revision::new(dice.random_range(oldest.get()..=newest.get()))));
    for resource in RESOURCES.map(ResourceName::new) {
        for &revision in &revisions {
            let snapshot = storage.snapshot_at(&resource, revision).unwrap();
            let expected = history.state(&resource, revision);
            assert_eq!(snapshot.revision(), revision);
            assert_eq!(state_of(snapshot.iter()), expected, "{resource} at {revision}, by undoing");
            assert_eq!(
                by_log(&records, &resource, revision),
                expected,
                "{resource} at {revision}, by the log"
            );
            for term in ["p", "q", "r"] {
                let mut with_term = expected.clone();
                with_term.retain(|_, (_, value)| term_of(value) == term);
                let found = state_of(snapshot.with_term(0, term, &Scope::All, None));
                assert_eq!(found, with_term, "{resource} at {revision}, with the term {term}");
            }
            let scope = random_scope(dice);
            let mut watch = storage.watch(&resource, scope.clone(), revision).unwrap();
            let mut expected = history.between(&resource, &scope, revision, newest);
            loop {
                let events = watch.take().unwrap();
                if events.is_empty() {
                    break;
                }
                for event in events {
                    let step = expected.next().expect("no event is made up");
                    assert!(step.matches(&event), "{event:?} instead of {step:?}");
                }
            }
            assert!(expected.next().is_none(), "{resource} {scope:?} after {revision}: events are missing");
        }
        let future = storage.snapshot_at(&resource, newest.next()).err();
        assert!(matches!(future, Some(StoreError::FutureRevision { .. })), "{future:?}");
        if forgotten > history.start {
            let gone = Revision::new(dice.random_range(history.start.get()..forgotten.get()));
            // What need not be kept may be there all the same after a restart; then it is right.
            match storage.snapshot_at(&resource, gone) {
                Ok(snapshot) => {
                    assert_eq!(
                        state_of(snapshot.iter()),
                        history.state(&resource, gone),
                        "{resource} at {gone}"
                    );
                }
                Err(error) => assert!(matches!(error, StoreError::Expired { .. }), "{gone}: {error}"),
            }
        }
    }
}

fn by_log(records: &[Record], resource: &ResourceName, revision: Revision) -> State {
    let mut newest = BTreeMap::new();
    for record in records.iter().filter(|record| record.revision <= revision) {
        if record.key.resource == *resource {
            newest.insert((record.key.namespace.to_string(), record.key.name.to_string()), record);
        }
    }
    let kept = newest.into_iter().filter(|(_, record)| record.op != Op::Remove);
    kept.map(|(name, record)| (name, (record.revision, record.value.clone().unwrap()))).collect()
}
