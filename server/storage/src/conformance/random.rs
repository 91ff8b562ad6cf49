//! Random writes, restarts and compactions against a model: a plain map and a plain list.

use std::collections::BTreeMap;

use super::dice::Dice;
use super::{Case, Fixture, Listing, RETENTION, body, key, listing, resource, stamped, term, words};
use crate::condition::Condition;
use crate::error::StoreError;
use crate::event::EventKind;
use crate::key::{Key, Scope};
use crate::revision::Revision;
use crate::write::{Change, Write};

/// Steps of one run.
const STEPS: u32 = 400;

pub(super) async fn run<F: Fixture>(fixture: &F, seed: u64) {
    let mut case = Case::new(fixture).await;
    let mut dice = Dice::new(seed);
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
    case.end().await;
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
        let name = random_name(dice);
        let key = key(&name.0, &name.1);
        let current = self.revision_of(&name);
        let stale = dice.one_in(8);
        let expected = current.filter(|_| !stale).unwrap_or(Revision::ZERO);
        let value = format!("w{}", dice.roll(20));
        let body = body(&value);
        let (change, allowed, put) = match dice.roll(3) {
            0 => (Change::Create { key, body }, current.is_none(), true),
            1 => (Change::Replace { key, expected, body }, current == Some(expected), true),
            _ => (Change::Remove { key, expected, body }, current == Some(expected), false),
        };
        let conditions: Vec<_> = (0..dice.roll(3)).map(|_| self.condition(dice)).collect();
        let failing = conditions.iter().find(|condition| !self.holds(&name, condition)).cloned();
        let committed = match (case.storage.commit(Write { change, conditions }).await, failing) {
            (Ok(committed), None) if allowed => committed,
            (Err(StoreError::ConditionFailed { condition, .. }), Some(failing)) if allowed => {
                assert_eq!(*condition, failing, "{context}");
                return;
            }
            (
                Err(
                    StoreError::AlreadyExists { .. }
                    | StoreError::NotFound { .. }
                    | StoreError::Conflict { .. },
                ),
                _,
            ) if !allowed => return,
            (result, failing) => panic!("{context}: allowed: {allowed}, but for {failing:?}: {result:?}"),
        };
        let newest = self.changes.last().map_or(self.start, |(revision, _)| *revision);
        assert_eq!(committed.revision, newest.next(), "{context}");
        if put {
            let entry = (committed.revision, stamped(&value, committed.revision));
            self.state.insert(name, entry);
        } else {
            self.state.remove(&name);
        }
        self.changes.push((committed.revision, if put { EventKind::Put } else { EventKind::Remove }));
        self.states.insert(committed.revision, self.state.clone());
    }

    fn revision_of(&self, name: &(String, String)) -> Option<Revision> {
        self.state.get(name).map(|(revision, _)| *revision)
    }

    /// A condition that mostly holds.
    fn condition(&self, dice: &mut Dice) -> Condition {
        let name = random_name(dice);
        let key = key(&name.0, &name.1);
        match (self.revision_of(&name), dice.roll(8)) {
            (_, 0) | (None, 4..) => Condition::Absent { key },
            (_, 1) => Condition::At { key, revision: Revision::ZERO },
            (_, 2 | 3) => Condition::Unclaimed { term: term(&format!("w{}", dice.roll(20))) },
            (Some(revision), 4..) => Condition::At { key, revision },
        }
    }

    /// Whether a condition of a write to `name` holds.
    fn holds(&self, name: &(String, String), condition: &Condition) -> bool {
        let find = |key: &Key| self.revision_of(&(key.namespace.to_string(), key.name.to_string()));
        match condition {
            Condition::At { key, revision } => find(key) == Some(*revision),
            Condition::Absent { key } => find(key).is_none(),
            Condition::Unclaimed { term } => {
                let mut others = self.state.iter().filter(|(other, _)| *other != name);
                !others.any(|(_, (_, value))| words(value.as_bytes()).any(|word| *word == *term.value))
            }
        }
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

fn random_name(dice: &mut Dice) -> (String, String) {
    (format!("n{}", dice.roll(3)), format!("o{}", dice.roll(8)))
}
