//! Random writes, restarts and compactions against a model: a plain map and a plain list.

use std::collections::BTreeMap;

use super::{Case, Fixture, Listing, RETENTION, create, key, listing, remove, replace, resource, stamped};
use crate::error::StoreError;
use crate::event::EventKind;
use crate::key::Scope;
use crate::revision::Revision;

/// Steps of one run.
const STEPS: u32 = 400;

pub(super) async fn run<F: Fixture>(fixture: &F, seed: u64) {
    let mut case = Case::new(fixture).await;
    let mut dice = Dice(seed);
    let mut model = Model { start: case.storage.current_revision(), ..Model::default() };
    for step in 0..STEPS {
        let context = format!("seed {seed}, step {step}");
        match dice.roll(40) {
            0 => case.restart().await,
            1 => {
                let through =
                    Revision::new(model.start.get() + u64::from(dice.roll(model.changes.len() as u32 + 1)));
                case.storage.compact(through).await.unwrap();
                model.forgotten = model.forgotten.max(through);
            }
            // Little enough that all of it stays within the retention time.
            2 => case.clock.advance(RETENTION / STEPS),
            3 => model.compare(&case, &mut dice, &context),
            _ => model.write(&case, &mut dice, &context).await,
        }
    }
    model.compare(&case, &mut dice, &format!("seed {seed}, at the end"));
    let report = case.storage.self_check().await.unwrap();
    assert!(report.is_clean(), "seed {seed}: {report:?}");
}

/// What the store must look like.
#[derive(Default)]
struct Model {
    start: Revision,
    state: Listing,
    changes: Vec<(Revision, EventKind)>,
    states: BTreeMap<Revision, Listing>,
    forgotten: Revision,
}

impl Model {
    async fn write<F: Fixture>(&mut self, case: &Case<'_, F>, dice: &mut Dice, context: &str) {
        let (namespace, name) = (format!("n{}", dice.roll(3)), format!("o{}", dice.roll(8)));
        let key = key(&namespace, &name);
        let current = self.state.get(&(namespace.clone(), name.clone())).map(|(revision, _)| *revision);
        let stale = dice.roll(8) == 0;
        let expected = current.filter(|_| !stale).unwrap_or(Revision::ZERO);
        let value = dice.roll(1000).to_string();
        let storage = &case.storage;
        let (result, allowed, put) = match dice.roll(3) {
            0 => (create(storage, key, &value).await, current.is_none(), true),
            1 => (replace(storage, key, expected, &value).await, current == Some(expected), true),
            _ => (remove(storage, key, expected).await, current == Some(expected), false),
        };
        assert_eq!(result.is_ok(), allowed, "{context}: {result:?}");
        let Ok(committed) = result else { return };
        let newest = self.changes.last().map_or(self.start, |(revision, _)| *revision);
        assert_eq!(committed.revision, newest.next(), "{context}");
        if put {
            let entry = (committed.revision, stamped(&value, committed.revision));
            self.state.insert((namespace, name), entry);
        } else {
            self.state.remove(&(namespace, name));
        }
        self.changes.push((committed.revision, if put { EventKind::Put } else { EventKind::Remove }));
        self.states.insert(committed.revision, self.state.clone());
    }

    fn compare<F: Fixture>(&self, case: &Case<'_, F>, dice: &mut Dice, context: &str) {
        assert_eq!(listing(&case.storage.snapshot(&resource())), self.state, "{context}");
        let Some((past, state)) = self.states.iter().nth(dice.roll(self.states.len().max(1) as u32) as usize)
        else {
            return;
        };
        match case.storage.snapshot_at(&resource(), *past) {
            Ok(snapshot) => assert_eq!(&listing(&snapshot), state, "{context}: at {past}"),
            Err(StoreError::Expired { .. }) => assert!(*past < self.forgotten, "{context}: at {past}"),
            Err(other) => panic!("{context}: {other}"),
        }
        match case.storage.watch(&resource(), Scope::All, *past) {
            Ok(mut watch) => {
                let mut told = Vec::new();
                loop {
                    let events = watch.take().unwrap();
                    if events.is_empty() {
                        break;
                    }
                    told.extend(events.iter().map(|event| (event.revision(), event.kind())));
                }
                let rest = self.changes.iter().copied().filter(|(revision, _)| revision > past);
                assert_eq!(told, rest.collect::<Vec<_>>(), "{context}: after {past}");
            }
            Err(StoreError::Expired { .. }) => assert!(*past < self.forgotten, "{context}: after {past}"),
            Err(other) => panic!("{context}: {other}"),
        }
    }
}

/// A small random generator, so that the suite can be part of the crate without a dependency.
struct Dice(u64);

impl Dice {
    /// A number below `sides` (splitmix64).
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % u64::from(sides)) as u32
    }
}
