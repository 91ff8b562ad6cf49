//! Pods: what each field of a volume may be.

use orch_runtime::Tree;
use serde_json::json;

use crate::ask::check;

fn pod() -> Tree {
    json!({"spec": {
        "serviceAccountName": "s",
        "containers": [{
            "name": "c", "image": "x:1", "ports": [{"containerPort": 80}],
        }],
        "volumes": [{"name": "v", "emptyDir": {}}],
    }})
}

pub fn sources() {
    check("Pod", &pod(), &[
        (
            "/spec/volumes",
            json!([{"name": ""}]),
            &[
                "spec.volumes[0].name: Required value",
            ],
        ),
        (
            "/spec/volumes",
            json!([{"name": "v"}, {"name": "V_"}]),
            &[
                r#"spec.volumes[1].name: Invalid value: "V_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"#,
            ],
        ),
        (
            "/spec/volumes",
            json!([{"name": "v"}, {"name": "v"}]),
            &[
                r#"spec.volumes[1].name: Duplicate value: "v""#,
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "awsElasticBlockStore": {"volumeID": "i", "partition": 256}}),
            &[
                "spec.volumes[0].awsElasticBlockStore.partition: Invalid value: 256: must be between 1 and 255, inclusive",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "azureDisk": {"diskName": "d", "diskURI": "https://x", "kind": "Own"}}),
            &[
                r#"spec.volumes[0].azureDisk.kind: Unsupported value: "Own": supported values: "Dedicated", "Managed", "Shared""#,
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "azureFile": {}}),
            &[
                "spec.volumes[0].azureFile.secretName: Required value",
                "spec.volumes[0].azureFile.shareName: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "cephfs": {}}),
            &[
                "spec.volumes[0].cephfs.monitors: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "cinder": {}}),
            &[
                "spec.volumes[0].cinder.volumeID: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "cinder": {"volumeID": "i", "secretRef": {}}}),
            &[
                "spec.volumes[0].cinder.secretRef.name: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "projected": {"sources": [{"configMap": {}}]}}),
            &[
                "spec.volumes[0].projected.sources[0].configMap.name: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "projected": {"sources": [{"configMap": {"name": "c"}}, {}]}}),
            &[
                "spec.volumes[0].projected.sources[1]: Required value: must specify a volume type",
            ],
        ),
        ("/spec/volumes/0", json!({"name": "v", "emptyDir": {"medium": "Memory"}}), &[]),
        ("/spec/volumes/0", json!({"name": "v", "emptyDir": {"medium": "HugePages-2Mi"}}), &[]),
        ("/spec/volumes/0", json!({"name": "v", "emptyDir": {"medium": "Disk"}}), &[]),
        (
            "/spec/volumes/0",
            json!({"name": "v", "projected": {"sources": [{"secret": {}}]}}),
            &[
                "spec.volumes[0].projected.sources[0].secret.name: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "projected": {"sources": [], "defaultMode": 512}}),
            &[
                "spec.volumes[0].projected.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "configMap": {}}),
            &[
                "spec.volumes[0].configMap.name: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "secret": {"secretName": "s", "defaultMode": -1}}),
            &[
                "spec.volumes[0].secret.defaultMode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "downwardAPI": {"defaultMode": 512}}),
            &[
                "spec.volumes[0].downwardAPI.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "configMap": {"name": "m", "items": [{}]}}),
            &[
                "spec.volumes[0].configMap.items[0].key: Required value",
                "spec.volumes[0].configMap.items[0].path: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({
                "name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": "p", "mode": 512}]},
            }),
            &[
                "spec.volumes[0].configMap.items[0].mode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "fc": {"targetWWNs": ["a"], "lun": -1}}),
            &[
                "spec.volumes[0].fc.lun: Invalid value: -1: must be between 0 and 255, inclusive",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "fc": {"targetWWNs": ["a"], "lun": 256}}),
            &[
                "spec.volumes[0].fc.lun: Invalid value: 256: must be between 0 and 255, inclusive",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "flexVolume": {}}),
            &[
                "spec.volumes[0].flexVolume.driver: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "flexVolume": {"driver": "d", "options": {"kubernetes.io/x": ""}}}),
            &[
                r#"spec.volumes[0].flexVolume.options[kubernetes.io/x]: Invalid value: "kubernetes.io/x": kubernetes.io and k8s.io namespaces are reserved"#,
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "gcePersistentDisk": {"pdName": "p", "partition": -1}}),
            &[
                "spec.volumes[0].persistentDisk.partition: Invalid value: -1: must be between 1 and 255, inclusive",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "gitRepo": {}}),
            &[
                "spec.volumes[0].gitRepo.repository: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "gitRepo": {"repository": "r", "directory": "../x"}}),
            &[
                r#"spec.volumes[0].gitRepo.directory: Invalid value: "../x": must not contain '..'"#,
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "glusterfs": {}}),
            &[
                "spec.volumes[0].glusterfs.endpoints: Required value",
                "spec.volumes[0].glusterfs.path: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "iscsi": {}}),
            &[
                "spec.volumes[0].iscsi.targetPortal: Required value",
                "spec.volumes[0].iscsi.iqn: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({
                "name": "v",
                "iscsi": {
                    "targetPortal": "t", "iqn": "iqn.2001-04.com.example:x", "lun": -1, "initiatorName": "y",
                },
            }),
            &[
                "spec.volumes[0].iscsi.lun: Invalid value: -1: must be between 0 and 255, inclusive",
                r#"spec.volumes[0].iscsi.initiatorname: Invalid value: "y": must be valid format starting with iqn, eui, or naa"#,
            ],
        ),
        (
            "/spec/volumes/0",
            json!({
                "name": "v", "iscsi": {"targetPortal": "t", "iqn": "iqn.2001-04.com.example:x", "lun": 256},
            }),
            &[
                "spec.volumes[0].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "persistentVolumeClaim": {}}),
            &[
                "spec.volumes[0].persistentVolumeClaim.claimName: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "rbd": {}}),
            &[
                "spec.volumes[0].rbd.monitors: Required value",
                "spec.volumes[0].rbd.image: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "scaleIO": {}}),
            &[
                "spec.volumes[0].scaleIO.gateway: Required value",
                "spec.volumes[0].scaleIO.system: Required value",
                "spec.volumes[0].scaleIO.volumeName: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "storageos": {}}),
            &[
                "spec.volumes[0].storageos.volumeName: Required value",
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "storageos": {"volumeName": "v", "volumeNamespace": "N_"}}),
            &[
                r#"spec.volumes[0].storageos.volumeNamespace: Invalid value: "N_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"#,
            ],
        ),
        (
            "/spec/volumes/0",
            json!({"name": "v", "storageos": {"volumeName": "v", "secretRef": {}}}),
            &[
                "spec.volumes[0].storageos.secretRef.name: Required value",
            ],
        ),
    ]);
}
