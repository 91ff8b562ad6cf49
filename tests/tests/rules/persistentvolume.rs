//! `PersistentVolume`: defaults, each rule broken once, and what stays.

use crate::ask::{defaulted, errors, status_errors, update_errors, with};
use orch_runtime::Tree;
use serde_json::json;

const KIND: &str = "PersistentVolume";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
     and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
     and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

fn volume() -> Tree {
    json!({"spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"},
    }})
}

/// The volume with another source.
fn of(source: &str, fields: Tree) -> Tree {
    with(&with(&volume(), "/spec/hostPath", Tree::Null), &format!("/spec/{source}"), fields)
}

pub fn defaults() {
    let new = defaulted(KIND, &volume());
    assert!(new["status"]["lastPhaseTransitionTime"].is_string(), "{new}");
    assert_eq!(
        with(&new, "/status/lastPhaseTransitionTime", Tree::Null),
        json!({
            "spec": {
                "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/data", "type": ""},
                "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain",
                "volumeMode": "Filesystem",
            },
            "status": {"phase": "Pending"},
        })
    );
    for (source, given, complete) in [
        (
            "rbd",
            json!({"monitors": ["m"], "image": "i"}),
            json!({
                "monitors": ["m"], "image": "i", "pool": "rbd", "user": "admin",
                "keyring": "/etc/ceph/keyring",
            }),
        ),
        (
            "iscsi",
            json!({"targetPortal": "t", "iqn": "iqn.2001-04.com.example:x", "lun": 0}),
            json!({
                "targetPortal": "t", "iqn": "iqn.2001-04.com.example:x", "lun": 0,
                "iscsiInterface": "default",
            }),
        ),
        (
            "azureDisk",
            json!({"diskName": "d", "diskURI": "https://x"}),
            json!({
                "diskName": "d", "diskURI": "https://x", "cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": false,
                "kind": "Shared",
            }),
        ),
        (
            "scaleIO",
            json!({"gateway": "g", "system": "s", "secretRef": {}, "volumeName": "v"}),
            json!({
                "gateway": "g", "system": "s", "secretRef": {}, "storageMode": "ThinProvisioned",
                "volumeName": "v",
                "fsType": "xfs",
            }),
        ),
        (
            "azureFile",
            json!({"secretName": "s", "shareName": "n"}),
            json!({"secretName": "s", "shareName": "n", "secretNamespace": null}),
        ),
    ] {
        assert_eq!(defaulted(KIND, &of(source, given))["spec"][source], complete);
    }
}

