//! How far back readers can go, and what happens beyond.

use std::time::Duration;

use super::watches::write_some;
use super::{Case, Fixture, RETENTION, create, key, listing, read_to, replace, resource, revisions};
use crate::error::StoreError;
use crate::key::{ResourceName, Scope};
use crate::revision::Revision;
use crate::store::{Op, Record};

pub(super) async fn run<F: Fixture>(fixture: &F) {
    run_cases!(fixture:
        shows_older_states,
        ends_after_the_retention_time,
        ends_by_itself,
        compacts_on_request,
        quiet_scopes_do_not_expire,
        survives_a_clock_that_jumps,
    );
}

async fn shows_older_states<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let mut past = vec![storage.snapshot(&resource())];
    for _ in 0..40 {
        write_some(storage, 1).await;
        past.push(storage.snapshot(&resource()));
    }
    for snapshot in past {
        let again = storage.snapshot_at(&resource(), snapshot.revision()).unwrap();
        assert_eq!(again.revision(), snapshot.revision());
        assert_eq!(listing(&again), listing(&snapshot));
    }
    let ahead = storage.current_revision().next();
    match storage.snapshot_at(&resource(), ahead) {
        Err(StoreError::FutureRevision { asked, current }) => {
            assert_eq!((asked, current), (ahead, storage.current_revision()));
        }
        other => panic!("a state of the future: {:?}", other.map(|snapshot| snapshot.revision())),
    }
}

async fn ends_after_the_retention_time<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let start = storage.current_revision();
    let old = write_some(storage, 10).await;
    let mut slow = storage.watch(&resource(), Scope::All, start).unwrap();
    let mut reader = storage.watch(&resource(), Scope::All, start).unwrap();
    read_to(&mut reader, old).await;
    case.clock.advance(RETENTION / 2);
    let young = write_some(storage, 10).await;
    case.clock.advance(RETENTION / 2 + Duration::from_secs(1));
    storage.expire().await.unwrap();

    for after in [start, Revision::new(old.get() - 1)] {
        let watch = storage.watch(&resource(), Scope::All, after).map(|_| ());
        match watch {
            Err(StoreError::Expired { asked, oldest }) => assert_eq!((asked, oldest), (after, old)),
            other => panic!("watching what is gone: {other:?}"),
        }
        assert!(matches!(storage.snapshot_at(&resource(), after), Err(StoreError::Expired { .. })));
    }
    assert!(matches!(slow.next().await, Err(StoreError::Expired { .. })), "missed events are never skipped");
    let kept: Vec<u64> = (old.get() + 1..=young.get()).collect();
    assert_eq!(revisions(&reader.take().unwrap()), kept, "who was in time goes on");
    let mut resumed = storage.watch(&resource(), Scope::All, old).unwrap();
    assert_eq!(revisions(&resumed.take().unwrap()), kept);
    assert!(storage.snapshot_at(&resource(), old).is_ok());
}

/// Writing is enough: nobody has to ask that history be forgotten.
async fn ends_by_itself<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let start = storage.current_revision();
    write_some(storage, 5).await;
    case.clock.advance(RETENTION * 2);
    // A store may tidy up after it has answered; then it is done before it answers the next write.
    write_some(storage, 2).await;
    assert!(matches!(storage.watch(&resource(), Scope::All, start), Err(StoreError::Expired { .. })));
}

async fn compacts_on_request<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let start = storage.current_revision();
    let middle = write_some(storage, 20).await;
    write_some(storage, 20).await;
    let before = storage.snapshot(&resource());
    storage.compact(middle).await.unwrap();
    assert_eq!(listing(&storage.snapshot(&resource())), listing(&before), "the newest state is untouched");
    assert!(matches!(storage.watch(&resource(), Scope::All, start), Err(StoreError::Expired { .. })));
    assert!(storage.watch(&resource(), Scope::All, middle).is_ok());

    storage.compact(storage.current_revision()).await.unwrap();
    let mut kept: Vec<Record> = Vec::new();
    let newest = storage.records(&mut |record| kept.push(record)).await.unwrap();
    assert_eq!(newest, storage.current_revision());
    let live: Vec<Revision> = kept.iter().map(|record| record.revision).collect();
    let mut want: Vec<Revision> = before.iter().map(|object| object.revision()).collect();
    want.sort();
    assert_eq!(live, want, "only the newest record of each object is left");
    assert!(kept.iter().all(|record| record.op != Op::Remove));
}

async fn quiet_scopes_do_not_expire<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let quiet = ResourceName::new("secrets");
    let start = storage.current_revision();
    let mut idle = storage.watch(&resource(), Scope::Name("n1".into(), "quiet".into()), start).unwrap();
    let mut other = storage.watch(&quiet, Scope::All, start).unwrap();
    write_some(storage, 50).await;
    case.clock.advance(RETENTION * 2);
    storage.expire().await.unwrap();
    assert!(idle.take().unwrap().is_empty());
    assert!(other.take().unwrap().is_empty());
    assert!(storage.watch(&quiet, Scope::All, start).is_ok(), "nothing of that resource was forgotten");
    let created = create(storage, key("n1", "quiet"), "x").await.unwrap().revision;
    assert_eq!(revisions(&idle.take().unwrap()), [created.get()]);
}

async fn survives_a_clock_that_jumps<F: Fixture>(case: &Case<'_, F>) {
    let storage = &case.storage;
    let start = storage.current_revision();
    case.clock.advance(RETENTION * 1000);
    let ahead = create(storage, key("ns", "a"), "ahead").await.unwrap().revision;
    case.clock.set_back(RETENTION * 1000);
    let now = replace(storage, key("ns", "a"), ahead, "back").await.unwrap().revision;
    case.clock.advance(RETENTION * 2);
    storage.expire().await.unwrap();
    assert!(now > ahead);
    assert!(matches!(storage.watch(&resource(), Scope::All, start), Err(StoreError::Expired { .. })));
    assert!(matches!(storage.watch(&resource(), Scope::All, ahead), Err(StoreError::Expired { .. })));
}
