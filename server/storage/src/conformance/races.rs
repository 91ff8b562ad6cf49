//! Conditions under contention: whatever order the writes come in, and whichever of them share a transaction.

use super::{Case, Fixture, body, create, in_parallel, key, remove, replace, resource, submit, term};
use crate::condition::Condition;
use crate::error::StoreError;
use crate::key::{Key, ResourceName, Scope};
use crate::revision::Revision;
use crate::write::{Change, Write};

pub(super) async fn run<F: Fixture>(fixture: &F) {
    run_cases!(fixture:
        one_gets_the_last_address,
        all_addresses_are_given_out_once,
        nothing_enters_a_namespace_that_changed,
        order_decides_among_writes_that_wait,
    );
}

fn claim(name: &str, word: &str) -> Write {
    let change = Change::Create { key: key("ns", name), body: body(word) };
    change.when(Condition::Unclaimed { term: term(word) })
}

async fn one_gets_the_last_address<F: Fixture>(case: &Case<'_, F>) {
    for (round, writers) in [2, 2, 2, 2, 32, 32].into_iter().enumerate() {
        let address = format!("10.0.0.{round}");
        let attempts = in_parallel(writers, |index| {
            let (storage, write) = (case.storage.clone(), claim(&format!("{round}-{index}"), &address));
            Box::pin(async move { storage.commit(write).await })
        });
        let (won, lost): (Vec<_>, Vec<_>) = attempts.await.into_iter().partition(Result::is_ok);
        assert_eq!((won.len(), lost.len()), (1, writers - 1));
        let holder = won[0].as_ref().unwrap().revision;
        for lost in lost {
            match lost {
                Err(StoreError::ConditionFailed { found: Some(found), .. }) => {
                    assert_eq!(found.revision(), holder);
                }
                other => panic!("{other:?}"),
            }
        }
        let snapshot = case.storage.snapshot(&resource());
        assert_eq!(snapshot.holders(term(&address).index, &address).count(), 1);
    }
}

/// Many writers look for a free address, each from another one on, until all are taken.
async fn all_addresses_are_given_out_once<F: Fixture>(case: &Case<'_, F>) {
    const ADDRESSES: usize = 20;
    let got = in_parallel(32, |writer| {
        let storage = case.storage.clone();
        Box::pin(async move {
            for step in 0..ADDRESSES {
                let address = format!("10.0.0.{}", (writer * 7 + step) % ADDRESSES);
                match storage.commit(claim(&writer.to_string(), &address)).await {
                    Ok(_) => return Some(address),
                    Err(StoreError::ConditionFailed { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            None
        })
    });
    let mut got: Vec<String> = got.await.into_iter().flatten().collect();
    got.sort();
    got.dedup();
    assert_eq!(got.len(), ADDRESSES, "each is given out, and once");
    assert_eq!(case.storage.snapshot(&resource()).len(), ADDRESSES);
}

fn namespace(name: &str) -> Key {
    Key::new(ResourceName::new("namespaces"), "", name)
}

/// The creation of an object, on condition that its namespace is still at this revision.
fn enter(namespace_name: &str, name: &str, revision: Revision) -> Write {
    let change = Change::Create { key: key(namespace_name, name), body: body("x") };
    change.when(Condition::At { key: namespace(namespace_name), revision })
}

/// Tasks create objects in a namespace while another one changes or removes it: no object comes after that.
async fn nothing_enters_a_namespace_that_changed<F: Fixture>(case: &Case<'_, F>) {
    const ROUNDS: usize = 40;
    let storage = &case.storage;
    let start = storage.current_revision();
    let (mut entered, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let name = format!("n{round}");
        let there = create(storage, namespace(&name), "open").await.unwrap().revision;
        let attempts = in_parallel(9, |index| {
            let (storage, name) = (storage.clone(), name.clone());
            Box::pin(async move {
                // Who comes first differs from round to round.
                for _ in 0..(index * 5 + round * 3) % 11 {
                    tokio::task::yield_now().await;
                }
                match index {
                    0 if round % 2 == 0 => remove(&storage, namespace(&name), there).await,
                    0 => replace(&storage, namespace(&name), there, "closed").await,
                    _ => storage.commit(enter(&name, &index.to_string(), there)).await,
                }
            })
        });
        let mut attempts = attempts.await.into_iter();
        let changed = attempts.next().unwrap().unwrap().revision;
        for attempt in attempts {
            match attempt {
                Ok(committed) => {
                    assert!(there < committed.revision && committed.revision < changed, "round {round}");
                    entered += 1;
                }
                Err(StoreError::ConditionFailed { found, .. }) => {
                    let want = (round % 2 == 1).then_some(changed);
                    assert_eq!(found.map(|found| found.revision()), want, "round {round}");
                    refused += 1;
                }
                Err(other) => panic!("round {round}: {other}"),
            }
        }
        let late = storage.commit(enter(&name, "late", there)).await;
        assert!(matches!(late, Err(StoreError::ConditionFailed { .. })), "round {round}: {late:?}");
    }
    assert_eq!(storage.snapshot(&resource()).len(), entered);
    assert_eq!(entered + refused, ROUNDS * 8);
    // The events tell the same story as the answers.
    let mut watch = storage.watch(&resource(), Scope::All, start).unwrap();
    let mut told = 0;
    while told < entered {
        told += watch.next().await.unwrap().len();
    }
    assert!(told == entered && watch.take().unwrap().is_empty());
}

/// One caller hands over many writes before any is answered, so that they share transactions: those before
/// the change of the namespace are stored, those after it are not.
async fn order_decides_among_writes_that_wait<F: Fixture>(case: &Case<'_, F>) {
    const WRITES: usize = 12;
    let storage = &case.storage;
    for position in 0..=WRITES {
        let name = format!("n{position}");
        let there = create(storage, namespace(&name), "open").await.unwrap().revision;
        let mut waiting = Vec::new();
        for index in 0..=WRITES {
            let write = if index == position {
                Change::Replace { key: namespace(&name), expected: there, body: body("closed") }.into()
            } else {
                enter(&name, &index.to_string(), there)
            };
            waiting.push(submit(storage, write).await);
        }
        let (mut committed_at, mut refused_by) = (Vec::new(), Vec::new());
        for (index, commit) in waiting.into_iter().enumerate() {
            match commit.await {
                Ok(committed) => committed_at.push((index, committed.revision)),
                Err(StoreError::ConditionFailed { found: Some(found), .. }) => {
                    refused_by.push((index, found.revision()));
                }
                Err(other) => panic!("{index} of {position}: {other}"),
            }
        }
        let closed =
            committed_at.iter().find(|(index, _)| *index == position).expect("nothing prevents it").1;
        assert!(committed_at.iter().all(|(_, revision)| *revision <= closed), "{position}: {committed_at:?}");
        assert!(refused_by.iter().all(|(_, revision)| *revision == closed), "{position}: {refused_by:?}");
        let in_namespace = storage.snapshot(&resource()).in_namespace(&name).count();
        assert_eq!(in_namespace, committed_at.len() - 1);
        if case.fixture.keeps_order() {
            let in_order = (0..=position).map(|index| (index, Revision::new(there.get() + 1 + index as u64)));
            assert_eq!(committed_at, in_order.collect::<Vec<_>>());
        }
    }
}
