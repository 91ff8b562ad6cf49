//! `VolumeAttachment`: its rules, those of a volume described in it, and that its spec stays.

use crate::ask::{defaulted, errors, status_errors, stored, update_errors, with};
use orch_runtime::Tree;
use serde_json::json;

const KIND: &str = "VolumeAttachment";

fn attachment() -> Tree {
    json!({"spec": {"attacher": "d.example.com", "source": {"persistentVolumeName": "v"}, "nodeName": "n"}})
}

pub fn defaults() {
    assert_eq!(defaulted(KIND, &attachment()), with(&attachment(), "/status", json!({"attached": false})));
    let failed = with(&attachment(), "/status", json!({"attachError": {"message": "m"}}));
    assert_eq!(
        stored(KIND, &failed)["status"],
        json!({"attached": false, "attachError": {"time": null, "message": "m"}})
    );
}

pub fn rules() {
    let inline = json!({"accessModes": ["ReadWriteOnce"], "csi": {"driver": "d", "volumeHandle": "h"}});
    let one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    let context = "may not be specified in the context of inline volumes";
    for (pointer, value, expected) in [
        ("/spec/source", json!({"inlineVolumeSpec": inline}), vec![]),
        ("/spec/source", json!({}), vec![format!("spec.source: Required value: {one}")]),
        ("/spec/source/inlineVolumeSpec", inline.clone(), vec![format!("spec.source: Forbidden: {one}")]),
        (
            "/spec/source/persistentVolumeName",
            json!(""),
            vec![
                "spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName"
                    .to_owned(),
                "spec.source.persistentVolumeName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of \
                 lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character \
                 (e.g. 'example.com', regex used for validation is \
                 '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                    .to_owned(),
            ],
        ),
        (
            "/spec/source",
            json!({"inlineVolumeSpec": {
                "hostPath": {"path": "/"}, "capacity": {"storage": "1"}, "claimRef": {"name": "c"},
                "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "c", "volumeMode": "Block",
            }}),
            [
                format!("claimRef: Forbidden: {context}"),
                format!("capacity: Forbidden: {context}"),
                "csi: Required value: has to be specified in the context of inline volumes".to_owned(),
                "accessModes: Required value".to_owned(),
                "persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes"
                    .to_owned(),
                format!("storageClassName: Forbidden: {context}"),
                "volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes"
                    .to_owned(),
            ]
            .map(|text| format!("spec.source.inlineVolumeSpec.{text}"))
            .to_vec(),
        ),
        (
            "/spec/attacher",
            json!("d".repeat(64)),
            vec!["spec.attacher: Too long: may not be more than 63 bytes".to_owned()],
        ),
    ] {
        assert_eq!(errors(KIND, &with(&attachment(), pointer, value.clone())), expected, "{pointer} {value}");
    }
    let status = json!({"attachmentMetadata": {"": "x"}, "detachError": {"message": "x".repeat(1025)}});
    assert_eq!(
        status_errors(KIND, &attachment(), &with(&attachment(), "/status", status)),
        [
            r#"status.attachmentMetadata: Invalid value: "": field can not be empty."#,
            "status.detachError.message: Too long: may not be more than 1024 bytes",
        ]
    );
    let unnamed =
        errors(KIND, &with(&with(&attachment(), "/spec/attacher", json!("")), "/spec/nodeName", json!("")));
    assert_eq!(unnamed[0], "spec.attacher: Required value");
    assert!(
        unnamed[1].starts_with("spec.nodeName: Invalid value: \"\": a lowercase RFC 1123"),
        "{unnamed:?}"
    );
}

pub fn updates() {
    let attached = with(&attachment(), "/status", json!({"attached": true}));
    assert_eq!(status_errors(KIND, &attachment(), &attached), [""; 0]);
    let moved = update_errors(KIND, &attachment(), &with(&attachment(), "/spec/nodeName", json!("m")));
    assert_eq!(
        moved,
        [
            r#"spec: Invalid value: {"attacher":"d.example.com","nodeName":"m","source":{"persistentVolumeName":"v"}}: field is immutable"#
        ]
    );
}
