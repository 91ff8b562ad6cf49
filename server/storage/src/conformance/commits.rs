//! What a change demands, revisions, and what readers see after a commit.

use std::task::Poll;

use super::{
    Case, Fixture, body, create, in_parallel, key, listing, remove, replace, resource, stamped, submit, text,
};
use crate::error::StoreError;
use crate::key::{Key, ResourceName};
use crate::revision::Revision;
use crate::write::{Change, Committed};

pub(super) async fn run<F: Fixture>(fixture: &F) {
    run_cases!(fixture:
        starts_empty,
        changes,
        refused_writes_leave_no_trace,
        names_are_three_parts,
        one_of_many_wins,
        no_update_is_lost,
        abandoned_writes_are_whole,
        accepted_writes_happen,
        shutdown_refuses,
    );
}

#[expect(clippy::unused_async, reason = "cases wait")]
async fn starts_empty<F: Fixture>(case: &Case<'_, F>) {
    let snapshot = case.storage.snapshot(&resource());
    assert!(snapshot.is_empty() && snapshot.revision() >= Revision::FIRST);
    assert_eq!(snapshot.revision(), case.storage.current_revision());
}

async fn changes<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let first = storage.current_revision().next();

    let created = create(storage, key("ns", "a"), "one").await.unwrap();
    assert_eq!(created.revision, first);
    assert_eq!(text(&created.object), stamped("one", first));
    assert!(created.previous.is_none());

    match create(storage, key("ns", "a"), "two").await {
        Err(StoreError::AlreadyExists { current }) => assert_eq!(current.revision(), first),
        other => panic!("creating twice: {other:?}"),
    }
    match replace(storage, key("ns", "a"), first.next(), "two").await {
        Err(StoreError::Conflict { expected, current }) => {
            assert_eq!((expected, current.revision()), (first.next(), first));
        }
        other => panic!("replacing another revision: {other:?}"),
    }
    assert!(matches!(
        remove(storage, key("ns", "a"), Revision::ZERO).await,
        Err(StoreError::Conflict { .. })
    ));
    assert!(matches!(replace(storage, key("ns", "b"), first, "x").await, Err(StoreError::NotFound { .. })));
    assert!(matches!(remove(storage, key("ns", "b"), first).await, Err(StoreError::NotFound { .. })));

    let replaced = replace(storage, key("ns", "a"), first, "two").await.unwrap();
    assert_eq!(replaced.revision, first.next());
    assert_eq!(replaced.previous.unwrap().revision(), first);

    let removed = remove(storage, key("ns", "a"), first.next()).await.unwrap();
    assert_eq!(removed.revision, first.next().next());
    assert_eq!(text(&removed.object), stamped("gone", removed.revision));
    assert_eq!(text(&removed.previous.unwrap()), stamped("two", first.next()));
    assert!(storage.snapshot(&resource()).get("ns", "a").is_none());

    let again = create(storage, key("ns", "a"), "three").await.unwrap();
    assert!(again.previous.is_none(), "a removed object is no previous state");
}

async fn refused_writes_leave_no_trace<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    create(storage, key("ns", "a"), "one").await.unwrap();
    let before = storage.snapshot(&resource());
    create(storage, key("ns", "a"), "two").await.unwrap_err();
    replace(storage, key("ns", "a"), Revision::ZERO, "two").await.unwrap_err();
    remove(storage, key("ns", "b"), Revision::FIRST).await.unwrap_err();
    let after = storage.snapshot(&resource());
    assert_eq!(after.revision(), before.revision());
    assert_eq!(listing(&after), listing(&before));
}

async fn names_are_three_parts<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let names = ["a", "a/b", "/", "..", "a\0b", "", "%2f", "ä", "b/a/..", "'; DROP TABLE log; --"];
    for resource in ["pods", "pods/log", "leases.coordination.orch.io"] {
        for namespace in names {
            for name in names {
                let key = Key::new(ResourceName::new(resource), namespace, name);
                create(storage, key, &format!("{resource}|{namespace}|{name}")).await.unwrap();
            }
        }
    }
    for resource in ["pods", "pods/log", "leases.coordination.orch.io"] {
        let snapshot = storage.snapshot(&ResourceName::new(resource));
        assert_eq!(snapshot.len(), names.len() * names.len());
        for namespace in names {
            assert_eq!(snapshot.in_namespace(namespace).count(), names.len(), "{namespace:?}");
            for name in names {
                let object = snapshot.get(namespace, name).unwrap();
                let want = stamped(&format!("{resource}|{namespace}|{name}"), object.revision());
                assert_eq!(text(object), want);
            }
        }
    }
}

