//! One run: rounds of clients and watches at once, with restarts and forgetting between and during them.

use std::collections::BTreeMap;

use super::Length;
use super::clients::{self, RESOURCES, TERMS};
use super::history::{History, Objects, objects_of};
use super::readers::{Reader, random_scope};
use crate::conformance::dice::Dice;
use crate::conformance::{Case, Fixture, WORDS_INDEX, words};
use crate::error::StoreError;
use crate::key::{ResourceName, Scope};
use crate::revision::Revision;
use crate::storage::Storage;
use crate::store::{Op, Record};

const CLIENTS: u64 = 4;
const READERS: usize = 12;

pub(super) fn run(fixture: &impl Fixture, seed: u64, length: Length) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        runtime.block_on(rounds_of(fixture, seed, length));
    }));
    if let Err(failure) = outcome {
        eprintln!("seed {seed} fails: ORCH_MODEL_SEED={seed} replays it");
        std::panic::resume_unwind(failure);
    }
}

async fn rounds_of<F: Fixture>(fixture: &F, seed: u64, Length { rounds, operations }: Length) {
    let mut dice = Dice::new(seed);
    let mut case = Case::new(fixture).await;
    let mut history = History::begin(case.storage.current_revision());
    let mut forgotten = Revision::ZERO;
    let mut readers: Vec<Reader> = Vec::new();
    for _ in 0..rounds {
        while readers.len() < READERS {
            readers.push(Reader::start(&case.storage, dice.number(), forgotten.max(history.start())));
        }
        let working: Vec<_> = (0..CLIENTS)
            .map(|_| tokio::spawn(clients::work(case.storage.clone(), dice.number(), operations)))
            .collect();
        let reading: Vec<_> = readers.drain(..).map(|reader| tokio::spawn(reader.read(operations))).collect();
        if dice.one_in(3) {
            forgotten = forgotten.max(forget_something(&case.storage, &history, &mut dice).await);
        }
        let mut notes = Vec::new();
        for client in working {
            notes.push(client.await.unwrap());
        }
        for reader in reading {
            readers.push(reader.await.unwrap());
        }
        history.extend(notes.iter().flat_map(|notes| notes.steps.iter().cloned()).collect());
        assert_eq!(case.storage.current_revision(), history.end());
        for notes in &notes {
            notes.check(&history);
        }
        if dice.one_in(3) {
            case.restart().await;
            for reader in &mut readers {
                reader.resume(&case.storage);
            }
        }
        // Some have seen enough; the others go on in the next round.
        for mut reader in readers.split_off(dice.roll(readers.len() as u32 + 1) as usize) {
            reader.finish(&history);
        }
        compare(&case.storage, &history, forgotten, &mut dice).await;
    }
    for reader in &mut readers {
        reader.finish(&history);
    }
    assert!(case.storage.self_check().await.unwrap().is_clean());
    case.storage.shutdown().await.unwrap();
}

async fn forget_something(storage: &Storage, history: &History, dice: &mut Dice) -> Revision {
    let before = dice.revision(history.start()..=history.end());
    for _ in 0..dice.roll(50) {
        tokio::task::yield_now().await;
    }
    storage.compact(before).await.unwrap();
    before
}

/// Every way to look at the past: by undoing what came later, by the records of the log, and by watching from
/// there.
async fn compare(storage: &Storage, history: &History, forgotten: Revision, dice: &mut Dice) {
    let mut records: Vec<Record> = Vec::new();
    storage.records(&mut |record| records.push(record)).await.unwrap();
    let (oldest, newest) = (forgotten.max(history.start()), history.end());
    let mut revisions = vec![oldest, newest];
    revisions.extend((0..12).map(|_| dice.revision(oldest..=newest)));
    for resource in RESOURCES.map(ResourceName::new) {
        for &revision in &revisions {
            let snapshot = storage.snapshot_at(&resource, revision).unwrap();
            let expected = history.state(&resource, revision);
            assert_eq!(snapshot.revision(), revision);
            assert_eq!(objects_of(snapshot.iter()), expected, "{resource} at {revision}, by undoing");
            assert_eq!(
                by_log(&records, &resource, revision),
                expected,
                "{resource} at {revision}, by the log"
            );
            for term in TERMS {
                let mut with_term = expected.clone();
                with_term.retain(|_, (_, value)| words(value).any(|word| word == term));
                let found = objects_of(snapshot.with_term(WORDS_INDEX, term, &Scope::All, None));
                assert_eq!(found, with_term, "{resource} at {revision}, with the term {term}");
                let found = objects_of(snapshot.holders(WORDS_INDEX, term));
                assert_eq!(found, with_term, "{resource} at {revision}, holders of the term {term}");
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
        if forgotten > history.start() {
            let gone = dice.revision(history.start()..=Revision::new(forgotten.get() - 1));
            // What need not be kept may be there all the same after a restart; then it is right.
            match storage.snapshot_at(&resource, gone) {
                Ok(snapshot) => {
                    assert_eq!(
                        objects_of(snapshot.iter()),
                        history.state(&resource, gone),
                        "{resource} at {gone}"
                    );
                }
                Err(error) => assert!(matches!(error, StoreError::Expired { .. }), "{gone}: {error}"),
            }
        }
    }
}

fn by_log(records: &[Record], resource: &ResourceName, revision: Revision) -> Objects {
    let mut newest = BTreeMap::new();
    for record in records.iter().filter(|record| record.revision <= revision) {
        if record.key.resource == *resource {
            newest.insert(record.key.clone(), record);
        }
    }
    let kept = newest.into_iter().filter(|(_, record)| record.op != Op::Remove);
    kept.map(|(key, record)| (key, (record.revision, record.value.clone().unwrap()))).collect()
}
