//! The conditions of a write: each holds or fails as it says, after what the change itself demands.

use super::{
    Case, Fixture, WITHOUT_INDEX, body, create, key, listing, remove, replace, resource, stamped, term, text,
};
use crate::condition::Condition;
use crate::error::StoreError;
use crate::event::EventKind;
use crate::key::{Key, ResourceName, Scope};
use crate::revision::Revision;
use crate::storage::Storage;
use crate::write::{Change, Committed, Write};

pub(super) async fn run<F: Fixture>(fixture: &F) {
    run_cases!(fixture:
        each_holds_or_fails,
        all_have_to_hold,
        every_change_can_have_them,
        the_change_comes_first,
        refused_writes_leave_no_trace,
        terms_are_claimed_and_freed,
        terms_belong_to_a_resource,
        hold_after_a_restart,
    );
}

fn at(key: Key, revision: Revision) -> Condition {
    Condition::At { key, revision }
}

fn absent(key: Key) -> Condition {
    Condition::Absent { key }
}

fn unclaimed(word: &str) -> Condition {
    Condition::Unclaimed { term: term(word) }
}

fn other(name: &str) -> Key {
    Key::new(ResourceName::new("namespaces"), "", name)
}

/// Creates an object whose value is `text`, on conditions.
async fn create_when(
    storage: &Storage,
    key: Key,
    text: &str,
    conditions: Vec<Condition>,
) -> Result<Committed, StoreError> {
    storage.commit(Write { change: Change::Create { key, body: body(text) }, conditions }).await
}

/// The condition that failed, and the revision of the object that was in the way.
fn failure(result: Result<Committed, StoreError>) -> (Condition, Option<Revision>) {
    match result {
        Err(StoreError::ConditionFailed { condition, found, .. }) => {
            (Condition::clone(&condition), found.map(|found| found.revision()))
        }
        other => panic!("no condition failed: {other:?}"),
    }
}

async fn each_holds_or_fails<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let old = create(storage, other("a"), "x").await.unwrap().revision;
    let new = replace(storage, other("a"), old, "x").await.unwrap().revision;
    let gone = create(storage, other("gone"), "x").await.unwrap().revision;
    remove(storage, other("gone"), gone).await.unwrap();
    let holder = create(storage, key("ns", "holder"), "10.0.0.1 tcp/80").await.unwrap().revision;
    for (condition, want) in [
        (at(other("a"), new), Ok(())),
        (at(other("a"), old), Err(Some(new))),
        (at(other("a"), new.next()), Err(Some(new))),
        (at(other("a"), Revision::ZERO), Err(Some(new))),
        (at(other("b"), new), Err(None)),
        (at(other("gone"), gone), Err(None)),
        // The same name, but in a namespace, and of another resource.
        (at(Key::new(ResourceName::new("namespaces"), "a", "a"), new), Err(None)),
        (at(key("", "a"), new), Err(None)),
        (absent(other("b")), Ok(())),
        (absent(other("gone")), Ok(())),
        (absent(key("", "a")), Ok(())),
        (absent(other("a")), Err(Some(new))),
        (unclaimed("10.0.0.2"), Ok(())),
        (unclaimed("10.0.0"), Ok(())),
        (unclaimed(""), Ok(())),
        (unclaimed("10.0.0.1"), Err(Some(holder))),
        (unclaimed("tcp/80"), Err(Some(holder))),
    ] {
        let written = create_when(storage, key("ns", "new"), "10.0.0.2", vec![condition.clone()]).await;
        match (written, want) {
            (Ok(committed), Ok(())) => {
                remove(storage, key("ns", "new"), committed.revision).await.unwrap();
            }
            (Err(StoreError::ConditionFailed { key: written, condition: failed, found }), Err(want)) => {
                assert_eq!((written, &*failed), (key("ns", "new"), &condition));
                assert_eq!(found.map(|found| found.revision()), want, "{condition}");
            }
            (result, _) => panic!("{condition}: {result:?}"),
        }
    }
}

async fn all_have_to_hold<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let there = create(storage, other("a"), "x").await.unwrap().revision;
    let good = [at(other("a"), there), absent(other("b")), unclaimed("free")];
    let bad = [at(other("a"), there.next()), absent(other("a"))];
    for position in 0..=good.len() {
        let mut conditions = good.to_vec();
        conditions.insert(position, bad[0].clone());
        conditions.push(bad[1].clone());
        let (failed, _) = failure(create_when(storage, key("ns", "a"), "x", conditions).await);
        assert_eq!(failed, bad[0], "the first that fails is named");
    }
    create_when(storage, key("ns", "a"), "x", good.to_vec()).await.unwrap();
}

async fn every_change_can_have_them<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let there = create(storage, other("a"), "x").await.unwrap().revision;
    let mut expected = create(storage, key("ns", "a"), "x").await.unwrap().revision;
    let name = || key("ns", "a");
    for step in 0..3 {
        let change = || match step {
            0 => Change::Replace { key: name(), expected, body: body("replaced") },
            1 => Change::Retire { key: name(), expected, body: body("retired") },
            _ => Change::Remove { key: name(), expected, body: body("removed") },
        };
        failure(storage.commit(change().when(absent(other("a")))).await);
        let committed = storage.commit(change().when(at(other("a"), there))).await.unwrap();
        assert_eq!(committed.previous.unwrap().revision(), expected);
        let want = stamped(["replaced", "retired", "removed"][step], committed.revision);
        assert_eq!(text(&committed.object), want);
        expected = committed.revision;
    }
    assert!(storage.snapshot(&resource()).is_empty());
}

