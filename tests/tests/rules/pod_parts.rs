//! Pods: what one part of a pod may not be because of another, and what is special to an operating system.

use crate::ask::{errors, warnings, with};
use orch_runtime::Tree;
use serde_json::json;

fn pod() -> Tree {
    json!({"metadata": {"name": "p"}, "spec": {
        "containers": [{
            "name": "c", "image": "x:1", "ports": [{"containerPort": 80}],
            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
        }],
        "initContainers": [{"name": "i", "image": "x:1"}],
        "volumes": [
            {"name": "v", "emptyDir": {}}, {"name": "b", "persistentVolumeClaim": {"claimName": "b"}},
        ],
    }})
}

/// Puts one value into a correct pod and compares what is wrong then.
fn check(base: &Tree, cases: Vec<(&str, Tree, &[&str])>) {
    assert_eq!(errors("Pod", base), [""; 0]);
    for (pointer, value, expected) in cases {
        assert_eq!(errors("Pod", &with(base, pointer, value.clone())), expected, "{pointer} {value}");
    }
}

/// Fields and resources of a pod that variables, and files of volumes, can have.
pub fn what_the_downward_api_exposes() {
    let variable = |from: Tree| {
        with(&pod(), "/spec/containers/0/env", json!([{"name": "E", "valueFrom": from}]))
    };
    let file = |mut from: Tree| {
        from["path"] = json!("f");
        with(&pod(), "/spec/volumes/1", json!({"name": "b", "downwardAPI": {"items": [from]}}))
    };
    let field = |path: &str| json!({"fieldRef": {"fieldPath": path}});
    let resource = |name: &str, divisor: &str| {
        json!({"resourceFieldRef": {"containerName": "c", "resource": name, "divisor": divisor}})
    };
    let of_units = |what: &str| format!("only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the {what} resource");
    let name = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let supported = r#"supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory""#;
    for (from, told) in [
        (field("metadata.annotations['Example.com/x']"), None),
        (field("metadata.labels['example.com/x']"), None),
        (resource("limits.memory", "1Mi"), None),
        (field(""), Some("fieldRef.fieldPath: Required value".to_owned())),
        (
            field("spec.x['a']"),
            Some(
                r#"fieldRef.fieldPath: Invalid value: "spec.x['a']": error converting fieldPath: field label does not support subscript: spec.x['a']"#
                    .to_owned(),
            ),
        ),
        (field("metadata.annotations['a b']"), Some(format!(r#"fieldRef: Invalid value: "a b": {name}"#))),
        (field("metadata.labels['a b']"), Some(format!(r#"fieldRef: Invalid value: "a b": {name}"#))),
        (resource("", "1"), Some("resourceFieldRef.resource: Required value".to_owned())),
        (
            resource("limits.disks", "1"),
            Some(format!(r#"resourceFieldRef.resource: Unsupported value: "limits.disks": {supported}"#)),
        ),
        (
            resource("limits.memory", "3"),
            Some(format!(r#"resourceFieldRef.divisor: Invalid value: "limits.memory": {}"#, of_units("memory"))),
        ),
        (
            resource("limits.ephemeral-storage", "3"),
            Some(format!(
                r#"resourceFieldRef.divisor: Invalid value: "limits.ephemeral-storage": {}"#,
                of_units("local ephemeral storage")
            )),
        ),
        (
            resource("requests.hugepages-2Mi", "3"),
            Some(format!(
                r#"resourceFieldRef.divisor: Invalid value: "requests.hugepages-2Mi": {}"#,
                of_units("hugepages")
            )),
        ),
    ] {
        let at = |place: &str| told.iter().map(|told| format!("{place}.{told}")).collect::<Vec<_>>();
        let (variable, file) = (variable(from.clone()), file(from.clone()));
        assert_eq!(errors("Pod", &variable), at("spec.containers[0].env[0].valueFrom"), "{from}");
        assert_eq!(errors("Pod", &file), at("spec.volumes[1].downwardAPI"), "{from}");
    }
    assert_eq!(
        errors("Pod", &file(json!({"resourceFieldRef": {"resource": "limits.cpu"}}))),
        ["spec.volumes[1].downwardAPI.resourceFieldRef.containerName: Required value"]
    );
}

pub fn windows_options() {
    let at = "/spec/containers/0/securityContext";
    let user = |name: &str| json!({"windowsOptions": {"runAsUserName": name}});
    let long = "u".repeat(105);
    let domain = format!("{}\\u", "d".repeat(256));
    let shown = domain.replace('\\', r"\\");
    let faults = [
        format!(
            r#"spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "{shown}": runAsUserName's Domain length must be under 256 characters"#
        ),
        format!(
            r#"spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "{shown}": runAsUserName's Domain doesn't match the NetBios nor the DNS format"#
        ),
        format!(
            r#"spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "{long}": runAsUserName's User length must not be longer than 104 characters"#
        ),
    ];
    assert_eq!(errors("Pod", &with(&pod(), at, user(&domain))), faults[..2]);
    assert_eq!(errors("Pod", &with(&pod(), at, user(&long))), faults[2..]);
    check(
        &pod(),
        vec![
            (at, user("ContainerAdministrator"), &[]),
            (at, user(r"NT AUTHORITY\NETWORK SERVICE"), &[]),
            (at, user(r"corp.example.com\admin"), &[]),
            (
                at,
                user(""),
                &[
                    r#"spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string"#,
                ],
            ),
            (
                at,
                user("a\u{7}"),
                &[
                    r#"spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a\a": runAsUserName cannot contain control characters"#,
                ],
            ),
            (
                at,
                user(r"a\b\c"),
                &[
                    r#"spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a\\b\\c": runAsUserName cannot contain more than one backslash"#,
                ],
            ),
            (
                at,
                user(r"a?\"),
                &[
                    r#"spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a?\\": runAsUserName's Domain doesn't match the NetBios nor the DNS format"#,
                    r#"spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a?\\": runAsUserName's User cannot be empty"#,
                ],
            ),
            (
                at,
                user(". ."),
                &[
                    r#"spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: ". .": runAsUserName's User cannot contain only periods or spaces"#,
                ],
            ),
            (
                at,
                user("a@b"),
                &[
                    r#"spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a@b": runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]"#,
                ],
            ),
            (
                "/spec/securityContext",
                json!({"windowsOptions": {"gmsaCredentialSpecName": "A_b", "gmsaCredentialSpec": ""}}),
                &[
                    r#"spec.securityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
                    r#"spec.securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string"#,
                ],
            ),
        ],
    );
    let large = json!({"windowsOptions": {"gmsaCredentialSpec": "x".repeat(64 * 1024 + 1)}});
    let large = errors("Pod", &with(&pod(), "/spec/securityContext", large));
    assert!(large[0].ends_with("gmsaCredentialSpec size must be under 64 KiB"), "{large:?}");
}

pub fn containers_on_the_host() {
    let host = json!({"windowsOptions": {"hostProcess": true}});
    let all = with(&with(&pod(), "/spec/securityContext", host.clone()), "/spec/hostNetwork", json!(true));
    check(
        &all,
        vec![
            (
                "/spec/hostNetwork",
                json!(false),
                &[
                    "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers",
                ],
            ),
            (
                "/spec/containers/0/securityContext",
                json!({"windowsOptions": {"hostProcess": false}}),
                &[
                    "spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be identical if both are specified, was true",
                    r#"spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers"#,
                ],
            ),
            ("/spec/initContainers/0/securityContext", host.clone(), &[]),
        ],
    );
    let one = with(&all, "/spec/securityContext", json!(null));
    check(
        &one,
        vec![(
            "/spec/containers/0/securityContext",
            host,
            &[
                r#"spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers"#,
            ],
        )],
    );
}

pub fn operating_systems() {
    let own = |system: &str| with(&pod(), "/spec/os", json!({"name": system}));
    check(
        &own("linux"),
        vec![
            (
                "/spec/securityContext",
                json!({"windowsOptions": {}}),
                &[
                    "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
                ],
            ),
            (
                "/spec/initContainers/0/securityContext",
                json!({"windowsOptions": {}}),
                &[
                    "spec.initContainers[0].securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
                ],
            ),
            ("/spec/securityContext", json!({"runAsUser": 1}), &[]),
        ],
    );
    check(
        &own("windows"),
        vec![
            ("/spec/securityContext", json!({"windowsOptions": {}, "runAsNonRoot": true}), &[]),
            (
                "/spec/securityContext",
                json!({
                    "appArmorProfile": {"type": "Unconfined"}, "seLinuxOptions": {},
                    "seccompProfile": {"type": "Unconfined"},
                    "fsGroup": 1, "fsGroupChangePolicy": "Always", "sysctls": [{"name": "a", "value": "1"}],
                    "runAsUser": 1,
                    "runAsGroup": 1, "supplementalGroups": [1], "supplementalGroupsPolicy": "Merge",
                }),
                &[
                    "spec.securityContext.appArmorProfile: Forbidden: cannot be set for a windows pod",
                    "spec.securityContext.seLinuxOptions: Forbidden: cannot be set for a windows pod",
                    "spec.securityContext.seccompProfile: Forbidden: cannot be set for a windows pod",
                    "spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod",
                    "spec.securityContext.fsGroupChangePolicy: Forbidden: cannot be set for a windows pod",
                    "spec.securityContext.sysctls: Forbidden: cannot be set for a windows pod",
                    "spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
                    "spec.securityContext.runAsGroup: Forbidden: cannot be set for a windows pod",
                    "spec.securityContext.supplementalGroups: Forbidden: cannot be set for a windows pod",
                    "spec.securityContext.supplementalGroupsPolicy: Forbidden: cannot be set for a windows pod",
                ],
            ),
            ("/spec/hostPID", json!(true), &["spec.hostPID: Forbidden: cannot be set for a windows pod"]),
            ("/spec/hostIPC", json!(true), &["spec.hostIPC: Forbidden: cannot be set for a windows pod"]),
            ("/spec/hostUsers", json!(true), &["spec.hostUsers: Forbidden: cannot be set for a windows pod"]),
            (
                "/spec/shareProcessNamespace",
                json!(false),
                &["spec.shareProcessNamespace: Forbidden: cannot be set for a windows pod"],
            ),
            (
                "/spec/containers/0/securityContext",
                json!({
                    "appArmorProfile": {"type": "Unconfined"}, "seLinuxOptions": {},
                    "seccompProfile": {"type": "Unconfined"},
                    "capabilities": {}, "readOnlyRootFilesystem": false, "privileged": false,
                    "allowPrivilegeEscalation": true,
                    "procMount": "Default", "runAsUser": 1, "runAsGroup": 1,
                }),
                &[
                    "spec.containers[0].securityContext.appArmorProfile: Forbidden: cannot be set for a windows pod",
                    "spec.containers[0].securityContext.seLinuxOptions: Forbidden: cannot be set for a windows pod",
                    "spec.containers[0].securityContext.seccompProfile: Forbidden: cannot be set for a windows pod",
                    "spec.containers[0].securityContext.capabilities: Forbidden: cannot be set for a windows pod",
                    "spec.containers[0].securityContext.readOnlyRootFilesystem: Forbidden: cannot be set for a windows pod",
                    "spec.containers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod",
                    "spec.containers[0].securityContext.allowPrivilegeEscalation: Forbidden: cannot be set for a windows pod",
                    "spec.containers[0].securityContext.procMount: Forbidden: cannot be set for a windows pod",
                    "spec.containers[0].securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
                    "spec.containers[0].securityContext.runAsGroup: Forbidden: cannot be set for a windows pod",
                ],
            ),
        ],
    );
}

pub fn resources_of_the_pod() {
    check(
        &pod(),
        vec![
            ("/spec/overhead", json!({"cpu": "100m", "memory": "64Mi"}), &[]),
            (
                "/spec/overhead",
                json!({"requests.a.example/x": "1"}),
                &[
                    "spec.overhead.limits[requests.a.example/x]: Invalid value: requests.a.example/x: doesn't follow extended resource name standard",
                ],
            ),
            (
                "/spec/overhead",
                json!({"cpu": "-1", "disks": "1"}),
                &[
                    r#"spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0"#,
                    "spec.overhead.limits[disks]: Invalid value: disks: must be a standard resource type or fully qualified",
                    "spec.overhead.limits[disks]: Invalid value: disks: must be a standard resource for containers",
                ],
            ),
            (
                "/spec/resources",
                json!({"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}),
                &[
                    r#"spec.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1"#,
                ],
            ),
            (
                "/spec/containers/0/resources",
                json!({"claims": [{"name": "gpu"}]}),
                &[r#"spec.containers[0].resources.claims[0]: Not found: "gpu""#],
            ),
            (
                "/spec/containers/0/resizePolicy",
                json!([
                    {"resourceName": "cpu", "restartPolicy": "NotRequired"},
                    {"resourceName": "cpu", "restartPolicy": "RestartContainer"},
                ]),
                &[r#"spec.containers[0].resizePolicy[1]: Duplicate value: "cpu""#],
            ),
        ],
    );
}

pub fn mounts_and_devices() {
    let at = "/spec/containers/0/volumeDevices";
    let mounts = "/spec/containers/0/volumeMounts";
    let mount = |with: Tree| {
        let mut mount = json!({"name": "v", "mountPath": "/v"});
        mount.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        json!([mount])
    };
    check(
        &pod(),
        vec![
            (at, json!([{"name": "b", "devicePath": "/dev/b"}]), &[]),
            (
                at,
                json!([{"name": "", "devicePath": ""}]),
                &[
                    "spec.containers[0].volumeDevices[0].name: Required value",
                    r#"spec.containers[0].volumeDevices[0].name: Not found: """#,
                    "spec.containers[0].volumeDevices[0].devicePath: Required value",
                ],
            ),
            (
                mounts,
                mount(json!({"name": ""})),
                &[
                    "spec.containers[0].volumeMounts[0].name: Required value",
                    r#"spec.containers[0].volumeMounts[0].name: Not found: """#,
                ],
            ),
            (
                mounts,
                mount(json!({
                    "readOnly": true, "recursiveReadOnly": "Enabled", "mountPropagation": "HostToContainer",
                })),
                &[
                    "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified",
                ],
            ),
            (
                at,
                json!([{"name": "b", "devicePath": "/v"}]),
                &[
                    r#"spec.containers[0].volumeMounts[0].mountPath: Invalid value: "/v": must not already exist as a path in volumeDevices"#,
                    r#"spec.containers[0].volumeDevices[0].devicePath: Invalid value: "/v": must not already exist as a path in volumeMounts"#,
                ],
            ),
            (
                at,
                json!([{"name": "b", "devicePath": "/dev/../b"}, {"name": "b", "devicePath": "/dev/c"}]),
                &[
                    r#"spec.containers[0].volumeDevices[0].devicePath: Invalid value: "/dev/../b": can not contain backsteps ('..')"#,
                    r#"spec.containers[0].volumeDevices[1].name: Invalid value: "b": must be unique"#,
                ],
            ),
            (
                mounts,
                mount(json!({"subPath": "/a"})),
                &[r#"spec.containers[0].volumeMounts.subPath: Invalid value: "/a": must be a relative path"#],
            ),
            (
                mounts,
                mount(json!({"subPath": "a", "subPathExpr": "../b"})),
                &[
                    r#"spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: "../b": subPathExpr and subPath are mutually exclusive"#,
                    r#"spec.containers[0].volumeMounts.subPathExpr: Invalid value: "../b": must not contain '..'"#,
                ],
            ),
            (
                mounts,
                mount(json!({"recursiveReadOnly": "Enabled"})),
                &[
                    "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true",
                ],
            ),
            (
                "/spec/ephemeralContainers",
                json!([
                    {
                        "name": "e", "image": "x",
                        "volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "a"}],
                    },
                ]),
                &[
                    "spec.ephemeralContainers[0].volumeMounts[0].subPath: Forbidden: cannot be set for an Ephemeral Container",
                    "spec.ephemeralContainers: Forbidden: cannot be set on create",
                ],
            ),
        ],
    );
}

pub fn ports_of_the_host() {
    let ports = "/spec/containers/0/ports";
    let on_host = with(&pod(), "/spec/hostNetwork", json!(true));
    check(
        &on_host,
        vec![
            (ports, json!([{"containerPort": 80, "hostPort": 80}]), &[]),
            (
                ports,
                json!([{"containerPort": 80, "hostPort": 81}]),
                &[
                    "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true",
                ],
            ),
        ],
    );
    check(
        &pod(),
        vec![
            (ports, json!([{"containerPort": 80, "hostPort": 81}]), &[]),
            (
                "/spec/initContainers/0/ports",
                json!([{"containerPort": 80, "hostPort": 81}, {"containerPort": 82, "hostPort": 81}]),
                &[r#"spec.initContainers[0].ports[1].hostPort: Duplicate value: "TCP//81""#],
            ),
        ],
    );
}

pub fn the_rest() {
    let gated = with(&pod(), "/spec/schedulingGates", json!([{"name": "a"}]));
    check(
        &gated,
        vec![(
            "/spec/nodeName",
            json!("n"),
            &["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
        )],
    );
    check(
        &pod(),
        vec![
            (
                "/spec/containers/0/lifecycle",
                json!({"preStop": {"sleep": {"seconds": 31}}, "postStart": {"sleep": {"seconds": -1}}}),
                &[
                    "spec.containers[0].lifecycle.postStart.sleep: Invalid value: -1: must be greater than 0 and less than terminationGracePeriodSeconds (30). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.",
                    "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be greater than 0 and less than terminationGracePeriodSeconds (30). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.",
                ],
            ),
            (
                "/spec/initContainers",
                json!([{
                    "name": "i", "image": "x:1", "restartPolicy": "Always",
                    "lifecycle": {
                        "preStop": {"sleep": {"seconds": 31}}, "postStart": {"sleep": {"seconds": 0}},
                    },
                }]),
                &[
                    "spec.initContainers[0].lifecycle.postStart.sleep: Invalid value: 0: must be greater than 0 and less than terminationGracePeriodSeconds (30). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.",
                    "spec.initContainers[0].lifecycle.preStop.sleep: Invalid value: 31: must be greater than 0 and less than terminationGracePeriodSeconds (30). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.",
                ],
            ),
            (
                "/spec/containers/0/livenessProbe",
                json!({"httpGet": {"port": 1, "httpHeaders": [{"name": "ok"}, {"name": "a b"}]}}),
                &[
                    r#"spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"#,
                ],
            ),
            (
                "/spec/containers/0/env",
                json!([
                    {
                        "name": "A",
                        "valueFrom": {"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}},
                    },
                ]),
                &[
                    r#"spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2"#,
                ],
            ),
            (
                "/spec/containers/0/securityContext",
                json!({"procMount": "Unmasked"}),
                &[
                    r#"spec.containers[0].securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`"#,
                ],
            ),
        ],
    );
    let unmasked = with(&pod(), "/spec/containers/0/securityContext", json!({"procMount": "Unmasked"}));
    assert_eq!(errors("Pod", &with(&unmasked, "/spec/hostUsers", json!(false))), [""; 0]);
}

pub fn what_draws_warnings() {
    let without_name = with(&pod(), "/spec/imagePullSecrets", json!([{}]));
    assert_eq!(
        warnings("Pod", &without_name),
        [r#"spec.imagePullSecrets[0].name: invalid empty name """#]
    );
    let soon = with(&pod(), "/spec/terminationGracePeriodSeconds", json!(-1));
    assert_eq!(warnings("Pod", &soon), [""; 0], "it counts as 1 before anybody looks");
}