async fn one_of_many_wins<F: Fixture>(case: &Case<'_, F>) {
    let attempts = in_parallel(32, |index| {
        let storage = case.storage.clone();
        Box::pin(async move { create(&storage, key("ns", "a"), &index.to_string()).await })
    });
    let won: Vec<Committed> = attempts.await.into_iter().filter_map(Result::ok).collect();
    assert_eq!(won.len(), 1);
    let snapshot = case.storage.snapshot(&resource());
    assert_eq!(text(snapshot.get("ns", "a").unwrap()), text(&won[0].object));
}

/// Many tasks count one object up; every acknowledged step is in the final number, and whoever got an
/// acknowledgement sees it in the next snapshot.
async fn no_update_is_lost<F: Fixture>(case: &Case<'_, F>) {
    const TASKS: usize = 16;
    const STEPS: usize = 8;
    create(&case.storage, key("ns", "n"), "0").await.unwrap();
    let counted = in_parallel(TASKS, |_| {
        let storage = case.storage.clone();
        Box::pin(async move {
            let mut done = 0;
            while done < STEPS {
                let snapshot = storage.snapshot(&resource());
                let current = snapshot.get("ns", "n").unwrap();
                let number: usize = text(current).split('@').next().unwrap().parse().unwrap();
                let next = (number + 1).to_string();
                match replace(&storage, key("ns", "n"), current.revision(), &next).await {
                    Ok(committed) => {
                        let seen = storage.snapshot(&resource());
                        assert!(seen.revision() >= committed.revision);
                        assert!(seen.get("ns", "n").unwrap().revision() >= committed.revision);
                        done += 1;
                    }
                    Err(StoreError::Conflict { current, .. }) => {
                        let seen = storage.snapshot(&resource());
                        assert!(seen.get("ns", "n").unwrap().revision() >= current.revision());
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        })
    });
    counted.await;
    let snapshot = case.storage.snapshot(&resource());
    let last = snapshot.get("ns", "n").unwrap();
    assert_eq!(text(last), stamped(&(TASKS * STEPS).to_string(), last.revision()));
}

/// A caller that goes away in the middle of a commit leaves either the whole write or nothing, and the store
/// works.
async fn abandoned_writes_are_whole<F: Fixture>(case: &Case<'_, F>) {
    let start = case.storage.current_revision();
    for index in 0..20_u32 {
        let change = Change::Create { key: key("ns", &index.to_string()), body: body("abandoned") };
        let mut commit = Box::pin(case.storage.commit(change));
        let mut polls = 0;
        std::future::poll_fn(|cx| {
            polls += 1;
            let done = commit.as_mut().poll(cx).is_ready() || polls > index % 3;
            if done { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        drop(commit);
    }
    create(&case.storage, key("ns", "last"), "kept").await.unwrap();
    settle(case).await;
    let snapshot = case.storage.snapshot(&resource());
    let written = snapshot.revision().get() - start.get();
    assert_eq!(written, snapshot.len() as u64, "one revision per object");
    for object in snapshot.iter().filter(|object| *object.key().name != *"last") {
        assert_eq!(text(object), stamped("abandoned", object.revision()));
    }
}

/// A caller that goes away does not take back a write that the store has accepted.
async fn accepted_writes_happen<F: Fixture>(case: &Case<'_, F>) {
    let change = Change::Create { key: key("ns", "a"), body: body("abandoned") };
    // Done or not: no other write waits, so this one is accepted when it is submitted.
    drop(submit(&case.storage, change).await);
    let later = create(&case.storage, key("ns", "b"), "later").await.unwrap();
    settle(case).await;
    let snapshot = case.storage.snapshot(&resource());
    let revision = snapshot.get("ns", "a").unwrap().revision();
    assert!(revision < later.revision || !case.fixture.keeps_order());
}

/// Returns when the writes that nobody waits for are done; where the order is kept, they are.
async fn settle<F: Fixture>(case: &Case<'_, F>) {
    if !case.fixture.keeps_order() {
        case.storage.shutdown().await.unwrap();
    }
}

/// What the store took before it was told to end is committed, what comes later is refused.
async fn shutdown_refuses<F: Fixture>(case: &Case<'_, F>) {
    let mut accepted = Vec::new();
    for index in 0..100_u32 {
        let change = Change::Create { key: key("ns", &index.to_string()), body: body("accepted") };
        accepted.push(submit(&case.storage, change).await);
    }
    case.storage.shutdown().await.unwrap();
    for commit in accepted {
        commit.await.unwrap();
    }
    assert!(matches!(create(&case.storage, key("ns", "b"), "x").await, Err(StoreError::Closed)));
    assert!(matches!(case.storage.barrier().await, Err(StoreError::Closed)));
    assert_eq!(case.storage.snapshot(&resource()).len(), 100, "reads go on");
    case.storage.shutdown().await.unwrap();
}