/// What is wrong with the change itself is told before any condition.
async fn the_change_comes_first<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let there = create(storage, key("ns", "a"), "x").await.unwrap().revision;
    let never = || at(other("none"), there);
    let created = create_when(storage, key("ns", "a"), "x", vec![never()]).await;
    assert!(matches!(created, Err(StoreError::AlreadyExists { .. })), "{created:?}");
    let (missing, stale) = (key("ns", "b"), there.next());
    let missing = Change::Replace { key: missing, expected: there, body: body("x") };
    let replaced = storage.commit(missing.when(never())).await;
    assert!(matches!(replaced, Err(StoreError::NotFound { .. })), "{replaced:?}");
    let stale = Change::Remove { key: key("ns", "a"), expected: stale, body: body("x") };
    let removed = storage.commit(stale.when(never())).await;
    assert!(matches!(removed, Err(StoreError::Conflict { .. })), "{removed:?}");
}

async fn refused_writes_leave_no_trace<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let there = create(storage, key("ns", "a"), "taken").await.unwrap().revision;
    let before = storage.snapshot(&resource());
    let mut watch = storage.watch(&resource(), Scope::All, there).unwrap();
    failure(create_when(storage, key("ns", "b"), "free", vec![unclaimed("taken")]).await);
    let change = Change::Replace { key: key("ns", "a"), expected: there, body: body("free") };
    failure(storage.commit(change.when(at(other("none"), there))).await);
    let change = Change::Remove { key: key("ns", "a"), expected: there, body: body("gone") };
    failure(storage.commit(change.when(absent(key("ns", "a")))).await);

    let after = storage.snapshot(&resource());
    assert_eq!((after.revision(), listing(&after)), (before.revision(), listing(&before)));
    assert_eq!(after.holders(term("free").index, "free").count(), 0);
    let next = create_when(storage, key("ns", "c"), "free", vec![unclaimed("free")]).await.unwrap();
    assert_eq!(next.revision, there.next(), "a refused write uses no revision");
    let events = watch.take().unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].kind(), events[0].revision()), (EventKind::Put, next.revision));
}

async fn terms_are_claimed_and_freed<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let claim = |name: &'static str, words: &'static str| {
        let conditions = words.split(' ').map(unclaimed).collect();
        create_when(storage, key("ns", name), words, conditions)
    };
    let first = claim("a", "one two").await.unwrap().revision;
    assert_eq!(failure(claim("b", "three two").await), (unclaimed("two"), Some(first)));
    let holders = |word: &str| storage.snapshot(&resource()).holders(term(word).index, word).count();
    assert_eq!([holders("one"), holders("two"), holders("three")], [1, 1, 0]);

    // An object may keep what it has.
    let change = Change::Replace { key: key("ns", "a"), expected: first, body: body("one three") };
    let conditions = vec![unclaimed("one"), unclaimed("two"), unclaimed("three")];
    let second = storage.commit(Write { change, conditions }).await.unwrap().revision;
    let third = claim("b", "two").await.unwrap().revision;
    assert_eq!(failure(claim("c", "three").await), (unclaimed("three"), Some(second)));
    remove(storage, key("ns", "a"), second).await.unwrap();
    claim("c", "three").await.unwrap();
    assert_eq!(failure(claim("d", "two").await), (unclaimed("two"), Some(third)));

    // Objects of other namespaces count, and more than one may have a term that nobody claimed.
    for namespace in ["n1", "n2"] {
        create(storage, key(namespace, "a"), "shared").await.unwrap();
    }
    assert_eq!(holders("shared"), 2);
    let shared = storage.snapshot(&resource()).get("n1", "a").unwrap().revision();
    let change = Change::Replace { key: key("n1", "a"), expected: shared, body: body("shared") };
    failure(storage.commit(change.when(unclaimed("shared"))).await);
}

async fn terms_belong_to_a_resource<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    create(storage, other("a"), "word").await.unwrap();
    create_when(storage, key("ns", "a"), "word", vec![unclaimed("word")]).await.unwrap();
    for name in ["a", "b"] {
        let unindexed = Key::new(ResourceName::new(WITHOUT_INDEX), "ns", name);
        create_when(storage, unindexed, "word", vec![unclaimed("word")]).await.unwrap();
    }
}

async fn hold_after_a_restart<F: Fixture>(case: &mut Case<'_, F>) {
    let there = create(&case.storage, key("ns", "a"), "word").await.unwrap().revision;
    case.restart().await;
    let conditions = vec![at(key("ns", "a"), there), absent(key("ns", "b")), unclaimed("word")];
    let refused = create_when(&case.storage, key("ns", "b"), "word", conditions).await;
    assert_eq!(failure(refused), (unclaimed("word"), Some(there)));
}
