//! Cells of volumes, claims, classes and drivers.

use orch_api::{
    KUBERNETES,
    columns::{
        claim_access_modes, claim_capacity, csi_driver_token_requests, phase_or_terminating,
        storage_class_expansion, storage_class_name, storage_class_of, volume_access_modes, volume_capacity,
        volume_claim,
    },
};
use orch_runtime::{Tree, resource_def::CellContext, scalar::Time};
use serde_json::json;

type Cell = fn(&Tree, &CellContext<'_>) -> Tree;

fn context() -> CellContext<'static> {
    CellContext { vocabulary: &KUBERNETES, now: Time::from_unix_seconds(0) }
}

#[test]
fn audiences_are_listed() {
    for (requests, expected) in
        [(json!([]), ""), (json!([{"audience": "a"}, {"audience": ""}, {"audience": "b"}]), "a,,b")]
    {
        let tree = json!({"spec": {"tokenRequests": requests}});
        assert_eq!(csi_driver_token_requests(&tree, &context()), expected);
    }
}

#[test]
fn volumes_and_claims() {
    let volume = json!({
        "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOncePod", "ReadOnlyMany", "ReadWriteOnce", "X"],
            "claimRef": {"namespace": "n", "name": "c"}, "storageClassName": "new", "volumeName": "v",
        },
        "status": {"phase": "Bound", "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteMany"]},
    });
    let gone =
        json!({"metadata": {"deletionTimestamp": "2026-11-20T15:14:29Z"}, "status": {"phase": "Bound"}});
    let cells: [(Cell, &str, &str); 7] = [
        (volume_capacity, "1Gi", "0"),
        (volume_access_modes, "RWO,ROX,RWOP", ""),
        (phase_or_terminating, "Bound", "Terminating"),
        (volume_claim, "n/c", ""),
        (storage_class_of, "old", ""),
        (claim_capacity, "2Gi", ""),
        (claim_access_modes, "RWX", ""),
    ];
    for (cell, full, empty) in cells {
        assert_eq!((cell(&volume, &context()), cell(&gone, &context())), (json!(full), json!(empty)));
    }
    assert_eq!(claim_capacity(&json!({"spec": {"volumeName": "v"}}), &context()), "0");
    assert_eq!(storage_class_of(&json!({"spec": {"storageClassName": "new"}}), &context()), "new");
}

#[test]
fn classes_tell_whether_they_are_the_default() {
    for (annotations, expected) in [
        (json!(null), "fast"),
        (json!({"storageclass.kubernetes.io/is-default-class": "true"}), "fast (default)"),
        (json!({"storageclass.beta.kubernetes.io/is-default-class": "true"}), "fast (default)"),
        (json!({"storageclass.kubernetes.io/is-default-class": "yes"}), "fast"),
        (json!({"storageclass.orch.io/is-default-class": "true"}), "fast"),
    ] {
        let tree = json!({"metadata": {"name": "fast", "annotations": annotations}});
        assert_eq!(storage_class_name(&tree, &context()), expected);
    }
    assert_eq!(storage_class_expansion(&json!({}), &context()), json!(false));
    assert_eq!(storage_class_expansion(&json!({"allowVolumeExpansion": true}), &context()), json!(true));
}