pub fn rules() {
    for (pointer, value, expected) in [
        ("/spec/mountOptions", json!(["anything"]), vec![]),
        ("/spec/capacity", json!({"storage": "1"}), vec![]),
        (
            "/spec/capacity",
            json!({}),
            vec![
                "spec.capacity: Required value".to_owned(),
                r#"spec.capacity: Unsupported value: {}: supported values: "storage""#.to_owned(),
            ],
        ),
        (
            "/spec/capacity",
            json!({"storage": "1", "cpu": "1"}),
            vec![
                r#"spec.capacity: Unsupported value: {"cpu":"1","storage":"1"}: supported values: "storage""#.to_owned(),
            ],
        ),
        (
            "/spec/capacity",
            json!({"storage": "0"}),
            vec![r#"spec.capacity[storage]: Invalid value: "0": must be greater than zero"#.to_owned()],
        ),
        ("/spec/accessModes", json!([]), vec!["spec.accessModes: Required value".to_owned()]),
        (
            "/spec/accessModes",
            json!(["Sometimes"]),
            vec![
                r#"spec.accessModes: Unsupported value: "Sometimes": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod""#
                    .to_owned(),
            ],
        ),
        (
            "/spec/accessModes",
            json!(["ReadWriteOncePod", "ReadOnlyMany"]),
            vec![
                "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes".to_owned(),
            ],
        ),
        (
            "/spec/persistentVolumeReclaimPolicy",
            json!("Burn"),
            vec![
                r#"spec.persistentVolumeReclaimPolicy: Unsupported value: "Burn": supported values: "Delete", "Recycle", "Retain""#
                    .to_owned(),
            ],
        ),
        (
            "/spec/volumeMode",
            json!("Tape"),
            vec![
                r#"spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem""#.to_owned(),
            ],
        ),
        (
            "/spec/storageClassName",
            json!("A_b"),
            vec![format!("spec.storageClassName: Invalid value: \"A_b\": {SUBDOMAIN}")],
        ),
        ("/spec/hostPath", Tree::Null, vec!["spec: Required value: must specify a volume type".to_owned()]),
        (
            "/spec/nfs",
            json!({"server": "s", "path": "/"}),
            vec!["spec.nfs: Forbidden: may not specify more than 1 volume type".to_owned()],
        ),
        (
            "/spec/volumeAttributesClassName",
            json!(""),
            vec![
                "spec.volumeAttributesClassName: Required value: an empty string is disallowed".to_owned(),
                "spec.csi: Required value: has to be specified when using volumeAttributesClassName".to_owned(),
            ],
        ),
        (
            "/spec/nodeAffinity",
            json!({}),
            vec!["spec.nodeAffinity.required: Required value: must specify required node constraints".to_owned()],
        ),
    ] {
        assert_eq!(errors(KIND, &with(&volume(), pointer, value.clone())), expected, "{pointer} {value}");
    }
    for (path, is_root) in [("/", true), ("//.", true), ("/a/..", true), ("/a", false)] {
        let recycled = json!({
            "capacity": {"storage": "1"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": path},
            "persistentVolumeReclaimPolicy": "Recycle",
        });
        let fault =
            "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'";
        let faults = errors(KIND, &json!({"spec": recycled}));
        assert_eq!(faults.iter().any(|found| found == fault), is_root, "{path}: {faults:?}");
    }
}

pub fn sources() {
    let affinity = json!({"required": {"nodeSelectorTerms": [{}]}});
    let local = with(&of("local", json!({"path": "/mnt"})), "/spec/nodeAffinity", affinity);
    assert_eq!(errors(KIND, &local), [""; 0]);
    for (path, expected) in [
        ("", "spec.local.path: Required value"),
        ("/a/../b", r#"spec.local.path: Invalid value: "/a/../b": must not contain '..'"#),
    ] {
        assert_eq!(errors(KIND, &with(&local, "/spec/local/path", json!(path))), [expected]);
    }
    // What a source needs of other fields is told with the source, after what other fields are checked for.
    let mut nowhere = of("local", json!({"path": ""}));
    nowhere["spec"]["persistentVolumeReclaimPolicy"] = json!("Burn");
    nowhere["spec"]["volumeMode"] = json!("Tape");
    nowhere["spec"]["csi"] = json!({"driver": "d", "volumeHandle": "h"});
    let told = errors(KIND, &nowhere);
    let fields: Vec<&str> = told.iter().filter_map(|error| error.split(": ").next()).collect();
    assert_eq!(
        fields,
        [
            "spec.persistentVolumeReclaimPolicy",
            "spec.local.path",
            "spec.nodeAffinity",
            "spec.csi",
            "spec.volumeMode"
        ]
    );
    // Only the first source counts.
    let second = with(&volume(), "/spec/local", json!({"path": "/mnt"}));
    assert_eq!(errors(KIND, &second), ["spec.local: Forbidden: may not specify more than 1 volume type"]);
    for (source, fields, expected) in [
        ("hostPath", json!({}), vec!["path: Required value"]),
        (
            "hostPath",
            json!({"path": "/a/../b"}),
            vec![r#"path: Invalid value: "/a/../b": must not contain '..'"#],
        ),
        (
            "hostPath",
            json!({"path": "/a", "type": "Disk"}),
            vec![
                r#"type: Unsupported value: "Disk": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket""#,
            ],
        ),
        (
            "awsElasticBlockStore",
            json!({"partition": -1}),
            vec![
                "volumeID: Required value",
                "partition: Invalid value: -1: must be between 1 and 255, inclusive",
            ],
        ),
        (
            "glusterfs",
            json!({"endpointsNamespace": ""}),
            vec![
                "endpoints: Required value",
                "path: Required value",
                r#"endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name"#,
            ],
        ),
        (
            "nfs",
            json!({}),
            vec![
                "server: Required value",
                "path: Required value",
                r#"path: Invalid value: "": must be an absolute path"#,
            ],
        ),
        (
            "nfs",
            json!({"server": "s", "path": "a"}),
            vec![r#"path: Invalid value: "a": must be an absolute path"#],
        ),
        ("rbd", json!({}), vec!["monitors: Required value", "image: Required value"]),
        (
            "iscsi",
            json!({"lun": 256, "chapAuthSession": true}),
            vec![
                "targetPortal: Required value",
                "iqn: Required value",
                "lun: Invalid value: 256: must be between 0 and 255, inclusive",
                "secretRef: Required value",
            ],
        ),
        (
            "iscsi",
            json!({"targetPortal": "t", "iqn": "x", "lun": 0, "initiatorName": "y", "secretRef": {}}),
            vec![
                r#"iqn: Invalid value: "x": must be valid format"#,
                "secretRef.name: Required value",
                r#"initiatorname: Invalid value: "y": must be valid format"#,
            ],
        ),
        (
            "cinder",
            json!({"secretRef": {}}),
            vec![
                "volumeID: Required value",
                "secretRef.name: Required value",
                "secretRef.namespace: Required value",
            ],
        ),
        ("cephfs", json!({}), vec!["monitors: Required value"]),
        (
            "fc",
            json!({}),
            vec!["targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"],
        ),
        (
            "fc",
            json!({"targetWWNs": ["a"], "wwids": ["b"]}),
            vec![
                r#"targetWWNs: Invalid value: []string{"a"}: targetWWNs and wwids can not be specified simultaneously"#,
                "lun: Required value: lun is required if targetWWNs is specified",
            ],
        ),
        ("fc", json!({"wwids": ["b"]}), vec![]),
        (
            "flexVolume",
            json!({"options": {"kubernetes.io/x": "", "a.k8s.io/x": "", "akubernetes.io/x": "", "x": ""}}),
            vec![
                "driver: Required value",
                r#"options[a.k8s.io/x]: Invalid value: "a.k8s.io/x": kubernetes.io and k8s.io namespaces are reserved"#,
                r#"options[kubernetes.io/x]: Invalid value: "kubernetes.io/x": kubernetes.io and k8s.io namespaces are reserved"#,
            ],
        ),
        (
            "azureFile",
            json!({"secretNamespace": ""}),
            vec![
                "secretName: Required value",
                "shareName: Required value",
                "secretNamespace: Required value",
            ],
        ),
        ("vsphereVolume", json!({}), vec!["volumePath: Required value"]),
        (
            "quobyte",
            json!({}),
            vec![
                "registry: Required value: must be a host:port pair or multiple pairs separated by commas",
                "volume: Required value",
            ],
        ),
        ("quobyte", json!({"registry": "a:1,[::1]:2", "volume": "v"}), vec![]),
        (
            "quobyte",
            json!({"registry": "a:1,b", "volume": "v"}),
            vec![
                r#"registry: Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas"#,
            ],
        ),
        ("azureDisk", json!({}), vec!["diskName: Required value", "diskURI: Required value"]),
        (
            "azureDisk",
            json!({"diskName": "d", "diskURI": "https://x", "kind": "Managed", "cachingMode": "All"}),
            vec![
                r#"cachingMode: Unsupported value: "All": supported values: "None", "ReadOnly", "ReadWrite""#,
                r#"diskURI: Unsupported value: "https://x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}""#,
            ],
        ),
        ("photonPersistentDisk", json!({}), vec!["pdID: Required value"]),
        ("portworxVolume", json!({}), vec!["volumeID: Required value"]),
        (
            "scaleIO",
            json!({}),
            vec!["gateway: Required value", "system: Required value", "volumeName: Required value"],
        ),
        (
            "csi",
            json!({"driver": "d", "controllerPublishSecretRef": {"name": "s"}, "nodeStageSecretRef": {}}),
            vec!["volumeHandle: Required value", "controllerPublishSecretRef.namespace: Required value"],
        ),
        (
            "iscsi",
            json!({"targetPortal": "t", "iqn": "iqn.2001-04.com.example:x", "lun": -1}),
            vec!["lun: Invalid value: -1: must be between 0 and 255, inclusive"],
        ),
        ("storageos", json!({}), vec!["volumeName: Required value"]),
    ] {
        let expected: Vec<String> =
            expected.into_iter().map(|text| format!("spec.{source}.{text}")).collect();
        assert_eq!(errors(KIND, &of(source, fields.clone())), expected, "{source} {fields}");
    }
    for (source, fields, expected) in [
        ("local", json!({"path": "/m"}), vec!["spec.nodeAffinity: Required value: Local volume requires node affinity".to_owned()]),
        ("flocker", json!({}), vec!["spec.flocker: Required value: one of datasetName and datasetUUID is required".to_owned()]),
        (
            "flocker",
            json!({"datasetName": "a/b", "datasetUUID": "u"}),
            vec![
                "spec.flocker: Invalid value: \"resource\": datasetName and datasetUUID can not be specified simultaneously"
                    .to_owned(),
                "spec.flocker.datasetName: Invalid value: \"a/b\": must not contain '/'".to_owned(),
            ],
        ),
        (
            "storageos",
            json!({"volumeName": "A", "secretRef": {"name": "s"}}),
            vec![
                format!("spec.storageos.volumeName: Invalid value: \"A\": {LABEL}"),
                "spec.storageos.secretRef.namespace: Required value".to_owned(),
            ],
        ),
    ] {
        assert_eq!(errors(KIND, &of(source, fields.clone())), expected, "{source} {fields}");
    }
}

pub fn updates() {
    let old = volume();
    assert_eq!(status_errors(KIND, &old, &with(&old, "/status/phase", json!("Gone"))), [""; 0]);
    let affinity = |name: &str| {
        json!({"required": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]},
        ]}})
    };
    for (pointer, value, expected) in [
        ("/spec/capacity/storage", json!("2Gi"), vec![]),
        ("/spec/persistentVolumeReclaimPolicy", json!("Recycle"), vec![]),
        ("/spec/nodeAffinity", affinity("n"), vec![]),
        (
            "/spec/hostPath/path",
            json!("/other"),
            vec![
                "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation",
            ],
        ),
        (
            "/spec/volumeMode",
            json!("Block"),
            vec![r#"volumeMode: Invalid value: "Block": field is immutable"#],
        ),
    ] {
        assert_eq!(update_errors(KIND, &old, &with(&old, pointer, value)), expected, "{pointer}");
    }
    // The rules for the new volume run twice.
    assert_eq!(
        update_errors(KIND, &old, &with(&old, "/spec/accessModes", json!([]))),
        ["spec.accessModes: Required value"; 2]
    );
    let placed = with(&old, "/spec/nodeAffinity", affinity("n"));
    let moved = update_errors(KIND, &placed, &with(&old, "/spec/nodeAffinity", affinity("m")));
    assert!(moved.len() == 1 && moved[0].starts_with("nodeAffinity: Invalid value: {"), "{moved:?}");
    assert!(moved[0].ends_with("}: field is immutable, except for updating from beta label to GA"), "{moved:?}");

    let zones = |keys: &[&str]| {
        let expressions: Vec<Tree> =
            keys.iter().map(|key| json!({"key": key, "operator": "In", "values": ["x"]})).collect();
        let affinity = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}});
        with(&old, "/spec/nodeAffinity", affinity)
    };
    let (beta, stable) = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone");
    assert_eq!(update_errors(KIND, &zones(&[beta, "a"]), &zones(&[stable, "a"])), [""; 0]);
    for (from, to) in [([beta, "a"], [stable, "b"]), ([stable, "a"], [beta, "a"])] {
        let told = update_errors(KIND, &zones(&from), &zones(&to));
        assert!(told.len() == 1 && told[0].starts_with("nodeAffinity: Invalid value: {"), "{told:?}");
    }
    // An empty key is told by itself, as often as the rules run.
    let empty = update_errors(KIND, &zones(&["a"]), &zones(&[""]));
    assert!(empty.len() == 4 && empty.iter().all(|error| !error.starts_with("nodeAffinity")), "{empty:?}");

    let plain = of("csi", json!({"driver": "d", "volumeHandle": "h"}));
    let secret = |name: &str| {
        with(&plain, "/spec/csi/controllerExpandSecretRef", json!({"name": name, "namespace": "n"}))
    };
    assert_eq!(update_errors(KIND, &plain, &secret("a")), [""; 0]);
    assert_eq!(update_errors(KIND, &secret("a"), &secret("b")).len(), 1);
}
