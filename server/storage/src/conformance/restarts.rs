//! What a new process finds.

use super::watches::write_some;
use super::{
    Case, Fixture, RETENTION, create, key, listing, read_to, remove, replace, resource, revisions, text,
};
use crate::error::StoreError;
use crate::key::Scope;

pub(super) async fn run<F: Fixture>(fixture: &F) {
    run_cases!(fixture:
        keeps_state_and_revision,
        watches_resume,
        removed_stays_removed,
        no_revision_is_given_out_twice,
        forgotten_stays_forgotten,
        forgets_nothing_young,
        passes_its_own_check,
    );
}

async fn keeps_state_and_revision<F: Fixture>(case: &mut Case<'_, F>) {
    let uid = case.storage.cluster_uid();
    case.restart().await;
    assert!(case.storage.snapshot(&resource()).is_empty());
    assert_eq!(case.storage.cluster_uid(), uid);
    let first = case.storage.current_revision().next();
    assert_eq!(create(&case.storage, key("ns", "first"), "x").await.unwrap().revision, first);

    let last = write_some(&case.storage, 50).await;
    let before = listing(&case.storage.snapshot(&resource()));
    for _ in 0..2 {
        case.restart().await;
        assert_eq!(case.storage.cluster_uid(), uid);
        assert_eq!(case.storage.current_revision(), last);
        assert_eq!(listing(&case.storage.snapshot(&resource())), before);
    }
    assert_eq!(create(&case.storage, key("ns", "next"), "x").await.unwrap().revision, last.next());
}

/// After a restart a watch from any older revision sees what it would have seen without the restart.
async fn watches_resume<F: Fixture>(case: &mut Case<'_, F>) {
    let start = case.storage.current_revision();
    write_some(&case.storage, 40).await;
    let mut watch = case.storage.watch(&resource(), Scope::All, start).unwrap();
    let told = watch.take().unwrap();
    case.restart().await;
    let last = write_some(&case.storage, 7).await;
    for (position, event) in told.iter().enumerate() {
        let mut resumed = case.storage.watch(&resource(), Scope::All, event.revision()).unwrap();
        let rest = read_to(&mut resumed, last).await;
        let want: Vec<u64> = (event.revision().get() + 1..=last.get()).collect();
        assert_eq!(revisions(&rest), want);
        for (again, first) in rest.iter().zip(&told[position + 1..]) {
            assert_eq!((again.kind(), again.key(), again.time()), (first.kind(), first.key(), first.time()));
            assert_eq!(text(again.object()), text(first.object()));
            assert_eq!(again.previous().map(|old| text(old)), first.previous().map(|old| text(old)));
        }
        let past = case.storage.snapshot_at(&resource(), event.revision()).unwrap();
        assert_eq!(past.revision(), event.revision());
    }
}

async fn removed_stays_removed<F: Fixture>(case: &mut Case<'_, F>) {
    let start = case.storage.current_revision();
    let created = create(&case.storage, key("ns", "a"), "one").await.unwrap().revision;
    let replaced = replace(&case.storage, key("ns", "a"), created, "two").await.unwrap().revision;
    let removed = remove(&case.storage, key("ns", "a"), replaced).await.unwrap().revision;
    case.storage.compact(removed).await.unwrap();
    case.restart().await;
    assert!(case.storage.snapshot(&resource()).is_empty());
    assert_eq!(case.storage.current_revision(), removed, "no revision is given out twice");
    for after in [start, created, replaced] {
        assert!(
            matches!(case.storage.watch(&resource(), Scope::All, after), Err(StoreError::Expired { .. })),
            "the removal would be missed after {after}"
        );
    }
    assert!(case.storage.watch(&resource(), Scope::All, removed).is_ok());
    assert_eq!(create(&case.storage, key("ns", "a"), "new").await.unwrap().revision, removed.next());
}

/// The newest write of all was a removal, and nothing is left of it but its revision.
async fn no_revision_is_given_out_twice<F: Fixture>(case: &mut Case<'_, F>) {
    let kept = create(&case.storage, key("ns", "kept"), "x").await.unwrap().revision;
    let created = create(&case.storage, key("ns", "a"), "x").await.unwrap().revision;
    let removed = remove(&case.storage, key("ns", "a"), created).await.unwrap().revision;
    case.storage.compact(removed).await.unwrap();
    for _ in 0..2 {
        case.restart().await;
        let snapshot = case.storage.snapshot(&resource());
        assert_eq!((snapshot.revision(), snapshot.len()), (removed, 1));
        assert_eq!(snapshot.get("ns", "kept").unwrap().revision(), kept);
        assert!(case.storage.self_check().await.unwrap().is_clean());
    }
    assert_eq!(create(&case.storage, key("ns", "b"), "x").await.unwrap().revision, removed.next());
}

/// Also where nothing but history is forgotten: creations leave no record that could be dropped.
async fn forgotten_stays_forgotten<F: Fixture>(case: &mut Case<'_, F>) {
    let mut created = vec![case.storage.current_revision()];
    for name in ["a", "b", "c", "d", "e"] {
        created.push(create(&case.storage, key("ns", name), "x").await.unwrap().revision);
    }
    for kept in [created[3], created[5]] {
        case.storage.compact(kept).await.unwrap();
        for _ in 0..2 {
            case.restart().await;
            for after in created.iter().copied().filter(|after| *after < kept) {
                let watch = case.storage.watch(&resource(), Scope::All, after).map(drop);
                assert!(matches!(watch, Err(StoreError::Expired { .. })), "{after} of {kept}: {watch:?}");
                let past = case.storage.snapshot_at(&resource(), after).map(drop);
                assert!(matches!(past, Err(StoreError::Expired { .. })), "{after} of {kept}: {past:?}");
            }
            let mut resumed = case.storage.watch(&resource(), Scope::All, kept).unwrap();
            let young: Vec<u64> =
                created.iter().filter(|after| **after > kept).map(|after| after.get()).collect();
            assert_eq!(revisions(&resumed.take().unwrap()), young);
            assert_eq!(case.storage.snapshot(&resource()).len(), 5);
            assert!(case.storage.self_check().await.unwrap().is_clean());
        }
    }
}

/// History that grew old while no process ran is gone, the rest is there.
async fn forgets_nothing_young<F: Fixture>(case: &mut Case<'_, F>) {
    let start = case.storage.current_revision();
    let old = write_some(&case.storage, 15).await;
    case.clock.advance(RETENTION);
    let young = write_some(&case.storage, 15).await;
    let before = listing(&case.storage.snapshot(&resource()));
    case.storage.shutdown().await.unwrap();
    case.clock.advance(RETENTION / 2);
    case.restart().await;
    assert_eq!(listing(&case.storage.snapshot(&resource())), before);
    assert!(matches!(case.storage.watch(&resource(), Scope::All, start), Err(StoreError::Expired { .. })));
    let mut resumed = case.storage.watch(&resource(), Scope::All, old).unwrap();
    assert_eq!(read_to(&mut resumed, young).await.len(), 15);
}

async fn passes_its_own_check<F: Fixture>(case: &mut Case<'_, F>) {
    write_some(&case.storage, 30).await;
    for _ in 0..2 {
        let report = case.storage.self_check().await.unwrap();
        assert!(report.is_clean(), "{report:?}");
        assert_eq!(report.revision, case.storage.current_revision());
        assert_eq!(report.objects, case.storage.snapshot(&resource()).len());
        case.restart().await;
    }
}
